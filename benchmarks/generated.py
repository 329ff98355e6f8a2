"""Packs of generated text for benchmarks without input data. The same seed gives the same text."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from wikigr.sources.article import SourceArticle, SourceItem, SourceSection
from wikigr.sources.streams import Line

_SYLLABLES = [c + v for c in "bcdfghklmnprstvz" for v in ("a", "e", "i", "o", "u")]


class GeneratedSource:
    """Articles of ``per_article`` sections with ``words`` words each, linked to ``links`` others."""

    format = "generated"

    def __init__(self, articles: int, *, per_article: int = 5, words: int = 40, links: int = 3, seed: int = 0) -> None:
        self._articles, self._per_article, self._words, self._links = articles, per_article, words, links
        self._seed = seed
        shuffled = random.Random(seed)
        self._vocabulary = ["".join(shuffled.choices(_SYLLABLES, k=shuffled.randint(1, 4))) for _ in range(20_000)]

    def records(self) -> Iterator[Any]:
        return (Line(number, b"") for number in range(self._articles))

    def parse(self, record: Any) -> list[SourceItem]:
        return [self.article(record.line)]

    def article(self, number: int) -> SourceArticle:
        """Return the article with this number."""
        draw = random.Random(f"{self._seed}-{number}")
        # Roughly Zipf's law, so that an inverted index sees a realistic distribution.
        ranks = [int(20_000 ** draw.random()) - 1 for _ in range(self._per_article * self._words)]
        chosen = [self._vocabulary[rank] for rank in ranks]
        sections = tuple(
            SourceSection((f"Part {n}",), _sentences(chosen[n * self._words : (n + 1) * self._words]))
            for n in range(self._per_article)
        )
        # Some articles are linked by many others, as in an encyclopedia.
        links = tuple(f"Article {int(self._articles * draw.random() ** 3)}" for _ in range(self._links))
        return SourceArticle(f"Article {number}", str(number), sections, links=links)


def _sentences(words: list[str]) -> str:
    return " ".join(" ".join(words[n : n + 12]).capitalize() + "." for n in range(0, len(words), 12))
