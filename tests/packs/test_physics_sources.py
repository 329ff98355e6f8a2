"""The sources of the physics demo pack: links resolve and gold questions match the text."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from rapidfuzz import fuzz

from wikigr.answer.answer import Answer
from wikigr.evaluation.question_checks import check_questions, look_up
from wikigr.evaluation.questions import load_questions
from wikigr.pack.open import Pack
from wikigr.retrieval.trace import Trace

PACK = Path(__file__).parents[2] / "packs" / "physics"
LINK = re.compile(r"\[\[([^\]|]+)(?:\|([^\]]+))?\]\]")
HEADING = re.compile(r"^## +(.+?) *$", re.MULTILINE)
LEAD = ""


@dataclass(frozen=True)
class Article:
    """One parsed file; ``sections`` maps a heading ("" for the lead) to text without link markup."""

    title: str
    category: str
    aliases: tuple[str, ...]
    links: tuple[str, ...]
    sections: dict[str, str]
    headings: tuple[str, ...]
    words: int


def fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def bare(text: str) -> str:
    """Lower case with punctuation removed, so that near-identical questions compare equal."""
    return " ".join(re.findall(r"\w+", fold(text)))


def read(path: Path) -> Article:
    head, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    assert head == "", f"{path.name}: the file does not start with front matter"
    meta = yaml.safe_load(front)
    plain = LINK.sub(lambda match: match[2] or match[1], body)
    lead, *parts = HEADING.split(plain)
    headings = tuple(parts[0::2])
    return Article(
        title=meta["title"],
        category=meta["category"],
        aliases=tuple(meta["aliases"]),
        links=tuple(match[1] for match in LINK.finditer(body)),
        sections={LEAD: lead, **dict(zip(headings, parts[1::2], strict=True))},
        headings=headings,
        words=len(HEADING.sub("", plain).split()),
    )


ARTICLES = [read(path) for path in sorted((PACK / "articles").glob("*.md"))]
BY_TITLE = {article.title: article for article in ARTICLES}
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in (PACK / "eval" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
COMPOSED: list[dict[str, Any]] = [
    json.loads(line) for line in (PACK / "eval" / "composed.jsonl").read_text(encoding="utf-8").splitlines()
]
ANSWERABLE = [question for question in QUESTIONS if question["answerable"]]
EXAMPLES: list[dict[str, Any]] = json.loads((PACK / "few_shot_examples.json").read_text(encoding="utf-8"))["examples"]


def gold_text(question: dict[str, Any]) -> list[str]:
    return [fold(BY_TITLE[gold["title"]].sections[heading_of(gold)]) for gold in question["gold"]]


def heading_of(gold: dict[str, str]) -> str:
    """The built pack calls a lead the Introduction."""
    heading = gold.get("section", LEAD)
    return LEAD if heading == "Introduction" else heading


def test_enough_articles() -> None:
    assert len(ARTICLES) >= 45


def test_names_are_unique() -> None:
    names = Counter(fold(name) for article in ARTICLES for name in (article.title, *article.aliases))
    assert [name for name, count in names.items() if count > 1] == []


def offenders(items: Iterable[Any], keeps: Callable[[Any], bool]) -> list[str]:
    """Return the title or id of each item that breaks a rule."""
    return [item["id"] if isinstance(item, dict) else item.title for item in items if not keeps(item)]


def test_articles_have_200_to_450_words() -> None:
    assert offenders(ARTICLES, lambda article: 200 <= article.words <= 450) == []


def test_articles_have_at_least_three_sections_with_distinct_headings_and_text() -> None:
    assert offenders(ARTICLES, lambda article: len(article.sections) >= 3) == []
    assert offenders(ARTICLES, lambda article: len(set(article.headings)) == len(article.headings)) == []
    assert offenders(ARTICLES, lambda article: all(text.strip() for text in article.sections.values())) == []


def test_articles_have_a_known_category() -> None:
    categories = {"Person", "Experiment", "Concept", "Application", "Event"}
    assert offenders(ARTICLES, lambda article: article.category in categories) == []


def test_links_resolve_to_at_least_six_other_articles() -> None:
    targets = {fold(name): other.title for other in ARTICLES for name in (other.title, *other.aliases)}
    assert offenders(ARTICLES, lambda article: all(fold(link) in targets for link in article.links)) == []
    linked = {article.title: {targets[fold(link)] for link in article.links} for article in ARTICLES}
    assert offenders(ARTICLES, lambda article: article.title not in linked[article.title]) == []
    assert offenders(ARTICLES, lambda article: len(linked[article.title]) >= 6) == []


def test_question_counts() -> None:
    types = Counter(question["type"] for question in QUESTIONS)
    assert len(QUESTIONS) >= 80
    assert types["unanswerable"] >= 15
    assert types["two-hop"] >= 20
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    assert len({bare(question["question"]) for question in QUESTIONS}) == len(QUESTIONS)


def test_splits_are_balanced_within_each_type() -> None:
    for kind in ("single", "two-hop", "unanswerable"):
        sizes = Counter(question["split"] for question in QUESTIONS if question["type"] == kind)
        assert abs(sizes["dev"] - sizes["test"]) <= 2, kind


def test_questions_have_exactly_the_documented_fields() -> None:
    fields = {"id", "question", "answers", "gold", "answerable", "type", "split"}
    assert offenders(QUESTIONS, lambda question: set(question) == fields) == []
    assert offenders(QUESTIONS, lambda question: question["split"] in {"dev", "test"}) == []


def test_the_type_of_a_question_fits_its_answers_and_gold() -> None:
    places = {"single": 1, "two-hop": 2, "unanswerable": 0}
    assert offenders(QUESTIONS, lambda q: q["answerable"] is (q["type"] != "unanswerable")) == []
    assert offenders(QUESTIONS, lambda q: bool(q["answers"]) is bool(q["gold"]) is q["answerable"]) == []
    assert offenders(QUESTIONS, lambda q: len({gold["title"] for gold in q["gold"]}) == places[q["type"]]) == []


def test_gold_sections_exist() -> None:
    def exists(question: dict[str, Any]) -> bool:
        return all(gold.get("section", LEAD) in BY_TITLE[gold["title"]].sections for gold in question["gold"])

    assert offenders(ANSWERABLE, exists) == []


def test_accepted_answers_occur_in_gold() -> None:
    def occur(question: dict[str, Any]) -> bool:
        texts = gold_text(question)
        return all(any(holds(text, fold(answer)) for text in texts) for answer in question["answers"])

    assert offenders(ANSWERABLE, occur) == []


def holds(text: str, answer: str) -> bool:
    """Match whole words only: "Ulm" inside another word, or "15" inside "1915", would prove nothing."""
    return re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text) is not None


def test_questions_do_not_contain_their_answers() -> None:
    def is_silent(question: dict[str, Any]) -> bool:
        return not any(holds(fold(question["question"]), fold(answer)) for answer in question["answers"])

    assert offenders(ANSWERABLE, is_silent) == []


def test_only_the_second_hop_answers_a_two_hop_question() -> None:
    def needs_two_hops(question: dict[str, Any]) -> bool:
        first, second = gold_text(question)
        answers = [fold(answer) for answer in question["answers"]]
        return any(holds(second, answer) for answer in answers) and not any(holds(first, answer) for answer in answers)

    two_hop = [question for question in QUESTIONS if question["type"] == "two-hop"]
    assert two_hop
    assert offenders(two_hop, needs_two_hops) == []


def test_composed_questions_have_exactly_the_documented_fields() -> None:
    fields = {"id", "question", "answers", "gold", "answerable", "type", "hops", "split"}
    assert offenders(COMPOSED, lambda question: set(question) == fields) == []
    assert (
        offenders(COMPOSED, lambda question: all(set(gold) == {"title", "section"} for gold in question["gold"])) == []
    )
    hops = {"three-hop": 3, "comparison": 2, "intersection": 2}
    assert offenders(COMPOSED, lambda q: q["hops"] == hops[q["type"]] == len({g["title"] for g in q["gold"]})) == []
    assert offenders(COMPOSED, lambda q: q["answerable"] and q["answers"]) == []
    assert len({question["id"] for question in (*QUESTIONS, *COMPOSED)}) == len(QUESTIONS) + len(COMPOSED)
    sizes = Counter((question["type"], question["split"]) for question in COMPOSED)
    assert sizes == {(kind, split): 5 for kind in hops for split in ("dev", "test")}


def test_only_the_last_hop_of_a_chain_answers_it() -> None:
    def needs_every_hop(question: dict[str, Any]) -> bool:
        *before, last = gold_text(question)
        answers = [fold(answer) for answer in question["answers"]]
        return all(holds(last, answer) for answer in answers) and not any(
            holds(text, answer) for text in (*before, fold(question["question"])) for answer in answers
        )

    chains = [question for question in COMPOSED if question["type"] == "three-hop"]
    assert offenders(chains, needs_every_hop) == []


def test_each_hop_of_a_chain_names_the_article_of_the_next_one() -> None:
    def is_linked(question: dict[str, Any]) -> bool:
        titles = [gold["title"] for gold in question["gold"]]
        # The last word of a title: a surname, or "equation".
        return all(
            holds(text, fold(title).split()[-1])
            for text, title in zip(gold_text(question)[:-1], titles[1:], strict=True)
        )

    assert offenders([question for question in COMPOSED if question["type"] == "three-hop"], is_linked) == []


def test_every_article_of_an_intersection_names_the_answer() -> None:
    def is_shared(question: dict[str, Any]) -> bool:
        return all(any(holds(text, fold(answer)) for answer in question["answers"]) for text in gold_text(question))

    assert offenders([question for question in COMPOSED if question["type"] == "intersection"], is_shared) == []


def test_one_side_of_a_comparison_has_the_answer() -> None:
    def is_decided(question: dict[str, Any]) -> bool:
        return any(any(holds(text, fold(answer)) for answer in question["answers"]) for text in gold_text(question))

    assert offenders([question for question in COMPOSED if question["type"] == "comparison"], is_decided) == []


@pytest.mark.parametrize("name", ["questions.jsonl", "composed.jsonl"])
def test_eval_validate_finds_nothing_to_report(physics_pack: Path, name: str) -> None:
    """The rules of the library, on the built pack; whether the pack abstains is the subject of the evaluation."""
    questions = load_questions(PACK / "eval" / name)
    with Pack(str(physics_pack)) as pack:
        found = check_questions(questions, look_up(pack, _abstain))
    assert found == []


def test_the_number_of_hops_of_a_question_is_that_of_its_articles() -> None:
    for name in ("questions.jsonl", "composed.jsonl"):
        for question in load_questions(PACK / "eval" / name):
            assert (question.hops or 0) == len({gold.title for gold in question.gold}), question.id


def _abstain(question: str) -> Answer:
    return Answer(question=question, text="", query_type="abstained", confidence=0.0, trace=Trace())


def test_examples_have_the_documented_form() -> None:
    assert len(EXAMPLES) == 6
    for example in EXAMPLES:
        assert set(example) == {"question", "context", "answer", "reasoning"}
        assert set(example["context"]) == {"articles", "facts"}
        cited = re.findall(r"\[([^\]]+)\]", example["answer"])
        assert set(cited) == set(example["context"]["articles"]) <= set(BY_TITLE)


def test_example_facts_are_in_their_articles() -> None:
    assert any(example["context"]["facts"] for example in EXAMPLES)
    for example in EXAMPLES:
        texts = [fold(text) for title in example["context"]["articles"] for text in BY_TITLE[title].sections.values()]
        assert [fact for fact in example["context"]["facts"] if not any(fold(fact) in t for t in texts)] == []


def test_no_example_is_a_gold_question() -> None:
    assert EXAMPLES and QUESTIONS and COMPOSED
    for example in EXAMPLES:
        for question in (*QUESTIONS, *COMPOSED):
            assert fuzz.token_sort_ratio(bare(example["question"]), bare(question["question"])) < 80, question
