"""The reported differences between two real packs, and the suggested version."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.errors import PackError
from wikigr.evaluation.gold_drift import DriftedQuestion, contains_answer, find_content_drift
from wikigr.evaluation.questions import Gold, GoldQuestion, QuestionError
from wikigr.graph.link_graph import LinkGraph
from wikigr.ingest import chunking, linking, parsing
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.ingest.engines.local import LocalEngine
from wikigr.ingest.staging import Staging
from wikigr.ingest.update import StagingReader
from wikigr.pack.content_diff import ContentDiff, EdgeChanges, Removed, Renamed, SectionMove, TripleChange, compare
from wikigr.pack.diff import diff_packs, suggest
from wikigr.pack.manifest import Manifest, read_manifest
from wikigr.pack.next_version import Level
from wikigr.pack.open import Pack
from wikigr.pack.pack_reader import ArticleText, EdgeKind, PackReader, SectionText, Statement
from wikigr.progress import Silent
from wikigr.sources.detect import open_source
from wikigr.text import fold

Record = dict[str, object]
Build = Callable[..., Path]

ALPHA: Record = {
    "id": "a",
    "title": "Alpha",
    "text": "Alpha is the first letter. See Beta.\n# Use\nAlpha decay was named in 1899.",
    "links": ["Beta"],
}
BETA: Record = {"id": "b", "title": "Beta", "text": "Beta is the second letter.", "aliases": ["Letter two"]}
GAMMA: Record = {"id": "g", "title": "Gamma", "text": "Gamma is the third letter.\n# Rays\nGamma rays are light."}
RECORDS = [ALPHA, BETA, GAMMA]

QUESTIONS: list[Record] = [
    {"id": "q-year", "question": "When?", "answers": ["1899"], "gold": [{"title": "Alpha", "section": "Use"}]},
    {"id": "q-second", "question": "Which is second?", "answers": ["second letter"], "gold": [{"title": "Beta"}]},
    {"id": "q-rays", "question": "What are the rays?", "answers": ["light"], "gold": [{"title": "Gamma"}]},
    {"id": "q-none", "question": "Who first built a paper clip?", "answers": [], "answerable": False},
]


@pytest.fixture
def build(tmp_path: Path, encoder: Embedder) -> Build:
    """Build a pack of these records, with the gold questions, if any."""

    def make(name: str, records: Iterable[Record], questions: Iterable[Record] = (), **options: str) -> Path:
        source = tmp_path / f"{name}.jsonl"
        source.write_text("".join(json.dumps(record) + "\n" for record in records))
        chosen = BuildOptions(name="letters", **options)  # type: ignore[arg-type]
        build_pack(open_source(source), str(source), tmp_path / name, encoder, chosen)
        if questions:
            file = tmp_path / name / "eval" / "questions.jsonl"
            file.parent.mkdir()
            file.write_text("".join(json.dumps(question) + "\n" for question in questions))
        return tmp_path / name

    return make


@pytest.fixture
def content(tmp_path: Path) -> Callable[..., ContentDiff]:
    """Compare two lists of records as staged by a build, without a database."""
    numbers = itertools.count()

    def staged(stack: ExitStack, records: Iterable[Record]) -> StagingReader:
        source = tmp_path / f"{next(numbers)}.jsonl"
        source.write_text("".join(json.dumps(record) + "\n" for record in records))
        staging = Staging(source.with_suffix(".sqlite"))
        stack.callback(staging.close)
        parsing.read_source(
            open_source(source), staging, limit=None, keep_going=False, progress=Silent(), engine=LocalEngine()
        )
        chunking.chunk_all(staging, Silent())
        linking.link_all(staging, Silent(), LocalEngine(), by_id=True)
        return StagingReader(staging)

    def make(before: Iterable[Record], after: Iterable[Record]) -> ContentDiff:
        with ExitStack() as stack:
            return compare(staged(stack, before), staged(stack, after))

    return make


def test_packs_of_one_content_do_not_differ_wherever_they_were_built(build: Build) -> None:
    found = diff_packs(build("a", RECORDS), build("b", reversed(RECORDS)))
    assert not found.differs
    assert (found.suggestion.level, found.suggestion.version, found.suggestion.reasons) == (Level.NONE, "1.0.0", ())
    assert [change.name for change in found.manifest] == ["source.name"]


def test_articles_added_removed_renamed_and_changed(build: Build) -> None:
    after = [
        dict(ALPHA, text="Alpha is the very first letter. See Beta.\n# Use\nAlpha decay was named in 1899."),
        dict(BETA, title="Beta (letter)"),
        {"id": "d", "title": "Delta", "text": "Delta is the fourth letter.", "aliases": ["Gamma"]},
    ]
    found = diff_packs(build("a", RECORDS), build("b", after, version="1.0.1"))
    content = found.content
    assert content.added == ()
    # Delta shares only its alias with Gamma, as after a move with a redirect.
    assert content.renamed == (Renamed("Beta", "Beta (letter)", "content"), Renamed("Gamma", "Delta", "alias"))
    (alpha, delta) = content.changed
    (change,) = alpha.changed
    assert (alpha.title, change.before, change.after) == ("Alpha", "Alpha#0", "Alpha#0")
    assert (change.words_added, change.words_removed, alpha.words_added, alpha.words_removed) == (1, 0, 1, 0)
    assert (delta.title, delta.removed, [c.before for c in delta.changed]) == ("Delta", ("Gamma#1",), ["Gamma#0"])
    assert found.suggestion.level is Level.MAJOR
    assert found.suggestion.version == "2.0.0"
    assert found.suggestion.stated_is_lower


def test_links_and_names_alone_are_a_patch_and_more_text_is_minor(build: Build) -> None:
    before = build("a", RECORDS)
    patch = diff_packs(before, build("b", [dict(ALPHA, links=["Gamma"]), dict(BETA, aliases=["B"]), GAMMA])).suggestion
    assert (patch.level, patch.version, patch.stated_is_lower) == (Level.PATCH, "1.0.1", True)
    more = [*RECORDS, {"id": "d", "title": "Delta", "text": "Delta is the fourth letter."}]
    minor = diff_packs(before, build("c", more, version="1.1.0")).suggestion
    assert (minor.level, minor.version, minor.stated_is_lower) == (Level.MINOR, "1.1.0", False)


def test_a_removed_article_names_the_article_with_its_alias(content: Callable[..., ContentDiff]) -> None:
    after = [dict(ALPHA, aliases=["gamma"]), BETA]
    found = content(RECORDS, after)
    assert found.removed == (Removed("Gamma", "Alpha"),)
    assert found.changed[0].aliases_added == ("gamma",)


def test_a_renamed_article_is_known_by_its_sections_when_its_text_changed_too(
    content: Callable[..., ContentDiff],
) -> None:
    third: Record = {"id": "x", "title": "Third", "text": "The third letter.\n# Rays\nGamma rays are light."}
    after = [ALPHA, BETA, third]
    found = content(RECORDS, after)
    assert found.renamed == (Renamed("Gamma", "Third", "sections"),)
    less = dict(third, text="The third letter.\n# Rays\nGamma rays are quanta.")
    found = content(RECORDS, [ALPHA, BETA, less])
    assert (found.renamed, found.added) == ((), ("Third",))
    assert found.removed == (Removed("Gamma", None),)


def test_a_shared_section_is_not_evidence_of_a_rename(content: Callable[..., ContentDiff]) -> None:
    stub = "\n# Notes\nThis article is a stub."
    kept = [ALPHA, *(dict(record, text=f"{record['text']}{stub}") for record in (BETA, GAMMA))]
    before = {"id": "o", "title": "Oxygen", "text": f"Oxygen is a gas.{stub}"}
    after = {"id": "p", "title": "Paris", "text": f"Paris is a city.{stub}"}
    found = content([*kept, before], [*kept, after])
    assert (found.renamed, found.removed, found.added) == ((), (Removed("Oxygen", None),), ("Paris",))
    # The remaining sections are still evidence.
    texts = [f"{first}{stub}\n# Use\nPlants make it." for first in ("Oxygen is a gas.", "It is breathed.")]
    found = content([*kept, dict(before, text=texts[0])], [*kept, dict(after, text=texts[1])])
    assert found.renamed == (Renamed("Oxygen", "Paris", "sections"),)


def test_articles_of_one_text_are_not_taken_for_each_other(content: Callable[..., ContentDiff]) -> None:
    stub = {"text": "A letter of an alphabet that nobody has described in any more words than these."}
    before = [ALPHA, {"id": "1", "title": "Qoppa", **stub}, {"id": "2", "title": "Sampi", **stub}]
    after = [ALPHA, {"id": "3", "title": "Heta", **stub}, {"id": "4", "title": "San", **stub}]
    found = content(before, after)
    assert "content" not in {change.told_by for change in found.renamed}


def test_sections_that_moved_are_not_new(content: Callable[..., ContentDiff]) -> None:
    turned = dict(GAMMA, text="Gamma is the third letter.\n# History\nPhoenician.\n# Light\nGamma rays are light.")
    found = content(RECORDS, [ALPHA, BETA, turned])
    (gamma,) = found.changed
    assert gamma.added == ("Gamma#1",)
    assert gamma.moved == (SectionMove("Gamma#1", "Gamma#2", "Rays", "Light"),)
    assert (gamma.removed, gamma.changed, gamma.words_added, gamma.words_removed) == ((), (), 1, 0)


def test_a_section_that_went_to_another_article_is_followed(content: Callable[..., ContentDiff]) -> None:
    after = [
        ALPHA,
        dict(BETA, text=f"{BETA['text']}\n# Rays\nGamma rays are light."),
        dict(GAMMA, text="Gamma is third."),
    ]
    found = content(RECORDS, after)
    assert found.moved == (SectionMove("Gamma#1", "Beta#1"),)


def test_links_mentions_and_details_are_reported_separately(content: Callable[..., ContentDiff]) -> None:
    after = [
        dict(ALPHA, links=["Gamma"]),
        dict(BETA, aliases=["letter one"], categories=["Letters"], url="https://example.org/b"),
        GAMMA,
    ]
    found = content(RECORDS, after)
    assert found.links == EdgeChanges((("Alpha", "Gamma"),), (("Alpha", "Beta"),))
    (beta,) = found.changed
    assert (beta.aliases_added, beta.aliases_removed) == (("letter one",), ("letter two",))
    assert (beta.details, beta.changes_text) == (("categories", "url"), False)


def test_anchors_are_compared(tmp_path: Path, encoder: Embedder) -> None:
    """Regression: the digests differed, and no change was listed."""

    def built(name: str, anchor: str) -> Path:
        source = tmp_path / name / "valve.html"
        source.parent.mkdir()
        prose = "<p>" + "The lever of the valve is red and turns in both directions. " * 6 + "</p>"
        source.write_text(f"<title>Valve</title><h1>Valve</h1>{prose}<h2 id={anchor}>Use</h2>{prose}")
        pack = tmp_path / name / "pack"
        build_pack(open_source(source), str(source), pack, encoder, BuildOptions(name="p"))
        return pack

    before, after, again = built("a", "opening"), built("b", "turning"), built("c", "turning")
    found = diff_packs(before, after)
    (valve,) = found.content.changed
    assert (valve.title, valve.details, valve.changes_text) == ("Valve", ("anchors",), False)
    assert (found.suggestion.level, found.suggestion.reasons) == (Level.PATCH, ("1 article has changed details",))
    assert not diff_packs(after, again).differs


def test_a_renamed_article_keeps_its_links(content: Callable[..., ContentDiff]) -> None:
    after = [dict(ALPHA, links=["Second"]), dict(BETA, title="Second", aliases=["Beta"]), GAMMA]
    found = content(RECORDS, after)
    assert found.renamed == (Renamed("Beta", "Second", "content"),)
    assert (found.links, found.mentions) == (EdgeChanges(), EdgeChanges())


def test_triples_are_reported_with_their_article(tmp_path: Path, encoder: Embedder) -> None:
    packs = []
    for name, rows in (
        ("a", ["Ben\temployer\tAcme", "Mira\tspouse\tBen"]),
        ("b", ["Ben\temployer\tBolt", "Mira\tspouse\tBen"]),
    ):
        source = tmp_path / f"{name}.tsv"
        source.write_text("\n".join(rows))
        build_pack(open_source(source), str(source), tmp_path / name, encoder, BuildOptions(name="people"))
        packs.append(tmp_path / name)
    found = diff_packs(*packs).content.triples
    assert TripleChange("Ben", "employer", "Bolt", "Ben") in found.added
    assert TripleChange("Ben", "employer", "Acme", "Ben") in found.removed
    assert not [triple for triple in (*found.added, *found.removed) if triple.relation == "spouse"]


def test_gold_questions_that_drifted(build: Build) -> None:
    after = [
        dict(ALPHA, text="Alpha is the first letter, since 1899.\n# Use\nAlpha decay."),
        dict(BETA, title="Second"),
        dict(GAMMA, text="Gamma is the third letter.\n# Rays\nGamma rays are quanta."),
    ]
    found = diff_packs(build("a", RECORDS, QUESTIONS), build("b", after))
    assert found.questions == (
        DriftedQuestion("q-year", "answer-moved", "Alpha", "Use", "Introduction"),
        DriftedQuestion("q-second", "article-renamed", "Beta", "Beta", "Second"),
        DriftedQuestion("q-rays", "answer-gone", "Gamma", "light", None),
    )
    assert found.questions_file is not None
    assert found.questions_file.parts[-3:] == ("a", "eval", "questions.jsonl")


def test_questions_of_the_second_pack_come_before_those_of_the_first(build: Build, tmp_path: Path) -> None:
    after = [ALPHA, BETA, dict(GAMMA, text="Gamma is the third letter.\n# Beams\nGamma rays are light, too.")]
    own = [dict(QUESTIONS[2], id="own", gold=[{"title": "gamma", "section": "Rays"}])]
    a, b = build("a", RECORDS, QUESTIONS), build("b", after, own)
    assert [(move.question_id, move.kind, move.before, move.after) for move in diff_packs(a, b).questions] == [
        ("own", "section-gone", "Rays", None),
        ("own", "answer-moved", "Rays", "Beams"),
    ]
    given = tmp_path / "given.jsonl"
    given.write_text(json.dumps(dict(QUESTIONS[2], id="given")) + "\n")
    assert {move.question_id for move in diff_packs(a, b, questions=given).questions} == {"given"}
    given.write_text("{no json\n")
    with pytest.raises(QuestionError, match="line 1"):
        diff_packs(a, b, questions=given)


def test_an_answer_that_stays_in_place_is_reported_as_changed_text_only(build: Build) -> None:
    after = [dict(ALPHA, text=f"{ALPHA['text']} It is common."), BETA]
    found = diff_packs(build("a", RECORDS, QUESTIONS), build("b", after))
    assert [(move.question_id, move.kind, move.after) for move in found.questions] == [
        ("q-year", "text-changed", "3 words added, 0 removed"),
        ("q-rays", "article-removed", None),
    ]


def test_an_unanswerable_question_that_is_now_answered(build: Build) -> None:
    clip = "Who first built a paper clip? Johan Vaaler first built a paper clip in Norway in 1899."
    found = diff_packs(
        build("a", RECORDS, QUESTIONS), build("b", [*RECORDS, {"id": "p", "title": "Paper clip", "text": clip}])
    )
    (move,) = found.questions
    assert (move.question_id, move.kind, move.title, move.before) == ("q-none", "now-answered", "Paper clip", None)
    assert "Vaaler" in (move.after or "")


def test_an_article_is_read_and_folded_once_for_all_its_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = _Generated(1), _Generated(1, changed=1)
    found = compare(before, after)  # type: ignore[arg-type]
    before.read = after.read = 0
    texts = {section.content for side in (before, after) for section in side.sections_of("Article 000000")}
    folded: list[str] = []

    def counted(text: str) -> str:
        folded.append(text)
        return fold(text)

    monkeypatch.setattr("wikigr.evaluation.gold_drift.fold", counted)
    gold = (Gold("Article 000000"),)
    questions = [GoldQuestion(str(n), "?", ("words",), gold, True, "", "", None, n) for n in range(50)]
    assert len(find_content_drift(questions, before, after, found)) == 50  # type: ignore[arg-type]
    assert (before.read, after.read) == (2, 2)
    assert sum(text in texts for text in folded) == 8


def test_an_answer_is_found_as_whole_words() -> None:
    cases = {
        ("In  the Swiss\npatent office.", "Swiss patent office"): True,
        ("It was 11930.", "1930"): False,
        ("THE SECOND LETTER", "second letter"): True,
        ("costs $5 (five)", "$5"): True,
        ("", "x"): False,
    }
    assert {(text, answer): contains_answer(text, answer) for text, answer in cases} == cases


# -- versions


def test_another_encoder_or_format_is_major_and_metadata_a_patch(build: Build) -> None:
    manifest = read_manifest(build("a", RECORDS) / "manifest.json")

    def level(**changes: object) -> tuple[Level, str]:
        from wikigr.pack.diff import manifest_changes

        other: Manifest = replace(manifest, **changes)  # type: ignore[arg-type]
        found = suggest(manifest, other, ContentDiff(), manifest_changes(manifest, other))
        return found.level, "; ".join(found.reasons)

    assert level(encoder=replace(manifest.encoder, weights_sha256="0" * 64)) == (
        Level.MAJOR,
        "the encoder is different",
    )
    assert level(storage_version=99) == (Level.MAJOR, "the format is different")
    assert level(license="CC0") == (Level.PATCH, "changed: license")
    assert level(thresholds={"abstention": 0.5}) == (
        Level.PATCH,
        "changed: thresholds.abstention, thresholds.min_relevance",
    )
    assert level(created="2000-01-01", version="9.0.0", source={"name": "x", "format": "jsonl"}) == (Level.NONE, "")


def test_a_pack_of_another_format_is_refused(build: Build) -> None:
    a, b = build("a", RECORDS), build("b", RECORDS)
    fields = json.loads((b / "manifest.json").read_text())
    (b / "manifest.json").write_text(json.dumps({**fields, "format_version": 999}))
    with pytest.raises(PackError, match="format 999"):
        diff_packs(a, b)


# -- many sections


class _Generated:
    """Generated content: ``articles`` of four sections; every ``changed``-th article has a different first section."""

    def __init__(self, articles: int, changed: int = 0) -> None:
        self._articles = articles
        self._changed = changed
        self.read = 0

    def articles(self) -> Iterable[ArticleText]:  # type: ignore[override]
        for n in range(self._articles):
            yield ArticleText(self._title(n), "".join(s.content for s in self._sections(n)), (), {})

    def sections(self) -> Iterable[SectionText]:  # type: ignore[override]
        for n in range(self._articles):
            yield from self._sections(n)

    def sections_of(self, title: str) -> list[SectionText]:
        self.read += 1
        return self._sections(int(title.removeprefix("Article ")))

    def edges(self, kind: EdgeKind) -> LinkGraph:
        titles = [self._title(n) for n in range(self._articles)]
        sources = np.arange(self._articles - 1, dtype=np.int32)
        return LinkGraph(titles, sources, sources + np.int32(1 if kind == "LINKS_TO" or not self._changed else 0))

    def statements(self) -> Iterable[Statement]:  # type: ignore[override]
        return ()

    def _title(self, n: int) -> str:
        return f"Article {n:06}"

    def _sections(self, n: int) -> list[SectionText]:
        new = " new" if self._changed and n % self._changed == 0 else ""
        return [
            SectionText(self._title(n), at, (f"Part {at}",), f"Text {at} of {n}.{new if at == 0 else ''}", "", "")
            for at in range(4)
        ]


def test_only_what_changed_is_read_a_second_time() -> None:
    before, after = _Generated(2_000), _Generated(2_000, changed=100)
    found = compare(before, after)  # type: ignore[arg-type]
    assert len(found.changed) == before.read == after.read == 20
    assert {(change.words_added, change.words_removed) for change in found.changed} == {(1, 0)}
    assert (len(found.links.added), len(found.mentions.added)) == (0, 1_999)


def test_the_difference_is_the_same_under_any_order_of_the_records(content: Callable[..., ContentDiff]) -> None:
    after = [dict(ALPHA, links=["Gamma", "Beta"]), dict(BETA, title="Second"), dict(GAMMA, text="Gamma is.")]
    assert content(RECORDS, after) == content(reversed(RECORDS), reversed(after))


@pytest.mark.parametrize("window", [7, 1_000])
def test_sections_read_in_bulk_equal_those_looked_up(
    physics_pack: Path, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wikigr.pack.pack_reader._WINDOW", window)
    with Pack(physics_pack) as pack:
        contents = PackReader(pack.graph)
        titles = sorted({section.article for section in contents.sections()})
        assert len(titles) >= 40
        for title in titles:
            found = contents.sections_of(title)
            assert found == PackReader(pack.graph).sections_of(title)
            assert [section.position for section in found] == list(range(len(found)))
        assert contents.sections_of("No such article") == []
