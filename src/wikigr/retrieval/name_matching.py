"""Match names with the titles, aliases and entity names of a pack, exactly or with typos."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from wikigr.errors import UsageError
from wikigr.graph.graph_index import GraphIndex
from wikigr.graph.neighborhood import Neighborhood, Node
from wikigr.graph.spellings import keys_of
from wikigr.names import name_key, strip_possessive
from wikigr.suggestions import did_you_mean, one_typo_away
from wikigr.text import fold, scrub

# One typo is tolerated per this many letters, up to the maximum.
LETTERS_PER_TYPO = 5
_MAX_TYPOS = 2
# Lengths of names that are compared with aliases.
_MIN_ALIAS_LENGTH = 6
_MAX_ALIAS_LENGTH = 20
# Similarity of a surname to the full name.
_SURNAME_LIKENESS = 0.5

# Suggestions for an unknown name.
MAX_SUGGESTIONS = 3
# Names can be plain values of a megabyte; only this many characters are compared.
MAX_COMPARED_CHARS = 200


class NameMatcher:
    """Finds the nodes of a graph index by name. Nodes are given as node numbers."""

    def __init__(self, index: GraphIndex) -> None:
        self.index = index

    def named(self, name: str) -> list[int]:
        """Return the nodes whose title, alias or name is ``name``, ignoring case, underscores and punctuation."""
        return self.index.named(fold(name)) or self.index.named(name_key(name))

    def misspelled(self, name: str, *, aliases: bool) -> tuple[list[int], float]:
        """Return the nodes that the capitalized ``name`` may refer to, and the similarity of the spelling.

        The name may contain typos or be the surname of a single node. Typos in aliases cost hundreds of lookups and
        are considered only with ``aliases``.
        """
        near, likeness = self.nearest_names(name)
        if not near and aliases:
            near, likeness = self._nearest_aliases(name)
        if not near:
            near, likeness = self._with_surname(strip_possessive(name_key(name))), _SURNAME_LIKENESS
        return (near, likeness) if len(near) == 1 or likeness != _SURNAME_LIKENESS else ([], 0.0)

    def nearest_names(self, name: str, max_typos: int = _MAX_TYPOS) -> tuple[list[int], float]:
        """Return the nodes whose names are the fewest typos away from ``name``, and the similarity of the spelling.

        The distance is optimal string alignment. One typo is allowed per five letters, at most ``max_typos``.
        """
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        key = strip_possessive(name_key(name))
        max_typos = min(max_typos, len(key) // LETTERS_PER_TYPO)
        if not max_typos:
            return [], 0.0
        keys, numbers = self._spelled(self.index.spellings.within(key, max_typos))
        within = process.extract(key, keys, scorer=OSA.distance, score_cutoff=max_typos, limit=None)
        # A different number is a different thing ("Apollo 11"), not a typo.
        digits = _digits(key)
        found = [hit for hit in within if _digits(hit[0]) == digits]
        if not found:
            return [], 0.0
        fewest = min(typos for _, typos, _ in found)
        if not fewest:
            # The exact match was rejected before, as part of a longer name.
            return [], 0.0
        near = [numbers[place] for _, typos, place in found if typos == fewest]
        return near, 1.0 - fewest / len(key)

    def suggest(self, name: str) -> list[str]:
        """Return the labels of the names most similar to ``name``, best first, ties by label."""
        from rapidfuzz import fuzz, process

        key = name_key(name)[:MAX_COMPARED_CHARS]
        keys, numbers = self._spelled(range(len(self.index)))
        # A token set matches a name of several words by any of them; the plain ratio then prefers short names.
        found = process.extract(key, keys, scorer=fuzz.token_set_ratio, score_cutoff=70.0, limit=100)
        if not found:
            # A misspelled part of a longer name, such as a surname.
            longer = {place: each for place, each in enumerate(keys) if len(each) > len(key)}
            found = process.extract(key, longer, scorer=fuzz.partial_ratio, score_cutoff=80.0)
        best = sorted(
            (-similarity, -fuzz.ratio(key, near), self.index.node(numbers[place]).label)
            for near, similarity, place in found
        )
        return list(dict.fromkeys(label for *_, label in best))[:MAX_SUGGESTIONS]

    def _nearest_aliases(self, name: str) -> tuple[list[int], float]:
        """Return the nodes with an alias one typo away from ``name``, a single word.

        The index stores hashes of aliases, so every possible spelling is looked up.
        """
        key = strip_possessive(name_key(name))
        if not _MIN_ALIAS_LENGTH <= len(key) <= _MAX_ALIAS_LENGTH or " " in key:
            return [], 0.0
        return self.index.named_any(one_typo_away(key)), 1.0 - 1.0 / len(key)

    def _spelled(self, nodes: Iterable[int]) -> tuple[list[str], list[int]]:
        """Return the key of every name of ``nodes``, with and without its qualifier, and the node that has it."""
        keys, numbers = [], []
        for number in nodes:
            for key in keys_of(self.index.name_of(number)):
                keys.append(key)
                numbers.append(number)
        return keys, numbers

    def _with_surname(self, surname: str) -> list[int]:
        """Return the nodes whose names have several words, the last of which is ``surname``."""
        if len(surname) < LETTERS_PER_TYPO:
            return []
        keys, numbers = self._spelled(self.index.spellings.ending_with(surname))
        ending = (number for key, number in zip(keys, numbers, strict=True) if key.split()[1:][-1:] == [surname])
        return list(dict.fromkeys(ending))


def _digits(key: str) -> list[str]:
    return [character for character in key if character.isdigit()]


# A note on an ambiguous name lists this many of the other nodes.
_MAX_OTHERS = 3


@dataclass(frozen=True, slots=True)
class NodeMatch:
    """The node that a name was resolved to, and ``others`` with the same name."""

    node: Node
    method: Literal["exact", "fuzzy"]
    others: tuple[Node, ...] = ()


def find_node(name: str, matcher: NameMatcher, neighborhood: Neighborhood) -> NodeMatch:
    """Return the node that the whole of ``name`` refers to.

    Matches titles, aliases and names, ignoring case and underscores. Of several nodes, a node with exactly this name
    and no qualifier wins, then the one with the most neighbors. If none match, a single name within two typos is
    accepted. Raises ``UsageError`` with the most similar names if there is none.
    """
    exact = find_exact_node(name, matcher, neighborhood)
    if exact is not None:
        return exact
    near, _ = matcher.nearest_names(name)
    candidates = list(dict.fromkeys(neighborhood.unified(matcher.index.node(number)) for number in near))
    if len(candidates) == 1:
        return NodeMatch(candidates[0], "fuzzy")
    suggestions = [node.label for node in candidates[:MAX_SUGGESTIONS]] or matcher.suggest(name)
    shown = name if len(name) <= MAX_COMPARED_CHARS else f"{name[:MAX_COMPARED_CHARS]}…"
    raise UsageError(
        f"Nothing in the pack is called {shown!r}.",
        hint=did_you_mean(suggestions, "`wikigr search` finds the articles that mention something."),
    )


def find_exact_node(name: str, matcher: NameMatcher, neighborhood: Neighborhood) -> NodeMatch | None:
    """Return the node that ``find_node`` finds without a correction, or ``None``."""
    folded = fold(name)
    exact = matcher.named(name)
    if exact:
        index = matcher.index
        nodes = {number: index.node(number) for number in dict.fromkeys(exact)}
        order = sorted(
            nodes,
            key=lambda n: (
                nodes[n].name != name,
                fold(nodes[n].name) != folded,
                -int(index.indptr[n + 1] - index.indptr[n]),
                nodes[n],
            ),
        )
        found = list(dict.fromkeys(neighborhood.unified(nodes[n]) for n in order[:10]))
        return NodeMatch(found[0], "exact", tuple(found[1:]))
    # Plain values are entities, but the index does not contain them.
    stored = neighborhood.nodes([("entity", folded)] if folded else [])
    if stored:
        return NodeMatch(neighborhood.unified(stored[0]), "exact")
    return None


def find_nodes(
    names: Sequence[str], matcher: NameMatcher, neighborhood: Neighborhood, note: Callable[[str], None]
) -> list[Node]:
    """Return the node of each name; ``note`` is called with a message about a corrected or an ambiguous name."""
    nodes = []
    for name in map(scrub, names):
        found = find_node(name, matcher, neighborhood)
        nodes.append(found.node)
        label = found.node.label
        if found.method == "fuzzy":
            note(f"Nothing is named {name!r}; using {label!r} instead.")
            continue
        # An exact spelling is ambiguous only among nodes with the same spelling.
        is_exact = " ".join(name.split()) == label
        others = [other for other in found.others if not is_exact or other.label == label]
        if others:
            listed = ", ".join(repr(other.label) for other in others[:_MAX_OTHERS])
            more = f" and {len(others) - _MAX_OTHERS} more" if len(others) > _MAX_OTHERS else ""
            note(f"Using {label!r} for {name!r}; others with that name: {listed}{more}.")
    return nodes
