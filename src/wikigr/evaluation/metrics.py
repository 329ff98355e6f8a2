"""What an answer and a ranking are worth: one pure function per metric, and all of them for one question.

A metric that does not apply is NaN, never 0: a mean is taken over the questions that have it.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple, TypeVar

from wikigr.answer.answer import Answer
from wikigr.answer.citations import Citation, CitationError, verify
from wikigr.errors import UsageError
from wikigr.evaluation.questions import Gold, GoldQuestion
from wikigr.index.candidate import Evidence, Section
from wikigr.segmentation import sentence_spans
from wikigr.stop_words import STOP_WORDS
from wikigr.text import fold, words

Item = TypeVar("Item", bound=Hashable)

# More than this share of a sentence's content words must stand in one cited section.
SUPPORTED = 0.5

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
# These stand between words without spaces around them; taken away, they would weld the words together.
_SEPARATORS = re.compile(r"[—―…]|\.{3}")
_JOINTS = re.compile(r"[-‐‑‒–/]|['’]s\b")
_MARKS = re.compile(r"\s*\[(?:\d[\d\s,;]*|unverified)\]", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True)
class Metric:
    """What is known of a metric: whether it is 0 or 1 for each question, and which way is better."""

    name: str
    binary: bool
    higher_is_better: bool
    description: str


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("accuracy", True, True, "an accepted answer stands in the text; right to abstain, if unanswerable"),
        Metric("exact_match", True, True, "the text is an accepted answer and nothing else"),
        Metric("f1", False, True, "harmonic mean of token precision and recall against the nearest accepted answer"),
        Metric("recall@1", False, True, "share of the gold articles that rank first"),
        Metric("recall@2", False, True, "share of the gold articles among the first 2"),
        Metric("recall@5", False, True, "share of the gold articles among the first 5"),
        Metric("recall@10", False, True, "share of the gold articles among the first 10"),
        Metric("ndcg@10", False, True, "normalized discounted cumulative gain of the first 10 articles"),
        Metric("mrr", False, True, "reciprocal rank of the first gold article"),
        Metric("section_recall@1", False, True, "share of the gold sections that rank first"),
        Metric("section_recall@2", False, True, "share of the gold sections among the first 2 sections"),
        Metric("section_recall@5", False, True, "share of the gold sections among the first 5 sections"),
        Metric("section_recall@10", False, True, "share of the gold sections among the first 10 sections"),
        Metric("section_ndcg@10", False, True, "normalized discounted cumulative gain of the first 10 sections"),
        Metric("section_mrr", False, True, "reciprocal rank of the first gold section"),
        Metric("citation_precision", False, True, "share of the citations that point to a gold place"),
        Metric("citation_recall", False, True, "share of the gold places that are cited"),
        Metric("verified", False, True, "share of the citations whose quotation is the stored text"),
        Metric("hallucination", False, False, "share of the sentences that no cited section supports"),
        Metric("abstention_correct", True, True, "answers what can be answered and abstains from the rest"),
        Metric("judged", False, True, "the judge's grade: 1 correct, 0.5 partly, 0 incorrect"),
    )
}
"""Every metric of ``score`` by its name, in the order of reports."""


def known_metric(name: str) -> str:
    """Return ``name``; raises ``UsageError`` when no metric is called so."""
    if name not in METRICS:
        near = get_close_matches(name, METRICS, n=1)
        raise UsageError(
            f"There is no metric {name!r}.",
            hint=f"Did you mean {near[0]!r}?" if near else f"Choose from {', '.join(METRICS)}.",
        )
    return name


def score(question: GoldQuestion, answer: Answer, ranking: Sequence[Evidence]) -> dict[str, float]:
    """Return every metric of ``METRICS`` for one question; all lie in [0, 1], or are NaN where they do not apply.

    ``ranking`` holds the retrieved sections, best first; ``answer`` may stand on fewer.

    - accuracy, exact_match, f1: never NaN. Who abstains from an answerable question gets 0, whatever the words; an
      unanswerable one gives 1 for abstaining and 0 for any answer, as in SQuAD 2.0. Citation numbers are no words.
    - recall, ndcg, mrr: over articles, see ``ranked_articles``. NaN without gold and for an unanswerable question:
      the passage that such a one was written about does not answer it.
    - section_recall, section_ndcg, section_mrr: over sections by article and heading. NaN also when no gold place
      names a section.
    - citation_precision: NaN without citations; citation_recall: 0 then. Both are NaN where recall is.
    - verified: NaN without citations and claims that failed the check; such a claim counts as a citation that fails.
    - hallucination: NaN for an abstention and for an answer without content words.
    - judged: always NaN here; a judge may grade the answer afterwards (``evaluation.judge``).
    """
    told = "" if answer.abstained else _MARKS.sub("", answer.text)
    values = dict.fromkeys(METRICS, math.nan)
    if question.answerable:
        values["accuracy"] = accuracy(told, question.answers)
        values["exact_match"] = exact_match(told, question.answers)
        values["f1"] = token_f1(told, question.answers)
    else:
        values |= dict.fromkeys(("accuracy", "exact_match", "f1"), float(answer.abstained))
    values["abstention_correct"] = float(answer.abstained != question.answerable)
    if question.answerable and question.gold:
        relevant = relevant_articles(question)
        articles = ranked_articles(question, ranking)
        for k in (1, 2, 5, 10):
            values[f"recall@{k}"] = recall_at(articles, relevant, k)
        values["ndcg@10"] = ndcg_at(articles, relevant, 10)
        values["mrr"] = reciprocal_rank(articles, relevant)
        sections = [(fold(e.section.title), fold(e.section.heading)) for e in ranking]
        wanted = {(fold(gold.title), fold(gold.section)) for gold in question.gold if gold.section is not None}
        for k in (1, 2, 5, 10):
            values[f"section_recall@{k}"] = recall_at(sections, wanted, k)
        values["section_ndcg@10"] = ndcg_at(sections, wanted, 10)
        values["section_mrr"] = reciprocal_rank(sections, wanted)
        values["citation_precision"] = citation_precision(answer.citations, question.gold)
        values["citation_recall"] = citation_recall(answer.citations, question.gold)
    stored = {item.section.section_id: item.section for item in (*ranking, *answer.evidence)}
    values["verified"] = verified_share(answer.citations, stored, failed=len(answer.unverified))
    if not answer.abstained:
        cited = {c.section_id: stored[c.section_id] for c in answer.citations if c.section_id in stored}
        values["hallucination"] = hallucination_rate(
            [told[start:end] for start, end in sentence_spans(told)],
            [f"{section.title}\n{section.heading}\n{section.content}" for section in cited.values()],
        )
    return values


def relevant_articles(question: GoldQuestion) -> frozenset[str]:
    """Return the ids of the gold articles: the source id where the gold has one, else the folded title."""
    return frozenset(_gold_id(gold) for gold in question.gold)


def ranked_articles(question: GoldQuestion, ranking: Sequence[Evidence]) -> list[str]:
    """Return the articles of ``ranking`` as ids that compare with ``relevant_articles``, each once, best first.

    A gold title stands for all its sections. Elsewhere a section counts as the passage that it comes from when any
    gold of the question is a passage (one article of SQuAD has many), and as its article when none is.
    """
    ids = {gold.source_id for gold in question.gold} - {None}
    titles = {fold(gold.title) for gold in question.gold if gold.source_id is None}

    def article_id(section: Section) -> str:
        title = fold(section.title)
        if section.source_id in ids:
            return section.source_id
        return section.source_id if ids and title not in titles and section.source_id else title

    return list(dict.fromkeys(article_id(item.section) for item in ranking))


def _gold_id(gold: Gold) -> str:
    return fold(gold.title) if gold.source_id is None else gold.source_id


def normalize(text: str) -> str:
    """Return ``text`` as SQuAD's evaluation compares it: lower case, no punctuation, no articles, single spaces.

    Beyond SQuAD's script (Rajpurkar et al. 2016), which knows ASCII only: punctuation of all of Unicode goes, composed
    and decomposed letters are the same, and long dashes and ellipses part words.
    """
    lowered = _SEPARATORS.sub(" ", unicodedata.normalize("NFC", text).lower())
    bare = "".join(character for character in lowered if not _is_punctuation(character))
    return " ".join(_ARTICLES.sub(" ", bare).split())


def _is_punctuation(character: str) -> bool:
    # SQuAD takes all of string.punctuation, which Unicode calls punctuation (P) or symbols (S).
    category = unicodedata.category(character)
    return category[0] == "P" or (category[0] == "S" and character.isascii())


def accuracy(text: str, accepted: Collection[str]) -> float:
    """Return 1.0 when ``text`` contains a string of ``accepted`` as whole words, after ``normalize``; else 0.0.

    Whole words: ``5`` is not in ``1954`` and ``art`` not in ``Stuttgart``. Words joined by a hyphen, a dash or a slash
    may match one by one or welded as SQuAD has them (``1930`` and ``1930-1937`` are both in ``1930–1937``), and a
    possessive matches its noun (``Planck`` is in ``Planck's``). A string of which ``normalize`` leaves nothing
    (``A``, ``+``) must stand in ``text`` as it is, case included, with no word character beside it.
    Nothing is accepted: 0.0. It follows the containment measure of open-domain question answering
    (Mallen et al. 2023), which lacks the word boundaries.
    """
    parted = _JOINTS.sub(" ", text)
    return float(any(_holds(text, a) or _holds(parted, _JOINTS.sub(" ", a)) for a in accepted))


def _holds(text: str, accepted: str) -> bool:
    wanted = normalize(accepted)
    if wanted:
        return f" {wanted} " in f" {normalize(text)} "
    verbatim = accepted.strip()
    return bool(verbatim and re.search(rf"(?<!\w){re.escape(verbatim)}(?!\w)", text))


def exact_match(text: str, accepted: Collection[str]) -> float:
    """Return 1.0 when ``text`` equals a string of ``accepted`` after ``normalize``, else 0.0 (SQuAD's EM).

    Strings of which ``normalize`` leaves nothing are compared as they are.
    """
    return float(any(_tokens(text) == _tokens(string) for string in accepted))


def token_f1(text: str, accepted: Collection[str]) -> float:
    """Return the best F1 of the tokens of ``text`` against a string of ``accepted``: in [0, 1] (SQuAD's F1).

    Tokens are those of ``normalize`` and count as often as they occur; nothing is accepted: 0.0.
    """
    told = Counter(_tokens(text))
    return max((_f1(told, Counter(_tokens(string))) for string in accepted), default=0.0)


def _tokens(text: str) -> list[str]:
    return normalize(text).split() or text.split()


def _f1(told: Counter[str], wanted: Counter[str]) -> float:
    shared = (told & wanted).total()
    return 2 * shared / (told.total() + wanted.total()) if shared else 0.0


def recall_at(ranking: Sequence[Item], relevant: Set[Item], k: int) -> float:
    """Return the share of ``relevant`` among the first ``k`` of ``ranking``: in [0, 1], NaN when nothing is relevant.

    Here and below, an item that occurs again in a ranking is passed over. Raises ``ValueError`` for ``k`` below 1.
    """
    found = relevant & set(_first(ranking, k))
    return len(found) / len(relevant) if relevant else math.nan


def ndcg_at(ranking: Sequence[Item], relevant: Set[Item], k: int) -> float:
    """Return the normalized discounted cumulative gain at ``k``: in [0, 1], NaN when nothing is relevant.

    Gains are 0 or 1 and discounted by log2(rank + 1) (Järvelin and Kekäläinen 2002, as trec_eval computes it).
    Raises ``ValueError`` for ``k`` below 1.
    """
    first = _first(ranking, k)
    if not relevant:
        return math.nan
    gain = sum(1 / math.log2(rank + 1) for rank, item in enumerate(first, start=1) if item in relevant)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(relevant)) + 1))


def reciprocal_rank(ranking: Sequence[Item], relevant: Set[Item]) -> float:
    """Return 1 / the rank of the first relevant item: in [0, 1], 0 when there is none, NaN when nothing is relevant.

    Its mean over questions is the MRR (Voorhees 1999).
    """
    if not relevant:
        return math.nan
    ranks = (rank for rank, item in enumerate(dict.fromkeys(ranking), start=1) if item in relevant)
    return 1 / next(ranks, math.inf)


def _first(ranking: Sequence[Item], k: int) -> list[Item]:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    return list(dict.fromkeys(ranking))[:k]


def citation_precision(citations: Sequence[Citation], gold: Collection[Gold]) -> float:
    """Return the share of ``citations`` that point to a gold place: in [0, 1], NaN without either.

    A gold place is the section where the gold names one, the passage where it has a source id, else the article.
    With ``citation_recall`` it follows ALCE (Gao et al. 2023), with gold places for its model of entailment.
    """
    if not citations or not gold:
        return math.nan
    return sum(any(_is_at(citation, place) for place in gold) for citation in citations) / len(citations)


def citation_recall(citations: Sequence[Citation], gold: Collection[Gold]) -> float:
    """Return the share of the gold places (see ``citation_precision``) that are cited: in [0, 1], NaN without gold."""
    if not gold:
        return math.nan
    return sum(any(_is_at(citation, place) for citation in citations) for place in gold) / len(gold)


def _is_at(citation: Citation, gold: Gold) -> bool:
    if gold.source_id is not None and citation.source_id != gold.source_id:
        return False
    if gold.source_id is None and fold(citation.title) != fold(gold.title):
        return False
    return gold.section is None or fold(citation.heading) == fold(gold.section)


def verified_share(citations: Sequence[Citation], stored: Mapping[str, Section], *, failed: int = 0) -> float:
    """Return the share of ``citations`` whose quotation is the text in ``stored`` at its place: in [0, 1].

    ``stored`` maps section ids to sections; a citation of another section is not verified. ``failed`` counts claims
    whose citation was refused before. NaN when there is neither a citation nor such a claim.
    """
    total = len(citations) + failed
    return sum(_verifies(citation, stored) for citation in citations) / total if total else math.nan


def _verifies(citation: Citation, stored: Mapping[str, Section]) -> bool:
    try:
        verify((citation,), stored)
    except CitationError:
        return False
    return True


def hallucination_rate(sentences: Sequence[str], cited: Sequence[str]) -> float:
    """Return the share of ``sentences`` that no text of ``cited`` supports: in [0, 1], NaN without content words.

    A text supports a sentence when it holds more than half of its different content words (those not in
    ``STOP_WORDS``) and all that have a digit: a wrong year is not made up for by right words around it. One text must
    do so, not several together. Case, Unicode form, possessives and commas between thousands make no difference.
    Sentences without content words claim nothing and are not counted. Words are compared, not meanings: a rewording
    may count as unsupported, and a false sentence in the section's own words does not.
    """
    texts = [_content_words(text) for text in cited]
    claims = [claim for sentence in sentences if (claim := _content_words(sentence))]
    if not claims:
        return math.nan
    return sum(not any(_supports(text, claim) for text in texts) for claim in claims) / len(claims)


def _supports(text: Set[str], claim: Set[str]) -> bool:
    figures = {word for word in claim if any(character.isdigit() for character in word)}
    return figures <= text and len(claim & text) > SUPPORTED * len(claim)


def _content_words(text: str) -> frozenset[str]:
    joined = _THOUSANDS.sub("", fold(text))
    return frozenset(word.removesuffix("'s") for word in words(joined)) - STOP_WORDS


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the probability that a true label's score is above a false one's, ties as half: in [0, 1].

    It is the area under the ROC curve (Hanley and McNeil 1982); NaN when all labels are the same. Raises
    ``ValueError`` when the lengths differ or a score is NaN.
    """
    pairs = sorted(zip(scores, labels, strict=True), key=lambda pair: pair[0])
    if any(math.isnan(value) for value, _ in pairs):
        raise ValueError("a score is NaN")
    positives = sum(bool(label) for _, label in pairs)
    negatives = len(pairs) - positives
    if not positives or not negatives:
        return math.nan
    # Twice the pairs in the right order: counted in integers, nothing is rounded before the division.
    doubled = 0
    negatives_below = 0
    start = 0
    while start < len(pairs):
        end = start
        tied_positives = 0
        while end < len(pairs) and pairs[end][0] == pairs[start][0]:
            tied_positives += bool(pairs[end][1])
            end += 1
        tied_negatives = end - start - tied_positives
        doubled += tied_positives * (2 * negatives_below + tied_negatives)
        negatives_below += tied_negatives
        start = end
    return doubled / (2 * positives * negatives)


class PrecisionRecall(NamedTuple):
    """Both lie in [0, 1]; NaN where there is nothing to take a share of."""

    precision: float
    recall: float


def precision_recall(predicted_abstain: Sequence[bool], should_abstain: Sequence[bool]) -> PrecisionRecall:
    """Return how many abstentions were right, and how many of the due ones were made.

    Precision is NaN when nothing abstained, recall when nothing had to. Raises ``ValueError`` when the lengths differ.
    """
    pairs = list(zip(predicted_abstain, should_abstain, strict=True))
    both = sum(bool(predicted and due) for predicted, due in pairs)
    predicted = sum(bool(p) for p, _ in pairs)
    due = sum(bool(d) for _, d in pairs)
    return PrecisionRecall(both / predicted if predicted else math.nan, both / due if due else math.nan)
