"""The schema of a profile file, derived from the table of stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field, make_dataclass
from functools import cache
from typing import Any

from wikigr.pipeline.profile import Profile
from wikigr.pipeline.stages import SECTIONS

_DEFAULT = Profile()

# A dataclass with every key of a profile; a section that is left out has its defaults.
ProfileValues: Any = make_dataclass(
    "ProfileValues",
    [
        ("name", str, _DEFAULT.name),
        ("description", str, _DEFAULT.description),
        *((kind.section, kind, field(default_factory=kind)) for kind in SECTIONS),
    ],
    frozen=True,
)


def profile_values(profile: Profile) -> dict[str, Any]:
    """Return ``profile`` as the mapping that its YAML file would hold: every key, and the name."""
    values: dict[str, Any] = {"name": profile.name, "description": profile.description}
    for kind in SECTIONS:
        options: Any = profile[kind]
        values[kind.section] = asdict(options)
    return values


def validate_profile(values: Mapping[str, Any]) -> Profile:
    """Return the profile with these values; keys that are left out have their defaults.

    Types are checked strictly: "5" is not a number, and ``yes`` is not 1. Raises ``pydantic.ValidationError``.
    """
    import json

    from wikigr.text import scrub

    # Validated as JSON, because strict rules for JSON accept a mapping as a dataclass.
    text = scrub(json.dumps(values, default=str))
    checked = _adapter().validate_json(text, strict=True)
    return Profile(checked.name, checked.description, {kind: getattr(checked, kind.section) for kind in SECTIONS})


@cache
def _adapter() -> Any:
    import pydantic

    return pydantic.TypeAdapter(ProfileValues)
