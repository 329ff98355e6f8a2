"""Search over paragraphs uses both the words and the meaning of a question."""

from __future__ import annotations

from training.search import ParagraphSearch
from wikigr.embeddings.embedder import Embedder

PARAGRAPHS = [
    ("Cars", "An automobile has four wheels and an engine."),
    ("Ulm", "The physicist Einstein was born in Ulm in 1879."),
    ("Cooking", "Soup is boiled slowly with vegetables."),
]


def test_the_best_paragraph_is_first(encoder: Embedder) -> None:
    search = ParagraphSearch(PARAGRAPHS, encoder)
    questions = ["Where was Einstein born?", "Which vehicle do people drive?", "zzz recipe for dinner"]
    assert [numbers[0] for numbers in search.search(questions, 2)] == [1, 0, 2]
    assert [len(numbers) for numbers in search.search(questions, 2)] == [2, 2, 2]


def test_without_an_encoder_only_words_count() -> None:
    search = ParagraphSearch(PARAGRAPHS, None)
    assert [numbers[0] for numbers in search.search(["Where was Einstein born?", "vegetables"], 1)] == [1, 2]
    assert search.search(["vehicle"], 3) == [[0, 1, 2]]
