"""The structure of HTML as blocks: lists, tasks, tables in tables, code, definitions, quotations and captions."""

from __future__ import annotations

import pytest
from tests.sources.blocks import described, table

from wikigr.sources.article import SourceSection
from wikigr.sources.html.text import parse_html


def section(markup: str) -> SourceSection:
    (found,) = parse_html(f"<html><body>{markup}</body></html>").sections
    return found


@pytest.mark.parametrize(
    ("attributes", "labels"),
    [
        ("", ["1.", "2.", "3."]),
        ('type="a"', ["a.", "b.", "c."]),
        ('type="A" start="26"', ["Z.", "AA.", "AB."]),
        ('type="i" start="3"', ["iii.", "iv.", "v."]),
        ('type="I" start="1999"', ["MCMXCIX.", "MM.", "MMI."]),
        ("reversed", ["3.", "2.", "1."]),
        ('reversed start="9" type="a"', ["i.", "h.", "g."]),
        ('style="list-style-type: lower-roman"', ["i.", "ii.", "iii."]),
        ('class="upperalpha simple"', ["A.", "B.", "C."]),
        ('start="0"', ["0.", "1.", "2."]),
        ('type="a" start="-1"', ["-1.", "0.", "a."]),
    ],
)
def test_items_have_the_numbers_that_a_browser_shows(attributes: str, labels: list[str]) -> None:
    found = described(section(f"<p>Do:</p><ol {attributes}><li>x</li><li>y</li><li>z</li></ol>"))
    assert [label for _, kind, label, _ in found if kind == "item"] == labels
    assert found[1][3] == f"{labels[0]} x"


def test_the_value_of_an_item_counts_on() -> None:
    assert [x[2] for x in described(section('<ol type="a"><li>x<li value="5">y<li>z</ol>'))] == ["a.", "e.", "f."]


@pytest.mark.parametrize(
    ("item", "block"),
    [
        (
            '<li class="task-list-item"><input type="checkbox" checked disabled> Oil it',
            ("task", "done", "- [x] Oil it"),
        ),
        ('<li><label><input type="checkbox"> Oil it</label>', ("task", "open", "- [ ] Oil it")),
        ('<li> <p><input type="checkbox" checked=""> Oil it</p>', ("task", "done", "- [x] Oil it")),
        ('<li data-task="x">Oil it', ("task", "done", "- [x] Oil it")),
        ('<li>Oil <input type="checkbox"> it', ("item", "-", "- Oil it")),
    ],
)
def test_a_check_box_makes_a_task(item: str, block: tuple[str, str, str]) -> None:
    ((_, *found),) = described(section(f"<ul>{item}</li></ul>"))
    assert tuple(found) == block


CODE = "import tomllib\n\nx = 1"
NESTED = "<table><tr><td>Weight</td><td>3 kg</td></tr><tr><td>Power</td><td>5 W</td></tr></table>"


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (NESTED, "Weight: 3 kg; Power: 5 W"),
        (f"Small. {NESTED}", "Small. Weight: 3 kg; Power: 5 W"),
        (NESTED.replace("<td>Weight", "<th>Weight").replace("<td>Power", "<th>Power"), "Weight: 3 kg; Power: 5 W"),
        (
            "<table><tr><th>Size<th>Price<th>Left<tr><td>S<td>3<td>1<tr><td>M<td>4<td>2</table>",
            "Size: S, Price: 3, Left: 1; Size: M, Price: 4, Left: 2",
        ),
    ],
)
def test_a_table_in_a_cell_is_the_text_of_the_cell(inner: str, text: str) -> None:
    rows = f"<tr><td>P20</td><td>{inner}</td></tr><tr><td>P30</td><td>none</td></tr>"
    found = section(f"<table><thead><tr><th>Model</th><th>Data</th></tr></thead>{rows}</table>")
    assert table(found) == [("Model", "Data"), ("P20", text), ("P30", "none")]
    assert found.text.startswith(f"Model: P20 | Data: {text}")


def test_a_table_without_header_around_another_one_is_layout() -> None:
    found = section(f"<table><tr><td>Menu</td><td>{NESTED}</td></tr><tr><td>Foot</td><td>x</td></tr></table>")
    assert table(found) == [("", ""), ("Weight", "3 kg"), ("Power", "5 W")]


@pytest.mark.parametrize(
    ("markup", "language"),
    [
        ('<pre><code class="language-python">%s</code></pre>', "python"),
        ('<div class="highlight-python3 notranslate"><div class="highlight"><pre>%s</pre></div></div>', "python3"),
        ('<pre class="sourceCode python"><code class="sourceCode python">%s</code></pre>', "python"),
        ('<pre><code class="hljs python">%s</code></pre>', "python"),
        ('<pre data-lang="python">%s</pre>', "python"),
        ("<pre>%s</pre>", ""),
    ],
)  # fmt: skip
def test_code_is_one_block_with_its_language(markup: str, language: str) -> None:
    found = described(section(f"<p>So:</p>{markup % CODE}"))
    assert found == [(0, "paragraph", "", "So:"), (0, "code", language, CODE)]


@pytest.mark.parametrize("tag", ["code", "kbd", "samp", "tt"])
def test_a_paragraph_of_code_alone_is_code(tag: str) -> None:
    found = described(section(f"<p>Run:</p><p><{tag}>make all</{tag}></p><p><{tag}>a</{tag}> or b</p>"))
    assert [kind for _, kind, _, _ in found] == ["paragraph", "code", "paragraph"]


def test_definitions_quotations_and_captions() -> None:
    found = described(
        section(
            "<dl><dt>Sluice<dd>A gate.<dd>Of wood.</dl><blockquote><p>Mind the gate.</p></blockquote>"
            "<figure><img><figcaption>The gate.</figcaption></figure>"
            "<table><caption>Gates</caption><tr><th>A<th>B<tr><td>1<td>2</table>"
        )
    )
    assert [x[:2] for x in found] == [
        (0, "term"), (1, "paragraph"), (1, "paragraph"), (0, "quotation"), (0, "caption"), (0, "caption"), (0, "table"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ("<tr><td>Bag<td>Price<td>Left<tr><td>Oats<td>9<td>4<tr><td>Rye<td>8<td>2", "Bag: Oats | Price: 9 | Left: 4"),
        (
            "<tr><td rowspan=2>Bag<td colspan=2>2024<tr><td>Price<td>Left<tr><td>Oats<td>9<td>4<tr><td>Rye<td>8<td>2",
            "Bag: Oats | 2024 Price: 9 | 2024 Left: 4",
        ),
        (
            "<tr><td><td colspan=2>2024<td colspan=2>2025<tr><td>Bag<td>Price<td>Left<td>Price<td>Left"
            "<tr><td>Oats<td>9<td>4<td>7<td>3<tr><td>Rye<td>8<td>2<td>6<td>1",
            "Bag: Oats | 2024 Price: 9 | 2024 Left: 4 | 2025 Price: 7 | 2025 Left: 3",
        ),
    ],
)
def test_cells_that_are_not_marked_may_name_columns(rows: str, text: str) -> None:
    assert section(f"<table>{rows}</table>").text.split("\n")[0] == text
