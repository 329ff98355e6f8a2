"""Text that is struck through is left out, or marked: all of a cell, an item or a paragraph, and in wikitext."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sources.office import files

from wikigr.sources.article import SourceArticle
from wikigr.sources.folder import FolderSource
from wikigr.sources.wikitext.page import WikiSite, parse_wikitext


def text_of(folder: Path, name: str, data: bytes) -> str:
    (folder / name).write_bytes(data)
    source = FolderSource(folder)
    (article,) = (item for record in source.records() for item in source.parse(record))
    assert isinstance(article, SourceArticle)
    return "\n".join(section.text for section in article.sections)


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("Won by <s>Ann</s> Ben, <del>5</del>6.", "Won by ~~Ann~~ Ben, ~~5~~6."),
        ("* <strike>all of it</strike>\n* kept", "- ~~all of it~~\n- kept"),
        ("{|\n! A !! B\n|-\n| <s>5</s> 6 || <del>7</del>\n|}", "A: ~~5~~ 6 | B: ~~7~~"),
        ("From {{strike|30}} to 20", "From to 20"),
    ],
)
def test_in_wikitext(wikitext: str, expected: str) -> None:
    (section,) = parse_wikitext(wikitext, "Subject", WikiSite({})).sections
    assert section.text == expected


def test_in_a_workbook(tmp_path: Path) -> None:
    from openpyxl import Workbook
    from openpyxl.styles import Font

    made = Workbook()
    sheet = made.active
    for row in (["Item", "Old", "Note"], ["Rope", 30, "part"]):
        sheet.append(row)
    sheet["B2"].font = Font(strike=True)
    assert text_of(tmp_path, "a.xlsx", files.saved(made)) == "Item: Rope | Old: ~~30~~ | Note: part"


@pytest.mark.parametrize("role", ["strike", "del", "s", "strikethrough"])
def test_by_a_role_of_restructured_text(tmp_path: Path, role: str) -> None:
    text = f"Fare\n====\n\n.. role:: {role}\n\nA berth costs :{role}:`30 <x>` 20.\n\n- :{role}:`all of it`\n- kept\n"
    assert text_of(tmp_path, "a.rst", text.encode()) == "A berth costs 20.\n\n- ~~all of it~~\n- kept"


def test_on_slides(tmp_path: Path) -> None:
    from pptx import Presentation

    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    frame = slide.placeholders[1].text_frame
    for parts in ((("Rope 30 ", True), ("20 EUR", False)), (("All of it", True),), (("Kept", False),)):
        paragraph = frame.add_paragraph()
        for text, is_struck in parts:
            run = paragraph.add_run()
            run.text = text
            if is_struck:
                run.font._element.set("strike", "dblStrike")
    assert text_of(tmp_path, "a.pptx", files.saved(made)) == "- 20 EUR\n- ~~All of it~~\n- Kept"


@pytest.mark.parametrize(("is_on", "expected"), [(True, "Price 20 EUR"), (False, "Price 30 20 EUR")])
def test_by_a_style_of_word(tmp_path: Path, is_on: bool, expected: str) -> None:
    from docx import Document
    from docx.enum.style import WD_STYLE_TYPE

    made = Document()
    style = made.styles.add_style("Gone", WD_STYLE_TYPE.CHARACTER)
    style.font.strike = is_on
    paragraph = made.add_paragraph("Price ")
    paragraph.add_run("30 ", style="Gone")
    paragraph.add_run("20 EUR")
    assert text_of(tmp_path, "a.docx", files.saved(made)) == expected


def test_by_the_kind_of_line_of_opendocument(tmp_path: Path) -> None:
    line = '<style:text-properties style:text-line-through-type="single"/>'
    style = f'<style:style style:name="P1" style:family="paragraph">{line}</style:style>'
    data = files.odt_of('<text:p text:style-name="P1">All of it.</text:p><text:p>Kept.</text:p>', style)
    assert text_of(tmp_path, "a.odt", data) == "~~All of it.~~\n\nKept."


def test_by_a_named_style_of_opendocument(tmp_path: Path) -> None:
    def style(name: str, parent: str, properties: str = "") -> str:
        return f'<style:style style:name="{name}" style:parent-style-name="{parent}">{properties}</style:style>'

    named = style("Gone", "", '<style:text-properties style:text-line-through-style="solid"/>')
    kept = style("Kept", "Gone", '<style:text-properties style:text-line-through-style="none"/>')
    spans = "".join(f'<text:span text:style-name="{name}">{name} </text:span>' for name in ("Gone", "T1", "Kept", "T2"))
    data = files.odt_of(
        f"<text:p>Price {spans}</text:p>", style("T1", "Gone") + style("T2", "Kept"), named_styles=named + kept
    )
    assert text_of(tmp_path, "a.odt", data) == "Price Kept T2"
