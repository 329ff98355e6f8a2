from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wikigr.ingest.chunking import MAX_SECTION_CHARS, MIN_PIECE_CHARS, chunk_article, split_text
from wikigr.sources.article import SourceArticle, SourceSection
from wikigr.sources.block import fill_paragraphs
from wikigr.sources.html.text import parse_html


def record(source_id: str, *sections: tuple[tuple[str, ...], str]) -> SourceArticle:
    return SourceArticle("Alkane", source_id, tuple(SourceSection(path, text) for path, text in sections))


def test_sections_are_slices_of_the_article_text() -> None:
    chunked = chunk_article(
        "Alkane",
        [record("1", ((), "A hydrocarbon."), (("Names",), "Methane, ethane."), (("Names", "Old"), "Paraffin.\n"))],
    )
    assert chunked.content == "A hydrocarbon.\n\n## Names\n\nMethane, ethane.\n\n### Old\n\nParaffin."
    assert [(s.section_id, s.title, s.heading_path) for s in chunked.sections] == [
        ("Alkane#0", "Introduction", ()),
        ("Alkane#1", "Names", ("Names",)),
        ("Alkane#2", "Old", ("Names", "Old")),
    ]
    for section in chunked.sections:
        assert chunked.content[section.start : section.end] == section.content


def test_records_of_one_title_are_passages_in_order_with_their_ids() -> None:
    chunked = chunk_article("Alkane", [record("p7", ((), "First.")), record("p2", ((), "Second."))])
    assert [(s.source_id, s.title, s.content) for s in chunked.sections] == [
        ("p7", "Introduction", "First."),
        ("p2", "Passage 2", "Second."),
    ]


def test_empty_sections_are_skipped_and_positions_stay_dense() -> None:
    chunked = chunk_article("Alkane", [record("1", ((), " \n "), (("A",), "x."), (("B",), ""), (("C",), "y."))])
    assert [(s.title, s.position) for s in chunked.sections] == [("A", 0), ("C", 1)]
    assert chunk_article("Alkane", [record("1", ((), "\n"))]).sections == ()


def test_the_embedding_text_starts_with_title_and_headings() -> None:
    (section,) = chunk_article("Alkane", [record("1", (("Names", "Old"), "Paraffin."))]).sections
    assert section.embedding_text("Alkane") == "Alkane - Names - Old\nParaffin."


def pieces_of(markup: str) -> list[str]:
    (section,) = parse_html(markup).sections
    blocks = fill_paragraphs(section.text, section.blocks)
    return [section.text[start:end] for start, end in split_text(section.text, blocks)]


def spans_of(text: str) -> list[tuple[int, int]]:
    return split_text(text, fill_paragraphs(text, ()))


def test_long_text_is_split_at_paragraph_ends() -> None:
    paragraphs = [letter * 500 for letter in "abcde"]
    text = "\n\n".join(paragraphs)
    assert [text[start:end] for start, end in spans_of(text)] == [
        "\n\n".join(paragraphs[0:2]),
        "\n\n".join(paragraphs[2:4]),
        paragraphs[4],
    ]


def test_a_long_paragraph_is_split_at_sentence_ends() -> None:
    sentence = "The boiling point of an alkane rises with the length of its chain of carbon atoms. "
    text = (sentence * 40).strip()
    pieces = [text[start:end] for start, end in spans_of(text)]
    assert len(pieces) > 2
    assert all(piece.startswith("The boiling") and piece.endswith("atoms.") for piece in pieces)


def test_a_text_without_spaces_is_still_split() -> None:
    assert [end - start for start, end in spans_of("x" * 3000)] == [1200, 1200, 600]


def test_a_short_last_piece_is_joined_to_the_previous_one() -> None:
    text = "a" * 1190 + "\n\n" + "b" * 50
    assert spans_of(text) == [(0, len(text))]


