"""The limits of a profile's values."""

from __future__ import annotations

from collections.abc import Iterator


class Limits:
    """The least and the most of a number, or the least length of a text, in an ``Annotated`` type.

    What validates by ``annotated_types`` (pydantic does) reads it as a group of that package's constraints. The
    package itself is imported then only: its classes would take a fiftieth of a cold question.
    """

    __is_annotated_types_grouped_metadata__ = True

    def __init__(
        self,
        *,
        ge: float | None = None,
        gt: float | None = None,
        le: float | None = None,
        lt: float | None = None,
        min_length: int | None = None,
    ) -> None:
        self.ge = ge
        self.gt = gt
        self.le = le
        self.lt = lt
        self.min_length = min_length

    def __iter__(self) -> Iterator[object]:
        from annotated_types import Ge, Gt, Le, Lt, MinLen

        if self.ge is not None:
            yield Ge(self.ge)
        if self.gt is not None:
            yield Gt(self.gt)
        if self.le is not None:
            yield Le(self.le)
        if self.lt is not None:
            yield Lt(self.lt)
        if self.min_length is not None:
            yield MinLen(self.min_length)
