"""The checks of ``wikigr doctor``: whether this machine has everything that builds and questions need."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

from wikigr.checks import Check
from wikigr.errors import WikigrError
from wikigr.llm import CHAT_URL
from wikigr.settings import cache_folder, data_folder

_MIN_PYTHON = (3, 11)
_PREPARE = "Run `wikigr model prepare`."
# Whether a check passed, what it found, and how to fix it.
Finding = tuple[bool, str, str]


def diagnose(variables: Mapping[str, str]) -> list[Check]:
    """Run all checks, without network access. ``variables`` is the process environment."""
    return [
        _check("Python", _python),
        _check("LadybugDB", _engine, "Install it again: pip install real_ladybug==0.15.3"),
        _check("VECTOR extension", _vector_extension, "Fix LadybugDB first.", required=False),
        _check("tantivy", _lexical, "Install it: pip install tantivy"),
        _check("sandbox", _sandbox, "Please report this: Cypher queries cannot run.", required=False),
        _check("encoder", _encoder, _PREPARE),
        _check("reader", _reader, _PREPARE),
        _check("sentence-transformers", _torch, required=False),
        _check("cache folder", lambda: _writable(cache_folder())),
        _check("data folder", lambda: _writable(data_folder())),
        # The three ways to let a model write the answers.
        _check("API key", lambda: _key(variables), required=False),
        _check("OpenAI-compatible server", lambda: _server(variables), required=False),
        _check("model file", _model_file, required=False),
    ]


def _check(name: str, find: Callable[[], Finding], fix: str = "", *, required: bool = True) -> Check:
    """Return what ``find`` finds; what it raises is a failure, which the hint of the error or ``fix`` fixes."""
    try:
        passed, detail, how = find()
    except WikigrError as error:
        passed, detail, how = False, error.message, error.hint or fix
    except ImportError as error:
        passed, detail, how = False, str(error), fix
    return Check(name, passed, detail, how, required=required)


def _python() -> Finding:
    version = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    return sys.version_info >= _MIN_PYTHON, version, "Install Python 3.11 or newer."


def _engine() -> Finding:
    from wikigr.graph.engine import Graph

    with tempfile.TemporaryDirectory() as folder, Graph(Path(folder) / "probe.db", read_only=False) as graph:
        answer = graph.rows("RETURN 6 * 7")[0][0]
        return answer == 42, f"{graph.version} ({graph.engine}), storage {graph.storage_version}", ""


def _vector_extension() -> Finding:
    from wikigr.graph.engine import Graph
    from wikigr.index.dense import load_vector_extension

    with tempfile.TemporaryDirectory() as folder, Graph(Path(folder) / "probe.db", read_only=False) as graph:
        if load_vector_extension(graph):
            return True, "loads: new packs get a vector index", ""
    return (
        False,
        "not available: vector search uses an exact scan, which gives the same or better results",
        "Needed only for packs with millions of sections: run INSTALL VECTOR in LadybugDB once, online.",
    )


def _lexical() -> Finding:
    import tantivy

    return True, str(getattr(tantivy, "__version__", "installed")), ""


def _sandbox() -> Finding:
    from wikigr.sandbox.process import find_walls

    walls = find_walls()
    standing = {
        "system calls (seccomp)": walls.seccomp,
        f"files (Landlock {walls.landlock or 'missing'})": walls.landlock > 0,
        "memory": walls.memory,
    }
    missing = [name for name, stands in standing.items() if not stands]
    detail = f"restricts {', '.join(name for name, stands in standing.items() if stands) or 'nothing'}"
    return (
        not missing,
        detail if not missing else f"{detail}; this system cannot restrict {', '.join(missing)}",
        "Cypher and packs from others still run in a process of their own, with fewer walls. All stand on Linux 5.13 "
        "or later, on x86-64 and AArch64.",
    )


def _encoder() -> Finding:
    from wikigr.embeddings.loader import DEFAULT_MODEL, open_encoder

    encoder = open_encoder(DEFAULT_MODEL, purpose="query")
    vector = encoder.encode(["a test sentence"])[0]
    is_unit = abs(float(vector @ vector) - 1.0) < 1e-3
    return is_unit, f"{encoder.identity.model_id}, {encoder.identity.dimension} dimensions", _PREPARE


def _reader() -> Finding:
    from wikigr.embeddings.model_id import DEFAULT_MODEL
    from wikigr.embeddings.models import find_prepared
    from wikigr.reader.passage import Passage
    from wikigr.reader.prepared import find_reader
    from wikigr.reader.reader import Reader

    text = "Ada Lovelace was born in London."
    prepared = find_reader(find_prepared(DEFAULT_MODEL))
    prepared.verify()
    passage = Passage("Ada Lovelace", "", text, ((0, len(text)),))
    ((span,),) = Reader(prepared).read("Where was Ada Lovelace born?", [passage])
    found = text[span.start : span.end] if span is not None else ""
    reads_well = found in ("London", "in London")
    detail = f"adapter {prepared.adapter_sha256[:16]}"
    detail += "" if reads_well else f"; it reads {found!r} instead of 'London'"
    return reads_well, detail, "Run `wikigr model prepare --force`."


def _torch() -> Finding:
    installed = find_spec("sentence_transformers") is not None
    detail = "installed" if installed else "not installed: needed only for GPUs and models outside the BERT family"
    return installed, detail, "pip install torch==2.13.0, then pip install 'wikigr[models]'"


def _writable(folder: Path) -> Finding:
    existing = folder
    while not existing.exists():
        existing = existing.parent
    fix = f"Make {existing} writable, or set the XDG variable for it."
    return os.access(existing, os.W_OK), str(folder), fix


def _key(variables: Mapping[str, str]) -> Finding:
    has_key, has_server = bool(variables.get("ANTHROPIC_API_KEY")), bool(variables.get(CHAT_URL, "").strip())
    without = "" if has_server else ": without a model, answers are extracted from the pack, offline"
    detail = "ANTHROPIC_API_KEY is set" if has_key else f"ANTHROPIC_API_KEY is not set{without}"
    fix = "No action needed: a key is optional. ANTHROPIC_BASE_URL names another server of the Messages API."
    return has_key, detail, fix


def _server(variables: Mapping[str, str]) -> Finding:
    is_set, has_client = bool(variables.get(CHAT_URL, "").strip()), find_spec("openai") is not None
    client = "" if has_client else ", but the package openai is not installed"
    fix = "For a server such as llama.cpp, Ollama or vLLM: pip install 'wikigr[openai]', and set the variable."
    return is_set and has_client, f"{CHAT_URL} is {'set' if is_set else 'not set'}{client}", fix


def _model_file() -> Finding:
    if find_spec("xllamacpp") is not None:
        return True, "xllamacpp is installed: --model FILE.gguf writes answers on this machine", ""
    fix = "To let a model in a GGUF file write the answers: pip install 'wikigr[local]'"
    return False, "xllamacpp is not installed: --model FILE.gguf needs it", fix
