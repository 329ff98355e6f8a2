"""Records are parsed in confined processes; one that a parser does not survive costs that record only."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from tests.sources.office import files
from tests.sources.test_zim import archive  # noqa: F401

from wikigr.errors import BuildError, RecordError
from wikigr.ingest.engines import local, parser_process
from wikigr.ingest.engines.engine import Parsed
from wikigr.ingest.engines.items import Result, decode_items
from wikigr.ingest.engines.local import LocalEngine
from wikigr.sources.article import BadPart
from wikigr.sources.detect import open_source
from wikigr.sources.folder import FolderSource
from wikigr.sources.html.source import HtmlSource
from wikigr.sources.source_files import Folder

# Takes a second for 100 KB: every marker is a delimiter of emphasis.
EMPHASIS = "*a* " * 50_000


def notes(folder: Path, texts: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder


def parse(folder: Path, jobs: int = 1) -> list[Parsed]:
    return list(LocalEngine(jobs).parse(open_source(folder)))


def outcome(parsed: Sequence[tuple[str, Result]]) -> dict[str, str]:
    return {where: "; ".join(_outcomes(items)) or "parsed" for where, items in parsed}


def _outcomes(items: Result) -> list[str]:
    if isinstance(items, RecordError):
        return [items.reason]
    assert isinstance(items, list)
    return [f"{item.reason} at {item.where}" for item in items if isinstance(item, BadPart)]


def test_the_place_of_an_error_is_in_its_record_and_short() -> None:
    for named, where in (("a.md, line 3", "a.md, line 3"), ("b.md", "a.md"), ("a.md" * 1_000, "a.md")):
        found = decode_items({"error": [named, "broken", None]}, "a.md")
        assert isinstance(found, RecordError)
        assert found.where == where


def test_every_format_is_parsed_as_without_the_walls(tmp_path: Path, archive: Path) -> None:  # noqa: F811
    folder = notes(
        tmp_path / "mixed",
        {
            "a.md": "---\ntags: [x]\n---\n# A\n\nSee [[b]].\n",
            "b.rst": "B\n=\n\nText, see :doc:`a`.\n\n.. list-table::\n\n   * - 1\n     - 2\n",
            "c.txt": "Plain text.\n",
            "d.html": "<html><head><title>D</title></head><body><h1>D</h1><p>Text, <a href=a.md>a</a></body></html>",
        },
    )
    made = {
        "e.pdf": files.pdf([["A page of text."]], title="E"),
        "f.docx": files.docx(),
        "g.pptx": files.pptx(),
        "h.xlsx": files.xlsx(),
        "i.ipynb": files.notebook(),
        "j.epub": files.epub({"One": "<p>A chapter.</p>"}),
        "k.odt": files.odt(),
        "l.pdf": b"%PDF-1.7 damaged",
        "m.pdf": files.pdf_with_damaged_pages(["One.", "Two.", "Three."], 2),
    }
    for name, data in made.items():
        (folder / name).write_bytes(data)
    dump = tmp_path / "dump.xml"
    dump.write_text(
        "<mediawiki><siteinfo><sitename>W</sitename><namespaces><namespace key='0'/></namespaces></siteinfo>"
        "<page><title>T</title><ns>0</ns><id>1</id><revision><id>2</id><text>'''T''' {{x|y}} [[U]]</text>"
        "</revision></page></mediawiki>"
    )
    for source in (folder, dump, archive):
        expected = parse(source, jobs=0)
        assert expected
        found = parse(source, jobs=2)
        assert [(where, str(items)) for where, items in found] == [(where, str(items)) for where, items in expected]


def test_a_record_that_takes_too_much_time_costs_that_record_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser_process, "RECORD_CPU_SECONDS", 1)
    folder = notes(tmp_path / "notes", {"a.md": "First.", "b.md": EMPHASIS * 3, "c.md": "Last."})
    assert outcome(parse(folder)) == {
        "a.md": "parsed",
        "b.md": "the parser took too much time or memory and was stopped",
        "c.md": "parsed",
    }


@pytest.mark.trust
def test_a_record_that_takes_too_much_memory_costs_that_record_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[int]
) -> None:
    monkeypatch.setattr(parser_process, "ADDRESS_SPACE", 400 << 20)
    folder = notes(tmp_path / "notes", {"a.md": "First.", "b.md": EMPHASIS * 10, "c.md": "Last."})
    found = outcome(parse(folder))
    assert found["a.md"] == found["c.md"] == "parsed"
    assert "memory" in found["b.md"]
    # The process is replaced: it would have too little memory for the records that follow.
    assert len(started) == 2


@pytest.mark.trust
def test_names_and_titles_are_read_within_the_limits_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_process, "RECORD_CPU_SECONDS", 1)
    scanned_in: set[int] = set()
    for source in (FolderSource, HtmlSource):
        monkeypatch.setattr(source, "scan", lambda *_: scanned_in.add(os.getpid()))  # of this process only
    # The first heading of a note, and the title of a page, may cost as much as the rest.
    notes_folder = notes(tmp_path / "notes", {"a.md": "First.", "b.md": f"# {EMPHASIS * 3}\n", "c.md": "Last."})
    page = "<title>%s</title><p>Some text.</p>"
    pages = notes(tmp_path / "pages", {"a.html": page % "A", "b.html": "<h1>x</h1>" * 1_000_000, "c.html": page % "A"})
    too_slow = "the parser took too much time or memory and was stopped"
    assert outcome(parse(notes_folder)) == {"a.md": "parsed", "b.md": too_slow, "c.md": "parsed"}
    assert outcome(parse(pages)) == {"a.html": "parsed", "b.html": too_slow, "c.html": "parsed"}
    assert not scanned_in


def test_few_bytes_are_read_ahead_of_the_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "MAX_AHEAD_BYTES", 1 << 14)
    monkeypatch.setattr(local, "_PART_BYTES", 1 << 13)
    source = open_source(
        notes(tmp_path / "notes", {f"{number:02}.html": "<p>x</p>" * (1 << 9) for number in range(20)})
    )
    read: list[str] = []
    read_file = Folder.read

    def count(folder: Folder, source_id: str) -> bytes:
        read.append(source_id)
        return read_file(folder, source_id)

    monkeypatch.setattr(Folder, "read", count)
    parsed = LocalEngine(2).parse(source)
    next(parsed)
    assert len(read) <= 20 + 7  # all for their titles, and then 16 KiB, one more part and the one that is staged
    del parsed


HOSTILE = "tests.ingest.engines.hostile_parser:serve"
INVALID = "the parser sent an invalid message and was stopped"


def hostile_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, messages: Sequence[object]
) -> tuple[parser_process.ParserProcess, parser_process.PickledRecords]:
    """Return a parser process that answers two notes with ``messages``, and the part that holds them."""
    folder = notes(tmp_path / "notes", {"a.md": "First.", "b.md": "Last."})
    monkeypatch.setattr(parser_process, "_SERVER", HOSTILE)
    source = open_source(folder)
    part = parser_process.PickledRecords()
    for record in source.records():
        part.add(record)
    process = parser_process.ParserProcess(source)
    monkeypatch.setattr(process, "_pickled", pickle.dumps([*messages, None]))
    return process, part


@pytest.mark.parametrize(
    "result",
    [
        7,
        {"title": "A"},
        [["SourceArticle", {}]],
        [{"title": "A", "source_id": "a.md", "sections": [{"heading_path": [], "text": "T", "is_navigation": "yes"}]}],
        [{"alias": "A", "target": None}],
        {"error": ["a.md", 3, None]},
        [{"where": "a.md", "reason": None}],
    ],
)
def test_a_result_of_another_form_is_refused(result: object) -> None:
    with pytest.raises(ValueError, match=r"must be|field required"):
        decode_items(result, "a.md")


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        # Another record cannot be blamed.
        ([{"record": "other.md"}, {"result": {"error": ["other.md", "bad", None]}}, {"record": ""}, {"result": []}],
         {"a.md": "bad", "b.md": "parsed"}),
        ([{"record": "a.md"}, {"result": [{"where": "other.md", "reason": "bad"}]}, {"record": ""},
         {"result": [{"where": "b.md, page 2", "reason": "bad"}]}],
         {"a.md": "bad at a.md", "b.md": "bad at b.md, page 2"}),
        # Another form of a result.
        ([{"record": "a.md"}, {"result": 7}], {"a.md": INVALID, "b.md": INVALID}),
        ([{"record": "a.md"}, {"problem": "The disk is full.", "hint": None}], {"a.md": INVALID, "b.md": INVALID}),
        ([{"result": []}], None),
        ([["record"]], None),
        ([{"record": "a.md"}, {"result": []}], None),
        ([{"record": "", "result": []}, {"result": []}] * 3, None),
    ],
)  # fmt: skip
def test_messages_in_another_order_end_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, messages: list[object], expected: dict[str, str] | None
) -> None:
    process, part = hostile_process(tmp_path, monkeypatch, messages)
    if expected is None:
        with pytest.raises(BuildError, match="sent an invalid message and was stopped between two records"):
            process.run("parse", part)
    else:
        found = process.run("parse", part)
        assert outcome(found) == expected
        assert all(items.where in ("a.md", "b.md") for _, items in found if isinstance(items, RecordError))
    process.close()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids of the processes that are started."""
    found: list[int] = []

    def start(*arguments: Any, **options: Any) -> Popen[bytes]:
        process = Popen(*arguments, **options)
        found.append(process.pid)
        return process

    monkeypatch.setattr("wikigr.sandbox.process.subprocess.Popen", start)
    return found


