"""The options of the search for relation paths, which its stage and the answer share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from wikigr.options import Options, Positive


@dataclass(frozen=True, slots=True)
class RelationPathsOptions(Options):
    """Answering along relations from the thing that the question names; only in packs made of triples."""

    section: ClassVar[str] = "relation_paths"

    enabled: Annotated[bool, "in packs made of triples, answer along the relations that the question describes"] = True
    max_answers: Annotated[Positive, "answers to list; the total is always given"] = 30
