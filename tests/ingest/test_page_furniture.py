"""Headers, footers, navigation and tiny sections."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from tests.sources.markdown.notes import article as article_of_note

from wikigr.ingest.page_furniture import RepeatedTextFinder, tidy_sections
from wikigr.sources.article import SourceArticle, SourceSection, Triple
from wikigr.sources.html.text import parse_html

LONG = "The pump moves water from the tank to the house, and it stops when the tank is empty."


def article(number: int, *sections: tuple[str, str], triples: bool = False) -> SourceArticle:
    title = f"Page {number}"
    return SourceArticle(
        title=title,
        source_id=str(number),
        sections=tuple(SourceSection(tuple(filter(None, path.split("/"))), text) for path, text in sections),
        triples=(Triple(title, "p", "o"),) if triples else (),
    )


def tidy(articles: Sequence[SourceArticle]) -> list[list[tuple[str, str]]]:
    finder = RepeatedTextFinder()
    for one in articles:
        finder.add(one)
    repeated = finder.result()
    return [
        [("/".join(section.heading_path), section.text) for section in tidy_sections(one, repeated)] for one in articles
    ]


def test_what_many_pages_begin_or_end_with_is_left_out() -> None:
    pages = [
        article(n, ("", "Docs > All"), ("A", f"{LONG} {n}\n\nCopyright 2020"), ("Suite", "Part of the suite"))
        for n in range(6)
    ]
    assert tidy(pages) == [[("A", f"{LONG} {n}")] for n in range(6)]
    # Four pages may say the same.
    assert tidy(pages[:4])[0] == [("A", f"Docs > All\n\n{LONG} 0\n\nCopyright 2020\n\nSuite: Part of the suite")]


def test_a_repeated_statement_is_text_unless_most_pages_end_with_it() -> None:
    notes = [article(n, ("A", f"{LONG} {n}"), ("Notes", "This function never returns an error.")) for n in range(6)]
    others = [article(n + 6, ("A", f"{LONG} {n}\n\nMore {n}")) for n in range(8)]
    assert tidy([*notes, *others])[0][-1][1].endswith("This function never returns an error.")
    assert tidy(notes)[0] == [("A", f"{LONG} 0")]


def test_facts_that_nodes_share_and_pages_that_only_repeat_stay() -> None:
    text = "human settlement in the north of France, near the sea"
    nodes = [article(n, ("", text), triples=True) for n in range(6)]
    assert tidy(nodes)[0] == [("", text)]
    graph = [article(n, ("", text), ("Facts", "S — a: 1."), triples=True) for n in range(6)]
    assert tidy(graph)[0] == [("", text), ("Facts", "S — a: 1.")]
    alike = [article(n, ("", LONG)) for n in range(6)]
    assert tidy(alike)[0] == [("", LONG)]


def test_the_facts_of_an_infobox_stay_and_do_not_protect_what_pages_repeat() -> None:
    pages = [
        article(n, ("", f"Docs > All\n\n{LONG} {n}"), ("A", "Copyright 2020"), ("Facts", "S — a: 1."), triples=n < 3)
        for n in range(6)
    ]
    assert tidy(pages) == [[("", f"{LONG} {n}"), ("Facts", "S — a: 1.")] for n in range(6)]


def test_the_properties_of_notes_stay_even_if_they_are_short_and_all_alike() -> None:
    note = article_of_note("---\nstatus: away\n---\nAnn keeps the mill.\n\n## Stones\n\nThey were cut in 1911.\n")
    finder = RepeatedTextFinder()
    for _ in range(10):
        finder.add(note)
    kept = [section.text for section in tidy_sections(note, finder.result())]
    assert "status: away" in kept


def test_a_tiny_section_joins_one_beside_it() -> None:
    cases = [
        ([("A", LONG), ("Synopsis", "git var")], [("A", f"{LONG}\n\nSynopsis: git var")]),
        ([("Synopsis", "git var"), ("A", LONG)], [("A", f"Synopsis: git var\n\n{LONG}")]),
        ([("", "ecpg — C preprocessor"), ("A", LONG)], [("A", f"ecpg — C preprocessor\n\n{LONG}")]),
        ([("R1", "Date: 2020"), ("R1/A", LONG)], [("R1/A", f"Date: 2020\n\n{LONG}")]),
        ([("A/B", LONG), ("A/C", "211"), ("D", LONG)], [("A/B", f"{LONG}\n\nC: 211"), ("D", LONG)]),
        ([("A/B", "x"), ("C/D", "y")], [("A/B", "x"), ("C/D", "y")]),
        ([("A", LONG), ("Is it free?", "Yes")], [("A", LONG), ("Is it free?", "Yes")]),
        ([("A", LONG), ("B", "It is old.")], [("A", LONG), ("B", "It is old.")]),
        ([("A", LONG), ("L", "- a\n- b")], [("A", f"{LONG}\n\nL:\n- a\n- b")]),
        ([("", "short")], [("", "short")]),
        # Facts are never joined to other text.
        ([("A", LONG), ("A/Facts", "S — a: b?"), ("B", "x")], [("A", f"{LONG}\n\nB: x"), ("A/Facts", "S — a: b?")]),
        ([("A", LONG), ("B", "x"), ("B/Facts", "S — a: b?")], [("A", f"{LONG}\n\nB: x"), ("B/Facts", "S — a: b?")]),
        ([("B", "x"), ("B/Facts", "S — a: b?")], [("B", "x"), ("B/Facts", "S — a: b?")]),
    ]
    assert [(sections, expected) for sections, expected in cases if tidy([article(0, *sections)]) != [expected]] == []


def test_sections_of_links_at_the_end_are_left_out() -> None:
    links = "".join(f"<li><a href={n}.html>Another page of {n}</a>" for n in range(4))
    end = f"<h2>Members</h2><ul>{links}</ul><h2>B</h2><p>{LONG}<h2>See also</h2>{links}"
    page = parse_html(f"<h2>A</h2><p>{LONG}{end}", title="Page")
    assert [section.is_navigation for section in page.sections] == [False, True, False, True]
    record = SourceArticle("Page", "p", page.sections)
    kept = tidy_sections(record, RepeatedTextFinder().result())
    assert [section.heading_path[-1] for section in kept] == ["A", "Members", "B"]


TEXTS = st.text(alphabet="ab \n", min_size=1, max_size=60).map(str.strip).filter(bool)
PATHS = st.lists(st.sampled_from("AB"), max_size=3).map("/".join)


@given(st.lists(st.tuples(PATHS, TEXTS), min_size=1, max_size=6))
def test_joining_loses_no_text_and_leaves_the_order(sections: list[tuple[str, str]]) -> None:
    (kept,) = tidy([article(0, *sections)])
    joined = " ".join(" ".join(text.split()) for _, text in kept)
    position = 0
    for _, text in sections:
        position = joined.index(" ".join(text.split()), position)
