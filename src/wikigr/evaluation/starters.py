"""Questions to begin with: a few that a pack answers and is sure of, chosen when it is built."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice, zip_longest
from pathlib import Path

from wikigr.errors import UsageError, WikigrError
from wikigr.evaluation.questions import load_questions
from wikigr.names import bare_name
from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout
from wikigr.pack.manifest import MAX_STARTER_CHARS, MAX_STARTERS, QUESTIONS, read_manifest
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.progress import Progress
from wikigr.question.question import content_stems
from wikigr.sources.block import Block

# Questions that are tried, and articles, sections of each and gold questions that they are made from.
_MAX_TRIED = 36
_MAX_ARTICLES = 60
_MAX_GOLD = 200
_MAX_SECTIONS = 5
_MIN_HEADING_WORDS = 4
_NUMBERING = re.compile(r"\d{1,2}(?:(?:\.\d{1,2})+\.?|[.)]) +")
_ABOUT_A_PERSON = re.compile(r"\b(?:he|she|his|her)\b", re.IGNORECASE)
_HOW_TO = re.compile(r"How to (?=[a-z])")
# A column or a property whose value says something about the subject, and not about its entry.
_LABEL = re.compile(r"[A-Za-z][A-Za-z ]{2,30}")


def store_starters(folder: Path, progress: Progress) -> None:
    """Write the starters of the pack in ``folder``, which was just built, to its manifest."""
    layout = Layout(folder)
    with layout.building([parts.MANIFEST]):
        found: tuple[str, ...] = ()
        try:
            found = find_starters(folder)
        except WikigrError as error:
            progress.note(f"The pack has no questions to begin with: {error.message}")
        changed = replace(read_manifest(layout.part(parts.MANIFEST)), starters=found)
        layout.clear_new()
        (layout.new / parts.MANIFEST).write_text(changed.to_json(), encoding="utf-8")
        layout.replace_parts()


def find_starters(folder: Path) -> tuple[str, ...]:
    """Return at most ``MAX_STARTERS`` questions about the pack in ``folder``.

    A gold question and one of each other kind come first. Each is answered with the default profile and is sure. A pack
    whose answers are never sure, such as one in another language than English, has none.
    """
    with Pack(folder) as pack:
        if not pack.language.is_english:
            return ()
        pipeline = Pipeline(Profile(), pack, offline=True)
        kinds = (_gold(folder), *_about_articles(pack))
        tried = filter(None, chain.from_iterable(zip_longest(*kinds)))
        usable = (q for q in dict.fromkeys(tried) if len(q) <= MAX_STARTER_CHARS and q.isprintable())
        sure = (q for q in islice(usable, _MAX_TRIED) if pipeline.answer(q).level == "sure")
        return tuple(islice(sure, MAX_STARTERS))


def _gold(root: Path) -> Iterator[str]:
    """Yield the answerable gold questions of a pack, the shortest first."""
    try:
        found = [q.question for q in load_questions(root / QUESTIONS, problems=[]) if q.answerable]
    except UsageError:
        return
    yield from sorted(found, key=lambda question: (len(question), question))[:_MAX_GOLD]


def _about_articles(pack: Pack) -> tuple[Iterable[str], ...]:
    """Return questions about the most linked articles by kind: headings that ask, what a title is, cells, properties.

    Cells are those of the first sections, properties those of leads.
    """
    index, ranks = pack.graph_index, pack.pagerank
    titles = (index.node(number).key for number in range(min(index.articles, 20_000)))
    first = sorted(titles, key=lambda title: (-ranks.get(title, 0.0), title))[:_MAX_ARTICLES]
    sections = pack.sections([f"{title}#{number}" for title in first for number in range(_MAX_SECTIONS)])
    asked = [question for title in first for heading in pack.headings(title) if (question := _asked_by(heading))]
    cells = [
        question
        for section in sections.values()
        for block in section.blocks
        if (question := _asked_of(section.content, block))
    ]
    properties: list[str] = []
    about: list[str] = []
    for title in first:
        lead = sections.get(f"{title}#0")
        name = bare_name(title)
        if lead is None or name.casefold() not in lead.content.casefold():
            continue
        labels = [b.label for b in lead.blocks if b.kind == "property" and _is_noun(b.label)]
        properties += [f"What is the {label.casefold()} of {name}?" for label in labels[:1]]
        is_person = len(_ABOUT_A_PERSON.findall(pack.text_of(title)[:4_000])) > 2
        about.append(f"When was {name} born?" if is_person else f"What is {name}?")
    return asked, about, cells, properties


def _asked_by(heading: str) -> str:
    """Return the question that a heading asks, or an empty string."""
    heading = _NUMBERING.sub("", heading, count=1)
    # A shorter one, such as "Which way?", asks nothing without the text around it.
    if heading.endswith("?") and len(heading.split()) >= _MIN_HEADING_WORDS:
        return heading
    return _HOW_TO.sub("How do I ", heading).rstrip("?") + "?" if _HOW_TO.match(heading) else ""


def _asked_of(text: str, block: Block) -> str:
    """Return a question about a row in the middle of a table, or an empty string.

    A row is called by its first cell, a number with the label of its column: "berth 12".
    """
    if block.kind != "table" or len(block.rows) < 2:
        return ""
    row = {cell.column: text[cell.start : cell.end] for cell in block.rows[len(block.rows) // 2]}
    name, [first, *others] = " ".join(row.get(0, "").split()), block.columns or [""]
    if name.isdecimal() and _is_noun(first):
        name = f"{first.casefold()} {name}"
    asked = [label for n, label in enumerate(others, start=1) if row.get(n) and _is_noun(label)]
    return f"What is the {asked[0].casefold()} of {name}?" if asked and re.search("[A-Za-z]{3}", name) else ""


def _is_noun(label: str) -> bool:
    """Return whether a label may stand after "the": "depth in metres", and not "to shops" or "what it does"."""
    words = label.split()
    return _LABEL.fullmatch(label) is not None and all(content_stems(word) for word in (words[0], words[-1]))
