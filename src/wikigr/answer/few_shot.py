"""Worked examples that show a model how to answer (reference/phase1-enhancements.md, FewShotManager)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wikigr.answer.abstention import NOT_COVERED
from wikigr.embeddings.embedder import Embedder, Vectors
from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout
from wikigr.pack.manifest import check_example_count, read_extra
from wikigr.text import TAG, scrub

_FILE = "few_shot_examples.json"
_LINES = ".jsonl"

_HEADER = re.compile(r"^[^\S\n]*={3,}|(?<!=)={3,}+(?=\s*Example)", re.IGNORECASE | re.MULTILINE)


class FewShotManager:
    """Reads the worked examples of a pack, finds those similar to a question and formats them for a prompt.

    ``pack_dir`` is a pack's folder with ``few_shot_examples.json`` (or ``few_shot_examples.jsonl``), or a file:
    ``{"examples": [...]}``, a plain list, or one example per line if its name ends in ``.jsonl``. An example is
    ``{question, context: {articles?, facts?}, answer, reasoning?, id?}`` or a gold question,
    ``{id, question, answers, gold: [{title}], answerable}``, of which the first answer and the titles are used, and
    ``NOT_COVERED`` if it has no answer.

    ``num_examples`` (at least 1) is how many ``get_examples`` returns by default. With ``cache`` the examples and
    their vectors stay in memory; without it every call reads the file again. ``encoder`` compares questions; by
    default it is the pack's own or, outside of a pack, the default encoder, opened on first use.

    Raises ``FileNotFoundError`` if there are no examples, ``json.JSONDecodeError`` for invalid JSON, and
    ``ValueError`` for a file that is not UTF-8, a malformed example (naming its number and field) and a wrong
    ``num_examples``.
    """

    def __init__(
        self, pack_dir: str | Path, num_examples: int = 3, cache: bool = True, *, encoder: Embedder | None = None
    ) -> None:
        self.num_examples = _at_least_one(num_examples)
        self.cache = cache
        self._file = _find(Path(pack_dir))
        self._encoder = encoder
        examples = _read(self._file)
        self._examples = examples if cache else None
        self._vectors: Vectors | None = None

    def without(self, places: Collection[int]) -> FewShotManager:
        """Return a manager of the same examples except those at ``places`` (from 1)."""
        other = FewShotManager(self._file, self.num_examples, encoder=self._encoder)
        other._examples = [e for place, e in enumerate(self._current(), start=1) if place not in places]
        return other

    def load_examples(self) -> list[dict[str, Any]]:
        """Return copies of all examples in the order of the file."""
        return [_copy(example) for example in self._current()]

    def get_examples(self, question: str, num_examples: int | None = None) -> list[dict[str, Any]]:
        """Return the examples whose questions are most similar to ``question``, most similar first.

        Similarity is the cosine of the vectors; ties keep the order of the file. ``num_examples`` defaults to that of
        the constructor; if there are fewer examples, all are returned. Raises ``ValueError`` for a blank question or a
        number below 1, and ``ModelError`` or ``PackError`` when the default encoder cannot be opened.
        """
        limit = self.num_examples if num_examples is None else _at_least_one(num_examples)
        if not question.strip():
            raise ValueError("the question is empty")
        examples = self._current()
        if not examples:
            return []
        if self._encoder is None:
            self._encoder = _open_encoder(self._file.parent)
        vectors = self._vectors
        if vectors is None:
            vectors = self._encoder.encode([example["question"] for example in examples])
            self._vectors = vectors if self.cache else None
        # Smaller differences of similarity are rounding errors of the encoder, which depend on the batch.
        similarity = np.round(vectors @ self._encoder.encode([question])[0], 6)
        nearest = np.argsort(-similarity, kind="stable")[:limit]
        return [_copy(examples[place]) for place in nearest]

    def format_for_prompt(self, examples: Sequence[dict[str, Any]]) -> str:
        """Return ``examples`` as text for a prompt, in the documented form; ``""`` if there are none.

        The text of an example is untrusted and cannot pass for a part of the prompt. Only the labels of this method
        begin in the first column: further lines of an answer are indented, and questions, titles and facts are put on
        one line each. The equals signs of anything like an ``=== Example`` header are spaced out (``= = =``), and a
        ``<`` that opens a tag becomes ``&lt;``. Raises ``ValueError`` for a malformed example.
        """
        blocks = []
        for number, example in enumerate(examples, 1):
            checked = _checked(example, f"example {number}")
            answer = "\n  ".join(_escaped(checked["answer"]).strip().splitlines())
            blocks.append(
                f"=== Example {number} ===\n"
                f"Question: {_one_line(checked['question'])}\n"
                f"Context: {_context(checked['context'])}\n"
                f"Answer: {answer}"
            )
        return "\n\n".join(blocks)

    def _current(self) -> list[dict[str, Any]]:
        return _read(self._file) if self._examples is None else self._examples


def cited_by_number(example: dict[str, Any], *, marked: bool) -> dict[str, Any]:
    """Return ``example`` with articles that are numbered and cited as ``[1]``, or, unless ``marked``, not cited."""
    numbers = {title: n for n, title in enumerate(example["context"].get("articles", []), start=1)}

    def cited(mark: re.Match[str]) -> str:
        if mark[2] not in numbers:
            return mark[0]
        return f"{mark[1]}[{numbers[mark[2]]}]" if marked else ""

    articles = [f"{n}: {title}" if marked else title for title, n in numbers.items()]
    answer = re.sub(r"(\s*)\[([^\[\]]+)\]", cited, example["answer"])
    return {**example, "context": {**example["context"], "articles": articles}, "answer": answer}


def _at_least_one(num_examples: int) -> int:
    if num_examples < 1:
        raise ValueError(f"num_examples must be at least 1, not {num_examples}")
    return num_examples


def _copy(example: dict[str, Any]) -> dict[str, Any]:
    """Copy the parts of an example; ``deepcopy`` would recurse into whatever else the file nests in it."""
    context = {name: list(value) if isinstance(value, list) else value for name, value in example["context"].items()}
    return {**example, "context": context}


def _find(path: Path) -> Path:
    if path.is_file():
        return path
    for candidate in (path / _FILE, (path / _FILE).with_suffix(_LINES)):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"{_FILE} not found in {path}")


def _open_encoder(folder: Path) -> Embedder:
    from wikigr.embeddings.loader import open_encoder
    from wikigr.pack.manifest import read_manifest
    from wikigr.pack.models import encoder_source

    layout = Layout(folder)
    if not layout.exists():
        return open_encoder()
    with layout.reading():
        manifest = read_manifest(layout.part(parts.MANIFEST))
        return open_encoder(encoder_source(layout, manifest))


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        text = read_extra(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error}") from error
    if path.suffix == _LINES:
        records: Any = list(_json_lines(path, text))
    else:
        records = _json(path, text)
    if isinstance(records, dict):
        records = records.get("examples")
    if not isinstance(records, list):
        raise ValueError(f"{path} holds neither a list of examples nor an object with a list 'examples'")
    check_example_count(path, len(records))
    return [_checked(record, f"{path}: example {n}") for n, record in enumerate(records, 1)]


def _json_lines(path: Path, text: str) -> Iterable[Any]:
    start = 0
    for line in text.split("\n"):
        if line.strip():
            yield _json(path, text, start, start + len(line))
        start += len(line) + 1


def _json(path: Path, text: str, start: int = 0, end: int | None = None) -> Any:
    """Parse ``text[start:end]``; an error names the position in the whole text."""
    try:
        return json.loads(text[start:end])
    except json.JSONDecodeError as error:
        raise json.JSONDecodeError(f"{path}: {error.msg}", text, start + error.pos) from error
    except RecursionError as error:
        raise json.JSONDecodeError(f"{path}: nested too deeply", text, start) from error


def _checked(record: Any, where: str) -> dict[str, Any]:
    """Return ``record`` if it is a valid example, or the example made from it if it is a gold question."""
    if not isinstance(record, dict):
        raise ValueError(f"{where} is not an object")
    example = _from_gold_question(record, where) if "answers" in record and "answer" not in record else record
    for name in ("question", "answer"):
        _require(where, name, isinstance(example.get(name), str) and example[name].strip(), "a non-blank text")
    context = example.get("context")
    _require(where, "context", isinstance(context, dict), "an object with 'articles' and 'facts'")
    for name in ("articles", "facts"):
        _require(where, f"context.{name}", _is_texts(example["context"].get(name, [])), "a list of texts")
    _require(where, "reasoning", isinstance(example.get("reasoning", ""), str), "a text")
    return example


def _from_gold_question(record: dict[str, Any], where: str) -> dict[str, Any]:
    answerable, answers, gold = record.get("answerable", True), record["answers"], record.get("gold", [])
    _require(where, "answerable", isinstance(answerable, bool), "true or false")
    _require(where, "answers", _is_texts(answers) and (answers or not answerable), "a list of accepted answers")
    is_gold = isinstance(gold, list) and all(isinstance(item, dict) and _is_texts([item.get("title")]) for item in gold)
    _require(where, "gold", is_gold, "a list of objects with a 'title'")
    return {
        **({"id": record["id"]} if "id" in record else {}),
        "question": record.get("question"),
        "context": {"articles": list(dict.fromkeys(item["title"] for item in gold)), "facts": []},
        "answer": answers[0] if answerable else NOT_COVERED,
    }


def _require(where: str, field: str, holds: Any, expected: str) -> None:
    if not holds:
        raise ValueError(f"{where}: '{field}' must be {expected}")


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _context(context: dict[str, Any]) -> str:
    """Return the titles in brackets, as answers cite them, then one fact per line."""
    titles = " ".join(f"[{_one_line(title)}]" for title in context.get("articles", []))
    return "\n- ".join([titles or "(no articles)", *map(_one_line, context.get("facts", []))])


def _one_line(text: str) -> str:
    return " ".join(_escaped(text).split())


def _escaped(text: str) -> str:
    text = "\n".join(scrub(text).splitlines())
    text = _HEADER.sub(lambda run: run.group().replace("=", "= ").rstrip(), text)
    return TAG.sub("&lt;", text)
