"""The same table gives the same cells, and the same answer, in every format that has tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pytest
from tests.answer.evidence import candidates, evidence
from tests.sources.blocks import check_blocks, table
from tests.sources.office import files
from tests.sources.office.files import Spanned

from wikigr.ingest.chunking import chunk_article
from wikigr.pack.open import Pack
from wikigr.sources.article import SourceArticle
from wikigr.sources.block import fill_paragraphs
from wikigr.sources.folder import FolderSource
from wikigr.sources.wikitext.page import WikiSite, parse_wikitext

OFFICE = ("docx", "xlsx", "pptx", "odt")
# These have neither merged cells nor several rows of names.
FLAT = ("md", "csv", "tsv")


@dataclass(frozen=True)
class Case:
    """A table of which ``heads`` rows name the columns, and whose first cells may name the rows.

    A line break in a cell begins another paragraph. ``cells`` are the names of the columns and what every row holds.
    """

    rows: Sequence[Sequence[Spanned]]
    question: str
    short: str
    row: str
    cells: Sequence[Sequence[str]] | None = None
    heads: int = 1
    has_row_names: bool = False
    formats: Sequence[str] = ("html", *FLAT, *OFFICE, "wikitext")

    @property
    def expected(self) -> list[tuple[str, ...]]:
        names, *rows = self.cells or self.rows
        return [tuple(map(str, names)), *(tuple(str(cell) for cell in row if cell) for row in rows)]


SALES = [
    ["Product", "Quarter", "Units", "Revenue"],
    ["LX-300", "Q3 2024", "1180", "655000"],
    ["LX-300", "Q4 2024", "1240", "713000"],
    ["MX-40", "Q3 2024", "310", "99000"],
    ["MX-40", "Q4 2024", "295", "88000"],
]
MEASURED = [
    ["Product", "Weight", "Price", "Range"],
    ["LX-300", "1,240 kg", "€ 1,250.00", "12 km"],
    ["MX-40", "310 kg", "€ 990.50", "8.5 km"],
    ["NX-7", "95.5 kg", "€ 12,300.00", "1,050 km"],
]
GAPS = [
    ["Berth", "Boat", "Owner", "Fee paid until"],
    ["North 1", "Gull", "", "May 2026"],
    ["North 2", "", "", ""],
    ["South 1", "Tern", "Ines Roth", ""],
    ["South 2", "", "Karim Haddad", "July 2026"],
]
LONG = [["Berth", "Boat", "Length"], *([f"Berth {n}", f"Boat number {n}", f"{8 + n} m"] for n in range(1, 161))]

CASES = {
    "plain": Case(
        SALES,
        "What was the revenue of the LX-300 in Q4 2024?",
        "713000",
        "Product: LX-300 | Quarter: Q4 2024 | Units: 1240 | Revenue: 713000",
    ),
    "units": Case(
        MEASURED,
        "What is the price of the NX-7?",
        "€ 12,300.00",
        "Product: NX-7 | Weight: 95.5 kg | Price: € 12,300.00 | Range: 1,050 km",
        formats=("html", "xlsx", "odt"),
    ),
    "gaps": Case(
        GAPS,
        "Who is the owner of the berth South 2?",
        "Karim Haddad",
        "Berth: South 2 | Owner: Karim Haddad | Fee paid until: July 2026",
        formats=("md", "docx", "csv"),
    ),
    "row names": Case(
        [
            ["", "Oslo", "Bergen", "Tromsø"],
            ["Staff", "41", "17", "9"],
            ["Rooms", "12", "6", "3"],
            ["Cars", "5", "2", "1"],
        ],
        "How many rooms are there in Bergen?",
        "6",
        "Rooms | Oslo: 12 | Bergen: 6 | Tromsø: 3",
        has_row_names=True,
        formats=("wikitext", "pptx", "tsv"),
    ),
    "merged rows": Case(
        [
            ["Line", "Stop", "First bus"],
            [("Line 12", 1, 2), "Harbor", "05:06"],
            ["Mill", "05:21"],
            [("Line 14", 1, 2), "Harbor", "06:10"],
            ["Castle", "06:32"],
        ],
        "When does the first bus of line 12 leave the stop Mill?",
        "05:21",
        "Line: Line 12 | Stop: Mill | First bus: 05:21",
        [
            ["Line", "Stop", "First bus"],
            ["Line 12", "Harbor", "05:06"],
            ["Line 12", "Mill", "05:21"],
            ["Line 14", "Harbor", "06:10"],
            ["Line 14", "Castle", "06:32"],
        ],
        formats=("html", *OFFICE, "wikitext"),
    ),
    "two rows of names": Case(
        [
            [("Region", 1, 2), ("2024", 2, 1), ("2025", 2, 1)],
            ["Units", "Sales", "Units", "Sales"],
            ["North", "120", "€ 43,000", "150", "€ 51,000"],
            ["South", "90", "€ 21,000", "95", "€ 25,000"],
        ],
        "What were the sales of the region South in 2025?",
        "€ 25,000",
        "Region: South | 2024 Units: 90 | 2024 Sales: € 21,000 | 2025 Units: 95 | 2025 Sales: € 25,000",
        [
            ["Region", "2024 Units", "2024 Sales", "2025 Units", "2025 Sales"],
            ["North", "120", "€ 43,000", "150", "€ 51,000"],
            ["South", "90", "€ 21,000", "95", "€ 25,000"],
        ],
        heads=2,
        formats=("html", *OFFICE, "wikitext"),
    ),
    "items": Case(
        [
            ["Room", "Equipment", "Key"],
            ["Attic", "Two lamps\nOne projector", "Ines Roth"],
            ["Cellar", "A pump\nThree buckets\nA ladder", "Karim Haddad"],
            ["Hall", "40 chairs", "Mara Quill"],
        ],
        "Who has the key of the cellar?",
        "Karim Haddad",
        "Room: Cellar | Equipment: A pump; Three buckets; A ladder | Key: Karim Haddad",
        [
            ["Room", "Equipment", "Key"],
            ["Attic", "Two lamps; One projector", "Ines Roth"],
            ["Cellar", "A pump; Three buckets; A ladder", "Karim Haddad"],
            ["Hall", "40 chairs", "Mara Quill"],
        ],
        formats=("html", "wikitext"),
    ),
    "paragraphs": Case(
        [
            ["Room", "Remarks", "Key"],
            ["Attic", "Warm in summer.\nNo lift.", "Ines Roth"],
            ["Cellar", "Floods in spring.\nBring a lamp.", "Karim Haddad"],
            ["Hall", "Dry.", "Mara Quill"],
        ],
        "Who has the key of the cellar?",
        "Karim Haddad",
        "Room: Cellar | Remarks: Floods in spring. Bring a lamp. | Key: Karim Haddad",
        [
            ["Room", "Remarks", "Key"],
            ["Attic", "Warm in summer. No lift.", "Ines Roth"],
            ["Cellar", "Floods in spring. Bring a lamp.", "Karim Haddad"],
            ["Hall", "Dry.", "Mara Quill"],
        ],
        formats=("md", "docx", "pptx", "xlsx"),
    ),
    "long": Case(
        LONG,
        "What is the length at Berth 131?",
        "139 m",
        "Berth: Berth 131 | Boat: Boat number 131 | Length: 139 m",
        formats=("html", "csv", "xlsx"),
    ),
}


def _marked(case: Case) -> list[list[tuple[str, int, int, bool]]]:
    """Return the text of each cell, the columns and the rows that it spans, and whether it is a name."""
    return [
        [
            (
                *((cell, 1, 1) if isinstance(cell, str) else cell),
                row < case.heads or (case.has_row_names and not column),
            )
            for column, cell in enumerate(cells)
        ]
        for row, cells in enumerate(case.rows)
    ]


def html(case: Case) -> str:
    def made(text: str, columns: int, rows: int, is_name: bool) -> str:
        first, *others = text.split("\n")
        inner = f"<ul>{''.join(f'<li>{part}</li>' for part in (first, *others))}</ul>" if others else first
        tag = "th" if is_name else "td"
        return f'<{tag} colspan="{columns}" rowspan="{rows}">{inner}</{tag}>'

    rows = "".join(f"<tr>{''.join(made(*cell) for cell in row)}</tr>" for row in _marked(case))
    return f"<title>Made</title><table>{rows}</table>"


def markdown(case: Case) -> str:
    lines = [f"| {' | '.join(map(str, row))} |".replace("\n", "<br>") for row in case.rows]
    return "\n".join([lines[0], "|---" * len(case.rows[0]) + "|", *lines[1:]])


def wikitext(case: Case) -> str:
    def made(text: str, columns: int, rows: int, is_name: bool) -> str:
        inner = "\n* " + text.replace("\n", "\n* ") if "\n" in text else text
        return f'{"!" if is_name else "|"} colspan="{columns}" rowspan="{rows}" | {inner}\n'

    return (
        '{| class="wikitable"\n'
        + "".join("|-\n" + "".join(made(*cell) for cell in row) for row in _marked(case))
        + "|}"
    )


def in_format(case: Case, name: str) -> bytes:
    """Return a file with the table in a format."""
    if name in OFFICE:
        return files.with_table(name, case.rows)
    if name in ("csv", "tsv"):
        out = io.StringIO()
        csv.writer(out, delimiter="," if name == "csv" else "\t").writerows(case.rows)
        return out.getvalue().encode()
    return (html(case) if name == "html" else markdown(case)).encode()


def article_of(case: Case, name: str, folder: Path) -> SourceArticle:
    """Return the article with the table in a format."""
    if name == "wikitext":
        return SourceArticle("Made", "Made", tuple(parse_wikitext(wikitext(case), "Made", WikiSite({})).sections))
    (folder / f"made.{name}").write_bytes(in_format(case, name))
    source = FolderSource(folder)
    (article,) = chain.from_iterable(map(source.parse, source.records()))
    assert isinstance(article, SourceArticle)
    return article


@pytest.mark.parametrize(
    ("case", "name"),
    [pytest.param(case, name, id=f"{label}-{name}") for label, case in CASES.items() for name in case.formats],
)
def test_a_table_has_the_same_cells_and_the_same_answer_in_every_format(
    pack: Pack, tmp_path: Path, case: Case, name: str
) -> None:
    article = article_of(case, name, tmp_path)
    names, *rows = case.expected
    read = []
    # The sections of a workbook have at most fifty rows.
    for section in article.sections:
        check_blocks(section.text, fill_paragraphs(section.text, section.blocks))
        own, *others = table(section)
        assert own == names
        read += others
    assert read == rows
    parts = chunk_article(article.title, [article]).sections
    items = [evidence(f"Made#{n}", part.content, 0.9, blocks=part.blocks) for n, part in enumerate(parts)]
    best = max(candidates(pack, "cell", case.question, *items), key=lambda candidate: candidate.fit)
    assert best.short == case.short
    assert [quotation.text for quotation in best.quotations] == [case.row]
