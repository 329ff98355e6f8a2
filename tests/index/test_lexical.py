from __future__ import annotations

from pathlib import Path

import pytest

from wikigr.errors import PackError
from wikigr.index.lexical import LexicalIndex, LexicalWriter
from wikigr.index.lexical_comparison import lexical_difference
from wikigr.pack.joined import JoinedLexicalIndex

TEXTS = {
    "Spin#0": ("Spin", "", "Electrons carry an intrinsic angular momentum."),
    "Laser#0": ("Laser", "", "A device that amplifies light."),
    "Laser#1": ("Laser", "Uses", "Reading discs and cutting steel, and not in or not."),
}


@pytest.fixture
def index(tmp_path: Path) -> LexicalIndex:
    with LexicalWriter(tmp_path / "lexical") as writer:
        for section_id, (title, heading, content) in TEXTS.items():
            writer.add(section_id, title, heading, content)
    return LexicalIndex(tmp_path / "lexical")


def ids(index: LexicalIndex, query: str, limit: int = 10) -> list[str]:
    return [hit.section_id for hit in index.search(query, limit)]


def test_words_are_stemmed_and_every_field_counts(index: LexicalIndex) -> None:
    assert ids(index, "amplifying") == ["Laser#0"]
    assert ids(index, "electron") == ["Spin#0"]
    assert ids(index, "use") == ["Laser#1"]
    assert set(ids(index, "lasers")) == {"Laser#0", "Laser#1"}


def test_scores_fall_and_the_limit_holds(index: LexicalIndex) -> None:
    hits = index.search("laser light", 10)
    assert [hit.section_id for hit in hits] == ["Laser#0", "Laser#1"]
    assert hits[0].score > hits[1].score > 0
    assert len(index.search("laser light", 1)) == 1


def test_nothing_in_a_question_is_search_syntax(index: LexicalIndex) -> None:
    cases = [
        'title:"x" AND (', "NOT laser", "a OR", "light^^^", "[* TO *]", "laser -light", "\\", "content:/.*/",
        "?*~^:!(){}[]",
    ]  # fmt: skip
    assert [query for query in cases if not set(ids(index, query)) <= set(TEXTS)] == []


def test_operators_are_words(index: LexicalIndex) -> None:
    assert "Laser#1" in ids(index, "NOT laser")


def test_a_query_without_words_finds_nothing(index: LexicalIndex) -> None:
    assert ids(index, "?! …") == []


def test_a_pasted_page_is_cut_not_refused(index: LexicalIndex) -> None:
    assert ids(index, "laser " + "word " * 20_000)[0].startswith("Laser")


def test_frequency_counts_sections_by_stem(index: LexicalIndex) -> None:
    assert len(index) == 3
    assert (index.frequency("light"), index.frequency("and"), index.frequency("absent")) == (1, 1, 0)


def test_a_missing_or_damaged_index_is_a_pack_error(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="lexical index"):
        LexicalIndex(tmp_path / "nothing")
    with LexicalWriter(tmp_path / "lexical") as writer:
        writer.add("a#0", "a", "", "text")
    (tmp_path / "lexical" / "meta.json").write_text("{")
    with pytest.raises(PackError, match="lexical index"):
        LexicalIndex(tmp_path / "lexical")


def test_every_flipped_bit_gives_results_or_a_pack_error(tmp_path: Path) -> None:
    """Regression: tantivy panics on many damaged files, which ended the process with a traceback."""
    with LexicalWriter(tmp_path / "lexical") as writer:
        for section_id, (title, heading, content) in TEXTS.items():
            writer.add(section_id, title, heading, content)
    causes = set()
    for file in sorted((tmp_path / "lexical").glob("*.*")):
        good = file.read_bytes()
        for place in range(0, len(good), 23):
            # A new file, because the old one is mapped into memory.
            file.unlink()
            file.write_bytes(good[:place] + bytes([good[place] ^ 0x80]) + good[place + 1 :])
            try:
                index = LexicalIndex(tmp_path / "lexical")
                index.frequency("light")
                index.search("laser light", 10)
            except PackError as error:
                causes.add(type(error.__cause__).__name__)
        file.unlink()
        file.write_bytes(good)
    assert causes == {"PanicException", "ValueError"}


