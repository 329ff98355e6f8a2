"""CSV and TSV files with named columns: detection, titles, rows and every kind of bad row."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.blocks import without_blocks
from tests.sources.reading import read_source

from wikigr.errors import SourceError
from wikigr.sources.article import SourceArticle, SourceSection
from wikigr.sources.csv_tables import MAX_ROWS_PER_ARTICLE, TableConverter, TableSource, read_table
from wikigr.sources.detect import detect_format, open_source
from wikigr.sources.documents import NoteRecord
from wikigr.sources.encodings import utf8_stream
from wikigr.sources.streams import read_lines

DRINKS = "product,size,price,note\nCola,330 ml,2.50,\nCola,500 ml,3.20,cold\nTea,250 ml,1.80,\n"


def read(path: Path) -> tuple[list[SourceArticle], list[str]]:
    items, bad = read_source(TableSource(path))
    return [item for item in items if isinstance(item, SourceArticle)], bad


def write(folder: Path, text: str | bytes, name: str = "drinks.csv") -> Path:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name


def texts(articles: list[SourceArticle]) -> list[tuple[str, str]]:
    return [(article.title, section.text) for article in articles for section in article.sections]


def test_every_row_with_a_title_is_an_article(tmp_path: Path) -> None:
    path = write(tmp_path, DRINKS)
    assert detect_format(path).name == "table"
    articles, bad = read(path)
    assert (texts(articles), bad) == (
        [
            ("Cola", "product: Cola | size: 330 ml | price: 2.50"),
            ("Cola", "product: Cola | size: 500 ml | price: 3.20 | note: cold"),
            ("Tea", "product: Tea | size: 250 ml | price: 1.80"),
        ],
        [],
    )
    assert [article.source_id for article in articles] == ["row-2", "row-3", "row-4"]


def test_rows_without_titles_are_one_article(tmp_path: Path) -> None:
    path = write(tmp_path, "size;price\n330 ml;2.50\n500 ml;3.20\n", "price_list.csv")
    assert texts(read(path)[0]) == [("price list", "size: 330 ml | price: 2.50\nsize: 500 ml | price: 3.20")]
    rows = "".join(f"{number};1\n" for number in range(MAX_ROWS_PER_ARTICLE + 2))
    articles, _ = read(write(tmp_path, "order;count\n" + rows))
    assert [article.title for article in articles] == ["drinks", "drinks (rows 501 to 502)"]
    assert without_blocks(articles[1]).sections == (SourceSection((), "order: 500 | count: 1\norder: 501 | count: 1"),)


def test_long_cells_are_paragraphs_and_questions_are_titles(tmp_path: Path) -> None:
    answer = "Ask at the desk.\nBring a card."
    text = f'question,answer,topic,url,aliases\nHow do I get a key?,"{answer}",doors,https://x.example/k,key;door key\n'
    (article,), _ = read(write(tmp_path, text, "faq.csv"))
    assert without_blocks(article) == SourceArticle(
        title="How do I get a key?",
        source_id="row-2",
        sections=(
            SourceSection(
                (),
                f"topic: doors | url: https://x.example/k | aliases: key;door key\n\nanswer: {answer}",
            ),
        ),
        aliases=("key", "door key"),
        url="https://x.example/k",
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        # Triples, with and without a header.
        ("subject,relation,object\nAnn,born_in,Paris\n", "triples"),
        ("Entity\tAttribute\tValue\tWeight\nAnn\tage\t5\t1\n", "triples"),
        ("Ann,born_in,Paris\nBen,age,7\nCid,age,9\n", "triples"),
        ("Ann\tborn_in\tParis\nBen\tborn_in\tRome\n", "triples"),
        ("ann\tknows\tben\nBen\tknows\tCid\nCid\tknows\tDan\nDan\tknows\tAnn\n", "triples"),
        ("1\t2\t3\n4\t5\t6\n", "triples"),
        # Headers of three columns.
        ("product,size,price\nCola,500 ml,3.20\nTea,250 ml,1.80\n", "table"),
        ("Country;Inhabitants;Capital\nFrance;68000000;Paris\nItaly;59000000;Rome\n", "table"),
        ("animal,food,place\nCow,Grass,Farm\nLion,Meat,Savanna\nCat,Mice,House\n", "table"),
        # Names that are years or other numbers, that repeat, or that are missing.
        ("Site,2021,2022\nQuay,14,15\nMole,9,8\n", "table"),
        ("Depth;10;20\nOak;4;5\nElm;6;7\n", "table"),
        ("2021\t2022\t2023\n14\t15\t16\n9\t8\t7\n", "table"),
        ("Crew,Mail,Mail\nAnn,a@x,b@x\nBen,c@x,d@x\n", "table"),
        ("Crew,,Boat\nAnn,cook,Elsa\nBen,mate,Gull\n", "table"),
        ("Ann,3,Paris\nBen,7,Rome\n", "triples"),
        # Of other numbers.
        ("Harbor\nNorden\nEmden\n", "table"),
        ("term,meaning\nAPI,An interface.\n", "table"),
        ("a\tb\tc\td\n1\t2\t3\t4\n", "table"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_detection(tmp_path: Path, text: str, name: str, suffix: str) -> None:
    assert detect_format(write(tmp_path, text, f"data{suffix}")).name == name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Site,2021,2022\nQuay,14,15\n", "Site: Quay | 2021: 14 | 2022: 15"),
        ("Crew,Mail,Mail\nAnn,a@x,b@x\n", "Crew: Ann | Mail: a@x | Mail: b@x"),
        ("Crew,,Boat\nAnn,cook,Elsa\n", "Crew: Ann | cook | Boat: Elsa"),
        ("Harbor\nNorden\n", "Harbor: Norden"),
        ("sep=;\nNut;1,20;5\nBolt;2,40;6\n", "Nut: Bolt | 1,20: 2,40 | 5: 6"),
        ('"SEP=|"\nPart|Price\nNut|1,20; 5\n', "Part: Nut | Price: 1,20; 5"),
        ("sep=\t\nPart\tPrice\nNut\t1,20\n", "Part: Nut | Price: 1,20"),
    ],
)
def test_any_first_row_names_the_columns(tmp_path: Path, text: str, expected: str) -> None:
    articles, bad = read(write(tmp_path, text))
    assert ([text for _, text in texts(articles)], bad) == ([expected], [])


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Teil;Preis\nSchlüssel für Tür;3,20 €\nBügel, groß;1,10 €\n", "cp1252"),
        ("Pièce;Prix\nClé à molette;3,20 €\nÉcrou;1,10 €\n", "utf-16"),
        ("Pièce\tPrix\nClé à molette\t3,20 €\nÉcrou\t1,10 €\n", "utf-16-le"),
        ("Деталь;Цена\nГаечный ключ;320 ₽\nГайка;110 ₽\n", "utf-16-be"),
        ("Деталь;Цена\nГаечный ключ большой;320\nГайка;110\n", "cp1251"),
        ("Part;Price\nSlüice;3\n", "utf-8-sig"),
    ],
)
@pytest.mark.parametrize("copies", [1, 4_000])
def test_tables_in_other_encodings(tmp_path: Path, text: str, encoding: str, copies: int) -> None:
    header, _, rows = text.partition("\n")
    mark = {"utf-16-le": "\ufeff", "utf-16-be": "\ufeff"}.get(encoding, "")
    path = write(tmp_path, (mark + header + "\n" + rows * copies).encode(encoding))
    assert detect_format(path).name == "table"
    table = read_table(read_lines(utf8_stream(io.BufferedReader(io.FileIO(path))), path))
    assert table is not None
    assert [list(table.names), *(row.cells for row in table.rows)] == [
        line.split("\t" if "\t" in text else ";") for line in (header + "\n" + rows * copies).splitlines()
    ]


def test_a_table_that_turns_to_another_encoding_has_bad_rows(tmp_path: Path) -> None:
    text = b"part;price\n" + b"nut %s;1\n" % (b"x" * 53) * 10_000 + "Schlüssel;3\n".encode("cp1252")
    articles, bad = read(write(tmp_path, text))
    assert articles
    assert len(bad) == 1 and bad[0].endswith("line 10002: invalid UTF-8 at byte 5 of the line (0xfc)")


def test_prose_with_commas_is_not_a_table(tmp_path: Path) -> None:
    assert detect_format(write(tmp_path, DRINKS, "drinks.txt")).name == "text"


def test_bad_rows_are_reported_with_their_lines(tmp_path: Path) -> None:
    text = b'name,age\nAnn,5,6\n\nBen,\xff\n"Cid\nDan",7\nEve\n"never closed,8\nFay,9\nZo\xc3\xab \xc3\x89ve\n'
    path = write(tmp_path, text)
    articles, bad = read(path)
    assert texts(articles) == [
        ("Cid Dan", "name: Cid Dan | age: 7"),
        ("Eve", "name: Eve"),
        ("Fay", "name: Fay | age: 9"),
        ("Zoë Éve", "name: Zoë Éve"),
    ]
    assert [message.partition(": ")[0].rpartition(", ")[2] for message in bad] == ["line 2", "line 4", "line 8"]
    with pytest.raises(SourceError, match="has no rows"):
        read(write(tmp_path, "name,age\n"))


CELL = st.text(alphabet="ab \",;'\t\n1", max_size=6)


@given(st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=1, max_size=5), st.sampled_from("\t,;"))
def test_every_value_of_a_written_table_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], delimiter: str
) -> None:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(
        [["first", "second", "third"], *rows]
    )
    path = tmp_path_factory.mktemp("tables") / "t.csv"
    path.write_text(out.getvalue())
    if not any(cell.strip() for row in rows for cell in row):
        with pytest.raises(SourceError):
            read(path)
        return
    articles, bad = read(path)
    assert bad == []
    text = " ".join(" ".join(text.split()) for _, text in texts(articles))
    for row in rows:
        for name, cell in zip(["first", "second", "third"], row, strict=True):
            value = " ".join(cell.split())
            assert not value or f"{name}: {value}" in text


def test_the_format_can_be_named(tmp_path: Path) -> None:
    path = write(tmp_path, "Ann,born_in,Paris\nBen,born_in,Rome\n")
    assert (open_source(path).format, open_source(path, "table").format) == ("triples", "table")


@pytest.mark.parametrize(
    ("data", "row"),
    [
        (b"bag,price,\noats,9,old\nrye,8,new\n", "bag: oats | price: 9 | old"),
        (b"bag,price,\noats,9,\nrye,8,\n", "bag: oats | price: 9"),
        (b"bag|2019|2020\noats|9|7\nrye|8|6\n", "bag: oats | 2019: 9 | 2020: 7"),
        (b"bag,2019,2020\roats,9,7\rrye,8,6\r", "bag: oats | 2019: 9 | 2020: 7"),
        ("bag,2019,2020\roats,9,7\rrye,8,6\r".encode("utf-16"), "bag: oats | 2019: 9 | 2020: 7"),
        (
            b",2019,,2020,\nbag,price,left,price,left\noats,9,4,7,3\nrye,8,2,6,1\n",
            "bag: oats | 2019 price: 9 | 2019 left: 4 | 2020 price: 7 | 2020 left: 3",
        ),
    ],
)
def test_columns_without_names_other_delimiters_and_levels(data: bytes, row: str) -> None:
    note = TableConverter().parse_note(NoteRecord("bags.csv", data, "bags"))
    assert note.bad_parts == ()
    assert note.sections[0].text.split("\n")[0] == row


@pytest.mark.parametrize(
    ("above", "caption"),
    [
        ("Prices of 2024\n\n", "Prices of 2024"),
        ("Prices of 2024,,\n", "Prices of 2024"),
        ("Prices of 2024\nAll in euros\n", "Prices of 2024 All in euros"),
        ('"Prices, all of them"\n', "Prices, all of them"),
    ],
)
def test_lines_above_the_header_are_a_caption(tmp_path: Path, above: str, caption: str) -> None:
    path = write(tmp_path, f"{above}item,price,stock\nRope,30,7\nHook,4,0\nPin,28,2\n", "parts.csv")
    assert detect_format(path).name == "table"
    articles, bad = read(path)
    assert not bad
    assert texts(articles)[0][1].split("\n") == [caption, "item: Rope | price: 30 | stock: 7"]
    (section,) = TableConverter().parse_note(NoteRecord("parts.csv", path.read_bytes(), "parts")).sections
    assert section.text.split("\n")[::3] == [caption, "item: Pin | price: 28 | stock: 2"]
    assert section.blocks[0].kind == "caption"


@pytest.mark.parametrize("text", ["part\nRope\nHook, big\nPin\n", "part,,\nRope,30,7\nHook,4,0\n"])
def test_a_header_of_one_name_is_not_a_caption(tmp_path: Path, text: str) -> None:
    table = read_table(read_lines(utf8_stream(io.BufferedReader(io.BytesIO(text.encode()))), ""))
    assert table is not None
    assert (table.names[0], table.caption) == ("part", "")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Ann,4,1990-05-03\nBob,6,1991-06-04\nCid,5,1992-07-05\n", "Ann | 4 | 1990-05-03"),
        ("Hesk,12.5,x\nTeal,7.25,y\nRook,3,z\n", "Hesk | 12.5 | x"),
        ("3 May 2024,Rope,12 €\n4 May 2024,Oars,30 €\n5 May 2024,Sail,90 €\n", "3 May 2024 | Rope | 12 €"),
        ("Line,1,2,3\nNorth,4,5,6\nSouth,7,8,9\n", "Line: North | 1: 4 | 2: 5 | 3: 6"),
        ("Line,2019,2020\nNorth,4,5\nSouth,7,8\n", "Line: North | 2019: 4 | 2020: 5"),
        ("Line,7 kg\nNorth,light\nSouth,heavy\n", "Line: North | 7 kg: light"),
    ],
)
def test_a_first_row_of_data_names_nothing(text: str, line: str) -> None:
    (section,) = TableConverter().parse_note(NoteRecord("t.csv", text.encode(), "t")).sections
    assert section.text.splitlines()[0] == line


def test_a_table_of_very_many_columns_is_named(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("".join(",".join(f"{word}{n}" for n in range(1_200)) + "\n" for word in ("name", "value", "more")))
    items, bad = read_source(TableSource(path))
    assert items == [] and len(bad) == 3 and "it has 1,200 cells, more than 1,000" in bad[0]
    (tmp_path / "narrow.csv").write_text("name,size\nGate," + "1," * 1_200 + "\nHarbor,2\n")
    items, bad = read_source(TableSource(tmp_path / "narrow.csv"))
    assert len(items) == 1 and len(bad) == 1
