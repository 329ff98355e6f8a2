"""Questions of one conversation: resolve a follow-up question against the names of a pack."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from wikigr.errors import UsageError
from wikigr.names import bare_name
from wikigr.pipeline.pipeline import Pipeline
from wikigr.question.antecedents import ANY, PRONOUNS, Mention, Pronoun
from wikigr.question.follow_up import MAX_TURNS, resolve
from wikigr.question.referents import Turn
from wikigr.retrieval.entity_linking import open_linker
from wikigr.sources.block import after_marker
from wikigr.text import scrub

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer
    from wikigr.graph.neighborhood import Node
    from wikigr.pack.open import Corpus

_WORD = re.compile(r"[a-z]+")
_PLURAL = re.compile(r"[^s]s$")
# What a later question may refer to of a long answer.
_MAX_PRINTED = 1_600
_MAX_ITEMS = 30
# Words of an item that name it.
_MAX_ITEM = 8
_END_OF_NAME = re.compile(r"[:.;(–—]\s|\n")
_ITEMS = ("item", "task")
_PERSONS = (frozenset(("he",)), frozenset(("she",)))


def understand(question: str, turns: Sequence[Turn], pack: Corpus) -> str:
    """Return ``question`` as understood after ``turns``, which were answered from ``pack``; see ``follow_up.resolve``.

    Raises ``UsageError`` if it refers to something that none of them names.
    """
    if not turns:
        return question
    found = resolve(question, turns, _Names(pack).find)
    if found.missing:
        raise UsageError(
            f"This question refers to something that was not named: {scrub(found.missing)!r}.",
            hint="Ask again with its name.",
        )
    return found.question


def replay(questions: Sequence[str], pipeline: Pipeline) -> tuple[Turn, ...]:
    """Return the turns of earlier ``questions``, the last one last, answered again without a model.

    Only the last ``MAX_TURNS`` count; one that refers to something that was not named is left out.
    """
    quoting = Pipeline(pipeline.profile, pipeline.pack, offline=pipeline.resources.offline)
    turns: list[Turn] = []
    for question in questions[-MAX_TURNS:]:
        try:
            understood = understand(question, turns, pipeline.pack)
        except UsageError:
            continue
        turns.append(turn_of(quoting.answer(understood)))
    return tuple(turns)


def turn_of(answer: Answer) -> Turn:
    """Return what a later question may refer to in ``answer``."""
    short = " ".join(answer.span.text.split()) if answer.span is not None else ""
    printed = "\n".join(citation.quote for citation in answer.citations)[:_MAX_PRINTED]
    # Titles of a turn: an answer that cites more is not about one of them.
    return Turn(answer.understood or answer.question, short, tuple(answer.sources[:5]), printed, _items(answer))


def _items(answer: Answer) -> tuple[str, ...]:
    """Return the names of what ``answer`` lists: the text of items, and the first cells of rows."""
    sections = {item.section.section_id: item.section for item in answer.evidence}
    found: list[str] = []
    for citation in answer.citations:
        section = sections.get(citation.section_id)
        if section is None:
            continue
        for block in section.blocks:
            if block.kind in _ITEMS:
                places = [(after_marker(section.content, block), block.end)]
            else:
                places = [(cells[0].start, cells[0].end) for cells in block.rows if cells]
            for start, end in places:
                if citation.start <= start < citation.end:
                    text = section.content[start:end].strip()
                    # "Ada: order the paint" is named by what is to be done, too.
                    name = text if block.kind == "task" else _END_OF_NAME.split(text, maxsplit=1)[0]
                    found.append(" ".join(name.split()[:_MAX_ITEM]))
    names = tuple(dict.fromkeys(found))[:_MAX_ITEMS]
    return names if len(names) > 1 else ()


class _Names:
    """Finds the titles, aliases and entities of a pack in texts, and the pronouns that its articles use for them."""

    def __init__(self, pack: Corpus) -> None:
        self._pack = pack
        self._linker = open_linker(pack)
        self._found: dict[str, list[Mention]] = {}
        self._pronouns: dict[Node, frozenset[Pronoun]] = {}

    def find(self, text: str) -> list[Mention]:
        """Return the names in ``text``, each once, from left to right."""
        if text not in self._found:
            best: dict[tuple[int, int], Node] = {}
            for link in self._linker.link_question(text, fuzzy=False):
                best.setdefault((link.start, link.end), link.node)
            mentions = (
                Mention(start, end, bare_name(node.label), self._pronouns_of(node))
                for (start, end), node in best.items()
            )
            # In "When was Heisenberg born?", nobody called Born is meant.
            has_case = any(character.isupper() for character in text[1:])
            self._found[text] = [
                m for m in mentions if not (has_case and m.pronouns in _PERSONS and text[m.start].islower())
            ]
        return self._found[text]

    def _pronouns_of(self, node: Node) -> frozenset[Pronoun]:
        if node.kind != "article":
            return ANY
        if node not in self._pronouns:
            member, section_id = self._pack.origin(f"{node.key}#0")
            title = section_id.rpartition("#")[0]
            rows = member.graph.rows("MATCH (a:Article {title: $title}) RETURN a.content", {"title": title})
            text = next((content for (content,) in rows if content), "")[:20_000]
            lead = member.sections([section_id])
            self._pronouns[node] = pronouns_for(title, lead[section_id].content if section_id in lead else "", text)
        return self._pronouns[node]


def pronouns_for(title: str, lead: str, text: str) -> frozenset[Pronoun]:
    """Return the pronouns that stand for the subject of an article: ``ANY`` if it is too short to tell.

    It is a person if he or she prevails in the whole text, and is not missing from a ``lead`` with other pronouns.
    """
    in_lead, in_text = _count(lead), _count(text)
    gendered: Pronoun = "she" if in_text["she"] > in_text["he"] else "he"
    others = in_text["it"] + in_text["they"]
    if in_text[gendered] > others and (in_lead[gendered] or not in_lead):
        return frozenset((gendered,))
    if not in_text and len(_WORD.findall(text.lower())) < 20:
        return ANY
    if in_lead["they"] > in_lead["it"] and _PLURAL.search(title):
        return frozenset(("they",))
    return frozenset(("it", "they")) if _PLURAL.search(title) else frozenset(("it",))


def _count(text: str) -> Counter[Pronoun]:
    return Counter(PRONOUNS[word] for word in _WORD.findall(text.lower()) if word in PRONOUNS)
