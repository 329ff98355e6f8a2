from __future__ import annotations

from pathlib import Path

import pytest

from wikigr.errors import PackError
from wikigr.index.lexical import LexicalIndex, LexicalWriter
from wikigr.index.lexical_comparison import lexical_difference

Sections = list[tuple[str, str, str, str]]

SECTIONS: Sections = [
    ("Spin#0", "Spin", "", "Electrons carry an intrinsic angular momentum. Spin of the electron is very very small."),
    ("Laser#0", "Laser", "", "A device that amplifies light by stimulated emission of light."),
    ("Laser#1", "Laser", "Uses", "Reading discs and cutting steel, and not in or not."),
    *((f"Atom {n}#0", f"Atom {n}", "Number", f"The atom with the number {n} has {n} protons.") for n in range(200)),
]


def write(folder: Path, sections: Sections) -> LexicalIndex:
    with LexicalWriter(folder) as writer:
        for section in sections:
            writer.add(*section)
    return LexicalIndex(folder)


def changed(place: int, column: int, old: str, new: str) -> Sections:
    section = list(SECTIONS[place])
    assert old in section[column]
    section[column] = section[column].replace(old, new, 1)
    return [*SECTIONS[:place], (section[0], section[1], section[2], section[3]), *SECTIONS[place + 1 :]]


def test_an_index_of_the_same_sections_is_the_same_in_any_order(tmp_path: Path) -> None:
    assert lexical_difference(write(tmp_path / "same", SECTIONS), SECTIONS) is None
    assert lexical_difference(write(tmp_path / "reversed", SECTIONS[::-1]), SECTIONS) is None
    assert lexical_difference(write(tmp_path / "empty", []), []) is None


@pytest.mark.parametrize(
    ("indexed", "difference"),
    [
        (SECTIONS[1:], "exactly the sections"),
        ([*SECTIONS, SECTIONS[0]], "exactly the sections"),
        (changed(0, 0, "Spin#0", "Spin#1"), "exactly the sections"),
        (changed(0, 3, "angular", "angler"), "terms of its field content"),
        (changed(1, 1, "Laser", "Maser"), "terms of its field title"),
        (changed(2, 2, "Uses", ""), "terms of its field heading"),
        # The same terms and document frequencies, but another frequency, document or position.
        (changed(1, 3, "of light", "of light light"), "searches in its field content"),
        ([*changed(0, 3, "small", "steel")[:2], *changed(2, 3, "steel", "small")[2:]], "searches in its field content"),
        (changed(0, 3, "very very small", "very small very"), "positions in its field content"),
    ],
)
def test_any_other_section_is_a_difference(tmp_path: Path, indexed: Sections, difference: str) -> None:
    found = lexical_difference(write(tmp_path / "lexical", indexed), SECTIONS)
    assert found is not None
    assert difference in found


def test_an_index_with_other_fields_is_different(tmp_path: Path) -> None:
    import tantivy

    builder = tantivy.SchemaBuilder()
    for name in ("section_id", "title", "heading", "content"):
        builder.add_text_field(name, stored=True, tokenizer_name="raw")
    (tmp_path / "lexical").mkdir()
    writer = tantivy.Index(builder.build(), path=str(tmp_path / "lexical")).writer(15_000_000, 1)
    writer.commit()
    assert "its fields" in str(lexical_difference(LexicalIndex(tmp_path / "lexical"), []))


@pytest.mark.trust
@pytest.mark.parametrize("suffix", ["idx", "pos", "fieldnorm", "term", "store"])
def test_damage_that_searches_would_meet_is_found(tmp_path: Path, suffix: str) -> None:
    write(tmp_path / "lexical", SECTIONS)
    (file,) = (tmp_path / "lexical").glob(f"*.{suffix}")
    good = file.read_bytes()
    queries = [*(section[3] for section in SECTIONS[:6]), "very_very angular_momentum"]
    rows = [LexicalIndex(tmp_path / "lexical").search(query, 300) for query in queries]
    harmful = 0
    for place in range(0, len(good), 1 + len(good) // (20 if suffix == "pos" else 8)):
        # A new file, because the old one is mapped into memory.
        file.unlink()
        file.write_bytes(good[:place] + bytes([good[place] ^ 0x10]) + good[place + 1 :])
        try:
            index = LexicalIndex(tmp_path / "lexical")
            changes = [index.search(query, 300) for query in queries] != rows
        except PackError:
            changes = True
        try:
            different = lexical_difference(LexicalIndex(tmp_path / "lexical"), SECTIONS) is not None
        except PackError:
            different = True
        harmful += changes
        assert different or not changes, place
    assert harmful
