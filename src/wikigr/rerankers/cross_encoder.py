"""Rerank with a model that reads question and text together (reference/phase1-enhancements.md).

The default is the reader. For any other model, sentence-transformers and torch (extra ``models``) are imported when its
reranker is created.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from wikigr.embeddings.model_id import local_folder
from wikigr.index.candidate import CROSS_ENCODER, RELEVANCE, Candidate
from wikigr.options import Name, Options
from wikigr.reader.passage import Passage, as_probability
from wikigr.reader.prepared import NoReaderError
from wikigr.rerankers.stage import RerankingStage
from wikigr.retrieval.state import Result
from wikigr.retrieval.trace import StageRecord
from wikigr.text import scrub

if TYPE_CHECKING:
    from wikigr.reader.reader import Reader

logger = logging.getLogger(__name__)

# The cross-encoder of the reference documents.
MS_MARCO = "cross-encoder/ms-marco-MiniLM-L-12-v2"

# The name of the reader as a cross-encoder.
READER = "reader"

# Files of a cross-encoder that are downloaded from the hub: never code or pickles.
_HUB_PATTERNS = ["*.json", "*.txt", "*.model", "*.safetensors"]


class CrossEncoderReranker:
    """Scores pairs of question and text with a cross-encoder and sorts by that score.

    ``model_name`` is an id on the model hub or a folder. A model in the hub's cache (``HF_HOME``) is loaded without a
    request; any other is downloaded once, which fails immediately without a network. ``HF_HUB_OFFLINE=1`` or
    ``download=False`` forbids requests altogether.

    ``_model`` is the loaded ``sentence_transformers.CrossEncoder``. If it cannot be loaded, or gives more than one
    score per pair, a warning names the model and the cause, ``_model`` is ``None``, and ``rerank`` returns its input.
    """

    def __init__(self, model_name: str = MS_MARCO, *, download: bool = True) -> None:
        self.model_name = model_name
        self._model: Any = None
        try:
            self._model = _load(model_name, download=download)
        except Exception as error:  # noqa: BLE001
            # As broad as documented: an optional model that cannot be loaded must not prevent an answer. Three
            # libraries raise their own errors here.
            cause = " ".join(str(error).split()) or "no reason given"
            logger.warning(
                "The cross-encoder %s cannot be loaded, so results keep their order: %s: %s",
                model_name, type(error).__name__, cause,
            )  # fmt: skip

    @property
    def loaded(self) -> bool:
        """Whether the model could be loaded."""
        return self._model is not None

    def rerank(self, query: str, results: list[dict[str, Any]], top_k: int = 5) -> list[dict[str, Any]]:
        """Return the ``top_k`` best of ``results`` as shallow copies with a ``ce_score``, highest first.

        The text of a result is its ``content``, or its ``title`` if that is missing or blank; text past the model's
        window is cut. ``ce_score`` is a finite float on the model's own scale (logits of either sign for the ms-marco
        models); ties keep the order of ``results``. Without a model, ``results`` are returned unchanged. Raises
        ``ValueError`` when ``top_k`` is below 1, a result has no text, or the model gives a score that is not finite.
        """
        if top_k < 1:
            raise ValueError(f"top_k must be at least 1, not {top_k}")
        scores = self.score(query, results) if results else None
        if scores is None:
            return list(results)
        scored = [{**result, "ce_score": score} for result, score in zip(results, scores, strict=True)]
        return sorted(scored, key=lambda result: result["ce_score"], reverse=True)[:top_k]

    def score(self, query: str, results: Sequence[Mapping[str, Any]]) -> list[float] | None:
        """Return the finite score of each result on the model's own scale, or ``None`` without a model."""
        if self._model is None:
            return None
        question = scrub(query)
        pairs = [(question, _text(result, place)) for place, result in enumerate(results)]
        scores = [float(score) for score in self._model.predict(pairs, show_progress_bar=False)]
        if not all(math.isfinite(score) for score in scores):
            raise ValueError(f"the cross-encoder {self.model_name} gave a score that is not finite")
        return scores


