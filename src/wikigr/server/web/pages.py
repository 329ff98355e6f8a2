"""The pages: from packs, answers and runs to HTML. Forms carry earlier questions, so the server keeps none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wikigr.answer.answer import Answer
from wikigr.answer.presentation import is_doubtful, shown_citations
from wikigr.documents.answer import stated_answer
from wikigr.documents.answer_markdown import answer_entry
from wikigr.errors import UsageError, WikigrError
from wikigr.graph.neighborhood import Node
from wikigr.index.candidate import Evidence
from wikigr.pack.manifest import Manifest
from wikigr.pack.open import Corpus, Pack
from wikigr.pipeline.conversation import turn_of
from wikigr.pipeline.profile import Profile
from wikigr.question.follow_up import MAX_TURNS, Turn
from wikigr.server.service import client_hint
from wikigr.server.web.addresses import Back, Value, address, outside_address
from wikigr.server.web.answer_page import ArticleLink, answer_page, comparison_page, link_to
from wikigr.server.web.article_page import Quotation, article_page
from wikigr.server.web.neighborhood_page import neighborhood_page
from wikigr.server.web.rendering import render
from wikigr.server.web.results_page import ResultRow, example_questions, find_titles, most_linked, result_rows
from wikigr.server.web.run_pages import RunRow
from wikigr.server.web.trace_page import trace_page
from wikigr.text import scrub

# Characters of one turn in a form. A longer one is not carried.
MAX_TURN_CHARS = 1_500


def write_turn(turn: Turn) -> str:
    """Return ``turn`` as the value of a field, or ``""`` if it is too long."""
    value = json.dumps([turn.question, turn.answer, *turn.titles], ensure_ascii=False, separators=(",", ":"))
    return value if len(value) <= MAX_TURN_CHARS else ""


def read_turns(values: Sequence[str]) -> tuple[Turn, ...]:
    """Return the last turns from the values of their fields; raises ``UsageError`` for what no page has written."""
    return tuple(_read(value) for value in values[-MAX_TURNS:])


def _read(value: str) -> Turn:
    try:
        found = json.loads(value) if len(value) <= MAX_TURN_CHARS else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or len(found) < 2 or not all(isinstance(part, str) for part in found):
        raise UsageError("The parameter turn is damaged.", hint="Ask the question again with its subject.")
    question, answer, *titles = map(scrub, found)
    return Turn(question, answer, tuple(titles))


_MAX_CENTRAL = 12
# Sections that are listed below an answer, and results on a page.
_MAX_MORE = 3
_RESULTS_PER_PAGE = 10
# What leads from an article back to results instead of an answer.
RESULTS = "results"


@dataclass(frozen=True, slots=True)
class ServedPack:
    """A pack in the choice of packs, and on the first page."""

    name: str
    version: str
    description: str
    license: str
    counts: str


@dataclass(frozen=True, slots=True)
class Site:
    """What every page needs: the packs and the profiles to choose from, and the ``profile`` that is chosen at first.

    A model writes the answers of the profiles in ``writing``. ``max_question`` is the length of a question in
    characters.
    """

    packs: tuple[ServedPack, ...]
    profiles: tuple[str, ...]
    profile: str
    writing: frozenset[str]
    max_question: int


@dataclass(frozen=True, slots=True)
class Asked:
    """What the form holds: a question, the pack (empty for all of them), the profile, and the turns before it.

    Addresses leave the turns out: they contain the question as it was understood.
    """

    question: str = ""
    pack: str = ""
    profile: str = ""
    turns: tuple[Turn, ...] = ()

    def address(self, path: str, **more: str) -> str:
        """Return the address of a page about this question."""
        return address(path, {"q": self.question, "pack": self.pack, "profile": self.profile, **more})

    @property
    def back(self) -> Back:
        """The parameters by which the page of an article leads back to the answer."""
        return {"q": self.question, "within": self.pack, "profile": self.profile}

    def after(self, turn: Turn) -> Asked:
        """Return the form for the question after ``turn``."""
        return replace(self, turns=(*self.turns, turn)[-MAX_TURNS:])

    @property
    def hidden_turns(self) -> tuple[str, ...]:
        """The turns as the form carries them, without those that are too long."""
        return tuple(filter(None, map(write_turn, self.turns)))


def served_pack(name: str, manifest: Manifest) -> ServedPack:
    """Return a pack as pages show it."""
    counts = manifest.counts
    parts = [f"{counts[key]:,} {key}" for key in ("articles", "sections", "links", "triples") if counts.get(key)]
    return ServedPack(name, manifest.version, manifest.description, manifest.license, " · ".join(parts))


class Pages:
    """Writes the pages of a site; every method returns HTML."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def home(self, asked: Asked, packs: tuple[Pack, ...]) -> str:
        """Return the first page; ``packs`` are those whose questions and most central articles it lists."""
        central = {
            pack.label: tuple(link_to(pack, title) for title in most_linked(pack, _MAX_CENTRAL)) for pack in packs
        }
        examples = {
            pack.label: tuple(
                (question, Asked(question, self._form_pack(pack), asked.profile).address("/ask"))
                for question in example_questions(pack)
            )
            for pack in packs
        }
        return self._render("home", asked, "Ask", central=central, examples=examples)

    def results(self, asked: Asked, found: Sequence[Evidence], page: int, pack: Corpus) -> str:
        """Return a page of the results of a search in ``pack``, counted from 1."""
        last = max(1, -(-len(found) // _RESULTS_PER_PAGE))
        page = min(page, last)
        first = (page - 1) * _RESULTS_PER_PAGE
        back = {**asked.back, "from": RESULTS, "page": str(page) if page > 1 else ""}
        titles = find_titles(pack.members, asked.question)
        members = [(member, member.find_title(title)) for title in titles for member in pack.members]
        return self._render(
            "search",
            asked,
            asked.question,
            articles=tuple(link_to(member, title, back) for member, title in members if title is not None),
            rows=result_rows(pack, asked.question, found[first : first + _RESULTS_PER_PAGE], back, first + 1),
            total=len(found),
            ask_href=asked.address("/ask"),
            earlier=asked.address("/search", page=str(page - 1)) if page > 1 else "",
            later=asked.address("/search", page=str(page + 1)) if page < last else "",
        )

    def answer(self, asked: Asked, answer: Answer, pack: Corpus, typed: str = "") -> str:
        """Return the page of an answer from ``pack``; ``typed`` is the question as typed, if it was a follow-up."""
        title = pack.find_title(asked.question)
        opens = link_to(pack, title) if title is not None else None
        values = self._about(asked, answer, pack)
        said = self._said(asked, typed)
        asked = asked.after(turn_of(answer))
        return self._render("answer", asked, asked.question, opens=opens, **said, **values)

    def answer_part(self, asked: Asked, answer: Answer, pack: Corpus) -> str:
        """Return the part of the page of an answer that follows the question."""
        return render("answer_body", site=self._site, asked=asked, **self._about(asked, answer, pack))

    def writing(self, asked: Asked, typed: str = "") -> str:
        """Return a page that shows an answer while a model writes it; ``typed`` is as in ``answer``."""
        return self._render(
            "writing",
            asked.after(Turn(asked.question)),
            asked.question,
            **self._said(asked, typed),
            events_href=asked.address("/ask/events"),
            plain_href=asked.address("/ask"),
        )

    def why(self, asked: Asked, answer: Answer, pack: Corpus, expected: str, title: str | None, problem: str) -> str:
        """Return the page of the trace of an answer.

        It follows the article ``title``, which was given as ``expected``; ``problem`` says why there is none.
        """
        return self._render(
            "why",
            asked,
            f"Why? {asked.question}",
            view=answer_page(answer, pack),
            trace=trace_page(answer, pack, title),
            answer_href=asked.address("/ask"),
            expected=expected,
            problem=problem,
        )

    def compare(
        self,
        asked: Asked,
        names: tuple[str, str],
        answers: tuple[Answer, Answer] | None = None,
        profiles: tuple[Profile, Profile] | None = None,
        pack: Corpus | None = None,
    ) -> str:
        """Return the page that compares the answers with the profiles of these ``names``, or asks for a question."""
        view = None
        if answers is not None and profiles is not None and pack is not None:
            view = comparison_page(pack, answers, profiles)
        return self._render(
            "compare",
            asked,
            "Compare profiles",
            a=names[0],
            b=names[1],
            view=view,
            why_hrefs=[Asked(asked.question, asked.pack, name).address("/why") for name in names],
        )

    def article(
        self, pack: Pack, title: str, section_id: str | None, quotation: Quotation | None, back: str, back_to: str
    ) -> str:
        """Return the page of the article ``title`` of one pack; raises ``KeyError`` if there is none.

        ``back`` is the address of the answer or the results that led to it, as ``back_to`` says, or empty.
        """
        view = article_page(pack, title, section_id=section_id, quotation=quotation)
        asked = Asked(pack=self._form_pack(pack))
        return self._render("article", asked, title, view=view, back_href=back, back_to=back_to)

    def neighborhood(
        self, pack: Pack, centers: list[Node], given: Mapping[str, Value], page: int, to: str = "", problem: str = ""
    ) -> str:
        """Return the picture around a node of one pack, or of the nodes of a path ``to`` another; see ``problem``.

        ``given`` are the parameters of its address without the ``page`` of the list, which counts from 1.
        """
        view = neighborhood_page(pack, centers, page)
        earlier, later = (
            address("/neighborhood", {**given, "page": number if number > 1 else None}, "neighbors") if is_there else ""
            for number, is_there in ((view.page - 1, view.page > 1), (view.page + 1, view.last < view.total))
        )
        return self._render(
            "neighborhood",
            Asked(pack=self._form_pack(pack)),
            f"Neighborhood of {view.name}",
            view=view,
            to=to,
            problem=problem,
            earlier=earlier,
            later=later,
        )

    def runs(self, rows: tuple[RunRow, ...], folder: str) -> str:
        """Return the list of the evaluation runs in ``folder``."""
        return self._render("runs", Asked(), "Evaluation runs", runs=rows, folder=folder)

    def run(self, name: str) -> str:
        """Return the page around the report of a run."""
        return self._render("run", Asked(), name, name=name, report_href=address("/runs/report", {"run": name}))

    def error(
        self,
        heading: str,
        error: WikigrError,
        suggestions: tuple[ArticleLink, ...] = (),
        asked: Asked | None = None,
    ) -> str:
        """Return a page that says what went wrong, with what was ``asked`` in its form."""
        return self._render(
            "error",
            asked or Asked(),
            heading,
            message=error.message,
            hint=client_hint(error) or "",
            suggestions=suggestions,
        )

    def _about(self, asked: Asked, answer: Answer, pack: Corpus) -> dict[str, Any]:
        view = answer_page(answer, pack, asked.back)
        first = next(iter(view.sources.values()), None)
        return {
            "view": view,
            "more": self._more(asked, answer, pack),
            "markdown": answer_entry(stated_answer(answer, pack), outside_address),
            "results_href": asked.address("/search"),
            "why_href": asked.address("/why"),
            "compare_href": address("/compare", {"q": asked.question, "pack": asked.pack, "a": answer.profile}),
            "plain_href": asked.address("/ask"),
            "picture_href": address("/neighborhood", {"pack": first.pack, "title": first.title}) if first else "",
            "picture_title": first.title if first else "",
        }

    def _more(self, asked: Asked, answer: Answer, pack: Corpus) -> tuple[ResultRow, ...]:
        """Return the best sections that an answer read and does not show, below one that is stated."""
        if answer.abstained or is_doubtful(answer):
            return ()
        shown = {citation.section_id for citation in shown_citations(answer)}
        others = [item for item in answer.evidence if item.section.section_id not in shown]
        return result_rows(pack, asked.question, others[:_MAX_MORE], asked.back)

    def _said(self, asked: Asked, typed: str) -> dict[str, Any]:
        """Return the earlier questions of a conversation, as understood, with their answers; and the last as typed."""
        before = [(turn, replace(asked, question=turn.question, turns=())) for turn in asked.turns]
        alone = replace(asked, question=typed, turns=()).address("/ask") if typed else ""
        return {
            "typed": typed,
            "alone_href": alone,
            "before": [(turn.question, turn.answer, question.address("/ask")) for turn, question in before],
        }

    def _form_pack(self, pack: Corpus) -> str:
        return pack.label if len(self._site.packs) > 1 else ""

    def _render(self, page: str, asked: Asked, heading: str, **values: Any) -> str:
        asked = replace(asked, profile=asked.profile or self._site.profile)
        return render(page, site=self._site, page=page, asked=asked, heading=heading, **values)
