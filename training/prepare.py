"""Write the training examples and the held-out questions."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from training.config import ASKED, DISTANT, GENERAL, Config, DataConfig, Phase
from training.examples import Example, Question, contains_answer, read_examples, write_examples
from training.negatives import ATTRIBUTE, ENTITY_SWAP, SAME_ARTICLE, SEARCH, ArticleNegatives, swap_entity
from training.search import ParagraphSearch
from training.sources import (
    covid_qa,
    hotpotqa,
    natural_questions,
    qamr,
    squad2,
    squad11_more,
    squadshifts,
    webquestions,
)
from wikigr.embeddings.embedder import Embedder

HELD_OUT_FILE = "held_out.jsonl"

ANSWER = "answer"
UNANSWERABLE = "unanswerable"

# A negative is looked for among this many search results.
_SEARCH_DEPTH = 8
# Examples of a question that are read together, and how many of them answer it.
_MAX_TOGETHER = 4
_MAX_ANSWERS_TOGETHER = 2
# Headings of sections without a heading of their own, as ``wikigr.ingest.chunking`` names them.
_HEADINGS = ("Introduction", *(f"Passage {number}" for number in range(2, 40)))


@dataclass(frozen=True, slots=True)
class Sources:
    """The questions of all data sets. ``held_out`` are those on the articles ``titles``, never read for training."""

    training: tuple[Question, ...]
    held_out: tuple[Question, ...]
    titles: tuple[str, ...]


def read_sources(data: Path, config: Config) -> Sources:
    """Read the data sets below ``data`` and set the held-out articles aside: their titles and their paragraphs."""
    squad = squad2.read_squad2(data / "squad2")
    every = {question.title for question in squad}
    titles = squad2.choose_held_out(every, config.data.held_out_articles, config.seed)
    reading = data / "reading"
    draw = random.Random(config.seed)
    forums = [question for name in squadshifts.FORUMS for question in squadshifts.read_squadshifts(reading, name)]
    sentences = qamr.read_qamr(reading)
    questions = [
        *squad,
        *squadshifts.read_squadshifts(reading, squadshifts.WIKI),
        *draw.sample(forums, min(config.data.forum, len(forums))),
        *draw.sample(sentences, min(config.data.qamr, len(sentences))),
        *hotpotqa.read_hotpotqa(data / "hotpotqa"),
        *squad11_more.read_squad11_more(reading),
        *covid_qa.read_covid_qa(reading),
        *natural_questions.read_answered(data / "questions"),
    ]
    held_out = tuple(question for question in squad if question.title in titles)
    texts = {question.text for question in held_out}
    kept = tuple(question for question in questions if question.title not in titles and question.text not in texts)
    return Sources(kept, held_out, tuple(titles))


def prepare(data: Path, work: Path, config: Config, encoder: Embedder, asked: Sequence[Example]) -> Counter[str]:
    """Write the parts of the training data and ``held_out.jsonl`` to ``work``.

    ``asked`` are the examples of ``training.asked_examples``; those on held-out articles are left out. Returns the
    number of examples by source and kind.
    """
    sources = read_sources(data, config)
    draw = random.Random(config.seed)
    general = [question for question in sources.training if question.source != natural_questions.NAME]
    natural = [question for question in sources.training if question.source == natural_questions.NAME]
    parts = {
        GENERAL: make_examples(general, config.data, encoder, draw),
        DISTANT: [
            *webquestions.distant_examples(data, frozenset(sources.titles), config.data.search_negatives),
            *natural_examples(natural, data / "questions", sources.titles, config.data, encoder, draw),
        ],
        ASKED: [example for example in asked if example.title not in sources.titles],
    }
    work.mkdir(parents=True, exist_ok=True)
    for name, examples in parts.items():
        write_examples(work / part_file(name), examples)
    write_examples(work / HELD_OUT_FILE, (_original(question) for question in sources.held_out))
    return Counter(f"{example.source} {example.kind}" for examples in parts.values() for example in examples)


def part_file(name: str) -> str:
    """Return the name of the file of a part of the training data."""
    return f"{name}.jsonl"


def read_phase(work: Path, config: Config, phase: Phase) -> list[Example]:
    """Return the examples that a phase reads.

    With a loss over all windows of a question, whole questions are drawn, with at most four examples each.
    """
    draw = random.Random(config.seed)
    chosen: list[Example] = []
    for name, count in phase.examples:
        examples = read_examples(work / part_file(name))
        if phase.shared:
            chosen += draw_questions(examples, count, draw)
        else:
            chosen += draw.sample(examples, count) if 0 < count < len(examples) else examples
    return chosen


def draw_questions(examples: Sequence[Example], count: int, draw: random.Random) -> list[Example]:
    """Return about ``count`` examples, all of them if it is 0, without those beyond the limits of a question."""
    questions: dict[tuple[str, str], list[Example]] = {}
    for example in examples:
        questions.setdefault(example.asked, []).append(example)
    order = list(questions.values())
    draw.shuffle(order)
    chosen: list[Example] = []
    for together in order:
        if 0 < count <= len(chosen):
            break
        answers = [example for example in together if example.spans][:_MAX_ANSWERS_TOGETHER]
        chosen += [*answers, *(example for example in together if not example.spans)][:_MAX_TOGETHER]
    return chosen


def make_examples(
    questions: Sequence[Question], config: DataConfig, encoder: Embedder, draw: random.Random
) -> list[Example]:
    """Return the questions as examples, with negatives of all kinds, in a random order."""
    examples = [_original(question) for question in questions]
    examples += [_original(question) for question in questions if question.source == squad2.NAME] * (
        config.squad2_repeats - 1
    )
    articles = ArticleNegatives(questions)
    for question in questions:
        if question.spans and question.title:
            if draw.random() < config.same_article_share:
                examples += _against(question, question.title, articles.same_article(question, draw), SAME_ARTICLE)
            if draw.random() < config.attribute_share:
                examples += _against(question, question.title, articles.attribute(question, draw), ATTRIBUTE)
            if draw.random() < config.entity_swap_share:
                examples += _swapped(question, swap_entity(question, draw))
    sentences = [question for question in questions if question.source == qamr.NAME]
    paragraphs = [question for question in questions if question.source not in (qamr.NAME, covid_qa.NAME)]
    examples += _search_negatives(sentences, config.qamr_negative_share, 1, encoder, draw)
    examples += _search_negatives(paragraphs, config.search_share, config.search_negatives, encoder, draw)
    draw.shuffle(examples)
    return [_with_heading(example, config.heading_share, draw) for example in examples]


def natural_examples(
    answered: Sequence[Question],
    folder: Path,
    left_out: Sequence[str],
    config: DataConfig,
    encoder: Embedder,
    draw: random.Random,
) -> list[Example]:
    """Return the questions of NQ-open with their passages, and against the best other ones that search finds for them.

    The questions that no passage answers are read too. Passages of the articles ``left_out`` are not read.
    """
    passages = [item for item in natural_questions.read_passages(folder).values() if item[0] not in left_out]
    questions = [*{item.id: item for item in answered}.values(), *natural_questions.read_uncovered(folder)]
    found = ParagraphSearch(passages, encoder).search([question.question for question in questions], _SEARCH_DEPTH)
    examples = [_original(question) for question in answered]
    for question, numbers in zip(questions, found, strict=True):
        count = config.search_negatives if question.spans else config.uncovered_passages
        examples += _without_answer(question, (passages[number] for number in numbers), count)
    return [_with_heading(example, config.heading_share, draw) for example in examples]


def _search_negatives(
    questions: Sequence[Question], share: float, count: int, encoder: Embedder, draw: random.Random
) -> list[Example]:
    """Return up to ``count`` negatives of each question, from a search over the paragraphs of ``questions``."""
    paragraphs = list(dict.fromkeys((question.title, question.text) for question in questions))
    asked = [question for question in questions if question.spans and draw.random() < share]
    if not asked:
        return []
    search = ParagraphSearch(paragraphs, encoder)
    examples: list[Example] = []
    for question, found in zip(asked, search.search([q.question for q in asked], _SEARCH_DEPTH), strict=True):
        others = (paragraphs[number] for number in found if paragraphs[number][1] != question.text)
        examples += _without_answer(question, others, count)
    return examples


def _without_answer(question: Question, found: Iterable[tuple[str, str]], count: int) -> Iterator[Example]:
    """Yield ``question`` against the first ``count`` of the titles and texts ``found`` that hold no accepted answer."""
    others = ((title, text) for title, text in found if not contains_answer(text, question.accepted))
    for title, text in islice(others, count):
        yield from _against(question, title, text, SEARCH)


def _original(question: Question) -> Example:
    kind = ANSWER if question.spans else UNANSWERABLE
    return Example(
        source=question.source,
        kind=kind,
        id=question.id,
        question=question.question,
        title=question.title,
        heading="",
        text=question.text,
        accepted=question.accepted,
        spans=question.spans,
    )


def _against(question: Question, title: str, text: str | None, kind: str) -> Iterable[Example]:
    if text is not None:
        yield Example(question.source, kind, question.id, question.question, title, "", text, question.accepted, ())


def _swapped(question: Question, changed: str | None) -> Iterable[Example]:
    if changed is not None:
        yield Example(question.source, ENTITY_SWAP, question.id, changed, question.title, "", question.text, (), ())


def _with_heading(example: Example, share: float, draw: random.Random) -> Example:
    heading = draw.choice(_HEADINGS) if example.title and draw.random() < share else ""
    return replace(example, heading=heading)
