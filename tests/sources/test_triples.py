"""Tables of triples: articles from rows, delimiters, headers and every kind of bad row."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graph_edges import edges_at
from tests.sources.blocks import without_blocks
from tests.sources.reading import read_source

from wikigr.embeddings.embedder import Embedder
from wikigr.errors import SourceError
from wikigr.graph.neighborhood import Neighborhood, article
from wikigr.ingest.build import BuildOptions, BuildReport, build_pack
from wikigr.ingest.entities import derive_entities
from wikigr.ingest.staging import Staging
from wikigr.pack.open import Pack
from wikigr.pack.validate import validate_pack
from wikigr.progress import Silent
from wikigr.sources.article import Skipped, SourceArticle, SourceItem, SourceSection, Triple
from wikigr.sources.detect import open_source
from wikigr.sources.facts import readable_relation
from wikigr.sources.statements import MAX_NAME_LENGTH
from wikigr.sources.streams import Line
from wikigr.sources.triples import read_triples

ROWS = [
    ("Ada_Lovelace", "born_in", "London"),
    ("Ada_Lovelace", "birth_date", "1815-12-10"),
    ("Ada_Lovelace", "instance of", "mathematician"),
    ("Ada_Lovelace", "friendOf", "Charles Babbage"),
    ("Ada_Lovelace", "description", "She wrote the first program."),
    ("Ada_Lovelace", "alias", "Countess of Lovelace"),
    ("London", "located_in", "England"),
    ("Q1", "rdfs:label", "Charles Babbage"),
    ("Q1", "born_in", "london"),
    ("Q2", "rdfs:label", "Nobody"),
]


def write(path: Path, rows: Sequence[tuple[str, ...]] = ROWS) -> Path:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path, name: str | None = None) -> tuple[list[SourceItem], list[str]]:
    return read_source(open_source(path, name))


def read_text(tmp_path: Path, text: str | bytes, name: str = "graph.tsv") -> tuple[dict[str, SourceArticle], list[str]]:
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    items, bad = read(tmp_path / name)
    return {item.title: item for item in items if isinstance(item, SourceArticle)}, bad


def test_the_rows_of_a_subject_are_its_article(tmp_path: Path) -> None:
    items, bad = read(write(tmp_path / "graph.tsv", [*ROWS[:6], ("london", "located_in", "England")]))
    assert bad == []
    line = "Ada Lovelace — {}."
    lines = [
        line.format(fact)
        for fact in (
            "birth date: 1815-12-10", "born in: London", "friend of: Charles Babbage", "instance of: mathematician",
        )
    ]  # fmt: skip
    assert isinstance(items[0], SourceArticle)
    assert [block.label for block in items[0].sections[1].blocks] == [
        "birth date", "born in", "friend of", "instance of",
    ]  # fmt: skip
    assert without_blocks(items[0]) == SourceArticle(
        title="Ada Lovelace",
        source_id="ada lovelace",
        sections=(SourceSection((), "She wrote the first program."), SourceSection(("Facts",), "\n".join(lines))),
        links=("London",),
        categories=("mathematician",),
        aliases=("Countess of Lovelace",),
        triples=(
            Triple("Ada Lovelace", "birth_date", "1815-12-10", None, lines[0]),
            Triple("Ada Lovelace", "born_in", "London", "London", lines[1]),
            Triple("Ada Lovelace", "friendOf", "Charles Babbage", "Charles Babbage", lines[2]),
            Triple("Ada Lovelace", "instance of", "mathematician", "mathematician", lines[3]),
        ),
    )


def test_labels_name_subjects_and_objects(tmp_path: Path) -> None:
    articles, bad = read_text(
        tmp_path,
        "Q1\trdfs:label\tBabbage\nQ2\tknows\tQ1\nQ1\tknows\tQ2\nQ3\tknows\tQ1\n7\trdfs:label\tSeven\n7\tp\tQ1\n",
    )
    assert bad == []
    assert articles["Q2"].links == ("Babbage",)
    assert articles["Babbage"].aliases == ("Q1",)
    # A number as an alias would be mentioned wherever it stands.
    assert articles["Seven"].aliases == ()


def test_a_name_without_facts_is_no_article_but_names_objects(tmp_path: Path) -> None:
    items, _ = read(write(tmp_path / "graph.tsv", [("Q1", "rdfs:label", "Paris"), ("Ann", "born_in", "Q1")]))
    assert Skipped("q1", "a name without facts") in items
    (article,) = [item for item in items if isinstance(item, SourceArticle)]
    assert article.triples[0].object_link == "Paris"
    assert article.links == ()


def test_two_things_of_one_label_are_told_apart(tmp_path: Path) -> None:
    articles, _ = read_text(
        tmp_path, "Q1\trdfs:label\tMercury\nQ2\trdfs:label\tmercury\nQ1\tkind\tplanet\nQ2\tkind\tmetal\nA\tsees\tQ2\n"
    )
    assert set(articles) == {"Mercury (Q1)", "mercury (Q2)", "A"}
    assert articles["A"].links == ("mercury (Q2)",)
    # The bare name is no alias: it would lead to one of them only.
    assert articles["Mercury (Q1)"].aliases == ("Q1",)


@pytest.mark.parametrize("seed", range(3))
def test_neither_the_order_of_rows_nor_repetition_shows(tmp_path: Path, seed: int) -> None:
    rows = [*ROWS, ("ADA LOVELACE", "born_in", "LONDON"), ROWS[0]]
    random.Random(seed).shuffle(rows)
    shuffled, _ = read(write(tmp_path / "shuffled.tsv", rows))
    in_order, _ = read(write(tmp_path / "graph.tsv"))
    assert shuffled == in_order


def test_a_header_names_the_columns(tmp_path: Path) -> None:
    text = "source,object,weight,Predicate,Subject\nx,Paris,0.5,born_in,Ann\ny,Rome,,born_in,Ben\n"
    articles, bad = read_text(tmp_path, text, "graph.csv")
    assert (list(articles), bad) == (["Ann", "Ben"], [])
    assert (articles["Ann"].triples[0].relation, articles["Ann"].triples[0].object) == ("born_in", "Paris")


@pytest.mark.parametrize("delimiter", ["\t", ",", ";"])
def test_delimiters_byte_order_mark_and_crlf(tmp_path: Path, delimiter: str) -> None:
    text = "\ufeffAnn|born_in|Paris\r\n\r\nParis|located_in|France||\r\n".replace("|", delimiter)
    articles, bad = read_text(tmp_path, text, "graph.csv")
    assert (list(articles), bad) == (["Ann", "Paris"], [])


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("Apple, Inc.;located in;Cupertino, California\nParis;capital of;France\n", ["Apple, Inc.", "Paris"]),
        ("Tom; Jerry,made in,the US; 1940\nParis,capital of,France\n", ["Paris", "Tom; Jerry"]),
        ("a, b\tc; d\te, f; g\n", ["a, b"]),
        (
            '"Rome\n(a, b, c)";seat of;Italy\n"Bern\n(a, b, c)";seat of;Switzerland\n',
            ["Bern (a, b, c)", "Rome (a, b, c)"],
        ),
        ("subject;relation;object;note\nApple, Inc.;located in;a, b;x\nA, B;in, out;C, D;x\n", ["A, B", "Apple, Inc."]),
    ],
)
def test_the_delimiter_is_the_one_that_gives_three_cells(tmp_path: Path, text: str, subjects: list[str]) -> None:
    articles, bad = read_text(tmp_path, text, "graph.csv")
    assert (sorted(articles), bad) == (subjects, [])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Apple, Inc.;located in;Cupertino, California\n", "commas and semicolons split equally many"),
        ("a|b|c\nd|e|f\n", "neither tabs nor commas nor semicolons"),
        ("a,b,c,a\ne,f,g,h\n", "neither tabs nor commas nor semicolons"),
        ("a|b|c\nd|e, f, g|h\ni|j|k\n", "neither tabs nor commas nor semicolons"),
    ],
)
def test_ambiguous_columns_are_an_error(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "graph.csv").write_text(text)
    with pytest.raises(SourceError, match=rf"Cannot detect the columns of .*graph\.csv: {reason}"):
        read(tmp_path / "graph.csv", "triples")


def test_quotes_are_quotes_in_csv_and_characters_in_tsv(tmp_path: Path) -> None:
    csv = '"Doe, Jane",says,"a ""word"""\nBob,description,"two\nlines"\nBob,height,6" tall\n'
    articles, bad = read_text(tmp_path, csv, "graph.csv")
    assert bad == []
    assert articles["Doe, Jane"].triples[0].object == 'a "word"'
    assert articles["Bob"].sections[0].text == "two\nlines"
    assert articles["Bob"].triples[0].object == '6" tall'
    articles, bad = read_text(tmp_path, 'Bob\tsays\t"word\n')
    assert (articles["Bob"].triples[0].object, bad) == ('"word', [])


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("Ann\tborn_in", "expected subject, relation and object, found 2 columns"),
        ("Ann", "expected subject, relation and object, found 1 column"),
        ("Ann\tborn_in\tParis\tx", "expected 3 columns, found 4"),
        ("\tborn_in\tParis", "the subject is empty"),
        (" \t \t ", ""),
        ("__\tborn_in\tParis", "the subject is empty"),
        ("Ann\t \tParis", "the relation is empty"),
        ("Ann\tborn_in\t", "the object is empty"),
        ("x" * 301 + "\tborn_in\tParis", "the subject has 301 characters, the limit for a name is 300"),
        ("Ann\t" + "x" * 301 + "\tParis", "the relation has 301 characters"),
        ("Ann\trdfs:label\t" + "x" * 301, "the name has 301 characters"),
        ("Caf\udce9\tb\tC", "invalid UTF-8 at byte 4 of the line (0xe9)"),
    ],
)
def test_bad_rows_are_named_and_the_rest_is_kept(tmp_path: Path, row: str, reason: str) -> None:
    # One character that is damaged is not another encoding.
    text = f"A\tb\tC\n{row}\nD\té\tÅéî\n".encode("utf-8", "surrogateescape")
    articles, bad = read_text(tmp_path, text)
    assert list(articles) == ["A", "D"]
    assert (bad == []) if not reason else (len(bad) == 1 and f", line 2: {reason}" in bad[0])


