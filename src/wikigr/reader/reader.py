"""Read sections: the best answers to a question in each of their sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from wikigr.embeddings.batching import available_cores, token_batches
from wikigr.embeddings.prepared import ATTENTION_MASK, INPUT_IDS
from wikigr.embeddings.session import MAX_THREADS_PER_TEXT, open_session, run_session
from wikigr.embeddings.tokenization import load_tokenizer, padding_id, tokenizer_errors
from wikigr.errors import ModelError
from wikigr.reader.passage import DEFAULT_WINDOWS, MAX_ANSWER_TOKENS, Passage, Span, WindowOptions
from wikigr.reader.prepared import REPAIR_HINT, PreparedReader
from wikigr.reader.spans import best_spans
from wikigr.reader.windows import LOGITS, TOKEN_TYPES, Window, WindowMaker

# Windows of a batch are padded to the longest of them; larger batches do not fit in a core's cache.
_BATCH_TOKENS = 1024
_BATCH_WINDOWS = 16


class Reader:
    """Finds answers with a prepared reader."""

    def __init__(self, prepared: PreparedReader, *, threads: int | None = None, packed: bool = False) -> None:
        """Load ``prepared``; ``threads`` and ``packed`` as for ``OnnxEncoder``. Raises ``ModelError``."""
        self.calibration = prepared.calibration
        self._prepared = prepared
        threads = available_cores() if threads is None else threads
        with self._repaired_by_preparing():
            self._tokenizer = load_tokenizer(prepared.tokenizer)
            self._pad_id = padding_id(self._tokenizer)
            self._session = open_session(prepared.graph, threads=min(threads, MAX_THREADS_PER_TEXT), packed=packed)

    def read(
        self,
        question: str,
        passages: Sequence[Passage],
        options: WindowOptions = DEFAULT_WINDOWS,
        max_tokens: int = MAX_ANSWER_TOKENS,
    ) -> list[list[Span | None]]:
        """Return the best span of at most ``max_tokens`` tokens in each sentence of each passage.

        A sentence of which no window holds a whole word has ``None``. A sentence in several windows has the span with
        the highest margin. Raises ``ModelError`` if the tokenizer is damaged or the graph fails to run.
        """
        with self._repaired_by_preparing(), tokenizer_errors(self._prepared.tokenizer):
            maker = WindowMaker(self._tokenizer, options)
            windows = [
                (number, window)
                for number, passage in enumerate(passages)
                for window in maker.windows(question, passage.title, passage.heading, passage.text)
            ]
        found: list[list[Span | None]] = [[None] * len(passage.ranges) for passage in passages]
        for (number, window), logits in zip(windows, self.logits([w for _, w in windows]), strict=True):
            spans = best_spans(window, logits, max_tokens, passages[number].ranges)
            found[number] = [_better(*pair) for pair in zip(found[number], spans, strict=True)]
        return found

    def logits(self, windows: Sequence[Window]) -> list[np.ndarray]:
        """Return the logits of each window, float32 of shape ``(tokens, 2)``, padded on the right."""
        found: list[np.ndarray] = [np.empty(0)] * len(windows)
        encoded = [window.input_ids for window in windows]
        batches = token_batches(encoded, pad_id=self._pad_id, max_tokens=_BATCH_TOKENS, max_texts=_BATCH_WINDOWS)
        for batch in batches:
            token_types = np.zeros_like(batch.input_ids)
            for place, row in enumerate(batch.rows):
                types = windows[row].token_types
                token_types[place, : len(types)] = types
            feed = {INPUT_IDS: batch.input_ids, ATTENTION_MASK: batch.attention_mask, TOKEN_TYPES: token_types}
            with self._repaired_by_preparing():
                logits = run_session(self._session, self._prepared.graph, LOGITS, feed, (*batch.input_ids.shape, 2))
            for row, values in zip(batch.rows, logits, strict=True):
                found[row] = values
        return found

    @contextmanager
    def _repaired_by_preparing(self) -> Iterator[None]:
        """Give errors of the files in the block the command that writes this reader again."""
        try:
            yield
        except ModelError as error:
            raise ModelError(error.message, hint=REPAIR_HINT if error.hint else None) from error


def _better(known: Span | None, new: Span | None) -> Span | None:
    if known is None or new is None:
        return known or new
    return new if new.margin > known.margin else known
