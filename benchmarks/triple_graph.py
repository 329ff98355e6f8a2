"""Generate a knowledge graph and questions with known answers. The same seed gives the same bytes.

    python benchmarks/triple_graph.py FOLDER [--people 3600] [--questions 100] [--seed 0]

Writes ``graph.tsv`` (over 20,000 triples by default) for ``wikigr pack build``, and ``questions.jsonl`` with up to
``--questions`` questions per pattern. A question has one, two or three ``hops``, a ``start``, ``answers``, its
``metapath`` (relations in order, ``~relation`` against its direction) and the articles that state each hop (``gold``).
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MAX_ANSWERS = 10

_ONSETS = "b br c cl d dr f fl g gr h j k kl l m n p pr qu r s sk st t tr v w z".split()
_NUCLEI = "a e i o u ae ei ou ia".split()
_CODAS = "l ld lm m n nd nn r rd rn rk s st th x".split()
FIRST_NAMES = (
    "Ada Agnes Albert Alma Anton Astrid Basil Beatrix Boris Bruno Carla Cecil Clara Conrad Cora Dagmar Dario Delia "
    "Edgar Edith Elena Elias Emil Erna Esther Felix Flora Frida Gavin Gerda Gideon Greta Hanna Hector Helga Henrik "
    "Ida Igor Ingrid Irma Ivan Jasper Joana Judith Julius Karin Kaspar Klara Lars Leona Leo Lidia Linus Lydia Magda "
    "Marius Martha Matteo Mila Nadia Nils Nora Olaf Olga Oscar Otto Paula Petra Quentin Rafael Renata Rita Roman "
    "Rosa Rufus Sabina Samuel Selma Sigrid Silvio Sonia Stefan Tamara Theo Thora Tobias Ursula Vera Viktor Wanda "
    "Werner Xenia Yara Yvonne Zeno"
).split()
ADJECTIVES = (
    "Amber Ancient Bitter Blue Bright Broken Burning Crimson Distant Dry Eastern Empty Endless Fading Falling Final "
    "First Forgotten Frozen Gentle Gilded Glass Golden Green Grey Hidden Hollow Iron Ivory Last Little Lonely Long "
    "Lost Narrow Northern Open Pale Patient Quiet Restless Rising Salt Scarlet Second Secret Shallow Silent Silver "
    "Sleeping Slow Southern Stolen Stone Sudden Tall Third Twisted Velvet Western White Wild Winter Wooden"
).split()
NOUNS = (
    "Anchor Archive Bell Bridge Candle Canyon Carriage Castle Chapel Clock Compass Corridor Crown Door Dream Echo "
    "Engine Feather Ferry Field Forest Fountain Garden Gate Glacier Harbour Horizon Hour Hunter Island Journey Key "
    "Ladder Lantern Letter Library Lighthouse Map Market Mirror Mountain Needle Orchard Orchestra Painter Palace "
    "Promise River Road Sailor Shadow Shore Song Stair Station Storm Summer Telescope Thread Tower Train Valley Voyage"
).split()
_GENRES = ("adventure", "comedy", "documentary", "drama", "horror", "musical", "mystery", "romance", "thriller")
_OCCUPATIONS = ("accountant", "architect", "biologist", "chemist", "composer", "engineer", "historian", "lawyer")
_INDUSTRIES = ("aviation", "chemicals", "food", "insurance", "mining", "publishing", "shipping", "software", "textiles")
_CONTINENTS = ("Aurelia", "Borealis", "Meridia")

# Patterns: the kind of the start node, the metapath, and the wording of the question.
PATTERNS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("person", ("born_in",), "In which city was {} born?"),
    ("person", ("employer",), "Which company does {} work for?"),
    ("person", ("spouse",), "Who is {} married to?"),
    ("person", ("educated_at",), "Where did {} study?"),
    ("work", ("director",), "Who directed {}?"),
    ("company", ("founded_by",), "Who founded {}?"),
    ("company", ("headquarters",), "In which city does {} have its headquarters?"),
    ("city", ("mayor",), "Who is the mayor of {}?"),
    ("country", ("~capital_of",), "What is the capital of {}?"),
    ("person", ("~director",), "Which films did {} direct?"),
    ("person", ("~founded_by",), "Which company did {} found?"),
    ("person", ("born_in", "located_in"), "In which country was {} born?"),
    ("person", ("employer", "headquarters"), "In which city is the employer of {} based?"),
    ("person", ("employer", "founded_by"), "Who founded the company that {} works for?"),
    ("person", ("spouse", "employer"), "Which company employs the spouse of {}?"),
    ("person", ("spouse", "~director"), "Which films did the spouse of {} direct?"),
    ("work", ("director", "born_in"), "In which city was the director of {} born?"),
    ("work", ("director", "spouse"), "Who is the director of {} married to?"),
    ("work", ("producer", "founded_by"), "Who founded the company that produced {}?"),
    ("company", ("headquarters", "located_in"), "In which country does {} have its headquarters?"),
    ("company", ("founded_by", "educated_at"), "Where did the founder of {} study?"),
    ("country", ("~capital_of", "mayor"), "Who is the mayor of the capital of {}?"),
    ("person", ("~director", "producer"), "Which companies produced the films directed by {}?"),
    ("work", ("director", "born_in", "located_in"), "In which country was the director of {} born?"),
    ("work", ("director", "spouse", "employer"), "Which company employs the spouse of the director of {}?"),
    (
        "work",
        ("producer", "founded_by", "born_in"),
        "In which city was the founder of the company that produced {} born?",
    ),
    ("person", ("born_in", "located_in", "~capital_of"), "What is the capital of the country where {} was born?"),
    ("person", ("employer", "founded_by", "spouse"), "Who is married to the founder of the company that {} works for?"),
    (
        "person",
        ("employer", "headquarters", "mayor"),
        "Who is the mayor of the city where the employer of {} is based?",
    ),
    ("person", ("spouse", "born_in", "located_in"), "In which country was the spouse of {} born?"),
    ("company", ("founded_by", "born_in", "mayor"), "Who is the mayor of the city where the founder of {} was born?"),
    ("company", ("founded_by", "spouse", "~director"), "Which films were directed by the spouse of the founder of {}?"),
)


@dataclass
class TripleGraph:
    """Node names by kind, and the triples in the order of their generation."""

    things: dict[str, list[str]]
    triples: list[tuple[str, str, str]] = field(default_factory=list)
    _outgoing: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, subject: str, relation: str, value: str) -> None:
        self.triples.append((subject, relation, value))
        self._outgoing[subject, relation].append(value)
        self._outgoing[value, f"~{relation}"].append(subject)

    def ends(self, start: str, step: str) -> list[str]:
        """Return where ``step`` leads from ``start``."""
        return self._outgoing.get((start, step), [])

    def follow(self, start: str, metapath: tuple[str, ...]) -> tuple[list[str], list[str]]:
        """Return the ends of the metapath from ``start`` and the articles that state its steps, both sorted."""
        paths: list[tuple[tuple[str, ...], tuple[str, ...]]] = [((start,), ())]
        for step in metapath:
            paths = [
                ((*nodes, value), (*stated, value if step.startswith("~") else nodes[-1]))
                for nodes, stated in paths
                for value in self._outgoing.get((nodes[-1], step), ())
            ]
        return sorted({nodes[-1] for nodes, _ in paths}), sorted({title for _, stated in paths for title in stated})


class Names:
    """Generates unique names."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._used: set[str] = {name.lower() for name in (*FIRST_NAMES, *ADJECTIVES, *NOUNS, *_CONTINENTS)}

    def stem(self) -> str:
        while True:
            parts = [self._draw.choice(_ONSETS) + self._draw.choice(_NUCLEI) for _ in range(2)]
            name = "".join(parts) + self._draw.choice(_CODAS)
            if name not in self._used:
                self._used.add(name)
                return name.capitalize()


