"""Write the generated pages to a folder, ``docs/`` by default: ``python docs/generate [FOLDER]``."""

from __future__ import annotations

import sys
from pathlib import Path

from command_tree import commands
from commands_page import commands_page
from environment_page import environment_page
from formats_page import formats_page
from man_page import man_page
from options_page import options_page
from profiles_page import profiles_page


def write_pages(folder: Path) -> None:
    """Write every generated page below ``folder``. The same sources give the same bytes."""
    tree = list(commands())
    pages = {
        "reference/commands.md": commands_page(tree),
        "reference/environment.md": environment_page(tree),
        "reference/formats.md": formats_page(),
        "reference/options.md": options_page(tree),
        "reference/profiles.md": profiles_page(),
        "wikigr.1": man_page(tree),
    }
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


write_pages(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1])
