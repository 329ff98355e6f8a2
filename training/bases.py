"""The pretrained models that readers are trained from."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wikigr.embeddings.downloads import unpacked_model
from wikigr.embeddings.model_id import DEFAULT_MODEL
from wikigr.embeddings.published import MPNET
from wikigr.embeddings.weights import checkpoint_folder
from wikigr.progress import Silent

SMALL = "small"
LARGE = "large"

# The models by the name of the reader.
BASES = {SMALL: DEFAULT_MODEL, LARGE: MPNET.model_id}


@contextmanager
def base_folder(name: str, work: Path) -> Iterator[Path]:
    """Provide a folder with the checkpoint of the base ``name``; raises ``ModelError`` if it is not available.

    The large one is downloaded once and kept below ``work``.
    """
    if name == SMALL:
        with checkpoint_folder(BASES[name]) as folder:
            yield folder
        return
    kept = work / "bases" / name
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        retry = f"python -m training prepare --reader {name}"
        size = MPNET.max_unpacked
        with unpacked_model(MPNET, work / "downloads", further_bytes=size, retry=retry, progress=Silent()) as folder:
            unfinished = kept.with_suffix(".new")
            shutil.rmtree(unfinished, ignore_errors=True)
            shutil.copytree(folder, unfinished)
            unfinished.rename(kept)
    yield kept
