from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from wikigr.answer.answer import Answer
from wikigr.answer.citations import Citation
from wikigr.evaluation.metrics import (
    METRICS,
    accuracy,
    auroc,
    citation_precision,
    citation_recall,
    exact_match,
    hallucination_rate,
    ndcg_at,
    normalize,
    precision_recall,
    ranked_articles,
    recall_at,
    reciprocal_rank,
    relevant_articles,
    score,
    token_f1,
    verified_share,
)
from wikigr.evaluation.questions import Gold, GoldQuestion
from wikigr.index.candidate import Candidate, Evidence, Section
from wikigr.retrieval.trace import Trace

WORDS = st.text(alphabet="abtheKi5é -–.,'", max_size=20)
ITEMS = st.integers(0, 12)
RANKINGS = st.lists(ITEMS, max_size=15)
RELEVANT = st.frozensets(ITEMS, min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Kaiser\nWilhelm Society!", "kaiser wilhelm society"),
        ("an apple, a pear", "apple pear"),
        ("«Œuvre» “quoted” ¿qué?", "œuvre quoted qué"),
        ("$1,954.", "1954"),
        ("20 °C or €5", "20 °c or €5"),
        ("Kiel—a city…north", "kiel city north"),
        ("state-of-the-art", "stateoftheart"),
        ("Schro\u0308dinger", "schrödinger"),
        ("theory, anode", "theory anode"),
        ("The", ""),
    ],
)
def test_normalization(text: str, normal: str) -> None:
    assert normalize(text) == normal


@pytest.mark.parametrize(
    ("text", "accepted", "right"),
    [
        ("He was born in Kiel.", ["Kiel"], 1.0),
        ("He was born in Kiel.", ["Bern", "kiel"], 1.0),
        ("In 1954.", ["5"], 0.0),
        ("In Stuttgart", ["art"], 0.0),
        ("from 1930–1937, in Berlin", ["1930"], 1.0),
        ("from 1930–1937, in Berlin", ["1930-1937"], 1.0),
        ("from 1930 to 1937", ["1930-1937"], 0.0),
        ("the Davisson–Germer experiment", ["Germer"], 1.0),
        ("wave particle duality", ["wave-particle duality"], 1.0),
        ("It is Planck’s constant", ["Planck"], 1.0),
        ("a 1,954 metre peak", ["1954"], 1.0),
        ("3.5 eV", ["5"], 0.0),
        ("at the University of Kiel", ["University of the Kiel"], 1.0),
        ("Kiel of University", ["University of Kiel"], 0.0),
        ("The vitamin", ["A"], 0.0),
        ("a vitamin", ["A"], 0.0),
        ("vitamin A", ["A"], 1.0),
        ("C++ and +", ["+"], 1.0),
        ("vitamin", ["+"], 0.0),
        ("", ["Kiel"], 0.0),
        ("Kiel", [], 0.0),
        ("Kiel", [""], 0.0),
    ],
)
def test_accuracy(text: str, accepted: list[str], right: float) -> None:
    assert accuracy(text, accepted) == right


@pytest.mark.parametrize(
    ("text", "accepted", "em", "f1"),
    [
        ("The Kiel.", ["Bern", "Kiel"], 1.0, 1.0),
        ("born in Kiel", ["Kiel"], 0.0, 0.5),
        ("Kiel Kiel", ["Kiel"], 0.0, 2 / 3),
        ("Bern", ["Kiel"], 0.0, 0.0),
        ("", ["Kiel"], 0.0, 0.0),
        ("Kiel", [], 0.0, 0.0),
        ("The", ["A"], 0.0, 0.0),
        ("A", ["A"], 1.0, 1.0),
    ],
)
def test_exact_match_and_f1(text: str, accepted: list[str], em: float, f1: float) -> None:
    assert exact_match(text, accepted) == em
    assert token_f1(text, accepted) == pytest.approx(f1)


