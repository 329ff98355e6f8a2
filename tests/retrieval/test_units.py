"""The units that a section is cut into: its rows, items, properties and code as they are, and sentences of prose."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.answer.evidence import evidence, from_markdown

from wikigr.index.candidate import Section
from wikigr.retrieval.units import units_of
from wikigr.sources.block import Block, Cell


def unit_texts(section: Section) -> list[str]:
    return [section.content[unit.start : unit.end] for unit in units_of(section)]


def test_rows_and_items_are_units_and_prose_is_cut_into_sentences() -> None:
    text = """The nursery sells trees. It opens in March.

| Tree | Age | Note |
|---|---|---|
| Pear | 3 years | No stakes. Water weekly. |
| Plum | 2 years | |

- Bring gloves. The thorns are long.
"""
    section = from_markdown("Nursery#0", text).section
    assert unit_texts(section) == [
        "The nursery sells trees.", "It opens in March.", "Tree: Pear | Age: 3 years | Note: No stakes. Water weekly.",
        "Tree: Plum | Age: 2 years", "Bring gloves. The thorns are long.",
    ]  # fmt: skip
    rows = [unit.row for unit in units_of(section) if unit.row is not None]
    assert [row.column_of(row.cells[-1]) for row in rows] == ["Note", "Age"]


def test_code_stands_with_the_sentence_that_introduces_it() -> None:
    text = "Tune the lute. Then run:\n\n```sh\nlute check\n\nlute play\n```\n\nIt hums.\n\n```sh\nlute stop\n```\n"
    section = from_markdown("Lute#0", text).section
    assert unit_texts(section) == ["Tune the lute.", "Then run:\n\nlute check\n\nlute play", "It hums.", "lute stop"]


def test_long_code_and_long_items_are_cut() -> None:
    stanzas = "\n\n".join(f"step({number})\n" + "work()\n" * 40 for number in range(8))
    section = from_markdown("Code#0", f"Run:\n\n```\n{stanzas}```\n").section
    assert [unit.split("\n")[0] for unit in unit_texts(section)] == [
        "Run:",
        *(f"step({number})" for number in range(8)),
    ]
    item = f"- {'The kiln cools. ' * 30}"
    assert set(unit_texts(from_markdown("Kiln#0", item).section)) == {"The kiln cools."}


def test_terms_stand_with_the_first_sentence_of_their_definition() -> None:
    text = "--dry\n--wet\n    Says how the clay is. There are two ways."
    blocks = [Block("term", 0, 5), Block("term", 6, 11), Block("paragraph", 16, len(text), depth=1)]
    section = evidence("Clay#0", text, 1.0, blocks=blocks).section
    assert unit_texts(section) == [text.partition(" There")[0], "There are two ways."]


def test_a_property_is_a_row_of_one_cell_and_a_task_begins_after_its_box() -> None:
    text = "phone: 555-0199\n\n- [ ] call Ada\nb. [x] write"
    blocks = [
        Block("property", 0, 15, label="phone", rows=((Cell(0, 7, 15),),)),
        Block("task", 17, 31, label="open"),
        Block("task", 32, 44, label="done"),
    ]
    found, task, lettered = units_of(evidence("Ada#0", text, 1.0, blocks=blocks).section)
    assert text[lettered.start : lettered.end] == "write"
    assert found.row is not None
    assert (found.row.columns, found.row.is_property) == (("phone",), True)
    assert text[task.start : task.end] == "call Ada"


@given(st.text(alphabet="ab.:|- \n1*[x]>`#", max_size=120))
def test_units_are_in_order_and_do_not_overlap(text: str) -> None:
    try:
        section = from_markdown("Any#0", text).section
    except ValueError:
        # A note without text has no section.
        return
    end = 0
    for unit in units_of(section):
        assert end <= unit.start < unit.end <= len(section.content)
        end = unit.end
