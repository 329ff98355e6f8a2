"""What the commands print that list, choose, remove and distribute packs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr.documents.pack import listed_document, unusable_document
from wikigr.text import harmless, some_of
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import Document, checks_document, counted, one_line
from wikigr_cli.render.terminal import cells, cut

if TYPE_CHECKING:
    from wikigr.distribution.archive import ExportedArchive
    from wikigr.distribution.install import Installed
    from wikigr.distribution.verify import Verification
    from wikigr.pack.listing import ListedPack
    from wikigr.pack.remove import RemovalPlan
    from wikigr_cli.default_pack import DefaultPack

_HEADER = ("name", "articles", "size", "built", "encoder", "path")
# The columns of numbers, and those that a narrow terminal does not show, the first one first.
_RIGHT = (1, 2)
_OPTIONAL = (4, 3, 2, 1)


def list_document(packs: Sequence[ListedPack], defaults: Sequence[DefaultPack]) -> dict[str, Any]:
    """Return what ``wikigr pack list --json`` prints."""
    folders = {path.resolve() for default in defaults if (path := default.path()) is not None}
    rows = [
        listed_document(pack, pack.manifest, default=pack.path.resolve() in folders)
        for pack in packs
        if pack.manifest is not None and not pack.problem
    ]
    unusable = [unusable_document(pack) for pack in packs if pack.problem]
    return {
        "packs": rows,
        "unusable": unusable,
        "default": _default_fields(defaults[0]) if defaults else None,
        "defaults": [_default_fields(default) for default in defaults],
    }


def _default_fields(default: DefaultPack) -> dict[str, Any]:
    path = default.path()
    return {"pack": default.pack, "origin": default.origin, "path": str(path) if path is not None else None}


def print_list(environment: Environment, document: Document, *, folders: Sequence[Path]) -> None:
    """Print the packs, one per line, and after them those that cannot be used, each with the reason."""
    rows = [_row(pack, datetime.now(UTC)) for pack in document["packs"]]
    if rows:
        marks = [pack["default"] for pack in document["packs"]]
        _print_table(environment, rows, marks if any(marks) else None)
    for pack in document["unusable"]:
        environment.print(f"{_shown(pack['given_as'])}  ", style="yellow", end="")
        environment.print(f"cannot be used: {_shown(pack['problem'])}", hang=2)
    if not rows and not document["unusable"]:
        environment.note(f"No packs in {' or '.join(map(str, folders))}.")
    defaults = document["defaults"]
    for default in defaults:
        if default["path"] is None:
            environment.note(f"The default pack {default['pack']!r} does not exist ({_shown(default['origin'])}).")
    existing = [default for default in defaults if default["path"] is not None]
    if any(pack["default"] for pack in document["packs"]):
        what = "a default pack" if existing[1:] else "the default pack"
        environment.note(f"* {what}, from {_shown(existing[0]['origin'])}")
        return
    for default in existing:
        environment.note(f"The default pack is {_shown(default['path'])}, from {_shown(default['origin'])}.")


def _row(pack: Document, now: datetime) -> tuple[str, ...]:
    from rich.filesize import decimal

    used, own = pack["given_as"], pack["name"]
    return (
        _shown(used if Path(used).name in (own, "") else f"{used} ({own})"),
        f"{pack['counts']['articles']:,}",
        decimal(pack["size"]),
        harmless(age_text(pack["created"], now)),
        harmless(pack["encoder"]["model_id"].rpartition("/")[2]),
        _shown(pack["path"]),
    )


def _shown(text: object) -> str:
    """Return a name or a path on one line: it may contain line breaks, tabs and control characters."""
    return one_line(str(text), 4096)  # the system allows no longer paths


def _print_table(environment: Environment, rows: Sequence[tuple[str, ...]], marks: Sequence[bool] | None) -> None:
    """Print the rows below a header, those with a mark with an asterisk in front.

    In a narrow terminal, the columns that matter least are left out, and 10 characters of the path stay.
    """
    table = [_HEADER, *rows]
    widths = [max(cells(row[column]) for row in table) for column in range(len(_HEADER) - 1)]
    width = environment.width(environment.stdout)
    shown = list(range(len(widths)))
    for column in _OPTIONAL:
        if width is not None and sum(widths[kept] + 2 for kept in shown) + 2 + 10 > width:
            shown.remove(column)
    for number, row in enumerate(table):
        mark = "" if marks is None else "* " if number and marks[number - 1] else "  "
        fields = [_pad(row[column], widths[column], right=column in _RIGHT) for column in shown]
        line = mark + "".join(f"{field}  " for field in fields)
        # Cut the beginning of the path: the end matters more.
        path = row[-1] if width is None else cut(row[-1], max(width - cells(line), 10), front=True)
        environment.print(line + path, style="" if number else "bold", overflow="keep")


def _pad(text: str, width: int, *, right: bool = False) -> str:
    blanks = " " * (width - cells(text))
    return blanks + text if right else text + blanks


def age_text(created: str, now: datetime) -> str:
    """Return how long ago ``created`` (ISO 8601) was, and its date if that is long ago, in the future or malformed."""
    try:
        seconds = (now - datetime.fromisoformat(created)).total_seconds()
    except (ValueError, TypeError):
        seconds = -1.0
    # The largest age in a unit, the seconds of the unit, and its name.
    for limit, length, name in ((60, 1, "s"), (60, 60, "min"), (24, 3600, "h"), (60, 86400, "days")):
        if 0 <= seconds < limit * length:
            count = int(seconds // length)
            return f"{counted(count, name) if name == 'days' else f'{count} {name}'} ago"
    return created[:10]


def default_document(defaults: Sequence[DefaultPack], *, changed: bool) -> dict[str, Any]:
    """Return what ``wikigr pack use --json`` prints."""
    fields = [_default_fields(default) for default in defaults]
    first = fields[0] if fields else {"pack": None, "origin": None, "path": None}
    return {**first, "defaults": fields, "changed": changed}


def print_default(environment: Environment, document: Document) -> None:
    """Print the default pack, where it is and where that is set."""
    if document["pack"] is None:
        environment.print("There is no default pack.")
        environment.note("Choose one: wikigr pack use NAME")
        return
    several = len(document["defaults"]) > 1
    for default in document["defaults"]:
        environment.print(harmless(default["pack"]), style="bold", end="")
        environment.print(f" is {'a' if several else 'the'} default pack.")
        if default["path"] != default["pack"]:
            environment.print(f"  {'path':<7} {harmless(default['path'] or 'there is no such pack')}", overflow="keep")
    environment.print(f"  {'set in':<7} {harmless(document['origin'])}", overflow="keep")


def describe_removal(pack: str, plan: RemovalPlan) -> list[str]:
    """Return the lines that say what the removal of a pack's folder would delete and keep."""
    from rich.filesize import decimal

    folder = plan.layout.root
    lines = [f"The pack {_shown(pack)} in {_shown(folder)}: {counted(len(plan.files), 'files')}, {decimal(plan.size)}."]
    return [*lines, kept_note(folder, plan.kept, "kept")] if plan.kept else lines