@given(WORDS, st.lists(WORDS, max_size=3))
def test_answer_metrics_keep_their_order_and_range(text: str, accepted: list[str]) -> None:
    em, f1 = exact_match(text, accepted), token_f1(text, accepted)
    assert 0.0 <= f1 <= 1.0
    assert em in (0.0, 1.0)
    if em and text.strip():
        assert f1 == 1.0
        assert accuracy(text, accepted) == 1.0
    assert token_f1(text, accepted[::-1]) == f1


@given(WORDS.filter(str.strip), WORDS, WORDS)
def test_an_accepted_string_among_words_is_found(accepted: str, before: str, after: str) -> None:
    assert accuracy(f"{before} {accepted} {after}", [accepted]) == 1.0


@pytest.mark.parametrize(
    ("ranking", "relevant", "k", "recall", "ndcg", "rr"),
    [
        ("abc", "a", 1, 1.0, 1.0, 1.0),
        ("abc", "c", 2, 0.0, 0.0, 1 / 3),
        ("abc", "bz", 5, 0.5, (1 / math.log2(3)) / (1 + 1 / math.log2(3)), 0.5),
        ("aab", "b", 2, 1.0, 1 / math.log2(3), 0.5),
        ("abc", "abc", 1, 1 / 3, 1.0, 1.0),
        ("", "a", 5, 0.0, 0.0, 0.0),
        ("abc", "z", 5, 0.0, 0.0, 0.0),
    ],
)
def test_retrieval(ranking: str, relevant: str, k: int, recall: float, ndcg: float, rr: float) -> None:
    assert recall_at(ranking, set(relevant), k) == pytest.approx(recall)
    assert ndcg_at(ranking, set(relevant), k) == pytest.approx(ndcg)
    assert reciprocal_rank(ranking, set(relevant)) == pytest.approx(rr)


def test_retrieval_without_anything_relevant_does_not_apply() -> None:
    assert math.isnan(recall_at("abc", set(), 5))
    assert math.isnan(ndcg_at("abc", set(), 5))
    assert math.isnan(reciprocal_rank("abc", set()))


@pytest.mark.parametrize("measure", [recall_at, ndcg_at])
def test_a_cut_below_one_is_refused(measure: object) -> None:
    with pytest.raises(ValueError, match="k must be at least 1, not 0"):
        measure("abc", {"a"}, 0)  # type: ignore[operator]


@given(RANKINGS, RELEVANT, st.integers(1, 12))
def test_retrieval_metrics_lie_between_0_and_1(ranking: list[int], relevant: frozenset[int], k: int) -> None:
    recall, ndcg, rr = (
        recall_at(ranking, relevant, k),
        ndcg_at(ranking, relevant, k),
        reciprocal_rank(ranking, relevant),
    )
    assert 0.0 <= recall <= 1.0
    assert 0.0 <= ndcg <= 1.0 + 1e-12
    assert 0.0 <= rr <= 1.0
    assert recall <= recall_at(ranking, relevant, k + 1)
    assert (recall > 0) == (ndcg > 0)


@given(RELEVANT, st.lists(ITEMS, max_size=8), st.integers(1, 12), st.randoms())
def test_a_perfect_ranking_is_1_in_whatever_order(
    relevant: frozenset[int], rest: list[int], k: int, random: object
) -> None:
    first = sorted(relevant)
    random.shuffle(first)  # type: ignore[attr-defined]
    ranking = first + rest
    assert ndcg_at(ranking, relevant, k) == pytest.approx(1.0)
    assert reciprocal_rank(ranking, relevant) == 1.0
    assert recall_at(ranking, relevant, max(k, len(relevant))) == 1.0


