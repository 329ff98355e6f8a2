"""Generate a knowledge graph and questions from a schema in ``schemas/``. The same seed gives the same bytes.

    python benchmarks/schema_graph.py SCHEMA.json FOLDER [--questions 6] [--scale 1.0] [--seed 0]

Writes ``graph.tsv`` for ``wikigr pack build``, and ``questions.jsonl`` with up to ``--questions`` per wording.
A schema lists its ``things`` (kinds of nodes, with their number and the style of their names), its ``facts`` (kind,
relation, kind, and the least and greatest number per node), and its ``patterns``: the kind of the topic, the relations
from there to the answer (``~relation`` against its direction), and several wordings. A third of the questions are
written in lower case and lose their question mark. ``schemas/README.md`` says which schemas are held out.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MAX_ANSWERS = 60

_ONSETS = "b br c cl d dr f fl g gr h j k kl l m n p pr qu r s sk st t tr v w z".split()
_NUCLEI = "a e i o u ae ei ou ia".split()
_CODAS = "l ld lm m n nd nn r rd rn rk s st th x".split()
_FIRST_NAMES = (
    "Ada Agnes Albert Alma Anton Astrid Basil Beatrix Boris Bruno Carla Cecil Clara Conrad Cora Dagmar Dario Delia "
    "Edgar Edith Elena Elias Emil Erna Esther Felix Flora Frida Gavin Gerda Gideon Greta Hanna Hector Helga Henrik "
    "Ida Igor Ingrid Irma Ivan Jasper Joana Judith Julius Karin Kaspar Klara Lars Leona Leo Lidia Linus Lydia Magda "
    "Marius Martha Matteo Mila Nadia Nils Nora Olaf Olga Oscar Otto Paula Petra Quentin Rafael Renata Rita Roman "
    "Rosa Rufus Sabina Samuel Selma Sigrid Silvio Sonia Stefan Tamara Theo Thora Tobias Ursula Vera Viktor Wanda "
    "Werner Xenia Yara Yvonne Zeno"
).split()
_ADJECTIVES = (
    "Amber Ancient Bitter Blue Bright Broken Burning Crimson Distant Dry Eastern Empty Endless Fading Falling Final "
    "First Forgotten Frozen Gentle Gilded Glass Golden Green Grey Hidden Hollow Iron Ivory Last Little Lonely Long "
    "Lost Narrow Northern Open Pale Patient Quiet Restless Rising Salt Scarlet Second Secret Shallow Silent Silver "
    "Sleeping Slow Southern Stolen Stone Sudden Tall Third Twisted Velvet Western White Wild Winter Wooden"
).split()
_NOUNS = (
    "Anchor Archive Bell Bridge Candle Canyon Carriage Castle Chapel Clock Compass Corridor Crown Door Dream Echo "
    "Engine Feather Ferry Field Forest Fountain Garden Gate Glacier Harbour Horizon Hour Hunter Island Journey Key "
    "Ladder Lantern Letter Library Lighthouse Map Market Mirror Mountain Needle Orchard Orchestra Painter Palace "
    "Promise River Road Sailor Shadow Shore Song Stair Station Storm Summer Telescope Thread Tower Train Valley Voyage"
).split()


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
        self._used: set[str] = {name.lower() for name in (*_FIRST_NAMES, *_ADJECTIVES, *_NOUNS)}

    def stem(self) -> str:
        while True:
            parts = [self._draw.choice(_ONSETS) + self._draw.choice(_NUCLEI) for _ in range(2)]
            name = "".join(parts) + self._draw.choice(_CODAS)
            if name not in self._used:
                self._used.add(name)
                return name.capitalize()


def make_graph(schema: Mapping[str, Any], scale: float = 1.0, seed: int = 0) -> TripleGraph:
    """Return the graph of ``schema`` with ``scale`` times its number of things."""
    draw = random.Random(seed)
    names = Names(draw)
    graph = TripleGraph({kind: _things(row, names, draw, scale) for kind, row in schema["things"].items()})
    if "tree" in schema:
        _add_family_tree(graph, schema["tree"], draw)
    for kind, relation, other, fewest, most in schema["facts"]:
        values = graph.things[other]
        for thing in graph.things[kind]:
            # A few values are frequent and most are rare, as in reality.
            for _ in range(draw.randint(fewest, most)):
                value = values[int(len(values) * draw.random() ** 1.3)]
                if value != thing and value not in graph.ends(thing, relation):
                    graph.add(thing, relation, value)
    return graph


def _things(row: Mapping[str, Any], names: Names, draw: random.Random, scale: float) -> list[str]:
    if "values" in row:
        return list(row["values"])
    if "range" in row:
        low, high = row["range"]
        return [str(number) for number in sorted(draw.sample(range(low, high + 1), min(high - low + 1, 400)))]
    count = max(3, int(row["count"] * scale))
    if row["style"] == "stem":
        glue = "" if row.get("joined") else " "
        return [names.stem() + (glue + draw.choice(row["suffixes"]) if "suffixes" in row else "") for _ in range(count)]
    make = {"person": _person, "title": _title, "latin": _binomial}[row["style"]]
    surnames = [names.stem() for _ in range(max(count // 6, 30))]
    made: dict[str, None] = {}
    while len(made) < count:
        made.setdefault(make(draw, surnames))
    return list(made)


def _person(draw: random.Random, surnames: list[str]) -> str:
    initial = f" {draw.choice('ABCDEFGHJKLMPRSTW')}." if draw.random() < 0.1 else ""
    return f"{draw.choice(_FIRST_NAMES)}{initial} {draw.choice(surnames)}"


def _title(draw: random.Random, surnames: list[str]) -> str:
    adjective, noun, other = draw.choice(_ADJECTIVES), draw.choice(_NOUNS), draw.choice(_NOUNS)
    return draw.choice(
        (f"The {adjective} {noun}", f"{noun} of the {other}", f"{adjective} {noun}", f"{noun} and {other}")
    )


def _binomial(draw: random.Random, surnames: list[str]) -> str:
    return f"{draw.choice(surnames)}us {draw.choice(surnames).lower()}{draw.choice(('ensis', 'ata', 'oides'))}"


def _add_family_tree(graph: TripleGraph, tree: Mapping[str, Any], draw: random.Random) -> None:
    """Marry people in the order of their list and give each couple children further down the list."""
    people = graph.things[tree["kind"]]
    young = len(people) // 10
    for first in range(0, len(people) - 1, 2):
        one, other = people[first], people[first + 1]
        graph.add(one, tree["spouse"], other)
        graph.add(other, tree["spouse"], one)
        for _ in range(draw.randint(0, tree["children"])):
            young = max(young, first + 2)
            if young < len(people):
                graph.add(people[young], tree["father"], one)
                graph.add(people[young], tree["mother"], other)
                young += 1


def make_questions(
    schema: Mapping[str, Any], graph: TripleGraph, per_wording: int, seed: int = 0
) -> Iterator[dict[str, object]]:
    """Yield the questions of every wording that have one to ``MAX_ANSWERS`` answers besides their topic."""
    for number, (kind, path, wordings) in enumerate(schema["patterns"]):
        metapath = tuple(path.split(" > "))
        for variant, wording in enumerate(wordings):
            draw = random.Random(f"{seed}-{number}-{variant}")
            topics = draw.sample(graph.things[kind], len(graph.things[kind]))
            asked = 0
            for topic in topics:
                answers, gold = graph.follow(topic, metapath)
                # "Other films of the director of X" leaves X out; all other answers differ from the topic anyway.
                answers = [answer for answer in answers if answer != topic]
                if not 1 <= len(answers) <= MAX_ANSWERS:
                    continue
                question = wording.format(topic)
                question = question[0].upper() + question[1:] if question.endswith("?") else question
                yield {
                    "id": f"{len(metapath)}-{number:02}-{variant}-{asked}",
                    "question": question if asked % 3 else question.lower().removesuffix("?"),
                    "answers": answers,
                    "gold": [{"title": title} for title in gold],
                    "answerable": True,
                    "type": f"{len(metapath)}-hop",
                    "hops": len(metapath),
                    "start": topic,
                    "metapath": list(metapath),
                }
                asked += 1
                if asked == per_wording:
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
    parser.add_argument("schema", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=6, help="maximum number per wording")
    parser.add_argument("--scale", type=float, default=1.0, help="factor for the number of things")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    schema = json.loads(given.schema.read_text(encoding="utf-8"))
    graph = make_graph(schema, given.scale, given.seed)
    questions = make_questions(schema, graph, given.questions, given.seed)
    triples, count = write(given.folder, graph, questions)
    print(f"{given.folder}: {triples:,} triples, {count:,} questions")


if __name__ == "__main__":
    main()
