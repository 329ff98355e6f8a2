"""What ``wikigr pack diff`` and ``wikigr pack update`` print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr_cli.environment import Environment
from wikigr_cli.render.output import SCHEMA_VERSION, Document, one_line
from wikigr_cli.render.pack import build_document, print_build

if TYPE_CHECKING:
    from wikigr.ingest.update import UpdateReport
    from wikigr.pack.diff import PackDiff

# Without --all, this many changes of each kind are printed.
_MAX_CHANGES = 10
# Longer names and answers are cut; the JSON has them whole.
_MAX_LENGTH = 48
_DIRECTIONS = ("added", "removed")
_RENAME_REASONS = {"content": "same text", "alias": "by an alias", "sections": "by its sections"}
_QUESTION_CHANGES = {
    "article-removed": "the article was removed",
    "article-renamed": "the article was renamed",
    "section-gone": "the section is gone",
    "passage-gone": "the passage is gone",
    "answer-gone": "the answer is gone",
    "answer-moved": "the answer moved",
    "text-changed": "the text changed and still holds the answer",
    "now-answered": "was unanswerable and is answered now",
}


def diff_document(found: PackDiff) -> dict[str, Any]:
    """Return what ``wikigr pack diff --json`` prints."""
    document = asdict(found)
    file = document.pop("questions_file")
    return {
        "schema_version": SCHEMA_VERSION,
        "differs": found.differs,
        **document,
        "questions_file": None if file is None else str(file),
        "suggestion": {**document["suggestion"], "level": found.suggestion.level.name.lower()},
    }


def print_diff(environment: Environment, document: Document, *, everything: bool) -> None:
    """Print a difference: all changes with ``everything``, else the first of each kind."""
    _DiffPrinter(environment, None if everything else _MAX_CHANGES).print(document)


def update_document(report: UpdateReport, folder: Path, *, dry_run: bool) -> dict[str, Any]:
    """Return what ``wikigr pack update --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "pack": str(folder),
        "updated": report.build is not None,
        "dry_run": dry_run,
        "version": report.diff.b.version,
        "digest": report.diff.b.digest,
        "diff": diff_document(report.diff),
        "build": None if report.build is None else build_document(report.build, folder),
    }


def print_update(environment: Environment, document: Document, *, everything: bool) -> None:
    """Print what an update did, or would do."""
    from wikigr.pack.layout import readable_path

    found, pack = document["diff"], readable_path(Path(document["pack"]))
    if not found["differs"]:
        environment.print(f"{pack}: nothing changed and nothing was written.")
        return
    print_diff(environment, found, everything=everything)
    environment.print()
    if document["build"] is None:
        environment.note("Nothing was written (--dry-run).")
        return
    print_build(environment, document["build"])
    environment.print(f"{pack} is now version {document['version']}.", style="bold")


