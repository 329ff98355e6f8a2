"""The picture of a graph: nothing overlaps, the path is straight, and it is always the same."""

from __future__ import annotations

from itertools import combinations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from wikigr.server.web.picture import DrawnEdge, Line, Spot, draw, label_lines, lay_out


@st.composite
def graphs(draw_: st.DrawFn) -> tuple[int, list[DrawnEdge]]:
    count = draw_(st.integers(1, 26))
    ends = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1), st.sampled_from([1.0, 1.75]))
    return count, [DrawnEdge(a, b, length) for a, b, length in draw_(st.lists(ends, max_size=60)) if a != b]


STAR = [DrawnEdge(0, n, 1.0) for n in range(1, 26)]
EVERY = [DrawnEdge(a, b, 1.0) for a, b in combinations(range(26), 2)]


@given(graphs())
@example((26, STAR))
@example((26, EVERY))
@settings(max_examples=20)
def test_labels_do_not_overlap(graph: tuple[int, list[DrawnEdge]]) -> None:
    count, links = graph
    sizes = [(60.0 + 11 * (n % 7), 40.0 + 16 * (n % 2)) for n in range(count)]
    points = lay_out(sizes, links, unit=125.0, path=1)
    for a, b in combinations(range(count), 2):
        apart = abs(points[a] - points[b])
        least = [(sizes[a][i] + sizes[b][i]) / 2 for i in (0, 1)]
        assert apart[0] > least[0] - 2 or apart[1] > least[1] - 2
    assert (points == lay_out(sizes, links, unit=125.0, path=1)).all()


def test_a_path_goes_from_left_to_right() -> None:
    spots = [Spot(name, "path", f"/{name}") for name in "abc"] + [Spot("d", "article", "/d")]
    lines = [Line(1, 0, "path", 1.0, "forward"), Line(1, 2, "path", 1.0), Line(3, 1, "link", 1.0)]
    picture = draw(spots, lines, path=3)
    first, second, third = picture.nodes[:3]
    assert first.x < second.x < third.x and first.y == second.y == third.y
    # An arrow ends outside the dot that it points to.
    arrow = picture.edges[0]
    assert arrow.x2 - first.x > first.r and second.x - arrow.x1 > second.r


def test_everything_is_inside_the_picture() -> None:
    spots = [Spot(f"Node {n}", "center" if n == 0 else "article", "/") for n in range(26)]
    picture = draw(spots, [Line(0, n, "link", 1.0) for n in range(1, 26)], path=1)
    for node in picture.nodes:
        assert picture.x < node.x - node.r and node.x + node.r < picture.x + picture.width
        assert picture.y < node.y - node.r and max(y for y, _ in node.lines) < picture.y + picture.height


def test_labels_have_at_most_two_short_lines() -> None:
    assert label_lines("Spin") == ("Spin",)
    assert label_lines("Copenhagen interpretation") == ("Copenhagen", "interpretation")
    assert label_lines("The history of the interpretation of dreams") == ("The history of the", "interpretation of…")
    assert label_lines("Pneumonoultramicroscopicsilicovolcanoconiosis") == ("Pneumonoultramicr…",)
    assert label_lines("x" * 1_000_000) == ("x" * 17 + "…",)
