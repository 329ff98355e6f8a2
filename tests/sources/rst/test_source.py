"""Folders of reStructuredText: text, titles, links, the markup of Sphinx, errors and hostile documents."""

from __future__ import annotations

from pathlib import Path

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from tests.sources.markdown.notes import write
from tests.sources.reading import read_source
from tests.sources.test_hostile_input import limit

from wikigr.errors import RecordError
from wikigr.sources.article import Skipped, SourceArticle, SourceItem
from wikigr.sources.documents import NoteRecord
from wikigr.sources.folder import FolderSource
from wikigr.sources.rst.scan import plain_inline
from wikigr.sources.rst.source import MAX_CHARACTERS


def parse(text: str | bytes) -> SourceItem:
    data = text.encode() if isinstance(text, str) else text
    (item,) = FolderSource(Path(), "rst").parse(NoteRecord("dir/note.rst", data, "Note"))
    return item


def sections(text: str) -> list[tuple[tuple[str, ...], str]]:
    item = parse(text)
    assert isinstance(item, SourceArticle), item
    return [(section.heading_path, section.text) for section in item.sections]


def lead(text: str) -> str:
    ((path, found),) = sections(text)
    assert path == ()
    return found


def read(root: Path) -> dict[str, SourceArticle]:
    items, _ = read_source(FolderSource(root, "rst"))
    return {item.source_id: item for item in items if isinstance(item, SourceArticle)}


def test_a_heading_has_the_id_of_docutils_unless_that_is_only_a_number() -> None:
    headings = ["Food & water: 2.0", "Ärger", "Usage", "2.1 Numbers", "Usage", "日本", "The *best* |x| ``code``"]
    text = "\n\n".join(f"{heading}\n{'=' * 40}\n\nText." for heading in headings)
    found = parse(f"Note\n####\n\nLead.\n\n{text}\n\n.. |x| replace:: big\n")
    assert isinstance(found, SourceArticle)
    ids = [section["ids"][0] for section in publish_doctree(text).findall(nodes.section)]
    assert [section.anchor for section in found.sections] == ["", *ids[:4], "", "", "the-best-x-code"]


def test_a_repeated_heading_has_the_id_of_the_label_before_it() -> None:
    before = [
        "", ".. _Lab two:", ".. _far:\n\n.. _near:\n\n.. A comment.", ".. _lost:\n\nText.",
        ".. _site: https://site.example", ".. _日本:",
    ]  # fmt: skip
    found = parse("Note\n####\n\nLead.\n\n" + "\n\n".join(f"{label}\n\nUse\n===\n\nText." for label in before))
    assert isinstance(found, SourceArticle)
    assert [section.anchor for section in found.sections] == ["", "use", "lab-two", "near", "", "", ""]


def test_adornments_make_sections_of_up_to_six_levels() -> None:
    text = "====\nNote\n====\n\nlead\n\nOne\n===\nfirst\n\nDeep\n----\ndeep\n\nTwo\n===\nsecond\n"
    assert sections(text) == [((), "lead"), (("One",), "first"), (("One", "Deep"), "deep"), (("Two",), "second")]
    text = "\n\n".join(f"{name}\n{mark * 3}\n\ntext" for name, mark in zip("ABCDEFGH", "=-~^+*'#", strict=True))
    assert [path for path, _ in sections(text)][-3:] == [tuple("BCDEF"), tuple("BCDEG"), tuple("BCDEH")]


def test_blocks_in_a_cell_stay_on_its_line_with_their_marks() -> None:
    cells = "   * - Name\n     - Parts\n   * - 3. x\n       4. y\n     - * a\n       * b\n\n       ::\n\n         c d"
    table = f".. list-table::\n   :header-rows: 1\n\n{cells}"
    verse = "| one\n|   two\n| three"
    assert lead(f"{table}\n\n{verse}") == "Name: 3. x 4. y | Parts: - a - b c d\n\none\ntwo\nthree"


