"""The picture of the articles around an article or along a path, and the same as a list."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from wikigr.graph.neighborhood import Edge, Neighborhood, Node
from wikigr.pack.open import Pack
from wikigr.server.web.addresses import address, article_address
from wikigr.server.web.article_page import ranks_of
from wikigr.server.web.picture import EdgeRole, Line, NodeRole, Picture, Spot, draw

_MAX_NODES = 26
# Neighbors of each article of a path in the picture.
_MAX_AROUND = 5
_MAX_EDGES = 1_000
# Lines from each neighbor to other neighbors: where everything is connected, they would hide the rest.
_MAX_BACKGROUND = 2
# Nodes on one page of the list below the picture.
_NEIGHBORS_PER_PAGE = 25

# The lengths of lines in the picture. The neighbors after the first ones are on an outer ring.
_INNER_COUNT = 9
_INNER, _OUTER, _STEP, _BACKGROUND = 1.0, 1.75, 1.6, 1.4

_ROLES: Mapping[str, EdgeRole] = {"LINKS_TO": "link", "MENTIONS": "mention", "HAS_ENTITY": "fact"}


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A neighbor in the list: how it is connected, its page (empty for an entity) and the picture around it."""

    name: str
    relations: tuple[str, ...]
    href: str
    picture_href: str


@dataclass(frozen=True, slots=True)
class PathStep:
    """An article of a path, and the edge that leads to it from the one before; empty if the graph has none."""

    name: str
    href: str
    relation: str


@dataclass(frozen=True, slots=True)
class NeighborhoodPage:
    """The neighborhood of an article or entity, or of the articles of a path.

    ``key`` is the title of the (first) article, or the id of the entity, whose ``href`` is empty.
    ``shown`` of the ``total`` neighbors are in the picture; ``cut`` says that there are more than ``total``. The list
    has those with the numbers ``first`` to ``last``.
    """

    pack: str
    name: str
    key: str
    href: str
    path: tuple[PathStep, ...]
    picture: Picture
    neighbors: tuple[Neighbor, ...]
    has_facts: bool
    shown: int
    total: int
    cut: bool
    page: int
    first: int
    last: int


