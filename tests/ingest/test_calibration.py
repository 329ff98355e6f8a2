from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from wikigr.embeddings.embedder import Embedder, Vectors
from wikigr.ingest.calibration import calibrate_min_relevance
from wikigr.ingest.staging import Staging
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.retrieval.trace import Trace


@pytest.fixture
def staging(tmp_path: Path) -> Staging:
    return Staging(tmp_path / "staging.sqlite")


def fill(staging: Staging, vectors: np.ndarray) -> None:
    rows = [(bytes([n // 256, n % 256]), row.astype(np.float32).tobytes()) for n, row in enumerate(vectors)]
    with staging.transaction():
        staging.write("INSERT INTO vector VALUES (?, ?)", rows)


def test_it_lies_above_what_is_unrelated_and_below_what_is_related(staging: Staging, encoder: Embedder) -> None:
    texts = [f"Planck measured quantum number {n} of the spectrum of hydrogen." for n in range(40)]
    fill(staging, encoder.encode(texts))
    threshold = calibrate_min_relevance(staging, encoder)
    unrelated, related = encoder.encode(["Which cheese goes with pears?", "Who measured the spectrum of hydrogen?"])
    cosines = encoder.encode(texts) @ np.stack([unrelated, related]).T
    assert cosines[:, 0].mean() < threshold < cosines[:, 1].min()


def test_it_follows_an_encoder_that_finds_everything_similar(staging: Staging, encoder: Embedder) -> None:
    class Optimist:
        identity = encoder.identity

        def encode(self, texts: Sequence[str]) -> Vectors:
            return np.full((len(texts), 4), 0.5, dtype=np.float32)

    fill(staging, np.full((5, 4), 0.45))
    assert calibrate_min_relevance(staging, Optimist()) == 0.9


def test_nothing_to_measure(staging: Staging, encoder: Embedder) -> None:
    assert calibrate_min_relevance(staging, encoder) == 0.0


def test_a_built_pack_holds_it_and_the_pipeline_drops_what_is_below(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        threshold = pack.manifest.thresholds["min_relevance"]
        assert 0.02 < threshold < 0.3
        trace = Trace()
        Pipeline(Profile(), pack).retrieve("Which cheese goes with pears?", trace)
        (documents,) = [record for record in trace.stages if record.stage == "documents"]
        assert any("min_relevance" in reason for reason in documents.dropped.values())
