"""The pretrained models that readers are trained from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wikigr.embeddings.model_id import DEFAULT_MODEL
from wikigr.embeddings.weights import checkpoint_folder

SMALL = "small"
LARGE = "large"

# The models by the name of the reader.
BASES = {SMALL: DEFAULT_MODEL, LARGE: "sentence-transformers/all-mpnet-base-v2"}


@contextmanager
def base_folder(name: str) -> Iterator[Path]:
    """Provide a folder with the checkpoint of the base ``name``; raises ``ModelError`` if it is not available."""
    with checkpoint_folder(BASES[name]) as folder:
        yield folder
