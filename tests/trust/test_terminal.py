"""A pack's text on a terminal: whatever its titles, headings, text, names and manifest hold, no command sends codes."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Result, Wikigr
from tests.tampering import accept_changes
from tests.trust.conftest import Tally
from tests.trust.hostile import INJECTIONS, QUESTION, SOFT, TERMINAL

from wikigr.graph.engine import Graph
from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout
from wikigr.text import one_line

ESCAPES = "\x1b[2J\x1b]52;c;eA==\x07\r\b\x9b2J\u202e"
BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Color and weight; nothing that moves, clears or asks.
OURS = re.compile(r"\x1b\[(?:\d{1,2}(?:;\d{1,2})*)?m")
# A link to a file, or its end; only a terminal gets them.
LINKS = re.compile(r"\x1b\]8;;(?:file://[!-~]*)?\x1b\\")
KEEPER = "Orrin lighthouse 0"


def controls(text: str) -> list[str]:
    """The characters of ``text`` that a terminal would act on, tab and newline aside."""
    return [f"U+{ord(c):04X}" for c in text if (unicodedata.category(c) == "Cc" and c not in "\n\t") or c in BIDI]


def spoilt(pack: Path, copy: Path) -> Path:
    """A copy of ``pack`` with control characters that no build would have let in: a pack made by hand."""
    shutil.copytree(pack, copy)
    layout = Layout(copy)
    manifest = layout.part(parts.MANIFEST)
    fields = json.loads(manifest.read_text(encoding="utf-8"))
    for name in ("name", "version", "description", "license", "created", "wikigr_version", "engine_version"):
        fields[name] = f"{fields[name]}{ESCAPES}{TERMINAL[1]}"
    fields["source"] = {name: f"{value}{ESCAPES}" for name, value in fields["source"].items()}
    manifest.write_text(json.dumps(fields), encoding="utf-8")
    with Graph(layout.part(parts.DATABASE), read_only=False) as graph:
        graph.execute("MATCH (s:Section) SET s.title = s.title + $x", {"x": ESCAPES})
        graph.execute("MATCH (s:Section) SET s.content = s.content + $x", {"x": ESCAPES})
        graph.execute("MATCH (a:Article) SET a.url = $x, a.category = $x", {"x": ESCAPES})
        graph.execute("MATCH (:Entity)-[r:RELATED_TO]->(:Entity) SET r.relation = r.relation + $x", {"x": ESCAPES})
    accept_changes(copy)
    return copy


@pytest.fixture(scope="module")
def pack(hostile_pack: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return spoilt(hostile_pack, tmp_path_factory.mktemp("spoilt") / "pack")


@pytest.fixture(scope="module")
def graph_pack(hostile_graph: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return spoilt(hostile_graph, tmp_path_factory.mktemp("spoilt-graph") / "pack")


def commands(pack: Path, graph_pack: Path) -> list[tuple[str, ...]]:
    """Every command that prints what a pack holds, errors with names of it included."""
    text, graph = ("--pack", str(pack)), ("--pack", str(graph_pack))
    thing = f"Thing 1 {INJECTIONS[1]}"
    return [
        ("ask", QUESTION, *text, "--offline", "--explain"),
        ("ask", QUESTION, *text, "--offline", "--show-prompt"),
        ("-v", "ask", QUESTION, *graph, "--offline", "--profile", "multi-strategy"),
        ("ask", "What is a pangolin?", *text, "--offline"),
        ("search", QUESTION, *text, "--offline"),
        ("why", QUESTION, KEEPER, *text, "--offline"),
        ("why", QUESTION, "Orrin 1", *text, "--offline", "--section", "no such"),
        ("show", KEEPER, *text),
        ("show", f"{KEEPER}#0", *text),
        ("show", f"{KEEPER}#{ESCAPES}", *text),
        ("open", KEEPER, *text, "--quote", f"no{ESCAPES}"),
        ("open", f"{KEEPER}#0", *text, "--browser"),
        ("graph", "neighbors", "Orrin", *graph),
        ("graph", "neighbors", "Orin", *graph),
        ("graph", "neighbors", "Orrin", *graph, "--relation", "relation"),
        ("graph", "paths", "Orrin", thing, *graph),
        ("graph", "paths", "Orrin", "--metapath", "relation 1 -> keeper", *graph),
        ("graph", "paths", "Orrin", "--metapath", f"nope{ESCAPES}", *graph),
        ("-v", "graph", "cypher", "MATCH (a:Article)-[:HAS_SECTION]->(s) RETURN a, s LIMIT 5", *text),
        ("graph", "cypher", "MATCH (:Entity)-[r:RELATED_TO]->(b) RETURN r.relation, b.name", *graph),
        ("graph", "cypher", f"RETURN 1 AS `x{SOFT}`", *text),
        ("graph", "cypher", "MATCH (s:Section) RETURN CAST(s.content AS INT64)", *text),
        ("graph", "schema", *graph),
        ("pack", "info", str(pack)),
        ("pack", "list", str(pack.parent)),
        ("pack", "validate", str(pack)),
        ("pack", "diff", str(pack), str(graph_pack), "--all"),
        ("pagerank", "build", str(pack), "-o", "scores.json"),
        ("pack", "info", f"none{ESCAPES}"),
        ("ask", f"Who{ESCAPES}?", *text, "--offline"),
        ("--no-such\x1b[2J",),
        ("ask", QUESTION, "--profile", f"none{ESCAPES}", *text),
    ]


def checked(result: Result, tally: Tally, arguments: tuple[str, ...]) -> None:
    assert "a bug" not in result.err, (arguments, result.err)
    # Color was asked for: of codes there are ours, and where one of the pack's was taken for ours it is cut.
    assert controls(OURS.sub("", result.out)) == [], arguments
    assert controls(OURS.sub("", result.err)) == [], arguments
    if result.code:
        tally.refused()
    else:
        tally.harmless()


@pytest.mark.parametrize("options", [(), ("--json",), ("--debug",)], ids=["text", "json", "debug"])
def test_no_command_passes_on_codes(
    wikigr: Wikigr,
    pack: Path,
    graph_pack: Path,
    monkeypatch: pytest.MonkeyPatch,
    tally: Callable[[str], Tally],
    options: tuple[str, ...],
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    count = tally("terminal codes in pack text")
    for arguments in commands(pack, graph_pack):
        if options == ("--debug",):
            checked(wikigr(*options, *arguments), count, arguments)
        elif options and "--show-prompt" not in arguments and not arguments[0].startswith("--"):
            checked(wikigr(*arguments, *options), count, arguments)
        elif not options:
            checked(wikigr(*arguments), count, arguments)


def test_json_still_says_what_the_pack_says(wikigr: Wikigr, pack: Path) -> None:
    document = json.loads(wikigr("pack", "info", str(pack), "--json").out)
    assert document["license"].endswith(one_line(ESCAPES + TERMINAL[1]))
    assert SOFT in document["license"]


def test_packs_that_cannot_be_listed(wikigr: Wikigr, pack: Path, tmp_path: Path, tally: Callable[[str], Tally]) -> None:
    shutil.copytree(pack, tmp_path / "bad" / f"p{ESCAPES[:4]}")
    manifest = Layout(tmp_path / "bad" / f"p{ESCAPES[:4]}").part(parts.MANIFEST)
    for content in ({"format_version": ESCAPES}, {"format_version": 1, f"x{ESCAPES}": 1, "name": 3}):
        manifest.write_text(json.dumps(content), encoding="utf-8")
        for arguments in (("pack", "list", "bad"), ("pack", "info", str(manifest.parent))):
            checked(wikigr(*arguments), tally("terminal codes in pack text"), arguments)


def test_a_build_names_bad_records_without_codes(wikigr: Wikigr, tmp_path: Path, tally: Callable[[str], Tally]) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "good.md").write_text("# Good\n\nWords are here.\n")
    (folder / f"bad{TERMINAL[0]}\x9b.md").write_bytes(b"\xff\xfe\x00")
    (folder / f"empty{TERMINAL[0]}\u202e.md").write_text("")
    (tmp_path / "bad.jsonl").write_text(json.dumps({"title": f"t{ESCAPES}", "text": 3}) + "\n")
    for arguments in (
        ("pack", "build", "notes", "-o", "p"),
        ("pack", "build", "notes", "-o", f"p{TERMINAL[0]}", "--keep-going"),
        ("pack", "build", "notes", "-o", "p", "--keep-going", "--json"),
        ("pack", "build", "bad.jsonl", "-o", "q"),
    ):
        checked(wikigr(*arguments), tally("terminal codes in pack text"), arguments)


def test_an_evaluation_prints_no_codes(
    wikigr: Wikigr, pack: Path, tmp_path: Path, own_caches: Path, tally: Callable[[str], Tally]
) -> None:
    rows = [
        {"id": f"q{n}{ESCAPES}", "question": f"{QUESTION} {n}{ESCAPES}", "answerable": True, "answers": [f"x{ESCAPES}"],
         "gold": [{"title": f"Orrin lighthouse {n}{ESCAPES}"}], "type": f"t{ESCAPES}"}
        for n in range(3)
    ]  # fmt: skip
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    common = ("--pack", str(pack), "--questions", "gold.jsonl", "-o", "run", "--offline")
    formats = ("text", "html", "json", "junit")
    reports = [("eval", "report", "run", "--format", form) for form in formats]
    for arguments in (
        ("eval", "run", *common),
        ("eval", "run", *common, "--json"),
        *reports,
        ("eval", "flips", "run"),
        ("eval", "validate", "gold.jsonl", "--pack", str(pack)),
        ("eval", "bless", "run", "-o", "base.json"),
        ("eval", "gate", "run", "--baseline", "base.json"),
        ("eval", "gate", "run", "--min", "accuracy=0.9"),
        ("eval", "run", *common, "--json", "-o", f"other{ESCAPES}"),
    ):
        checked(wikigr(*arguments), tally("terminal codes in pack text"), arguments)


def in_a_terminal(arguments: tuple[str, ...], folder: Path) -> str:
    """What a terminal of 100 columns would receive from a command."""
    ours, theirs = pty.openpty()
    code = "import sys\nsys.argv = ['wikigr', *sys.argv[1:]]\nfrom wikigr_cli.entry import main\nmain()\n"
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    child = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env={**kept, "TERM": "xterm-256color", "COLUMNS": "100"},
    )
    os.close(theirs)
    received = b""
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        if not select.select([ours], [], [], 1.0)[0]:
            if child.poll() is not None:
                break
            continue
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        received += piece
    os.close(ours)
    child.kill()
    child.wait()
    return received.decode("utf-8", "replace")


def test_a_terminal_receives_only_colors_of_ours(
    pack: Path, graph_pack: Path, tmp_path: Path, tally: Callable[[str], Tally]
) -> None:
    count = tally("terminal codes in pack text, in a pty")
    some = {"ask", "search", "why", "show", "graph", "pack", "pagerank"}
    shown: dict[tuple[str, str], tuple[str, ...]] = {}
    for arguments in commands(pack, graph_pack):
        if arguments[0] in some:
            shown.setdefault((arguments[0], arguments[1] if arguments[0] in ("graph", "pack", "pagerank") else ""),
                             arguments)  # fmt: skip
    colored = 0
    for arguments in shown.values():
        received = in_a_terminal(arguments, tmp_path)
        assert received, arguments
        colored += "\x1b[" in received
        assert controls(LINKS.sub("", OURS.sub("", received)).replace("\r\n", "\n")) == [], arguments
        count.harmless()
    assert colored >= 5