def test_inline_markup_and_roles_become_their_text() -> None:
    text = (
        r"*a* **b** ``c  d`` `e <http://e.org>`_ :func:`~os.path.join` :meth:`.run` :class:`!Foo` :pep:`8` "
        r":kbd:`Ctrl+C` :unknown:`x <y>` `plain` H\ :sub:`2`\ O m\ :sup:`2` :math:`a_1` |me| |gone| dangling_ [1]_."
        "\n\n.. |me| replace:: my *self*\n.. [1] The footnote.\n.. A comment.\n"
    )
    assert lead(text) == (
        "a b c d e join run Foo PEP 8 Ctrl+C x plain H2O m^2 $a_1$ my self gone dangling.\n\nThe footnote."
    )


def test_blocks_keep_their_structure() -> None:
    text = """\
Code::

    def f(a):
        return a  # *b*

.. code-block:: python
   :linenos:

   x = 1

- one
- two

  #. deep

Term
   What it is.

-v, --verbose  Be loud.

=====  ====
Name   Age
=====  ====
Ann    5
=====  ====

.. note:: Careful.

>>> 1 + 1
2
"""
    assert lead(text) == (
        "Code:\n\ndef f(a):\n    return a  # *b*\n\nx = 1\n\n- one\n- two\n\n  1. deep\n\nTerm\n    What it is.\n\n"
        "-v, --verbose\n    Be loud.\n\nName: Ann | Age: 5\n\nNote\nCareful.\n\n>>> 1 + 1\n2"
    )


def test_descriptions_of_sphinx_become_sections_if_they_are_long() -> None:
    long = "It walks the tree from the top and yields a tuple for every folder that it finds below the top. " * 3
    text = f"""\
.. py:function:: os.walk(top, *, follow=False) -> Iterator

   {long}

   .. versionadded:: 3.5
   .. versionchanged:: 3.6
      Accepts paths.

.. class:: Walker(top)

   Short.

.. option:: -q, --quiet

   Print nothing.

.. class:: style

The end.
"""
    signature = "os.walk(top, *, follow=False) -> Iterator"
    assert sections(text) == [
        (
            ("os.walk",),
            f"{signature}\n\n{long.strip()}\n\nAdded in version 3.5.\n\nChanged in version 3.6: Accepts paths.",
        ),
        ((), "Walker(top)\n    Short.\n\n-q, --quiet\n    Print nothing.\n\nThe end."),
    ]


def test_titles_links_and_labels(tmp_path: Path) -> None:
    files = {
        "index.rst": "Start\n=====\n\n.. toctree::\n   :maxdepth: 1\n\n   guide/first\n   Two <guide/second>\n\ntext\n",
        "guide/first.rst": ".. _first label:\n\n:mod:`First` guide\n==================\n\nSee :doc:`second`, "
        ":doc:`/index`, :ref:`part`, :ref:`that <part>`, :ref:`nowhere`, "
        "`file <../index.rst>`__ and `web <http://a.b/c.rst>`_.\n",
        "guide/second.rst": "No heading here.\n\n.. _part:\n\nThe part\n--------\n\nSee :ref:`First Label`.\n",
        "guide/third.rst": "text only\n",
    }
    found = read(write(tmp_path, files))
    assert {key: (item.title, item.links) for key, item in found.items()} == {
        "index.rst": ("Start", ("guide/first.rst", "guide/second.rst")),
        "guide/first.rst": ("First guide", ("guide/second.rst", "index.rst")),
        "guide/second.rst": ("The part", ("guide/first.rst",)),
        "guide/third.rst": ("third", ()),
    }
    text = "See The part, Start, The part, that, nowhere, file and web."
    assert [section.text for section in found["guide/first.rst"].sections] == [text]
    assert found["guide/first.rst"].aliases == ("first",)


def test_titles_are_found_without_docutils() -> None:
    title = r":mod:`os` --- *Misc* ``x`` `a <b>`_ with\ -statement |v|"
    assert plain_inline(title) == "os --- Misc x a with-statement v"


