"""What ``wikigr replay`` prints. All of a receipt is from outside, and so is all of a pack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wikigr_cli.environment import Environment, plain
from wikigr_cli.render.output import SCHEMA_VERSION

if TYPE_CHECKING:
    from wikigr.checks import Check
    from wikigr.pack.open import Pack
    from wikigr.receipts.receipt_file import ReceiptRead
    from wikigr.receipts.replay import Whereabouts

# Longer pieces are cut where people read them; --json has them whole.
_LONGEST = 300
_MAX_QUESTION_LENGTH = 100
_FOUND = {"--pack": "--pack", "installed": "installed", "default": "WIKIGR_PACK or the settings"}


def replay_document(read: ReceiptRead, where: Whereabouts, pack: Pack, checks: Sequence[Check]) -> dict[str, Any]:
    """Return what ``wikigr replay --json`` prints of one receipt."""
    receipt, manifest = read.receipt, pack.manifest
    return {
        "line": read.line,
        "id": receipt.id,
        "question": receipt.question,
        "query_type": receipt.query_type,
        "created": receipt.created,
        "pack": {
            "path": str(pack.layout.root),
            "found": where.found,
            "name": manifest.name,
            "version": manifest.version,
            "digest": manifest.digest,
        },
        "passed": all(check.passed or not check.required for check in checks),
        "checks": [asdict(check) for check in checks],
    }


def replays_document(documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what ``wikigr replay --json`` prints: one document of all receipts, see ``replay_document``."""
    return {
        "schema_version": SCHEMA_VERSION,
        "passed": all(item["passed"] for item in documents),
        "count": len(documents),
        "held": sum(item["passed"] for item in documents),
        "receipts": documents,
    }


def replayed(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print all checks of one receipt for a person."""
    pack = document["pack"]
    environment.print(_line(document["question"]), style="bold")
    environment.print(f"{_line(document['query_type'])}, {_line(document['created'])}", style="dim")
    environment.print(f"Pack: {_line(pack['path'])} ({_FOUND[pack['found']]})", style="dim")
    for check in document["checks"]:
        mark, style = ("✓", "green") if check["passed"] else ("✗", "red") if check["required"] else ("–", "yellow")
        environment.print(mark, style=style, end=" ")
        environment.print(f"{_line(check['name'])}: {_line(check['detail'])}", hang=2)
        if check["mend"]:
            environment.print(f"  → {_line(check['mend'])}", hang=4)
    required = [check for check in document["checks"] if check["required"]]
    failed = sum(not check["passed"] for check in required)
    environment.print(
        f"{failed} of {len(required)} checks no longer hold." if failed else f"All {len(required)} checks hold.",
        style="bold",
    )


def summary(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print one line of a receipt among several: its question, and the names of what no longer holds."""
    mark, style = ("✓", "green") if document["passed"] else ("✗", "red")
    environment.print(mark, style=style, end=" ")
    id_ = document["line"] if document["id"] is None else document["id"]
    text = f"{_line(str(id_), _MAX_QUESTION_LENGTH)}: {_line(document['question'], _MAX_QUESTION_LENGTH)}"
    failed = [check["name"] for check in document["checks"] if check["required"] and not check["passed"]]
    environment.print(f"{text} — {_line(', '.join(failed))}" if failed else text, hang=2)


def count(environment: Environment, documents: Sequence[Mapping[str, Any]]) -> None:
    """Print how many of several receipts hold, and the packs that were asked."""
    held = sum(item["passed"] for item in documents)
    environment.print(f"{held} of {len(documents)} receipts hold.", style="bold")
    for path, found in dict.fromkeys((item["pack"]["path"], item["pack"]["found"]) for item in documents):
        environment.print(f"Pack: {_line(path)} ({_FOUND[found]})", style="dim")


def _line(text: str, longest: int = _LONGEST) -> str:
    """Return ``text`` as one line without anything that could drive a terminal, cut where it is long."""
    # As many again: cutting before the spaces are joined keeps a megabyte from being worked through.
    short = " ".join(plain(text[: 4 * longest]).split())
    return short if len(short) <= longest and len(text) <= 4 * longest else f"{short[:longest]}…"
