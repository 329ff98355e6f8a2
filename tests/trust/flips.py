"""Flip bits of a pack, with every recorded hash recomputed, and use the pack if it still passes all checks.

Run as a program, because it forks a process for each step and a test process has threads:
``python -m tests.trust.flips PACK PATTERN FIRST COUNT`` prints one JSON object per flip, where ``PATTERN`` matches
the files to flip, and ``FIRST`` is the first seed.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from wikigr.distribution.untrusted_checks import untrusted_checks
from wikigr.errors import WikigrError
from wikigr.graph.engine import Graph
from wikigr.pack.digest import database_digest
from wikigr.pack.layout import DATABASE, GRAPH_INDEX, LEXICAL, MANIFEST, PAGERANK
from wikigr.pack.manifest import describe_file, describe_files, read_manifest
from wikigr_cli.app import run
from wikigr_cli.environment import Environment

REFUSED, HARMLESS, BROKEN = "refused", "harmless", "broken"

_RESERVE = 1 << 30
_ADDRESS_SPACE = _RESERVE + (8 << 30)
_SECONDS = 120.0
_QUESTIONS = 2


def flip(pack: Path, pattern: str, seed: int) -> tuple[str, int, int]:
    """Flip one bit of a file of ``pack`` and record the right hashes; returns the file, the offset and the bit."""
    choice = random.Random(seed)
    names = [name for name in describe_files(pack) if fnmatch(name, pattern)]
    sizes = [(pack / name).stat().st_size for name in names]
    name = choice.choices(names, sizes)[0]
    data = bytearray((pack / name).read_bytes())
    offset = choice.randrange(len(data))
    if choice.random() < 0.75:
        # Most of a small database consists of zeros; look for the next byte in use.
        offset = next((place for place in range(offset, len(data)) if data[place]), offset)
    bit = choice.randrange(8)
    data[offset] ^= 1 << bit
    (pack / name).write_bytes(data)
    _record(pack)
    return name, offset, bit


def _record(pack: Path) -> None:
    """Write the hashes of the files and, if the database can be read, of its content."""
    files = {name: asdict(record) for name, record in describe_files(pack).items() if name != MANIFEST}
    manifest = json.loads((pack / MANIFEST).read_text())
    code, digest = forked(lambda: _digest_of(pack), address_space=_ADDRESS_SPACE)
    if code == 0 and digest != manifest["digest"]:
        manifest["digest"] = digest
        ranks = json.loads((pack / PAGERANK).read_text())
        (pack / PAGERANK).write_text(json.dumps({**ranks, "digest": digest}))
        with np.load(pack / GRAPH_INDEX) as index:
            arrays = {**index, "digest": np.array(digest)}
        np.savez(pack / GRAPH_INDEX, **arrays)
        files |= {name: asdict(describe_file(pack / name)) for name in (PAGERANK, GRAPH_INDEX)}
    (pack / MANIFEST).write_text(json.dumps({**manifest, "files": files}))


def _digest_of(pack: Path) -> str:
    manifest = read_manifest(pack / MANIFEST)
    with Graph(pack / DATABASE, address_space=_RESERVE) as graph:
        return database_digest(graph, manifest.encoder)


def verification(pack: Path) -> list[str]:
    """Return the failed checks."""
    return [
        f"{c.name}: {c.detail}" for c in untrusted_checks(pack, _RESERVE, pack / LEXICAL) if c.required and not c.passed
    ]


def commands(pack: Path) -> list[list[str]]:
    """Return command lines that use every part of a pack, and each article and entity by name."""
    with Graph(pack / DATABASE) as graph:
        titles = [row[0] for row in graph.rows("MATCH (a:Article) RETURN a.title ORDER BY a.title")]
        entities = [row[0] for row in graph.rows("MATCH (e:Entity) RETURN e.entity_id ORDER BY e.entity_id")]
    questions = pack.parent / "questions.txt"
    questions.write_text("".join(f"What is {title}?\n" for title in titles[:_QUESTIONS]))
    every = pack.parent / "titles.txt"
    every.write_text("".join(f"{title}\n" for title in titles))
    nodes = [*titles, *entities]
    return [
        ["search", "--mode", "lexical", "--batch", str(every), "--json"],
        ["search", "--mode", "dense", "--batch", str(questions), "--json"],
        ["ask", "--offline", "--batch", str(questions), "--json"],
        ["ask", "--offline", "--profile", "multi-strategy", f"How is {titles[0]} related to {titles[-1]}?", "--json"],
        ["graph", "neighbors", nodes[0], "--json"],
        ["graph", "neighbors", nodes[-1], "--json"],
        ["graph", "paths", nodes[0], nodes[-1], "--json"],
        ["graph", "cypher", "MATCH (a)-[r]->(b) RETURN label(r), count(*) ORDER BY label(r)", "--json"],
        ["graph", "cypher", "MATCH (b)<-[r]-(a) RETURN label(r), count(*) ORDER BY label(r)", "--json"],
        *(
            ["graph", "cypher", f"MATCH (n {{{key}: {json.dumps(name)}}}) RETURN n.{key}", "--json"]
            for key, name in (*(("title", n) for n in titles[::5]), *(("entity_id", n) for n in entities[::5]))
        ),
    ]


def use(pack: Path, lines: Sequence[Sequence[str]]) -> list[list[Any]]:
    """Return the exit code, the results without timings, and the errors of every command line."""
    found = []
    for line in lines:
        environment = Environment(io.StringIO(), io.StringIO(), io.StringIO())
        code = run([*line, "--pack", str(pack)], environment)
        out, errors = [stream.getvalue() for stream in (environment.stdout, environment.stderr)]  # type: ignore[attr-defined]
        documents = out.splitlines() if "--batch" in line else [out] if out else []
        found.append([int(code), [_plain(json.loads(text)) for text in documents], errors])
    return found


def _plain(value: Any) -> Any:
    """Return a result without what depends on the time, on the pack's digest, and on vectors."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if k not in ("timings", "pack", "score", "confidence", "scores")}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def forked(function: Callable[[], Any], *, address_space: int = resource.RLIM_INFINITY) -> tuple[int, Any]:
    """Call ``function`` in a forked process; returns its exit code (negative for a signal) and its result or error.

    ``address_space`` is its limit in bytes.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            code, result = 0, function()
        except WikigrError as error:
            code, result = 3, error.message
        except BaseException as error:  # noqa: BLE001 -- Rust panics are no ordinary exceptions
            code, result = 1, "".join(traceback.format_exception(error))
        with os.fdopen(writing, "w") as pipe:
            json.dump(result, pipe)
        os._exit(code)
    os.close(writing)
    watch = threading.Timer(_SECONDS, os.kill, (child, 9))
    watch.start()
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    watch.cancel()
    return os.waitstatus_to_exitcode(status), json.loads(text) if text else None


def good_results(pack: Path, lines: Sequence[Sequence[str]]) -> list[list[Any]]:
    """Return what ``use`` returns for a whole pack, after importing all that it imports into this process."""
    code, modules = forked(lambda: [use(pack, lines), sorted(sys.modules)][1])
    assert code == 0, modules
    for module in modules:
        # Once here, and not again in every forked process.
        with suppress(ImportError):
            importlib.import_module(module)
    code, good = forked(lambda: use(pack, lines))
    assert code == 0, good
    assert all(code == 0 for code, _, _ in good), good
    found: list[list[Any]] = good
    return found


def try_flip(pack: Path, pattern: str, seed: int, lines: Sequence[Sequence[str]], good: Any, folder: Path) -> list[str]:
    """Flip a bit of a copy of ``pack``; returns the outcome, the place, and the reason."""
    copy = folder / "pack"
    shutil.copytree(pack, copy, ignore=shutil.ignore_patterns(".*"))
    try:
        name, offset, bit = flip(copy, pattern, seed)
        same_content = read_manifest(copy / MANIFEST).digest == read_manifest(pack / MANIFEST).digest
        place = f"{name} {offset} {bit}"
        code, failed = forked(lambda: verification(copy), address_space=_ADDRESS_SPACE)
        if code != 0 or failed:
            return [REFUSED, place, str(failed)[-300:]]
        code, found = forked(lambda: use(copy, lines))
        if code != 0:
            return [BROKEN, place, f"exit code {code}: {str(found)[-2000:]}"]
        for line, (code, results, errors), (_, wanted, _) in zip(lines, found, good, strict=True):
            if code != 0:
                return [BROKEN, place, f"{line}: exit code {code}: {errors[-500:]}"]
            # Vectors are not part of the content, so a flip in one may change ranks.
            if same_content and results != wanted and not {"dense", "ask"} & set(line):
                return [BROKEN, place, f"{line}: other results: {results} instead of {wanted}"]
        return [HARMLESS, place, ""]
    finally:
        shutil.rmtree(copy)


def main() -> None:
    pack, pattern, first, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy = shutil.copytree(pack, folder / "pack", ignore=shutil.ignore_patterns(".*"))
        code, lines = forked(lambda: commands(copy))
        assert code == 0, lines
        good = good_results(copy, lines)
        shutil.rmtree(copy)
        for seed in range(first, first + count):
            outcome = try_flip(pack, pattern, seed, lines, good, folder)
            sys.stdout.write(json.dumps([seed, *outcome]) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
