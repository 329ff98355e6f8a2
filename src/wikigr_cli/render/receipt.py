"""What ``wikigr replay`` prints. The texts of a receipt and of a pack are untrusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wikigr.documents.pack import pack_document
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import Document, all_passed, one_line

if TYPE_CHECKING:
    from wikigr.checks import Check
    from wikigr.documents.receipt import ReceiptRead
    from wikigr.documents.replay import Found
    from wikigr.pack.open import Pack

# How the pack of a receipt was found.
_FOUND = {"--pack": "--pack", "installed": "installed", "default": "WIKIGR_PACK or the settings"}


def replay_document(read: ReceiptRead, found: Found, pack: Pack, checks: Sequence[Check]) -> dict[str, Any]:
    """Return what ``wikigr replay --json`` prints for one receipt."""
    receipt = read.document
    return {
        "line": read.line,
        "id": receipt.get("id"),
        "question": receipt["question"],
        "query_type": receipt["query_type"],
        "created": receipt["receipt"]["created"],
        "pack": {"path": str(pack.layout.root), "found": found, **pack_document(pack.manifest)},
        "passed": all_passed(checks),
        "checks": [asdict(check) for check in checks],
    }


def replays_document(documents: Sequence[Document]) -> dict[str, Any]:
    """Return what ``wikigr replay --json`` prints: one document with the ``replay_document`` of every receipt."""
    return {
        "passed": all(item["passed"] for item in documents),
        "count": len(documents),
        "held": sum(item["passed"] for item in documents),
        "receipts": documents,
    }


def print_replays(environment: Environment, document: Document) -> None:
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