@pytest.mark.parametrize(
    ("row", "reason"),
    [('"open,b,C', "a quoted cell is never closed"), ('"a"x,b,C', "a cell continues after its closing quote")],
)
def test_a_stray_quote_costs_one_row(tmp_path: Path, row: str, reason: str) -> None:
    rows = "".join(f"S{n},b,C\n" for n in range(50))
    articles, bad = read_text(tmp_path, f"A,b,C\n{row}\n{rows}", "graph.csv")
    assert len(articles) == 51
    assert len(bad) == 1 and f", line 2: {reason}" in bad[0]


@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=3, max_size=3), min_size=1
    )
)
def test_quoted_cells_come_back(rows: list[list[str]]) -> None:
    # The reader takes \n for the end of a line, and space around a cell for no part of it.
    rows = [["a" + cell.replace("\r", "").strip() + "z" for cell in row] for row in rows]
    text = "x,y,z\n" + "".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n" for row in rows)
    lines = [Line(number, line.encode()) for number, line in enumerate(text.split("\n"), 1)]
    assert [row.cells for row in read_triples(lines)][1:] == rows


@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff", "subject\trelation\tobject\n"])
def test_a_file_without_triples_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "graph.tsv").write_text(text)
    with pytest.raises(SourceError, match=r"is empty|has no triples"):
        read(tmp_path / "graph.tsv")


