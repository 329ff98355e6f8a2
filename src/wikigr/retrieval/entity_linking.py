"""Entity linking: from names in a question to the articles and entities that bear them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from wikigr.errors import UsageError
from wikigr.graph.graph_index import GraphIndex
from wikigr.graph.neighborhood import Neighborhood, Node, article
from wikigr.graph.schema import article_title
from wikigr.index.lexical import LexicalIndex, stems
from wikigr.names import bare_name, is_part_of_name, name_key, name_words
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import fold

if TYPE_CHECKING:
    from wikigr.pack.open import Pack

Method = Literal["exact", "fuzzy", "semantic"]

# A name of more words is not looked for in a question.
_MAX_WORDS = 12
# Words of a question that are looked at: a pasted page is not all names.
_MAX_QUESTION_WORDS = 128
# Several articles of one name share it by their relevance to the question, a cosine: ``exp(20 * cosine)``, normalized.
_SHARPNESS = 20.0
# Articles of one name beyond this are left out: "List of ..." of a hundred towns.
_MAX_BEARERS = 10
# A typo for every so many letters is forgiven, two at most; shorter names must be right.
_LETTERS_PER_TYPO = 5
_MAX_TYPOS = 2
# Small letters say nothing of a name: words of a question that names nothing else are looked for with one typo, in runs
# of at most so many words and so many letters.
_MIN_LETTERS = 6
_MAX_RUN = 4
_MAX_RUNS = 16
# Capitalized runs that are compared with aliases, and the letters of one.
_MAX_LOOKED_UP = 8
_MAX_ALIAS_LENGTH = 20
# A surname alone tells less than the whole name.
_SURNAME = 0.5
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

# What is looked at of a question is at most so many characters long.
_MAX_QUESTION_CHARS = 4096

_POSSESSIVE = re.compile(r"['’]s?$")

# Names that are suggested for one that nothing bears, each at least so much alike (0 to 100), and compared up to so
# many characters: a value can be a megabyte.
_SUGGESTIONS = 3
_NEAR = 70.0
_COMPARED = 100
_COMPARED_CHARS = 200
# Sections that are looked through at first for the nearest articles, for each article wanted.
_SECTIONS_PER_ARTICLE = 4


@dataclass(frozen=True, slots=True)
class Link:
    """``mention`` is ``question[start:end]``; ``score``, in (0, 1], is how much it tells that ``node`` is meant."""

    mention: str
    start: int
    end: int
    node: Node
    method: Method
    score: float


@dataclass(frozen=True, slots=True)
class Named:
    """The node that a name was taken for, and the ``others`` that bear it too; ``method`` is exact or fuzzy."""

    node: Node
    method: Method
    others: tuple[Node, ...] = ()


def is_read_whole(question: str) -> bool:
    """Tell whether ``EntityLinker`` looks at all words of ``question``; it does at the first 128."""
    return len(question) <= _MAX_QUESTION_CHARS and len(name_words(question)) <= _MAX_QUESTION_WORDS


class EntityLinker:
    """Links names to the nodes of a pack's graph.

    A link's score is the rarity of the name's rarest word in the pack, squared (1 for a word that is nowhere else),
    times the node's share among those that bear the name, times the likeness of the spelling.
    """

    def __init__(self, index: GraphIndex, lexical: LexicalIndex) -> None:
        self._index = index
        self._lexical = lexical

    def link_question(
        self, question: str, *, relevance: Mapping[str, float] | None = None, fuzzy: bool = True
    ) -> list[Link]:
        """Return the names in ``question``, from left to right; of overlapping names the longest counts.

        ``relevance`` holds cosines of articles to the question, by title, and decides between nodes of one name.
        With ``fuzzy``, capitalized names that nothing bears are also looked for with a typo in them.
        """
        tokens = name_words(question[:_MAX_QUESTION_CHARS])[:_MAX_QUESTION_WORDS]
        keys = [word for word, _, _ in tokens]
        free = [True] * len(tokens)
        links: list[Link] = []
        for first, last in _spans(len(tokens)):
            if not all(free[first : last + 1]):
                continue
            start, end = tokens[first][1], tokens[last][2]
            found = self._exact(question, start, end, keys[first : last + 1])
            if found:
                free[first : last + 1] = [False] * (last + 1 - first)
                links += self._shared(question, start, end, found, "exact", 1.0, relevance or {})
        if fuzzy:
            for number, (first, last) in enumerate(_capitalized_runs(question, tokens, free)):
                start, end = tokens[first][1], tokens[last][2]
                near, likeness = self._misspelled(question[start:end], aliases=number < _MAX_LOOKED_UP)
                links += self._shared(question, start, end, near, "fuzzy", likeness, relevance or {})
            if not links:
                links = self._in_small_letters(question, tokens, relevance or {})
        return sorted(links, key=lambda link: (link.start, -link.score, link.node))

    def link_mention(self, mention: str, *, relevance: Mapping[str, float] | None = None) -> list[Link]:
        """Return the nodes that ``mention`` as a whole may name, best first: exactly, or else with a typo."""
        key = name_key(mention)
        exact = (
            self._index.named(fold(mention)) or self._index.named(key) or self._index.named(_POSSESSIVE.sub("", key))
        )
        if exact:
            found = self._shared(mention, 0, len(mention), exact, "exact", 1.0, relevance or {})
        else:
            near, likeness = self._nearest_names(mention)
            found = self._shared(mention, 0, len(mention), near, "fuzzy", likeness, relevance or {})
        return sorted(found, key=lambda link: (-link.score, link.node))

    def _misspelled(self, name: str, aliases: bool) -> tuple[list[int], float]:
        """Return the nodes that ``name``, spelled with a capital, may mean: with a typo, or as the surname of just one.

        With the likeness of the name; typos in aliases, which take hundreds of look-ups, only with ``aliases``.
        """
        near, likeness = self._nearest_names(name)
        if not near and aliases:
            near, likeness = self._nearest_aliases(name)
        if not near:
            near, likeness = self._surnames.get(_POSSESSIVE.sub("", name_key(name)), []), _SURNAME
        return (near, likeness) if len(near) == 1 or likeness != _SURNAME else ([], 0.0)

    def _in_small_letters(
        self, question: str, tokens: Sequence[tuple[str, int, int]], relevance: Mapping[str, float]
    ) -> list[Link]:
        """Return links to the longest run of content words that is one typo away from a name, if any is."""
        content = [word not in FUNCTION_WORDS and not word.isdigit() for word, _, _ in tokens]
        runs = [
            (first, last)
            for first, last in _spans(len(tokens))
            if last - first < _MAX_RUN
            and all(content[first : last + 1])
            and tokens[last][2] - tokens[first][1] >= _MIN_LETTERS
        ]
        for first, last in runs[:_MAX_RUNS]:
            start, end = tokens[first][1], tokens[last][2]
            near, likeness = self._nearest_names(question[start:end], most=1)
            if near:
                return self._shared(question, start, end, near, "fuzzy", likeness, relevance)
        return []

    def find(self, name: str, neighborhood: Neighborhood) -> Named:
        """Return the one node that ``name`` means as a whole.

        The title, alias or name that it is, without regard to case and underscores; where several nodes bear it, the
        one that is called so without a qualifier, else that of the most neighbors. Without any, the only name that is
        a typo away (two for ten letters). Raises ``UsageError``, with the nearest names, when there is none.
        """
        folded = fold(name)
        exact = self._index.named(folded) or self._index.named(name_key(name))
        if exact:
            nodes = {number: self._index.node(number) for number in dict.fromkeys(exact)}
            degrees = self._index.degrees
            order = sorted(
                nodes,
                key=lambda n: (nodes[n].name != name, fold(nodes[n].name) != folded, -int(degrees[n]), nodes[n]),
            )
            found = list(dict.fromkeys(neighborhood.unified(nodes[n]) for n in order[:_MAX_BEARERS]))
            return Named(found[0], "exact", tuple(found[1:]))
        # Plain values are entities too, but not among the nodes of the index.
        stored = neighborhood.nodes([("entity", folded)] if folded else [])
        if stored:
            return Named(neighborhood.unified(stored[0]), "exact")
        near, _ = self._nearest_names(name)
        nodes_near = list(dict.fromkeys(neighborhood.unified(self._index.node(number)) for number in near))
        if len(nodes_near) == 1:
            return Named(nodes_near[0], "fuzzy")
        likely = [node.label for node in nodes_near[:_SUGGESTIONS]] or self._suggestions(name)
        shown = name if len(name) <= _COMPARED_CHARS else f"{name[:_COMPARED_CHARS]}…"
        raise UsageError(
            f"Nothing in the pack is called {shown!r}.",
            hint=f"Did you mean {', '.join(map(repr, likely))}?"
            if likely
            else "`wikigr graph link` finds the names that a text mentions.",
        )

    def _suggestions(self, name: str) -> list[str]:
        """Return the names most like ``name``, best first, ties by name."""
        from rapidfuzz import fuzz, process

        key = name_key(name)[:_COMPARED_CHARS]
        keys, numbers = self._spellings
        # A name of several words is near to each of them, and the shorter it is the nearer.
        found = process.extract(key, keys, scorer=fuzz.token_set_ratio, score_cutoff=_NEAR, limit=_COMPARED)
        best = sorted(
            (-likeness, -fuzz.ratio(key, near), self._index.node(numbers[place]).label)
            for near, likeness, place in found
        )
        return list(dict.fromkeys(label for *_, label in best))[:_SUGGESTIONS]

    def _exact(self, question: str, start: int, end: int, words: Sequence[str]) -> list[int]:
        if all(word.isdigit() or _POSSESSIVE.sub("", word) in FUNCTION_WORDS for word in words):
            return []
        if len(words) == 1 and (len(words[0]) < 2 or is_part_of_name(question, start, end)):
            return []
        found = self._index.named(" ".join(words))
        if not found and (stripped := _POSSESSIVE.sub("", words[-1])) != words[-1]:
            found = self._index.named(" ".join((*words[:-1], stripped)))
        if not found and (number := _unmarked(question[start:end], words)) is not None:
            # "Einsteins Nobel Prize", "Schrödingers cat".
            found = self._index.named(" ".join((*words[:number], f"{words[number][:-1]}'s", *words[number + 1 :])))
            if not found and number == len(words) - 1:
                found = self._index.named(" ".join((*words[:-1], words[-1][:-1])))
        return found

    def _shared(
        self,
        question: str,
        start: int,
        end: int,
        bearers: Sequence[int],
        method: Method,
        likeness: float,
        relevance: Mapping[str, float],
    ) -> list[Link]:
        """Return a link to each of ``bearers``; their scores add up to the name's."""
        if not bearers:
            return []
        nodes = [self._index.node(number) for number in dict.fromkeys(bearers)]
        lowest = min(relevance.values(), default=0.0)
        cosines = [relevance.get(node.key, lowest) if node.kind == "article" else lowest for node in nodes]
        order = sorted(range(len(nodes)), key=lambda i: (-cosines[i], nodes[i]))[:_MAX_BEARERS]
        weights = np.exp(_SHARPNESS * (np.array([cosines[i] for i in order]) - max(cosines)))
        text = question[start:end]
        score = likeness * self._rarity(text) ** 2
        return [
            Link(text, start, end, nodes[i], method, float(score * weight))
            for i, weight in zip(order, weights / weights.sum(), strict=True)
        ]

    def _rarity(self, name: str) -> float:
        """Return the rarity of the rarest content word of ``name``, as a share of the highest possible, in (0, 1]."""
        highest = self._lexical.rarity("")
        content = [word for word in _POSSESSIVE.sub("", name_key(name)).split() if word not in FUNCTION_WORDS]
        return max((self._lexical.rarity(stem) for word in content for stem in stems(word)), default=highest) / highest

    @cached_property
    def _spellings(self) -> tuple[list[str], list[int]]:
        """The key of every node's name, with and without its qualifier, and the node."""
        keys, numbers = [], []
        for number, name in enumerate(self._index.names):
            for key in dict.fromkeys((name_key(name), name_key(bare_name(name)))):
                keys.append(key)
                numbers.append(number)
        return keys, numbers

    @cached_property
    def _surnames(self) -> dict[str, list[int]]:
        """The nodes whose names of several words end in a word."""
        found: dict[str, list[int]] = {}
        for key, number in zip(*self._spellings, strict=True):
            *first, last = key.split() or [""]
            if first and len(last) >= _LETTERS_PER_TYPO and number not in found.get(last, ()):
                found.setdefault(last, []).append(number)
        return found

    def _nearest_aliases(self, name: str) -> tuple[list[int], float]:
        """Return the nodes of which ``name``, one word, is any name but for a typo: aliases are hashes."""
        key = _POSSESSIVE.sub("", name_key(name))
        if not _MIN_LETTERS <= len(key) <= _MAX_ALIAS_LENGTH or " " in key:
            return [], 0.0
        return self._index.named_any(_one_typo_away(key)), 1.0 - 1.0 / len(key)

    def _nearest_names(self, name: str, most: int = _MAX_TYPOS) -> tuple[list[int], float]:
        """Return the nodes whose names are fewest typos away from ``name``, and the likeness of the spelling."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        key = _POSSESSIVE.sub("", name_key(name))
        most = min(most, len(key) // _LETTERS_PER_TYPO)
        if not most:
            return [], 0.0
        keys, numbers = self._spellings
        within = process.extract(key, keys, scorer=OSA.distance, score_cutoff=most, limit=None)
        # Another number is another thing ("Apollo 11"), not a typo.
        digits = _digits(key)
        found = [hit for hit in within if _digits(hit[0]) == digits]
        if not found:
            return [], 0.0
        fewest = min(typos for _, typos, _ in found)
        if not fewest:
            # Spelled like this it was refused before, as a part of a longer name.
            return [], 0.0
        near = [numbers[place] for _, typos, place in found if typos == fewest]
        return near, 1.0 - fewest / len(key)


def nearest_articles(question: str, pack: Pack, limit: int) -> dict[str, float]:
    """Return the cosines of the ``limit`` articles nearest to ``question``, the nearest first, ties by title.

    An article is as near as its nearest section.
    """
    vector = pack.encoder.encode([question])[0]
    depth = limit * _SECTIONS_PER_ARTICLE
    while True:
        sections = pack.nearest(vector, depth)
        cosines: dict[str, float] = {}
        for hit in sections:
            cosines.setdefault(article_title(hit.section_id), hit.score)
        if len(cosines) >= limit or len(sections) < depth:
            best = sorted(cosines, key=lambda title: (-cosines[title], title))[:limit]
            return {title: cosines[title] for title in best}
        depth *= _SECTIONS_PER_ARTICLE


def link_by_meaning(question: str, cosines: Mapping[str, float]) -> list[Link]:
    """Return links from the whole of ``question`` to the articles of ``cosines``, in their order; none is below 0."""
    return [
        Link(question, 0, len(question), article(title), "semantic", cosine)
        for title, cosine in cosines.items()
        if cosine > 0.0
    ]


def _unmarked(written: str, words: Sequence[str]) -> int | None:
    """Return which of ``words`` may be a name in the possessive without its apostrophe: the first one, capitalized."""
    word = words[0]
    able = (
        len(word) > _LETTERS_PER_TYPO and word.endswith("s") and not _POSSESSIVE.search(word) and written[0].isupper()
    )
    return 0 if able else None


def _one_typo_away(key: str) -> list[str]:
    """Return what ``key`` may have been before one letter was left out, added, changed or swapped with the next."""
    near: dict[str, None] = {}
    for place in range(len(key) + 1):
        before, after = key[:place], key[place:]
        near.update((before + letter + after, None) for letter in _LETTERS)
        if not after or after[0].isdigit():
            continue
        near[before + after[1:]] = None
        near.update((before + letter + after[1:], None) for letter in _LETTERS)
        if len(after) > 1 and not after[1].isdigit():
            near[before + after[1] + after[0] + after[2:]] = None
    near.pop(key, None)
    return list(near)


def _digits(key: str) -> list[str]:
    return [character for character in key if character.isdigit()]


def _spans(count: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last of every run of at most ``_MAX_WORDS`` of ``count`` words, the longest first."""
    for length in range(min(count, _MAX_WORDS), 0, -1):
        for first in range(count - length + 1):
            yield first, first + length - 1


def _capitalized_runs(
    question: str, tokens: Sequence[tuple[str, int, int]], free: Sequence[bool]
) -> Iterator[tuple[int, int]]:
    """Yield the first and last token of runs of free capitalized words.

    The question's first word, which is capitalized whatever it is, makes a run of its own.
    """
    first: int | None = None
    for number in range(len(tokens) + 1):
        within = (
            number < len(tokens)
            and free[number]
            and question[tokens[number][1]].isupper()
            and tokens[number][0] not in FUNCTION_WORDS
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
