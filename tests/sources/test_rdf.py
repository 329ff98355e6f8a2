"""N-Triples and Turtle: names, languages, blank nodes and unreadable statements."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from tests.sources.reading import read_source

from wikigr.errors import SourceError
from wikigr.sources.article import SourceArticle
from wikigr.sources.detect import open_source
from wikigr.sources.rdf import local_name

PREFIXES = """@prefix e: <http://e.org/> . @prefix f: <http://f.org/x/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def read(path: Path, text: str | bytes) -> tuple[dict[str, SourceArticle], list[str]]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    items, bad = read_source(open_source(path))
    return {item.title: item for item in items if isinstance(item, SourceArticle)}, bad


def turtle(tmp_path: Path, text: str) -> tuple[dict[str, SourceArticle], list[str]]:
    return read(tmp_path / "graph.ttl", PREFIXES + text)


def test_a_subject(tmp_path: Path) -> None:
    articles, bad = turtle(
        tmp_path,
        """e:q1 rdfs:label "Ada Lovelace"@en, "Ada die Erste"@de ; skos:altLabel "Countess", "Comtesse"@fr ;
        rdfs:comment "She wrote programs."@en-gb, "Elle"@fr ; a e:Person ; e:birthPlace e:Big_City ;
        e:height 1.50 ; e:born "1815-12-10"^^xsd:date ; e:motto "Liberté"@fr .
        e:Big_City e:country e:Caf%C3%A9_Land .""",
    )
    assert bad == []
    ada = articles["Ada Lovelace"]
    assert ada.sections[0].text == "She wrote programs."
    assert (ada.aliases, ada.categories, ada.links) == (("Countess", "q1"), ("Person",), ("Big City",))
    assert (ada.url, ada.source_id) == ("http://e.org/q1", "http://e.org/q1")
    assert {(t.relation, t.object, t.object_link) for t in ada.triples} == {
        ("type", "Person", "Person"), ("birthPlace", "Big City", "Big City"), ("height", "1.50", None),
        ("born", "1815-12-10", None), ("motto", "Liberté", None),
    }  # fmt: skip
    assert articles["Big City"].sections[0].text == "Big City — country: Café Land."


def test_without_english_the_alphabetically_first_language_counts(tmp_path: Path) -> None:
    articles, _ = turtle(tmp_path, 'e:x rdfs:label "Genf"@de, "Genève"@fr ; rdfs:comment "Ville"@fr ; e:p "1" .')
    assert articles["Genf"].sections[0].text == "Ville"
    assert articles["Genf"].aliases == ("x",)


def test_iris_of_one_name_are_told_apart(tmp_path: Path) -> None:
    articles, _ = turtle(tmp_path, "e:London e:in e:UK . f:London e:in e:Ontario . e:x e:near f:London .")
    assert set(articles) == {"London (e.org/London)", "London (f.org/x/London)", "x"}
    assert articles["x"].links == ("London (f.org/x/London)",)
    # The class of that name has no article, so the one that has keeps its name.
    articles, _ = turtle(tmp_path, "e:Film e:in e:UK . e:x a f:Film .")
    assert set(articles) == {"Film", "x"}
    assert articles["x"].triples[0].object_link == "Film (f.org/x/Film)"


def test_blank_nodes_have_stable_names(tmp_path: Path) -> None:
    text = "e:a e:address [ e:city e:Paris ], [ e:city e:Rome ] . _:b1 e:city e:Oslo ."
    first, _ = turtle(tmp_path, text)
    again, _ = turtle(tmp_path, text)
    assert first == again
    assert set(first) == {"a", "blank node anonymous 1", "blank node anonymous 2", "blank node b1"}


@pytest.mark.parametrize(
    ("iri", "name"),
    [
        ("http://e.org/a/Caf%C3%A9_x", "Café_x"),
        ("http://e.org/a#b", "b"),
        ("http://e.org/", "e.org"),
        ("urn:isbn:123", "123"),
        ("http://e.org/a/", "a"),
        ("http://e.org/a:b", "a:b"),
    ],
)
def test_local_names(iri: str, name: str) -> None:
    assert local_name(iri) == name


@pytest.mark.parametrize("end", [".nt", ".ttl"])
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (rb'<http://e/a> <http://e/b> "\q" .', r"Unexpected escape character '\\q'|.*\\q"),
        (rb'<http://e/a> <http://e/b> "\uD800" .', "D800"),
        (b'<http://e/a> <http://e/b> "caf\xe9" .', r"invalid UTF-8 at byte 31 of the line \(0xe9\)"),
        (b"<http://e/a> <http://e/b> <not iri> .", "Invalid IRI"),
    ],
)
def test_a_bad_statement_is_named_and_the_rest_is_kept(tmp_path: Path, end: str, line: bytes, reason: str) -> None:
    good = b"<http://e/%d> <http://e/b> <http://e/c> .\n"
    text = b"\xef\xbb\xbf# caf\xe9\n" + good % 1 + line + b"\n" + good % 2
    articles, bad = read(tmp_path / f"graph{end}", text)
    assert set(articles) == {"1", "2"}
    assert len(bad) == 1
    assert re.match(rf"{re.escape(str(tmp_path))}/graph\{end}, line 3: .*({reason})", bad[0])


def test_a_quote_that_is_never_closed(tmp_path: Path) -> None:
    good = "<http://e/{}> <http://e/b> <http://e/c> .\n"
    text = good.format(1) + '<http://e/a> <http://e/b> "open .\n' + good.format(2) + "<http://e/a> <http://e/b>\n"
    articles, bad = read(tmp_path / "graph.nt", text + good.format(3))
    assert set(articles) == {"1", "2", "3"}
    assert [message.split(":")[0] for message in bad] == [f"{tmp_path}/graph.nt, line {n}" for n in (2, 4)]
    articles, bad = read(tmp_path / "graph.ttl", text)
    assert set(articles) == {"1"}
    assert bad == [
        f"{tmp_path}/graph.ttl, line 2: the statement that begins here never ends, so nothing after it was read"
    ]


def test_compressed_crlf_and_long_literals(tmp_path: Path) -> None:
    long = "word " * 200_000
    text = f'<http://e/a> <http://e/b> "{long}" .\r\n<http://e/a> <http://schema.org/name> "{long}" .\r\n'
    articles, bad = read(tmp_path / "graph.nt.gz", gzip.compress(text.encode()))
    assert bad == []
    assert long.strip() in articles["a"].sections[0].text
    objects = [triple.object for triple in articles["a"].triples]
    assert objects and max(map(len, objects)) <= 300
    (tmp_path / "cut.nt.gz").write_bytes(gzip.compress(text.encode())[:-20])
    with pytest.raises(SourceError, match="truncated"):
        list(open_source(tmp_path / "cut.nt.gz").records())


def test_a_file_without_statements_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "graph.ttl").write_text(PREFIXES)
    with pytest.raises(SourceError, match="has no triples"):
        list(open_source(tmp_path / "graph.ttl").records())


def test_statements_about_statements_are_bad_records(tmp_path: Path) -> None:
    articles, bad = turtle(tmp_path, "e:a e:says <<( e:b e:c e:d )>> . e:a e:b e:c .")
    assert set(articles) == {"a"}
    assert bad == ["http://e.org/a: a statement about a statement is not supported"]
