"""``docs/reference/profiles.md``: every key of a profile, from the schema in ``wikigr.profiles.schema``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from importlib import resources
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from wikigr.profiles.files import differences, load_profile
from wikigr.profiles.limits import Limits
from wikigr.profiles.schema import Profile

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

# What the schema cannot say. A key without a meaning here is an error of `make docs`.
_MEANINGS = {
    "retrieval.mode": "which rankers find candidates: vectors (`dense`), BM25 (`lexical`) or both",
    "retrieval.fusion": "how `hybrid` joins them: by scores or by reciprocal ranks",
    "retrieval.multi_query": "also ask in two other wordings, which `synthesis.expansion_model` writes",
    "graph_reranker.enabled": "mix PageRank into the scores",
    "graph_reranker.alpha": "weight of the score; `alpha` and `beta` sum to 1; `auto` goes by the size of the pack",
    "graph_reranker.beta": "weight of PageRank",
    "graph_reranker.cache_ttl": "seconds for which computed scores are kept in a process",
    "graph_walk.enabled": "walk along links, mentions and facts from what was named and found",
    "graph_walk.restart": "how near the walk stays to where it began; higher is nearer",
    "multi_strategy.enabled": "look the question up in the graph: links, triplets, paths, Cypher",
    "multi_strategy.planner": "who plans: a model (`claude`), fixed rules (`rule`), or a model where there is one",
    "multi_strategy.iterations": "how often it may plan and look up",
    "multi_strategy.max_num_relations": "relations followed from an entity",
    "multi_strategy.max_num_entities": "entities explored in an iteration",
    "multi_strategy.max_num_iterations": "hops of a triplet search",
    "multi_strategy.max_num_triplets": "triplets kept",
    "multi_strategy.max_nodes": "nodes visited",
    "multi_strategy.max_tokens": "size of what is kept for the answer, in tokens",
    "multi_strategy.max_calls": "calls of a model for the planning of one question",
    "multi_strategy.max_seconds": "time for the planning of one question",
    "cross_encoder.enabled": "let a cross-encoder order the candidates (extra `models`)",
    "cross_encoder.model": "its id",
    "multi_doc.enabled": "read several articles; otherwise the best one only",
    "multi_doc.num_docs": "articles read; `auto` goes by the type of question",
    "multi_doc.max_sections": "sections read of each; `auto` goes by the type of question",
    "multi_doc.min_relevance": "least cosine of a section; `auto` is the threshold in the pack's manifest",
    "section_quality.enabled": "leave out sections that say too little",
    "section_quality.threshold": "least quality of a section",
    "few_shot.enabled": "put worked examples of the pack into a model's prompt",
    "few_shot.num_examples": "how many",
    "synthesis.provider": "who writes the answer: a model, nobody (`none`: quotes), or a model where there is one",
    "synthesis.model": "the model that writes",
    "synthesis.expansion_model": "the model that words the question anew",
    "synthesis.citations": "how a model cites: the API's own citations, or marks that are checked by their wording",
    "synthesis.max_tokens": "length of a model's answer, in tokens",
    "synthesis.own_knowledge": "let the model answer, labeled so, what the pack does not cover",
    "synthesis.timeout": "seconds for one call",
    "synthesis.retries": "how often a busy server is asked again",
    "budget.max_tokens": "tokens that a run may use; `null` is no limit",
    "budget.max_cost_usd": "US dollars that a run may cost; `null` is no limit",
}


def profiles_page() -> str:
    """Return the page as Markdown; raises ``KeyError`` for a key of the schema that has no meaning above."""
    return "\n".join([_HEAD, *_groups(), *_differences()]).rstrip() + "\n"


def _groups() -> Iterator[str]:
    for group, options in get_type_hints(Profile).items():
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
            meaning = _MEANINGS[f"{group}.{field.name}"]
            yield f"| `{field.name}` | {_kind(kinds[field.name])} | `{default}` | {meaning} |"
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
