"""Tiny data sets in the formats of the real ones, and a tiny BERT with random weights."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from wikigr.embeddings.models import prepare
from wikigr.reader.passage import WindowOptions
from wikigr.reader.windows import WindowMaker

CITIES = {"Ulm": "Einstein", "Kiel": "Planck", "Würzburg": "Heisenberg", "Wien": "Pauli", "Bristol": "Dirac"}


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five articles of three paragraphs with four questions each, one of them unanswerable, in every data set."""
    folder = tmp_path_factory.mktemp("data")
    paragraphs: list[dict[str, Any]] = []
    squad: list[dict[str, Any]] = []
    shifts: list[dict[str, Any]] = []
    for number, (city, name) in enumerate(CITIES.items()):
        for part in range(3):
            year = 1870 + 10 * number + part
            other = 1950 + number
            text = f"In {year}, the physicist {name} of {city} wrote book {part}. In {other} he met Bohr in Leiden."
            identifier = f"{city}#{part}"
            paragraphs.append({"id": identifier, "title": city, "text": text})
            for kind, question, answer in (
                ("year", f"When did {name} write book {part}?", str(year)),
                ("name", f"Who of {city} wrote book {part}?", name),
                ("place", f"Where did {name} meet Bohr after book {part}?", "Leiden"),
                ("none", f"When did {name} burn book {part}?", None),
            ):
                answers = [] if answer is None else [answer, answer, f"in {answer}"]
                squad.append(
                    {
                        "id": f"{identifier}-{kind}",
                        "question": question,
                        "answers": answers,
                        "is_impossible": answer is None,
                        "gold_ids": [identifier],
                        "gold_titles": [city],
                    }
                )
                if answer is not None:
                    given = [{"text": answer, "start": text.index(answer)}] * 2
                    row = {"id": f"s-{identifier}-{kind}", "title": f"New_{city}", "context": text}
                    shifts.append({**row, "question": question, "answers": given})
    write_lines(folder / "squad2" / "corpus.jsonl.xz", paragraphs)
    write_lines(folder / "squad2" / "queries.jsonl.xz", squad)
    reading = folder / "reading"
    # One article of the other data set has the title of an article of SQuAD 2.0.
    same = [{**row, "title": row["title"].removeprefix("New_")} for row in shifts[:3]]
    write_lines(reading / "squadshifts-new_wiki.jsonl.xz", [*shifts, *same])
    for name in ("squadshifts-reddit", "squadshifts-amazon_reviews", "qamr", "squad11-more", "covid-qa"):
        write_lines(reading / f"{name}.jsonl.xz", [{**row, "id": f"{name}{row['id']}"} for row in shifts])
    asked = [row for row in squad if not row["is_impossible"]]
    natural = [
        {"id": f"nq-{n}", "question": row["question"], "answers": row["answers"], "gold_ids": row["gold_ids"]}
        for n, row in enumerate(asked)
    ]
    write_lines(folder / "questions" / "nq-passages.jsonl.xz", paragraphs)
    covered = [{**row, "covered": True} for row in natural[::2]]
    others = [{**row, "answers": ["Curie"], "gold_ids": [], "covered": False} for row in natural[1::2]]
    write_lines(folder / "questions" / "nq.jsonl.xz", [*covered, *others])
    typed = [
        {"id": "w1", "question": "where did planck live?", "answers": ["Kiel"]},
        {"id": "w2", "question": "where did curie live?", "answers": ["Warsaw"]},
    ]
    write_lines(folder / "questions" / "webquestions.jsonl.xz", typed)
    leads = [
        ("Planck's years", "After long travels and many lectures Planck came to live in the old town of Kiel again."),
        ("Dirac's years", "After long travels and many lectures Dirac came to speak in the old town of Bristol again."),
    ]
    rows = [{"title": title, "text": f"## {title}\n{text}\nShort."} for title, text in leads]
    write_lines(folder / "wikispeedia" / "leads.jsonl.xz", rows)
    passages = [{"id": f"hp-{n}", "title": row["title"], "text": row["text"]} for n, row in enumerate(paragraphs)]
    write_lines(folder / "hotpotqa" / "corpus.jsonl.xz", passages)
    hops = [
        {"id": "h1", "question": "Who of Ulm and Kiel?", "answers": ["Einstein"], "gold_ids": ["hp-0", "hp-3"]},
        {"id": "h2", "question": "Is Ulm Kiel?", "answers": ["no"], "gold_ids": ["hp-0", "hp-3"]},
        {"id": "h3", "question": "Whom did both meet?", "answers": ["Bohr"], "gold_ids": ["hp-0", "hp-3"]},
    ]
    write_lines(folder / "hotpotqa" / "queries.jsonl.xz", hops)
    return folder


@pytest.fixture(scope="session")
def tokenizer_path() -> Path:
    return prepare("all-MiniLM-L6-v2").tokenizer


@pytest.fixture
def maker(tokenizer_path: Path) -> WindowMaker:
    options = WindowOptions(tokens=40, overlap=6, question_tokens=14, title_tokens=6)
    return WindowMaker(Tokenizer.from_file(str(tokenizer_path)), options)


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers with the vocabulary of the default encoder."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("bert")
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    BertModel(BertConfig(vocab_size=30_522, max_position_embeddings=64, **sizes)).save_pretrained(folder)
    return folder
