"""``wikigr model prepare`` prepares the encoder with its reader, and tells what it did."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Wikigr
from tests.reader.mpnet import write_mpnet

from wikigr.embeddings.embedder import Embedder
from wikigr.reader.adapter import AdapterDescription


def test_the_default_model_has_a_reader(wikigr: Wikigr, encoder: Embedder, physics_pack: Path) -> None:
    result = wikigr("model", "prepare", "--json")
    document = json.loads(result.out)
    assert (result.code, document["model_id"]) == (0, encoder.identity.model_id)
    assert document["reader"] == AdapterDescription.read().sha256
    assert "384 dimensions, with a reader, in " in wikigr("model", "prepare").out
    assert json.loads(wikigr("pack", "info", str(physics_pack), "--json").out)["readers"][0] == "small"
    answer = json.loads(wikigr("ask", "Who discovered the electron?", "--pack", str(physics_pack), "--json").out)
    assert answer["reader"] == "small"


def test_the_reader_base_is_not_made_from_other_weights(wikigr: Wikigr, tmp_path: Path) -> None:
    other = write_mpnet(tmp_path / "other")
    result = wikigr("model", "prepare", str(other), "--reader", "base", "--force")
    assert result.code != 0
    assert "was not trained on the weights in" in result.err
    assert "wikigr model prepare --reader base" in result.err
