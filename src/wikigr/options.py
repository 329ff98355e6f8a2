"""The options of a stage: a frozen dataclass each, which is also one section of a profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeVar


class Limits:
    """Bounds of a number, or the minimum length of a text, inside an ``Annotated`` type.

    Validators of ``annotated_types`` (pydantic among them) read it as a group of that package's constraints. The
    package itself is imported only then: its classes would take 2% of a cold question.
    """

    __is_annotated_types_grouped_metadata__ = True

    def __init__(self, **bounds: float) -> None:
        """Each of ``ge``, ``gt``, ``le``, ``lt`` and ``min_length`` may be given."""
        self.bounds = bounds

    def __iter__(self) -> Iterator[object]:
        from annotated_types import Ge, Gt, Le, Lt, MinLen

        kinds: dict[str, Any] = {"ge": Ge, "gt": Gt, "le": Le, "lt": Lt, "min_length": MinLen}
        return (kinds[name](bound) for name, bound in self.bounds.items())


_Number = TypeVar("_Number", int, float)

Auto = Literal["auto"]
Share = Annotated[float, Limits(ge=0.0, le=1.0)]
Weight = Annotated[float, Limits(gt=0.0, le=1.0)]
Few = Annotated[int, Limits(ge=1, le=10)]
Positive = Annotated[int, Limits(gt=0)]
Name = Annotated[str, Limits(min_length=1)]


class Options:
    """Base of all options. ``section`` is the key of a profile that holds them.

    Each field is ``Annotated`` with one line that says what it does, for the generated reference.
    """

    __slots__ = ()
    section: ClassVar[str]

    def problem(self) -> tuple[tuple[str, ...], str] | None:
        """Return fields that contradict each other, and how ("must sum to 1"), or ``None``."""
        return None

    def ablations(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the values that switch an enhancement off, by the name of the enhancement."""
        return {self.section: {"enabled": False}} if getattr(self, "enabled", False) else {}


def or_auto(value: _Number | Auto, auto: _Number) -> _Number:
    """Return ``value``, or ``auto`` where the options leave the value to the pack or the question."""
    return auto if isinstance(value, str) else value
