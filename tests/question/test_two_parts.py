"""Questions with two question words."""

from __future__ import annotations

from wikigr.question.decomposition import two_parts
from wikigr.question.grammar import MAX_CHARS


def test_each_part_becomes_a_question() -> None:
    cases = [
        ("When and where was Ada Lovelace born?", "When was Ada Lovelace born?", "Where was Ada Lovelace born?"),
        ("how and why  does it fail", "How does it fail?", "Why does it fail?"),
        ("Where did Hume die and when?", "Where did Hume die?", "When did Hume die?"),
        ("In which year was Rome founded, and why?", "In which year was Rome founded?", "Why was Rome founded?"),
        ("Who discovered radium, and when?", "Who discovered radium?", "When was it that someone discovered radium?"),
        ("Who directed The Silent Garden and who wrote it?", "Who directed The Silent Garden?",
         "Who wrote The Silent Garden?"),
        ("Where did Hume die, and what was his first book?", "Where did Hume die?", "What was Hume's first book?"),
    ]  # fmt: skip
    assert [
        (question, first, second) for question, first, second in cases if two_parts(question) != (first, second)
    ] == []


def test_other_questions_have_one() -> None:
    cases = [
        "When was Ada Lovelace born?", "Who are Marie and Pierre Curie?", "Who wrote War and Peace?",
        # Two questions about two things.
        "When was Hume born and when did Kant die?", "What is a lock and how is it released?",
        "Who directed Solaris and who directed Stalker before it?",
        # "It" stands for nothing.
        "Where was Hume born and what time is it?",
        # "When did Yukawa receive?" is no question.
        "Which prize did Yukawa receive and when?", "Which river flows through Rome and Orte?",
        # The second half asks about something else than the first.
        "Where was Hume born, who taught him, and when?", "", "When and where was " + "a" * MAX_CHARS + " born?",
    ]  # fmt: skip
    assert [question for question in cases if two_parts(question) is not None] == []