class _DiffPrinter:
    """Prints the parts of a difference, at most ``limit`` of each kind, or all if it is ``None``."""

    def __init__(self, environment: Environment, limit: int | None) -> None:
        self._environment = environment
        self._limit = limit

    def print(self, document: Document) -> None:
        a, b, content = document["a"], document["b"], document["content"]
        self._print_packs(a, b)
        self._print_kind("articles added", [f"+ {title}" for title in content["added"]])
        self._print_kind("articles removed", [_removed_text(article) for article in content["removed"]])
        self._print_kind("articles renamed", [_renamed_text(change) for change in content["renamed"]])
        self._print_kind("articles changed", [_changed_text(change) for change in content["changed"]])
        self._print_kind(
            "sections moved to another article", [f"{move['before']} → {move['after']}" for move in content["moved"]]
        )
        for kind in ("links", "mentions"):
            self._print_both(
                kind, *([f"{source} → {target}" for source, target in content[kind][w]] for w in _DIRECTIONS)
            )
        self._print_both("triples", *([_triple_text(triple) for triple in content["triples"][w]] for w in _DIRECTIONS))
        self._print_kind(
            "manifest and files",
            [f"{c['name']}: {_short(c['before'])} → {_short(c['after'])}" for c in document["manifest"]],
        )
        self._print_kind("gold questions moved", [_question_text(move) for move in document["questions"]])
        for note in document["notes"]:
            self._environment.note(note)
        self._print_suggestion(document)

    def _print_packs(self, a: Document, b: Document) -> None:
        before, after = (f"{side['name']} {side['version']}" for side in (a, b))
        self._environment.print(f"{before} → {after}", style="bold")
        same = "the same" if a["digest"] == b["digest"] else f"{a['digest'][:12]} → {b['digest'][:12]}"
        self._environment.print(
            f"articles {a['articles']:,} → {b['articles']:,}, sections {a['sections']:,} → {b['sections']:,}, "
            f"digest {same}",
            style="dim",
        )

    def _print_kind(self, name: str, lines: Sequence[str]) -> None:
        if not lines:
            return
        self._environment.print(f"{name}: {len(lines):,}", style="bold")
        self._print_lines(lines)

    def _print_both(self, name: str, added: Sequence[str], removed: Sequence[str]) -> None:
        if not added and not removed:
            return
        self._environment.print(f"{name}: {len(added):,} added, {len(removed):,} removed", style="bold")
        self._print_lines([f"+ {line}" for line in added])
        self._print_lines([f"- {line}" for line in removed])

    def _print_lines(self, lines: Sequence[str]) -> None:
        for line in lines[: self._limit]:
            self._environment.print(f"  {line}", hang=4)
        if self._limit is not None and len(lines) > self._limit:
            self._environment.print(f"  … and {len(lines) - self._limit:,} more (--all)", style="dim")

    def _print_suggestion(self, document: Document) -> None:
        found = document["suggestion"]
        if not document["differs"]:
            self._environment.print("The content is the same.")
            return
        reasons = "; ".join(found["reasons"])
        text = (
            f"Next version: {found['version']} ({found['level']}: {reasons})"
            if found["version"] is not None
            else f"{document['a']['version']} is not a semantic version. The change is {found['level']}: {reasons}"
        )
        self._environment.print(text, hang=2)
        if found["stated_is_lower"]:
            from wikigr.pack.manifest import parse_version

            stated = document["b"]["version"]
            problem = "lower" if parse_version(stated) else "not a semantic version"
            self._environment.print(f"The stated version, {stated}, is {problem}.", style="yellow")


def _removed_text(article: Document) -> str:
    now = f"  (now an alias of {_short(article['now'])})" if article["now"] is not None else ""
    return f"- {article['title']}{now}"


def _renamed_text(change: Document) -> str:
    return f"{change['before']} → {change['after']}  ({_RENAME_REASONS[change['told_by']]})"


def _changed_text(change: Document) -> str:
    sections = [f"{len(change[kind])} {kind}" for kind in ("added", "removed", "changed", "moved") if change[kind]]
    parts = [f"sections: {', '.join(sections)}"] if sections else []
    if change["words_added"] or change["words_removed"]:
        parts.append(f"words: +{change['words_added']:,} -{change['words_removed']:,}")
    aliases = [f"+{_short(name)}" for name in change["aliases_added"]]
    aliases += [f"-{_short(name)}" for name in change["aliases_removed"]]
    if aliases:
        parts.append(f"aliases: {', '.join(aliases)}")
    if change["details"]:
        parts.append(f"other {', '.join(change['details'])}")
    return f"{change['title']}  ({'; '.join(parts) or 'order of sections'})"


def _triple_text(triple: Document) -> str:
    parts = " | ".join(_short(triple[part]) for part in ("subject", "relation", "object"))
    return f"{parts}  (in {_short(triple['article'])})"


def _question_text(move: Document) -> str:
    before, after = _short(move["before"]), _short(move["after"])
    detail = f"; {after}" if move["kind"] == "text-changed" else f": {before} → {after}"
    return f"{move['question_id']}  {_short(move['title'])}: {_QUESTION_CHANGES[move['kind']]}{detail}"


def _short(value: object) -> str:
    return "none" if value is None else one_line(str(value), _MAX_LENGTH)
