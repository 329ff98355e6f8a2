"""Validation of JSON from outside against dataclasses, through pydantic, which is imported only then."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

from wikigr.options import Limits

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

T = TypeVar("T")

# The types in a schema of pydantic that can stop at the first mistake.
_LISTS = ("list", "tuple", "set", "frozenset")


class InvalidError(ValueError):
    """The first mistake of a document: the key, unless the document as a whole is wrong, and what is wrong with it."""


class _Text:
    """The schema of a text: not blank, without the spaces around it; ``integers`` become texts."""

    def __init__(self, *, integers: bool = False) -> None:
        self._integers = integers

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        text = core_schema.str_schema(strip_whitespace=True, min_length=1)
        return core_schema.no_info_before_validator_function(self._as_text, text) if self._integers else text

    @staticmethod
    def _as_text(value: object) -> object:
        return str(value) if type(value) is int else value


class Having:
    """Requires keys in an object, with values of these types; its other keys are free."""

    def __init__(self, **kinds: Any) -> None:
        self._kinds = kinds

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        fields = {
            name: core_schema.typed_dict_field(handler.generate_schema(kind)) for name, kind in self._kinds.items()
        }
        wanted = core_schema.typed_dict_schema(fields)
        # The keys stay in the order of the document.
        unchanged = core_schema.no_info_wrap_validator_function(self._unchanged, wanted)
        return core_schema.chain_schema([core_schema.dict_schema(core_schema.str_schema()), unchanged])

    @staticmethod
    def _unchanged(value: object, check: Callable[[object], object]) -> object:
        check(value)
        return value


Text = Annotated[str, _Text()]
Identifier = Annotated[str, _Text(integers=True)]
# The limits exclude infinity and NaN.
Finite = Annotated[float, Limits(ge=-1e300, le=1e300)]
# The ``__pydantic_config__`` of a dataclass that, like the dataclasses in it, has a field for every key.
NO_OTHER_KEYS = {"extra": "forbid"}


def validated(kind: type[T], content: str | bytes) -> T:
    """Return the value of type ``kind`` in a JSON document; types are checked strictly. Raises ``InvalidError``."""
    with _first_mistake():
        value: T = _validator(cast("Any", kind)).validate_json(content, strict=True)
        return value


def validated_object(kind: type[T], parsed: object) -> T:
    """Return a parsed JSON document as a ``TypedDict`` of the type ``kind``. Raises ``InvalidError``.

    Unlike ``validated``, it does not copy an object once for each key that is missing in it.
    """
    with _first_mistake():
        value: T = _validator(cast("Any", kind)).validate_python(parsed, strict=True)
        return value


def explain_mistake(mistake: Mapping[str, Any]) -> str:
    """Return a mistake that pydantic found in a few words: the key, and what is wrong with it."""
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in mistake["loc"]).removeprefix(".")
    name = f"`{' '.join(key.split())[:80]}`" if key else "the document"
    message = mistake["msg"][:200].replace("recursion limit exceeded", "it is nested too deeply")
    if mistake["type"] == "unexpected_keyword_argument":
        return f"there is no key {name}"
    required = re.sub(r"^(Input|String|Dictionary|Mapping) should ", "", message)
    if required != message:
        return f"{name} must {required}"
    message = message[0].lower() + message[1:]
    return f"{name}: {message}" if key else message


@contextmanager
def _first_mistake() -> Iterator[None]:
    import pydantic

    try:
        yield
    except pydantic.ValidationError as error:
        raise InvalidError(explain_mistake(error.errors(include_url=False, include_input=False)[0])) from error


@cache
def _validator(kind: Any) -> SchemaValidator:
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

    schema = TypeAdapter(kind).core_schema
    _stop_at_first_mistake(schema)
    return SchemaValidator(schema)


def _stop_at_first_mistake(schema: Any) -> None:
    """Make each list in a schema stop at its first mistake: pydantic needs a kilobyte for each that it collects."""
    if isinstance(schema, dict):
        if schema.get("type") in _LISTS:
            schema["fail_fast"] = True
        for part in schema.values():
            _stop_at_first_mistake(part)
    elif isinstance(schema, list | tuple):
        for part in schema:
            _stop_at_first_mistake(part)
