"""Links from the names in a question: nodes, scores, typos and limits."""

from __future__ import annotations

import tracemalloc
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wikigr.graph.engine import Graph
from wikigr.graph.graph_index import index_graph
from wikigr.graph.neighborhood import Node, article
from wikigr.graph.schema import ddl
from wikigr.index.lexical import LexicalIndex, LexicalWriter
from wikigr.names import name_words
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.retrieval import entity_linking
from wikigr.retrieval.entity_linking import (
    EntityLink,
    EntityLinker,
    open_linker,
    replace_aliases,
)

ARTICLES: dict[str, list[str]] = {
    "Albert Einstein": ["Einstein", "Father of relativity"],
    "Albert": [],
    "Amélie": [],
    "Apollo 11": [],
    "C++": [],
    "Go": [],
    "It": [],
    "Mercury (planet)": [],
    "Mercury (element)": ["Quicksilver"],
    "New York": [],
    "New York City": [],
    "Photosynthesis": [],
    "SPIN": [],
    "Spin": [],
    "The Who": [],
    "What": [],
    "Łódź": [],
    "東京": ["Tōkyō"],
}
ENTITIES = [
    ("olympia academy", "Olympia Academy", "entity"),
    ("mercury (planet)", "Mercury (planet)", "entity"),
    ("mercury", "Mercury", "entity"),
    ("x9-key", None, "entity"),
    ("14 march", "14 March", "value"),
]
FILLER = "It is the what of some common words, and Albert is common. "

Linker = Callable[..., EntityLinker]


def make_linker(
    folder: Path, articles: dict[str, list[str]], entities: Sequence[tuple[str, str | None, str]]
) -> EntityLinker:
    folder.mkdir(exist_ok=True)
    with Graph(folder / "pack.db", read_only=False) as graph:
        for statement in ddl(4):
            graph.execute(statement)
        for title, aliases in articles.items():
            graph.execute("CREATE (:Article {title: $t, aliases: $a})", {"t": title, "a": aliases or None})
        for key, name, kind in entities:
            graph.execute("CREATE (:Entity {entity_id: $k, name: $n, type: $t})", {"k": key, "n": name, "t": kind})
        index = index_graph(graph, "")
    with LexicalWriter(folder / "lexical") as writer:
        for title in articles:
            writer.add(f"{title}#0", title, "", f"{FILLER} {title}")
    return EntityLinker(index, LexicalIndex(folder / "lexical"))


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EntityLinker]:
    yield make_linker(tmp_path_factory.mktemp("linking"), ARTICLES, ENTITIES)


def named(links: Sequence[EntityLink]) -> list[tuple[str, str]]:
    return [(link.mention, link.node.label) for link in links]


# -- exactly


def test_a_name_is_found_however_it_is_written(linker: EntityLinker, subtests: pytest.Subtests) -> None:
    for question, mention, label in [
        ("where did photosynthesis begin", "photosynthesis", "Photosynthesis"),
        ("where did PHOTOSYNTHESIS begin?", "PHOTOSYNTHESIS", "Photosynthesis"),
        ("the father of relativity was", "father of relativity", "Albert Einstein"),
        ("when was the olympia_academy founded", "olympia_academy", "Olympia Academy"),
        ("the olympia - academy?", "olympia - academy", "Olympia Academy"),
        ("who is in Amelie", "Amelie", "Amélie"),
        ("who is in Amélie", "Amélie", "Amélie"),
        (unicodedata.normalize("NFD", "who is in Amélie"), "Ame\u0301lie", "Amélie"),
        ("who is in ＡＭＥＬＩＥ", "ＡＭＥＬＩＥ", "Amélie"),
        ("where is Łódź", "Łódź", "Łódź"),
        ("where is 東京", "東京", "東京"),
        ("where is TOKYO", "TOKYO", "東京"),
        ("is quicksilver a metal", "quicksilver", "Mercury (element)"),
        ("the moon and Apollo 11", "Apollo 11", "Apollo 11"),
        ("was einstein's theory right", "einstein's", "Albert Einstein"),
        ("was Einstein’s theory right", "Einstein’s", "Albert Einstein"),
        ("what is x9-key", "x9-key", "x9-key"),
        ("how is it to go there", "go", "Go"),
    ]:
        with subtests.test(question=question):
            (link,) = linker.link_question(question)
            assert (link.mention, link.node.label, link.method) == (mention, label, "exact")
            assert question[link.start : link.end] == mention
            assert 0.0 < link.score <= 1.0