def make_graph(people: int = 3600, seed: int = 0) -> TripleGraph:
    """Return a graph of about six triples per person, with cities, countries, companies, colleges and films."""
    draw = random.Random(seed)
    names = Names(draw)
    surnames = [names.stem() for _ in range(max(people // 6, 30))]
    full = [f"{first} {last}" for first in FIRST_NAMES for last in surnames]
    films = [f"The {adjective} {noun}" for adjective in ADJECTIVES for noun in NOUNS]
    countries = [names.stem() + draw.choice(("ia", "land", "istan", "ova")) for _ in range(max(people // 90, 4))]
    things = {
        "person": draw.sample(full, people),
        "city": [
            names.stem() + draw.choice(("burg", "ton", "ville", "haven", "stad")) for _ in range(max(people // 9, 8))
        ],
        "country": countries,
        "company": [
            f"{names.stem()} {draw.choice(('Industries', 'Group', 'Works', 'Partners', 'Holdings'))}"
            for _ in range(max(people // 9, 5))
        ],
        "college": [f"{names.stem()} College" for _ in range(max(people // 36, 3))],
        "work": draw.sample(films, min(people // 3 + 5, len(films))),
    }
    graph = TripleGraph(things)
    _add_places(graph, draw)
    _add_people(graph, draw)
    for film in things["work"]:
        # As in reality, a few people direct many films and most direct none.
        graph.add(film, "director", things["person"][int(people // 3 * draw.random() ** 2)])
        graph.add(film, "producer", draw.choice(things["company"]))
        graph.add(film, "genre", draw.choice(_GENRES))
        graph.add(film, "release_year", str(draw.randint(1930, 2020)))
    return graph


def _add_places(graph: TripleGraph, draw: random.Random) -> None:
    things = graph.things
    for number, city in enumerate(things["city"]):
        # The first city of each country is its capital.
        country = things["country"][number] if number < len(things["country"]) else draw.choice(things["country"])
        graph.add(city, "located_in", country)
        if number < len(things["country"]):
            graph.add(city, "capital_of", country)
        graph.add(city, "mayor", draw.choice(things["person"]))
        graph.add(city, "population", str(draw.randint(5_000, 3_000_000)))
    for country in things["country"]:
        graph.add(country, "continent", draw.choice(_CONTINENTS))
    for company, founder in zip(things["company"], draw.sample(things["person"], len(things["company"])), strict=True):
        graph.add(company, "founded_by", founder)
        graph.add(company, "headquarters", draw.choice(things["city"]))
        graph.add(company, "industry", draw.choice(_INDUSTRIES))
    for college in things["college"]:
        graph.add(college, "located_in", draw.choice(things["city"]))


def _add_people(graph: TripleGraph, draw: random.Random) -> None:
    things = graph.things
    for person in things["person"]:
        graph.add(person, "born_in", draw.choice(things["city"]))
        graph.add(person, "birth_year", str(draw.randint(1890, 1995)))
        graph.add(person, "occupation", draw.choice(_OCCUPATIONS))
        if draw.random() < 0.8:
            graph.add(person, "employer", draw.choice(things["company"]))
        if draw.random() < 0.6:
            graph.add(person, "educated_at", draw.choice(things["college"]))
    single = draw.sample(things["person"], len(things["person"]) // 2 * 2)
    for one, other in zip(single[0::4], single[1::4], strict=False):
        graph.add(one, "spouse", other)
        graph.add(other, "spouse", one)


def make_questions(graph: TripleGraph, per_pattern: int = 100, seed: int = 0) -> Iterator[dict[str, object]]:
    """Yield the questions of every pattern that have one to ``MAX_ANSWERS`` answers."""
    for number, (kind, metapath, wording) in enumerate(PATTERNS):
        draw = random.Random(f"{seed}-{number}")
        asked = 0
        for start in draw.sample(graph.things[kind], len(graph.things[kind])):
            answers, gold = graph.follow(start, metapath)
            if not 1 <= len(answers) <= MAX_ANSWERS or start in answers:
                continue
            asked += 1
            yield {
                "id": f"{len(metapath)}-{number:02}-{asked:03}",
                "question": wording.format(start),
                "answers": answers,
                "gold": [{"title": title} for title in gold],
                "answerable": True,
                "type": f"{len(metapath)}-hop",
                "hops": len(metapath),
                "start": start,
                "metapath": list(metapath),
            }
            if asked == per_pattern:
                break


def write(folder: Path, graph: TripleGraph, questions: Iterator[dict[str, object]]) -> tuple[int, int]:
    """Write both files into ``folder``; return the numbers of triples and questions."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["subject\trelation\tobject", *("\t".join(triple) for triple in graph.triples)]
    (folder / "graph.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    lines = [json.dumps(question, ensure_ascii=False) for question in questions]
    (folder / "questions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(graph.triples), len(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--people", type=int, default=3600)
    parser.add_argument("--questions", type=int, default=100, help="maximum number per pattern")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    graph = make_graph(given.people, given.seed)
    triples, questions = write(given.folder, graph, make_questions(graph, given.questions, given.seed))
    print(f"{given.folder}: {triples:,} triples, {questions:,} questions")


if __name__ == "__main__":
    main()
