"""``wikigr pack info``, ``list`` and ``use``: describe packs, and choose the default pack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr.documents.pack import listed_document
from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.command import Result, command
from wikigr_cli.environment import Environment
from wikigr_cli.options import PACK_ARGUMENT, Argument, Run
from wikigr_cli.render.output import Document, age_text, align, counted, one_line
from wikigr_cli.render.terminal import cells, cut

if TYPE_CHECKING:
    from wikigr_cli.default_pack import DefaultPack


def _print_manifest(environment: Environment, document: Document) -> None:
    from wikigr.pack.manifest import NO_BLOCKS

    environment.print(f"{document['name']} {document['version']}", style="bold")
    encoder, source, extraction = document["encoder"], document["source"], document["extraction"]
    sha256 = f"SHA-256 {source['sha256']}" if "sha256" in source else ""
    failed = f", {extraction['failed']} failed" if extraction.get("failed") else ""
    rows = {
        "path": document["path"],
        "description": document["description"],
        "license": document["license"],
        "attribution": document["attribution"],
        "source": f"{source['name']} ({source['format']})",
        # Of a pack that was made from a recipe.
        "origin": ", ".join(filter(None, (source.get("url"), sha256))),
        "created": document["created"],
        "language": document["language"],
        "holds": ", ".join(counted(count, name) for name, count in document["counts"].items() if count),
        "encoder": f"{encoder['model_id']}, {encoder['dimension']} dimensions, weights {encoder['weights_sha256'][:12]}"
        + (" (bundled)" if document["bundled_encoder"] else ""),
        "readers": ", ".join(document["readers"]) or "none on this machine",
        "engine": f"{document['engine']} {document['engine_version']} (storage {document['storage_version']})",
        "vectors": "quantized"
        if any(name.startswith("vectors/") for name in document["files"])
        else "index"
        if document["vector_index"]
        else "exact scan",
        "anchors": ""
        if document["anchors"]
        else "none, so citations open at the top of the page; build again to add them",
        "blocks": "" if document["format_version"] > 1 else f"{NO_BLOCKS}; build again to add them",
        "extraction": extraction
        and f"{extraction.get('model')}, {counted(extraction.get('sections', 0), 'sections')} read{failed}",
        "digest": document["digest"],
        "made by": f"wikigr {document['wikigr_version']}",
    }
    for label, value in rows.items():
        if value:
            environment.print(f"  {label:<12} {value}", hang=15)


_HEADER = ("name", "articles", "size", "built", "encoder", "path")
# The columns of numbers, and those that a narrow terminal does not show, the first one first.
_RIGHT = (1, 2)
_OPTIONAL = (4, 3, 2, 1)


def _default_fields(default: DefaultPack) -> dict[str, Any]:
    path = default.path()
    return {"pack": default.pack, "origin": default.origin, "path": str(path) if path is not None else None}


def _print_list(environment: Environment, document: Document, *, folders: Sequence[Path]) -> None:
    """Print the packs, one per line, and after them those that cannot be used, each with the reason."""
    if document["packs"]:
        _print_table(environment, document["packs"])
    for pack in document["unusable"]:
        environment.print(f"{one_line(pack['given_as'], 4096)}  ", style="yellow", end="")
        environment.print(f"cannot be used: {one_line(pack['problem'], 4096)}", hang=2)
    if not document["packs"] and not document["unusable"]:
        environment.note(f"No packs in {' or '.join(map(str, folders))}.")
    defaults = document["defaults"]
    for default in defaults:
        if default["path"] is None:
            environment.note(f"The default pack {default['pack']!r} does not exist ({default['origin']}).")
    existing = [default for default in defaults if default["path"] is not None]
    if any(pack["default"] for pack in document["packs"]):
        what = "a default pack" if existing[1:] else "the default pack"
        environment.note(f"* {what}, from {existing[0]['origin']}")
        return
    for default in existing:
        environment.note(f"The default pack is {default['path']}, from {default['origin']}.")


def _print_table(environment: Environment, packs: Sequence[Document]) -> None:
    """Print the packs below a header, a default one with an asterisk in front.

    In a narrow terminal, the columns that matter least are left out, and 10 characters of the path stay.
    """
    from rich.filesize import decimal

    now, rows = datetime.now(UTC), []
    for pack in packs:
        used, own, encoder = pack["given_as"], pack["name"], pack["encoder"]["model_id"].rpartition("/")[2]
        name = used if Path(used).name in (own, "") else f"{used} ({own})"
        numbers = (f"{pack['counts']['articles']:,}", decimal(pack["size"]), age_text(pack["created"], now))
        # The system allows no longer paths.
        rows.append([one_line(text, 4096) for text in (name, *numbers, encoder, pack["path"])])
    marks = ["  ", *("* " if pack["default"] else "  " for pack in packs)] if any(p["default"] for p in packs) else []
    width, columns = environment.width(environment.stdout), list(range(len(_HEADER) - 1))
    for optional in (*_OPTIONAL, None):
        lines = align([[row[column] for column in columns] for row in (_HEADER, *rows)], _RIGHT)
        if width is None or cells(lines[0]) + 4 + 10 <= width or optional is None:
            break
        columns.remove(optional)
    for number, (line, row) in enumerate(zip(lines, (_HEADER, *rows), strict=True)):
        line = f"{marks[number] if marks else ''}{line}  "
        # Cut the beginning of the path: the end matters more.
        path = row[-1] if width is None else cut(row[-1], max(width - cells(line), 10), front=True)
        environment.print(line + path, style="" if number else "bold", overflow="keep")


def _print_default(environment: Environment, document: Document) -> None:
    if document["pack"] is None:
        environment.print("There is no default pack.")
        environment.note("Choose one: wikigr pack use NAME")
        return
    several = len(document["defaults"]) > 1
    for default in document["defaults"]:
        environment.print(default["pack"], style="bold", end="")
        environment.print(f" is {'a' if several else 'the'} default pack.")
        if default["path"] != default["pack"]:
            environment.print(f"  {'path':<7} {default['path'] or 'there is no such pack'}", overflow="keep")
    environment.print(f"  {'set in':<7} {document['origin']}", overflow="keep")


@command(_print_manifest, pack=PACK_ARGUMENT)
def info(pack: str) -> Document:
    """Describe a pack from its manifest.

    Examples:
      wikigr pack info packs/physics
      wikigr pack info packs/physics --json
    """
    from wikigr.pack.layout import MANIFEST
    from wikigr.pack.locate import find_pack
    from wikigr.pack.manifest import read_manifest
    from wikigr.pack.models import encoder_source
    from wikigr.reader.base import ready_readers

    layout = find_pack(pack)
    manifest = read_manifest(layout.part(MANIFEST))
    readers = ready_readers(encoder_source(layout, manifest), is_bundled=manifest.bundled_encoder)
    return {"path": str(layout.root), **asdict(manifest), "readers": list(readers)}


@command(
    folder=Argument(
        help="The folder to list. Default: the installed packs, the project's packs folder and this folder."
    ),
)
def list_packs(environment: Environment, folder: Path | None = None) -> Result:
    """List packs with the names that --pack accepts. A pack that cannot be used is listed with the reason.

    A name refers to a pack in this folder first, then to an installed pack, then to a pack in the folder packs of the
    project. An asterisk marks the default pack. If a pack has another name of its own, that is in parentheses.

    Examples:
      wikigr pack list
      wikigr pack list packs --json
    """
    from wikigr.pack import locate
    from wikigr.pack.layout import installed_packs
    from wikigr.pack.locate import PACKS, project_packs
    from wikigr_cli.default_pack import applying_packs

    if folder is not None and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder.")
    folders = [folder] if folder else [installed_packs(), project_packs() or Path(PACKS)]
    packs, applying = locate.list_packs(folder), applying_packs(environment.variables)
    paths = {path.resolve() for default in applying if (path := default.path()) is not None}
    defaults = [_default_fields(default) for default in applying]
    document = {
        "packs": [
            listed_document(pack, pack.manifest, default=pack.path.resolve() in paths)
            for pack in packs
            if pack.manifest is not None and not pack.problem
        ],
        "unusable": [
            {"given_as": pack.given_as, "path": str(pack.path), "problem": pack.problem}
            for pack in packs
            if pack.problem
        ],
        "default": defaults[0] if defaults else None,
        "defaults": defaults,
    }
    return document, partial(_print_list, folders=folders)


@command(
    pack=Argument(
        metavar="PACK",
        help="A name from `wikigr pack list`, or a folder. Without it, the default pack is shown.",
        autocompletion=options.complete_packs,
    ),
    unset=Run(help="Remove the setting."),
)
def use(environment: Environment, pack: str | None = None, unset: bool = False) -> Result:
    """Set or show the default pack of every command.

    It is the line `pack: NAME` of your settings file. The option --pack and its environment variables precede it.

    Examples:
      wikigr pack use physics
      wikigr pack use --json
    """
    from wikigr.pack.layout import MANIFEST
    from wikigr.pack.locate import find_pack
    from wikigr.pack.manifest import read_manifest
    from wikigr_cli.default_pack import applying_packs, portable_name, unset_default, write_default
    from wikigr_cli.settings import user_file

    if unset and pack is not None:
        raise UsageError("--unset takes no pack.", hint="wikigr pack use --unset")
    file = user_file()
    changed = False
    if pack is not None:
        layout = find_pack(pack)
        options.note_other_packs(environment, pack)
        read_manifest(layout.part(MANIFEST))
        write_default(portable_name(layout))
        changed = True
    elif unset:
        changed = unset_default()
        environment.note(f"Removed from {file}." if changed else f"{file} sets no default pack.")
    defaults = applying_packs(environment.variables)
    if defaults and (pack is not None or unset) and defaults[0].file is None:
        environment.note(
            f"{defaults[0].origin} precedes {file}." if pack is not None else "Another setting applies now."
        )
    fields = [_default_fields(default) for default in defaults]
    first = fields[0] if fields else {"pack": None, "origin": None, "path": None}
    return {**first, "defaults": fields, "changed": changed}, _print_default