def neighborhood_page(pack: Pack, centers: Sequence[Node], page: int = 1) -> NeighborhoodPage:
    """Return the page of one node of ``pack``, or of the nodes of a path in order, with a ``page`` of the list."""
    ranks = ranks_of(pack)
    expansion = Neighborhood(pack.graph).expand(centers, most=_MAX_EDGES)
    around: dict[Node, list[Edge]] = {}
    for center in centers:
        for edge in expansion.edges[center]:
            other = edge.other(center)
            if other not in centers:
                around.setdefault(other, []).append(edge)
    # Those that several articles of a path share come first, then facts, links and mentions.
    order = sorted(
        around,
        key=lambda node: (
            -len({edge.source if edge.target == node else edge.target for edge in around[node]}),
            min(_preference(edge) for edge in around[node]),
            *ranks.order(node.key),
            node,
        ),
    )
    room = _MAX_NODES - len(centers)
    shown = [*centers, *_balanced(centers, order, around, room)]
    page = max(1, min(page, -(-len(order) // _NEIGHBORS_PER_PAGE)))
    begin = (page - 1) * _NEIGHBORS_PER_PAGE
    listed = order[begin : begin + _NEIGHBORS_PER_PAGE]
    return NeighborhoodPage(
        pack=pack.label,
        name=centers[0].label,
        key=centers[0].key,
        href=_page_of(pack, centers[0]),
        path=tuple(_path(pack, centers, expansion.edges)) if len(centers) > 1 else (),
        picture=_draw(pack, centers, shown, around, expansion.edges),
        neighbors=tuple(_neighbor(pack, node, around[node]) for node in listed),
        has_facts=any(_ROLES.get(edge.relation, "fact") == "fact" for edges in around.values() for edge in edges),
        shown=len(shown) - len(centers),
        total=len(order),
        cut=bool(expansion.cut),
        page=page,
        first=begin + 1,
        last=begin + len(listed),
    )


def _preference(edge: Edge) -> int:
    return {"LINKS_TO": 1, "MENTIONS": 2}.get(edge.relation, 0)


def _balanced(
    centers: Sequence[Node], order: Sequence[Node], around: Mapping[Node, Sequence[Edge]], room: int
) -> list[Node]:
    """Return at most ``room`` neighbors in ``order``, about the same number for every center."""
    if len(centers) == 1:
        return list(order[:room])
    each = min(_MAX_AROUND, room // len(centers))
    chosen: dict[Node, None] = {}
    for center in centers:
        own = [node for node in order if any(center in (edge.source, edge.target) for edge in around[node])]
        chosen.update(dict.fromkeys(own[:each]))
    return [node for node in order if node in chosen][:room]


def _page_of(pack: Pack, node: Node) -> str:
    return article_address(pack.label, node.key) if node.kind == "article" else ""


def _picture_of(pack: Pack, node: Node) -> str:
    if node.kind == "article":
        return address("/neighborhood", {"pack": pack.label, "title": node.key})
    return address("/neighborhood", {"pack": pack.label, "entity": node.key})


def _neighbor(pack: Pack, node: Node, edges: Sequence[Edge]) -> Neighbor:
    ways = {edge.target == node for edge in edges if edge.relation == "LINKS_TO"}
    # An article mentions what it links to.
    told = [edge for edge in edges if edge.relation != "MENTIONS" or (edge.target == node) not in ways]
    words = ("linked both ways" if e.relation == "LINKS_TO" and len(ways) == 2 else _in_words(e, node) for e in told)
    return Neighbor(node.label, tuple(dict.fromkeys(words)), _page_of(pack, node), _picture_of(pack, node))


def _in_words(edge: Edge, node: Node) -> str:
    """Return how ``node`` is connected, as a note beside its name."""
    towards = edge.target == node
    if edge.relation == "LINKS_TO":
        return "linked from here" if towards else "links here"
    if edge.relation == "MENTIONS":
        return "mentioned here" if towards else "mentions this"
    if edge.relation == "HAS_ENTITY":
        return "entity of this article" if towards else "article about this"
    return f"{edge.relation} →" if towards else f"← {edge.relation}"


def _path(pack: Pack, centers: Sequence[Node], edges: Mapping[Node, Sequence[Edge]]) -> Iterator[PathStep]:
    yield PathStep(centers[0].label, _page_of(pack, centers[0]), "")
    for before, node in pairwise(centers):
        joining = sorted((edge for edge in edges[before] if edge.other(before) == node), key=_preference)
        relation = _in_words(joining[0], node) if joining else ""
        yield PathStep(node.label, _page_of(pack, node), relation)


def _draw(
    pack: Pack,
    centers: Sequence[Node],
    shown: Sequence[Node],
    around: Mapping[Node, Sequence[Edge]],
    edges: Mapping[Node, Sequence[Edge]],
) -> Picture:
    number = {node: n for n, node in enumerate(shown)}
    joined: dict[tuple[int, int], list[Edge]] = {}
    for node in shown[len(centers) :]:
        for edge in around[node]:
            joined.setdefault((number[edge.other(node)], number[node]), []).append(edge)
    for center in centers:
        for edge in edges[center]:
            other = number.get(edge.other(center), len(centers))
            if number[center] < other < len(centers):
                joined.setdefault((number[center], other), []).append(edge)
    steps = list(pairwise(range(len(centers))))
    lines = [Line(a, b, "background", length=_BACKGROUND) for a, b in _background(pack, shown, {*joined, *steps})]
    lines += [Line(a, b, "path", length=_STEP) for a, b in steps if (a, b) not in joined]
    for pair, found in joined.items():
        is_outer = len(centers) == 1 and pair[1] > _INNER_COUNT
        length = _STEP if pair in steps else _OUTER if is_outer else _INNER
        lines.append(_line(number, found, length, is_step=pair in steps))
    spots = [Spot(node.label, _role(node, n, len(centers)), _picture_of(pack, node)) for n, node in enumerate(shown)]
    return draw(spots, lines, path=len(centers))


def _line(number: Mapping[Node, int], edges: Sequence[Edge], length: float, *, is_step: bool) -> Line:
    """Return the line for all edges between two nodes; it is drawn like the most telling one of them."""
    best = min(edges, key=_preference)
    return Line(
        number[best.source],
        number[best.target],
        "path" if is_step else _ROLES.get(best.relation, "fact"),
        length=length,
        arrow="both" if any(edge.source == best.target for edge in edges) else "forward",
        name="; ".join(dict.fromkeys(map(str, edges))),
    )


def _background(pack: Pack, shown: Sequence[Node], drawn: Collection[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return pairs of shown nodes that are connected in any way, without those that are ``drawn`` already.

    Each node is connected with the first few of the others.
    """
    index = pack.graph_index
    numbers = {index.number_of_node(node): n for n, node in enumerate(shown)}
    found: set[tuple[int, int]] = set()
    for number, n in numbers.items():
        if number is None:
            continue
        neighbors = index.indices[index.indptr[number] : index.indptr[number + 1]].tolist()
        others = sorted(numbers[neighbor] for neighbor in neighbors if neighbor in numbers)
        pairs = ((min(n, other), max(n, other)) for other in others)
        found.update(islice((pair for pair in pairs if pair not in drawn), _MAX_BACKGROUND))
    return sorted(found)


def _role(node: Node, number: int, centers: int) -> NodeRole:
    if number < centers:
        return "center" if centers == 1 else "path"
    return node.kind
