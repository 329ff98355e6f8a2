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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

# The sibling module: benchmarks are scripts, not a package.
from triple_graph import ADJECTIVES, FIRST_NAMES, NOUNS, Names, TripleGraph, write

MAX_ANSWERS = 60


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
    return f"{draw.choice(FIRST_NAMES)}{initial} {draw.choice(surnames)}"


def _title(draw: random.Random, surnames: list[str]) -> str:
    adjective, noun, other = draw.choice(ADJECTIVES), draw.choice(NOUNS), draw.choice(NOUNS)
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
