"""What is measured of a reader on questions that people asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from training.examples import Passage
from training.judge import ReadSentence, groups_of, read_judged_questions, sentence_text, summarize_judged
from training.judged import JudgedQuestion, JudgedSentence, question_kind, read_judged, write_judged
from training.model import SpanReader
from training.report import as_table
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


def test_a_sentence_beyond_the_third_does_not_count() -> None:
    wrong = ReadSentence(JudgedSentence(0, 0, 3, 0.0), "Ada", 9.0)
    right = read(0, 0, 0)[1]
    for before, expected in ((2, 1.0), (3, 0.0)):
        figures = summarize_judged([SOLD], [[*[wrong] * before, right]], 0.0)
        assert figures is not None
        assert figures.sentence_of_three == expected


def test_a_right_sentence_with_a_wrong_short_answer() -> None:
    cut = [replace(item, span="kiln") for item in read(0, 2, 1)]
    figures = summarize_judged([SOLD], [cut], 0.0)
    assert figures is not None
    assert (figures.span, figures.sentence) == (0.0, 1.0)


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


def test_nothing_is_measured_where_no_question_is_covered() -> None:
    assert summarize_judged([PRICE], [read(1, 2, 3)], 0.0) is None


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


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How do I undo a commit?", "how-to"),
        ("When was the kiln sold?", "date"),
        ("What is a kiln?", "definition"),
        ("Why was the kiln sold?", "other"),
    ],
)
def test_the_kind_of_a_question(question: str, kind: str) -> None:
    assert question_kind(question, covered=True) == kind
    assert question_kind(question, covered=False) == "not covered"


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    write_judged(tmp_path / "judged.jsonl", [SOLD, PRICE])
    assert read_judged(tmp_path / "judged.jsonl") == [SOLD, PRICE]


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


def test_the_table_has_a_line_for_each_figure_and_a_column_for_each_reader() -> None:
    rows: dict[str, dict[str, dict[str, float | None]]] = {
        "small": {"people": {"questions": 74, "span": 0.4456, "auroc": None}},
        "large": {"people": {"questions": 74, "span": 0.0}},
    }
    assert as_table(rows).splitlines() == [
        "| set | figure | small | large |",
        "| --- | --- | --- | --- |",
        "| people | questions | 74 | 74 |",
        "| people | span | 0.446 | 0.000 |",
        "| people | auroc | – | – |",
    ]
