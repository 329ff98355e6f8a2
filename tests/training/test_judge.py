"""What is measured of a reader on questions that people asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from training.examples import Passage
from training.judge import ReadSentence, groups_of, read_judged_questions, sentence_text, summarize_judged
from training.judged import JudgedQuestion, JudgedSentence
from training.model import SpanReader
from wikigr.reader.windows import WindowMaker

TEXT = "Ada fired the kiln in 1911. Bea sold the kiln in 1920. Cay broke the kiln in 1931."
SENTENCES = tuple(
    JudgedSentence(0, TEXT.index(name), TEXT.index(year) + 5, 0.0)
    for name, year in (("Ada", "1911"), ("Bea", "1920"), ("Cay", "1931"))
)
SOLD = JudgedQuestion(
    group="people",
    source="git",
    question="When was the kiln sold?",
    kind="date",
    covered=True,
    pattern=r"\b1920\b",
    accepted=(),
    nearest=0.5,
    sections=(Passage("Kiln", "", TEXT),),
    sentences=SENTENCES,
)
PRICE = replace(SOLD, question="What did the kiln cost?", kind="not covered", covered=False, pattern="")


def read(*margins: float) -> list[ReadSentence]:
    """Return the sentences with these margins and the year in each as its short answer."""
    return [
        ReadSentence(sentence, TEXT[sentence.end - 5 : sentence.end - 1], margin)
        for sentence, margin in zip(SENTENCES, margins, strict=True)
    ]


def test_an_answer_is_right_by_its_pattern_or_by_an_accepted_answer() -> None:
    assert SOLD.is_right("in 1920")
    assert not SOLD.is_right("in 19201")
    named = replace(SOLD, pattern="", accepted=("Bea Moss", "Bea"))
    assert named.is_right("bea")
    assert not named.is_right("Ada")
    assert not replace(SOLD, covered=False).is_right("1920"), "nothing answers what is not covered"


@pytest.mark.parametrize(
    ("margins", "span", "sentence", "of_three"),
    [((0, 2, 1), 1.0, 1.0, 1.0), ((2, 1, 0), 0.0, 0.0, 1.0)],
    ids=["first", "second"],
)
def test_the_first_sentence_counts_and_one_of_three(
    margins: tuple[float, ...], span: float, sentence: float, of_three: float
) -> None:
    figures = summarize_judged([SOLD], [read(*margins)], 0.0)
    assert figures is not None
    assert (figures.questions, figures.span, figures.sentence) == (1, span, sentence)
    assert figures.sentence_of_three == of_three
    assert figures.auroc is None, "there is no question that is not covered"


def test_the_score_without_the_reader_counts_by_its_weight() -> None:
    readings = read(0, 2, 1)
    readings[0] = replace(readings[0], sentence=replace(readings[0].sentence, features=0.5))
    by_weight = [summarize_judged([SOLD], [readings], weight) for weight in (3.0, 5.0)]
    assert [figures.sentence for figures in by_weight if figures is not None] == [1.0, 0.0]


def test_the_auroc_is_that_of_right_answers_against_questions_not_covered() -> None:
    # Right with 4 and with 1, not covered with 2: one pair of two is in order. The wrong answer with 9 does not count.
    readings = [read(0, 4, 0), read(0, 1, 0), read(9, 0, 0), read(2, 0, 0)]
    figures = summarize_judged([SOLD, SOLD, SOLD, PRICE], readings, 0.0)
    assert figures is not None
    assert figures.auroc == 0.5
    assert figures.questions == 3


def test_a_covered_question_for_which_nothing_was_read_counts_as_wrong() -> None:
    figures = summarize_judged([SOLD, SOLD], [[], read(0, 1, 0)], 0.0)
    assert figures is not None
    assert (figures.span, figures.sentence, figures.sentence_of_three) == (0.5, 0.5, 0.5)


def test_questions_are_grouped_by_set_source_and_kind() -> None:
    other = replace(SOLD, group="nq", source="nq", kind="name")
    assert groups_of([SOLD, other, PRICE]) == {
        "nq": [1],
        "nq nq": [1],
        "nq, name": [1],
        "people": [0, 2],
        "people git": [0, 2],
        "people, date": [0],
        "people, not covered": [2],
    }


def test_the_best_span_of_each_sentence_is_read(tiny_bert: Path, maker: WindowMaker) -> None:
    torch.manual_seed(0)
    model = SpanReader(tiny_bert, rank=2, scale=1.0)
    model.eval()
    torch.nn.init.normal_(model.head.weight)
    readings = read_judged_questions(model, maker, 0, [SOLD, PRICE], 4, 15)
    assert [len(group) for group in readings] == [3, 3]
    for item, group in zip((SOLD, PRICE), readings, strict=True):
        assert {found.sentence for found in group} == set(SENTENCES)
        assert all(found.span and found.span in sentence_text(item, found.sentence) for found in group)
    # Of no section, nothing is read.
    assert read_judged_questions(model, maker, 0, [SOLD], 0, 15) == [[]]
