"""Options for the source of a pack; in a separate module, because questions do not need the formats."""

from __future__ import annotations

from typing import Annotated

from wikigr.sources.formats import FORMAT_NAMES, FORMATS
from wikigr_cli.options import Input

SOURCE_HELP = f"What to read: {'; '.join(row.description for row in FORMATS)}."

SourceFormat = Annotated[
    str | None,
    Input(
        "--source-format", metavar="NAME", help=f"The source's format: {', '.join(FORMAT_NAMES)}. Default: detected."
    ),
]
