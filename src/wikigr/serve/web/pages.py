"""The pages: from packs, answers and runs to HTML. Forms carry earlier questions, so the server keeps none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from wikigr.answer.answer import Answer
from wikigr.errors import UsageError, WikigrError
from wikigr.graph.neighborhood import Node
from wikigr.pack.manifest import Manifest
from wikigr.pack.open import Corpus, Pack
from wikigr.pipeline.conversation import turn_of
from wikigr.pipeline.profile import Profile
from wikigr.question.follow_up import MAX_TURNS, Turn
from wikigr.serve.service import client_hint
from wikigr.serve.web.addresses import address
from wikigr.serve.web.answer_page import ArticleLink, answer_page, comparison_page, link_to
from wikigr.serve.web.article_page import Quotation, article_page, ranks_of
from wikigr.serve.web.neighborhood_page import neighborhood_page
from wikigr.serve.web.rendering import render
from wikigr.serve.web.run_pages import RunRow
from wikigr.serve.web.trace_page import trace_page
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


_MAX_CENTRAL = 16


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
        """Return the first page; ``packs`` are those whose most central articles it lists."""
        central = {pack.label: _central(pack) for pack in packs}
        return self._render("home", asked, "Ask", central=central)

    def answer(self, asked: Asked, answer: Answer, pack: Corpus, typed: str = "") -> str:
        """Return the page of an answer from ``pack``; ``typed`` is the question as typed, if it was a follow-up."""
        title = pack.find_title(asked.question)
        opens = link_to(pack, title) if title is not None else None
        values = self._about(asked, answer, pack)
        asked = asked.after(turn_of(answer))
        return self._render("answer", asked, asked.question, opens=opens, typed=typed, **values)

    def answer_part(self, asked: Asked, answer: Answer, pack: Corpus) -> str:
        """Return the part of the page of an answer that follows the question."""
        return render("answer_body", site=self._site, asked=asked, **self._about(asked, answer, pack))

    def writing(self, asked: Asked, typed: str = "") -> str:
        """Return a page that shows an answer while a model writes it; ``typed`` is as in ``answer``."""
        return self._render(
            "writing",
            asked.after(Turn(asked.question)),
            asked.question,
            typed=typed,
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

    def article(self, pack: Pack, title: str, section_id: str | None, quotation: Quotation | None) -> str:
        """Return the page of the article ``title`` of one pack; raises ``KeyError`` if there is none."""
        view = article_page(pack, title, section_id=section_id, quotation=quotation)
        return self._render("article", Asked(pack=self._form_pack(pack)), title, view=view)

    def neighborhood(self, pack: Pack, centers: list[Node], to: str = "", problem: str = "") -> str:
        """Return the picture around a node of one pack, or of the nodes of a path ``to`` another; see ``problem``."""
        view = neighborhood_page(pack, centers)
        asked = Asked(pack=self._form_pack(pack))
        return self._render("neighborhood", asked, f"Neighborhood of {view.name}", view=view, to=to, problem=problem)

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
        view = answer_page(answer, pack)
        first = next(iter(view.sources.values()), None)
        return {
            "view": view,
            "why_href": asked.address("/why"),
            "compare_href": address("/compare", {"q": asked.question, "pack": asked.pack, "a": answer.profile}),
            "plain_href": asked.address("/ask"),
            "picture_href": address("/neighborhood", {"pack": first.pack, "title": first.title}) if first else "",
            "picture_title": first.title if first else "",
        }

    def _form_pack(self, pack: Corpus) -> str:
        return pack.label if len(self._site.packs) > 1 else ""

    def _render(self, page: str, asked: Asked, heading: str, **values: Any) -> str:
        asked = replace(asked, profile=asked.profile or self._site.profile)
        return render(page, site=self._site, page=page, asked=asked, heading=heading, **values)


def _central(pack: Corpus) -> tuple[ArticleLink, ...]:
    return tuple(link_to(pack, title) for title in ranks_of(pack).first(_MAX_CENTRAL))
