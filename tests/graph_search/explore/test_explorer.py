"""An answer by rules rests on facts that lead from the nodes of the question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wikigr.answer.answer import Answer
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile

FACTS = """Kelburg\tmayor\tOtto Prim
Kelburg\tlocated_in\tZorland
Dorn\tlocated_in\tZorland
Zorland\tcapital\tKelburg
Borland\tcapital\tOstia
Borland\tlargest_city\tOstia
Otto Prim\tdeath_date\t1963
"""


@pytest.fixture(scope="module")
def pack(pack_of: Callable[..., Path]) -> Iterator[Pack]:
    with Pack(pack_of("places", {"places.tsv": FACTS})) as opened:
        yield opened


def ask(pack: Pack, question: str) -> Answer:
    return Pipeline(load_profile("multi-strategy"), pack, offline=True).answer(question)


def factual(answer: Answer) -> list[str]:
    """Return the sections that were promoted for a fact."""
    return [candidate.section_id for candidate in answer.ranking if "fact" in candidate.scores]


def test_sections_of_answering_facts_come_first(pack: Pack) -> None:
    answer = ask(pack, "Who is the mayor of Kelburg?")
    assert factual(answer) == ["Kelburg#0"]
    assert [citation.quote for citation in answer.citations] == ["Kelburg — mayor: Otto Prim."]


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of Atlantis?",
        "What is the largest city of Zorland?",
        # All that is left to quote is facts about what is named that say nothing of what is asked.
        "Why did Otto Prim die?",
        "What was the first capital of Zorland?",
    ],
)
@pytest.mark.parametrize("profile", ["multi-strategy", "enhanced"])
def test_facts_about_other_nodes_or_of_other_types_do_not_answer(pack: Pack, question: str, profile: str) -> None:
    answer = Pipeline(load_profile(profile), pack, offline=True).answer(question)
    assert answer.abstained
    assert (answer.graph_context != ()) is (profile == "multi-strategy")
    assert factual(answer) == []