@given(RANKINGS, RELEVANT, st.permutations(range(13)), st.integers(1, 12))
def test_names_do_not_matter(ranking: list[int], relevant: frozenset[int], names: Sequence[int], k: int) -> None:
    renamed, again = [names[i] for i in ranking], {names[i] for i in relevant}
    assert recall_at(renamed, again, k) == recall_at(ranking, relevant, k)
    assert ndcg_at(renamed, again, k) == ndcg_at(ranking, relevant, k)
    assert reciprocal_rank(renamed, again) == reciprocal_rank(ranking, relevant)


SCORES = st.lists(st.tuples(st.integers(-3, 3).map(lambda n: n / 3), st.booleans()), min_size=1, max_size=30)


@given(SCORES)
def test_auroc_is_the_statistic_of_mann_and_whitney(pairs: list[tuple[float, bool]]) -> None:
    values, labels = [v for v, _ in pairs], [label for _, label in pairs]
    area = auroc(values, labels)
    true, false = [v for v, label in pairs if label], [v for v, label in pairs if not label]
    if not true or not false:
        assert math.isnan(area)
        return
    assert area == pytest.approx(mannwhitneyu(true, false).statistic / (len(true) * len(false)))
    assert area == pytest.approx(np.mean([(t > f) + 0.5 * (t == f) for t in true for f in false]))
    assert area + auroc([-v for v in values], labels) == pytest.approx(1.0)


def test_auroc_by_hand() -> None:
    assert auroc([0.1, 0.4, 0.35, 0.8], [False, False, True, True]) == 0.75
    assert auroc([0.5, 0.5], [True, False]) == 0.5
    assert math.isnan(auroc([], []))
    with pytest.raises(ValueError, match="NaN"):
        auroc([math.nan, 0.5], [True, False])
    with pytest.raises(ValueError, match="shorter"):
        auroc([0.5, 0.1], [True])


def test_precision_and_recall_of_abstaining() -> None:
    assert precision_recall([True, True, False, False], [True, False, True, False]) == (0.5, 0.5)
    assert precision_recall([True, False, False], [True, True, True]) == (1.0, 1 / 3)
    assert math.isnan(precision_recall([False], [True]).precision)
    assert math.isnan(precision_recall([True], [False]).recall)
    with pytest.raises(ValueError, match="shorter"):
        precision_recall([True, True], [True])


KIEL = Section("Max Planck#0", "Max Planck", "Life", "Planck was born in Kiel in 1858. He studied in Munich.", "p1", 0)
WORK = Section("Max Planck#1", "Max Planck", "Work", "His constant is 6.6 units.", "p2", 1)
SPIN = Section("Spin#0", "Spin", "Introduction", "Electrons spin.", "spin.md", 0)


def evidence(*sections: Section) -> tuple[Evidence, ...]:
    return tuple(Evidence(section, Candidate(section.section_id, 1.0)) for section in sections)


def citation(section: Section, start: int = 0, end: int = 10) -> Citation:
    quote = section.content[start:end]
    return Citation(1, section.title, section.section_id, section.heading, section.source_id, quote, start, end)


@pytest.mark.parametrize(
    ("cited", "gold", "precision", "recall"),
    [
        ([KIEL], [Gold("max_planck")], 1.0, 1.0),
        ([KIEL, SPIN], [Gold("Max Planck")], 0.5, 1.0),
        ([KIEL, WORK], [Gold("Max Planck", "LIFE")], 0.5, 1.0),
        ([WORK], [Gold("Max Planck", "Life")], 0.0, 0.0),
        ([KIEL], [Gold("Max Planck"), Gold("Spin")], 1.0, 0.5),
        ([KIEL], [Gold("Max Planck", None, "p2")], 0.0, 0.0),
        ([KIEL], [Gold("Another name", None, "p1")], 1.0, 1.0),
        ([KIEL], [Gold("Max Planck", "Work", "p1")], 0.0, 0.0),
        ([], [Gold("Spin")], math.nan, 0.0),
        ([KIEL], [], math.nan, math.nan),
    ],
)
def test_citations_of_gold_places(cited: list[Section], gold: list[Gold], precision: float, recall: float) -> None:
    citations = [citation(section) for section in cited]
    assert citation_precision(citations, gold) == pytest.approx(precision, nan_ok=True)
    assert citation_recall(citations, gold) == pytest.approx(recall, nan_ok=True)


