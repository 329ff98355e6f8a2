"""Sentence segmentation: a statistical segmenter (nupunkt) plus rules for the boundaries that it gets wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from wikigr.languages import ENGLISH, Language

# Consecutive lines that form one paragraph. A line continues the one before it if that one has no end punctuation
# and this one starts with a lowercase letter, a digit or closing punctuation and is not a list item, a table row or a
# term above its indented definition.
_BLOCK = re.compile(
    r"[^\n]+(?:(?<![.!?:;|])\n(?!\d+[.)] |[-*•] |[^\n]* \| |[^\n]*[^\n.!?]\n {4})(?=[a-zà-þ0-9,.;:)\]])[^\n]+)*"
)
# Abbreviations that almost never end a sentence. The segmenter ends one after them if a capital follows
# ("the U.S. Secretary").
_NON_FINAL_ABBREVIATION = re.compile(
    r"(?:\b(?:U\.S|U\.K|Mr|Mrs|Ms|Dr|Prof|Gen|Gov|Sen|Rep|St|Fr|Lt|Col|vs|cf|e\.g|i\.e|No|Fig|ca?)|\bet al)\.$"
)
_MAX_ABBREVIATION_LENGTH = 8
QUESTION_START = (
    r"(?:what|who|whom|whose|when|where|which|why|how|is|are|was|were|do|does|did|can|could|will|would|has|had)\b"
)
"""Pattern of the words that begin a question, in lower case."""
# Starts with a question word. Elsewhere a question mark may belong to a title.
_QUESTION = re.compile(rf"\W{{0,80}}+{QUESTION_START}", re.IGNORECASE)
# The end of a statement in any script, closing quotes and brackets included.
_PROSE_END = re.compile(r"[.!…。！।۔][\"'”’)\]]*$")
# What is longer than any word or address, without its end. The segmenter looks for ends of sentences in all of a run at
# each mark in it, and takes time that grows with the square of the length of the run.
_LONG_RUN = re.compile(r"\S{400,}(?=\S{3})")
# Scripts that end sentences with these do not separate words.
_FULL_WIDTH_END = ("。", "！")
# A sentence in such a script, with the quotes and brackets that close after it.
_FULL_WIDTH_SENTENCE = re.compile(r"[^。！？]+[。！？…]*[”’」』）》]*")
# The end of a sentence, closing quotes and brackets included.
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*$")
# A displayed formula: one short line that contains a relation or an arrow and is not a list item, table row or prompt.
_FORMULA = re.compile(r"(?![-*•>|]|\d+[.)] )(?!.* \| )(?=.*[=≠≈≡∝<>≤≥±→∞∑∫√])[^\n]{1,120}$")
_CELL_BORDER = " | "
# A row of a table with named columns: "Size: 500 ml | Price: 3.20".
_NAMED_CELL = re.compile(r"(?:^|\|) *[^\s:|][^\n:|]{0,60}: \S")
# A fact, as sections of facts state it: "Ada — born: 1815; London."
_FACT = re.compile(r"([^\n]{1,200}? — )[^\s:;,.!?()][^\n:;,.!?()]{0,60}: \S")
_OPENERS = (
    "(?:The|A|An|In|On|At|It|He|She|They|This|That|These|Those|His|Her|Its|Their|As|By|For|From|After|Before|During|"
    "When|While|Since|Although|However|But|And|We|I|You|If|To|With|There|Some|Many|Most|Other|One|Both|Born)\\b"
)
_SENTENCE_START = re.compile(_OPENERS)
# Sentence ends that the segmenter takes for abbreviations ("met.", "cold.", "will."): after a lowercase word of three
# letters or more if a typical opener follows, and after one of four letters or more if any capitalized word follows.
_MISSED_END = re.compile(
    rf"(?<=[a-z]{{3}}[.!?])\s+(?={_OPENERS})|"
    r"(?<=[a-z]{4}[.!?])(?<!\bapprox\.)(?<!\bdept\.)(?<!\bvols\.)(?<!\btrans\.)(?<!\bprof\.)(?<!\bassoc\.)\s+(?=[A-Z][a-z])"
)


def ends_as_prose(text: str) -> bool:
    """Return whether ``text`` ends like a statement, in any script, rather than a heading, table row or question."""
    return _PROSE_END.search(text) is not None


def has_statement(text: str, language: Language = ENGLISH) -> bool:
    """Return whether ``text`` contains a complete statement, unlike a heading, a caption or a list of links."""
    return any(_is_statement(text[start:end]) for start, end in sentence_spans(text, language))


def _is_statement(sentence: str) -> bool:
    is_complete = ends_as_prose(sentence) or (_SENTENCE_END.search(sentence) and not _QUESTION.match(sentence))
    if not is_complete:
        return False
    # A shorter sentence is a reference ("See also.") or an abbreviation.
    return len(sentence.split()) >= 3 or sentence.endswith(_FULL_WIDTH_END)


@lru_cache(maxsize=1)
def load_segmenter():  # type: ignore[no-untyped-def]
    """Return nupunkt's segmenter. Loading it takes about 30 ms, so it is loaded only when sentences are needed."""
    from nupunkt import sent_spans

    return sent_spans


