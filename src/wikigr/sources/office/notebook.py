"""Read a Jupyter notebook: notes, code and what it printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from wikigr.errors import RecordError
from wikigr.files import explain_json_error
from wikigr.sources.article import BadPart
from wikigr.sources.documents import NoteRecord
from wikigr.sources.encodings import decode
from wikigr.sources.markdown.source import note_html
from wikigr.sources.office.document import Document

# Escape sequences of terminals: control sequences such as colors, commands to the operating system, and others.
_ANSI = re.compile(
    r"\x9b[0-?]*+[ -/]*+[@-~]|\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)?|[ -/]*+[0-~])"
)
# What a program prints of objects that it cannot show: "[<Figure size 640x480 with 1 Axes>]".
_OBJECT = re.compile(r"[\[({\s]*+(?:<[\w.]+[^<>\n]*+>[\])},\s]*+)++")
# A command on the first line of a cell that says in which language the others are.
_MAGIC = re.compile(r"%%(bash|sh|html|javascript|js|latex|perl|R|ruby|sql|svg|cypher|markdown)\b")
# The kinds of output that are text.
_KINDS = ("text/html", "text/latex", "text/plain", "text/markdown")


def title(data: bytes, where: str) -> str:
    """Return the title in the metadata, or ``""``."""
    stated = _mapping(json.loads(decode(where, data)), "metadata").get("title")
    return stated if isinstance(stated, str) else ""


def read(data: bytes, document: Document, where: str) -> None:
    """Add the cells in order; code and its output belong to the notes above them.

    Cells without text are bad parts. Raises ``RecordError`` for a file that is not whole.
    """
    try:
        notebook = json.loads(decode(where, data))
    except json.JSONDecodeError as error:
        line = f"{where}, line {error.lineno}"
        hint = "Save it again in Jupyter, or restore an earlier version of it."
        raise RecordError(line, f"the notebook is not valid JSON: {error.msg}", hint=hint) from error
    except (ValueError, RecursionError) as error:
        raise RecordError(where, f"the notebook cannot be read: {explain_json_error(error)}") from error
    language = _language(_mapping(notebook, "metadata"))
    has_notes = False
    for number, cell in enumerate(_cells(notebook, where), start=1):
        kind, source = cell.get("cell_type"), _joined(cell.get("source"))
        if source is None and not cell.get("outputs"):
            part = f"{where}, cell {number}"
            document.bad_parts.append(BadPart(part, "the cell has no readable text", is_lost=True))
        elif kind == "markdown":
            has_notes = True
            document.writer.place(f"Cell {number}", f"cell={number}")
            document.html(note_html(source or "", NoteRecord(where, b"", document.name)))
        else:
            if not has_notes:
                document.writer.place(f"Cell {number}", f"cell={number}")
            magic = _MAGIC.match(source or "")
            stated = language if kind == "code" else ""
            document.html(_code(source or "", magic[1] if magic is not None else stated))
            outputs = cell.get("outputs")
            for output in outputs if isinstance(outputs, list) else ():
                if isinstance(output, dict):
                    _add_output(output, document, where)


def _cells(notebook: object, where: str) -> Iterator[Mapping[str, Any]]:
    if isinstance(notebook, dict) and "worksheets" in notebook:
        reason = "the notebook has the format of before 2014"
        raise RecordError(where, reason, hint="Convert it: jupyter nbconvert --to notebook FILE")
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    for cell in cells if isinstance(cells, list) else ():
        yield cell if isinstance(cell, dict) else {"cell_type": None}


def _language(metadata: Mapping[str, Any]) -> str:
    kernel = _mapping(metadata, "kernelspec")
    for value in (_mapping(metadata, "language_info").get("name"), kernel.get("language"), kernel.get("name")):
        if isinstance(value, str) and value:
            return value.lower().rstrip("0123456789.-")
    return ""


def _mapping(value: object, key: str) -> Mapping[str, Any]:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, dict) else {}


def _joined(value: object) -> str | None:
    """Return a text that may be written as a list of lines; ``None`` for anything else."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else None


def _code(text: str, language: str = "") -> str:
    return f'<pre class="language-{escape(language)}">{escape(text)}</pre>' if text.strip() else ""


def _add_output(output: Mapping[str, Any], document: Document, where: str) -> None:
    """Add the richest form of an output that has text."""
    kind = output.get("output_type")
    if kind == "error":
        name, value = (_plain(_joined(output.get(key))) for key in ("ename", "evalue"))
        lines = output.get("traceback")
        trace = _plain("\n".join(filter(None, map(_joined, lines if isinstance(lines, list) else ()))))
        last = trace.strip().rpartition("\n")[2]
        document.html(_code(": ".join(filter(None, (name, value))) or last))
        return
    stated = _mapping(output, "data")
    content = {mime: text for mime in _KINDS if (text := _joined(stated.get(mime)))}
    has_text = False
    if "text/markdown" in content:
        has_text = document.html(note_html(_plain(content["text/markdown"]), NoteRecord(where, b"", document.name)))
    elif "text/html" in content:
        has_text = document.html(_plain(content["text/html"]), is_page=True)
    elif "text/latex" in content:
        has_text = document.html(_code(_plain(content["text/latex"]), "latex"))
    text = _plain(content.get("text/plain") or _joined(output.get("text")))
    is_widget = "application/vnd.jupyter.widget-view+json" in stated
    if not has_text and not is_widget and not _OBJECT.fullmatch(text):
        document.html(_code(text))


def _plain(text: str | None) -> str:
    """Return what a terminal shows of a text in the end: without colors, and without lines that were overwritten."""
    text = _ANSI.sub("", text or "").replace("\r\n", "\n")
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
