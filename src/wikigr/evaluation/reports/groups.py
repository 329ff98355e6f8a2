"""The tables of figures by number of hops and by type, for every report format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]

# The JSON document has more metrics than fit into a table.
SHOWN = ("accuracy", "all_found@5", "passage_all_found@5", "section_all_found@5")


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One metric of one group: a figure (``mean``, ``low``, ``high``) per profile, or None where it has none."""

    group: str
    questions: int
    metric: str
    figures: tuple[Mapping[str, Any] | None, ...]


def hop_rows(document: Document) -> list[GroupRow]:
    """Return the rows by number of hops; none if no question has a known number."""
    return list(_rows(document["profiles"], "by_hops", "hops"))


def type_rows(document: Document) -> list[GroupRow]:
    """Return the rows by type; none if the types of the answerable questions say no more than their numbers of hops."""
    kinds = {(each.get("hops"), each["type"]) for each in document["questions"] if each["answerable"]}
    hops = {hops for hops, _ in kinds}
    if len(kinds) < 2 or (len(hops) == len(kinds) and None not in hops):
        return []
    return list(_rows(document["profiles"], "by_type", "type"))


def _rows(profiles: Sequence[Mapping[str, Any]], part: str, key: str) -> Iterator[GroupRow]:
    by_profile = [{group[key]: group for group in profile.get(part) or ()} for profile in profiles]
    for value in sorted({value for groups in by_profile for value in groups}):
        groups = [found.get(value) for found in by_profile]
        for metric in SHOWN:
            figures = tuple(None if group is None else group["metrics"].get(metric) for group in groups)
            # A metric may apply to some questions of a group only.
            questions = max((figure["questions"] for figure in figures if figure is not None), default=0)
            if questions:
                yield GroupRow(_label(value), questions, metric, figures)


def _label(value: int | str) -> str:
    return value if isinstance(value, str) else "1 hop" if value == 1 else f"{value} hops"
