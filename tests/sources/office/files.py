"""Office files that tests read, written with the libraries that people's programs use.

The libraries are imported where they are used: every worker collects all tests, and one runs those that need them.
"""

from __future__ import annotations

import datetime
import json
import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

# A heading, or paragraphs; see ``pdf``.
Page = Sequence[str | tuple[int, str]]
CREW = [["Team", "Lead", "People"], ["North", "Ines Roth", "14"], ["South", "Karim Haddad", "9"]]


def pdf(pages: Sequence[Page], *, title: str = "", outline: bool = True, password: str = "") -> bytes:
    """Return a PDF with a running head and numbered pages; (level, text) is a heading, in the outline if wanted."""
    from fpdf import FPDF

    class Numbered(FPDF):  # type: ignore[misc]
        def header(self) -> None:
            self.set_font("Times", size=9)
            self.cell(0, 5, f"Harbor manual, page {self.page_no()}", new_x="LMARGIN", new_y="NEXT")
            self.ln(6)

        def footer(self) -> None:
            self.set_y(-15)
            self.set_font("Times", size=9)
            self.cell(0, 5, str(self.page_no()), align="C")

    made = Numbered()
    made.set_title(title)
    for page in pages:
        made.add_page()
        for part in page:
            if isinstance(part, str):
                made.set_font("Times", size=11)
                made.multi_cell(0, 5, part, new_x="LMARGIN", new_y="NEXT")
                made.ln(4)
            else:
                level, text = part
                made.set_font("Times", "B", 20 - 3 * level)
                if outline:
                    made.start_section(text, level - 1)
                made.cell(0, 9, text, new_x="LMARGIN", new_y="NEXT")
                made.ln(3)
    if password:
        made.set_encryption(owner_password=password, user_password=password)
    return bytes(made.output())


def pdf_table(rows: Sequence[Sequence[str]]) -> bytes:
    """Return a PDF with one table, whose first row is in bold, and code below it."""
    from fpdf import FPDF

    made = FPDF()
    made.add_page()
    for number, row in enumerate(rows):
        made.set_font("Times", "B" if number == 0 else "", 11)
        for cell in row:
            made.cell(60, 7, cell)
        made.ln(7)
    made.ln(6)
    made.set_font("Courier", size=10)
    made.multi_cell(0, 5, "tide --next\n    --station norderney", new_x="LMARGIN", new_y="NEXT")
    return bytes(made.output())


def pdf_cells(
    rows: Sequence[Sequence[str]], columns: Sequence[Sequence[int]], wrapped: Mapping[int, tuple[int, str]]
) -> bytes:
    """Return a PDF with a table whose cells begin at ``columns``, in mm, and have second lines in ``wrapped`` rows."""
    from fpdf import FPDF

    made = FPDF()
    made.add_page()
    made.set_font("Times", size=12)
    y = 40.0
    for number, (row, starts) in enumerate(zip(rows, columns, strict=True)):
        for text, start in zip(row, starts, strict=True):
            made.text(20 + start, y, text)
        if number in wrapped:
            y += 5
            made.text(20 + wrapped[number][0], y, wrapped[number][1])
        y += 7
    return bytes(made.output())


def pdf_without_letters() -> bytes:
    """Return a PDF whose font says that its letters are characters for private use."""
    ranges = b"1 begincodespacerange <00><ff> endcodespacerange 1 beginbfrange <00><ff><E000> endbfrange"
    streams = [b"BT /F1 12 Tf 50 700 Td (The harbor master decides.) Tj ET", b"begincmap " + ranges + b" endcmap"]
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 4 0 R>>>>/Contents 5 0 R>>",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
        *(b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream) for stream in streams),
    ]
    body = b"".join(b"%d 0 obj%s endobj\n" % pair for pair in enumerate(objects, start=1))
    return b"%PDF-1.4\n" + body + b"trailer<</Root 1 0 R>>"