def kept_note(folder: Path, kept: Sequence[str], verb: str) -> str:
    """Return the note about the files in a pack's folder that do not belong to the pack."""
    named = some_of(list(map(_shown, kept)), 8)
    return f"Not part of the pack, so {verb} in {_shown(folder)}: {named}"


def print_removed(environment: Environment, document: Document) -> None:
    """Print the name of a removed pack, where it was, and what is left in its folder."""
    environment.print(f"{_shown(document['removed'])} was removed.")
    if document["kept"]:
        environment.note(kept_note(Path(document["path"]), document["kept"], "still"))


def export_document(exported: ExportedArchive) -> dict[str, Any]:
    """Return what ``wikigr pack export --json`` prints."""
    manifest = exported.manifest
    return {
        "file": str(exported.file),
        "size": exported.size,
        "sha256": exported.sha256,
        "name": manifest.name,
        "version": manifest.version,
        "digest": manifest.digest,
        "files": len(manifest.files),
        "signer": exported.signer.fingerprint if exported.signer else None,
    }


def print_export(environment: Environment, document: Document) -> None:
    """Print an exported archive with what a recipient can verify."""
    environment.print(f"{document['file']}: {document['name']} {document['version']}")
    for label, text in (
        ("size", f"{document['size']:,} bytes, {document['files']} files"),
        ("sha256", document["sha256"]),
        ("digest", document["digest"]),
        ("signer", document["signer"] or "nobody"),
    ):
        environment.print(f"  {label:<7} {text}")


def verify_document(verified: Verification) -> dict[str, Any]:
    """Return what ``wikigr pack verify --json`` prints: the checks, and the pack that they describe."""
    return {
        **checks_document(verified.checks),
        **{name: getattr(verified.manifest, name, None) for name in ("name", "version", "digest")},
        "size": verified.size,
        "sha256": verified.sha256,
        "signer": verified.signer.fingerprint if verified.signer else None,
    }


def installed_document(installed: Installed) -> dict[str, Any]:
    """Return what ``wikigr pack install --json`` prints."""
    fields = {key: value for key, value in asdict(installed).items() if key != "folder"}
    return {**fields, "path": str(installed.folder)}


def print_installed(environment: Environment, document: Document) -> None:
    """Print an installed pack with its source, signer and digest."""
    label = f"{document['name']} {document['version']}"
    if not document["changed"]:
        environment.print(f"{label} is already installed.")
        return
    replaced = f" and replaced {document['before']}" if document["before"] else ""
    environment.print(f"{label} was installed{replaced}.", style="bold")
    signer = document["signer"] or "nobody"
    for key, value in {"from": document["source"], "signed by": signer, "digest": document["digest"]}.items():
        environment.print(f"  {key:<10} {value}")


def print_pins(environment: Environment, installed: Installed) -> None:
    """Print on stderr how to pin the source of a pack that was installed without --sha256 and --trust."""
    environment.note("The source of this pack was not verified. To require the same one the next time:")
    if installed.sha256 is not None:
        environment.note(f"  --sha256 {installed.sha256}")
    environment.note(
        f"  --trust KEY, where KEY has the fingerprint {installed.signer}"
        if installed.signer
        else "  --trust cannot be used: the pack is not signed"
    )