def sentence_spans(text: str, language: Language = ENGLISH) -> list[tuple[int, int]]:
    """Return the ``(start, end)`` character offsets of the sentences of ``text``, in order, whitespace trimmed.

    List items, table rows and facts below each other are sentences on their own. Hard-wrapped prose, and prose that a
    displayed formula interrupts, are joined across line breaks.
    """
    spans: list[tuple[int, int]] = []
    for block in _BLOCK.finditer(text):
        block_spans = _block_spans(text, block, language)
        if spans and block_spans:
            first = _sentence_continued_by(text, spans, block_spans[0])
            if first is not None:
                block_spans[0] = (spans[first][0], block_spans[0][1])
                del spans[first:]
        spans += block_spans
    return spans


def _block_spans(text: str, block: re.Match[str], language: Language) -> list[tuple[int, int]]:
    is_row = _is_table_row(text, *block.span()) or _is_fact_among_others(text, *block.span())
    # A longer row is split into sentences.
    if len(block.group()) <= 300 and is_row:
        row = _trim(text, *block.span())
        return [row] if row is not None else []
    spans: list[tuple[int, int]] = []
    pending: int | None = None
    if language.characters:
        found = [match.span() for match in _FULL_WIDTH_SENTENCE.finditer(block.group())]
    else:
        found = load_segmenter()(_LONG_RUN.sub(lambda run: "x" * len(run[0]), block.group()))
    for left, right in found:
        span = _trim(text, block.start() + left if pending is None else pending, block.start() + right)
        if span is None:
            continue
        if _is_unfinished(text, span, block.end(), language):
            pending = span[0]
            continue
        pending = None
        spans += _split_missed_ends(text, *span)
    if pending is not None and (span := _trim(text, pending, block.end())):
        spans.append(span)
    return spans


def _is_unfinished(text: str, span: tuple[int, int], end: int, language: Language) -> bool:
    """Return whether the segmenter ended the sentence in ``span`` too early; ``end`` is the end of its block."""
    following = _skip_space(text, span[1], end)
    if following == end:
        return False
    if _NON_FINAL_ABBREVIATION.search(text, max(span[0], span[1] - _MAX_ABBREVIATION_LENGTH), span[1]):
        return not _SENTENCE_START.match(text, following)
    if _ends_in_abbreviation(text, span, language):
        return True
    # "What Is Life? of 1944", "the album Help! was"
    if text[following].islower() and text[span[1] - 1] in "?!":
        return _QUESTION.match(text, *span) is None
    opened = text.rfind("(", *span)
    if opened <= text.rfind(")", *span):
        return False
    # A sentence does not end inside parentheses; one that stays open for longer is probably a typo.
    return text.find(")", following, min(end, opened + 300)) >= 0


def _ends_in_abbreviation(text: str, span: tuple[int, int], language: Language) -> bool:
    """Return whether the text in ``span`` ends in an abbreviation, or an ordinal number, of a language but English."""
    if language.is_english or text[span[1] - 1] != ".":
        return False
    word = text[max(span[0], span[1] - _MAX_ABBREVIATION_LENGTH) : span[1]].split()[-1]
    name = word[:-1].rpartition(".")[2].strip("(")
    return name in language.abbreviations or (language.ordinals and len(name) <= 2 and name.isdigit())


