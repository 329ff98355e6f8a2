"""``docs/reference/formats.md``: every source format, from the registry in ``wikigr.sources.formats``."""

from __future__ import annotations

from collections.abc import Iterator

from wikigr.sources.formats import FORMATS, SourceFormat

_HEAD = """\
# Source formats

<!-- Written by `make docs` from the registry of formats: change that, not this page. -->

`wikigr pack build SOURCE` and `wikigr pack update --from SOURCE` read the formats below. The format is detected
unless `--source-format NAME` names it: the content identifies a MediaWiki export, a ZIM file, a PDF and an office file
whatever their names; otherwise the suffix decides, and without a known suffix the content does. A file with the suffix
`.txt` is plain text only if its content is nothing else. A format that the content contradicts is refused. A folder is
read as `folder` if its documents have several formats. If more of them are HTML pages than anything else, and none is
an office file, only the pages are read. All files except ZIM files may be compressed with gzip, bzip2 or xz:
`page.html.gz`. Office files need the extra `documents`: `pip install 'wikigr[documents]'`; without it, `folder` leaves
them out.

A TSV or CSV file is a `table` if its first row names the columns, and `triples` if these are called subject, relation
and object (or head, predicate, tail and the like) or if there are three columns and nothing tells the first row from
the others.

| `--source-format` | what it reads | suffixes | detected by content | a link is |
| --- | --- | --- | --- | --- |
"""


_TAIL = """
## What sections hold

- The first heading of a section of an `office` file is its place in the file: `Page 7`, `Slide 3`, `Cell 5` (of a
  notebook) or `Prices!A3:D8` (of a workbook, at most 50 rows). Citations open there: `manual.pdf#page=7`. The title of
  such an article is the file's name, and the title that the document states is an alias. The headings of a PDF are
  those of its outline, or without one the lines in larger letters; running heads and feet are left out.
- A row of a table is one line with the names of its columns, in every format: `Size: 500 ml | Price: 3.20`. Cells
  without text are left out, the rows of a header are joined (`Size Min`), and a caption is the line above. A table
  without a header keeps its cells side by side: `500 ml | 3.20`; a header cell in front of one is its name: `Born:
  1910`. Names are cut at 60 characters, and a row of more than 1,000 characters is several lines that begin with its
  first cell.
- In a `table` with a column that is called title, name, label, question, term, product, item or heading, or whose
  first column has different names, every row is an article of that title; rows of the same title are passages of one.
  Long cells are paragraphs of their own. Otherwise the rows are the text of one article for every 500 of them. The
  columns `aliases`, `categories` (with semicolons between names) and `url` have the meaning that they have in JSON
  Lines. In a folder, a table is one article with the name of the file and a line for each row; a row with long cells,
  or with a question as its title, is a section of its own.
- A section does not end between a question and its answer, or between a term and its definition. The paragraphs of an
  entry stay together if they fit into 1,200 characters.
- The fields of an infobox (ZIM, MediaWiki and HTML) and the facts of a graph are lines of a section called `Facts`:
  `Ada — born: 1815; London.` It is the last section, or follows the text of the heading that the infobox is under.
- The authors and dates that a page states in its front matter, its metadata or its header are the last line of its
  introduction: `Author: Ann Lee. Published: 2020-01-02.`
- What many pages of a source begin or end with, and short sections of links at the end of a page, are left out.
  Another section of less than 40 characters that is not a sentence becomes a line of the section beside it:
  `Synopsis: git var`.
- Aliases of a note are `aliases` in the front matter of Markdown, the field `:Aliases:` or `:Synonyms:` in
  reStructuredText, and the redirects of a wiki. A question may use them as it uses the title, in any case.
"""


def formats_page() -> str:
    """Return the page as Markdown."""
    return _HEAD + "".join(f"| {' | '.join(_cells(row))} |\n" for row in FORMATS) + _TAIL


def _cells(row: SourceFormat) -> Iterator[str]:
    yield f"`{row.name}`"
    yield row.description
    yield ", ".join(f"`{suffix}`" for suffix in row.suffixes)
    yield "always" if row.content_decides else "yes" if row.sniff else "no"
    yield row.links.value