def pdf_form(texts: Sequence[tuple[int, int, str]], annotations: Sequence[str], *, needs_look: bool = False) -> bytes:
    """Return a PDF with texts at points of its page, and annotations, which may be fields of a form.

    In them, ``LOOK`` stands for an appearance.
    """
    content = "".join(f"BT /F1 11 Tf {x} {y} Td ({text}) Tj ET\n" for x, y, text in texts)
    numbers = range(7, 7 + len(annotations))
    kids = " ".join(f"{number} 0 R" for number in numbers)
    fields = " ".join(f"{n} 0 R" for n, one in zip(numbers, annotations, strict=True) if "/Widget" in one)
    look = "BT /F1 11 Tf 2 3 Td (as shown) Tj ET"
    objects = [
        f"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[{fields}]/DR<</Font<</F1 4 0 R>>>>/DA(/F1 11 Tf)"
        f"/NeedAppearances {str(needs_look).lower()}>>>>",
        "<</Type/Pages/Count 1/Kids[3 0 R]>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 4 0 R>>>>/Contents 5 0 R"
        f"/Annots[{kids}]>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        f"<</Type/XObject/Subtype/Form/BBox[0 0 200 20]/Resources<</Font<</F1 4 0 R>>>>/Length {len(look)}>>"
        f"stream\n{look}\nendstream",
        *(f"<</Type/Annot/DA(/F1 11 Tf){one.replace('LOOK', '/AP<</N 6 0 R>>')}>>" for one in annotations),
    ]
    body = "".join(f"{number} 0 obj{one} endobj\n" for number, one in enumerate(objects, start=1))
    return f"%PDF-1.4\n{body}trailer<</Root 1 0 R>>".encode("latin-1")


def pdf_with_damaged_pages(texts: Sequence[str], *damaged: int) -> bytes:
    """Return a PDF with a text on each page; those with the numbers ``damaged`` are no longer pages."""
    parts = pdf([[text] for text in texts]).split(b"/Type /Page\n")
    assert len(parts) == len(texts) + 1
    types = [b"/Type /Xage\n" if page in damaged else b"/Type /Page\n" for page in range(1, len(parts))]
    return parts[0] + b"".join(kind + part for kind, part in zip(types, parts[1:], strict=True))


def pdf_of_images(pages: int) -> bytes:
    from fpdf import FPDF
    from PIL import Image

    made = FPDF()
    for _ in range(pages):
        made.add_page()
        made.image(Image.new("RGB", (20, 20), "navy"), x=20, y=20, w=50)
    return bytes(made.output())


def docx() -> bytes:
    from docx import Document

    made = Document()
    made.core_properties.title = "Harbor rules"
    made.add_heading("Berths", 1)
    made.add_paragraph("Berth 4 is kept free for the pilot boat.")
    made.add_heading("Fees", 2)
    made.add_paragraph("See the list.")
    table = made.add_table(rows=0, cols=3)
    for row in CREW:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    for cell in table.rows[0].cells:
        cell.paragraphs[0].runs[0].bold = True
    made.add_paragraph("Moor the boat.", style="List Number")
    made.add_paragraph("Pay the fee.", style="List Number")
    return saved(made)


def docx_called(title: str) -> bytes:
    from docx import Document

    made = Document()
    made.core_properties.title = title[:255]
    made.add_paragraph("Text.")
    return saved(made)


def docx_of(paragraphs: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]] = (), *, depth: int = 0) -> bytes:
    """Return a Word document of (style, text), a table without a marked header, and so many tables in one another."""
    from docx import Document
    from docx.enum.style import WD_STYLE_TYPE

    made = Document()
    for style, text in paragraphs:
        if style not in made.styles:
            made.styles.add_style(style, WD_STYLE_TYPE.PARAGRAPH)
        made.add_paragraph(text, style=style)
    if rows:
        table = made.add_table(rows=len(rows), cols=len(rows[0]))
        for row, texts in zip(table.rows, rows, strict=True):
            for cell, text in zip(row.cells, texts, strict=True):
                cell.text = text
    inner = made
    for _ in range(depth):
        inner = (inner.add_table(1, 1) if inner is not made else made.add_table(rows=1, cols=1)).cell(0, 0)
    return saved(made)


