"""The same blocks in every output but the page: a table, a list, tasks, code and a definition of a note.

The answers quote a pack that was built from the note; they are made, so that no fitted model decides on them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from mcp.types import CallToolResult, TextContent
from selectolax.lexbor import LexborHTMLParser
from tests.cli.terminal import in_terminal
from tests.possible_answers import possible_answer

from wikigr.answer.answer import EXTRACTIVE, Answer
from wikigr.answer.stages import Draft
from wikigr.index.candidate import Section
from wikigr.pack.open import Pack
from wikigr.pipeline import pipeline
from wikigr.pipeline.strategies import OnText, Strategy, Writers
from wikigr.server.mcp import make_server
from wikigr.server.packs import ServedPacks
from wikigr.server.service import Service

CODE = 'sorted(rows, key=lambda row: row[1])\n\nif  done:\n\tprint("```", [2], "<b>")'
PRICES = "".join(f"| 商品 {n} | {n}00 | &lt;i&gt;{n}&lt;/i&gt; [{n}] |\n" for n in range(1, 15))
NOTE = f"""# Press

| Part | Price | Remark |
| --- | --- | --- |
{PRICES}
## Steps

To start the press:

1. Open valve [1].
2. Choose a program:
   - fast
   - *slow*
3. Close it.

## Tasks

- [x] Call Petra [2]
- [ ] Order &lt;script&gt;alert(1)&lt;/script&gt; 🎉

## Sort

Sort the rows:

```python
{CODE}
```

## Terms

Damper
:   A plate [3] that is | moved
    by hand.