def test_code_keeps_its_indentation_where_it_is_split() -> None:
    function = f"    def f(a):\n        b = a\n\n        return b  # {'x' * 300}\n\n \t\n"
    code = f"```\n{function * 12}```"
    chunked = chunk_article("Alkane", [record("1", (("Code",), code))])
    starts = {section.content.split("\n")[0] for section in chunked.sections}
    assert starts == {"```", "    def f(a):"}
    for section in chunked.sections:
        assert chunked.content[section.start : section.end] == section.content
        assert not section.content.startswith("\n")
        assert section.content == section.content.rstrip()


def test_code_and_definitions_stay_with_what_introduces_them() -> None:
    before = f"{'word ' * 100}end."
    code = "\n".join(["x = 1"] * 150)
    text = f"{before}\n\nRun this:\n\n{code}"
    assert [text[start:end] for start, end in spans_of(text)] == [before, f"Run this:\n\n{code}"]
    definition = f"Move a branch, {'and its log, ' * 60}too."
    pieces = pieces_of(f"<p>{before}<dl><dt>-m<dt>--move<dd>{definition}<dd>{definition}</dl>")
    assert pieces == [before, f"-m\n--move\n    {definition}", f"    {definition}"]


def test_a_question_stays_with_its_answer_and_an_entry_with_its_term() -> None:
    before = f"{'word ' * 230}end."
    answer = f"Ask at the desk{', or by mail' * 20}."
    text = f"{before}\n\nHow do I get a key?\n\n{answer}"
    assert [text[start:end] for start, end in spans_of(text)] == [before, f"How do I get a key?\n\n{answer}"]
    before = f"{'word ' * 80}end."
    paragraph = f"Keep the log{', and the log of it' * 15}."
    entry = f"--keep\n    {paragraph}\n\n    {paragraph}\n\n    {paragraph}"
    markup = f"<p>{before}<dl><dt>--keep<dd><p>{paragraph}<p>{paragraph}<p>{paragraph}"
    assert pieces_of(markup) == [before, entry]
    # An entry that does not fit is divided.
    assert all(len(piece) <= MAX_SECTION_CHARS for piece in pieces_of(f"{markup}<p>{paragraph}<p>{paragraph}"))


def test_a_list_that_is_divided_keeps_its_introduction() -> None:
    items = "".join(f"<li>Tool {number}, which {'cuts and ' * 8}cuts.<ul><li>steel</ul>" for number in range(30))
    introduction = "Work is done here. On the bench,\nthere are:"
    markup = f"<h1>Shop<h2>Bench</h2><p>{introduction}<ul>{items}</ul><p>{'More text. ' * 110}</p><p>End."
    (section,) = parse_html(markup).sections
    article = SourceArticle("Shop", "1", (section,))
    paths = [(chunk.heading_path, chunk.content.split()[0]) for chunk in chunk_article("Shop", [article]).sections]
    assert paths[0] == (("Bench",), "Work")
    assert set(paths[1:-1]) == {(("Bench", "On the bench, there are"), "-")}
    assert paths[-1] == (("Bench",), "More")
    for other in (
        markup.replace("are:", "are."),
        markup.replace("On the", f"On the {'very ' * 40}"),
        markup.replace(introduction, ":"),
    ):
        article = SourceArticle("Shop", "1", parse_html(other).sections)
        assert {chunk.title for chunk in chunk_article("Shop", [article]).sections} == {"Bench"}


def test_blank_lines_at_the_ends_are_not_part_of_a_section() -> None:
    text = "  \n\n" + "a" * MAX_SECTION_CHARS
    assert spans_of(text) == [(4, len(text))]
    assert spans_of(f"{text}\n\n  ") == [(4, len(text))]


@given(st.text(alphabet=st.sampled_from("ab .\n"), max_size=6000))
def test_pieces_are_in_order_within_bounds_and_lose_only_space(text: str) -> None:
    position = 0
    for start, end in spans_of(text):
        assert not text[position:start].strip()
        assert 0 < end - start <= MAX_SECTION_CHARS + MIN_PIECE_CHARS + 2
        position = end
    assert not text[position:].strip()
