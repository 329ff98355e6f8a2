"""The sources of the physics demo pack are whole: links resolve and gold questions match the text."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from rapidfuzz import fuzz

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
ANSWERABLE = [question for question in QUESTIONS if question["answerable"]]
EXAMPLES: list[dict[str, Any]] = json.loads((PACK / "few_shot_examples.json").read_text(encoding="utf-8"))["examples"]

every_article = pytest.mark.parametrize("article", ARTICLES, ids=lambda article: article.title)
every_question = pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
answerable = pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question["id"])


def gold_text(question: dict[str, Any]) -> list[str]:
    return [fold(BY_TITLE[gold["title"]].sections[gold.get("section", LEAD)]) for gold in question["gold"]]


def test_enough_articles() -> None:
    assert len(ARTICLES) >= 45


def test_names_are_unique() -> None:
    names = Counter(fold(name) for article in ARTICLES for name in (article.title, *article.aliases))
    assert [name for name, count in names.items() if count > 1] == []


@every_article
def test_article_size_and_shape(article: Article) -> None:
    assert 200 <= article.words <= 450
    assert len(article.sections) >= 3
    assert len(set(article.headings)) == len(article.headings)
    assert all(text.strip() for text in article.sections.values())
    assert article.category in {"Person", "Experiment", "Concept", "Application", "Event"}


@every_article
def test_links_resolve(article: Article) -> None:
    targets = {fold(name): other.title for other in ARTICLES for name in (other.title, *other.aliases)}
    assert [link for link in article.links if fold(link) not in targets] == []
    linked = {targets[fold(link)] for link in article.links}
    assert article.title not in linked
    assert len(linked) >= 6


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


@every_question
def test_question_fields(question: dict[str, Any]) -> None:
    assert set(question) == {"id", "question", "answers", "gold", "answerable", "type", "split"}
    assert question["type"] in {"single", "two-hop", "unanswerable"}
    assert question["split"] in {"dev", "test"}
    assert question["answerable"] is (question["type"] != "unanswerable")
    assert bool(question["answers"]) is bool(question["gold"]) is question["answerable"]
    gold_titles = {gold["title"] for gold in question["gold"]}
    assert len(gold_titles) == {"single": 1, "two-hop": 2, "unanswerable": 0}[question["type"]]


@answerable
def test_gold_sections_exist(question: dict[str, Any]) -> None:
    for gold in question["gold"]:
        assert gold.get("section", LEAD) in BY_TITLE[gold["title"]].sections


@answerable
def test_accepted_answers_occur_in_gold(question: dict[str, Any]) -> None:
    texts = gold_text(question)
    absent = [answer for answer in question["answers"] if not any(holds(text, fold(answer)) for text in texts)]
    assert absent == []


def holds(text: str, answer: str) -> bool:
    """Whole words only: "Ulm" inside another word, or "15" inside "1915", would prove nothing."""
    return re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text) is not None


@answerable
def test_question_does_not_give_its_answer_away(question: dict[str, Any]) -> None:
    given = [answer for answer in question["answers"] if holds(fold(question["question"]), fold(answer))]
    assert given == []


@pytest.mark.parametrize(
    "question", [q for q in QUESTIONS if q["type"] == "two-hop"], ids=lambda question: question["id"]
)
def test_first_hop_alone_does_not_answer(question: dict[str, Any]) -> None:
    first, second = gold_text(question)
    assert any(holds(second, fold(answer)) for answer in question["answers"])
    assert not any(holds(first, fold(answer)) for answer in question["answers"])


def test_examples_have_the_documented_form() -> None:
    assert len(EXAMPLES) == 6
    for example in EXAMPLES:
        assert set(example) == {"question", "context", "answer", "reasoning"}
        assert set(example["context"]) == {"articles", "facts"}
        cited = re.findall(r"\[([^\]]+)\]", example["answer"])
        assert set(cited) == set(example["context"]["articles"]) <= set(BY_TITLE)


def test_example_facts_are_in_their_articles() -> None:
    for example in EXAMPLES:
        texts = [fold(text) for title in example["context"]["articles"] for text in BY_TITLE[title].sections.values()]
        assert [fact for fact in example["context"]["facts"] if not any(fold(fact) in t for t in texts)] == []


def test_no_example_is_a_gold_question() -> None:
    for example in EXAMPLES:
        for question in QUESTIONS:
            assert fuzz.token_sort_ratio(bare(example["question"]), bare(question["question"])) < 80, question
