"""Look up nodes by names that a user gave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from wikigr.errors import UsageError
from wikigr.graph.neighborhood import Neighborhood, Node
from wikigr.retrieval.name_matching import MAX_COMPARED_CHARS, MAX_SUGGESTIONS, NameMatcher
from wikigr.suggestions import did_you_mean
from wikigr.text import fold, scrub

_MAX_NODES = 10
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
        hint=did_you_mean(suggestions, "`wikigr graph link` finds the names that a text mentions."),
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
        found = list(dict.fromkeys(neighborhood.unified(nodes[n]) for n in order[:_MAX_NODES]))
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
