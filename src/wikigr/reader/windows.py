"""Turn a question and a section into the token windows that the reader reads, and choose answers in their logits.

A window is the pair of the question and ``title · heading : text``, with the special tokens that the tokenizer puts
around a pair: ``[CLS] question [SEP] title · heading : text [SEP]`` for BERT, and ``<s> question </s></s> title ·
heading : text </s>`` for MPNet. The title and the heading stand in front of every window of a
section, because they name the subject that the text often refers to as "it". Training and answering share this format.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from wikigr.reader.passage import Span, WindowOptions
from wikigr.text import scrub

# What the graph of a reader has besides the inputs of an encoder, the first only that of a BERT.
TOKEN_TYPES = "token_type_ids"
LOGITS = "logits"

_SEPARATOR = " · "
_END_OF_TITLE = ":"
_JOINT = re.compile(r"(?<=[^\W\d_])[-‐–](?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class Window:
    """A window of a section.

    ``token_types`` is 0 up to and including the separators after the question, and 1 after them. The text begins at
    the token ``text_start``; ``offsets`` holds the characters ``(start, end)`` of the section's text for each of its
    tokens. ``words`` holds the number of the word that each of them is a piece of, and also those of the tokens before
    and after the window (−1 if there is none), because a window may begin or end inside a word.
    """

    input_ids: list[int]
    token_types: list[int]
    text_start: int
    offsets: list[tuple[int, int]]
    words: list[int]


class WindowMaker:
    """Makes windows with the tokenizer of the encoder."""

    def __init__(self, tokenizer: Tokenizer, options: WindowOptions | None = None) -> None:
        """Switch off the truncation and the padding of ``tokenizer``, and use it.

        Raises ``ValueError`` if it puts no special tokens before, between and after the parts of a pair.
        """
        self.options = options or WindowOptions()
        self._tokenizer = tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._before, self._between, self._after = self._special_tokens()
        self._end_of_title = self._encode(_END_OF_TITLE).ids

    def windows(self, question: str, title: str, heading: str, text: str) -> list[Window]:
        """Return the windows of a section's ``text``, in order; at least one, even if the text has no tokens.

        ``title`` and ``heading`` may be empty.
        """
        options = self.options
        asked = self._encode(question).ids
        named = self._encode(_SEPARATOR.join(filter(None, (title.strip(), heading.strip())))).ids
        head = [*self._before, *asked[: options.question_tokens], *self._between]
        types = len(head)
        if named:
            head += [*named[: options.title_tokens], *self._end_of_title]
        encoded = self._encode(text)
        ids, offsets = encoded.ids, encoded.offsets
        words = [-1, *_whole_words(encoded, text), -1]
        room = options.tokens - len(head) - len(self._after)
        made = []
        for start in _starts(len(ids), room, options.overlap):
            piece = ids[start : start + room]
            input_ids = [*head, *piece, *self._after]
            made.append(
                Window(
                    input_ids=input_ids,
                    token_types=[0] * types + [1] * (len(input_ids) - types),
                    text_start=len(head),
                    offsets=offsets[start : start + room],
                    words=words[start : start + len(piece) + 2],
                )
            )
        return made

    def _special_tokens(self) -> tuple[list[int], list[int], list[int]]:
        """Return the special tokens before, between and after the two parts of a pair."""
        pair = self._tokenizer.encode(_END_OF_TITLE, _END_OF_TITLE)
        places: tuple[list[int], list[int], list[int]] = ([], [], [])
        parts = 0
        for token, name, part in zip(pair.ids, pair.tokens, pair.sequence_ids, strict=True):
            if part is not None:
                parts = max(parts, part + 1)
            elif self._tokenizer.token_to_id(name) == token:
                places[parts].append(token)
            else:
                raise ValueError(f"The tokenizer has no token {name}.")
        if not all(places):
            raise ValueError("The tokenizer does not put special tokens around the parts of a pair.")
        return places

    def _encode(self, text: str) -> Encoding:
        # ``scrub`` keeps the number of characters, so that offsets stay right.
        return self._tokenizer.encode(scrub(text), add_special_tokens=False)


def _whole_words(encoded: Encoding, text: str) -> list[int]:
    """Return the number of the word that each token is a piece of.

    Letters joined by a hyphen or a dash are one word; the tokenizer counts "Davisson–Germer" as three.
    """
    joined = {place for match in _JOINT.finditer(text) for place in (match.start(), match.end())}
    words: list[int] = []
    before: int | None
    number, before = -1, None
    for word, (start, _) in zip(encoded.word_ids, encoded.offsets, strict=True):
        if word != before and start not in joined:
            number += 1
        before = word
        words.append(number)
    return words


def _starts(length: int, room: int, overlap: int) -> Sequence[int]:
    """Return the first token of each window over ``length`` tokens; the last window ends with the last token."""
    if length <= room:
        return (0,)
    return range(0, length - overlap, room - overlap)


# Start and end are chosen independently, so that of two answers the start of one and the end of the other may win. With
# this cost per token, in logits, 2% more of the held-out answers are exact.
TOKEN_COST = 0.05


def best_spans(
    window: Window, logits: NDArray[np.float32], max_tokens: int, ranges: Sequence[tuple[int, int]]
) -> list[Span | None]:
    """Return for each of ``ranges`` of characters the best span in it, or ``None`` if the window has no word of it.

    That is the span of whole words, at most ``max_tokens`` tokens long, with the highest sum of its two logits minus
    ``TOKEN_COST`` for each token after the first.
    ``logits`` has the shape ``(tokens, 2)`` or is padded on the right: the logits of the start and of the end of an
    answer; position 0 stands for no answer. Ties go to the first and then the shortest span.
    """
    if not window.offsets:
        return [None] * len(ranges)
    none = float(logits[0].sum())
    # A start or an end would split a word where the token before or after it is of the same word.
    starts, ends = logits[window.text_start : window.text_start + len(window.offsets)].T
    words = np.array(window.words)
    goes_on = words[1:] == words[:-1]
    starts, ends = np.where(goes_on[:-1], -np.inf, starts), np.where(goes_on[1:], -np.inf, ends)
    first_characters, last_characters = np.array(window.offsets).T
    lefts = np.searchsorted(first_characters, [start for start, _ in ranges])
    rights = np.searchsorted(last_characters, [end for _, end in ranges], side="right")
    found: list[Span | None] = []
    for left, right in zip(lefts.tolist(), rights.tolist(), strict=True):
        place = np.arange(max(0, right - left))
        length = place[None, :] - place[:, None]
        sums = starts[left:right, None] + ends[None, left:right] - TOKEN_COST * length
        sums = np.where((length >= 0) & (length < max_tokens), sums, -np.inf)
        if not sums.size or not np.isfinite(best := float(sums.max())):
            found.append(None)
            continue
        first, last = divmod(int(sums.argmax()), len(place))
        start, end = window.offsets[left + first][0], window.offsets[left + last][1]
        found.append(Span(start, end, best - none))
    return found