def pptx() -> bytes:
    """Return slides with a list and notes, a table, a chart, and a text without a title."""
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    made = Presentation()
    first = made.slides.add_slide(made.slide_layouts[1])
    first.shapes.title.text = "Decisions"
    frame = first.placeholders[1].text_frame
    frame.text = "The night shift starts at 22:00."
    frame.add_paragraph().text = "Handover takes 15 minutes."
    first.notes_slide.notes_text_frame.text = "Ask Ines about the trial."
    second, third = (made.slides.add_slide(made.slide_layouts[5]) for _ in range(2))
    second.shapes.title.text, third.shapes.title.text = "Staffing", "Catch"
    place = (Inches(1), Inches(2), Inches(8), Inches(2))
    table = second.shapes.add_table(len(CREW), 3, *place).table
    for i, row in enumerate(CREW):
        for j, text in enumerate(row):
            table.cell(i, j).text = text
    data = CategoryChartData()
    data.categories = ["Cod", "Herring"]
    data.add_series("Tons", (82, 4.5))
    third.shapes.add_chart(XL_CHART_TYPE.PIE, *place, data).chart.has_title = False
    last = made.slides.add_slide(made.slide_layouts[6])
    last.shapes.add_textbox(*place).text_frame.text = "The end."
    return saved(made)


def xlsx(rows: int = 2) -> bytes:
    """Return a workbook with titles over tables, merged labels, tables side by side, times, shares and years."""
    from openpyxl import Workbook

    made = Workbook()
    sheets: dict[str, list[list[Any]]] = {
        "Prices": [["Price list 2026"], [], ["Item", "Size", "Price", "Since", "Discount"]],
        "Hidden": [["secret"]],
        "Buses": [[], [None, "Timetable"], [None, "Line", "Stop", "First bus"],
         [None, "12", "Harbor", datetime.time(5, 6)], [None, None, "Mill", datetime.time(5, 21)]],
        "Hours": [["Day", "Hours", None, "Room", "Seats"], ["Monday", "closed", None, "Hall", 120],
         ["Tuesday", "10:00-19:00", None, "Map room", 14], [None, None, None, "Attic", 9]],
        "Budget": [["Item", 2025, "Change"], ["Staff", 1220, 1], ["Books", 410, 0.05]],
    }  # fmt: skip
    for number in range(rows):
        name = f"Water {number}" if number else "Still water"
        sheets["Prices"].append([name, "500 ml", 3.2, datetime.date(2026, 1, 5), 0.25])
    made.remove(made.active)
    for title, lines in sheets.items():
        sheet = made.create_sheet(title)
        for line in lines:
            sheet.append(line)
        for cell in sheet["E" if title == "Prices" else "C"]:
            cell.number_format = "0%" if title in ("Prices", "Budget") else cell.number_format
    made["Hidden"].sheet_state = "hidden"
    made["Buses"].merge_cells("B2:D2")
    made["Buses"].merge_cells("B4:B5")
    return saved(made)


def notebook(*cells: Mapping[str, Any]) -> bytes:
    """Return a notebook with these cells, by default with notes, code and its output."""
    rows = "<tr><th>station</th><th>level</th></tr><tr><td>Norderney</td><td>3.1</td></tr>"
    table = f"<style>td {{}}</style><table>{rows}</table>"
    cells = cells or (
        {"cell_type": "markdown", "source": "# Tides\n\nHigh water follows the moon with a *delay*."},
        code_cell("12 * 60 + 25", {"text/plain": "745"}),
        {"cell_type": "markdown", "source": "## Stations\n\nThe gauge is read every ten minutes."},
        code_cell("df", {"text/plain": "x", "text/html": table}),
    )
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def code_cell(source: str, *outputs: Mapping[str, str]) -> Mapping[str, Any]:
    results = [{"output_type": "execute_result", "data": data} for data in outputs]
    return {"cell_type": "code", "source": source, "outputs": results}


