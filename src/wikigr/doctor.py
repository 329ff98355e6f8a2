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


def diagnose(variables: Mapping[str, str]) -> list[Check]:
    """Run all checks, without network access. ``variables`` is the process environment."""
    checks: list[Callable[[], Check]] = [
        _python,
        _engine,
        _vector_extension,
        _lexical,
        _sandbox,
        _encoder,
        _reader,
        _torch,
    ]
    found = [check() for check in checks]
    found.append(_writable("cache folder", cache_folder()))
    found.append(_writable("data folder", data_folder()))
    return [*found, *_models(variables)]


def _models(variables: Mapping[str, str]) -> list[Check]:
    """Return the checks of the three ways to let a model write the answers, all of which are optional."""
    key, server = bool(variables.get("ANTHROPIC_API_KEY")), bool(variables.get(CHAT_URL, "").strip())
    without = "" if server else ": without a model, answers are extracted from the pack, offline"
    has_client, has_library = find_spec("openai") is not None, find_spec("xllamacpp") is not None
    client = "" if has_client else ", but the package openai is not installed"
    return [
        Check(
            "API key",
            key,
            "ANTHROPIC_API_KEY is set" if key else f"ANTHROPIC_API_KEY is not set{without}",
            "No action needed: a key is optional. ANTHROPIC_BASE_URL names another server of the Messages API.",
            required=False,
        ),
        Check(
            "OpenAI-compatible server",
            server and has_client,
            f"{CHAT_URL} is {'set' if server else 'not set'}{client}",
            "For a server such as llama.cpp, Ollama or vLLM: pip install 'wikigr[openai]', and set the variable.",
            required=False,
        ),
        Check(
            "model file",
            has_library,
            "xllamacpp is installed: --model FILE.gguf writes answers on this machine"
            if has_library
            else "xllamacpp is not installed: --model FILE.gguf needs it",
            "To let a model in a GGUF file write the answers: pip install 'wikigr[local]'",
            required=False,
        ),
    ]


def _python() -> Check:
    version = platform.python_version()
    good = sys.version_info >= _MIN_PYTHON
    return Check(
        "Python",
        good,
        f"{version} on {platform.system()} {platform.machine()}",
        "Install Python 3.11 or newer.",
    )


def _engine() -> Check:
    from wikigr.graph.engine import Graph

    with tempfile.TemporaryDirectory() as folder:
        try:
            with Graph(Path(folder) / "probe.db", read_only=False) as graph:
                answer = graph.rows("RETURN 6 * 7")[0][0]
                return Check(
                    "LadybugDB", answer == 42, f"{graph.version} ({graph.engine}), storage {graph.storage_version}"
                )
        except WikigrError as error:
            return Check("LadybugDB", False, error.message, error.hint or "")
        except ImportError as error:
            return Check("LadybugDB", False, str(error), "Install it again: pip install real_ladybug==0.15.3")


def _vector_extension() -> Check:
    from wikigr.graph.engine import Graph
    from wikigr.index.dense import load_vector_extension

    with tempfile.TemporaryDirectory() as folder:
        try:
            with Graph(Path(folder) / "probe.db", read_only=False) as graph:
                if load_vector_extension(graph):
                    return Check("VECTOR extension", True, "loads: new packs get a vector index")
        except (ImportError, WikigrError) as error:
            return Check("VECTOR extension", False, str(error), "Fix LadybugDB first.", required=False)
    return Check(
        "VECTOR extension",
        False,
        "not available: vector search uses an exact scan, which gives the same or better results",
        "Needed only for packs with millions of sections: run INSTALL VECTOR in LadybugDB once, online.",
        required=False,
    )


def _lexical() -> Check:
    try:
        import tantivy
    except ImportError as error:
        return Check("tantivy", False, str(error), "Install it: pip install tantivy")
    return Check("tantivy", True, str(tantivy.__version__) if hasattr(tantivy, "__version__") else "installed")


def _sandbox() -> Check:
    from wikigr.sandbox.process import SandboxError, find_walls

    try:
        walls = find_walls()
    except SandboxError as error:
        return Check("sandbox", False, f"the process {error.message}", "Please report this: Cypher queries cannot run.")
    standing = {
        "system calls (seccomp)": walls.seccomp,
        f"files (Landlock {walls.landlock or 'missing'})": walls.landlock > 0,
        "memory": walls.memory,
    }
    missing = [name for name, stands in standing.items() if not stands]
    detail = f"restricts {', '.join(name for name, stands in standing.items() if stands) or 'nothing'}"
    return Check(
        "sandbox",
        not missing,
        detail if not missing else f"{detail}; this system cannot restrict {', '.join(missing)}",
        "Cypher and packs from others still run in a process of their own, with fewer walls. All stand on Linux 5.13 "
        "or later, on x86-64 and AArch64.",
        required=False,
    )


def _encoder() -> Check:
    from wikigr.embeddings.loader import DEFAULT_MODEL, open_encoder

    fix = "Run `wikigr model prepare`."
    try:
        encoder = open_encoder(DEFAULT_MODEL, purpose="query")
        vector = encoder.encode(["a test sentence"])[0]
    except WikigrError as error:
        return Check("encoder", False, error.message, error.hint or fix)
    except ImportError as error:
        return Check("encoder", False, str(error), "Install it: pip install onnxruntime tokenizers")
    good = abs(float(vector @ vector) - 1.0) < 1e-3
    return Check("encoder", good, f"{encoder.identity.model_id}, {encoder.identity.dimension} dimensions", fix)


def _reader() -> Check:
    from wikigr.embeddings.model_id import DEFAULT_MODEL
    from wikigr.embeddings.models import find_prepared
    from wikigr.reader.passage import Passage
    from wikigr.reader.prepared import find_reader
    from wikigr.reader.reader import Reader

    fix = "Run `wikigr model prepare`."
    text = "Ada Lovelace was born in London."
    try:
        prepared = find_reader(find_prepared(DEFAULT_MODEL))
        prepared.verify()
        passage = Passage("Ada Lovelace", "", text, ((0, len(text)),))
        ((span,),) = Reader(prepared).read("Where was Ada Lovelace born?", [passage])
    except WikigrError as error:
        return Check("reader", False, error.message, error.hint or fix)
    except ImportError as error:
        return Check("reader", False, str(error), "Install it: pip install onnxruntime tokenizers")
    found = text[span.start : span.end] if span is not None else ""
    good = found in ("London", "in London")
    detail = f"adapter {prepared.adapter_sha256[:16]}" + ("" if good else f"; it reads {found!r} instead of 'London'")
    return Check("reader", good, detail, "Run `wikigr model prepare --force`.")


def _torch() -> Check:
    installed = find_spec("sentence_transformers") is not None
    detail = "installed" if installed else "not installed: needed only for GPUs and models outside the BERT family"
    return Check(
        "sentence-transformers",
        installed,
        detail,
        "pip install torch==2.13.0, then pip install 'wikigr[models]'",
        required=False,
    )


def _writable(name: str, folder: Path) -> Check:
    existing = folder
    while not existing.exists():
        existing = existing.parent
    good = os.access(existing, os.W_OK)
    return Check(name, good, str(folder), f"Make {existing} writable, or set the XDG variable for it.")
