"""HotpotQA (Yang et al. 2018): two-hop questions, with the gold passage that states the answer."""

from __future__ import annotations

from pathlib import Path

from training.examples import Question, occurrences, read_lines

NAME = "hotpotqa"
LICENSE = "CC BY-SA 4.0"


def read_hotpotqa(folder: Path) -> list[Question]:
    """Read the questions whose answer stands in exactly one gold passage; yes and no are left out."""
    passages = {row["id"]: row for row in read_lines(folder / "corpus.jsonl.xz")}
    questions = []
    for row in read_lines(folder / "queries.jsonl.xz"):
        answer = row["answers"][0]
        gold = [passages[name] for name in row["gold_ids"]]
        stating = [(passage, spans) for passage in gold if (spans := occurrences(passage["text"], answer))]
        if answer.lower() in ("yes", "no") or len(stating) != 1:
            continue
        passage, spans = stating[0]
        accepted = tuple(row["answers"])
        questions.append(Question(NAME, row["id"], row["question"], passage["title"], passage["text"], accepted, spans))
    return questions
