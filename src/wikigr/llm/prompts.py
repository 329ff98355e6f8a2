"""The prompts, from ``prompts.yaml``, and the schemas of what a model fills in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


def prompt(name: str) -> str:
    """Return the text of the prompt ``name``, without leading and trailing whitespace."""
    return _prompts()[name].strip()


def object_schema(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these ``properties``."""
    names = list(properties)
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


@cache
def _prompts() -> Mapping[str, str]:
    import yaml

    found: dict[str, str] = yaml.safe_load(Path(__file__).with_name("prompts.yaml").read_text(encoding="utf-8"))
    return found