def epub(chapters: Mapping[str, str], title: str = "Harbor book") -> bytes:
    """Return a book with these pages, by file name, and a table of contents."""
    items = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in chapters)
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/" version="3.0">'
        f'<metadata><dc:title>{title}</dc:title></metadata><manifest>{items}<item id="nav" href="nav.xhtml" '
        'media-type="application/xhtml+xml" properties="nav"/></manifest>'
        f'<spine><itemref idref="nav"/>{spine}</spine></package>'
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    pages = {f"OEBPS/{name}": f"<html><body>{body}</body></html>" for name, body in chapters.items()}
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "OEBPS/book.opf": package,
            "OEBPS/nav.xhtml": "<html><body><h1>Contents</h1><p>Chapter list</p></body></html>",
            **pages,
        }
    )


def odt(first: str = "", styles: str = "", *, has_header: bool = True) -> bytes:
    """Return an OpenDocument text; with ``first``, that and a table, whose header may be marked, with these styles."""
    row = "<table:table-row>{}</table:table-row>"
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    rows = [row.format("".join(map(cell.format, texts))) for texts in CREW]
    header = f"<table:table-header-rows>{rows[0]}</table:table-header-rows>" if has_header else rows[0]
    table = f"<table:table>{header}{''.join(rows[1:])}</table:table>"
    if first:
        return odt_of(first + table, styles)
    return odt_of(
        '<text:h text:outline-level="2">Berths</text:h><text:p>Berth<text:s/>4 is kept free.</text:p>'
        '<text:p text:style-name="Preformatted_20_Text">tide --next</text:p>'
        "<text:list><text:list-item><text:p>Moor the boat.</text:p></text:list-item></text:list>"
        f"{table}",
        styles,
    )


def odt_of(body: str, styles: str = "", *, named_styles: str = "", title: str = "") -> bytes:
    """Return an OpenDocument text with this body, these automatic and named styles, and a title in its properties."""
    prefixes = {name: name for name in ("office", "text", "table", "style", "form")}
    prefixes |= {"draw": "drawing", "loext": "experimental:office:xmlns:loext"}
    names = " ".join(
        f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for prefix, name in prefixes.items()
    )
    text = f"<office:body><office:text>{body}</office:text></office:body>"
    automatic = f"<office:automatic-styles>{styles}</office:automatic-styles>"
    content = f"<office:document-content {names}>{automatic}{text}</office:document-content>"
    meta = f'<meta xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></meta>'
    kind = "application/vnd.oasis.opendocument.text"
    named = f"<office:document-styles {names}><office:styles>{named_styles}</office:styles></office:document-styles>"
    return archive({"mimetype": kind, "content.xml": content, "styles.xml": named, "meta.xml": meta})


