"""Sentence ranking, abstention and the whole answer on the demo pack."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from wikigr.answer.abstention import DEFAULT_THRESHOLD, NOT_COVERED, judge
from wikigr.answer.answer import Answer
from wikigr.answer.extractive import SENTENCE_FLOOR, quote
from wikigr.answer.sentences import ENCODED, FRAGMENT_FACTOR, WEIGHTS, SentenceScore, rank_sentences
from wikigr.errors import UsageError
from wikigr.index.candidate import Candidate, Evidence, Section
from wikigr.pack.open import Pack
from wikigr.pipeline.builder import build_pipeline
from wikigr.profiles.schema import Profile
from wikigr.question.terms import read_question

QUESTIONS = Path(__file__).parents[2] / "packs" / "physics" / "eval" / "questions.jsonl"


@pytest.fixture(scope="module")
def pack(physics_pack: Path) -> Iterator[Pack]:
    with Pack(physics_pack) as opened:
        yield opened


def answer_question(pack: Pack, question: str) -> Answer:
    return build_pipeline(Profile(), pack).answer(question)


def evidence(section_id: str, content: str, score: float, heading: str = "Introduction") -> Evidence:
    title = section_id.split("#")[0]
    section = Section(section_id, title, heading, content, title, int(section_id.split("#")[1]))
    return Evidence(section, Candidate(section_id, score, {"dense": score}))


def ranked(pack: Pack, question: str, *items: Evidence) -> list[SentenceScore]:
    return rank_sentences(items, question, read_question(question, pack.lexical), pack.encoder)


def test_the_sentence_that_answers_comes_first(pack: Pack) -> None:
    text = "The electron is a lepton. Its charge was measured by Robert Millikan in 1909. It has spin one half."
    best = ranked(pack, "Who measured the charge of the electron?", evidence("Electron#0", text, 0.9))[0]
    assert best.text == "Its charge was measured by Robert Millikan in 1909."
    assert best.section.content[best.start : best.end] == best.text


def test_parts_lie_in_the_unit_interval_and_make_the_score(pack: Pack) -> None:
    text = "Light is a wave. Light is made of photons, said Einstein in 1905."
    for sentence in ranked(pack, "When did Einstein speak of photons?", evidence("Light#0", text, 1.0)):
        parts = sentence.parts()
        assert set(parts) == set(WEIGHTS)
        assert all(0.0 <= value <= 1.0 for value in parts.values())
        assert sentence.score == pytest.approx(sum(WEIGHTS[name] * parts[name] for name in WEIGHTS))
    assert sum(WEIGHTS.values()) == pytest.approx(1.0)


def test_a_fragment_counts_less_than_the_same_words_as_a_sentence(pack: Pack) -> None:
    (sentence,) = ranked(pack, "Who won in 1921?", evidence("Prize#0", "In 1921 Einstein won.", 1.0))
    fragment = replace(sentence, end=sentence.end - 1)
    assert fragment.score == pytest.approx(FRAGMENT_FACTOR * sentence.score)


def test_the_mark_of_a_list_item_is_not_quoted(pack: Pack) -> None:
    text = "Uses:\n\n- Silver atoms split in two.\n1. Gold atoms do not.\n2. Lead atoms may."
    found = {s.text for s in ranked(pack, "Which atoms split in two?", evidence("Beam#0", text, 1.0))}
    assert found == {"Uses:", "Silver atoms split in two.", "Gold atoms do not.", "Lead atoms may."}
    # A number that no other follows is a word.
    (day,) = ranked(pack, "Wann fiel die Mauer?", evidence("Mauer#0", "9. November 1989 heißt der Tag.", 1.0))
    assert day.text == "9. November 1989 heißt der Tag."


def test_what_defines_comes_first_where_a_definition_is_asked_for(pack: Pack) -> None:
    lead = "A picture of Spin. Spin is a kind of angular momentum. It has no size."
    other = "Spin, spin and again spin: what is spin? Nobody asked for spin more than Pauli."
    items = [evidence("Spin#3", other, 1.0), evidence("Spin#0", lead, 0.1)]
    assert ranked(pack, "What is spin?", *items)[0].text == "Spin is a kind of angular momentum."
    plain = "This is a featured article. Something turns, and yet it does not turn at all. It stays."
    (best, *_) = ranked(pack, "What is spin?", items[0], evidence("Spin#0", plain, 0.1))
    assert best.text == "Something turns, and yet it does not turn at all."


def test_an_entry_of_a_reference_explains_what_it_is_called(pack: Pack) -> None:
    signature = "@spin.turn_cache(size=128)\n@spin.turn_cache(function)"
    entry = evidence("spin#4", f"{signature}\n\nTurn a spin. New in version 3.4.", 0.2, "@spin.turn_cache")
    other = evidence("News#0", "A decorator spin.turn_cache was added, and turn_cache is faster now.", 1.0)
    for question in ("What does spin.turn_cache do?", "what is turn_cache", "spin.turn_cache"):
        assert ranked(pack, question, entry, other)[0].text == "Turn a spin."
    # Not what is asked for, no entry, and an entry of just that name beside it.
    for question in ("What does spin do?", "Where does turn_cache come from?"):
        assert ranked(pack, question, entry, other)[0].text != "Turn a spin."
    prose = evidence("spin#4", "What turn_cache means.\n\nTurn a spin.", 0.2, "turn_cache")
    assert ranked(pack, "What does turn_cache do?", prose, other)[0].section.title == "News"


@pytest.mark.parametrize(
    "signature",
    [
        "int turn(int spin, ...)",
        "turn: int = 5",
        "class turn(x)\nclass turn(x, y)",
        "turn (enum)",
        "turn",
    ],
)
def test_an_entry_is_told_by_its_signature(pack: Pack, signature: str) -> None:
    content = f"{signature}\n\nReturn value: New reference. New in version 3.3. turn(1, ...) Turns a spin round."
    entry, other = evidence("spin#4", content, 0.2, "turn"), evidence("News#0", "How to turn. A turn is done.", 1.0)
    assert ranked(pack, "What does turn do?", entry, other)[0].text == "Turns a spin round."


@pytest.mark.parametrize(
    ("heading", "content"),
    [
        ("Energy", "Energy (kcal) by food:\n\nSee what others say."),
        ("Energy", "Energy values\n\nThe table was made by Bob."),
        ("Energy", "Energy (1961) | Peak | Weeks\n\nThe table was made by Bob."),
        ("Energy", "Main article: History of Energy supply\n\nThe table was made by Bob."),
        ("E", "Energy\n\nThe table was made by Bob."),
        ("Energy", "Energy is conserved.\n\nThe table was made by Bob."),
        ("Energy", "Energy\nThe table was made by Bob."),
    ],
)
def test_an_ordinary_section_is_no_entry(pack: Pack, heading: str, content: str) -> None:
    for sentence in ranked(pack, f"What is {heading}?", evidence("Diet#3", content, 0.2, heading)):
        assert sentence.of_section == 0.2


def test_where_an_article_defines_it_no_entry_does(pack: Pack) -> None:
    lead = evidence("Energy#0", "Energy is the ability to do work.", 0.3)
    entry = evidence("Diet#3", "energy\n\nEnergy is what food gives you.", 1.0, "energy")
    assert ranked(pack, "What is energy?", lead, entry)[0].text == "Energy is the ability to do work."


def test_an_entry_of_just_that_name_comes_before_those_whose_name_ends_so(pack: Pack) -> None:
    method = evidence("spin#4", "spin.cache(x)\n\nIt returns what it kept.", 1.0, "spin.cache")
    exact = evidence("Glossary#1", "cache\n\nGalileo saw the moons of Jupiter in 1610.", 0.1, "cache")
    assert ranked(pack, "What is a cache?", method, exact)[0].text == "Galileo saw the moons of Jupiter in 1610."
    assert ranked(pack, "What is spin.cache?", method, exact)[0].text == "It returns what it kept."


def test_dates_beside_the_name_answer_when_somebody_was_born(pack: Pack) -> None:
    lead = "Ada Nowak (1 May 1930 – 10 June 2004) was a singer."
    later = "Her first child Jan was born in 1955. Ada Nowak was never poor."
    items = [evidence("Ada Nowak#0", lead, 0.2), evidence("Ada Nowak#1", later, 1.0)]
    assert ranked(pack, "When was Ada Nowak born?", *items)[0].text == lead
    assert ranked(pack, "When was the first child of Ada Nowak born?", *items)[0].text.startswith("Her first child")


def sentence(pack: Pack, text: str, score: float = 1.0) -> SentenceScore:
    whole = SentenceScore(evidence("A#0", text, 1.0).section, 0, len(text), *[score] * 7)
    assert whole.text == text
    return whole


def quoted(*sentences: SentenceScore) -> list[str]:
    return [citation.quote for citation in quote(sentences)]


def test_nothing_is_quoted_twice(pack: Pack) -> None:
    mona = "The Mona Lisa is one of the most recognizable paintings in the world."
    assert quoted(
        sentence(pack, mona),
        sentence(pack, f"Enlarge {mona}"),
        sentence(pack, "The Mona Lisa, is one of the MOST recognizable paintings in the world!"),
        sentence(pack, "It is by Leonardo."),
        sentence(pack, "one of the most recognizable paintings."),
        sentence(pack, f"{mona} It was painted in Florence by Leonardo da Vinci between 1503 and 1519, on poplar."),
    ) == [
        mona,
        "It is by Leonardo.",
        f"{mona} It was painted in Florence by Leonardo da Vinci between 1503 and 1519, on poplar.",
    ]


def test_after_a_sentence_a_fragment_must_tell_something(pack: Pack) -> None:
    prose = sentence(pack, "Spin is angular momentum.")
    header = sentence(pack, "spin | family | behavior")
    row = sentence(pack, "1961 | Claus Jönsson, Tübingen | electron beam")
    aside = replace(row, of_words=0.0)
    assert quoted(prose, header, row) == [prose.text, row.text]
    assert quoted(prose, aside) == [prose.text]
    assert quoted(header, aside) == [header.text, aside.text]
    assert quoted(prose, sentence(pack, "Uses:"), sentence(pack, "Capital: Zedtown")) == [
        prose.text,
        "Capital: Zedtown",
    ]


def test_only_so_many_sentences_are_encoded_and_none_is_lost(pack: Pack) -> None:
    text = " ".join(f"Planck made remark number {n} on quanta." for n in range(3 * ENCODED))
    sentences = ranked(pack, "What did Planck say of quanta?", evidence("Planck#0", text, 1.0))
    assert len(sentences) == 3 * ENCODED
    assert sum(s.of_vector > 0 for s in sentences) == ENCODED


def test_no_evidence_means_no_sentences_and_no_answer(pack: Pack) -> None:
    assert ranked(pack, "anything") == []
    confidence = judge([], [], {})
    assert (confidence.value, confidence.abstain) == (0.0, True)


def test_a_calibrated_threshold_decides(pack: Pack) -> None:
    item = evidence("Light#0", "Light is made of photons.", 0.9)
    sentences = ranked(pack, "What is light made of?", item)
    lenient = judge([item], sentences, {"abstention": 0.01})
    strict = judge([item], sentences, {"abstention": 0.99})
    assert (lenient.abstain, strict.abstain) == (False, True)
    assert lenient.value > 0.5 > strict.value
    assert judge([item], sentences, {}).parts["threshold"] == DEFAULT_THRESHOLD


def test_gold_questions_get_their_answers(pack: Pack) -> None:
    """The floor is well below what was measured (72 % of single-fact questions): it catches a broken part."""
    gold = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    single = [question for question in gold if question["type"] == "single"]
    right = 0
    for question in single:
        answer = answer_question(pack, question["question"])
        right += any(accepted.lower() in answer.text.lower() for accepted in question["answers"])
    assert right / len(single) >= 0.65


def test_further_sentences_come_near_the_best(pack: Pack) -> None:
    answer = answer_question(pack, "In which year was Werner Heisenberg born?")
    kept = answer.sentences[: len(answer.citations)]
    assert [s.text for s in kept] == [c.quote for c in answer.citations]
    assert all(s.score >= SENTENCE_FLOOR * kept[0].score for s in kept)


def test_off_topic_questions_are_declined(pack: Pack) -> None:
    for question in ("How long should rice simmer?", "Who won the football cup in Brazil?", "qwerty asdfgh zxcvb"):
        answer = answer_question(pack, question)
        assert (answer.abstained, answer.text, answer.citations) == (True, NOT_COVERED, ())
        assert answer.confidence < 0.5


@pytest.mark.parametrize("question", ["", " \n", "\t"])
def test_an_empty_question_is_refused(pack: Pack, question: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        answer_question(pack, question)


def test_a_question_that_is_not_read_whole_says_so(pack: Pack) -> None:
    told = answer_question(pack, "When was the Lamb shift measured, " * 20).trace.warnings
    assert len(told) == 1
    assert "120 words" in told[0]
    assert answer_question(pack, "When was the Lamb shift measured?").trace.warnings == []


def test_a_huge_or_broken_question_is_answered_or_declined(pack: Pack) -> None:
    assert answer_question(pack, "spin " * 200_000).query_type in ("extractive", "abstained")
    assert answer_question(pack, "what \udcff is spin?").query_type == "extractive"
    assert answer_question(pack, 'what is "spin" AND (title:x OR -y)?').query_type in ("extractive", "abstained")
