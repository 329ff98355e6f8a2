"""The structure of reStructuredText as blocks: code, fields, options, definitions, lists, tables and notes."""

from __future__ import annotations

import pytest
from tests.sources.blocks import described, table

from wikigr.sources.documents import NoteRecord, NoteText
from wikigr.sources.rst.source import RstConverter


def note(text: str) -> NoteText:
    return RstConverter().parse_note(NoteRecord("a.rst", text.encode(), "A"))


def blocks(text: str) -> list[tuple[int, str, str, str]]:
    (section,) = note(text).sections
    return described(section)


@pytest.mark.parametrize(
    ("text", "block"),
    [
        (".. code-block:: python\n\n   import tomllib\n\n   x = 1", ("code", "python", "import tomllib\n\nx = 1")),
        (".. sourcecode:: sh\n   :linenos:\n\n   make", ("code", "sh", "make")),
        ("::\n\n   make\n\n   all", ("code", "", "make\n\nall")),
        (".. highlight:: c\n\n::\n\n   int x;", ("code", "c", "int x;")),
        (".. highlight:: c\n\n.. code:: sh\n\n   make", ("code", "sh", "make")),
        (".. prompt:: bash\n\n   make", ("code", "bash", "make")),
        (">>> 1 + 1\n2", ("code", "python", ">>> 1 + 1\n2")),
        (".. parsed-literal::\n\n   make *all*", ("code", "", "make all")),
        ("``make all``", ("code", "", "make all")),
    ],
)
def test_code_is_one_block_with_its_language(text: str, block: tuple[str, str, str]) -> None:
    assert blocks(f"So:\n\n{text}\n") == [(0, "paragraph", "", "So:"), (0, *block)]


def test_the_caption_of_code_is_kept() -> None:
    assert blocks(".. code-block:: c\n   :caption: main.c\n\n   int x;\n")[0] == (0, "caption", "", "main.c")


def test_fields_are_properties_and_at_the_top_facts() -> None:
    found = note(
        ":Author: Ann Lee\n:Next review: *May* 2027\n:orphan:\n\nText.\n\n.. function:: f(x)\n\n   :param x: How far.\n"
    )
    (section,) = found.sections
    assert [x[1:] for x in described(section) if x[1] == "property"] == [
        ("property", "Author", "Author: Ann Lee"),
        ("property", "Next review", "Next review: May 2027"),
        ("property", "param x", "param x: How far."),
    ]
    assert [(fact.relation, fact.object, fact.line) for fact in found.triples] == [
        ("Author", "Ann Lee", "Author: Ann Lee"),
        ("Next review", "May 2027", "Next review: May 2027"),
    ]


def test_definitions_options_lists_and_quotations() -> None:
    text = "sluice\n   A gate.\n\n-v, --verbose  Be loud.\n\n(c) Oats\n(d) Rye\n\niv. Wheat\n\nSaid:\n\n   Mind it.\n"
    assert blocks(text) == [
        (0, "term", "", "sluice"), (1, "paragraph", "", "A gate."), (0, "term", "", "-v, --verbose"),
        (1, "paragraph", "", "Be loud."), (0, "item", "c.", "c. Oats"), (0, "item", "d.", "d. Rye"),
        (0, "item", "iv.", "iv. Wheat"), (0, "paragraph", "", "Said:"), (0, "quotation", "", "Mind it."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        ".. table:: Fees\n\n   ===== =====\n   Bag   Price\n   ===== =====\n   Oats  9\n   ===== =====\n",
        ".. list-table:: Fees\n   :header-rows: 1\n\n   * - Bag\n     - Price\n   * - Oats\n     - 9\n",
        ".. csv-table:: Fees\n   :header: Bag, Price\n\n   Oats, 9\n",
    ],
)
def test_tables_have_a_caption_columns_and_cells(text: str) -> None:
    (section,) = note(text).sections
    assert described(section)[0] == (0, "caption", "", "Fees")
    assert table(section) == [("Bag", "Price"), ("Oats", "9")]


def test_notes_have_their_marks() -> None:
    found = blocks("Text [1]_ and [#x]_, see [Lee]_.\n\n.. [1] One.\n\n   More.\n.. [#x] Two.\n.. [Lee] Ann Lee.\n")
    assert found[0] == (0, "paragraph", "", "Text and, see [Lee].")
    assert [(depth, kind, text) for depth, kind, _, text in found[1:]] == [
        (0, "footnote", "One."), (1, "paragraph", "More."), (0, "footnote", "Two."), (0, "footnote", "Ann Lee."),
    ]  # fmt: skip
    assert [label for _, kind, label, _ in found if kind == "footnote"] == ["1", "", "Lee"]
