"""Hostile sources: mutated files of every format, decompression bombs and deep nesting, read in a limited process.

Set ``WIKIGR_FUZZ_SEED`` for other mutations and ``WIKIGR_FUZZ_FILES`` for their number.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import queue
import random
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fuzz.targets import FOLDER
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import ROOT
from tests.trust.conftest import Tally

SEED = int(os.environ.get("WIKIGR_FUZZ_SEED", "0"))
FILES = int(os.environ.get("WIKIGR_FUZZ_FILES", "150"))  # of each format
MEGABYTES = 2048
WALL_S = 60.0


class Reader:
    """A child process that reads sources and is restarted after it ends."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.Queue[bytes] = queue.Queue()

    def read(self, name: str, path: Path) -> tuple[str, str, int]:
        """Return ``(kind, detail, peak KiB)``; fails the test when the child crashes, hangs or runs out of memory."""
        if self._process is None:
            self._start()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        process.stdin.write(json.dumps([name, str(path)]).encode() + b"\n")
        process.stdin.flush()
        try:
            line = self._answers.get(timeout=WALL_S)
        except queue.Empty:
            self.close()
            pytest.fail(f"{name} {path.name}: no end within {WALL_S:g} s: {path.read_bytes()[:200]!r}")
        if not line:
            code = process.wait()
            words = process.stderr.read().decode("utf-8", "replace")[-1500:] if process.stderr else ""
            self._process = None
            pytest.fail(f"{name} {path.name}: the process ended with {code}: {words}\n{path.read_bytes()[:300]!r}")
        kind, detail, peak = json.loads(line)
        return kind, detail, peak

    def _start(self) -> None:
        self._answers = queue.Queue()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.trust.source_child", str(MEGABYTES)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        threading.Thread(target=self._listen, args=(self._process, self._answers), daemon=True).start()

    @staticmethod
    def _listen(process: subprocess.Popen[bytes], answers: queue.Queue[bytes]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            answers.put(line)
        answers.put(b"")

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    if sys.platform != "linux":
        pytest.skip("the limit on a process's memory is not kept here")
    made = Reader()
    yield made
    made.close()


SUFFIXES = {
    "mediawiki": "xml", "html": "html", "markdown": "md", "jsonl": "jsonl", "triples": "tsv", "triples_csv": "csv",
    "rdf": "nt", "rdf_turtle": "ttl", "zim": "zim", "rst": "rst", "text": "txt",
}  # fmt: skip
SAMPLES = {
    name: (f"s.{suffix}", (FOLDER / "corpus" / name / "sample").read_bytes()) for name, suffix in SUFFIXES.items()
}
MEDIAWIKI = SAMPLES["mediawiki"][1]


def format_of(name: str) -> str:
    return name.split("_")[0]


PIECES = [
    b"<", b">", b"&", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"{{", b"}}", b"[[", b"]]", b"{|", b"|}",
    b"<ref>", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"&#0;", b"&#x110000;", b"&bee;", b'"', b"'", b"\\u", b"\\ud800",
    b"\\", b"\t", b"\n", b"\r", b"\x0b", b"\xe2\x80\xa8", b"9" * 400, b"-1e999", b"<nowiki>", b"```", b"---\n", b"| ",
    b"(", b")", b"[", b"]", b"@", b"^^", b"<http://", b"_:", b".", b";", b"#REDIRECT [[", b"<page>", b"</page>",
    b"<math>", b"<table>", b"<svg>", b"<template>", b"{{{", b"\x7f", b"\x1b[2J",
]  # fmt: skip


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Make a few random changes: bytes, cuts, duplicates and pieces with a meaning to parsers."""
    data = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 3, 8])):
        at = chance.randrange(len(data) + 1)
        to = min(len(data), at + chance.choice([1, 2, 8, 64]))
        kind = chance.randrange(6)
        if kind == 0 and at < len(data):
            data[at] = chance.randrange(256)
        elif kind == 1:
            del data[at:to]
        elif kind == 2:
            data[at:at] = data[at:to] * chance.choice([1, 2, 50])
        elif kind == 3:
            data[at:at] = chance.choice(PIECES) * chance.choice([1, 1, 3, 200])
        elif kind == 4:
            data[at:at] = chance.randbytes(chance.choice([1, 4, 64]))
        else:
            del data[at:]
    return bytes(data)


def counted(kind: str, tally: Tally) -> None:
    if kind == "refused":
        tally.refused()
    else:
        tally.harmless()


@pytest.mark.parametrize("name", SAMPLES)
def test_mutated_files(reader: Reader, tmp_path: Path, tally: Callable[[str], Tally], name: str) -> None:
    file, content = SAMPLES[name]
    path = tmp_path / file
    path.write_bytes(content)
    kind, detail, _ = reader.read(format_of(name), path)
    assert kind == "read" and not detail.startswith("0 articles"), detail
    chance = random.Random(f"{SEED} {name}")
    count = tally("sources: mutated files")
    for number in range(FILES):
        changed = mutated(content, chance)
        target = path
        if name != "zim" and number % 5 == 0:
            packers: list[tuple[str, Callable[[bytes], bytes]]]
            packers = [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
            ending, pack = chance.choice(packers)
            packed = pack(changed)
            target = tmp_path / f"{file}{ending}"
            changed = mutated(packed, chance) if number % 10 == 0 else packed
        target.write_bytes(changed)
        kind, _, _ = reader.read(format_of(name) if number % 3 else "", target)
        counted(kind, count)


@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "zim"])
def test_made_up_files(reader: Reader, tmp_path: Path, tally: Callable[[str], Tally], name: str) -> None:
    count = tally("sources: generated files")
    file, _ = SAMPLES[name]
    pieces = st.one_of(st.sampled_from(PIECES), st.text(max_size=20).map(lambda t: t.encode("utf-8", "replace")))
    if name == "jsonl":
        value = st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=9), st.lists, max_leaves=8)
        keys = st.sampled_from(["title", "text", "id", "links", "aliases", "categories", "url", "x"])
        lines = st.dictionaries(keys, value, max_size=6).map(lambda d: json.dumps(d).encode() + b"\n")
        pieces = st.one_of(pieces, lines)

    @settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(pieces, max_size=30))
    def run(parts: list[bytes]) -> None:
        path = tmp_path / file
        path.write_bytes(b"".join(parts))
        counted(reader.read(format_of(name), path)[0], count)

    run()


def zeros_gz() -> bytes:
    """Return 1.5 GB of one character, compressed to 1.5 MB."""
    made = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = b"0" * (1 << 24)
    return b"".join(made.compress(block) for _ in range(96)) + made.flush()


def many(member: bytes, times: int) -> bytes:
    """Concatenate compressed members, which gzip, bzip2 and xz read as one file."""
    return member * times


BOMBS: dict[str, Callable[[], bytes]] = {
    "gz": lambda: many(zeros_gz(), 2),
    "bz2": lambda: many(bz2.compress(b"0" * (1 << 26), 9), 48),
    "xz": lambda: many(lzma.compress(b"0" * (1 << 26), preset=1), 48),
}


@pytest.mark.parametrize("ending", BOMBS)
@pytest.mark.parametrize("file", ["b.jsonl", "b.xml", "b.tsv", "b.nt"])
def test_decompression_bombs(
    reader: Reader, tmp_path: Path, tally: Callable[[str], Tally], file: str, ending: str
) -> None:
    # One line of 3 GB exhausts the memory of a reader that holds a line or the file. (10 GB take three times as long.)
    path = tmp_path / f"{file}.{ending}"
    path.write_bytes(BOMBS[ending]())
    name = {"b.jsonl": "jsonl", "b.xml": "mediawiki", "b.tsv": "triples", "b.nt": "rdf"}[file]
    kind, detail, peak = reader.read(name, path)
    assert kind == "refused" or detail.startswith("0 articles"), detail
    assert peak < MEGABYTES * 1024
    counted("refused", tally("sources: decompression bombs"))


def wiki(text: str) -> bytes:
    return MEDIAWIKI.replace(b"* one", text.encode())


ENTITIES = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY a%d "%s">' % (i, b"&a%d;" % (i - 1) * 10) for i in range(1, 12))
    + b"]>"
)
QUADRATIC = b'<!DOCTYPE x [<!ENTITY a "' + b"a" * 100_000 + b'">]>'
LINE = b"word " * (10 * 1024 * 1024)
DEEP = 100_000
HOSTILE: dict[str, tuple[str, str, Callable[[Path], bytes]]] = {
    "billion laughs": ("mediawiki", "x.xml", lambda _: ENTITIES + MEDIAWIKI.replace(b"* one", b"&a11;")),
    "quadratic blow-up": ("mediawiki", "x.xml", lambda _: QUADRATIC + MEDIAWIKI.replace(b"* one", b"&a;" * 50_000)),
    "external entity": (
        "mediawiki",
        "x.xml",
        lambda canary: b'<!DOCTYPE x [<!ENTITY a SYSTEM "file://%s">]>' % str(canary).encode()
        + MEDIAWIKI.replace(b"* one", b"&a;"),
    ),
    "deep XML": ("mediawiki", "x.xml", lambda _: MEDIAWIKI.replace(b"<page>", b"<page>" + b"<a>" * DEEP)),
    "deep templates": ("mediawiki", "x.xml", lambda _: wiki("{{a|" * 20_000 + "}}" * 20_000)),
    "deep links": ("mediawiki", "x.xml", lambda _: wiki("[[File:a|" * 20_000 + "]]" * 20_000)),
    "deep tables": ("mediawiki", "x.xml", lambda _: wiki("{|\n|-\n|\n" * 5_000 + "|}\n" * 5_000)),
    "deep lists": ("mediawiki", "x.xml", lambda _: wiki("*" * DEEP + " x")),
    "quotes": ("mediawiki", "x.xml", lambda _: wiki("''a'''b" * 20_000)),
    "deep HTML": ("html", "x.html", lambda _: b"<div>" * DEEP + b"x"),
    "deep inline HTML": ("html", "x.html", lambda _: b"<p>" + b"<b><i><a href=x>" * 30_000 + b"x"),
    "deep tables in HTML": ("html", "x.html", lambda _: b"<table><tr><td>" * 20_000 + b"x"),
    "many attributes": ("html", "x.html", lambda _: b"<p " + b" ".join(b"a%d=x" % i for i in range(200_000)) + b">x"),
    "entities in HTML": ("html", "x.html", lambda _: b"<p>" + b"&" * 2_000_000 + b"&amp;" * 100_000),
    "deep quotes in Markdown": ("markdown", "x.md", lambda _: b">" * DEEP + b" x"),
    "deep lists in Markdown": ("markdown", "x.md", lambda _: b"- " * 20_000 + b"x"),
    "brackets in Markdown": ("markdown", "x.md", lambda _: b"[" * DEEP + b"x" + b"](y)" * 1_000),
    "stars in Markdown": ("markdown", "x.md", lambda _: b"*a **b " * 20_000),
    "ticks in Markdown": ("markdown", "x.md", lambda _: b"".join(b"`" * i + b"a" for i in range(1, 1_500))),
    "YAML aliases": (
        "markdown",
        "x.md",
        lambda _: b"---\na0: &a0 [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(b"a%d: &a%d [%s]\n" % (i, i, b",".join([b"*a%d" % (i - 1)] * 9)) for i in range(1, 10))
        + b"title: *a9\n---\n# A\n\nwords\n",
    ),
    "deep YAML": ("markdown", "x.md", lambda _: b"---\nx: " + b"[" * 50_000 + b"\n---\n# A\n\nwords\n"),
    "deep JSON": ("jsonl", "x.jsonl", lambda _: b'{"title": ' + b"[" * DEEP + b"]" * DEEP + b"}\n"),
    "long numbers in JSON": ("jsonl", "x.jsonl", lambda _: b'{"title": ' + b"9" * 1_000_000 + b"}\n"),
    "deep Turtle lists": ("rdf", "x.ttl", lambda _: b"<http://a> <http://b> " + b"(" * DEEP + b")" * DEEP + b" .\n"),
    "deep Turtle nodes": (
        "rdf", "x.ttl", lambda _: b"<http://a> <http://b> " + b"[ <http://c> " * DEEP + b"1" + b"]" * DEEP + b" .\n"
    ),
    "quotes in CSV": ("triples", "x.csv", lambda _: b'a,b,"' + b'""' * 2_000_000 + b"\nx,y,z\n"),
    "many columns": ("triples", "x.tsv", lambda _: b"a\t" * 2_000_000 + b"\nx\ty\tz\n"),
    **{
        f"a line of 50 MB: {name}": (name, file, lambda _, head=head: head + LINE)  # type: ignore[misc]
        for name, file, head in (
            ("jsonl", "x.jsonl", b'{"title": "'),
            ("triples", "x.tsv", b"a\tb\t"),
            ("rdf", "x.nt", b'<http://a> <http://b> "'),
            ("rdf", "x.ttl", b'@prefix e: <http://e/> . e:a e:b "'),
            ("markdown", "x.md", b"# A\n\n"),
            ("html", "x.html", b"<p>"),
            ("mediawiki", "x.xml", b"<mediawiki "),
        )
    },
}  # fmt: skip
CANARY = "CANARY-of-another-file"


@pytest.mark.parametrize("attack", HOSTILE)
def test_hostile_files(reader: Reader, tmp_path: Path, tally: Callable[[str], Tally], attack: str) -> None:
    name, file, make = HOSTILE[attack]
    (tmp_path / "canary").write_text(CANARY)
    path = tmp_path / file
    path.write_bytes(make(tmp_path / "canary"))
    kind, detail, peak = reader.read(name, path)
    assert CANARY not in detail
    assert peak < MEGABYTES * 1024
    counted(kind, tally("sources: nesting, entities, long lines"))


def test_an_external_entity_is_not_read(tmp_path: Path, tally: Callable[[str], Tally]) -> None:
    from wikigr.errors import SourceError
    from wikigr.sources.detect import open_source

    (tmp_path / "canary").write_text(CANARY)
    path = tmp_path / "x.xml"
    path.write_bytes(HOSTILE["external entity"][2](tmp_path / "canary"))
    try:
        source = open_source(path, "mediawiki")
        read = repr([list(source.parse(record)) for record in source.records()])
    except SourceError as error:
        read = error.message
    assert CANARY not in read
    tally("sources: nesting, entities, long lines").refused()
