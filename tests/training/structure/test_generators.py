"""The questions that each generator makes of a small manual, FAQ and article."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import pytest

from training.examples import Example, contains_answer
from training.structure import definitions, facts, faq, howto, life, lists, options, tables
from training.structure.building import Rivals
from training.structure.invented import read_schemas
from training.structure.passages import Passage

Maker = Callable[[list[Passage], Rivals, random.Random], Iterable[Example]]
# Enough draws that every wording and negative comes up.
_ROUNDS = 40


def _make(maker: Maker, passages: list[Passage]) -> list[Example]:
    rivals = Rivals(passages)
    return [example for seed in range(_ROUNDS) for example in maker(passages, rivals, random.Random(seed))]


def _answers(examples: list[Example], word: str) -> set[str]:
    """Return the answers of the questions that contain ``word``."""
    found = [example for example in examples if word in example.question and example.spans]
    return {example.text[start:end] for example in found for start, end in example.spans}


def _check(examples: list[Example]) -> None:
    """Check that answers stand in the text and that negatives do not contain one."""
    assert {example.kind == "answer" for example in examples} == {True, False}
    for example in examples:
        assert example.question == " ".join(example.question.split())
        assert bool(example.spans) == (example.kind == "answer")
        if example.spans:
            assert {example.text[start:end] for start, end in example.spans} == set(example.accepted)
            assert all(end - start == len(example.text[start:end].strip()) for start, end in example.spans)
        else:
            assert not contains_answer(example.text, example.accepted)


def test_options_are_asked_in_both_directions(manual: list[Passage]) -> None:
    examples = _make(options.generate, manual)
    _check(examples)
    assert "16" in _answers(examples, "default")
    assert _answers(examples, "What does the --quiet option do?") == {"Suppresses all messages on the console"}
    assert _answers(examples, "console") == {"--quiet"}
    assert _answers(examples, "if the name is unknown") == {"ValveError"}
    assert _answers(examples, "version") == {"2.4"}


def test_an_attribute_that_an_entry_lacks_is_not_answered(manual: list[Passage]) -> None:
    examples = _make(options.generate, manual)
    removed = [example for example in examples if example.kind == "removed" and "default" in example.question]
    assert removed
    assert all("default" not in example.text and "--max-pressure" in example.text for example in removed)


def test_tasks_are_answered_with_the_command(manual: list[Passage]) -> None:
    examples = _make(howto.generate, manual)
    _check(examples)
    assert _answers(examples, "drain the tank") == {"pumpctl drain --all"}
    assert _answers(examples, "restart the pump") == {"use the pumpctl restart command"}


def test_definitions_are_clauses(manual: list[Passage]) -> None:
    examples = _make(definitions.generate, manual)
    assert _answers(examples, "pump") == {"a machine that moves water from a lower to a higher place"}


def test_life_dates_are_not_confused(article: list[Passage], manual: list[Passage]) -> None:
    other = Passage(
        "encyclopedia", "2", "Otto Lind", "Introduction", "", "Otto Lind (born 1802) was a painter. He was poor."
    )
    examples = _make(life.generate, [*article, other, *manual])
    _check([example for example in examples if example.title == "Ada Brandt"])
    assert _answers(examples, "Where was Ada Brandt born") == {"Odense"}
    assert _answers(examples, "When was Ada Brandt born") == {"4 March 1820"}
    assert _answers(examples, "When did Ada Brandt die") == {"9 July 1891"}
    removed = [e for e in examples if "When did Ada Brandt die" in e.question and e.kind == "removed"]
    assert removed
    assert all("(born 4 March 1820)" in example.text and "1891" not in example.text for example in removed)
    # Nothing in the text says whom she married, so a question for it is a negative.
    assert any(example.kind == "attribute" and "marr" in example.question for example in examples)
    assert not any(example.spans and "marr" in example.question for example in examples)


def test_cells_are_asked_by_row_and_column(manual: list[Passage]) -> None:
    examples = _make(lambda passages, _, draw: tables.generate(passages, draw), manual)
    _check(examples)
    assert "Service: control | Port: 7001 | Protocol: TCP" in examples[0].text
    assert _answers(examples, "port of gauges") == {"7002"}
    assert _answers(examples, "Which service has the port 7003") == {"alarms"}


def test_a_question_of_an_faq_is_never_the_answer(manual: list[Passage]) -> None:
    examples = _make(faq.generate, manual)
    _check(examples)
    assert _answers(examples, "oil") == {"Oil the pump every six weeks"}
    assert not any("?" in answer for answer in _answers(examples, ""))
    assert any(example.text.startswith("Q: ") for example in examples)


def test_invented_faqs_answer_within_the_answer() -> None:
    examples = list(faq.generate_invented(60, random.Random(3)))
    _check(examples)
    assert not any("?" in answer or "[" in answer or "{" in answer for answer in _answers(examples, ""))


def test_invented_facts_are_asked_by_relation() -> None:
    examples = list(facts.generate(200, random.Random(3)))
    _check(examples)
    negatives = [example for example in examples if example.kind == "attribute"]
    questions = {
        question: relation.names
        for schema in read_schemas().values()
        for relation in schema
        for question in relation.questions
    }
    for example in negatives:
        for template, names in questions.items():
            if template.format(x=example.title) == example.question:
                lines = example.text.lower().splitlines()
                assert not any(
                    line.removeprefix(f"{example.title.lower()} — ").startswith(f"{name.lower()}:")
                    for line in lines
                    for name in names
                )


def test_lists_are_whole(manual: list[Passage]) -> None:
    examples = _make(lists.generate_lists, manual)
    _check(examples)
    assert _answers(examples, "") == {"liters, gallons and barrels"}


def test_counts_are_numbers_of_what_is_asked(manual: list[Passage]) -> None:
    examples = _make(lists.generate_counts, manual)
    assert _answers(examples, "worker threads") == {"four"}
    other = [example for example in examples if example.kind == "attribute"]
    assert other
    assert not any("threads" in example.question and "threads" in example.text for example in other)


@pytest.mark.parametrize(
    "maker", [options.generate, howto.generate, life.generate, faq.generate, lists.generate_counts]
)
def test_the_same_seed_gives_the_same_examples(maker: Maker, manual: list[Passage], article: list[Passage]) -> None:
    passages = [*manual, *article]
    made = [list(maker(passages, Rivals(passages), random.Random(5))) for _ in range(2)]
    assert made[0] == made[1]