def test_a_crash_of_the_parser_costs_the_record_under_way_only(tmp_path: Path, started: list[int]) -> None:
    folder = notes(tmp_path / "notes", {"a.md": "First.", "b.md": EMPHASIS * 20, "c.md": "Last."})

    def crash() -> None:
        # The second record takes several seconds of processor time, and all before it less than one.
        while not started or float(Path(f"/proc/{started[0]}/schedstat").read_text().split()[0]) < 1.5e9:
            time.sleep(0.01)
        os.kill(started[0], signal.SIGSEGV)

    thread = threading.Thread(target=crash)
    thread.start()
    found = outcome(parse(folder))
    thread.join()
    assert found == {"a.md": "parsed", "b.md": "the parser crashed (signal 11)", "c.md": "parsed"}


def test_a_process_that_ends_between_records_ends_the_build(
    tmp_path: Path, started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The process cannot read what it is to parse.
    monkeypatch.setattr(parser_process, "ADDRESS_SPACE", 120 << 20)
    folder = notes(tmp_path / "notes", {"a.md": "x" * (60 << 20)})
    with pytest.raises(BuildError, match="The parser process"):
        parse(folder)


def test_processes_end_with_the_parsing_even_within_a_record(tmp_path: Path, started: list[int]) -> None:
    # The first part is quick, and the others take minutes.
    texts = {f"{number:03}.md": "Text." if number < 16 else EMPHASIS * 5 for number in range(64)}
    parsed = LocalEngine(2).parse(open_source(notes(tmp_path / "notes", texts)))
    next(parsed)
    time.sleep(0.5)
    del parsed
    assert 1 <= len(started) <= 2  # none was started for the rest
    for process in started:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_what_records_share_is_sent_once(tmp_path: Path) -> None:
    source = open_source(notes(tmp_path / "notes", {f"{number:04}.md": "Text." for number in range(2_000)}))
    records = source.records()
    process = parser_process.ParserProcess(source)
    parts = parser_process.PickledRecords(), parser_process.PickledRecords()
    for part in parts:
        for record in islice(records, 16):
            part.add(record)
    first, second = (process._message("parse", part, 0) for part in parts)
    # The titles and paths of the folder are in the first message only.
    assert len(second) < len(first) / 20
    process.close()


def test_a_limit_of_the_system_on_processor_time_stays(tmp_path: Path) -> None:
    folder = notes(tmp_path / "notes", {"a.md": "Text."})
    before = resource.getrlimit(resource.RLIMIT_CPU)
    program = (
        "import resource, sys; from pathlib import Path; resource.setrlimit(resource.RLIMIT_CPU, (3000, 3000))\n"
        "from wikigr.ingest.engines.local import LocalEngine; from wikigr.sources.detect import open_source\n"
        "print([str(items) for _, items in LocalEngine(1).parse(open_source(Path(sys.argv[1])))])"
    )
    run = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=True)
    assert "SourceArticle" in run.stdout, run.stdout
    assert resource.getrlimit(resource.RLIMIT_CPU) == before
