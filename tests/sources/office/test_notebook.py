"""Notebooks: outputs of all kinds, languages, and files that are minified, old or damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.sources.blocks import described

from wikigr.errors import RecordError
from wikigr.sources.article import BadPart, SourceArticle
from wikigr.sources.detect import open_source
from wikigr.sources.documents import NoteRecord
from wikigr.sources.folder import FolderSource

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
NOTE = {"cell_type": "markdown", "metadata": {}, "source": ["# Mills\n", "\n", "They grind."]}


def code(source: str = "run()", *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": list(outputs), "source": source}


def data(**content: object) -> dict[str, Any]:
    return {
        "output_type": "display_data",
        "metadata": {},
        "data": {key.replace("_", "/"): x for key, x in content.items()},
    }


def notebook(*cells: object, metadata: object = KERNEL, indent: int | None = 1) -> str:
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=indent)


def parse(text: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    items = list(FolderSource(Path("x"), "office").parse(NoteRecord("x.ipynb", text.encode(), "x")))
    (article,) = (item for item in items if isinstance(item, SourceArticle))
    found = [block[1:] for section in article.sections for block in described(section)]
    return found, [item.where for item in items if isinstance(item, BadPart)]


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        (data(text_markdown=["**48** kWh"], text_plain="<a.b.Markdown object>"), [("paragraph", "", "48 kWh")]),
        (data(text_html="<p><b>48</b> kWh</p>", text_plain="<a.b.HTML object>"), [("paragraph", "", "48 kWh")]),
        (data(text_html="<table><tr><th>a<th>b<tr><td>1<td>2</table>"), [("table", "", "a: 1 | b: 2")]),
        (data(text_html="<script>draw()</script>", text_plain="Chart of 48 kWh"), [("code", "", "Chart of 48 kWh")]),
        (data(text_html="<div></div>", text_plain="<Chart object at 0x7f>"), []),
        (data(text_latex="$48^2$", text_plain="48**2"), [("code", "latex", "$48^2$")]),
        (data(image_png="aa", text_plain="<Figure size 640x480 with 1 Axes>"), []),
        (data(text_plain="[<Line2D at 0x7f>,\n <Line2D at 0x7e>]"), []),
        (data(text_plain="<48 kWh"), [("code", "", "<48 kWh")]),
        (
            {"output_type": "error", "ename": "ValueError", "evalue": "below \x1b[31m2.5\x1b[0m V", "traceback": ["x"]},
            [("code", "", "ValueError: below 2.5 V")],
        ),
        ({"output_type": "error", "traceback": ["a", "\x1b[0;31mKeyError\x1b[0m: 48"]}, [("code", "", "KeyError: 48")]),
        ({"output_type": "stream", "text": ["\x1b[1;32mloss\x1b[0m 0.25\n"]}, [("code", "", "loss 0.25")]),
        ({"output_type": "stream", "text": "\r 0%\r 50%\r100%\n\x1b]8;;x\x07ok\x1b(B"}, [("code", "", "100%\nok")]),
        ({"output_type": "stream", "text": 5}, []),
    ],
)  # fmt: skip
def test_an_output_is_shown_in_its_best_form(output: dict[str, Any], shown: list[tuple[str, str, str]]) -> None:
    found, bad = parse(notebook(NOTE, code("run()", output)))
    assert found == [("paragraph", "", "They grind."), ("code", "python", "run()"), *shown]
    assert not bad


@pytest.mark.parametrize(
    ("metadata", "source", "language"),
    [
        ({"language_info": {"name": "R"}}, "run()", "r"),
        ({"kernelspec": {"name": "julia-1.9", "language": "julia"}}, "run()", "julia"),
        (KERNEL, "%%bash\nls", "bash"),
        (KERNEL, "%%time\nrun()", "python"),
        ("junk", "run()", ""),
    ],
)
def test_code_has_the_language_of_its_kernel(metadata: object, source: str, language: str) -> None:
    assert parse(notebook(code(source), metadata=metadata))[0] == [("code", language, source)]


OLD = {"metadata": {}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": []}]}
WHOLE = notebook(NOTE, code("run()"), code("stop()"))


@pytest.mark.parametrize(
    ("text", "shown", "bad"),
    [
        (WHOLE, ["They grind.", "run()", "stop()"], []),
        (notebook(NOTE, code("run()"), indent=None), ["They grind.", "run()"], []),
        ("\ufeff" + WHOLE, ["They grind.", "run()", "stop()"], []),
        (notebook(NOTE, {"cell_type": "code"}, "junk", code("run()")), ["They grind.", "run()"], ["cell 2", "cell 3"]),
        (notebook(NOTE, {"source": "x = 1"}, code("run()")), ["They grind.", "x = 1", "run()"], []),
    ],
)
def test_what_is_there_is_read(text: str, shown: list[str], bad: list[str]) -> None:
    found, missing = parse(text)
    assert [text for _, _, text in found] == shown
    assert missing == [f"x.ipynb, {place}" for place in bad]


@pytest.mark.parametrize(
    ("text", "line"),
    [(WHOLE[: WHOLE.index("stop()")], 24), (WHOLE.replace('"run()"', '<<<<<<< HEAD\n"run()"'), 17)],
)
def test_a_damaged_notebook_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(RecordError, match=f"x.ipynb, line {line}: the notebook is not valid JSON"):
        parse(text)


@pytest.mark.parametrize("text", [WHOLE, notebook(NOTE, indent=None), json.dumps(OLD), WHOLE[:200]])
@pytest.mark.parametrize("name", ["mills.ipynb", "mills.json", "mills"])
def test_a_bare_notebook_is_recognized(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert open_source(tmp_path / name).format == "office"


def test_lines_that_quote_a_notebook_are_none(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"title": "A", "text": WHOLE}), encoding="utf-8")
    assert open_source(path).format == "jsonl"


def test_a_notebook_in_the_format_of_before_2014_is_refused() -> None:
    with pytest.raises(RecordError, match="the notebook has the format of before 2014"):
        parse(json.dumps(OLD))


def test_a_number_of_too_many_digits_is_told_in_plain_words() -> None:
    text = '{"cells": [], "nbformat": ' + "9" * 5_000 + "}"
    with pytest.raises(RecordError, match=r"x\.ipynb: the notebook cannot be read: a number in it has too many digits"):
        list(FolderSource(Path("x"), "office").parse(NoteRecord("x.ipynb", text.encode(), "x.ipynb")))
