"""What several commands print: JSON documents and lines, stages, checks, settings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wikigr_cli.environment import Environment, plain

if TYPE_CHECKING:
    from wikigr.checks import Check
    from wikigr.embeddings.models import PreparedModel
    from wikigr.retrieval.trace import Trace

SCHEMA_VERSION = 1
# YAML breaks a line after the word that reaches this column.
_YAML_WIDTH = 68

# Where it takes more than leaving out the s.
_SINGULAR = {"aliases": "alias", "entities": "entity"}


def counted(count: int, plural: str) -> str:
    """Return ``count`` with its noun: "1 link", "2 links"."""
    return f"{count:,} {_SINGULAR.get(plural, plural.removesuffix('s')) if count == 1 else plural}"


def json_document(environment: Environment, document: Mapping[str, Any]) -> None:
    environment.write_json(json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def json_line(environment: Environment, document: Mapping[str, Any]) -> None:
    environment.write_json(json.dumps(document, ensure_ascii=False) + "\n")


def trace(environment: Environment, trace: Trace) -> None:
    """Say on stderr what the stages of a question warn of and, with ``-v``, what they did."""
    if environment.verbosity > 0:
        environment.note("Stages")
        for line in stage_lines(stages(trace)):
            environment.note(line)
    for warning in trace.warnings:
        environment.note(f"wikigr: {plain(warning)}")


def stages(trace: Trace) -> list[dict[str, Any]]:
    """Return what the stages of a question did, as JSON has it."""
    return [
        {
            "stage": record.stage,
            "ms": round(record.milliseconds, 3),
            "scored": record.scored,
            "dropped": dict(record.dropped),
            "notes": dict(record.notes),
        }
        for record in trace.stages
    ]


def stage_lines(stages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each stage that ``stages`` returned."""
    for stage in stages:
        notes = ", ".join(f"{name} {_note(value)}" for name, value in stage["notes"].items())
        line = f"  {stage['stage']:<16}{stage['ms']:8.1f} ms"
        if stage["scored"]:
            line += f"  scored {stage['scored']}"
        if stage["dropped"]:
            reasons = Counter(stage["dropped"].values()).most_common()
            told = "; ".join(f"{count}: {reason}" for reason, count in reasons)
            line += f", dropped {len(stage['dropped'])} ({told})"
        yield line + (f"  {notes}" if notes else "")


def _note(value: object) -> str:
    if isinstance(value, Mapping):
        told = (
            f"{name} {', '.join(map(str, item)) if isinstance(item, list) else item}"
            for name, item in value.items()
            if item
        )
        return f"({'; '.join(told)})"
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value)) or "none"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def value(item: object) -> str:
    """Return a setting as YAML would write it."""
    return "null" if item is None else str(item).lower() if isinstance(item, bool) else plain(str(item))


def yaml_document(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print a mapping as YAML, its keys in their order."""
    import yaml

    environment.write(yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True, width=_YAML_WIDTH))


def checks_document(checks: Sequence[Check]) -> dict[str, Any]:
    """Return what ``wikigr doctor --json`` and ``wikigr pack validate --json`` print."""
    return {
        "schema_version": SCHEMA_VERSION,
        "passed": all(check.passed or not check.required for check in checks),
        "checks": [asdict(check) for check in checks],
    }


def checks_list(environment: Environment, checks: Sequence[Check]) -> None:
    """Print checks, each with its mend where it failed."""
    for check in checks:
        mark, style = ("ok", "green") if check.passed else ("FAILED", "red") if check.required else ("note", "yellow")
        environment.print(f"{mark:<7}", style=style, end="")
        environment.print(f"{check.name}: {plain(check.detail)}", hang=7)
        if not check.passed and check.mend:
            environment.print(f"       → {check.mend}", hang=9)


def settings_table(environment: Environment, rows: Sequence[Mapping[str, Any]], *, origin: bool) -> None:
    """Print the settings in force, one a line."""
    for row in rows:
        value = "" if row["value"] is None else plain(str(row["value"]))
        line = f"{row['command']} --{row['option']} = {value}"
        environment.print(f"{line:<60} {row['origin']}" if origin else line.rstrip(), hang=4)


def model_document(prepared: PreparedModel) -> dict[str, Any]:
    """Return what ``wikigr model prepare --json`` prints."""
    return {"schema_version": SCHEMA_VERSION, "folder": str(prepared.folder), **asdict(prepared.identity)}
