"""The options of hops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from wikigr.options import Limits, Options, Positive

_Beam = Annotated[int, Limits(ge=1, le=4)]
_Seconds = Annotated[float, Limits(gt=0.0)]
_MaxHops = Annotated[int, Limits(ge=2, le=3)]


@dataclass(frozen=True, slots=True)
class HopsOptions(Options):
    """Reading a description in the question first, and then asking about what it describes."""

    section: ClassVar[str] = "hops"

    enabled: Annotated[bool, "first find what the question only describes, then ask about it; needs the reader"] = True
    max_hops: Annotated[_MaxHops, "questions in a chain at most"] = 3
    beam: Annotated[_Beam, "answers of a question that are followed"] = 3
    max_questions: Annotated[Positive, "further questions that are read at most, about 60 ms each"] = 8
    # The number of questions is the bound that matters: answers must not depend on how busy the machine is.
    seconds: Annotated[_Seconds, "time after which no further question is read; for very slow machines"] = 10.0
