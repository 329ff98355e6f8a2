"""The reader that ships finds short answers, as the torch model does, at the right characters of any text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reader.conftest import MakeReader
from tokenizers import Tokenizer

from wikigr.embeddings.model_id import DEFAULT_MODEL
from wikigr.embeddings.prepared import PreparedModel
from wikigr.embeddings.weights import checkpoint_folder
from wikigr.errors import ModelError
from wikigr.reader.adapter import ADAPTER
from wikigr.reader.passage import Passage, WindowOptions
from wikigr.reader.prepared import PreparedReader, find_reader
from wikigr.reader.reader import Reader
from wikigr.reader.windows import Window, WindowMaker
from wikigr.segmentation import sentence_spans

BERN = (
    "Albert Einstein was born in Ulm on 14 March 1879. He worked at the patent office in Bern from 1902 to 1909. "
    "There he wrote four papers."
)


def whole(text: str, title: str = "Albert Einstein", heading: str = "") -> Passage:
    return Passage(title, heading, text, ((0, len(text)),))


@pytest.mark.parametrize(
    ("question", "answer"), [("Where was Einstein born?", "Ulm"), ("When did Einstein work in Bern?", "1902")]
)
def test_the_reader_finds_short_answers(reader: Reader, question: str, answer: str) -> None:
    ((span,),) = reader.read(question, [whole(BERN)])
    assert span is not None
    assert answer in BERN[span.start : span.end]
    assert span.end - span.start <= len(answer) + len("at the  in Bern")
    ((other,),) = reader.read("Who invented the telephone?", [whole(BERN)])
    assert other is not None
    assert other.margin < span.margin


@pytest.fixture
def windows(tokenizer: Tokenizer) -> list[Window]:
    maker = WindowMaker(tokenizer, WindowOptions(tokens=128, overlap=16))
    texts = [BERN, BERN * 6, "Ulm.", "東京は日本の首都である。", ""]
    return [w for text in texts for w in maker.windows("Where was he born?", "Albert Einstein", "Life", text)]


def test_the_logits_in_single_precision_are_those_of_the_torch_model(
    make_reader: MakeReader, windows: list[Window]
) -> None:
    # Imported here, so that only the process that runs this test loads torch.
    import torch

    from training.adapter import load_adapter, read_shape
    from training.features import Feature, collate
    from training.model import SpanReader

    reader = make_reader(None)
    shape = read_shape(ADAPTER)
    with checkpoint_folder(DEFAULT_MODEL) as folder:
        model = SpanReader(folder, rank=shape.rank, scale=shape.scale).eval()
    load_adapter(model, ADAPTER)
    batch = collate([Feature.of_window(window) for window in windows], 0)
    with torch.inference_mode():
        expected = model(batch.input_ids, batch.token_types, batch.mask).numpy()
    for window, found, logits in zip(windows, reader.logits(windows), expected, strict=True):
        size = len(window.input_ids)
        np.testing.assert_allclose(found[:size], logits[:size], atol=1e-3)


def test_8_bits_change_the_logits_little(reader: Reader, make_reader: MakeReader, windows: list[Window]) -> None:
    ranges = json.loads(ADAPTER.with_suffix(".json").read_text(encoding="utf-8"))["ranges"]
    without_divisors = {
        name: [low * max(divisors.values(), default=1), high * max(divisors.values(), default=1), {}, single]
        for name, (low, high, divisors, single) in ranges.items()
    }
    without_single = {name: [low, high, divisors, []] for name, (low, high, divisors, _) in ranges.items()}
    exact = make_reader(None).logits(windows)
    errors = [
        np.mean([np.abs(found - logits).mean() for found, logits in zip(other.logits(windows), exact, strict=True)])
        for other in (reader, make_reader(without_divisors), make_reader(without_single))
    ]
    assert errors[0] < 0.1
    assert 1.5 * errors[0] < min(errors[1:])


def test_the_logits_of_a_window_do_not_depend_on_the_others(encoder: PreparedModel, windows: list[Window]) -> None:
    reader = Reader(find_reader(encoder), threads=3)
    together = reader.logits(windows)
    for window, logits in zip(windows, together, strict=True):
        assert logits.shape == (len(window.input_ids), 2)
        (alone,) = reader.logits([window])
        assert alone.tobytes() == logits.tobytes()


def test_each_sentence_has_a_span_of_its_own(reader: Reader) -> None:
    ranges = tuple(sentence_spans(BERN))
    (spans,) = reader.read("When was Einstein born?", [Passage("Albert Einstein", "", BERN, ranges)])
    assert len(spans) == len(ranges) == 3
    for (start, end), span in zip(ranges, spans, strict=True):
        assert span is not None
        assert start <= span.start < span.end <= end
    best = max((span for span in spans if span is not None), key=lambda span: span.margin)
    assert "1879" in BERN[best.start : best.end]


def _rename_cls(described: dict[str, Any]) -> None:
    described["model"]["vocab"]["[X]"] = described["model"]["vocab"].pop("[CLS]")
    described["added_tokens"] = [token for token in described["added_tokens"] if token["content"] != "[CLS]"]


def _without_unknown_token(described: dict[str, Any]) -> None:
    described["model"]["unk_token"] = "[NOPE]"


def _broken_normalizer(described: dict[str, Any]) -> None:
    described["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": "/////w=="}


@pytest.mark.parametrize("damage", [dict.clear, _rename_cls, _without_unknown_token, _broken_normalizer])
def test_a_damaged_tokenizer_is_a_model_error(copy: PreparedModel, damage: Callable[[dict[str, Any]], None]) -> None:
    """Regression: it raised a bare ``Exception``, a ``ValueError`` or a panic."""
    described = json.loads(copy.tokenizer.read_text(encoding="utf-8"))
    damage(described)
    copy.tokenizer.write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(ModelError, match=r"Cannot read the tokenizer .*tokenizer\.json: .*[^.]\.$") as caught:
        Reader(PreparedReader.beside(copy)).read("Where was he born?", [whole("An 𓀀 tower.")])
    assert caught.value.hint == "wikigr model prepare --force"


def test_the_title_names_the_subject(reader: Reader) -> None:
    text = "He was born in Ulm on 14 March 1879."
    margins = []
    for title in ("Albert Einstein", "Marie Curie"):
        ((span,),) = reader.read("Where was Albert Einstein born?", [whole(text, title)])
        assert span is not None
        margins.append(span.margin)
    assert margins[0] > margins[1]


def test_a_long_section_is_read_to_its_end(reader: Reader) -> None:
    text = "The museum has many rooms and halls. " * 60 + "It was founded in 1871 by Anna Weber."
    ranges = tuple(sentence_spans(text))
    (spans,) = reader.read("Who founded the museum?", [Passage("Museum", "", text, ranges)])
    best = max((span for span in spans if span is not None), key=lambda span: span.margin)
    assert text[best.start : best.end] == "Anna Weber"


def test_bad_input_gives_a_valid_span_or_none(reader: Reader, subtests: pytest.Subtests) -> None:
    for question, text in [
        ("why " * 300, BERN),
        ("Who?", "x" * 9_000),
        ("Who?", "word " * 600),
        ("Who?", ""),
        ("", BERN),
        ("Who?", " \n\t "),
        ("誰?", "東京は日本の首都であり、人口は約1400万人である。"),
        ("من؟", "القاهرة هي عاصمة مصر."),
        ("Who \ud800?", "A \udfff lone surrogate, born in Ulm."),
        ("Who?", "e\u0301" * 300 + " \U0001f600 \u200b\ufeff Ulm"),
    ]:
        with subtests.test(question=question):
            ((span,),) = reader.read(question, [whole(text)])
            if text.strip() in ("", "x" * 9_000):
                # The tokenizer knows no word in either.
                assert span is None or text[span.start : span.end] == text.strip()
            else:
                assert span is not None
                assert text[span.start : span.end].strip()


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=80), st.text(max_size=30))
def test_spans_are_whole_and_inside_their_sentences(reader: Reader, text: str, question: str) -> None:
    ranges = tuple(sentence_spans(text))
    (spans,) = reader.read(question, [Passage("Title", "Heading", text, ranges)])
    for (start, end), span in zip(ranges, spans, strict=True):
        if span is not None:
            assert start <= span.start < span.end <= end
            assert np.isfinite(span.margin)


def test_the_same_passages_give_the_same_spans_in_any_company(reader: Reader) -> None:
    question, other = "Where was Einstein born?", whole("The museum was founded in 1871.", "Museum")
    ((alone,),) = reader.read(question, [whole(BERN)])
    (_,), (together,) = reader.read(question, [other, whole(BERN)])
    assert alone is not None
    assert together is not None
    assert (alone.start, alone.end) == (together.start, together.end)
    assert abs(alone.margin - together.margin) < 1e-3
