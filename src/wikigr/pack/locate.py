"""From what a user names to a pack's folder: a folder, a database file, or the name of an installed pack."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from wikigr.errors import PackError
from wikigr.pack.layout import Layout
from wikigr.settings import data_folder


def installed_packs() -> Path:
    """Return the folder that holds the installed packs, one folder each; it need not exist."""
    return data_folder() / "packs"


def find_pack(location: str | Path) -> Layout:
    """Return the layout of the pack at ``location``; raises ``PackError`` when there is none."""
    path = Path(location)
    if path.is_file():
        path = path.parent
    elif not path.exists() and len(path.parts) == 1 and (installed_packs() / path).is_dir():
        path = installed_packs() / path
    layout = Layout(path)
    if layout.exists():
        return layout
    if layout.unfinished():
        raise PackError(
            f"There is no finished pack at {path}: a build there was interrupted.",
            hint=f"Run the same `wikigr pack build … -o {path}` again; it goes on where it stopped.",
        )
    if path.is_dir():
        raise PackError(f"{path} holds no pack.", hint=f"Build one: wikigr pack build SOURCE -o {path}")
    near = get_close_matches(path.name, _known_names(path.parent), n=1)
    raise PackError(
        f"There is no pack {str(location)!r}: neither such a folder nor an installed pack of that name exists.",
        hint=f"Did you mean {path.with_name(near[0])}?" if near else f"Build one: wikigr pack build SOURCE -o {path}",
    )


def _known_names(folder: Path) -> list[str]:
    places = [folder, installed_packs()]
    return sorted({found.name for place in places if place.is_dir() for found in place.iterdir() if found.is_dir()})
