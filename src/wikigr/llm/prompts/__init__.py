"""The prompts, one Markdown file each."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def prompt(name: str) -> str:
    """Return the text of the prompt ``name``, without leading and trailing whitespace."""
    return (resources.files(__name__) / f"{name}.md").read_text(encoding="utf-8").strip()
