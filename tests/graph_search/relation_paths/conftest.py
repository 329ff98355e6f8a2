from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile

FACTS = [
    *(("The Iron Bell", "directed_by", "Clara Voss"), ("The Glass Door", "directed_by", "Clara Voss")),
    *(("The Iron Bell", "release_year", "1961"), ("The Glass Door", "release_year", "1967")),
    *(("The Iron Bell", "starred_actors", "Emil Roth"), ("The Glass Door", "starred_actors", "Ida Falk")),
    *(("The Iron Bell", "written_by", "Otto Prim"), ("The Glass Door", "written_by", "Otto Prim")),
    ("Kelburg", "in_country", "Zorland"),
    *(("Clara Voss", "born_in", "Kelburg"), ("Otto Prim", "parent", "Ada Prim"), ("Ada Prim", "parent", "Leo Prim")),
    *((f"Film {n:02}", "directed_by", "Nora Hub") for n in range(45)),
    ("Ida Falk", "любимый цвет", "green"),
    ("Ida Falk", "wrote to", "Ada Prim"),
    ("Ada Prim", "wrote to", "Leo Prim"),
    # Names that begin with other names, and that sort before them.
    *(("Shelf", "holds", "book 1"), ("Shelf", "holds", "Book 10"), ("Ida", "spouse", "Ida F"), ("Zoe", "spouse", "Zo")),
]


def tsv(facts: list[tuple[str, str, str]]) -> str:
    return "\n".join(["subject\trelation\tobject", *("\t".join(fact) for fact in facts)]) + "\n"


@pytest.fixture(scope="module")
def graph_pack(pack_of: Callable[..., Path]) -> Iterator[Pack]:
    """A pack built from a table of triples about films."""
    with Pack(pack_of("films", {"films.tsv": tsv(FACTS)})) as pack:
        yield pack


@pytest.fixture(scope="module")
def pipeline(graph_pack: Pack) -> Pipeline:
    return Pipeline(Profile(), graph_pack, offline=True)
