"""Files that others may have placed are read through ``wikigr.files``, which takes regular ones of limited size."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import pytest
from tests.conftest import ROOT

from wikigr.embeddings.checkpoint import Checkpoint
from wikigr.errors import WikigrError
from wikigr.evaluation.gate import read_baseline
from wikigr.evaluation.run import QUESTIONS, RUN, load_run, read_run
from wikigr.evaluation.samples import SAMPLES, SampleStore, read_samples
from wikigr.files import read_regular
from wikigr.graph.pagerank_cache import read_cache
from wikigr.graph.stored_arrays import load_arrays
from wikigr.pack.manifest import file_sha256
from wikigr.pipeline.profile_files import load_profile

# What reads files of the package itself, of this program's own caches, or files that it has just written.
_OWN = """answer/probability.py embeddings/int8.py embeddings/onnx_bert.py embeddings/weights.py graph/stored_arrays.py
languages.py llm/prompts.py llm/response_cache.py llm/usage.py reader/adapter.py reader/graph.py sandbox/isolation.py
server/page.py version.py distribution/archive.py distribution/recipes/unpack.py index/quantized.py
index/lexical.py files.py evaluation/samples.py sources/office/xlsx.py sources/detect.py sources/html/boilerplate.py
sources/wikitext/__init__.py ingest/engines/ray_engine.py distribution/signature.py embeddings/onnx_mpnet.py
pack/layout.py graph_search/relation_paths/relation_match.py""".split()


def test_files_are_read_in_one_place() -> None:
    found = []
    for path in sorted((ROOT / "src" / "wikigr").rglob("*.py")):
        name = path.relative_to(ROOT / "src" / "wikigr").as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and name not in _OWN:
                reads = node.func.attr in ("read_bytes", "read_text")
                opens = node.func.attr == "open" and not (node.args and _mode(node.args[0]) in ("x+b", "xb", "wb"))
                if reads or (opens and node.args and _mode(node.args[0]) == "rb"):
                    found.append(f"{name}:{node.lineno}")
    assert found == []


def _mode(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 << 30)


def _run(path: Path) -> Any:
    return read_run(path.parent)


READERS: dict[str, Callable[[Path], Any]] = {
    RUN: _run,
    SAMPLES: lambda path: read_samples(path.parent),
    "baseline.json": read_baseline,
    "profile.yaml": lambda path: load_profile(str(path)),
    "config.json": lambda path: Checkpoint.read(path.parent),
    "pagerank_cache.json": read_cache,
    "graph_index.npz": lambda path: load_arrays(path, [], [], {}),
}


@pytest.mark.parametrize("place", [_pipe, _device, _sparse])
@pytest.mark.parametrize("name", READERS)
def test_what_is_no_file_of_bounded_size_is_refused(name: str, place: Callable[[Path], None], tmp_path: Path) -> None:
    place(tmp_path / name)
    with pytest.raises((WikigrError, OSError, ValueError, BadZipFile)):
        READERS[name](tmp_path / name)


def test_the_questions_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikigr.evaluation.run.read_run", lambda folder: None)
    for place in (_pipe, _device, _sparse):
        place(tmp_path / QUESTIONS)
        with pytest.raises(WikigrError, match="Cannot read the questions of the run"):
            load_run(tmp_path)
        (tmp_path / QUESTIONS).unlink()


def test_samples_are_not_written_through_a_link(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("mine")
    (tmp_path / SAMPLES).symlink_to(own)
    with pytest.raises(OSError, match="symbolic links"):
        SampleStore(tmp_path)
    assert own.read_text() == "mine"
    (tmp_path / SAMPLES).unlink()
    _pipe(tmp_path / SAMPLES)
    with pytest.raises(OSError, match="seekable"):
        SampleStore(tmp_path)


def test_a_file_without_a_size_is_read_to_its_limit() -> None:
    # Files of /proc claim to be empty.
    assert read_regular(Path("/proc/self/status"), 1 << 20).startswith(b"Name:")
    with pytest.raises(ValueError, match="more than 8 bytes"):
        read_regular(Path("/proc/self/status"), 8)


def test_the_hash_of_a_pipe_does_not_wait(tmp_path: Path) -> None:
    _pipe(tmp_path / "archive")
    with pytest.raises(OSError, match="not a regular file"):
        file_sha256(tmp_path / "archive")
