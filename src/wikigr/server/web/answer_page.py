"""What a page shows of an answer: its text with citations, its level and sources; and of two answers side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wikigr.answer.answer import OWN_KNOWLEDGE, Answer, PossibleAnswer
from wikigr.answer.citations import Citation
from wikigr.answer.presentation import (
    LEVEL_WORDS,
    NEAREST,
    OTHERS,
    PERHAPS,
    is_doubtful,
    numbered_alternatives,
    usage_in_words,
)
from wikigr.documents.answer import stated_answer
from wikigr.graph.schema import article_title
from wikigr.pack.open import Corpus
from wikigr.pipeline.profile import Profile
from wikigr.pipeline.profile_files import differences
from wikigr.server.web.addresses import NOWHERE, Back, address, article_address, outside_address, quote_address
from wikigr.text import fold

if TYPE_CHECKING:
    from wikigr.documents.shapes import BlockShape, PossibleAnswerShape


@dataclass(frozen=True, slots=True)
class Confidence:
    """A confidence in [0, 1] for the bar, rounded to two digits, and the level of the answer in words."""

    value: float
    words: str

    @property
    def percent(self) -> int:
        return round(100 * self.value)


@dataclass(frozen=True, slots=True)
class ArticleLink:
    """A link to the page of an article; ``pack`` is its pack's name."""

    pack: str
    title: str
    href: str


@dataclass(frozen=True, slots=True)
class Source:
    """A citation: ``href`` opens the article at the quotation, ``outside`` the place on the web, if it is known.

    ``file`` is the source file of a section that is not on the web.
    """

    n: int
    pack: str
    title: str
    heading: str
    quote: tuple[BlockShape, ...]
    href: str
    outside: str | None
    file: str | None


@dataclass(frozen=True, slots=True)
class HopRow:
    """A question on the way to an answer."""

    question: str
    answer: str
    n: int
    href: str
    confidence: float


@dataclass(frozen=True, slots=True)
class OtherAnswer:
    """A passage that may answer, with its sources by number; ``short`` is empty if there is no short answer."""

    short: str
    text: tuple[BlockShape, ...]
    sources: dict[str, Source]


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """An answer as a page shows it; ``short`` is empty if there is no short answer.

    ``sources`` are by number. ``others`` are the other possible answers, under the heading ``others_heading``; instead
    of an answer that is not sure, which has neither ``text`` nor ``sources``, they contain its passage. ``chain_href``
    shows the articles of the chain in the graph.
    """

    question: str
    short: str
    text: tuple[BlockShape, ...]
    abstained: bool
    own_knowledge: bool
    confidence: Confidence
    sources: dict[str, Source]
    others_heading: str
    others: tuple[OtherAnswer, ...]
    chain: tuple[HopRow, ...]
    chain_href: str
    unverified: int
    warnings: tuple[str, ...]
    profile: str
    model: str
    usage: str
    milliseconds: float


def answer_page(answer: Answer, pack: Corpus, back: Back = NOWHERE) -> AnswerPage:
    """Return what a page shows of an answer from ``pack``; articles lead ``back`` to it."""
    stated = stated_answer(answer, pack)
    is_stated = not is_doubtful(answer)
    alternatives = numbered_alternatives(answer)
    shown = [*zip((answer, *alternatives), (stated, *stated["alternatives"]), strict=True)]
    others = tuple(
        OtherAnswer(
            _short(other) if is_stated else "", tuple(document["blocks"]), _sources(other, document, pack, back)
        )
        for other, document in shown[is_stated:]
    )
    sources = _sources(answer, stated, pack, back)
    return AnswerPage(
        question=answer.question,
        short=_short(answer) if is_stated and not answer.model else "",
        text=tuple(stated["blocks"]) if is_stated else (),
        abstained=answer.abstained,
        own_knowledge=answer.query_type == OWN_KNOWLEDGE,
        confidence=Confidence(round(min(1.0, max(0.0, answer.confidence)), 2), LEVEL_WORDS[answer.level]),
        sources=sources if is_stated else {},
        others_heading=NEAREST if answer.abstained else OTHERS if is_stated else PERHAPS,
        others=others,
        chain=tuple(
            HopRow(
                hop.question,
                " ".join(hop.answer.split()),
                hop.n,
                sources[str(hop.n)].href,
                hop.probability,
            )
            for hop in answer.chain
            if str(hop.n) in sources
        ),
        chain_href=_chain_address(answer, pack),
        unverified=len(answer.unverified),
        warnings=tuple(answer.trace.warnings),
        profile=answer.profile,
        model=answer.model,
        usage=usage_in_words(answer.usage) if answer.usage.calls else "",
        milliseconds=answer.trace.timings()["total_ms"],
    )


