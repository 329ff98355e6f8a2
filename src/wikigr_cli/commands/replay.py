"""``wikigr replay``: check whether an answer still holds, using its receipt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import typer

from wikigr.documents.pack import pack_document
from wikigr_cli.command import command
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.options import Argument
from wikigr_cli.render.output import Document, checks_document, one_line

# How the pack of a receipt was found.
_FOUND = {"--pack": "--pack", "installed": "installed", "default": "WIKIGR_PACK or the settings"}


def _print_replays(environment: Environment, document: Document) -> None:
    """Print all checks of the only receipt, or a line for each of several: its question and its failed checks."""
    documents = document["receipts"]
    if len(documents) == 1:
        _print_checks(environment, documents[0])
        return
    for item in documents:
        mark, style = ("✓", "green") if item["passed"] else ("✗", "red")
        environment.print(mark, style=style, end=" ")
        id_ = item["line"] if item["id"] is None else item["id"]
        failed = [check["name"] for check in item["checks"] if check["required"] and not check["passed"]]
        text = f"{one_line(str(id_), 100)}: {one_line(item['question'], 100)}"
        environment.print(f"{text} — {_line(', '.join(failed))}" if failed else text, hang=2)
    environment.print(f"{document['held']} of {len(documents)} receipts hold.", style="bold")
    for path, found in dict.fromkeys((item["pack"]["path"], item["pack"]["found"]) for item in documents):
        environment.print(f"Pack: {_line(path)} ({_FOUND[found]})", style="dim")


def _print_checks(environment: Environment, document: Document) -> None:
    pack = document["pack"]
    environment.print(_line(document["question"]), style="bold")
    environment.print(f"{_line(document['query_type'])}, {_line(document['created'])}", style="dim")
    environment.print(f"Pack: {_line(pack['path'])} ({_FOUND[pack['found']]})", style="dim")
    for check in document["checks"]:
        mark, style = ("✓", "green") if check["passed"] else ("✗", "red") if check["required"] else ("–", "yellow")
        environment.print(mark, style=style, end=" ")
        environment.print(f"{_line(check['name'])}: {_line(check['detail'])}", hang=2)
        if check["fix"]:
            environment.print(f"  → {_line(check['fix'])}", hang=4)
    required = [check for check in document["checks"] if check["required"]]
    failed = sum(not check["passed"] for check in required)
    environment.print(
        f"{failed} of {len(required)} checks failed." if failed else f"All {len(required)} checks passed.", style="bold"
    )


def _line(text: str) -> str:
    # --json has longer texts whole.
    return one_line(text, 300)


@command(_print_replays, receipt=Argument(metavar="FILE", help="A file written by `wikigr ask --receipt FILE`."))
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
            document, recorded = read.document, read.document["pack"]
            where = find_receipts_pack(recorded["name"] if recorded else "", given, pack)
            if where not in opened:
                opened[where] = stack.enter_context(Pack(where[0]))
            used = opened[where]
            described = {"path": str(used.layout.root), "found": where[1], **pack_document(used.manifest)}
            asked = {key: document[key] for key in ("question", "query_type")}  # type: ignore[literal-required]
            created = document["receipt"]["created"]
            known = {"line": read.line, "id": document.get("id"), **asked, "created": created, "pack": described}
            documents.append({**known, **checks_document(list(replay(read, used)))})
    held = sum(document["passed"] for document in documents)
    yield {"passed": held == len(documents), "count": len(documents), "held": held, "receipts": documents}
    if held < len(documents):
        raise typer.Exit(ExitStatus.FAILED_CHECK)