def test_the_longest_of_overlapping_names_counts(linker: EntityLinker) -> None:
    found = linker.link_question("Did Albert Einstein live in New York City or in New York?")
    assert named(found) == [
        ("Albert Einstein", "Albert Einstein"),
        ("New York City", "New York City"),
        ("New York", "New York"),
    ]
    assert [link.start for link in found] == sorted(link.start for link in found)


def test_the_names_in_the_last_texts_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entity_linking, "_MAX_KEPT_TEXTS", 2)
    searched: list[str] = []

    def recorded(text: str) -> list[tuple[str, int, int]]:
        searched.append(text)
        return name_words(text)

    monkeypatch.setattr(entity_linking, "name_words", recorded)
    linker = make_linker(tmp_path, {"Spin": [], "Go": []}, [])
    texts = ["What is Spin?", "How does Go spin?", "Go", "What is Spin?", "Go"]
    assert [linker.names_in(text) for text in texts] == [
        ((8, 12),),
        ((9, 11), (12, 16)),
        ((0, 2),),
        ((8, 12),),
        ((0, 2),),
    ]
    # The first was no longer among the last two.
    assert searched == ["What is Spin?", "How does Go spin?", "Go", "What is Spin?"]


def test_of_a_long_text_only_the_beginning_is_kept(linker: EntityLinker) -> None:
    for repeated in ("x", "Go\n"):
        tracemalloc.start()
        assert linker.names_in("Go " + repeated * 1_000_000)
        kept, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert kept < 500_000


def test_a_single_word_within_a_longer_name_is_not_that_name(linker: EntityLinker) -> None:
    assert linker.link_question("who was Albert Hall", fuzzy=False) == []
    assert named(linker.link_question("who was albert of the hall")) == [("albert", "Albert")]


def test_what_names_nothing_links_to_nothing(linker: EntityLinker, subtests: pytest.Subtests) -> None:
    for question in [
        "", "   ", "?!", "_", "who is it", "What is it?", "what's it", "Who's who, and what's what?", "It’s what it is",
        "1905 11", "c", "zzzz", "is there a Zzzz in here", "Zzzzzzzzzzzz and Qqqqqqqqqqq", "the 14 march",
        "\0\ud800\udfff", "\u0301\u0301",
    ]:  # fmt: skip
        with subtests.test(question=question):
            assert linker.link_question(question) == []
            assert linker.link_mention("zzzz") == linker.link_mention("") == []


# -- with a typo


def test_a_typo_in_a_capitalized_name_is_forgiven(linker: EntityLinker, subtests: pytest.Subtests) -> None:
    for question, mention, label, likeness in [
        ("what is Photosythesis", "Photosythesis", "Photosynthesis", 12 / 13),
        ("what is Photosnythesis", "Photosnythesis", "Photosynthesis", 13 / 14),
        ("what is Photosinthesys", "Photosinthesys", "Photosynthesis", 12 / 14),
        ("when was Olympia Acadmy founded", "Olympia Acadmy", "Olympia Academy", 13 / 14),
        # Of an alias, and where every first word has a capital.
        ("was Einstien right", "Einstien", "Albert Einstein", 7 / 8),
        ("Einstien's theory", "Einstien's", "Albert Einstein", 7 / 8),
        ("Photosythesis is what", "Photosythesis", "Photosynthesis", 12 / 13),
        # Nothing else is named: small letters do, with one typo.
        ("what is photosythesis", "photosythesis", "Photosynthesis", 12 / 13),
        ("what is the olympia acadmy", "olympia acadmy", "Olympia Academy", 13 / 14),
        ("was Albert Einstien right", "Albert Einstien", "Albert Einstein", 14 / 15),
    ]:
        with subtests.test(question=question):
            (link,) = linker.link_question(question)
            assert (link.mention, link.node.label, link.method) == (mention, label, "fuzzy")
            # Its rarest word is in no text, so that only the spelling lowers the score.
            assert link.score == pytest.approx(likeness)
            assert linker.link_question(question, fuzzy=False) == []


def test_lower_case_typos_are_ignored_next_to_a_name(linker: EntityLinker) -> None:
    assert named(linker.link_question("what is photosythesis in Tokyo")) == [("Tokyo", "東京")]


def test_a_unique_surname_links_with_half_the_score(tmp_path: Path) -> None:
    linker = make_linker(tmp_path, {"Albert Einstein": [], "Jane Austen": [], "Bob Smith": [], "Ann Smith": []}, [])
    (link,) = linker.link_question("Where was Einstein born?")
    assert (link.mention, link.node.label, link.method) == ("Einstein", "Albert Einstein", "fuzzy")
    (whole,) = linker.link_question("Where was Albert Einstein born?")
    assert link.score == pytest.approx(whole.score / 2)
    assert linker.link_question("Where was Smith born?") == []
    assert linker.link_question("where was einstein born") == []


