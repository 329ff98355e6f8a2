"""Token ids, batches of them, and tokenizers that are not trusted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.embeddings.conftest import MakeBert
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from wikigr.embeddings.models import prepare
from wikigr.embeddings.tokenization import TextTokenizer, check_tokenizer, token_batches
from wikigr.errors import ModelError

# Takes exponential time on a run of the letter a.
EVIL = r"(a+)+$"


def test_prepared_encoders_pass(make_bert: MakeBert, tmp_path: Path) -> None:
    check_tokenizer(prepare(str(make_bert()), cache_dir=tmp_path / "cache").folder)


def test_the_tokenizer_of_multilingual_encoders_passes(tmp_path: Path) -> None:
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), ("a", -1.0)], unk_id=0, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    check_tokenizer(tmp_path)


def _set(name: str, value: Any) -> Callable[[Tokenizer], None]:
    return lambda tokenizer: setattr(tokenizer, name, value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("normalizer", normalizers.Replace(Regex(EVIL), "b")), "the regular expression '(a+)+$'"),
        (_set("normalizer", normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(EVIL), "b")])),
         "the regular expression '(a+)+$'"),
        (_set("pre_tokenizer", pre_tokenizers.Split(Regex(EVIL), "isolated")), "the component 'Split'"),
        (_set("pre_tokenizer", pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(EVIL), "removed")])),
         "the component 'Split'"),
        (_set("decoder", decoders.Replace(Regex(EVIL), "b")), "the regular expression '(a+)+$'"),
    ],
)  # fmt: skip
def test_a_regular_expression_is_refused(
    make_bert: MakeBert, tmp_path: Path, change: Callable[[Tokenizer], None], message: str
) -> None:
    folder = prepare(str(make_bert()), cache_dir=tmp_path / "cache").folder
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    change(tokenizer)
    tokenizer.save(str(folder / "tokenizer.json"))
    with pytest.raises(ModelError) as caught:
        check_tokenizer(folder)
    assert message in caught.value.message


@pytest.mark.parametrize("content", ["", "[]", "7", '{"normalizer": ' + "[" * 100_000, "\udcff"])
def test_a_damaged_tokenizer_is_a_clear_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "tokenizer.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ModelError, match="Cannot read the tokenizer"):
        check_tokenizer(tmp_path)


def _without_special_tokens(described: dict[str, Any]) -> None:
    described["post_processor"]["special_tokens"] = {}


def _without_unknown_token(described: dict[str, Any]) -> None:
    described["model"]["unk_token"] = "[NOPE]"


@pytest.mark.parametrize(
    ("damage", "cause"), [(_without_special_tokens, "PanicException"), (_without_unknown_token, "Exception")]
)
@pytest.mark.parametrize("texts", [["an unusual atom"], ["an unusual atom"] * 2])
def test_a_tokenizer_that_fails_is_a_model_error(
    make_bert: MakeBert, tmp_path: Path, damage: Callable[[dict[str, Any]], None], cause: str, texts: list[str]
) -> None:
    """Regression: such a tokenizer ended the process with a traceback, or was reported as a bug."""
    prepared = prepare(str(make_bert()), cache_dir=tmp_path / "cache")
    described = json.loads(prepared.tokenizer.read_text())
    damage(described)
    prepared.tokenizer.write_text(json.dumps(described))
    tokenizer = TextTokenizer(prepared)
    with pytest.raises(ModelError, match="Cannot read the tokenizer") as caught:
        tokenizer.encode(texts)
    assert type(caught.value.__cause__).__name__ == cause


def test_a_panic_while_opening_is_a_model_error(make_bert: MakeBert, tmp_path: Path) -> None:
    prepared = prepare(str(make_bert()), cache_dir=tmp_path / "cache")
    described = json.loads(prepared.tokenizer.read_text())
    described["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": "/////w=="}
    prepared.tokenizer.write_text(json.dumps(described))
    with pytest.raises(ModelError, match="Cannot read the tokenizer"):
        TextTokenizer(prepared)


@given(
    st.lists(st.lists(st.integers(1, 99), min_size=1, max_size=40), max_size=60), st.integers(1, 120), st.integers(1, 9)
)
def test_every_text_once_within_the_budget(encoded: list[list[int]], budget: int, most: int) -> None:
    seen: list[int] = []
    widths = []
    for batch in token_batches(encoded, pad_id=0, max_tokens=budget, max_texts=most):
        rows, width = batch.input_ids.shape
        assert batch.input_ids.dtype == batch.attention_mask.dtype == np.int32
        assert rows <= most
        assert rows * width <= budget or rows == 1
        assert width == max(len(encoded[row]) for row in batch.rows)
        assert 4 * min(len(encoded[row]) for row in batch.rows) >= 3 * width
        widths.append(width)
        for row, ids, mask in zip(batch.rows, batch.input_ids, batch.attention_mask, strict=True):
            length = len(encoded[row])
            assert ids.tolist() == encoded[row] + [0] * (width - length)
            assert mask.tolist() == [1] * length + [0] * (width - length)
            seen.append(int(row))
    assert sorted(seen) == list(range(len(encoded)))
    assert widths == sorted(widths, reverse=True)
