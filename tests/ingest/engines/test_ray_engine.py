"""What a node is checked for; `tests/ray` checks real nodes."""

from __future__ import annotations

import dataclasses

import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.loader import DEFAULT_MODEL
from wikigr.ingest.engines.ray_engine import NodeCheck, WorkerEncoder


@pytest.fixture
def check(encoder: Embedder) -> NodeCheck:
    """The check of a node that has everything."""
    return NodeCheck(WorkerEncoder(DEFAULT_MODEL, encoder.identity, on_gpu=False))


def test_a_node_that_has_everything(check: NodeCheck) -> None:
    assert check() is None


def test_a_node_with_another_encoder(check: NodeCheck) -> None:
    other = dataclasses.replace(check.encoder.identity, weights_sha256="0" * 64)
    encoder = dataclasses.replace(check.encoder, identity=other)
    problem, hint = dataclasses.replace(check, encoder=encoder)() or ("", "")
    assert problem.startswith(f"cannot open the encoder: The encoder {DEFAULT_MODEL} has other weights on this machine")
    assert hint == f"On every node: wikigr model prepare {DEFAULT_MODEL}"
