"""Answer without a language model: quote the best sentences, or those that state a chain of facts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from wikigr.answer.abstention import answer_words, facts_miss_question
from wikigr.answer.answer import EXTRACTIVE, Answer, AnswerHop, AnswerSpan
from wikigr.answer.citations import Citation, verify_against
from wikigr.answer.draft import Draft
from wikigr.answer.sentences import SentenceScore
from wikigr.graph.neighborhood import Edge
from wikigr.options import Few, Options
from wikigr.pack.open import Pack
from wikigr.question.intent import asks_short_answer
from wikigr.retrieval.chain import Hop
from wikigr.text import fold, words

# Further sentences must reach this share of the best one's score; below it they are padding.
SENTENCE_FLOOR = 0.75
# Further sentences that the reader has read must answer at least with this probability.
MIN_PROBABILITY = 0.5
# Two sentences are duplicates if one contains the other and is at least this share of its length: a caption, or the
# same lead in two articles.
_DUPLICATE_SHARE = 0.7
# A fragment may follow a sentence if it has this share of the question's terms, by weight, and this many words.
_MIN_FRAGMENT_COVERAGE = 0.2
_MIN_FRAGMENT_WORDS = 5
# Below this margin of the reader, only the sentence is shown. Chosen by reading answers, not fitted.
MIN_SPAN_MARGIN = -2.0
_BEFORE_CODE = ":\n\n"
# A sentence that begins so names its subject in the sentence before.
_PRONOUN = re.compile(r"(?:it|its|this|these|they|their|he|his|she|her)\b", re.I)


@dataclass(frozen=True, slots=True)
class ExtractiveOptions(Options):
    """Quoting the pack, where no model writes the answer."""

    section: ClassVar[str] = "extractive"

    max_sentences: Annotated[
        Few, "sentences to quote at most; an answer from several facts or hops quotes one for each of them"
    ] = 3


def write_extractive(pack: Pack, draft: Draft, answer: Answer, options: ExtractiveOptions) -> Answer:
    """Return ``answer`` with verified quotations. It stays an abstention if only unrelated facts could be quoted.

    Quoted are the sentences that state a chain of facts, were read in a chain of hops or state both parts of what is
    asked, or else the best ones. The first of them has the short answer, if the question asks for one. Raises
    ``CitationError`` when a quotation does not match the pack.
    """
    question, exploration = draft.state.question, draft.state.exploration
    stating = sentences_stating(exploration.chain if exploration is not None else (), draft.sentences)
    short = asks_short_answer(question)
    hops = draft.chain.hops if draft.chain is not None else ()
    places = {hop.place for hop in hops}
    chosen = stating or [s for s in draft.sentences if s.place in places]
    chosen = chosen or [*(draft.parts.stating if draft.parts is not None else ())]
    chosen = chosen or best_sentences(draft.sentences, short=short, limit=options.max_sentences)
    searched = exploration is not None or draft.state.searched_paths
    if searched and not stating and facts_miss_question(chosen, question, draft.confidence.value):
        return replace(answer, confidence=0.0)
    citations = quote(chosen)
    verify_against(pack, citations, answer.trace)
    span = short_answer(chosen[0], citations[0]) if not stating and short else None
    chain = () if stating else _cited_hops(hops, citations)
    text = as_text(citations)
    return replace(answer, text=text, query_type=EXTRACTIVE, citations=citations, span=span, chain=chain)


def _cited_hops(hops: Sequence[Hop], citations: Sequence[Citation]) -> tuple[AnswerHop, ...]:
    """Return ``hops`` with the citations of the sentences in which they were read."""
    numbers = {(citation.section_id, citation.start): citation.n for citation in citations}
    return tuple(AnswerHop(hop.question, hop.answer, numbers[hop.place], hop.probability) for hop in hops)


def short_answer(sentence: SentenceScore, quoted: Citation) -> AnswerSpan | None:
    """Return the short answer that the reader found in ``sentence``, which is ``quoted``, or ``None``.

    It is a part of the quotation, so it is verified with it. Below ``MIN_SPAN_MARGIN`` the sentence alone is shown.
    """
    span = sentence.span
    if span is None or span.margin < MIN_SPAN_MARGIN:
        return None
    text = quoted.quote[span.start - quoted.start : span.end - quoted.start]
    return AnswerSpan(text, quoted.section_id, span.start, span.end)


def quote(chosen: Sequence[SentenceScore]) -> tuple[Citation, ...]:
    """Return citations of ``chosen``, in order."""
    return tuple(
        Citation(
            n=n,
            title=s.section.title,
            section_id=s.section.section_id,
            heading=s.section.heading,
            source_id=s.section.source_id,
            quote=s.text,
            start=s.start,
            end=s.end,
        )
        for n, s in enumerate(chosen, start=1)
    )


def best_sentences(ranked: Sequence[SentenceScore], *, short: bool, limit: int) -> list[SentenceScore]:
    """Return at most ``limit`` of ``ranked`` (best first) to quote.

    None is far below the first or repeats another, and none that follows a complete sentence is a fragment that says
    little. If the reader has read them, a further one must be more likely right than wrong, and where a ``short``
    answer is wanted, have another one.
    """
    chosen: list[SentenceScore] = []
    said: list[tuple[str, str]] = []
    for sentence in ranked:
        is_read = sentence.span is not None
        if len(chosen) == limit or (chosen and not _is_near(sentence, chosen[0])):
            break
        if chosen and chosen[0].is_prose and not (sentence.is_prose or _is_informative(sentence)):
            continue
        text, answer = _spaced(words(sentence.text)), _spaced(answer_words(sentence)) if short and is_read else ""
        if any(_is_duplicate(text, t) or (answer and (answer in a or a in answer)) for t, a in said):
            continue
        chosen.append(sentence)
        said.append((text, answer))
    return chosen


def _is_near(sentence: SentenceScore, best: SentenceScore) -> bool:
    """Return whether ``sentence`` may be quoted after ``best``: it is on the same scale, and good enough."""
    if (sentence.span is None) != (best.span is None):
        return False
    floor = SENTENCE_FLOOR * best.score
    return sentence.score >= (floor if best.span is None else max(floor, MIN_PROBABILITY))


def _spaced(of_text: Sequence[str]) -> str:
    """Return words with a space around each, so that one text contains another only as whole words."""
    return f" {' '.join(of_text)} "


def _is_informative(fragment: SentenceScore) -> bool:
    """Return whether a table row or the like is about the question and more than a heading."""
    if fragment.term_coverage < _MIN_FRAGMENT_COVERAGE or fragment.text.endswith(":"):
        return False
    # "Capital: Zedtown"
    return ":" in fragment.text or len(words(fragment.text)) >= _MIN_FRAGMENT_WORDS


def _is_duplicate(text: str, before: str) -> bool:
    """Return whether one of two texts, each a line of words between spaces, contains the other and little else."""
    shorter, longer = sorted((text, before), key=len)
    return shorter in longer and (text is shorter or len(shorter) >= _DUPLICATE_SHARE * len(longer))


def as_text(citations: Sequence[Citation]) -> str:
    """Return the quotations as one text, each followed by its number, and preceded by its title if it needs it."""
    return " ".join(f"{subject_of(c)}{_on_one_line(c.quote)} [{c.n}]" for c in citations)


def _on_one_line(quote: str) -> str:
    """Return ``quote`` with single spaces, except for a block of code, whose lines stay."""
    introduction, gap, code = quote.partition(_BEFORE_CODE)
    return " ".join(introduction.split()) + (f"{gap}{code}\n\n" if gap else "")


def subject_of(citation: Citation) -> str:
    """Return the title of a quotation that begins with a pronoun, as what precedes it, or nothing."""
    return f"{citation.title}: " if _PRONOUN.match(citation.quote) else ""


def sentences_stating(facts: Sequence[Edge], sentences: Sequence[SentenceScore]) -> list[SentenceScore]:
    """Return for each of ``facts`` the first of ``sentences`` in its section that names both ends, in order.

    Empty if a fact is not stated, unless another fact with the same relation and node is (one of many films).
    Names match as whole words: "de" is not in "developed".
    """
    stated = {edge: sentence for edge in facts if (sentence := _sentence_stating(edge, sentences)) is not None}
    for edge in facts:
        ends = {edge.source, edge.target}
        if edge not in stated and not any(
            other.relation == edge.relation and ends & {other.source, other.target} for other in stated
        ):
            return []
    return list(dict.fromkeys(stated.values()))


def _sentence_stating(edge: Edge, sentences: Sequence[SentenceScore]) -> SentenceScore | None:
    names = {fold(edge.source.label), fold(edge.target.label)}
    patterns = [(name, re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")) for name in sorted(names)]
    inside = [sentence for sentence in sentences if sentence.section.section_id == edge.section_id]
    for sentence in sorted(inside, key=lambda sentence: sentence.start):
        text, title = fold(sentence.text), fold(sentence.section.title)
        mentioned = {name for name, pattern in patterns if pattern.search(text)}
        # The text of an article need not mention the article's own name.
        if names <= mentioned | {title} and mentioned - {title}:
            return sentence
    return None