def _short(answer: PossibleAnswer) -> str:
    return "" if answer.span is None else " ".join(answer.span.text.split())


def _sources(answer: PossibleAnswer, document: PossibleAnswerShape, pack: Corpus, back: Back) -> dict[str, Source]:
    """Return the sources by the numbers in the blocks of ``document``."""
    return {
        str(cited["n"]): _source(pack, citation, cited["blocks"], back)
        for citation, cited in zip(answer.citations, document["citations"], strict=True)
    }


def link_to(pack: Corpus, title: str, back: Back = NOWHERE) -> ArticleLink:
    """Return the link to the article that is called ``title`` in ``pack``, which may join several packs."""
    member, section_id = pack.origin(f"{title}#0")
    own = article_title(section_id)
    return ArticleLink(member.label, own, article_address(member.label, own, back=back))


def _source(pack: Corpus, citation: Citation, quote: Sequence[BlockShape], back: Back) -> Source:
    member, section_id = pack.origin(citation.section_id)
    title = article_title(section_id)
    outside = outside_address(citation.url)
    return Source(
        n=citation.n,
        pack=member.label,
        title=title,
        heading=citation.heading,
        quote=tuple(quote),
        href=quote_address(member.label, title, section_id, citation.start, citation.end, back),
        outside=outside,
        file=citation.source_id if outside is None else None,
    )


def _chain_address(answer: Answer, pack: Corpus) -> str:
    """Return the address of the picture of the cited articles of a chain, if they are in one pack."""
    cited = {citation.n: citation.section_id for citation in answer.citations}
    places = [pack.origin(cited[hop.n]) for hop in answer.chain if hop.n in cited]
    titles = tuple(dict.fromkeys(article_title(section_id) for _, section_id in places))
    packs = {member.label for member, _ in places}
    if len(titles) < 2 or len(packs) > 1:
        return ""
    return address("/neighborhood", {"pack": packs.pop(), "title": titles})


@dataclass(frozen=True, slots=True)
class ReadArticle:
    """An article that at least one side read, with its rank there among the articles that were read, from 1."""

    link: ArticleLink
    ranks: tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """The answers of two profiles. ``verdict`` says in a sentence whether they agree.

    ``settings`` holds the settings in which the profiles differ: the key and the two values.
    """

    sides: tuple[AnswerPage, AnswerPage]
    verdict: str
    articles: tuple[ReadArticle, ...]
    settings: tuple[tuple[str, str, str], ...]


def comparison_page(pack: Corpus, answers: tuple[Answer, Answer], profiles: tuple[Profile, Profile]) -> ComparisonPage:
    """Return what a page shows of two answers to one question, made with ``profiles``."""
    first, second = (_articles_read(answer) for answer in answers)
    return ComparisonPage(
        sides=(answer_page(answers[0], pack), answer_page(answers[1], pack)),
        verdict=_verdict(*answers),
        articles=tuple(
            ReadArticle(link_to(pack, title), (_rank(first, title), _rank(second, title)))
            for title in dict.fromkeys((*first, *second))
        ),
        settings=tuple((key, _as_text(a), _as_text(b)) for key, a, b in differences(*profiles)),
    )


def _articles_read(answer: Answer) -> list[str]:
    return list(dict.fromkeys(item.section.title for item in answer.evidence))


def _rank(titles: list[str], title: str) -> int | None:
    return titles.index(title) + 1 if title in titles else None


def _verdict(first: Answer, second: Answer) -> str:
    if first.abstained and second.abstained:
        return "Both say that the pack does not cover the question."
    if first.abstained or second.abstained:
        silent = first if first.abstained else second
        return f"Only {silent.profile} says that the pack does not cover the question."
    if first.span is not None and second.span is not None:
        same = fold(first.span.text) == fold(second.span.text)
        return "Both give the same short answer." if same else "The short answers differ."
    if (first.span is None) != (second.span is None):
        return f"Only {(first if second.span is None else second).profile} gives a short answer."
    return "Both give the same text." if first.text == second.text else "The texts differ."


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
