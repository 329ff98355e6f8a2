"""Stored text as blocks of runs, in which quotations, short answers, citations and links are told apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wikigr.documents.blocks import (
    Mark,
    Quote,
    join_blocks,
    region_of,
    show_blocks,
    show_written,
    shown_rows,
)
from wikigr.documents.shapes import BlockShape, RunShape
from wikigr.sources.block import Block, Cell, fill_paragraphs


def table(rows: int, intro: str = "Prices:") -> tuple[str, tuple[Block, ...]]:
    """Return the text of a table below a paragraph, and its blocks."""
    text, cells = f"{intro}\n\n", []
    start = len(text)
    for number in range(rows):
        row = []
        for column, (name, value) in enumerate((("Size", str(number)), ("Price", f"{number}.50"))):
            text += f"{' | ' * column}{name}: {value}"
            row.append(Cell(column, len(text) - len(value), len(text)))
        cells.append(tuple(row))
        text += "\n"
    made = Block("table", start, len(text) - 1, columns=("Size", "Price"), rows=tuple(cells))
    return text, fill_paragraphs(text, [made])


def runs_of(block: BlockShape) -> list[RunShape]:
    return [*block["runs"], *(run for row in block["rows"] for cell in row["cells"] for run in cell)]


def words(block: BlockShape) -> list[tuple[str, str]]:
    return [(run["role"], run["text"]) for run in runs_of(block)]


def test_a_quotation_in_its_surroundings_and_the_short_answer_in_it() -> None:
    text = "He taught. Born in  Kiel in 1858. He wrote."
    marks = [Mark(0, 11, "around"), Mark(33, 43, "around"), Mark(11, 33, "quoted"), Mark(20, 24, "short")]
    (block,) = show_blocks(text, fill_paragraphs(text, ()), marks=marks, quote=Quote(11, 33, 7))
    assert words(block) == [
        ("around", "He taught. "), ("quoted", "Born in "), ("short", "Kiel"), ("quoted", " in 1858."),
        ("citation", " [7]"), ("around", " He wrote."),
    ]  # fmt: skip
    assert [run["n"] for run in block["runs"]] == [None, None, None, None, 7, None]


def test_markers_boxes_and_names_are_labels_and_code_is_as_it_is_stored() -> None:
    text = "1. Wash\n   - cold\n- [x] Iron\nborn: 3 May\n\nif  x[1]:\n\n    y()"
    places = {part: text.index(part) for part in ("1. W", "- c", "- [", "born", "if")}
    blocks = [
        Block("item", places["1. W"], 7, 0, "1."),
        Block("item", places["- c"], places["- c"] + 6, 1, "-"),
        Block("task", places["- ["], places["- ["] + 10, 0, "done"),
        Block("property", places["born"], places["born"] + 11, 0, "born", (), ((Cell(0, places["born"] + 6, 40),),)),
        Block("code", places["if"], len(text), 0, "python"),
    ]
    shown = show_blocks(text, blocks, quote=Quote(places["if"], len(text), 1))
    assert [(block["kind"], block["depth"], block["label"]) for block in shown] == [
        ("item", 0, "1."), ("item", 1, "-"), ("task", 0, "done"), ("property", 0, "born"), ("code", 0, "python"),
    ]  # fmt: skip
    assert [words(block) for block in shown] == [
        [("", said)] for said in ("Wash", "cold", "Iron", "3 May", "if  x[1]:\n\n    y()")
    ]
    assert [block["n"] for block in shown] == [None, None, None, None, 1]
    # The subject of a fact is part of what precedes its value.
    (fact,) = show_blocks("Ada — born: 1815.", [Block("property", 0, 17, 0, "born", (), ((Cell(0, 12, 16),),))])
    assert (fact["label"], words(fact)) == ("Ada — born", [("", "1815.")])
    # What stands deeper alone does not.
    assert show_blocks(text, blocks, places["- c"], places["- c"] + 6)[0]["depth"] == 0


def test_the_quoted_row_of_a_table_is_marked_and_the_rows_around_it_are_shown() -> None:
    text, blocks = table(30)
    cell = blocks[1].rows[20][1]
    place = region_of(blocks, blocks[1].rows[20][0].start, cell.end)
    assert place == (blocks[1].start, blocks[1].end)
    quote = Quote(blocks[1].rows[20][0].start, cell.end, 1)
    (shown,) = show_blocks(text, blocks, *place, marks=[Mark(cell.start, cell.end, "short")], quote=quote)
    assert (
        [n for n, row in enumerate(shown["rows"]) if row["marked"]]
        == [20]
        == [n for n, row in enumerate(shown["rows"]) if row["n"] == 1]
    )
    assert shown["rows"][20]["cells"][1] == [{"text": "20.50", "role": "short", "n": None}]
    assert shown_rows(shown) == [18, 19, 20, 21, 22]
    # Nothing is marked in a table that is quoted whole.
    introduction, whole = show_blocks(text, blocks, quote=Quote(0, len(text), 1))
    assert (introduction["n"], whole["n"], any(row["marked"] for row in whole["rows"])) == (None, 1, False)
    assert shown_rows(whole) == list(range(10))
    few, few_blocks = table(3)
    assert shown_rows(show_blocks(few, few_blocks)[1]) == [0, 1, 2]
    assert len(shown_rows(show_blocks(*table(11))[1])) == 11, "the line about one more row takes its place"
    assert len(shown_rows(show_blocks(*table(12))[1])) == 10


def test_cells_that_are_empty_or_span_columns_have_their_places() -> None:
    text = "a b c d e"
    rows = (
        (Cell(0, 0, 1), Cell(2, 2, 3)),
        (Cell(0, 4, 5), Cell(1, 4, 5), Cell(2, 4, 5)),
        (Cell(1, 6, 7), Cell(1, 8, 9), Cell(2, 8, 9)),
    )
    (shown,) = show_blocks(text, [Block("table", 0, 9, columns=("", "", ""), rows=rows)])
    cells = [["".join(run["text"] for run in cell) for cell in row["cells"]] for row in shown["rows"]]
    # A remark across the table stands in its first column.
    assert cells == [["a", "", "b"], ["c", "", ""], ["", "d; e", "e"]]


def test_sentences_and_rows_of_several_citations_go_on_in_one_block() -> None:
    text, blocks = table(5)
    found: list[BlockShape] = []
    for number, row in enumerate((1, 3), start=1):
        start, end = blocks[1].rows[row][0].start, blocks[1].rows[row][1].end
        found = join_blocks(found, show_blocks(text, blocks, start, end, quote=Quote(start, end, number)))
    (joined,) = found
    assert [(row["n"], row["cells"][0][0]["text"]) for row in joined["rows"]] == [(1, "1"), (2, "3")]
    one, two = show_written("It is. [1]", 2), show_written("It was. [2]", 2)
    assert [text for _, text in words(join_blocks(one, two)[0])] == ["It is.", " [1]", " ", "It was.", " [2]"]


def test_numbers_in_code_are_no_citations_and_a_reply_is_read_as_markdown() -> None:
    code, intro = "```python\nstudent[2]  # [1]\n```", "It *is* [1][2] [unverified] [3]:"
    reply = f"{intro}\n\n- one [2]\n\n{code}\n\n| a | c |\n| - | - |\n| b [1] | d |"
    shown = show_written(reply, 2, is_markdown=True)
    assert [block["kind"] for block in shown] == ["paragraph", "item", "code", "table"]
    assert words(shown[0]) == [
        ("", "It is"), ("citation", " [1]"), ("citation", "[2]"), ("unverified", " [unverified]"), ("", " [3]:"),
    ]  # fmt: skip
    assert words(shown[2]) == [("", "student[2]  # [1]")] and shown[2]["label"] == "python"
    assert words(shown[3]) == [("", "b"), ("citation", " [1]"), ("", "d")]
    # A link is as it is written, and has no number.
    assert words(show_written("See [1](http://a.b).", 1, is_markdown=True)[0])[1:] == [
        ("citation", " [1]"), ("", "(http://a.b)."),
    ]  # fmt: skip


@given(st.text(alphabet="ab \n[1].", max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_marks_change_no_text_and_no_stored_text_is_a_citation(text: str, start: int, end: int) -> None:
    blocks = fill_paragraphs(text, ())
    marks = [Mark(min(start, end), max(start, end), "quoted")]
    plain, marked = show_blocks(text, blocks), show_blocks(text, blocks, marks=marks)
    assert ["".join(t for _, t in words(b)) for b in plain] == ["".join(t for _, t in words(b)) for b in marked]
    assert " ".join(t for block in plain for _, t in words(block)).split() == text.split()
    assert all(run["n"] is None for block in marked for run in runs_of(block))
