"""Stored text as paragraphs, lists and tables, with quotations and links in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wikigr.documents.text_blocks import Block, Mark, Run, divide, runs
from wikigr.server.web.article_page import find_names


def _text(blocks: tuple[Block, ...]) -> str:
    return "".join(run.text for block in blocks for line in block.lines for cell in line for run in cell)


def test_paragraphs_lists_tables_and_code() -> None:
    blocks = divide("One\ntwo.\n\n- a\n- b\n\n1. c\n2. d\n\nyear | event\n1925 | spin\n\nif x:\n    y()")
    assert [block.kind for block in blocks] == ["text", "bullets", "numbers", "table", "code"]
    assert [cell[0].text for line in blocks[3].lines for cell in line] == ["year", "event", "1925", "spin"]
    assert [line[0][0].text for line in blocks[1].lines] == ["a", "b"]
    # The indentation of code stays.
    assert [line[0][0].text for line in blocks[4].lines] == ["if x:", "    y()"]


def test_a_list_keeps_its_numbers_and_what_is_indented_in_it() -> None:
    later, nested = divide("3. c\n4. d\n\n1. e\n   - f\n2. g")
    assert (later.kind, later.first) == ("numbers", 3)
    assert (nested.kind, nested.first) == ("lines", 1)
    assert [line[0][0].text for line in nested.lines] == ["1. e", "   - f", "2. g"]


def test_a_quotation_and_the_short_answer_in_it() -> None:
    text = "Born in Kiel in 1858."
    assert runs(text, [Mark(0, 21, "quote"), Mark(8, 12, "short")]) == (
        Run("Born in ", "quote", begins=True),
        Run("Kiel", "short", begins=True),
        Run(" in 1858.", "quote"),
    )


def test_a_quotation_over_several_blocks_begins_once() -> None:
    text = "Before.\n\n- The first.\n- The second.\n\nAfter."
    marked = [run for block in divide(text, [Mark(9, 36, "quote")]) for line in block.lines for run in line[0]]
    assert [(run.text, run.mark, run.begins) for run in marked] == [
        ("Before.", "", False),
        # The dash before it is a bullet.
        ("The first.", "quote", True),
        ("The second.", "quote", False),
        ("After.", "", False),
    ]


def test_a_link_that_a_quotation_begins_in_is_cut_but_complete() -> None:
    text = "with Max Born in Göttingen"
    found = runs(text, [Mark(9, 26, "quote")], find_names(text, {"Max Born": "/born"}))
    assert [(run.text, run.mark, run.target) for run in found] == [
        ("with ", "", ""),
        ("Max ", "", "/born"),
        ("Born", "quote", "/born"),
        (" in Göttingen", "quote", ""),
    ]


def test_names_are_whole_words_the_longest_first_and_linked_once() -> None:
    text = "Spinning spin: Spin and Spin waves, then Spin again. C++ and C."
    titles = {"Spin": "/spin", "Spin waves": "/waves", "C++": "/cpp"}
    found = {text[start:end]: (start, target) for (start, end), target in find_names(text, titles).items()}
    assert found == {"Spin": (15, "/spin"), "Spin waves": (24, "/waves"), "C++": (53, "/cpp")}


@given(st.text(alphabet="ab \n-|1.", max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_marks_change_no_text_and_nothing_is_added(text: str, start: int, end: int) -> None:
    blocks = divide(text, [Mark(min(start, end), max(start, end), "quote")])
    assert _text(blocks) == _text(divide(text))
    assert all(run.text for block in blocks for line in block.lines for cell in line for run in cell if run.mark)
    # What is left out are line breaks and the marks of lists and cells.
    rest = iter(text)
    assert all(character in rest for character in _text(blocks))
