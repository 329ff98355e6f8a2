"""The version of wikigr and, if known, the commit it was installed or checked out from."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

from wikigr import __version__


def commit() -> str | None:
    """Return the commit of the checkout this code runs from, or the commit that the installer recorded."""
    for folder in Path(__file__).resolve().parents[1:3]:
        if (found := _checkout_commit(folder)) is not None:
            return found
    try:
        recorded = metadata.distribution("wikigr").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None
    found = json.loads(recorded or "{}").get("vcs_info", {}).get("commit_id")
    return str(found) if found else None


def changes() -> str:
    """Return a hash of the checkout's uncommitted changes; empty without changes or without a checkout."""
    import hashlib
    import subprocess

    for folder in Path(__file__).resolve().parents[1:3]:
        if (folder / ".git").exists() and (folder / "pyproject.toml").is_file():
            try:
                command = ["git", "-C", str(folder), "diff", "HEAD", "--", "src", "pyproject.toml"]
                done = subprocess.run(command, capture_output=True, check=False, timeout=10)
            except (OSError, subprocess.TimeoutExpired):
                return ""
            return hashlib.sha256(done.stdout).hexdigest()[:16] if done.stdout.strip() else ""
    return ""


def version_line() -> str:
    """Return the output of ``wikigr --version``."""
    found = commit()
    return f"wikigr {__version__}" + (f" ({found[:12]})" if found else "")


def _checkout_commit(folder: Path) -> str | None:
    git = folder / ".git"
    if not (git / "HEAD").is_file() or not (folder / "pyproject.toml").is_file():
        return None
    head = (git / "HEAD").read_text(encoding="utf-8").strip()
    if not head.startswith("ref: "):
        return head
    name = head.removeprefix("ref: ")
    if (git / name).is_file():
        return (git / name).read_text(encoding="utf-8").strip()
    packed = git / "packed-refs"
    if packed.is_file():
        for line in packed.read_text(encoding="utf-8").splitlines():
            if line.endswith(f" {name}"):
                return line.split()[0]
    return None
