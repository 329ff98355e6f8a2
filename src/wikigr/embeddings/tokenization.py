"""Convert texts to token ids with the tokenizer of a prepared encoder, and divide them into rectangular batches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from wikigr.embeddings.prepared import TOKENIZER, PreparedModel
from wikigr.embeddings.prepared_files import PREPARE_HINT
from wikigr.errors import ModelError, panics_as
from wikigr.files import read_regular

# Texts per call of the tokenizer: enough for all its threads, but few enough to bound memory.
_CHUNK = 1024

# The components of the tokenizers of BERT, MPNet and XLM-RoBERTa. None of them contains a regular expression of the
# file, which can take exponential time, except the known one of XLM-RoBERTa.
_COMPONENTS = frozenset(
    (
        *("BertNormalizer", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt", "Precompiled", "Replace", "Strip"),
        *("StripAccents", "Sequence", "BertPreTokenizer", "Metaspace", "Punctuation", "Whitespace", "WhitespaceSplit"),
        *("BertProcessing", "RobertaProcessing", "TemplateProcessing", "WordPiece", "Fuse", "ByteFallback"),
    )
)
_PATTERNS = (" {2,}",)
_MAX_BYTES = 64 << 20


def check_tokenizer(folder: Path) -> None:
    """Raise ``ModelError`` unless the tokenizer of the untrusted encoder in ``folder`` has known components only."""
    path = folder / TOKENIZER
    try:
        described = json.loads(read_regular(path, _MAX_BYTES))
        parts = [described.get(name) for name in ("normalizer", "pre_tokenizer", "post_processor", "decoder")]
        unknown = _unknown_component(parts)
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise ModelError(f"Cannot read the tokenizer {path}: {error}.") from error
    if unknown is not None:
        raise ModelError(f"The tokenizer {path} has {unknown}, which a bundled encoder must not have.")


def _unknown_component(part: Any) -> str | None:
    """Return a description of the first component or pattern in ``part`` that is not known, or ``None``."""
    if isinstance(part, list):
        return next(filter(None, map(_unknown_component, part)), None)
    if not isinstance(part, dict):
        return None
    if "type" in part and part["type"] not in _COMPONENTS:
        return f"the component {str(part['type'])[:40]!r}"
    if "Regex" in part and part["Regex"] not in _PATTERNS:
        return f"the regular expression {str(part['Regex'])[:40]!r}"
    return _unknown_component(list(part.values()))


def load_tokenizer(path: Path) -> Tokenizer:
    """Load the tokenizer of a prepared model; raises ``ModelError`` if it is missing or damaged."""
    with tokenizer_errors(path):
        return Tokenizer.from_buffer(read_regular(path, _MAX_BYTES))


def padding_id(tokenizer: Tokenizer) -> int:
    """Return the id of padding."""
    padding = tokenizer.padding
    return int(padding["pad_id"]) if padding else 0


@contextmanager
def tokenizer_errors(path: Path) -> Iterator[None]:
    """Raise ``ModelError`` for the errors and panics that the damaged tokenizer ``path`` causes in the block."""
    try:
        with panics_as(partial(_damaged, path)):
            yield
    except Exception as error:
        # The library raises plain ``Exception`` for errors of its own.
        if type(error) is not Exception and not isinstance(error, OSError | ValueError):
            raise
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, cause: str) -> ModelError:
    return ModelError(f"Cannot read the tokenizer {path}: {cause.rstrip('.')}.", hint=f"{PREPARE_HINT} --force")


class TextTokenizer:
    """Tokenizes texts and truncates them to the encoder's window; ``pad_id`` is the id of padding."""

    def __init__(self, prepared: PreparedModel) -> None:
        self._path = prepared.tokenizer
        self._tokenizer = load_tokenizer(prepared.tokenizer)
        self.pad_id = padding_id(self._tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(prepared.max_tokens)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, including special tokens; at least one id per text.

        Raises ``ModelError`` if the tokenizer is damaged.
        """
        with tokenizer_errors(self._path):
            if len(texts) == 1:
                # For a single text, starting the tokenizer's thread pool would take longer than the work.
                return [self._tokenizer.encode(well_formed(texts[0])).ids or [self.pad_id]]
            encoded: list[list[int]] = []
            for start in range(0, len(texts), _CHUNK):
                chunk = [well_formed(text) for text in texts[start : start + _CHUNK]]
                encoded += [item.ids or [self.pad_id] for item in self._tokenizer.encode_batch_fast(chunk)]
            return encoded


def well_formed(text: str) -> str:
    """Return ``text`` with U+FFFD for every unpaired surrogate, because tokenizers accept only valid Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """A batch of texts, padded on the right to the length of the longest.

    ``rows`` holds their indices in the input. ``input_ids`` and ``attention_mask`` are int32 of shape
    ``(len(rows), tokens)``.
    """

    rows: NDArray[np.intp]
    input_ids: NDArray[np.int32]
    attention_mask: NDArray[np.int32]


def token_batches(
    encoded: Sequence[Sequence[int]], *, pad_id: int, max_tokens: int, max_texts: int
) -> Iterator[TokenBatch]:
    """Sort texts by length, longest first, and yield batches of at most ``max_tokens`` tokens, including padding.

    A text longer than ``max_tokens`` forms its own batch, and a text much shorter than the longest of a batch starts
    the next one. Processing the longest batches first keeps all cores busy until the end and shows at once whether the
    largest batch fits in memory.
    """
    lengths = np.fromiter((len(ids) for ids in encoded), dtype=np.intp, count=len(encoded))
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        width = int(lengths[order[start]])
        rows = order[start : start + min(max_texts, max(1, max_tokens // width))]
        # A text shares a batch with texts at most a third longer. Padding costs as much as text, but so do many small
        # batches: for the six sentences of a section, two batches are 10% faster than one, and also than three.
        rows = rows[lengths[rows] >= 0.75 * width]
        input_ids = np.full((len(rows), width), pad_id, dtype=np.int32)
        attention_mask = np.zeros_like(input_ids)
        for place, row in enumerate(rows):
            input_ids[place, : lengths[row]] = encoded[row]
            attention_mask[place, : lengths[row]] = 1
        yield TokenBatch(rows, input_ids, attention_mask)
        start += len(rows)
