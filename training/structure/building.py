"""Make examples of questions, and the negatives that they allow."""

from __future__ import annotations

import hashlib
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from training.examples import Example, contains_answer
from training.structure.passages import Passage
from training.structure.wording import sentence_at

Span = tuple[int, int]

ANSWER = "answer"
REMOVED = "removed"
ATTRIBUTE = "attribute"
ENTITY_SWAP = "entity_swap"
SEARCH = "search"

# A passage that is left with fewer characters says too little to be mistaken for an answer.
MIN_TEXT = 60
_RARE_TERMS = 5
_COMMON_SHARE = 0.05
_TERM = re.compile(r"\w[\w.-]*\w|\w")


def answered(name: str, passage: Passage, question: str, spans: Sequence[Span]) -> Example:
    """Return the example of a question that ``spans`` of the passage answer."""
    accepted = tuple(dict.fromkeys(passage.text[start:end] for start, end in spans))
    return _example(name, ANSWER, passage, question, passage.text, accepted, tuple(spans))


def unanswered(name: str, kind: str, passage: Passage, question: str, accepted: Sequence[str] = ()) -> Example:
    """Return the example of a question that ``passage`` does not answer."""
    return _example(name, kind, passage, question, passage.text, tuple(accepted), ())


def removed(
    name: str, passage: Passage, question: str, spans: Sequence[Span], cut: Span | None = None
) -> list[Example]:
    """Return the question against the passage without the characters ``cut``, by default the sentence of the answer.

    Nothing is returned if the rest is short or still contains the answer.
    """
    text = passage.text
    start, end = cut or sentence_at(text, spans[0][0])
    rest = re.sub(r"\n{3,}", "\n\n", f"{text[:start].rstrip(' ')}{text[end:]}").strip()
    accepted = tuple(dict.fromkeys(text[first:last] for first, last in spans))
    if len(rest) < MIN_TEXT or contains_answer(rest, accepted):
        return []
    return [_example(name, REMOVED, passage, question, rest, accepted, ())]


def _example(
    name: str,
    kind: str,
    passage: Passage,
    question: str,
    text: str,
    accepted: tuple[str, ...],
    spans: tuple[Span, ...],
) -> Example:
    digest = hashlib.blake2b(f"{passage.title}\0{question}".encode(), digest_size=6).hexdigest()
    heading = "" if passage.heading == passage.title else passage.heading
    return Example(
        source=f"structure-{name}",
        kind=kind,
        id=f"{passage.source}:{digest}",
        question=question,
        title=passage.title,
        heading=heading,
        text=text,
        accepted=accepted,
        spans=spans,
    )


class Rivals:
    """Finds the passages of the same source that share the rarest terms of a question."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._postings: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._sizes: Counter[str] = Counter(passage.source for passage in passages)
        for number, passage in enumerate(passages):
            named = f"{passage.title} {passage.heading} {passage.text}"
            for term in sorted(set(_terms(named))):
                self._postings[passage.source, term].append(number)

    def sample(self, draw: random.Random, source: str) -> Passage:
        """Return a random passage of ``source``."""
        while (passage := draw.choice(self._passages)).source != source:
            pass
        return passage

    def find(self, passage: Passage, question: str, accepted: Iterable[str], avoid: str = "") -> Passage | None:
        """Return the nearest passage without an accepted answer and without the text ``avoid``."""
        size = self._sizes[passage.source]
        scores: Counter[int] = Counter()
        rare = sorted(
            (len(postings), term)
            for term in sorted(set(_terms(question)))
            if (postings := self._postings.get((passage.source, term)))
            and len(postings) <= max(20, _COMMON_SHARE * size)
        )
        for count, term in rare[:_RARE_TERMS]:
            for number in self._postings[passage.source, term]:
                scores[number] += round(1000 * math.log(1 + size / count))
        known = tuple(accepted)
        ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        for number, _ in ranked[:12]:
            other = self._passages[number]
            is_other = other.text != passage.text and len(other.text) >= MIN_TEXT
            if is_other and not contains_answer(other.text, known) and not (avoid and avoid in other.text):
                return other
        return None


def _terms(text: str) -> list[str]:
    return [term.lower() for term in _TERM.findall(text)]


def balanced(examples: Iterable[Example], limit: int, draw: random.Random, *, per_page: int = 12) -> list[Example]:
    """Return about ``limit`` examples, spread over the sources, with 1.2 answers for each negative.

    At most ``per_page`` answers come from one title, and negatives of a chosen question go first.
    """
    every = list(examples)
    draw.shuffle(every)
    answers = _round_robin([e for e in every if e.spans], round(limit * 1.2 / 2.2), per_page)
    chosen = {example.id for example in answers}
    # A question may ask for what is stated under another name.
    stated = {(example.question, example.text) for example in every if example.spans}
    negatives = [e for e in every if not e.spans and (e.question, e.text) not in stated]
    negatives.sort(key=lambda example: example.id not in chosen)
    negatives = _round_robin(_by_turns(negatives), round(len(answers) / 1.2), per_page)
    return [*answers, *negatives]


def _by_turns(examples: list[Example]) -> list[Example]:
    """Order ``examples`` so that their kinds alternate."""
    kinds: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        kinds[example.kind].append(example)
    return [example for example, _ in _alternate(list(kinds.values()))]


def _alternate(lists: list[list[Example]]) -> Iterator[tuple[Example, int]]:
    for place in range(max(map(len, lists), default=0)):
        for number, examples in enumerate(lists):
            if place < len(examples):
                yield examples[place], number


def _round_robin(examples: list[Example], limit: int, per_page: int) -> list[Example]:
    sources: dict[str, list[Example]] = defaultdict(list)
    pages: Counter[tuple[str, str]] = Counter()
    seen: set[tuple[str, str]] = set()
    for example in examples:
        source = example.id.partition(":")[0]
        page = (source, example.title)
        key = (example.question, example.text)
        if pages[page] < per_page and key not in seen:
            pages[page] += 1
            seen.add(key)
            sources[source].append(example)
    taken = [example for example, _ in _alternate([sources[name] for name in sorted(sources)])]
    return taken[:limit]
