"""The sources of the physics demo pack: links resolve and gold questions match the text."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

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
TARGETS = {fold(name): article.title for article in ARTICLES for name in (article.title, *article.aliases)}


def read_lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (PACK / "eval" / name).read_text(encoding="utf-8").splitlines()]


QUESTIONS, COMPOSED = read_lines("questions.jsonl"), read_lines("composed.jsonl")
EXAMPLES: list[dict[str, Any]] = json.loads((PACK / "few_shot_examples.json").read_text(encoding="utf-8"))["examples"]


def linked(article: Article) -> set[str]:
    return {TARGETS[fold(link)] for link in article.links}


ARTICLE_RULES: dict[str, Callable[[Article], bool]] = {
    "200 to 450 words": lambda article: 200 <= article.words <= 450,
    "at least three sections": lambda article: len(article.sections) >= 3,
    "distinct headings": lambda article: len(set(article.headings)) == len(article.headings),
    "text in every section": lambda article: all(text.strip() for text in article.sections.values()),
    "a known category": lambda a: a.category in {"Person", "Experiment", "Concept", "Application", "Event"},
    "links that resolve": lambda article: all(fold(link) in TARGETS for link in article.links),
    "links to six other articles": lambda article: article.title not in linked(article) and len(linked(article)) >= 6,
}


@pytest.mark.parametrize("rule", ARTICLE_RULES)
def test_articles_have(rule: str) -> None:
    assert [article.title for article in ARTICLES if not ARTICLE_RULES[rule](article)] == []


def test_there_are_enough_articles_with_unique_names() -> None:
    assert len(ARTICLES) >= 45
    assert len(TARGETS) == sum(1 + len(article.aliases) for article in ARTICLES)


def gold_text(question: dict[str, Any]) -> list[str]:
    """Return the gold sections of a question; the built pack calls a lead the Introduction."""
    places = ((gold["title"], gold.get("section", LEAD)) for gold in question["gold"])
    return [fold(BY_TITLE[title].sections[LEAD if at == "Introduction" else at]) for title, at in places]


def holds(text: str, answer: str) -> bool:
    """Match whole words only: "Ulm" inside another word, or "15" inside "1915", would prove nothing."""
    return re.search(rf"(?<!\w){re.escape(fold(answer))}(?!\w)", text) is not None


def says(text: str, question: dict[str, Any]) -> bool:
    """Return whether ``text`` has one of the accepted answers."""
    return any(holds(text, answer) for answer in question["answers"])


def articles_of(question: dict[str, Any]) -> int:
    return len({gold["title"] for gold in question["gold"]})


FIELDS = {"id", "question", "answers", "gold", "answerable", "type", "split"}
HOPS = {"three-hop": 3, "comparison": 2, "intersection": 2}
PLACES = {"single": 1, "two-hop": 2, "unanswerable": 0}
# Which questions a rule is about, and the rule; `wikigr eval validate` has others.
QUESTION_RULES: dict[str, tuple[set[str], Callable[[dict[str, Any]], bool]]] = {
    "the documented fields": (set(PLACES), lambda q: set(q) == FIELDS),
    "the documented fields and hops": (set(HOPS), lambda q: set(q) == {*FIELDS, "hops"}),
    "a known split": ({*PLACES, *HOPS}, lambda q: q["split"] in {"dev", "test"}),
    "answers and gold that fit": (
        set(PLACES),
        lambda q: bool(q["answers"]) is bool(q["gold"]) is q["answerable"] is (q["type"] != "unanswerable"),
    ),
    "as many articles as the type needs": (set(PLACES), lambda q: articles_of(q) == PLACES[q["type"]]),
    "as many articles as hops": (set(HOPS), lambda q: articles_of(q) == q["hops"] == HOPS[q["type"]]),
    "an answer in the last hop only": (
        {"three-hop"},
        lambda q: (
            all(holds(gold_text(q)[-1], answer) for answer in q["answers"])
            and not any(says(text, q) for text in (*gold_text(q)[:-1], fold(q["question"])))
        ),
    ),
    # The last word of a title: a surname, or "equation".
    "hops that name the next article": (
        {"three-hop"},
        lambda q: all(
            holds(text, gold["title"].split()[-1]) for text, gold in zip(gold_text(q), q["gold"][1:], strict=False)
        ),
    ),
    "an answer that every article names": ({"intersection"}, lambda q: all(says(text, q) for text in gold_text(q))),
    "an answer that one side has": ({"comparison"}, lambda q: any(says(text, q) for text in gold_text(q))),
}


@pytest.mark.parametrize("rule", QUESTION_RULES)
def test_questions_have(rule: str) -> None:
    types, keeps = QUESTION_RULES[rule]
    asked = [question for question in (*QUESTIONS, *COMPOSED) if question["type"] in types]
    assert asked
    assert [question["id"] for question in asked if not keeps(question)] == []


def test_the_questions_are_many_and_balanced() -> None:
    everything = [*QUESTIONS, *COMPOSED]
    assert len({question["id"] for question in everything}) == len(everything)
    sizes = Counter((question["type"], question["split"]) for question in everything)
    assert len(QUESTIONS) >= 80
    for kind, least in {"single": 20, "two-hop": 20, "unanswerable": 15}.items():
        assert sizes[kind, "dev"] + sizes[kind, "test"] >= least
        assert abs(sizes[kind, "dev"] - sizes[kind, "test"]) <= 2, kind
    assert {sizes[kind, split] for kind in HOPS for split in ("dev", "test")} == {5}


def test_examples_have_the_documented_form() -> None:
    assert len(EXAMPLES) == 6
    for example in EXAMPLES:
        assert set(example) == {"question", "context", "answer", "reasoning"}
        assert set(example["context"]) == {"articles", "facts"}
        cited = re.findall(r"\[([^\]]+)\]", example["answer"])
        assert set(cited) == set(example["context"]["articles"]) <= set(BY_TITLE)
        texts = [fold(text) for title in example["context"]["articles"] for text in BY_TITLE[title].sections.values()]
        assert [fact for fact in example["context"]["facts"] if not any(fold(fact) in t for t in texts)] == []
    assert any(example["context"]["facts"] for example in EXAMPLES)
