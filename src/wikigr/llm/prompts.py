"""The prompts, from ``prompts.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path


def prompt(name: str) -> str:
    """Return the text of the prompt ``name``, without leading and trailing whitespace."""
    return _prompts()[name].strip()


@cache
def _prompts() -> Mapping[str, str]:
    import yaml

    found: dict[str, str] = yaml.safe_load(Path(__file__).with_name("prompts.yaml").read_text(encoding="utf-8"))
    return found
