"""Every setting of the two recipes: the small reader, as it is trained without a GPU, and the large one.

The adapter that ships continues from such a small reader; ``training/README.md`` says how it was trained on a GPU.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from wikigr.reader.passage import BASE, SMALL, WindowOptions

Rates = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class DataConfig:
    """What ``prepare`` writes.

    ``*_share`` is the probability that an answerable question also becomes a negative of that kind, for QAMR always
    ``search``. ``qamr`` and ``forum`` (Reddit and Amazon) are the numbers of questions to draw, and ``squad2_repeats``
    is how often an epoch reads SQuAD 2.0. ``uncovered_passages`` are read of those found for a question that no passage
    answers. ``search_negatives`` is how many such paragraphs a question gets from the search.
    ``heading_share`` of the examples get a heading that ``wikigr pack build`` gives to text without headings.
    """

    held_out_articles: int = 6
    squad2_repeats: int = 1
    qamr: int = 5_000
    forum: int = 3_000
    same_article_share: float = 0.15
    attribute_share: float = 0.10
    search_share: float = 0.35
    search_negatives: int = 1
    entity_swap_share: float = 0.25
    qamr_negative_share: float = 1.0
    heading_share: float = 0.3
    uncovered_passages: int = 2


@dataclass(frozen=True, slots=True)
class Phase:
    """One part of a training.

    ``examples`` names the prepared parts that it reads and how many examples of each, drawn with the seed; 0 stands for
    all. The learning rate is linear between the points ``(step, rate)`` of ``learning_rates``, the last of which is the
    end. The adapter that ships is the mean of the adapters at the ends of the phases, in which this one has the weight
    ``share`` (Wortsman et al. 2022). ``teaching`` is the weight of the teacher's distribution in the loss.
    ``shared`` is the weight of the loss over all windows of a question; if it is not 0, the examples of a question are
    drawn and read together.
    """

    name: str
    examples: tuple[tuple[str, int], ...]
    learning_rates: Rates
    share: float
    teaching: float = 0.0
    shared: float = 0.0

    @property
    def steps(self) -> int:
        """The number of steps."""
        return self.learning_rates[-1][0]


@dataclass(frozen=True, slots=True)
class Config:
    """A whole recipe.

    ``base`` is the name of the pretrained model in ``training/bases.py``. ``start_sha256`` is the digest of the adapter
    that the training continues from; empty, it starts from none. The adapter that ships has the share ``start_share``
    of it. ``scale`` multiplies the low-rank updates. A step reads ``batch_size`` windows. A phase begins with the
    adapter that the one before ended with.
    """

    base: str
    phases: tuple[Phase, ...]
    seed: int = 7
    start_sha256: str = ""
    start_share: float = 0.0
    data: DataConfig = field(default_factory=DataConfig)
    windows: WindowOptions = field(default_factory=WindowOptions)
    rank: int = 48
    scale: float = 2.0
    batch_size: int = 16
    weight_decay: float = 0.01
    gradient_norm: float = 1.0
    bfloat16: bool = True
    threads: int = 1
    checkpoint_steps: int = 100
    max_answer_tokens: int = 15

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Config:
        """Return the settings that ``to_json`` wrote; raises ``TypeError`` for unknown ones."""
        rest = {key: value for key, value in values.items() if key not in ("data", "windows", "phases")}
        return cls(
            data=DataConfig(**values["data"]),
            windows=WindowOptions(**values["windows"]),
            phases=tuple(_phase(phase) for phase in values["phases"]),
            **rest,
        )

    @classmethod
    def read(cls, path: Path) -> Config:
        """Read the file that ``prepare`` or ``train`` wrote."""
        return cls.from_json(json.loads(path.read_text(encoding="utf-8")))

    def at(self, number: int) -> Config:
        """Return the settings with the seed of the phase ``number``, counted from 0."""
        return replace(self, seed=self.seed + number)


def _phase(values: dict[str, Any]) -> Phase:
    pairs = {key: tuple((name, value) for name, value in values[key]) for key in ("examples", "learning_rates")}
    return Phase(**{**values, **pairs})


GENERAL = "general"
ASKED = "asked"
DISTANT = "distant"

RECIPES = {
    BASE: Config(
        base=BASE,
        rank=24,
        phases=(
            Phase("general", ((GENERAL, 0),), ((0, 1e-5), (80, 5e-4), (1_100, 4e-4)), 0.0),
            Phase("mixed", ((GENERAL, 0), (ASKED, 0), (DISTANT, 0)), ((0, 1e-5), (40, 4e-4), (1_200, 5e-6)), 1.0),
        ),
    ),
    SMALL: Config(
        base=SMALL,
        start_share=0.6,
        phases=(
            Phase(
                "mixed",
                ((GENERAL, 12_000), (ASKED, 0), (DISTANT, 0)),
                ((0, 1e-5), (50, 6e-4), (1_000, 4.5e-4)),
                0.0,
            ),
            Phase(
                "refine",
                ((GENERAL, 10_000), (ASKED, 0), (DISTANT, 0)),
                ((0, 1e-5), (30, 5e-4), (1_600, 1e-5)),
                0.4,
            ),
        ),
    ),
}
