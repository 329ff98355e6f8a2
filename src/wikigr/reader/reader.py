"""Read sections: the best answers to a question in each of their sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from wikigr.embeddings.prepared import ATTENTION_MASK, INPUT_IDS
from wikigr.embeddings.session import available_cores, open_session, run_in_parallel, run_session
from wikigr.embeddings.tokenization import load_tokenizer, tokenizer_errors
from wikigr.errors import ModelError
from wikigr.reader.passage import DEFAULT_WINDOWS, MAX_ANSWER_TOKENS, Passage, Span, WindowOptions
from wikigr.reader.prepared import PreparedReader
from wikigr.reader.windows import LOGITS, TOKEN_TYPES, Window, WindowMaker, best_spans


class Reader:
    """Finds answers with a prepared reader."""

    def __init__(self, prepared: PreparedReader, *, threads: int | None = None, packed: bool = False) -> None:
        """Load ``prepared``; ``threads`` and ``packed`` as for ``OnnxEncoder``. Raises ``ModelError``."""
        self.name = prepared.name
        self.calibration = prepared.calibration
        self._prepared = prepared
        self._threads = available_cores() if threads is None else threads
        with self._repaired_by_preparing():
            self._tokenizer = load_tokenizer(prepared.tokenizer)
            self._session = open_session(prepared.graph, packed=packed)
        self._takes_types = any(source.name == TOKEN_TYPES for source in self._session.get_inputs())

    def knows(self, word: str) -> bool:
        """Return whether ``word``, in lower case, is one of those that the tokenizer does not divide."""
        return self._tokenizer.token_to_id(word) is not None

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
                for window in _in_focus(
                    maker.windows(question, passage.title, passage.heading, passage.text), passage.focus
                )
            ]
        found: list[list[Span | None]] = [[None] * len(passage.ranges) for passage in passages]
        for (number, window), logits in zip(windows, self.logits([w for _, w in windows]), strict=True):
            spans = best_spans(window, logits, max_tokens, passages[number].ranges)
            found[number] = [_better(*pair) for pair in zip(found[number], spans, strict=True)]
        return found

    def logits(self, windows: Sequence[Window]) -> list[NDArray[np.float32]]:
        """Return the logits of each window, float32 of shape ``(tokens, 2)``.

        Each window is read alone, so the others do not change its logits. Batches would be no faster.
        """
        with self._repaired_by_preparing():
            return run_in_parallel(self._logits_of, windows, self._threads)

    def _logits_of(self, window: Window) -> NDArray[np.float32]:
        input_ids = np.array([window.input_ids], np.int32)
        feed = {INPUT_IDS: input_ids, ATTENTION_MASK: np.ones_like(input_ids)}
        if self._takes_types:
            feed[TOKEN_TYPES] = np.array([window.token_types], np.int32)
        logits = run_session(self._session, self._prepared.graph, LOGITS, feed, (*input_ids.shape, 2))
        return logits.reshape(-1, 2)

    @contextmanager
    def _repaired_by_preparing(self) -> Iterator[None]:
        """Give errors of the files in the block the command that writes this reader again."""
        try:
            yield
        except ModelError as error:
            raise ModelError(error.message, hint=self._prepared.repair_hint if error.hint else None) from error


def _in_focus(windows: Sequence[Window], focus: Sequence[tuple[int, int]] | None) -> Sequence[Window]:
    """Return the windows that hold most of one of the ranges in ``focus``, or all windows without a focus."""
    if focus is None:
        return windows
    chosen = {max(range(len(windows)), key=lambda n: _held(windows[n], *held)) for held in focus}
    return [windows[n] for n in sorted(chosen)]


def _held(window: Window, start: int, end: int) -> int:
    """Return how many of the characters from ``start`` to ``end`` the window holds."""
    if not window.offsets:
        return 0
    return max(0, min(end, window.offsets[-1][1]) - max(start, window.offsets[0][0]))


def _better(known: Span | None, new: Span | None) -> Span | None:
    if known is None or new is None:
        return known or new
    return new if new.margin > known.margin else known
