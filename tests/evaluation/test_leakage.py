"""Which worked examples leak gold questions: by their words, by their meaning, by their answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from wikigr.answer.few_shot import FewShotManager
from wikigr.embeddings.embedder import Embedder
from wikigr.evaluation.leakage import MIN_RELATEDNESS, MIN_SIMILARITY, find_leaks
from wikigr.evaluation.questions import Gold, GoldQuestion, load_questions

BROTHER = GoldQuestion(
    "q1",
    "In which sport did Niels Bohr's brother win an Olympic medal?",
    ("football",),
    (Gold("Niels Bohr"),),
    True,
    "single",
    "dev",
    None,
    1,
)
PACK = Path(__file__).parents[2] / "packs" / "physics"


def example(question: str, answer: str = "Nothing of the kind.") -> dict[str, object]:
    return {"question": question, "context": {}, "answer": answer}


def test_the_same_words_and_the_same_meaning_are_leaks(encoder: Embedder) -> None:
    shouted = example("IN WHICH SPORT did Niels Bohr’s brother win an  Olympic medal")
    reworded = example("What sport brought Bohr's brother an Olympic medal?")
    found = find_leaks([example("How is a rainbow made?"), shouted, reworded], [BROTHER], encoder)
    assert [(leak.example, leak.question_id, leak.same_words) for leak in found] == [(2, "q1", True), (3, "q1", False)]
    assert found[1].similarity >= MIN_SIMILARITY


@pytest.mark.parametrize(("answer", "leaks"), [("It was Football.", True), ("It was rowing.", False)])
def test_a_freer_rewording_is_one_when_it_says_the_answer(encoder: Embedder, answer: str, leaks: bool) -> None:
    free = example("Harald Bohr won an Olympic medal in what discipline?", answer)
    found = find_leaks([free], [BROTHER], encoder)
    assert bool(found) is leaks
    if leaks:
        assert MIN_RELATEDNESS <= found[0].similarity < MIN_SIMILARITY
        assert (found[0].says_answer, found[0].same_words) == (True, False)


def test_an_answer_alone_is_no_leak(encoder: Embedder) -> None:
    assert find_leaks([example("How is a rainbow made?", "By football.")], [BROTHER], encoder) == []


def test_the_demo_pack_leaks_nothing(encoder: Embedder) -> None:
    examples = FewShotManager(PACK, encoder=encoder).load_examples()
    assert examples
    assert find_leaks(examples, load_questions(PACK / "eval" / "questions.jsonl"), encoder) == []


def test_nothing_to_compare(encoder: Embedder) -> None:
    assert find_leaks([], [BROTHER], encoder) == find_leaks([example("x")], [], encoder) == []