def archive(members: Mapping[str, str]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in members.items():
            made.writestr(name, text)
    return out.getvalue()


# A text, or a text with the columns and the rows that it spans.
Spanned = str | tuple[str, int, int]


def with_table(kind: str, rows: Sequence[Sequence[Spanned]]) -> bytes:
    """Return a file of the ``kind`` docx, pptx, xlsx or odt with one table, which marks no header."""
    placed = list(_placed(rows))
    height, width = len(rows), max(column + columns for _, _, column, columns, _ in placed)
    if kind == "odt":
        lines = ("".join(_odt_cell(*cell) for cell in placed if cell[1] == number) for number in range(height))
        return odt_of(
            "<table:table>{}</table:table>".format("".join(map("<table:table-row>{}</table:table-row>".format, lines)))
        )
    if kind == "xlsx":
        return _xlsx_table(placed)
    if kind == "docx":
        from docx import Document

        made: Any = Document()
        table = made.add_table(height, width)
        # `table.cell` would read the whole table for each cell.
        grid = [row.cells for row in table.rows]
    else:
        from pptx import Presentation
        from pptx.util import Inches

        made = Presentation()
        slide = made.slides.add_slide(made.slide_layouts[6])
        table = slide.shapes.add_table(height, width, *map(Inches, (1, 1, 8, 4))).table
        table.first_row = False
    for text, row, column, columns, below in placed:
        cell, last = (
            grid[y][x] if kind == "docx" else table.cell(y, x)
            for y, x in ((row, column), (row + below - 1, column + columns - 1))
        )
        if last is not cell and (columns, below) != (1, 1):
            cell.merge(last)
        cell.text = text
    return saved(made)


def _placed(rows: Sequence[Sequence[Spanned]]) -> list[tuple[str, int, int, int, int]]:
    """Return the text, row and column of each cell, with the columns and the rows that it spans."""
    taken: set[tuple[int, int]] = set()
    placed = []
    for row, cells in enumerate(rows):
        column = 0
        for cell in cells:
            text, columns, below = (cell, 1, 1) if isinstance(cell, str) else cell
            while (row, column) in taken:
                column += 1
            placed.append((text, row, column, columns, below))
            taken.update((row + i, column + j) for i in range(below) for j in range(columns))
    return placed


def _odt_cell(text: str, row: int, column: int, columns: int, below: int) -> str:
    spans = f'table:number-columns-spanned="{columns}" table:number-rows-spanned="{below}"'
    covered = "<table:covered-table-cell/>" * (columns - 1)
    return f"<table:table-cell {spans}><text:p>{text}</text:p></table:table-cell>{covered}"


def _xlsx_table(placed: Sequence[tuple[str, int, int, int, int]]) -> bytes:
    from openpyxl import Workbook

    made = Workbook()
    sheet = made.active
    for text, row, column, columns, below in placed:
        sheet.cell(row + 1, column + 1, int(text) if text.isdigit() else text or None)
        if (columns, below) != (1, 1):
            sheet.merge_cells(None, row + 1, column + 1, row + below, column + columns)
    return saved(made)


def changed(data: bytes, replaced: Mapping[str, tuple[str, str]], added: Mapping[str, str]) -> bytes:
    """Return an archive with a text replaced in some members, and with more members."""
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as read, zipfile.ZipFile(out, "w") as written:
        for name in read.namelist():
            before, after = replaced.get(name, ("", ""))
            if name not in added:
                data = read.read(name)
                written.writestr(name, data.replace(before.encode(), after.encode()) if before else data)
        for name, text in added.items():
            written.writestr(name, text)
    return out.getvalue()


def docx_with(*parts: str, notes: Sequence[str] = (), lists: str = "") -> bytes:
    """Return a Word document with these elements in its body, notes and definitions of lists.

    ``w``, ``w14`` and ``m`` are known prefixes.
    """
    from docx import Document

    names = " ".join(f'xmlns:{prefix}="{name}"' for prefix, name in _WORD.items())
    footnotes = "".join(f'<w:footnote w:id="{n}">{note}</w:footnote>' for n, note in enumerate(notes))
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    relation = f'<Relationship Id="rId99" Type="{kind}" Target="footnotes.xml"/></Relationships>'
    body = f"<w:body>{''.join(parts)}<w:sectPr"
    return changed(
        saved(Document()),
        {
            "word/document.xml": ("<w:body><w:sectPr", body),
            "word/_rels/document.xml.rels": ("</Relationships>", relation),
        },
        {
            "word/footnotes.xml": f"<w:footnotes {names}>{footnotes}</w:footnotes>",
            "word/numbering.xml": f"<w:numbering {names}>{lists}</w:numbering>",
        },
    )


_WORD = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
}


def saved(document: object) -> bytes:
    out = BytesIO()
    document.save(out)  # type: ignore[attr-defined]
    return out.getvalue()
