"""``wikigr replay``: whether an answer still holds, by its receipt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.render import output as render
from wikigr_cli.render import receipt as render_receipt


def replay(
    context: typer.Context,
    receipt: Annotated[Path, typer.Argument(metavar="FILE", help="What `wikigr ask --receipt FILE` wrote.")],
    pack: Annotated[str | None, options.pack_option("replay")] = None,
    json_output: options.Json = False,
) -> None:
    """Check an answer again by its receipt: what still holds, and what no longer does.

    Nothing leaves this machine, and no model is asked. Without --pack the installed pack of the receipt's name is
    taken, else WIKIGR_PACK. Exits with 1 when something no longer holds.
    """
    environment = context.ensure_object(Environment)
    source: Any = context.get_parameter_source("pack")
    given = pack if source is not None and source.name == "COMMANDLINE" else None

    from wikigr.pack.open import Pack
    from wikigr.receipts.receipt_file import read_receipts
    from wikigr.receipts.replay import find_receipts_pack, replay

    documents: list[dict[str, Any]] = []
    opened: Pack | None = None
    where = None
    try:
        receipts = read_receipts(receipt)
        read = next(receipts, None)
        while read is not None:
            wanted = find_receipts_pack(read.receipt.pack, given, pack)
            if opened is None or wanted != where:
                if opened is not None:
                    opened.close()
                opened, where = Pack(wanted.location), wanted
            following = next(receipts, None)
            checks = list(replay(read, opened))
            document = render_receipt.replay_document(read, wanted, opened, checks)
            if not json_output and following is None and not documents:
                render_receipt.replayed(environment, document)
            elif not json_output:
                render_receipt.summary(environment, document)
            documents.append(document)
            read = following
    finally:
        if opened is not None:
            opened.close()
    if json_output:
        render.json_document(environment, render_receipt.replays_document(documents))
    elif len(documents) > 1:
        render_receipt.count(environment, documents)
    if not all(document["passed"] for document in documents):
        raise typer.Exit(ExitStatus.FAILED_CHECK)