def test_a_long_literal_is_text_in_full_and_no_long_entity(tmp_path: Path) -> None:
    long = "word " * 200_000
    articles, bad = read_text(tmp_path, f"A\tstory\t{long}\nA\tdescription\t{long}\nA\tb\tx\x00y\n")
    assert bad == []
    article = articles["A"]
    assert article.sections[0].text == long.strip()
    assert long.strip() in article.sections[1].text
    story = next(triple for triple in article.triples if triple.relation == "story")
    assert len(story.object) <= MAX_NAME_LENGTH and story.object.endswith("…") and story.object_link is None
    assert max(len(triple.line) for triple in article.triples) <= MAX_NAME_LENGTH
    assert "\x00" not in article.sections[1].text


@pytest.mark.parametrize(
    ("value", "linked"), [("Paris", True), ("1984", False), ("-3.5 %", False), ("1950-03-12T00:00:00Z", False)]
)
def test_numbers_and_dates_are_values(tmp_path: Path, value: str, linked: bool) -> None:
    articles, _ = read_text(tmp_path, f"A\tb\t{value}\n")
    assert (articles["A"].triples[0].object_link is not None) == linked
    articles, _ = read_text(tmp_path, f"A\tb\t{value}\n{value}\tc\tD\n")
    assert articles["A"].triples[0].object_link == value


# -- whole builds


def build(source: Path, pack: Path, encoder: Embedder, **options: object) -> BuildReport:
    chosen = BuildOptions(name="graph", **options)  # type: ignore[arg-type]
    return build_pack(open_source(source), str(source), pack, encoder, chosen)


