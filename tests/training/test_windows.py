"""Flat arrays give the same batches, losses and spans as the windows that they were made from."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from training.examples import Example, Passage
from training.features import collate, make_features
from training.measured import Measured, Read, figures_of
from training.windows import (
    DeviceWindows,
    Vocabulary,
    best_spans,
    pack_examples,
    pack_questions,
    read_all,
    width_of,
)
from wikigr.reader.windows import TOKEN_COST, WindowMaker
from wikigr.reader.windows import best_spans as best_spans_of_window
from wikigr.segmentation import sentence_spans

TEXT = "Anna keeps the boats. They were painted in 1912, and again in 1950 by Bo. " * 3
SMALL = Vocabulary(np.arange(30_522), 0, doubled=False)
# Every piece has the next number, and the separator stands twice.
DOUBLED = Vocabulary(np.arange(30_522) + 1, 9, doubled=True)


def example(question: str, answer: str, text: str = TEXT) -> Example:
    spans = ((text.index(answer), text.index(answer) + len(answer)),) if answer else ()
    return Example("test", "answer", "1", question, "Boats", "Paint", text, (answer,), spans)


EXAMPLES = (
    example("When were they painted?", "1912"),
    example("Who sank?", ""),
    example("Who painted?", "Bo", TEXT[:80]),
)


@pytest.fixture
def packed(maker: WindowMaker) -> DeviceWindows:
    arrays, names = pack_examples([("one", EXAMPLES[:2], [0.0, 0.5]), ("two", EXAMPLES[2:], [0.0])], maker)
    assert names == ["one", "two"]
    assert sorted(set(arrays["part"].tolist())) == [0, 1]
    assert sorted(set(arrays["place"].tolist())) == [0.0, 0.5]
    return DeviceWindows(arrays, SMALL, "cpu")


def test_a_batch_is_that_of_the_windows(packed: DeviceWindows, maker: WindowMaker) -> None:
    features = make_features(EXAMPLES, maker)
    expected = collate(features, 0)
    rows = torch.arange(len(packed))
    batch = packed.batch(rows, expected.input_ids.shape[1])
    for name in ("input_ids", "token_types", "mask", "starts", "ends", "text"):
        assert torch.equal(getattr(batch, name), getattr(expected, name)), name
    assert batch.questions.tolist() == expected.questions.tolist()


def test_a_doubled_separator_shifts_everything_after_it(maker: WindowMaker) -> None:
    arrays, _ = pack_examples([("one", EXAMPLES, [0.0] * 3)], maker)
    plain, doubled = (DeviceWindows(arrays, vocabulary, "cpu") for vocabulary in (SMALL, DOUBLED))
    width = width_of(int(doubled.lengths.max()))
    for row in range(len(plain)):
        rows = torch.tensor([row])
        one, two = plain.batch(rows, width), doubled.batch(rows, width)
        types, length = int(arrays["types"][row]), int(plain.lengths[row])
        before, after = torch.arange(types), torch.arange(types, length)
        assert torch.equal(two.input_ids[0, before], one.input_ids[0, before] + 1)
        assert two.input_ids[0, types] == two.input_ids[0, types - 1]
        assert torch.equal(two.input_ids[0, after + 1], one.input_ids[0, after] + 1)
        assert set(two.input_ids[0, length + 1 :].tolist()) <= {9}
        for name in ("starts", "ends", "text"):
            assert torch.equal(getattr(two, name)[0, after + 1], getattr(one, name)[0, after]), name
        assert int(two.text.sum()) == int(one.text.sum())


def test_what_is_taught_returns_to_its_tokens(maker: WindowMaker) -> None:
    arrays, _ = pack_examples([("one", EXAMPLES, [0.0] * 3)], maker)
    doubled = DeviceWindows(arrays, DOUBLED, "cpu")
    rows = torch.arange(len(doubled))
    width = width_of(int(doubled.lengths.max()))
    values = doubled.batch(rows, width).input_ids.float().unsqueeze(-1).expand(-1, -1, 2)
    flat = torch.zeros(len(arrays["ids"]), 2)
    doubled.scatter(flat, rows, values)
    assert flat[:, 0].tolist() == (arrays["ids"].astype(int) + 1).tolist()
    plain = DeviceWindows(arrays, SMALL, "cpu")
    plain.teach(flat.numpy().astype(np.float16))
    taught = plain.batch(rows, width).taught
    assert taught is not None
    expected = torch.where(plain.batch(rows, width).mask > 0, plain.batch(rows, width).input_ids + 1, 0)
    assert torch.equal(taught[..., 1], expected.half().float())


QUESTIONS = (
    Measured("set", "when", "When were they painted?", ("1912",), "", True, (Passage("Boats", "", TEXT),), (), 0),
    Measured(
        "set",
        "who",
        "Who paints?",
        ("Bo",),
        "",
        True,
        (Passage("Boats", "A", TEXT), Passage("B", "", "Bo does.")),
        (),
        1,
    ),
    Measured("set", "none", "Who sank?", (), "", False, (Passage("Boats", "", TEXT),)),
)


@pytest.mark.parametrize("vocabulary", [SMALL, DOUBLED])
def test_the_best_spans_are_those_of_the_reader(maker: WindowMaker, vocabulary: Vocabulary) -> None:
    arrays = pack_questions(QUESTIONS, maker)
    windows = DeviceWindows(arrays, vocabulary, "cpu")
    draw = torch.Generator().manual_seed(1)
    logits = torch.randn(len(windows), width_of(int(windows.lengths.max())), 2, generator=draw)
    row, shift = 0, int(vocabulary.doubled)
    for number, item in enumerate(QUESTIONS):
        for place, passage in enumerate(item.sections):
            for window in maker.windows(item.question, passage.title, passage.heading, passage.text):
                own = logits[row].numpy()
                if shift:
                    own = np.delete(own, int(arrays["types"][row]), axis=0)
                spans = best_spans_of_window(window, own, 6, sentence_spans(passage.text))
                expected = max((span for span in spans if span is not None), key=lambda span: span.margin)
                rows = torch.tensor([row])
                width = logits.shape[1]
                marks, within, more = (windows.tokens(name, rows, width) for name in ("marks", "sentence", "bonus"))
                best = best_spans(logits[row : row + 1], marks, within, more, 6, TOKEN_COST)
                margin, first, last = best[0].tolist()
                assert margin == pytest.approx(expected.margin, abs=1e-4)
                offsets = [window.offsets[int(token) - shift - window.text_start] for token in (first, last)]
                assert (offsets[0][0], offsets[1][1]) == (expected.start, expected.end)
                assert (arrays["question"][row], arrays["section"][row]) == (number, place)
                row += 1
    assert row == len(windows)


def test_a_question_has_the_best_span_of_all_its_windows(maker: WindowMaker) -> None:
    arrays = pack_questions(QUESTIONS, maker)
    windows = DeviceWindows(arrays, DOUBLED, "cpu")

    def compute(batch: object) -> torch.Tensor:
        # The piece "bo" begins and ends an answer.
        piece = (batch.input_ids == int(bo) + 1).float()  # type: ignore[attr-defined]
        return torch.stack((piece, piece), -1) * 9

    bo = maker.windows("x", "", "", "Bo")[0].input_ids[-2]
    readings = read_all(compute, windows, arrays, QUESTIONS, size=2, limits=[(4, TOKEN_COST)])[0]
    assert [reading.text for reading in readings] == ["Bo", "Bo", "Bo"]
    figures = figures_of(QUESTIONS, readings)["set"]
    assert (figures["questions"], figures["exact_match"], figures["auroc"]) == (2, 0.5, 0.5)


def test_a_bonus_decides_between_sentences(maker: WindowMaker) -> None:
    first, second = sentence_spans(TEXT)[:2]
    item = Measured(
        "set",
        "when",
        "When?",
        ("x",),
        "",
        True,
        (Passage("Boats", "", TEXT[: second[1]]),),
        ((0, *first, 0.0), (0, *second, 5.0)),
    )
    arrays = pack_questions([item], maker)
    windows = DeviceWindows(arrays, SMALL, "cpu")
    readings = read_all(
        lambda batch: torch.zeros(*batch.input_ids.shape, 2), windows, arrays, [item], size=4, limits=[(3, TOKEN_COST)]
    )
    assert TEXT.index(readings[0][0].text) >= second[0]
    assert readings[0][0].margin == pytest.approx(5.0)


def test_without_a_span_a_question_is_wrong() -> None:
    assert figures_of(QUESTIONS[:1], [Read("", None, -1e4)])["set"]["right"] == 0
