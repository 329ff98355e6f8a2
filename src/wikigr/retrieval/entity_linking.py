"""Entity linking: find the names in a question and link them to articles and entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from wikigr.graph.graph_index import GraphIndex
from wikigr.graph.neighborhood import Node
from wikigr.graph.schema import article_title
from wikigr.index.candidate import Hit
from wikigr.index.lexical import LexicalIndex, stems
from wikigr.names import bare_name, is_part_of_name, name_key, name_words, strip_possessive
from wikigr.retrieval.name_matching import LETTERS_PER_TYPO, NameMatcher
from wikigr.stop_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from wikigr.pack.open import Corpus

Method = Literal["exact", "fuzzy"]

# Only the beginning of a pasted page is searched for names.
_MAX_QUESTION_CHARS = 4096
_MAX_QUESTION_WORDS = 128
_MAX_NAME_WORDS = 12
# Texts in which the names are known: a question is linked twice, and several questions read the same sentences.
_MAX_KEPT_TEXTS = 4_096
# Sections per wanted article that the first search for the nearest articles reads.
_SECTIONS_PER_ARTICLE = 4


@dataclass(frozen=True, slots=True)
class EntityLink:
    """A link from ``mention``, which is ``question[start:end]``, to ``node``; ``score`` in (0, 1] is the confidence."""

    mention: str
    start: int
    end: int
    node: Node
    method: Method
    score: float


@dataclass(frozen=True, slots=True)
class _Name:
    """The tokens ``first`` to ``last`` of a text, its characters ``start`` to ``end``, which are the name of nodes."""

    first: int
    last: int
    start: int
    end: int
    nodes: tuple[int, ...]


class EntityLinker:
    """Links names to the nodes of a pack's graph.

    The score of a link is the squared rarity of the name's rarest word in the pack (1 for a word that occurs once),
    times the node's share among the nodes with that name, times the similarity of the spelling.
    """

    def __init__(self, index: GraphIndex, lexical: LexicalIndex) -> None:
        self.matcher = NameMatcher(index)
        self._index = index
        self._lexical = lexical
        self._ignored = lexical.language.stop_words(FUNCTION_WORDS)
        self._exact_names = lru_cache(_MAX_KEPT_TEXTS)(self._find_exact_names)

    def link_question(
        self, question: str, *, relevance: Mapping[str, float] | None = None, fuzzy: bool = True
    ) -> list[EntityLink]:
        """Return links for the names in ``question``, from left to right. Of overlapping names, the longest wins.

        ``relevance`` holds cosines of articles to the question, by title, and ranks the nodes that share a name.
        With ``fuzzy``, capitalized names without an exact match are also matched with typos.
        """
        tokens = _tokens(question)
        free = [True] * len(tokens)
        links: list[EntityLink] = []
        for name in self._exact_names(question[:_MAX_QUESTION_CHARS]):
            free[name.first : name.last + 1] = [False] * (name.last + 1 - name.first)
            links += self._create_links(question, name.start, name.end, name.nodes, "exact", 1.0, relevance or {})
        if fuzzy:
            for number, (first, last) in enumerate(_capitalized_runs(question, tokens, free, self._ignored)):
                start, end = tokens[first][1], tokens[last][2]
                # A comparison with aliases takes hundreds of lookups.
                near, likeness = self.matcher.misspelled(question[start:end], aliases=number < 8)
                links += self._create_links(question, start, end, near, "fuzzy", likeness, relevance or {})
            if not links:
                links = self._link_lower_case(question, tokens, relevance or {})
        return sorted(links, key=lambda link: (link.start, -link.score, link.node))

    def names_in(self, text: str) -> tuple[tuple[int, int], ...]:
        """Return where the names in ``text`` are that are spelled as in the graph, from left to right."""
        return tuple(sorted((name.start, name.end) for name in self._exact_names(text[:_MAX_QUESTION_CHARS])))

    def _find_exact_names(self, text: str) -> tuple[_Name, ...]:
        """Return the names in ``text``, the longest first; no two have a token in common."""
        tokens = _tokens(text)
        free = [True] * len(tokens)
        names = []
        keys = [word for word, _, _ in tokens]
        # A name is more than numbers and function words.
        content = [not word.isdigit() and strip_possessive(word) not in self._ignored for word in keys]
        for first, last in _spans(len(tokens)):
            if not all(free[first : last + 1]) or not any(content[first : last + 1]):
                continue
            start, end = tokens[first][1], tokens[last][2]
            found = self._match_exactly(text, start, end, keys[first : last + 1])
            if found:
                free[first : last + 1] = [False] * (last + 1 - first)
                names.append(_Name(first, last, start, end, tuple(found)))
        return tuple(names)

    def link_mention(self, mention: str) -> list[EntityLink]:
        """Return links from ``mention`` as a whole, best first: exact matches, or else matches with typos."""
        exact = self.matcher.named(mention) or self._index.named(strip_possessive(name_key(mention)))
        if exact:
            found = self._create_links(mention, 0, len(mention), exact, "exact", 1.0, {})
        else:
            near, likeness = self.matcher.nearest_names(mention)
            found = self._create_links(mention, 0, len(mention), near, "fuzzy", likeness, {})
        return sorted(found, key=lambda link: (-link.score, link.node))

    def _link_lower_case(
        self, question: str, tokens: Sequence[tuple[str, int, int]], relevance: Mapping[str, float]
    ) -> list[EntityLink]:
        """Return links for the longest run of content words that is one typo away from a name, if any."""
        content = [word not in self._ignored and not word.isdigit() for word, _, _ in tokens]
        # If a question links to nothing, runs of lower-case words are searched for with one typo.
        runs = [
            (first, last)
            for first, last in _spans(len(tokens))
            if last - first < 4 and all(content[first : last + 1]) and tokens[last][2] - tokens[first][1] >= 6
        ]
        for first, last in runs[:16]:
            start, end = tokens[first][1], tokens[last][2]
            near, likeness = self.matcher.nearest_names(question[start:end], max_typos=1)
            if near:
                return self._create_links(question, start, end, near, "fuzzy", likeness, relevance)
        return []

    def _match_exactly(self, question: str, start: int, end: int, words: Sequence[str]) -> list[int]:
        if len(words) == 1 and (len(words[0]) < 2 or is_part_of_name(question, start, end)):
            return []
        found = self._index.named(" ".join(words))
        if not found and (stripped := strip_possessive(words[-1])) != words[-1]:
            found = self._index.named(" ".join((*words[:-1], stripped)))
        first = words[0]
        is_long = len(first) > LETTERS_PER_TYPO and question[start].isupper()
        if not found and is_long and first.endswith("s") and strip_possessive(first) == first:
            # "Einsteins Nobel Prize", "Schrödingers cat".
            found = self._index.named(" ".join((f"{first[:-1]}'s", *words[1:])))
            if not found and len(words) == 1:
                found = self._index.named(first[:-1])
        return found

    def _create_links(
        self,
        question: str,
        start: int,
        end: int,
        bearers: Sequence[int],
        method: Method,
        likeness: float,
        relevance: Mapping[str, float],
    ) -> list[EntityLink]:
        """Return a link to each of ``bearers``; their scores add up to the score of the name."""
        if not bearers:
            return []
        nodes = [self._index.node(number) for number in dict.fromkeys(bearers)]
        lowest = min(relevance.values(), default=0.0)
        cosines = [relevance.get(node.key, lowest) if node.kind == "article" else lowest for node in nodes]
        # A hundred towns may share a name.
        order = sorted(range(len(nodes)), key=lambda i: (-cosines[i], nodes[i]))[:10]
        # Articles with the same name share its score by a sharp softmax over their cosines to the question.
        weights = np.exp(20.0 * (np.array([cosines[i] for i in order]) - max(cosines)))
        text = question[start:end]
        score = likeness * self._rarity(text) ** 2
        return [
            EntityLink(text, start, end, nodes[i], method, float(score * weight))
            for i, weight in zip(order, weights / weights.sum(), strict=True)
        ]

    def _rarity(self, name: str) -> float:
        """Return the rarity of the rarest content word of ``name`` relative to the maximum, in (0, 1]."""
        highest = self._lexical.rarity("")
        content = [word for word in strip_possessive(name_key(name)).split() if word not in self._ignored]
        found = (self._lexical.rarity(stem) for word in content for stem in stems(word, self._lexical.language))
        return max(found, default=highest) / highest


def replace_aliases(question: str, linker: EntityLinker, text_of: Callable[[str], str]) -> str:
    """Return ``question`` with the titles of articles in place of aliases that their texts do not use.

    Such an alias (of a note's front matter, or a redirect) matches no text, so the question could find the article
    but nothing in it. ``text_of`` returns the text of an article. A name that several nodes share stays.
    """
    links = linker.link_question(question, fuzzy=False)
    shared = Counter((link.start, link.end) for link in links)
    for link in reversed(links):
        title = bare_name(link.node.label)
        if link.node.kind != "article" or shared[link.start, link.end] > 1:
            continue
        name = name_key(link.mention)
        stripped = strip_possessive(name)
        if stripped in name_key(link.node.label) or stripped in name_key(text_of(link.node.key)):
            continue
        ending = "'s" if stripped != name else ""
        question = question[: link.start] + title + ending + question[link.end :]
    return question


def open_linker(pack: Corpus) -> EntityLinker:
    """Return the entity linker of an open pack."""
    return EntityLinker(pack.graph_index, pack.lexical)


def nearest_sections(question: str, pack: Corpus, limit: int) -> list[Hit]:
    """Return the nearest section of each of the ``limit`` articles nearest to ``question``, ties by title."""
    vector = pack.encoder.encode([question])[0]
    depth = limit * _SECTIONS_PER_ARTICLE
    while True:
        sections = pack.nearest(vector, depth)
        best: dict[str, Hit] = {}
        for hit in sections:
            best.setdefault(article_title(hit.section_id), hit)
        if len(best) >= limit or len(sections) < depth:
            return [best[title] for title in sorted(best, key=lambda title: (-best[title].score, title))[:limit]]
        depth *= _SECTIONS_PER_ARTICLE


def _tokens(question: str) -> list[tuple[str, int, int]]:
    return name_words(question[:_MAX_QUESTION_CHARS])[:_MAX_QUESTION_WORDS]


def _spans(count: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last index of every run of at most ``_MAX_NAME_WORDS`` of ``count`` words, longest first."""
    for length in range(min(count, _MAX_NAME_WORDS), 0, -1):
        for first in range(count - length + 1):
            yield first, first + length - 1


def _capitalized_runs(
    question: str, tokens: Sequence[tuple[str, int, int]], free: Sequence[bool], ignored: Set[str]
) -> Iterator[tuple[int, int]]:
    """Yield the first and last token of each run of capitalized words that are still ``free``.

    The first word of the question is always capitalized, so it forms a separate run.
    """
    first: int | None = None
    for number in range(len(tokens) + 1):
        within = (
            number < len(tokens)
            and free[number]
            and question[tokens[number][1]].isupper()
            and tokens[number][0] not in ignored
        )
        joined = (
            first is not None
            and within
            and number > 1
            and question[tokens[number - 1][2] : tokens[number][1]] in (" ", "-")
        )
        if first is not None and not joined:
            yield first, number - 1
            first = None
        if within and first is None:
            first = number
