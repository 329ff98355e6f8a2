"""JSON from outside, validated against dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import pytest
from pydantic import ValidationError

from wikigr.validation import NO_OTHER_KEYS, Finite, Having, Identifier, InvalidError, Text, validated


@dataclass(frozen=True)
class Part:
    name: Text


@dataclass(frozen=True)
class Whole:
    id: Identifier
    parts: tuple[Part, ...] = ()
    size: Finite = 0.0
    values: Annotated[Mapping[str, Any], Having(text=str)] | None = None

    __pydantic_config__: ClassVar = NO_OTHER_KEYS


def test_texts_are_stripped_and_objects_keep_their_other_keys_in_order() -> None:
    document = '{"id": 7, "parts": [{"name": " a "}], "values": {"b": 1, "text": "t", "a": [null]}}'
    whole = validated(Whole, document)
    assert whole == Whole("7", (Part("a"),), 0.0, {"b": 1, "text": "t", "a": [None]})
    assert list(whole.values or ()) == ["b", "text", "a"]


def test_the_first_mistake_is_named_with_its_key(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str | bytes, str]] = [
        ("{", "invalid JSON: "),
        ("[" * 100_000, "invalid JSON: it is nested too deeply"),
        (b'{"id": "\xff"}', "invalid JSON: "),
        ("[1]", "the document must be an object"),
        ("{}", "`id`: field required"),
        ('{"id": true}', "`id` must be a valid string"),
        ('{"id": 1, "parts": [{"name": "a"}, {"name": " "}]}', "`parts[1].name` must have at least 1 character"),
        ('{"id": 1, "size": NaN}', "`size` must be "),
        ('{"id": 1, "size": 1e999}', "`size` must be "),
        ('{"id": 1, "values": {"a": 1}}', "`values.text`: field required"),
        ('{"id": 1, "values": {"text": 1}}', "`values.text` must be a valid string"),
        ('{"id": 1, "sice": 1}', "there is no key `sice`"),
    ]
    for document, message in cases:
        with subtests.test(document=document):
            with pytest.raises(InvalidError) as invalid:
                validated(Whole, document)
            assert str(invalid.value).startswith(message)


def test_a_list_ends_at_its_first_mistake() -> None:
    """Regression: pydantic kept a kilobyte for every mistake of a list."""
    with pytest.raises(InvalidError, match=r"`parts\[1\]\.name` must be a valid string") as invalid:
        validated(Whole, '{"id": 1, "parts": [{"name": "a"}' + ', {"name": 1}' * 1_000 + "]}")
    assert isinstance(invalid.value.__cause__, ValidationError) and invalid.value.__cause__.error_count() == 1
