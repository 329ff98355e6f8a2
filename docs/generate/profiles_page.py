"""``docs/reference/profiles.md``: every key of a profile, from the schema in ``wikigr.profiles.schema``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from importlib import resources
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from wikigr.options import Limits
from wikigr.pipeline.profile import Profile
from wikigr.profiles.files import differences, load_profile
from wikigr.profiles.schema import ProfileValues

_HEAD = """\
# Profiles

<!-- Written by `make docs` from the schema and the profiles themselves: change those, not this page. -->

A profile is a YAML file. It says what it changes; every key that it leaves out has the value of the
profile that it `extends`, and without `extends` the default below. `wikigr profile validate FILE`
names the line of a mistake, `wikigr profile show NAME` prints a profile in full, and
`wikigr profile diff A B` what two of them do differently.

```yaml
extends: enhanced
description: Two articles, and no more than half a dollar
multi_doc: {num_docs: 2}
budget: {max_cost_usd: 0.5}
```

A profile is named by the path of its file, or by its name when it lies in
`~/.config/wikigr/profiles`. `auto` stands for the figure that fits the pack or the question.

| key | type | default | meaning |
| --- | --- | --- | --- |
| `extends` | text | none | the profile whose values hold where this one says nothing |
| `description` | text | none | one line for `wikigr profile list` |
"""

_SHIPPED = Path(str(resources.files("wikigr.profiles")))


def profiles_page() -> str:
    """Return the page as Markdown; raises ``TypeError`` for a field of the schema without a description."""
    return "\n".join([_HEAD, *_groups(), *_differences()]).rstrip() + "\n"


def _groups() -> Iterator[str]:
    for group, options in get_type_hints(ProfileValues).items():
        if options is str:
            continue
        yield f"## {group}"
        yield ""
        yield "| key | type | default | meaning |"
        yield "| --- | --- | --- | --- |"
        kinds = get_type_hints(options, include_extras=True)
        defaults = options()
        for field in fields(options):
            default = _yaml(getattr(defaults, field.name))
            kind, meaning = _split(kinds[field.name])
            yield f"| `{field.name}` | {_kind(kind)} | `{default}` | {meaning} |"
        yield ""


def _differences() -> Iterator[str]:
    yield "## The profiles that ship with wikigr"
    yield ""
    yield "`enhanced` is the default, and holds the defaults above. The others differ from it in:"
    yield ""
    yield "| profile | what it changes |"
    yield "| --- | --- |"
    for path in sorted(_SHIPPED.glob("*.yaml")):
        # By its path: a file of the user's own may have the same name.
        changes = differences(Profile(), load_profile(str(path)))
        if changes:
            yield f"| `{path.stem}` | {', '.join(f'`{key}: {_yaml(value)}`' for key, _, value in changes)} |"


def _yaml(value: object) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _split(kind: Any) -> tuple[Any, str]:
    """Return the type of a field without its description, and the description."""
    descriptions = [part for part in getattr(kind, "__metadata__", ()) if isinstance(part, str)]
    if len(descriptions) != 1:
        raise TypeError(f"{kind!r} needs one description")
    rest = [part for part in kind.__metadata__ if not isinstance(part, str)]
    return (Annotated[(kind.__origin__, *rest)] if rest else kind.__origin__), descriptions[0]


def _kind(kind: Any) -> str:
    """Return a type of the schema in words: ``number, 0 to 1, or `auto` ``."""
    if get_origin(kind) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(kind))
    if get_origin(kind) is Annotated:
        plain, *limits = get_args(kind)
        return ", ".join([_kind(plain), *filter(None, map(_limit, limits))])
    if kind is NoneType:
        return "`null`"
    if kind in _NAMES:
        return _NAMES[kind]
    if get_args(kind):
        return ", or ".join(_kind(part) for part in get_args(kind))
    raise TypeError(f"the page has no words for {kind!r}")


_NAMES = {bool: "`true`, `false`", int: "whole number", float: "number", str: "text"}


def _limit(limit: Limits) -> str:
    if limit.min_length is not None:
        return ""
    least = f"{limit.ge:,}" if limit.ge is not None else f"above {limit.gt:,}" if limit.gt is not None else ""
    most = f"{limit.le:,}" if limit.le is not None else f"below {limit.lt:,}" if limit.lt is not None else ""
    if least and most:
        closed = limit.ge is not None and limit.le is not None
        return f"{least} to {most}" if closed else f"{least}, {_up_to(limit, most)}"
    return f"{least} or more" if limit.ge is not None else least or _up_to(limit, most)


def _up_to(limit: Limits, most: str) -> str:
    return most if limit.le is None else f"at most {most}"
