"""Open the packs of a command that takes several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wikigr_cli.environment import Environment

if TYPE_CHECKING:
    from wikigr.embeddings.loader import Purpose
    from wikigr.pack.open import Corpus


def open_all(
    environment: Environment, packs: Sequence[str], *, encoder: str | None, purpose: Purpose, preload: bool
) -> Corpus:
    """Open the pack, or several packs as one; a note on stderr names those that were given twice."""
    if len(packs) == 1:
        from wikigr.pack.open import Pack

        return Pack(packs[0], encoder=encoder, purpose=purpose, preload=preload)
    from wikigr.library.open import open_packs

    opened = open_packs(packs, encoder=encoder, purpose=purpose, preload=preload)
    for location in opened.repeated:
        environment.note(f"wikigr: {location} is among the packs already, so it counts once.")
    return opened.pack
