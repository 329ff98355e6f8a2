"""Open the packs of a command that takes several."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from wikigr.errors import UsageError
from wikigr_cli.environment import Environment

if TYPE_CHECKING:
    from wikigr.embeddings.loader import Purpose
    from wikigr.pack.open import Corpus
    from wikigr.serve.packs import ServedPacks

_PACKAGES = ("mcp", "starlette", "uvicorn")


def open_all(
    environment: Environment, packs: Sequence[str], *, encoder: str | None, purpose: Purpose, preload: bool
) -> Corpus:
    """Open the pack, or several packs as one, and use their language from now on.

    A note on stderr names those that were given twice.
    """
    from wikigr.languages.language import speak

    if len(packs) == 1:
        from wikigr.pack.open import Pack

        pack: Corpus = Pack(packs[0], encoder=encoder, purpose=purpose, preload=preload)
    else:
        from wikigr.joined.pack import open_packs

        opened = open_packs(packs, encoder=encoder, purpose=purpose, preload=preload)
        for location in opened.repeated:
            environment.note(f"wikigr: {location} is among the packs already, so it counts once.")
        pack = opened.pack
    speak(pack.language)
    return pack


def require_extra(command: str) -> None:
    """Raise ``UsageError`` unless the packages of the extra ``serve`` are installed."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"`wikigr {command}` needs {', '.join(missing)}, which is not installed.",
            hint="Install it: pip install 'wikigr[serve]'",
        )


def open_served(environment: Environment, packs: Sequence[str], profile: str, *, offline: bool) -> ServedPacks:
    """Open the packs of a server; a note on stderr names those that were given twice."""
    from wikigr.serve.packs import ServedPacks

    served = ServedPacks(packs, profile=profile, offline=offline)
    for location in served.repeated:
        environment.note(f"wikigr: {location} is among the packs already, so it counts once.")
    return served
