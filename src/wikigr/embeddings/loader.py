"""Open an encoder by name, with the backend that suits the purpose."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Literal, get_args

from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.model_id import DEFAULT_MODEL
from wikigr.embeddings.models import find_prepared
from wikigr.embeddings.prefixes import PrefixedEncoder, prefix_of
from wikigr.errors import UsageError

__all__ = ["DEFAULT_MODEL", "Backend", "Purpose", "open_encoder"]

Backend = Literal["auto", "onnx", "openvino", "sentence-transformers"]
Purpose = Literal["query", "queries", "bulk"]


def open_encoder(
    model_id: str | Path = DEFAULT_MODEL,
    *,
    backend: Backend = "auto",
    purpose: Purpose = "query",
    threads: int | None = None,
) -> Embedder:
    """Open the encoder ``model_id``: an id, a short name, a model folder or a pack's ``encoder`` folder.

    The purpose ``query`` minimizes the time to the first vector. ``queries`` is for many texts, one at a time; the
    vector of a text is then bitwise independent of earlier texts. ``bulk`` is for many texts at once. The backend
    ``auto`` is ONNX Runtime, or for ``bulk`` OpenVINO if it is installed and the CPU supports bfloat16. All backends
    except ``sentence-transformers`` run a prepared encoder. Encoders of the E5 family get their prefixes: ``passage: ``
    for ``bulk``, otherwise ``query: ``. ``threads`` is the number of cores for ONNX Runtime; the default is all.

    Raises ``ModelError`` if the encoder is not prepared (``wikigr model prepare``) or is damaged, or if the backend is
    not installed, and ``UsageError`` for an unknown backend or purpose.
    """
    if backend not in get_args(Backend):
        raise UsageError(f"Unknown backend {backend!r}; choose from {', '.join(get_args(Backend))}.")
    if purpose not in get_args(Purpose):
        raise UsageError(f"Unknown purpose {purpose!r}; choose from {', '.join(get_args(Purpose))}.")
    if backend == "sentence-transformers":
        from wikigr.embeddings.sentence_transformers import SentenceTransformersEncoder

        return _with_prefix(SentenceTransformersEncoder(str(model_id)), purpose)
    prepared = find_prepared(str(model_id))
    if backend == "openvino" or (backend == "auto" and purpose == "bulk" and _openvino_is_faster()):
        from wikigr.embeddings.openvino import OpenVinoEncoder

        return _with_prefix(OpenVinoEncoder(prepared), purpose)
    from wikigr.embeddings.onnx import OnnxEncoder

    encoder = OnnxEncoder(prepared, bulk=purpose == "bulk", packed=purpose != "query", threads=threads)
    return _with_prefix(encoder, purpose)


def _with_prefix(encoder: Embedder, purpose: Purpose) -> Embedder:
    prefix = prefix_of(encoder.identity.model_id, is_passage=purpose == "bulk")
    return PrefixedEncoder(encoder, prefix) if prefix else encoder


def _openvino_is_faster() -> bool:
    if find_spec("openvino") is None:
        return False
    from wikigr.embeddings.openvino import computes_in_bfloat16

    return computes_in_bfloat16()