def _sentence_continued_by(text: str, spans: list[tuple[int, int]], following: tuple[int, int]) -> int | None:
    """Return the index in ``spans`` of the sentence that ``following`` continues, or ``None``.

    ``following`` continues a sentence if it is the formula announced there ("The exact form: | Δx Δp ≥ ħ/2") or the
    text after a formula ("The energies are | E = -13.6 eV / n², | and the smallest orbit …").
    """
    last = len(spans) - 1
    start, end = spans[last]
    if text[end - 1] == ":" and _FORMULA.match(text, *following):
        # Prose rather than a line of code that opens a block, such as "else:". Formulas may have made it long.
        is_prose = text[start].isupper() and len(text[start : min(end, start + 300)].split()) > 2
        return last if is_prose and text[following[0] - 1] == "\n" else None
    if not (text[following[0]].islower() and _SENTENCE_END.search(text, *following)):
        return None
    if (line_end := text.rfind("\n", start, end)) >= 0:
        return last if _FORMULA.match(text, line_end + 1, end) else None
    is_open = last > 0 and text[spans[-2][0]].isupper() and not _SENTENCE_END.search(text, *spans[-2])
    return last - 1 if is_open and _FORMULA.match(text, start, end) else None


def _line_start(text: str, position: int) -> int:
    return text.rfind("\n", 0, position) + 1


def _is_table_row(text: str, start: int, end: int) -> bool:
    """Return whether ``text[start:end]`` is a row: it names its columns, or a line beside it has as many cells."""
    line = text[start:end]
    borders = line.count(_CELL_BORDER)
    if not borders or "\n" in line:
        return False
    if len(_NAMED_CELL.findall(line)) >= borders:
        return True
    return borders in [neighbor.count(_CELL_BORDER) for neighbor in _lines_beside(text, start, end)]


def _is_fact_among_others(text: str, start: int, end: int) -> bool:
    """Return whether ``text[start:end]`` states a fact and a line beside it another one about the same subject.

    Prose may have the form of a fact, but not twice.
    """
    fact = _FACT.match(text, start, end)
    if fact is None or "\n" in text[start:end]:
        return False
    beside = (_FACT.match(line) for line in _lines_beside(text, start, end))
    return any(other is not None and other[1] == fact[1] for other in beside)


def _lines_beside(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the lines above and below the line ``text[start:end]``, ``""`` if there is none."""
    above = text[_line_start(text, max(0, start - 1)) : max(0, start - 1)]
    below_end = text.find("\n", end + 1)
    return above, text[end + 1 : below_end if below_end >= 0 else len(text)]


def _split_missed_ends(text: str, start: int, end: int) -> list[tuple[int, int]]:
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


# The ends of questions, which state nothing, and of complete sentences.
_QUESTION_END = re.compile(r"\?[\"'”’)\]]*$")
_COMPLETE_END = re.compile(r"[.!…][\"'”’)\]]*$")


def extract_facts(texts: Iterable[str]) -> list[str]:
    """Return the statements of ``texts`` in order, each once: see ``facts_among``."""
    return facts_among(text[start:end] for text in texts for start, end in sentence_spans(text))


def facts_among(sentences: Iterable[str]) -> list[str]:
    """Return the statements among ``sentences``, in order, without duplicates, and with single spaces.

    A sentence with end punctuation counts if it has two words, a piece without it if it has 20 characters: a shorter
    one is a heading, a label or a list mark. Questions do not count (reference/multidoc-synthesizer.md,
    `_extract_facts`).
    """
    plain = (" ".join(sentence.split()) for sentence in sentences)
    return list(dict.fromkeys(sentence for sentence in plain if _is_fact(sentence)))


def _is_fact(sentence: str) -> bool:
    if _QUESTION_END.search(sentence):
        return False
    return len(sentence.split()) >= 2 if _COMPLETE_END.search(sentence) else len(sentence) >= 20
