"""The same table gives the same cells, and the same answer, in every format that has tables."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest
from tests.answer.evidence import candidates, evidence
from tests.sources.blocks import check_blocks, table
from tests.sources.office import files

from wikigr.pack.open import Pack
from wikigr.sources.article import SourceArticle, SourceSection
from wikigr.sources.block import fill_paragraphs
from wikigr.sources.folder import FolderSource
from wikigr.sources.wikitext.page import WikiSite, parse_wikitext

ROWS = [
    ["Product", "Quarter", "Units", "Revenue"],
    ["LX-300", "Q3 2024", "1180", "655000"],
    ["LX-300", "Q4 2024", "1240", "713000"],
    ["MX-40", "Q3 2024", "310", "99000"],
    ["MX-40", "Q4 2024", "295", "88000"],
]


def html() -> str:
    head, *body = ROWS
    rows = ["".join(map("<th>{}</th>".format, head)), *("".join(map("<td>{}</td>".format, row)) for row in body)]
    return f"<title>Sales</title><table>{''.join(map('<tr>{}</tr>'.format, rows))}</table>"


def markdown() -> str:
    lines = [f"| {' | '.join(row)} |" for row in ROWS]
    return "\n".join([lines[0], "|---" * len(ROWS[0]) + "|", *lines[1:]])


def wikitext() -> str:
    rows = "".join(f"|-\n| {' || '.join(row)}\n" for row in ROWS[1:])
    return f'{{| class="wikitable"\n! {" !! ".join(ROWS[0])}\n{rows}|}}'


def made(name: str) -> bytes:
    """Return a file with the table in a format."""
    if name in ("docx", "xlsx", "pptx", "odt"):
        return files.with_table(name, ROWS)
    if name in ("csv", "tsv"):
        return "".join(("," if name == "csv" else "\t").join(row) + "\n" for row in ROWS).encode()
    return (html() if name == "html" else markdown()).encode()


def section_of(name: str, folder: Path) -> SourceSection:
    """Return the section with the table in a format."""
    if name == "wikitext":
        return parse_wikitext(wikitext(), "Sales", WikiSite({})).sections[0]
    (folder / f"sales.{name}").write_bytes(made(name))
    source = FolderSource(folder)
    (article,) = chain.from_iterable(map(source.parse, source.records()))
    assert isinstance(article, SourceArticle)
    (section,) = article.sections
    return section


@pytest.mark.parametrize("name", ["html", "md", "docx", "xlsx", "pptx", "odt", "csv", "tsv", "wikitext"])
def test_a_table_has_the_same_cells_and_the_same_answer_in_every_format(pack: Pack, tmp_path: Path, name: str) -> None:
    section = section_of(name, tmp_path)
    check_blocks(section.text, fill_paragraphs(section.text, section.blocks))
    assert table(section) == list(map(tuple, ROWS))
    item = evidence("Sales#0", section.text, 0.9, blocks=section.blocks)
    found = candidates(pack, "cell", "What was the revenue of the LX-300 in Q4 2024?", item)
    best = max(found, key=lambda candidate: candidate.fit)
    assert best.short == "713000"
    row = "Product: LX-300 | Quarter: Q4 2024 | Units: 1240 | Revenue: 713000"
    assert [quotation.text for quotation in best.quotations] == [row]
