"""The pretrained models that readers are trained from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from wikigr.embeddings.model_id import DEFAULT_MODEL, MPNET
from wikigr.embeddings.weights import checkpoint_folder, downloaded_in_parts
from wikigr.reader.passage import BASE, SMALL

# The models by the name of the reader.
BASES: Mapping[str, str] = {SMALL: DEFAULT_MODEL, BASE: MPNET.model_id}


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
        with downloaded_in_parts(MPNET, kept.parent) as folder:
            folder.rename(kept)
    yield kept