@pytest.mark.parametrize(
    ("question", "mention"), [("was Einsteins theory right", "Einsteins"), ("Einsteins theory was right", "Einsteins")]
)
def test_a_possessive_without_its_apostrophe(linker: EntityLinker, question: str, mention: str) -> None:
    (link,) = linker.link_question(question)
    assert (link.mention, link.node.label, link.method) == (mention, "Albert Einstein", "exact")
    assert linker.link_question("was einsteinss theory right") == []


def test_a_name_in_the_possessive_is_found_without_its_apostrophe(tmp_path: Path) -> None:
    linker = make_linker(tmp_path, {"Halley's Comet": [], "Edmond Halley": ["Halley"]}, [])
    assert named(linker.link_question("when was Halleys Comet seen")) == [("Halleys Comet", "Halley's Comet")]


def test_short_names_and_many_typos_are_not_forgiven(linker: EntityLinker) -> None:
    cases = ["what is phtosythesis", "what is Gp", "what is Spim", "what is Photosxxxhesis"]
    assert [question for question in cases if linker.link_question(question) != []] == []


def test_a_mention_links_as_a_whole(linker: EntityLinker) -> None:
    assert named(linker.link_mention("photosythesis")) == [("photosythesis", "Photosynthesis")]
    assert [link.method for link in linker.link_mention("Olympia Academy")] == ["exact"]
    assert [(link.node.label, link.method) for link in linker.link_mention("Photosynthesis's")] == [
        ("Photosynthesis", "exact")
    ]
    assert linker.link_mention("Albert Einstein in New York") == []
    assert linker.link_mention("y" * 1_000_000) == []


def test_a_different_number_is_not_a_typo(linker: EntityLinker) -> None:
    assert linker.link_mention("Apollo 12") == []
    assert linker.link_mention("Apollo 111") == []
    assert named(linker.link_mention("Apolo 11")) == [("Apolo 11", "Apollo 11")]


# -- which of several


def test_names_of_several_articles_are_ranked_by_relevance(linker: EntityLinker) -> None:
    planet, element = article("Mercury (planet)"), article("Mercury (element)")
    entity = Node("entity", "mercury", "Mercury")
    question = "how heavy is mercury"
    for first, second in ((planet, element), (element, planet)):
        found = linker.link_question(question, relevance={first.key: 0.8, second.key: 0.7, "Spin": 0.1})
        assert [link.node for link in found] == [first, second, entity]
        assert found[0].score > 2 * found[1].score > 0
    known = linker.link_question(question, relevance={planet.key: 0.8, "Spin": 0.1})
    even = linker.link_question(question)
    assert [link.node for link in even] == [element, planet, entity]
    assert len({round(link.score, 12) for link in even}) == 1
    # However it is divided, the name says as much.
    assert sum(link.score for link in even) == pytest.approx(sum(link.score for link in known))


def test_titles_that_differ_in_case_are_both_linked(linker: EntityLinker) -> None:
    assert [link.node.key for link in linker.link_question("what is spin")] == ["SPIN", "Spin"]
    best = linker.link_question("what is spin", relevance={"Spin": 0.9, "SPIN": 0.2})[0]
    assert best.node.key == "Spin"


def test_an_entity_of_an_articles_name_is_the_article(linker: EntityLinker) -> None:
    assert [link.node for link in linker.link_mention("mercury (planet)")] == [article("Mercury (planet)")]


def test_a_rare_name_says_more_than_a_common_one(linker: EntityLinker) -> None:
    rare, common = linker.link_question("photosynthesis of albert")
    assert (rare.node.key, common.node.key) == ("Photosynthesis", "Albert")
    assert rare.score > 5 * common.score
    # The s of a possessive is no rare word.
    (owner,) = linker.link_question("albert's life")
    assert owner.score == pytest.approx(common.score)


# -- bounds


def test_a_name_of_many_articles_links_to_ten(tmp_path: Path) -> None:
    towns: dict[str, list[str]] = {f"Oakdale, State {n:03}": [] for n in range(60)}
    linker = make_linker(tmp_path / "towns", towns, [])
    found = linker.link_question("where is oakdale", relevance={"Oakdale, State 050": 0.9, "Oakdale, State 020": 0.1})
    assert len(found) == 10
    assert found[0].node.key == "Oakdale, State 050"
    assert sum(link.score for link in found) <= 1.0


