"""Tables that were cut between sections are completed, as far as they are in neighboring sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wikigr.index.candidate import Candidate, Evidence
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.retrieval import whole_tables
from wikigr.retrieval.whole_tables import complete_tables

STALLS = "\n".join(
    f"| stall {n} | {'cheese' if n % 4 else 'honey'} from the {n}th farm on the road along the river | {n * 3} |"
    for n in range(1, 61)
)


@pytest.fixture(scope="module")
def market(pack_of: Callable[..., Path]) -> Iterator[Pack]:
    table = f"| stall | goods | rent |\n|---|---|---|\n{STALLS}"
    note = f"# Market\n\n## Stalls\n\n{table}\n\n## Rules\n\nWe close at six.\n"
    with Pack(pack_of("market", {"market.md": note})) as pack:
        yield pack


def evidence_of(pack: Pack, section_id: str) -> Evidence:
    return Evidence(pack.sections([section_id])[section_id], Candidate(section_id, 0.9))


def test_the_other_parts_of_a_table_follow(market: Pack) -> None:
    parts = [f"Market#{n}" for n in range(20) if (found := market.sections([f"Market#{n}"])) and "stall" in str(found)]
    parts = [place for place in parts if market.sections([place])[place].heading == "Stalls"]
    assert len(parts) > 2
    evidence, whole = complete_tables(market, [evidence_of(market, parts[1])])
    assert [item.section.section_id for item in evidence] == [parts[1], parts[0], *parts[2:]]
    assert whole == frozenset(parts)


def test_text_is_not_completed(market: Pack) -> None:
    last = next(place for n in range(20) if (place := f"Market#{n}") and "six" in str(market.sections([place])))
    given = (evidence_of(market, last),)
    assert complete_tables(market, given) == (given, frozenset())


def test_a_table_that_is_too_long_is_left_as_it_is(market: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_tables, "MAX_PARTS", 2)
    first = next(f"Market#{n}" for n in range(3) if "stall 1 " in str(market.sections([f"Market#{n}"])))
    given = (evidence_of(market, first),)
    assert complete_tables(market, given) == (given, frozenset())


def test_all_rows_are_counted(market: Pack) -> None:
    answer = Pipeline(Profile(), market, offline=True).answer("How many stalls have honey?")
    assert answer.text.startswith("15 rows, of which 12 are shown: stall 4; stall 8;")
    highest = Pipeline(Profile(), market, offline=True).answer("Which stall has the highest rent?")
    assert len(answer.citations) == 12
    assert highest.span is not None
    assert highest.span.text == "stall 60"
