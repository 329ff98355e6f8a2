"""The texts that are sent to a model, one Markdown file each."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def prompt(name: str) -> str:
    """Return the prompt ``name``, its line breaks within paragraphs and the final one as they stand."""
    return (resources.files(__name__) / f"{name}.md").read_text(encoding="utf-8").strip()