def test_a_citation_verifies_only_against_the_stored_text() -> None:
    stored = {section.section_id: section for section in (KIEL, WORK)}
    good = citation(KIEL)
    assert verified_share([good, citation(WORK)], stored) == 1.0
    assert verified_share([good, replace(good, quote="Planck was!")], stored) == 0.5
    assert verified_share([good, citation(SPIN)], stored) == 0.5
    assert verified_share([good], stored, failed=3) == 0.25
    assert verified_share([], stored, failed=1) == 0.0
    assert math.isnan(verified_share([], stored))


@pytest.mark.parametrize(
    ("sentences", "cited", "rate"),
    [
        (["Planck was born in Kiel."], [KIEL.content], 0.0),
        (["Planck was born in Bern."], [KIEL.content], 0.0),
        (["Einstein was raised in Bern."], [KIEL.content], 1.0),
        (["Born: Bern"], [KIEL.content], 1.0),
        (["Planck was born in Kiel in 1859."], [KIEL.content], 1.0),
        (["Planck's Kiel", "Electrons spin fast."], [KIEL.content], 0.5),
        (["Electrons were born in Kiel, where they spin."], ["Electrons spin.", "Born in Kiel."], 1.0),
        (["It has 1,000 units."], ["There are 1000 units."], 0.0),
        (["Planck was born."], [], 1.0),
        (["So it is.", "Electrons spin."], ["Electrons spin."], 0.0),
        (["So it is."], ["Electrons spin."], math.nan),
        ([], ["Electrons spin."], math.nan),
    ],
)
def test_hallucination(sentences: list[str], cited: list[str], rate: float) -> None:
    assert hallucination_rate(sentences, cited) == pytest.approx(rate, nan_ok=True)


@given(st.lists(st.sampled_from(["Planck in Kiel.", "In 1858.", "Spin.", "It is."])), st.lists(st.just(KIEL.content)))
def test_more_sources_never_support_less(sentences: list[str], cited: list[str]) -> None:
    rate = hallucination_rate(sentences, cited)
    if not math.isnan(rate):
        assert 0.0 <= hallucination_rate(sentences, [*cited, "Electrons spin."]) <= rate <= 1.0


QUESTION = GoldQuestion(
    "q1",
    "Where was Planck born?",
    ("Kiel",),
    (Gold("max planck", "life"), Gold("Spin")),
    True,
    "single",
    "dev",
    None,
    1,
)
IMPOSSIBLE = replace(QUESTION, answers=(), answerable=False)
ANSWER = Answer(
    question=QUESTION.question,
    text="Planck was born in Kiel in 1858. [1]",
    query_type="extractive",
    confidence=0.9,
    citations=(citation(KIEL, 0, 32),),
    evidence=evidence(KIEL),
    sentences=(),
    trace=Trace(),
)
ABSTAINED = replace(ANSWER, text="Not in Kiel.", query_type="abstained", citations=())


def test_articles_are_told_apart_by_title_or_by_passage() -> None:
    ranking = evidence(KIEL, WORK, SPIN)
    assert relevant_articles(QUESTION) == {"max planck", "spin"}
    assert ranked_articles(QUESTION, ranking) == ["max planck", "spin"]
    passage = replace(QUESTION, gold=(Gold("Max Planck", None, "p2"),))
    assert relevant_articles(passage) == {"p2"}
    assert ranked_articles(passage, ranking) == ["p1", "p2", "spin.md"]
    both = replace(QUESTION, gold=(Gold("Max Planck", None, "p2"), Gold("Spin")))
    assert relevant_articles(both) == {"p2", "spin"}
    assert ranked_articles(both, ranking) == ["p1", "p2", "spin"]


