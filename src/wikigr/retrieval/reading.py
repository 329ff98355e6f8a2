"""Read the best sections with the reader: an answer in each sentence, and a better order of the sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from wikigr.index.candidate import DENSE, Evidence, Section
from wikigr.index.identifiers import widened
from wikigr.question.answer_type import answer_type
from wikigr.question.decomposition import two_parts
from wikigr.question.intent import asks_fact, asks_lead
from wikigr.question.question import Question
from wikigr.reader.passage import Calibration, Passage, ReaderOptions, Span, as_probability
from wikigr.retrieval.sentences import SentenceScore, order_sentences
from wikigr.sources.block import Cell
from wikigr.sources.facts import FACTS
from wikigr.stop_words import STOP_WORDS
from wikigr.text import words

if TYPE_CHECKING:
    from wikigr.reader.reader import Reader


# The sentences that the reader ``base`` reads again, each with the text around it: at most as many windows, each of
# which takes it six times as long as the small reader.
REREAD = 8

# Returns the places of names in a text: characters ``(start, end)``.
FindNames = Callable[[str], Iterable[tuple[int, int]]]


def read_sentences(
    reader: Reader,
    question: Question,
    evidence: Sequence[Evidence],
    sentences: Sequence[SentenceScore],
    options: ReaderOptions,
    find_names: FindNames | None = None,
) -> list[SentenceScore]:
    """Return ``sentences`` of ``evidence`` in the order of how well they answer, with the reader's spans.

    The first sections of the evidence are read, before them the leads that the question asks for, and after them the
    facts about what it names. The sentences of the others follow in their order. Each cell of a row, and each name that
    ``find_names`` finds in a sentence, is read as an answer as well.
    """
    leads = [item.section for item in evidence if not item.section.position and asks_lead(question, item.section.title)]
    ranked = {section.section_id: section for section in (*leads, *(item.section for item in evidence))}
    chosen = _with_best_row(list(ranked.values())[: options.sections], sentences)
    facts = (section for section in ranked.values() if section.heading == FACTS and asks_fact(question, section.title))
    chosen += [section for section in islice(facts, 2) if section not in chosen]
    read = _read(reader, question, chosen, sentences, options, find_names)
    places = {s.place for s in read}
    return [*order_sentences(read), *(s for s in sentences if s.place not in places)]


def reread_sentences(
    reader: Reader, question: Question, sentences: Sequence[SentenceScore], options: ReaderOptions
) -> list[SentenceScore]:
    """Return ``sentences``, which another reader has put in order, as ``reader`` judges the best of them.

    It reads the windows that hold the ``REREAD`` best sentences. The other sentences follow in their order, as if none
    had read them: an answer has the margin of one reader.
    """
    best = [sentence for sentence in sentences if sentence.span is not None][:REREAD]
    sections = list({sentence.section.section_id: sentence.section for sentence in best}.values())
    read = _read(reader, question, sections, sentences, options, focus=best)
    places = {s.place for s in read}
    unread = (
        replace(s, span=None, answer_score=None, name_spans=(), cell_spans=())
        for s in sentences
        if s.place not in places
    )
    return [*order_sentences(read), *unread]


def _read(
    reader: Reader,
    question: Question,
    sections: Sequence[Section],
    sentences: Sequence[SentenceScore],
    options: ReaderOptions,
    find_names: FindNames | None = None,
    focus: Sequence[SentenceScore] | None = None,
) -> list[SentenceScore]:
    """Return those of ``sentences`` that are in ``sections``, as far as ``reader`` has read them, with its spans.

    It reads the windows that hold the sentences in ``focus``, or all windows without a focus.
    """
    in_order = sorted(sentences, key=lambda sentence: sentence.start)
    own = [[s for s in in_order if s.section.section_id == section.section_id] for section in sections]
    names = [[[*find_names(s.text)] if find_names is not None else [] for s in group] for group in own]
    passages = [
        Passage(
            section.title,
            section.heading,
            section.content,
            tuple(_ranges(group, named)),
            focus=None
            if focus is None
            else tuple((s.start, s.end) for s in focus if s.section.section_id == section.section_id),
        )
        for section, group, named in zip(sections, own, names, strict=True)
    ]
    found = reader.read(question.text, passages, options.windows(), options.max_answer_tokens)
    read: list[SentenceScore] = []
    for group, named, spans in zip(own, names, found, strict=True):
        following = iter(spans)
        for sentence, ranges in zip(group, named, strict=True):
            span = next(following)
            in_cells = tuple(islice(following, len(_cells(sentence))))
            others = tuple(filter(None, islice(following, len(ranges))))
            if span is not None:
                start, end = widened(sentence.text, span.start - sentence.start, span.end - sentence.start)
                span = replace(span, start=sentence.start + start, end=sentence.start + end)
                found_here = replace(sentence, span=span, name_spans=others, cell_spans=in_cells)
                read.append(score_sentence(found_here, reader.calibration))
    return read


def _with_best_row(chosen: list[Section], sentences: Sequence[SentenceScore]) -> list[Section]:
    """Return ``chosen``, the last one replaced by the section of the row that has most of the question.

    The sections of a table have much the same vectors and words; what tells them apart is one of their rows.
    """
    rows = [sentence for sentence in sentences if sentence.row is not None]
    best = max(rows, key=lambda row: row.term_coverage, default=None)
    if best is None or best.section in chosen:
        return chosen
    said = max((s.term_coverage for s in sentences if s.section in chosen), default=0.0)
    return [*chosen[:-1], best.section] if best.term_coverage > said else chosen


def reading_confidence(
    evidence: Sequence[Evidence], sentences: Sequence[SentenceScore], calibration: Calibration
) -> float:
    """Return the probability that the short answer of the first of ``sentences`` is right, as the reader tells."""
    if not sentences or sentences[0].span is None:
        return 0.0
    return as_probability(calibration.answer_logit(*reading_features(evidence, sentences)))


def reading_features(
    evidence: Sequence[Evidence], sentences: Sequence[SentenceScore]
) -> tuple[float, float, float, float]:
    """Return what the confidence in the answer of the first of ``sentences``, which the reader has read, depends on.

    These are the margin of its span, how far the best other answer is below it, both in logits, the score of its
    sentence without the reader, and the cosine of the nearest section.
    """
    best = sentences[0]
    assert best.span is not None
    said = answer_words(best)
    others = (s.span.margin for s in sentences if s.span is not None and answer_words(s) != said)
    # Without another answer, the gap is that to an answer as good as none.
    gap = best.span.margin - max(others, default=-10.0)
    nearest = max((item.candidate.scores.get(DENSE, 0.0) for item in evidence), default=0.0)
    return best.span.margin, gap, best.feature_score, nearest


def answer_words(sentence: SentenceScore) -> list[str]:
    """Return the words of the short answer in ``sentence``; the same words are the same answer."""
    return words(_short_answer(sentence))


def _short_answer(sentence: SentenceScore) -> str:
    assert sentence.span is not None
    return sentence.section.content[sentence.span.start : sentence.span.end]


def _ranges(
    sentences: Sequence[SentenceScore], names: Sequence[Sequence[tuple[int, int]]]
) -> Iterator[tuple[int, int]]:
    """Yield the characters of each sentence in its section, followed by those of its cells and of the names in it."""
    for sentence, places in zip(sentences, names, strict=True):
        yield sentence.start, sentence.end
        yield from ((cell.start, cell.end) for cell in _cells(sentence))
        yield from ((sentence.start + start, sentence.start + end) for start, end in places)


def _cells(sentence: SentenceScore) -> tuple[Cell, ...]:
    """Return the cells that are read as answers; of facts, the lines are compared with the question."""
    return sentence.row.cells if sentence.row is not None and sentence.section.heading != FACTS else ()


def score_sentence(sentence: SentenceScore, calibration: Calibration) -> SentenceScore:
    """Return ``sentence``, which the reader has read, with the probability that it answers the question."""
    assert sentence.span is not None
    logit = calibration.sentence_logit(sentence.span.margin, sentence.feature_score)
    return replace(sentence, answer_score=as_probability(logit))


@dataclass(frozen=True, slots=True)
class TwoParts:
    """What the reader read for each part: the sentences in the order of how well they answer it, all of them read."""

    first: tuple[SentenceScore, ...]
    second: tuple[SentenceScore, ...]

    @property
    def stating(self) -> tuple[SentenceScore, ...]:
        """The sentence that answers both parts, or one for each.

        The span of the one is what answers both, if these words stand together. Otherwise none has a span, because
        what answers one part is half an answer.
        """
        for best, others in ((self.first[0], self.second), (self.second[0], self.first)):
            same = next((s for s in others if s.place == best.place), None)
            # A sentence that answers one part answers the other too if that is more likely than not.
            if same is not None and same.score >= 0.5:
                return (replace(same, span=_joined(same, best)),)
        return replace(self.first[0], span=None), replace(self.second[0], span=None)


def read_two_parts(question: Question, read: Callable[[Question], Sequence[SentenceScore]]) -> TwoParts | None:
    """Return what ``read`` finds for each part of ``question``, or ``None`` if it has one part or nothing was read."""
    parts = two_parts(question.text)
    if parts is None:
        return None
    asked = (replace(question, text=part, answer_type=answer_type(part, question.language)) for part in parts)
    first, second = (_best_and_of_its_type(part, read(part)) for part in asked)
    return TwoParts(first, second) if first and second else None


def _best_and_of_its_type(part: Question, read: Sequence[SentenceScore]) -> tuple[SentenceScore, ...]:
    """Return the best sentence that was read, and those after it whose spans are of the type that ``part`` asks for."""
    found = [s for s in read if s.span is not None]
    return tuple(s for s in found if s is found[0] or part.is_answer_type_in(_short_answer(s)))


def _joined(one: SentenceScore, other: SentenceScore) -> Span | None:
    """Return the span from one answer in a sentence to the other, or ``None`` if more than stop words lies between."""
    assert one.span is not None
    assert other.span is not None
    before, after = sorted((one.span, other.span), key=lambda span: (span.start, span.end))
    if not STOP_WORDS.issuperset(words(one.section.content[before.end : after.start])):
        return None
    return Span(before.start, max(before.end, after.end), min(before.margin, after.margin))
