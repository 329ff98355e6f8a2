"""Every setting of the recipe. The defaults are the recipe to train next."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from wikigr.reader.passage import WindowOptions


@dataclass(frozen=True, slots=True)
class DataConfig:
    """What ``prepare`` writes.

    ``*_share`` is the probability that an answerable question also becomes a negative of that kind, for QAMR always
    ``search``. ``qamr`` and ``forum`` (Reddit and Amazon) are the numbers of questions to draw, and ``squad2_repeats``
    is how often an epoch reads SQuAD 2.0. ``heading_share`` of the examples get a heading that ``wikigr pack build``
    gives to text without headings.
    """

    held_out_articles: int = 6
    squad2_repeats: int = 2
    qamr: int = 6_000
    forum: int = 10_000
    same_article_share: float = 0.15
    attribute_share: float = 0.10
    search_share: float = 0.35
    entity_swap_share: float = 0.25
    qamr_negative_share: float = 1.0
    heading_share: float = 0.3


@dataclass(frozen=True, slots=True)
class Config:
    """The whole recipe.

    ``start_sha256`` is the digest of the adapter that the training continues from; empty, it starts from none. The
    adapter that ships has the share ``start_share`` of it.
    ``scale`` multiplies the low-rank updates. A step reads ``batch_size`` windows. The learning rate is linear between
    the points ``(step, rate)`` of ``learning_rates``, the last of which is the end of the training. Another phase, with
    ``refine_rates``, then reads only the examples of ``refine_sources``, whose answers are like those that are wanted;
    without rates there is none. The adapter that ships is the mean of both phases' adapters, in which the second has
    the weight ``refined_share`` (Wortsman et al. 2022).
    """

    seed: int = 7
    start_sha256: str = ""
    start_share: float = 0.3
    data: DataConfig = field(default_factory=DataConfig)
    windows: WindowOptions = field(default_factory=WindowOptions)
    rank: int = 48
    scale: float = 2.0
    batch_size: int = 16
    learning_rates: tuple[tuple[int, float], ...] = (
        (0, 1e-5),
        (100, 1e-3),
        (500, 0.000938125),
        (4_400, 1e-5),
    )
    refine_rates: tuple[tuple[int, float], ...] = ((0, 1e-5), (50, 4e-4), (700, 5e-6))
    refine_sources: tuple[str, ...] = ("squad2", "squadshifts-new_wiki")
    refined_share: float = 0.7
    weight_decay: float = 0.01
    gradient_norm: float = 1.0
    label_smoothing: float = 0.0
    bfloat16: bool = True
    threads: int = 2
    checkpoint_steps: int = 100
    max_answer_tokens: int = 15

    @property
    def steps(self) -> int:
        """The number of steps."""
        return self.learning_rates[-1][0]

    def refined(self) -> Config:
        """Return the settings of the other phase, without one after it."""
        return replace(self, seed=self.seed + 1, learning_rates=self.refine_rates, refine_rates=())

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Config:
        """Return the settings that ``to_json`` wrote; raises ``TypeError`` for unknown ones."""
        rest = {key: value for key, value in values.items() if key not in ("data", "windows")}
        for key in ("learning_rates", "refine_rates"):
            rest[key] = tuple((step, rate) for step, rate in values[key])
        rest["refine_sources"] = tuple(values["refine_sources"])
        return cls(data=DataConfig(**values["data"]), windows=WindowOptions(**values["windows"]), **rest)

    @classmethod
    def read(cls, path: Path) -> Config:
        """Read the file that ``prepare`` or ``train`` wrote."""
        return cls.from_json(json.loads(path.read_text(encoding="utf-8")))