def test_all_metrics_of_a_right_answer() -> None:
    values = score(QUESTION, ANSWER, evidence(WORK, KIEL, SPIN))
    assert list(values) == list(METRICS)
    assert values == pytest.approx(
        {
            "accuracy": 1.0,
            "exact_match": 0.0,
            "f1": 2 / 8,
            "recall@1": 0.5,
            "recall@2": 1.0,
            "recall@5": 1.0,
            "recall@10": 1.0,
            "ndcg@10": 1.0,
            "mrr": 1.0,
            "section_recall@1": 0.0,
            "section_recall@2": 1.0,
            "section_recall@5": 1.0,
            "section_recall@10": 1.0,
            "section_ndcg@10": 1 / math.log2(3),
            "section_mrr": 0.5,
            "citation_precision": 1.0,
            "citation_recall": 0.5,
            "verified": 1.0,
            "hallucination": 0.0,
            "abstention_correct": 1.0,
            "judged": math.nan,
        },
        nan_ok=True,
    )


def test_who_abstains_has_not_answered() -> None:
    values = score(QUESTION, ABSTAINED, evidence(KIEL))
    assert [values[name] for name in ("accuracy", "exact_match", "f1", "abstention_correct")] == [0.0] * 4
    assert values["citation_recall"] == 0.0
    assert all(math.isnan(values[name]) for name in ("citation_precision", "verified", "hallucination"))


@pytest.mark.parametrize(("answer", "right"), [(ABSTAINED, 1.0), (ANSWER, 0.0)])
def test_an_unanswerable_question_is_for_abstaining(answer: Answer, right: float) -> None:
    values = score(IMPOSSIBLE, answer, evidence(KIEL))
    assert [values[name] for name in ("accuracy", "exact_match", "f1", "abstention_correct")] == [right] * 4
    for name in ("recall@1", "ndcg@10", "mrr", "section_recall@5", "citation_precision", "citation_recall"):
        assert math.isnan(values[name])


def test_section_recall_needs_a_gold_section() -> None:
    values = score(replace(QUESTION, gold=(Gold("Spin"),)), ANSWER, evidence(SPIN))
    assert all(math.isnan(value) for name, value in values.items() if name.startswith("section_"))
    assert values["recall@1"] == 1.0


def test_pieces_of_one_section_count_once() -> None:
    pieces = [replace(WORK, section_id=f"Max Planck#{n}") for n in range(1, 9)]
    assert score(QUESTION, ANSWER, evidence(*pieces, KIEL))["section_recall@5"] == 1.0


def test_citation_numbers_are_no_answers() -> None:
    number = replace(QUESTION, answers=("1",))
    assert score(number, ANSWER, ())["accuracy"] == 0.0
    claim = replace(ANSWER, text="Kiel [unverified]", citations=(), unverified=("Kiel",))
    values = score(QUESTION, claim, ())
    assert values["exact_match"] == 1.0
    assert values["verified"] == 0.0
    assert values["hallucination"] == 1.0


@pytest.mark.parametrize("question", [QUESTION, IMPOSSIBLE, replace(QUESTION, gold=())])
@pytest.mark.parametrize("answer", [ANSWER, ABSTAINED, replace(ANSWER, text="", citations=())])
def test_every_metric_is_in_range_and_binary_where_it_says_so(question: GoldQuestion, answer: Answer) -> None:
    for name, value in score(question, answer, evidence(SPIN, KIEL)).items():
        assert math.isnan(value) or 0.0 <= value <= 1.0
        if METRICS[name].binary:
            assert value in (0.0, 1.0)


def test_the_registry_knows_itself() -> None:
    assert all(name == metric.name and metric.description for name, metric in METRICS.items())
    assert [name for name, metric in METRICS.items() if not metric.higher_is_better] == ["hallucination"]
