"""Text measures and boundaries that the build and the answer share: folding, words, sentences."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_SPACES = re.compile(r"[\s_]+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# A line and those after it that go on in mid-sentence: no sentence end before the break, and a small letter, a
# digit or closing punctuation after it that opens no list item.
_BLOCK = re.compile(r"[^\n]+(?:(?<![.!?:;|])\n(?!\d+[.)] |[-*•] |[^\n]* \| )(?=[a-zà-þ0-9,.;:)\]])[^\n]+)*")
# A sentence cannot end right after these, whatever follows: the statistical segmenter misses them when a
# capital follows ("the U.S. Secretary"). Kept to forms that are nearly never the last word of a sentence.
_NEVER_FINAL = re.compile(
    r"(?:\b(?:U\.S|U\.K|Mr|Mrs|Ms|Dr|Prof|Gen|Gov|Sen|Rep|St|Fr|Lt|Col|vs|cf|e\.g|i\.e|No|Fig|ca?)|\bet al)\.$"
)
_MAX_NEVER_FINAL_LENGTH = 8
# A sentence does not end inside parentheses, if they close so soon; more is a slip of the writer's.
_MAX_PARENTHESIS_LENGTH = 300
QUESTION_START = (
    r"(?:what|who|whom|whose|when|where|which|why|how|is|are|was|were|do|does|did|can|could|will|would|has|had)\b"
)
"""A pattern for the word that a question begins with, in small letters."""
# A question that is one, where another may only stand as a title.
_ASKS = re.compile(rf"\W*{QUESTION_START}", re.IGNORECASE)
_MIN_SAID_LENGTH = 2
_PROSE_END = re.compile(r"[.!…。！।۔][\"'”’)\]]*$")
# What ends a sentence, closing quotes included.
_FINAL = re.compile(r"[.!?…][\"'”’)\]]*$")
# A displayed formula: one short line with a relation or an arrow in it, which is no list item, table row or prompt.
_FORMULA = re.compile(r"(?![-*•>|]|\d+[.)] )(?!.* \| )(?=.*[=≠≈≡∝<>≤≥±→∞∑∫√])[^\n]{1,120}$")
_STARTS = (
    "(?:The|A|An|In|On|At|It|He|She|They|This|That|These|Those|His|Her|Its|Their|As|By|For|From|After|Before|During|"
    "When|While|Since|Although|However|But|And|We|I|You|If|To|With|There|Some|Many|Most|Other|One|Both|Born)\\b"
)
_STARTS_SENTENCE = re.compile(_STARTS)
# A sentence does end after a small-lettered word of three letters when such a word follows, and of four when any
# capital does; the segmenter takes some of them ("met.", "cold.", "will.") for abbreviations.
_MISSED_END = re.compile(
    rf"(?<=[a-z]{{3}}[.!?])\s+(?={_STARTS})|"
    r"(?<=[a-z]{4}[.!?])(?<!\bapprox\.)(?<!\bdept\.)(?<!\bvols\.)(?<!\btrans\.)(?<!\bprof\.)(?<!\bassoc\.)\s+(?=[A-Z][a-z])"
)


def fold(name: str) -> str:
    """Return the look-up form of a title or alias: NFKC, case folded, underscores and runs of space as one space."""
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", name).casefold()).strip()


def scrub(text: str) -> str:
    """Return ``text`` with what is no Unicode text (unpaired surrogates, as in broken file names) as ``?``."""
    return text.encode("utf-8", "replace").decode("utf-8")


def ends_as_prose(text: str) -> bool:
    """Tell whether ``text`` ends as a statement does, in any script: not as a heading, a table row or a question."""
    return _PROSE_END.search(text) is not None


def words(text: str) -> list[str]:
    """Return the words of ``text``, lower-cased, without punctuation."""
    return [match.group().lower().replace("’", "'") for match in _WORD.finditer(text)]


def word_count(text: str) -> int:
    """Count whitespace-separated words."""
    return len(text.split())


@lru_cache(maxsize=1)
def load_segmenter():  # type: ignore[no-untyped-def]
    """Return the segmenter that ``sentence_spans`` uses: 30 ms the first time, so only when sentences are needed."""
    from nupunkt import sent_spans

    return sent_spans


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return ``(start, end)`` character offsets of the sentences of ``text``, in order, whitespace trimmed.

    A line break ends a sentence unless the next line plainly goes on with it: list items, table rows and code
    lines stand for themselves, hard-wrapped prose does not, nor does a formula that is displayed amid a sentence.
    """
    spans: list[tuple[int, int]] = []
    for block in _BLOCK.finditer(text):
        inside = _in_block(text, block)
        if spans and inside and (begin := _goes_on_from(text, spans, inside[0])) is not None:
            inside[0] = (spans[begin][0], inside[0][1])
            del spans[begin:]
        spans += inside
    return spans


def _in_block(text: str, block: re.Match[str]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    pending: int | None = None
    for left, right in load_segmenter()(block.group()):
        span = _trim(text, block.start() + left if pending is None else pending, block.start() + right)
        if span is None:
            continue
        if _is_unfinished(text, span, block.end()):
            pending = span[0]
            continue
        pending = None
        spans += _cut_missed(text, *span)
    if pending is not None and (span := _trim(text, pending, block.end())):
        spans.append(span)
    return spans


def _is_unfinished(text: str, span: tuple[int, int], end: int) -> bool:
    """Tell whether the sentence in ``span`` goes on after it, before ``end``, though the segmenter ends it there."""
    follows = _skip_space(text, span[1], end)
    if follows == end:
        return False
    if _NEVER_FINAL.search(text, max(span[0], span[1] - _MAX_NEVER_FINAL_LENGTH), span[1]):
        return not _STARTS_SENTENCE.match(text, follows)
    # "What Is Life? of 1944", "the album Help! was"
    if text[follows].islower() and text[span[1] - 1] in "?!":
        return _ASKS.match(text, *span) is None
    opened = text.rfind("(", *span)
    if opened <= text.rfind(")", *span):
        return False
    return text.find(")", follows, min(end, opened + _MAX_PARENTHESIS_LENGTH)) >= 0


def _goes_on_from(text: str, spans: list[tuple[int, int]], following: tuple[int, int]) -> int | None:
    """Return the place in ``spans`` of the sentence that ``following`` goes on with: over a formula, or is one itself.

    "The energies are | E = -13.6 eV / n², | and the smallest orbit …", "The exact form: | Δx Δp ≥ ħ/2".
    """
    last = len(spans) - 1
    before = text[slice(*spans[last])]
    if before.endswith(":") and _FORMULA.match(text, *following):
        # Words, and no code that opens a block.
        said = before[0].isupper() and len(before.split()) > _MIN_SAID_LENGTH and text[following[0] - 1] == "\n"
        return last if said else None
    if not (text[following[0]].islower() and _FINAL.search(text, *following)):
        return None
    if "\n" in before:
        return last if _FORMULA.match(before.rpartition("\n")[2]) else None
    begun = last > 0 and text[spans[-2][0]].isupper() and not _FINAL.search(text, *spans[-2])
    return last - 1 if begun and _FORMULA.match(before) else None


def _cut_missed(text: str, start: int, end: int) -> list[tuple[int, int]]:
    cuts = [match.span() for match in _MISSED_END.finditer(text, start, end)]
    starts = [start, *(after for _, after in cuts)]
    ends = [*(before for before, _ in cuts), end]
    return list(zip(starts, ends, strict=True))


def _skip_space(text: str, start: int, end: int) -> int:
    while start < end and text[start].isspace():
        start += 1
    return start


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    start = _skip_space(text, start, end)
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None