def test_the_triples_are_in_the_pack_with_their_evidence(tmp_path: Path, encoder: Embedder) -> None:
    many = [("Ada_Lovelace", "wrote", f"Letter number {n} to a friend in the country") for n in range(60)]
    report = build(write(tmp_path / "graph.tsv", [*ROWS, *many]), tmp_path / "pack", encoder)
    assert (report.manifest.counts["articles"], report.manifest.counts["triples"]) == (3, 66)
    assert (report.lost_links, report.skipped) == (0, {"a name without facts": 1})
    with Pack(tmp_path / "pack") as pack:
        rows = pack.graph.rows(
            "MATCH (a:Entity)-[r:RELATED_TO]->(b:Entity) RETURN a.name, r.relation, b.name, b.type, r.section_id"
        )
        assert {tuple(row[:4]) for row in rows} >= {
            ("Ada Lovelace", "born_in", "London", "article"),
            ("Ada Lovelace", "birth_date", "1815-12-10", "value"),
            ("Ada Lovelace", "friendOf", "Charles Babbage", "article"),
            ("Ada Lovelace", "instance of", "mathematician", "entity"),
        }
        sections = dict(tuple(row) for row in pack.graph.rows("MATCH (s:Section) RETURN s.section_id, s.content"))
        for subject, relation, value, _, evidence in rows:
            assert f"{subject} — {readable_relation(relation)}: {value}." in sections[evidence]
        assert len({row[4] for row in rows if row[0] == "Ada Lovelace"}) > 2
    assert all(check.passed for check in validate_pack(tmp_path / "pack"))


class Notes(Silent):
    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, message: str) -> None:
        self.said.append(message)


def test_relations_called_as_the_structure_of_the_graph_are_renamed(tmp_path: Path, encoder: Embedder) -> None:
    rows = [
        ("Apollo 11", "LINKS_TO", "Moon"),
        ("Apollo 11", "Links_To", "Mars"),
        ("Apollo 11", "~has_entity", "Crew"),
        ("Moon", "links to", "Apollo 11"),
        ("Moon", "MENTIONS", "1969"),
        ("Moon", "mentions it", "1969"),
    ]
    source = write(tmp_path / "graph.tsv", rows)
    notes = Notes()
    build_pack(open_source(source), str(source), tmp_path / "pack", encoder, BuildOptions(name="g"), progress=notes)
    renamed = ["LINKS_TO", "Links_To", "MENTIONS", "~has_entity"]
    assert [note for note in notes.said if "relation" in note] == [
        f"The relation {name!r} is stored as '{name} (fact)': the graph has a table of that name." for name in renamed
    ]
    with Pack(tmp_path / "pack") as pack:
        stored = [row[0] for row in pack.graph.rows("MATCH ()-[r:RELATED_TO]->() RETURN r.relation")]
        assert sorted(stored) == sorted([*(f"{name} (fact)" for name in renamed), "links to", "mentions it"])
        around = Neighborhood(pack.graph)
        ((links,),) = pack.graph.rows("MATCH ()-[r:LINKS_TO]->() RETURN count(r)")
        assert around.relations["LINKS_TO"] == links == 2
        (fact,) = edges_at(around, article("Apollo 11"), relation="LINKS_TO (fact)")
        assert str(fact) == "Apollo 11 -> LINKS_TO (fact) -> Moon"
    assert all(check.passed for check in validate_pack(tmp_path / "pack"))


def test_relations_read_from_the_text_are_renamed_too(tmp_path: Path) -> None:
    staging = Staging(tmp_path / "work.sqlite")
    with staging.transaction():
        staging.write("INSERT INTO extracted_fact VALUES (?, ?, ?, ?)", [("a", "b", "mentions", "A#0")])
    assert derive_entities(staging) == ["mentions"]
    assert [row[0] for row in staging.rows("SELECT relation FROM fact")] == ["mentions (fact)"]
    staging.close()


def test_a_plain_value_is_the_article_whose_title_it_spells_otherwise(tmp_path: Path, encoder: Embedder) -> None:
    source = tmp_path / "graph.nt"
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    source.write_text(
        f'<http://e/1> {label} "eBay" .\n'
        '<http://e/1> <http://e/founded> "1995" .\n'
        "<http://e/3> <http://e/boughtBy> <http://e/1> .\n"
        f'<http://e/2> {label} "Ada" .\n'
        '<http://e/2> <http://e/soldOn> "EBAY" .\n'
        f'<http://e/4> {label} "iPod nano" .\n'
        '<http://e/4> <http://www.w3.org/2000/01/rdf-schema#comment> "A player." .\n'
        '<http://e/2> <http://e/owns> "ipod nano" .\n'
    )
    build(source, tmp_path / "pack", encoder)
    with Pack(tmp_path / "pack") as pack:
        around = Neighborhood(pack.graph)
        for title, fact in (("eBay", "Ada -> soldOn -> eBay"), ("iPod nano", "Ada -> owns -> iPod nano")):
            assert fact in [str(edge) for edge in edges_at(around, article(title), inverse=True)]
            assert fact in [str(edge) for edge in edges_at(around, article("Ada"))]
