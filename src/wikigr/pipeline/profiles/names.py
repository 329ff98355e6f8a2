"""Find profiles by name; separate from ``files``, so that shell completion does not import the pipeline."""

from __future__ import annotations

from pathlib import Path

from wikigr.settings import config_folder

SUFFIXES = (".yaml", ".yml")


def profile_names() -> list[str]:
    """Return the names of the profiles that ship with wikigr and of the user's own profiles."""
    return sorted({path.stem for folder in profile_folders() for path in folder.iterdir() if path.suffix in SUFFIXES})


def profile_folders() -> list[Path]:
    """Return the folders that hold profiles: the user's, which comes first, and the one that ships with wikigr."""
    return [folder for folder in (_users_folder(), _shipped_folder()) if folder.is_dir()]


def is_users_own(name: str) -> bool:
    """Return whether the user has a profile ``name``."""
    return any((_users_folder() / f"{name}{suffix}").is_file() for suffix in SUFFIXES)


def _users_folder() -> Path:
    return config_folder() / "profiles"


def _shipped_folder() -> Path:
    from importlib import resources

    return Path(str(resources.files("wikigr.pipeline.profiles")))
