"""``wikigr replay``: check whether an answer still holds, using its receipt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import typer

from wikigr_cli.command import command
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.options import Argument
from wikigr_cli.render.output import Document
from wikigr_cli.render.receipt import print_replays, replay_document, replays_document


@command(print_replays, receipt=Argument(metavar="FILE", help="A file written by `wikigr ask --receipt FILE`."))
def replay(context: typer.Context, receipt: Path, pack: str | None = None) -> Iterator[Document]:
    """Check whether an answer still holds, using its receipt.

    Nothing leaves this machine and no model is called. Without --pack, the installed pack with the name in the receipt
    is used, else the default pack. Exits with 1 if a check fails.

    Examples:
      wikigr replay answer.json --pack packs/physics
      wikigr replay answer.json --pack packs/physics --json
    """
    source: Any = context.get_parameter_source("pack")
    given = pack if source is not None and source.name == "COMMANDLINE" else None

    from wikigr.documents.receipt import read_receipts
    from wikigr.documents.replay import Found, find_receipts_pack, replay
    from wikigr.pack.open import Pack

    documents: list[dict[str, Any]] = []
    opened: dict[tuple[str | Path, Found], Pack] = {}
    with ExitStack() as stack:
        for read in read_receipts(receipt):
            recorded = read.document["pack"]
            where = find_receipts_pack(recorded["name"] if recorded else "", given, pack)
            if where not in opened:
                opened[where] = stack.enter_context(Pack(where[0]))
            documents.append(replay_document(read, where[1], opened[where], list(replay(read, opened[where]))))
    yield replays_document(documents)
    if not all(document["passed"] for document in documents):
        raise typer.Exit(ExitStatus.FAILED_CHECK)
