"""Reading a checkpoint folder, and rejecting unsupported or invalid ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.embeddings.conftest import MakeBert
from tokenizers import Tokenizer

from wikigr.embeddings.checkpoint import Checkpoint
from wikigr.errors import ModelError


def _edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(
    ("settings", "pooling"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"embedding_dimension": 24, "pooling_mode": "cls"}, "cls"),
        ({"pooling_mode": "mean"}, "mean"),
        ({}, "mean"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}, None),
        ({"pooling_mode_weightedmean_tokens": True, "pooling_mode_mean_tokens": True}, None),
        ({"pooling_mode_max_tokens": True}, None),
        ({"pooling_mode": "lasttoken"}, None),
        ({"pooling_mode": ["mean", "max"]}, None),
    ],
)
def test_the_pooling(make_bert: MakeBert, settings: dict[str, object], pooling: str | None) -> None:
    folder = make_bert()
    (folder / "1_Pooling/config.json").write_text(json.dumps(settings))
    if pooling is None:
        with pytest.raises(ModelError, match=r"pools by .*, which only the backend sentence-transformers supports"):
            Checkpoint.read(folder)
    else:
        assert Checkpoint.read(folder).pooling == pooling


def test_steps_and_prompts_that_the_graph_lacks_are_refused(make_bert: MakeBert) -> None:
    folder = make_bert()
    modules = json.loads((folder / "modules.json").read_text())
    dense = {"idx": 3, "name": "3", "path": "3_Dense", "type": "sentence_transformers.models.Dense"}
    outside = {**modules[1], "path": "../elsewhere"}
    for wrong, message in (
        ([*modules, dense], "Dense"),
        (modules[:1], "no pooling"),
        ([7], "7"),
        ({}, "JSON list"),
        ([outside], "points outside"),
    ):
        (folder / "modules.json").write_text(json.dumps(wrong))
        with pytest.raises(ModelError, match=message):
            Checkpoint.read(folder)
    (folder / "config_sentence_transformers.json").write_text('{"default_prompt_name": "query"}')
    with pytest.raises(ModelError, match="prompt"):
        Checkpoint.read(folder)


@pytest.mark.parametrize(
    ("sentence", "tokenizer", "window"),
    [({"max_seq_length": 16}, 20, 16), ({"max_seq_length": 999}, 20, 32), ({}, 20, 20), ({}, 10**30, 32)],
)
def test_the_window(make_bert: MakeBert, sentence: dict[str, int], tokenizer: int, window: int) -> None:
    folder = make_bert()
    (folder / "sentence_bert_config.json").write_text(json.dumps(sentence))
    _edit(folder / "tokenizer_config.json", model_max_length=tokenizer)
    assert Checkpoint.read(folder).max_tokens == window


def test_lower_casing_goes_into_the_tokenizer(make_bert: MakeBert) -> None:
    folder = make_bert()
    own = Tokenizer.from_file(str(folder / "tokenizer.json"))
    own.normalizer = None  # type: ignore[assignment]
    own.save(str(folder / "tokenizer.json"))
    for lower, expected in ((False, "[UNK]"), (True, "atom")):
        _edit(folder / "sentence_bert_config.json", do_lower_case=lower)
        written = Tokenizer.from_str(Checkpoint.read(folder).tokenizer_json())
        assert written.encode("ATOM").tokens[1] == expected


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_missing_file_is_named(make_bert: MakeBert, name: str) -> None:
    folder = make_bert()
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"no {name}"):
        Checkpoint.read(folder)
