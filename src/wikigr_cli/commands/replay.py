"""``wikigr replay``: check whether an answer still holds, using its receipt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.render.output import print_json
from wikigr_cli.render.receipt import print_count, print_replay, print_summary, replay_document, replays_document


def replay(
    context: typer.Context,
    receipt: Annotated[Path, typer.Argument(metavar="FILE", help="A file written by `wikigr ask --receipt FILE`.")],
    pack: options.PackName = None,
    json_output: options.Json = False,
) -> None:
    """Check whether an answer still holds, using its receipt.

    Nothing leaves this machine and no model is called. Without --pack, the installed pack with the name in the receipt
    is used, else the default pack. Exits with 1 if a check fails.

    \b
    Examples:
      wikigr replay answer.json --pack packs/physics
      wikigr replay answer.json --pack packs/physics --json
    """
    environment = context.ensure_object(Environment)
    source: Any = context.get_parameter_source("pack")
    given = pack if source is not None and source.name == "COMMANDLINE" else None

    from wikigr.documents.receipt_file import PARTIAL, read_receipts
    from wikigr.documents.replay import find_receipts_pack, replay
    from wikigr.pack.open import Pack

    if receipt.suffix == PARTIAL:
        environment.note(
            f"{receipt} is from a batch that was interrupted or is still running. Its other questions have no receipt."
        )
    documents: list[dict[str, Any]] = []
    opened: Pack | None = None
    location = None
    try:
        receipts = read_receipts(receipt)
        current = next(receipts, None)
        while current is not None:
            wanted = find_receipts_pack(current.receipt.pack, given, pack)
            if opened is None or wanted != location:
                if opened is not None:
                    opened.close()
                opened, location = Pack(wanted.location), wanted
            following = next(receipts, None)
            checks = list(replay(current, opened))
            document = replay_document(current, wanted, opened, checks)
            if not json_output:
                is_only = following is None and not documents
                (print_replay if is_only else print_summary)(environment, document)
            documents.append(document)
            current = following
    finally:
        if opened is not None:
            opened.close()
    if json_output:
        print_json(environment, replays_document(documents))
    elif len(documents) > 1:
        print_count(environment, documents)
    if not all(document["passed"] for document in documents):
        raise typer.Exit(ExitStatus.FAILED_CHECK)