"""
ROW = "Part: 商品 7 | Price: 700 | Remark: <i>7</i> [7]"


@dataclass(frozen=True)
class Outputs:
    """What each output shows of one answer: a terminal of 80 columns, Markdown, and the text for a model."""

    terminal: str
    markdown: str
    tool: str


@pytest.fixture(scope="module")
def pack(pack_of: Callable[..., Path]) -> Path:
    return pack_of("notes", {"press.md": NOTE})


@pytest.fixture
def outputs(pack: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Outputs:
    heading, quoted, short = request.param

    def write(writers: Writers, draft: Draft, answer: Answer, on_text: OnText | None) -> Answer:
        section = section_of(writers.resources.pack.members[0], heading)
        made = possible_answer(section, quoted or section.content, short=short, kind="list")
        shown = ("text", "citations", "span", "kind", "context")
        return replace(answer, query_type=EXTRACTIVE, level="sure", **{name: getattr(made, name) for name in shown})

    monkeypatch.setattr(pipeline, "STRATEGIES", (Strategy(EXTRACTIVE, lambda *_: True, write),))
    question = f"What about {heading} and {short or 'all'}?"
    asked = ("ask", question, "-p", str(pack), "--offline")
    service = Service(ServedPacks([str(pack)], offline=True))
    called = asyncio.run(make_server(service).call_tool("ask", {"question": question}))
    service.close()
    assert isinstance(called, CallToolResult) and isinstance(called.content[0], TextContent)
    return Outputs(
        in_terminal(*asked).out,
        in_terminal(*asked, "--format", "md").out,
        called.content[0].text,
    )


def section_of(pack: Pack, heading: str) -> Section:
    sections = pack.sections([f"Press#{n}" for n in range(5)])
    return next(section for section in sections.values() if section.heading == heading)


def html_of(markdown: str) -> LexborHTMLParser:
    return LexborHTMLParser(MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown))


def texts(page: LexborHTMLParser, selector: str) -> list[str]:
    return [" ".join(node.text().split()) for node in page.css(selector)]


@pytest.mark.parametrize("outputs", [("Introduction", ROW, "700")], indirect=True)
def test_the_row_of_a_cell_is_marked_in_its_table(outputs: Outputs) -> None:
    value, _, table = outputs.terminal.split("\n\nSources")[0].partition("\n\n")
    assert value == "700"
    assert table.splitlines() == [
        "   Part    Price  Remark", "────────────────────────────────────",
        *(f"   商品 {n}    {n}00  <i>{n}</i> \\[{n}]" for n in (5, 6)), "▸  商品 7    700  <i>7</i> \\[7] [1]",
        *(f"   商品 {n}    {n}00  <i>{n}</i> \\[{n}]" for n in (8, 9)), "… 9 more rows",
    ]  # fmt: skip
    for markdown in (outputs.markdown, outputs.tool):
        page = html_of(markdown)
        assert texts(page, "th") == ["Part", "Price", "Remark"]
        assert texts(page, "tr:has(strong) td") == ["商品 7", "700", "<i>7</i> [7] [1]"]
        assert len(page.css("tbody tr")) == 5 and "… 9 more rows" in texts(page, "p")


@pytest.mark.parametrize("outputs", [("Introduction", "", "")], indirect=True)
def test_a_whole_table_is_folded_and_nothing_is_marked(outputs: Outputs) -> None:
    lines = outputs.terminal.split("\n\nSources")[0].splitlines()
    assert len(lines) == 13 and lines[-1] == "… 4 more rows [1]" and "▸" not in outputs.terminal
    for markdown in (outputs.markdown, outputs.tool):
        assert len(html_of(markdown).css("tbody tr")) == 10 and "\n\n… 4 more rows [1]\n" in markdown


@pytest.mark.parametrize("outputs", [("Steps", "", "")], indirect=True)
def test_a_list_is_a_list(outputs: Outputs) -> None:
    assert outputs.terminal.split("\n\nSources")[0].splitlines() == [
        "To start the press:", "1. Open valve \\[1].", "2. Choose a program:", "   - fast", "   - slow",
        "3. Close it. [1]",
    ]  # fmt: skip
    for markdown in (outputs.markdown, outputs.tool):
        page = html_of(markdown)
        assert texts(page, "ol:first-of-type > li > ul > li") == ["fast", "slow"]
        assert texts(page, "ol:first-of-type > li")[::2] == ["Open valve [1].", "Close it. [1]"]
    assert "valve \\[1\\]." in outputs.markdown and "valve \\[1]." in outputs.tool


@pytest.mark.parametrize("outputs", [("Tasks", "", "")], indirect=True)
def test_tasks_have_their_states(outputs: Outputs) -> None:
    assert outputs.terminal.split("\n\nSources")[0].splitlines() == [
        "[x] Call Petra \\[2]", "[ ] Order <script>alert(1)</script> 🎉 [1]",
    ]  # fmt: skip
    assert "- [x] Call Petra \\[2\\]\n- [ ] Order \\<script\\>alert(1)\\</script\\> 🎉 [1]\n" in outputs.markdown
    assert "- [x] Call Petra \\[2]\n- [ ] Order <script>alert(1)</script> 🎉 [1]\n" in outputs.tool


@pytest.mark.parametrize("outputs", [("Sort", "", "")], indirect=True)
def test_code_is_as_it_is_stored_in_a_box_with_its_language(outputs: Outputs) -> None:
    lines = outputs.terminal.split("\n\nSources")[0].split("\n")
    assert lines[:2] == ["Sort the rows:", ""] and lines[2].startswith("── python ──")
    assert "\n".join(lines[3:-1]) == CODE and lines[-1].strip("─") == " [1]"
    for markdown in (outputs.markdown, outputs.tool):
        (code,) = html_of(markdown).css("pre code")
        assert (code.text(), code.attributes["class"]) == (f"{CODE}\n", "language-python")


@pytest.mark.parametrize("outputs", [("Terms", "", "")], indirect=True)
def test_a_definition_stands_below_its_term(outputs: Outputs) -> None:
    assert outputs.terminal.split("\n\nSources")[0].splitlines() == [
        "Damper", "    A plate \\[3] that is | moved by hand. [1]",
    ]  # fmt: skip
    assert "**Damper**\n\nA plate \\[3\\] that is \\| moved by hand. [1]\n" in outputs.markdown
    assert "**Damper**\n\nA plate \\[3] that is \\| moved by hand. [1]\n" in outputs.tool
