"""A profile: the options of every stage under one name, in one frozen value; and where the files of profiles are.

Shell completion imports it, so it imports no stage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from wikigr.options import Options
from wikigr.settings import config_folder

SUFFIXES = (".yaml", ".yml")

_Options = TypeVar("_Options", bound=Options)


@dataclass(frozen=True)
class Profile:
    """The options for retrieval and answering.

    ``profile[GraphWalkOptions]`` are the options of one stage. ``sections`` holds only those that differ from their
    defaults, so ``Profile()`` is the profile ``enhanced``, and equal profiles compare equal.
    """

    name: str = "enhanced"
    description: str = "The usual choice: finds by words, meaning and links, and reads five articles"
    sections: Mapping[type[Options], Options] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sections", {k: value for k, value in self.sections.items() if value != k()})

    def __getitem__(self, kind: type[_Options]) -> _Options:
        options = self.sections.get(kind)
        return options if isinstance(options, kind) else kind()

    def override(self, kind: type[_Options], **values: Any) -> Profile:
        """Return a copy in which the options of ``kind`` have ``values``; raises ``TypeError`` for an unknown field."""
        # Typed as Any because dataclasses.replace wants a dataclass, and the base class is not one.
        options: Any = self[kind]
        return self.with_options(replace(options, **values))

    def with_options(self, options: Options) -> Profile:
        """Return a copy in which ``options`` replace those of the same class."""
        return replace(self, sections={**self.sections, type(options): options})


def profile_names() -> list[str]:
    """Return the names of the profiles that ship with wikigr and of the user's own profiles."""
    return sorted({path.stem for folder in profile_folders() for path in folder.iterdir() if path.suffix in SUFFIXES})


def profile_folders() -> list[Path]:
    """Return the folders that hold profiles: the user's, which comes first, and the one that ships with wikigr."""
    return [folder for folder in (_users_folder(), Path(__file__).with_name("profiles")) if folder.is_dir()]


def is_users_own(name: str) -> bool:
    """Return whether the user has a profile ``name``."""
    return any((_users_folder() / f"{name}{suffix}").is_file() for suffix in SUFFIXES)


def _users_folder() -> Path:
    return config_folder() / "profiles"
