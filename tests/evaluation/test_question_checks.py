"""The rules of ``wikigr eval validate``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from wikigr.answer.answer import Answer
from wikigr.answer.few_shot import FewShotManager
from wikigr.embeddings.embedder import Embedder
from wikigr.evaluation.question_checks import (
    MIN_RELATEDNESS,
    MIN_SIMILARITY,
    PackLookup,
    check_questions,
    find_leaks,
)
from wikigr.evaluation.questions import Gold, GoldQuestion, Problem, load_questions
from wikigr.index.candidate import Section
from wikigr.retrieval.trace import Trace

QUESTION = GoldQuestion(
    "q1", "Where was Planck born?", ("Kiel", "Holstein"), (Gold("A"), Gold("B")), True, "", "", "", 1
)
IMPOSSIBLE = replace(QUESTION, id="q4", question="Who?", answers=(), gold=(), answerable=False, line=4)
SECTIONS = {
    "A": [Section("A#0", "A", "Life", "He was born in Kiel, in Holstein.", "a.md", 0)],
    "B": [Section("B#0", "B", "Town", "A town by the sea.", "b.md", 0)],
}


def lookup(query_type: str = "abstained", **sections: list[Section]) -> PackLookup:
    articles = {**SECTIONS, **sections}
    return PackLookup(
        lambda name: name.upper() if name.upper() in articles else None,
        lambda name: ["A", "B"] if name == "C" else [],
        lambda title: articles[title],
        lambda _: Answer(question="?", text="In\nKiel [1]", query_type=query_type, confidence=0.5, trace=Trace()),
    )


def kinds(*questions: GoldQuestion, pack: PackLookup | None = None) -> list[str]:
    return [problem.kind for problem in check_questions(questions, pack)]


def test_a_file_that_fits_the_pack_has_no_problems() -> None:
    other = replace(QUESTION, id="q2", question="When was Planck born?")
    assert check_questions([QUESTION, other, IMPOSSIBLE], lookup()) == []


def test_problems_come_in_the_order_of_the_questions() -> None:
    same = replace(QUESTION, id="q2", question="where was  PLANCK born", gold=(Gold("C"),), line=2)
    gold = (Gold("a", "LIFE", "a.md"), Gold("A", "Live"), Gold("B", None, "a.md"))
    section = replace(QUESTION, id="q3", question="Why?", gold=gold, line=3)
    assert check_questions([QUESTION, same, section, IMPOSSIBLE], lookup("extractive")) == [
        Problem("duplicate", "q2", 2, "asks the same as 'q1' on line 1"),
        Problem("missing-title", "q2", 2, "the pack has no article 'C'. Did you mean 'A', 'B'?"),
        Problem("missing-section", "q3", 3, "the article 'A' has no section 'Live'. Did you mean 'Life'?"),
        Problem("missing-passage", "q3", 3, "the article 'B' has no passage 'a.md'"),
        Problem("answered", "q4", 4, "is marked as unanswerable, but the pack answers: In Kiel [1]"),
    ]


def test_only_unanswerable_questions_are_asked() -> None:
    asked: list[str] = []
    pack = lookup()

    def answer(question: str) -> Answer:
        asked.append(question)
        return pack.answer(question)

    assert check_questions([QUESTION, IMPOSSIBLE], replace(pack, answer=answer)) == []
    assert asked == ["Who?"]


def test_questions_without_words_are_not_duplicates() -> None:
    assert kinds(replace(QUESTION, question="?!"), replace(QUESTION, id="q2", question="…?")) == []


def test_a_question_with_its_answer_is_found_without_a_pack() -> None:
    given = replace(QUESTION, question="Was Planck born in Kiel?")
    found = check_questions([given, QUESTION])
    assert found == [Problem("answer-in-question", "q1", 1, "the question contains its answer 'Kiel'")]
    # Only whole words count.
    assert kinds(replace(QUESTION, question="Was Planck from Kielce?")) == []


@pytest.mark.parametrize(
    ("gold", "absent"),
    [
        (Gold("A"), ["Bern"]),
        (Gold("a", "life"), ["Bern"]),
        (Gold("A", None, "a.md"), ["Bern"]),
        (Gold("A", None, "other.md"), []),
        (Gold("B"), ["Kiel", "Bern"]),
        # A missing gold location is a problem already.
        (Gold("C"), []),
    ],
)
def test_answers_that_no_gold_place_contains(gold: Gold, absent: list[str]) -> None:
    found = check_questions([replace(QUESTION, answers=("Kiel", "Bern"), gold=(gold,))], lookup())
    assert [problem.message for problem in found if problem.kind == "answer-outside-gold"] == [
        f"no gold location contains the accepted answer {answer!r}" for answer in absent
    ]


def test_an_answer_in_two_gold_articles_may_need_one_hop_only() -> None:
    both = lookup(B=[Section("B#0", "B", "Town", "Kiel is a town.", "b.md", 0)])
    (problem,) = check_questions([QUESTION], both)
    assert (problem.kind, "2 of its gold articles" in problem.message) == ("single-hop", True)
    # Two sections of one article are one hop anyway.
    pieces = [*SECTIONS["A"], Section("A#1", "A", "Death", "Not in Kiel.", "a.md", 1)]
    one = replace(QUESTION, gold=(Gold("A", "Life"), Gold("A", "Death")))
    assert kinds(one, pack=lookup(A=pieces)) == []


def test_comparisons_and_intersections_name_their_answer_in_several_articles() -> None:
    both = lookup(B=[Section("B#0", "B", "Town", "Kiel is a town.", "b.md", 0)])
    given = replace(QUESTION, question="Which is older, Kiel or Bern?")
    assert kinds(replace(given, type="comparison"), pack=both) == []
    # An intersection does not name its answer in the question.
    assert kinds(replace(given, type="intersection"), pack=both) == ["answer-in-question"]
    assert kinds(replace(given, type="two-hop"), pack=both) == ["answer-in-question", "single-hop"]


def test_without_a_pack_nothing_is_looked_up() -> None:
    assert kinds(replace(QUESTION, gold=(Gold("C"),)), IMPOSSIBLE) == []


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
    for name in ("questions", "composed"):
        assert find_leaks(examples, load_questions(PACK / "eval" / f"{name}.jsonl"), encoder) == []


def test_nothing_to_compare(encoder: Embedder) -> None:
    assert find_leaks([], [BROTHER], encoder) == find_leaks([example("x")], [], encoder) == []