@pytest.mark.parametrize(
    "directive",
    [
        ".. include:: {}", ".. literalinclude:: {}", ".. include:: {}\n   :literal:",
        ".. include:: {}\n   :parser: rst", ".. raw:: html\n   :file: {}", ".. csv-table:: T\n   :file: {}",
        ".. csv-table:: T\n   :url: file://{}", ".. role:: bad(raw)\n   :format: html", ".. |x| include:: {}\n\n|x|",
        ".. figure:: {}\n   :figwidth: image",
    ],
)  # fmt: skip
def test_no_directive_reads_a_file(tmp_path: Path, directive: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("root,hunter2\n")
    found = "\n".join(text for _, text in sections(f"before\n\n{directive.format(secret)}\n\nafter\n"))
    assert "hunter2" not in found
    assert found.startswith("before") and found.endswith("after")


def test_errors_in_the_markup_lose_no_text() -> None:
    text = (
        "Head\n====\n\n  Indented *unclosed.\n\n+---+\n| bad\n+---+\n\n.. note::\n   :badoption: value\n\n"
        "   kept in the note\n\nLevel\n=====\n\nTitle\n~~~~~\n\n.. figure::\n\nText with `unclosed and |also.\n"
    )
    found = "\n".join(part for path, body in sections(text) for part in (*path, body))
    for words in ("Indented *unclosed.", "| bad", "kept in the note", "Title", "Text with `unclosed and |also."):
        assert words in found


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"A\n=\n\n\xc3\xa9\xc3\xa9\xff", r"dir/note\.rst, line 4: invalid UTF-8 at byte 10 of the file \(0xff\)"),
        (b"A\n\x00", r"dir/note\.rst, line 2: the file contains a NUL character"),
        (b"- " * 1000 + b"x", r"dir/note\.rst: its markup is nested too deeply"),
        (b"word " * (MAX_CHARACTERS // 5 + 1), r"dir/note\.rst: the document has more than 4 million characters"),
    ],
)
def test_bad_files_are_bad_records(data: bytes, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        parse(data)


@pytest.mark.parametrize("text", ["", "\n\n", ".. a comment\n", "Title\n=====\n", "\ufeff"])
def test_files_without_text_are_skipped(text: str) -> None:
    assert parse(text) == Skipped("dir/note.rst", "no text")


def test_utf_16_and_old_line_ends_are_read() -> None:
    assert parse("Title\r\n=====\r\n\r\ncafé".encode("utf-16")) == parse("Title\n=====\n\ncafé")


def test_the_registries_of_docutils_stay_as_they_were() -> None:
    from docutils.parsers.rst import directives, roles

    before = directives.directive, roles.role
    lead(".. role:: red\n\n:red:`x`")
    assert (directives.directive, roles.role) == before
    assert "red" not in roles._roles


@pytest.mark.trust
@pytest.mark.parametrize(
    "text",
    [
        "word " * 50_000,
        "x" * 500_000,
        "*a " * 6_000,
        "`a <" * 4_000,
        ":a:`" * 15_000,
        "".join(f"{' ' * i}x\n\n" for i in range(300)),
        ".. |a| replace:: " + "x " * 4000 + "\n"
        ".. |b| replace:: " + "|a| " * 1000 + "\n"
        ".. |c| replace:: " + "|b| " * 1000 + "\n\n" + "|c| " * 1000,
        ".. |a| replace:: |a| |a|\n\n|a|",
        ".. _a:\n" * 10_000,
        ".. _" + "a:" * 12_000,
        "===\n" * 6_000,
        "a\n=\n\n" * 1_500,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_documents_take_bounded_time(text: str) -> None:
    with limit():
        try:
            parse(text)
        except RecordError as error:
            assert error.reason in ("its markup is nested too deeply", "the document expands to too much text")


def test_a_long_line_keeps_its_words() -> None:
    words = [f"word{number}" for number in range(20_000)]
    assert lead(" ".join(words)).split() == words