class Counting:
    """The real index, counting the names that are looked up."""

    def __init__(self, linker: EntityLinker) -> None:
        self._index = linker._index
        self.asked = 0

    def named(self, key: str) -> list[int]:
        self.asked += 1
        return self._index.named(key)

    def __getattr__(self, name: str) -> object:
        return getattr(self._index, name)


@pytest.mark.parametrize(
    "question",
    [
        "word " * 20_000, "Xxxxxxx'S " * 10_000, "x" * 100_000, " " * 100_000 + "spin", "a-b" * 33_000,
        "\u0301" * 100_000, "Photosynthesis, New York City? " * 3_000, "\U0001d6ba" * 25_000,
    ],
)  # fmt: skip
def test_a_question_of_100_kb_costs_a_bounded_number_of_look_ups(linker: EntityLinker, question: str) -> None:
    counting = Counting(linker)
    counted = EntityLinker(counting, linker._lexical)  # type: ignore[arg-type]
    found = counted.link_question(question)
    # 12 lengths of at most 128 words, each with and without its possessive.
    assert counting.asked <= 12 * 128 * 2
    assert len(found) <= 128 * 10
    assert bool(found) is question.startswith("Photo")


def test_a_question_that_links_to_everything(linker: EntityLinker) -> None:
    question = ", ".join(ARTICLES).replace(" (planet)", "").replace(" (element)", "")
    found = linker.link_question(question)
    assert {link.node.key for link in found} >= set(ARTICLES) - {"It", "The Who", "What", "C++"}
    assert all(question[link.start : link.end] == link.mention for link in found)


# Text alone almost never contains a name, and then there is no link to check.
PIECES = st.text(max_size=6) | st.sampled_from([*ARTICLES, "Einstein", "Mercury", "'s", "’s", "\u0301", " ", ", "])


@example("When did Albert Einstein's friend see New York City and Mercury?")
@given(st.lists(PIECES, max_size=12).map("".join) | st.lists(PIECES, max_size=12).map(" ".join))
def test_any_question_is_accepted(linker: EntityLinker, question: str) -> None:
    found = linker.link_question(question)
    assert found == linker.link_question(question)
    by_place: dict[tuple[int, int], float] = {}
    for link in found:
        assert question[link.start : link.end] == link.mention != ""
        assert 0.0 < link.score <= 1.0
        by_place[link.start, link.end] = by_place.get((link.start, link.end), 0.0) + link.score
    assert all(total <= 1.0 + 1e-9 for total in by_place.values())
    places = sorted(by_place)
    assert all(one[1] <= other[0] for one, other in pairwise(places))


NOTES = {
    "pump.md": "---\ntitle: Pump P-101\naliases: [Big Bertha, wasserwerfer]\n---\nIt was installed by Acme.\n",
    "tank.rst": "Tank (water)\n============\n\n:Synonyms: Old Tom\n\nThe tank holds 90 liters.\n",
    "mill.md": "---\naliases: [Grinder, Old Ned]\n---\n# Mill\n\nThe grinder was painted red.\n",
}


@pytest.fixture(scope="module")
def pack(pack_of: Callable[..., Path]) -> Pack:
    return Pack(pack_of("notes", NOTES))


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("Who installed big bertha?", "Who installed Pump P-101?"),
        ("What is Wasserwerfer's age, and Big Bertha's?", "What is Pump P-101's age, and Pump P-101's?"),
        # The text uses these itself, or it is the title.
        ("Who painted the grinder?", "Who painted the grinder?"),
        ("How much does old tom hold?", "How much does old tom hold?"),
        ("Where is the mill?", "Where is the mill?"),
        ("Where is old ned?", "Where is Mill?"),
    ],
)
def test_an_alias_that_no_text_uses_is_read_as_the_title(pack: Pack, question: str, read: str) -> None:
    assert replace_aliases(question, open_linker(pack), pack.text_of) == read


def test_the_synonyms_of_a_document_lead_to_it(pack: Pack) -> None:
    (link,) = open_linker(pack).link_question("How much does old tom hold?")
    assert link.node.label == "Tank (water)"
    assert pack.text_of("No such article") == ""


def test_the_answer_keeps_the_words_of_the_question(pack: Pack) -> None:
    answer = Pipeline(Profile(), pack, offline=True).answer("Who installed big bertha?")
    assert answer.question == "Who installed big bertha?"
    assert answer.span is not None
    assert answer.span.text == "Acme"