def test_a_read_only_index_is_opened_without_writing_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "lexical"
    with LexicalWriter(folder) as writer:
        writer.add("a#0", "a", "", "text")
    for lock in folder.glob(".tantivy-*"):
        lock.unlink()
    before = sorted(folder.iterdir())
    # Root may write anywhere, so the test says what a user without the right would be told.
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert ids(LexicalIndex(folder), "text") == ["a#0"]
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    "query", ["electron", "laser light", "laser light lasers laser", "reading AND not", "lasers use_cutting", "_", ""]
)
def test_the_whole_index_as_a_part_of_itself_gives_the_same_scores(index: LexicalIndex, query: str) -> None:
    found = index.search_as_part(query, 10, index)
    assert [hit.section_id for hit in found] == ids(index, query)
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in index.search(query, 10)], rel=1e-5)


@pytest.mark.parametrize("word", ["e3b0c442" * 8, "x" * 40, "ü" * 20])
def test_words_that_the_index_drops_are_no_damage(index: LexicalIndex, word: str) -> None:
    assert ids(index, word) == ids(index, f"{word} {word}1") == []
    assert ids(index, f"electron {word}") == ["Spin#0"]
    assert index.search_as_part(word, 10, index) == []


PARTS = {
    "Winches#0": ("Winches", "", "The W40 lifts 300 kg. Bindings exist for C++ only."),
    "Winches#1": ("Winches", "", "The W-400 lifts 3 t. Bindings exist for C# only, and C is not one of them."),
    "Winches#2": ("Winches", "", "Release 3.4.1 reads store.toml."),
    "Winches#3": ("Winches", "", "Release 3.4 reads no toml and has no store."),
}


def parts(folder: Path, *, exact: bool) -> LexicalIndex:
    with LexicalWriter(folder, exact=exact) as writer:
        for section_id, (title, heading, content) in PARTS.items():
            writer.add(section_id, title, heading, content)
    return LexicalIndex(folder)


def test_identifiers_are_found_whole(tmp_path: Path) -> None:
    index = parts(tmp_path / "lexical", exact=True)
    wanted = {"w400": "#1", "C++ binding": "#0", "C# binding": "#1", "release 3.4.1": "#2", "release 3.4": "#3"}
    wanted |= {"store.toml": "#2"}
    assert {query: ids(index, query)[0].removeprefix("Winches") for query in wanted} == wanted


def test_an_index_of_an_earlier_release_is_searched_without_them(tmp_path: Path) -> None:
    old, new = parts(tmp_path / "old", exact=False), parts(tmp_path / "new", exact=True)
    assert (old.has_exact, new.has_exact) == (False, True)
    assert "Winches#2" in ids(old, "store.toml")
    assert old.frequency("store.toml", "exact") == 0
    joined = JoinedLexicalIndex([old, new], lambda number, section_id: f"{number}:{section_id}")
    assert ids(joined, "C# binding")[0] == "1:Winches#1"
    rows = [(section_id, *texts) for section_id, texts in PARTS.items()]
    assert lexical_difference(old, rows) is None
    assert lexical_difference(new, rows) is None


def test_words_side_by_side_count_more(tmp_path: Path) -> None:
    with LexicalWriter(tmp_path / "lexical") as writer:
        writer.add("a#0", "a", "", "In June, 9 boats sank; 7 more in May.")
        writer.add("b#0", "b", "", "On 7 June, 9 boats sank; more in May.")
    index = LexicalIndex(tmp_path / "lexical")
    assert [hit.section_id for hit in index.search("boats in May", 2, ["7 June", "June 7"])] == ["b#0", "a#0"]