def reader_scores(reader: Reader, query: str, results: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the margin of the best answer that the reader finds in each result; works offline, without torch.

    The reader also sees the ``title`` and the heading (``section``) of a result.
    """
    texts = [_text(result, place) for place, result in enumerate(results)]
    passages = [
        Passage(str(result.get("title") or ""), str(result.get("section") or ""), text, ((0, len(text)),))
        for result, text in zip(results, texts, strict=True)
    ]
    # A text without any word has the lowest margin.
    return [span.margin if span is not None else -30.0 for (span,) in reader.read(query, passages)]


def _text(result: Mapping[str, Any], place: int) -> str:
    for field in ("content", "title"):
        value = result.get(field)
        if isinstance(value, str) and value.strip():
            return scrub(value)
    raise ValueError(f"result {place + 1} has neither content nor title to score")


def _load(model_name: str, *, download: bool) -> Any:
    from sentence_transformers import CrossEncoder

    # Loaded from a folder, because with an id the constructor contacts the hub even if the cache holds the model.
    folder = local_folder(model_name) or _snapshot(model_name, download=download)
    model = CrossEncoder(str(folder), local_files_only=True)
    # A checkpoint of another kind, such as an encoder, would get a head with random weights.
    kind, trained = type(model.model).__name__, model.model.config.architectures
    if isinstance(trained, list) and kind not in trained:
        raise ValueError(f"it is not a cross-encoder: its weights are of {', '.join(map(str, trained))}, not {kind}")
    # The shape of a prediction shows the number of labels in every version, and that the model runs.
    prediction = model.predict([("question", "text")], show_progress_bar=False)
    shape: tuple[int, ...] = getattr(prediction, "shape", ())
    if len(shape) > 1:
        raise ValueError(f"it gives {shape[1]} scores per pair, but a reranker needs one")
    return model


def _snapshot(model_name: str, *, download: bool) -> str:
    """Return the folder with the model's files in the hub's cache, downloading them if necessary.

    ``CrossEncoder`` itself would retry each file six times, which takes a minute without a network.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return str(snapshot_download(model_name, allow_patterns=_HUB_PATTERNS, local_files_only=True))
    except LocalEntryNotFoundError:
        if not download:
            raise
        return str(snapshot_download(model_name, allow_patterns=_HUB_PATTERNS))


@dataclass(frozen=True, slots=True)
class CrossEncoderOptions(Options):
    """Scoring question and section together with a model."""

    section: ClassVar[str] = "cross_encoder"

    enabled: Annotated[bool, "rerank the candidates with a cross-encoder"] = False
    model: Annotated[Name, "`reader`, or the id or folder of a cross-encoder, which needs the extra `models`"] = READER


class CrossEncoding(RerankingStage[CrossEncoderOptions]):
    """Score twice as many candidates as needed with the cross-encoder and keep the best.

    Scores become probabilities.
    """

    name = "cross_encoder"
    pool = 2

    @cached_property
    def reranker(self) -> CrossEncoderReranker:
        """The cross-encoder, loaded on first use; offline it is not downloaded."""
        return CrossEncoderReranker(self.options.model, download=not self.resources.offline)

    def score(self, question: str, passages: Sequence[Result], record: StageRecord) -> list[float] | None:
        if self.options.model == READER:
            try:
                return reader_scores(self.resources.pack.reader, question, passages)
            except NoReaderError as error:
                self.resources.skip_without_reader(record, error)
                return None
        if not self.reranker.loaded:
            record.degrade(f"the model {self.reranker.model_name} could not be loaded")
        return self.reranker.score(question, passages)

    def rescored(self, candidate: Candidate, ranked: Result) -> Candidate:
        scores = {**candidate.scores, CROSS_ENCODER: ranked["ce_score"], RELEVANCE: ranked["score"]}
        return replace(candidate, score=ranked["score"], scores=scores)

    def rerank_results(self, question: str, results: Sequence[Result], top_k: int, record: StageRecord) -> list[Result]:
        ranked = super().rerank_results(question, results, top_k, record)
        if record.degraded:
            return ranked
        return [{**r, "ce_score": r["score"], "score": as_probability(r["score"]), "scores": {}} for r in ranked]
