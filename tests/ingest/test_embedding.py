from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.ingest.conftest import article

from wikigr.embeddings.embedder import EncoderIdentity, Vectors
from wikigr.errors import ModelError
from wikigr.ingest import embedding, loading
from wikigr.ingest.embedding import embed_all, reuse_vectors
from wikigr.ingest.engines import local
from wikigr.ingest.engines.local import LocalEngine
from wikigr.ingest.staging import Staging
from wikigr.progress import Silent

IDENTITY = EncoderIdentity("counting", 2, "0" * 64)


class CountingEncoder:
    """An encoder that records its inputs; ``fail_at`` is the number of the call that fails."""

    identity = IDENTITY

    def __init__(self, *, fail_at: int = -1, value: float = 1.0) -> None:
        self.calls: list[list[str]] = []
        self._fail_at = fail_at
        self._value = value

    def encode(self, texts: Sequence[str]) -> Vectors:
        if len(self.calls) == self._fail_at:
            raise ModelError("out of memory")
        self.calls.append(list(texts))
        return np.full((len(texts), 2), self._value, dtype=np.float32)


@pytest.fixture
def three(staged: Callable[..., Staging]) -> Staging:
    return staged(article("A", "One."), article("B", "Two."), article("C", "Three."), by_id=True)


def test_every_text_is_encoded_once(three: Staging) -> None:
    encoder = CountingEncoder()
    assert embed_all(three, encoder, Silent(), LocalEngine()) == 3
    assert sorted(text for call in encoder.calls for text in call) == ["A\nOne.", "B\nTwo.", "C\nThree."]
    assert embed_all(three, encoder, Silent(), LocalEngine()) == 0
    assert len(encoder.calls) == 1


def test_texts_of_similar_length_are_encoded_together(staged: Callable[..., Staging]) -> None:
    staging = staged(*(article(f"A{n:02}", "Word." * (n * 7 % 20 + 1)) for n in range(20)), by_id=True)
    encoder = CountingEncoder()
    embed_all(staging, encoder, Silent(), LocalEngine())
    (lengths,) = ([len(text) for text in call] for call in encoder.calls)
    assert lengths == sorted(lengths, reverse=True)
    assert len(set(lengths)) == 20


def test_vectors_are_stored_and_reported_as_they_are_encoded(three: Staging, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "available_cores", lambda: 1)
    monkeypatch.setattr(local, "_TEXTS_PER_CORE", 1)
    events: list[tuple[int, int]] = []

    class Recorder(Silent):
        def advance(self, count: int) -> None:
            events.append((count, three.count("vector")))

    encoder = CountingEncoder()
    assert embed_all(three, encoder, Recorder(), LocalEngine()) == 3
    assert (events, [len(call) for call in encoder.calls]) == ([(1, 1), (1, 2), (1, 3)], [1, 1, 1])


@pytest.mark.parametrize("window", [1, 512])
def test_vectors_encoded_before_a_failure_are_kept(
    three: Staging, monkeypatch: pytest.MonkeyPatch, window: int
) -> None:
    monkeypatch.setattr(embedding, "WINDOW", window)
    monkeypatch.setattr(local, "available_cores", lambda: 1)
    monkeypatch.setattr(local, "_TEXTS_PER_CORE", 1)
    with pytest.raises(ModelError, match="out of memory"):
        embed_all(three, CountingEncoder(fail_at=2), Silent(), LocalEngine())
    assert three.count("vector") == 2
    assert embed_all(three, CountingEncoder(), Silent(), LocalEngine()) == 1


def test_vectors_that_are_not_finite_are_refused(three: Staging) -> None:
    with pytest.raises(ModelError, match="counting returned vectors that are not finite"):
        embed_all(three, CountingEncoder(value=float("nan")), Silent(), LocalEngine())
    assert three.count("vector") == 0


def test_only_sections_with_the_same_text_reuse_vectors(
    three: Staging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_PAGE", 2)
    embed_all(three, CountingEncoder(value=0.5), Silent(), LocalEngine())
    loading.load_database(three, tmp_path, IDENTITY, Silent())
    with three.transaction():
        three.write("UPDATE section SET hash = ? WHERE section_id = 'B#0'", [(b"changed",)])
    three.forget_vectors()
    assert reuse_vectors(three, tmp_path / "pack.db") == 2
    values = [np.frombuffer(value, dtype=np.float32).tolist() for (value,) in three.rows("SELECT value FROM vector")]
    assert values == [[0.5, 0.5]] * 2
