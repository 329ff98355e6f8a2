"""What ``wikigr pack diff`` and ``wikigr pack update`` print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr_cli.environment import Environment, plain
from wikigr_cli.render import output as render
from wikigr_cli.render import pack as render_pack

if TYPE_CHECKING:
    from wikigr.changes.diff import PackDiff
    from wikigr.changes.update import UpdateReport

# Of each kind, unless all are asked for.
_FIRST = 10
# Of an answer or a name: the JSON has all of it.
_LONGEST = 48

_TOLD_BY = {"content": "same text", "alias": "by an alias", "sections": "by its sections"}
_MOVED = {
    "article-removed": "the article was removed",
    "article-renamed": "the article was renamed",
    "section-gone": "the section is gone",
    "passage-gone": "the passage is gone",
    "answer-gone": "the answer is gone",
    "answer-moved": "the answer moved",
    "text-changed": "another text, the answer still in its section",
    "now-answered": "unanswerable, but answered now",
}


def diff_document(found: PackDiff) -> dict[str, Any]:
    """Return what ``wikigr pack diff --json`` prints."""
    document = asdict(found)
    file = document.pop("questions_file")
    return {
        "schema_version": render.SCHEMA_VERSION,
        "differs": found.differs,
        **document,
        "questions_file": None if file is None else str(file),
        "suggestion": {**document["suggestion"], "level": found.suggestion.level.name.lower()},
    }


def diff(environment: Environment, document: Mapping[str, Any], *, everything: bool) -> None:
    """Print a difference for a person, the first of each kind or all."""
    _Printed(environment, None if everything else _FIRST).diff(document)


def update_document(report: UpdateReport, folder: Path, *, dry_run: bool) -> dict[str, Any]:
    """Return what ``wikigr pack update --json`` prints."""
    return {
        "schema_version": render.SCHEMA_VERSION,
        "pack": str(folder),
        "updated": report.build is not None,
        "dry_run": dry_run,
        "version": report.diff.b.version,
        "digest": report.diff.b.digest,
        "diff": diff_document(report.diff),
        "build": None if report.build is None else render_pack.build_document(report.build, folder),
    }


def update(environment: Environment, document: Mapping[str, Any], *, everything: bool) -> None:
    """Print what an update did, or would do, for a person."""
    found = document["diff"]
    if not found["differs"]:
        environment.print(f"{plain(document['pack'])}: nothing changed, nothing was written.")
        return
    diff(environment, found, everything=everything)
    environment.print()
    if document["build"] is None:
        environment.note("Nothing was written (--dry-run).")
        return
    render_pack.build_report(environment, document["build"])
    environment.print(f"{plain(document['pack'])} is version {plain(document['version'])} now.", style="bold")


class _Printed:
    """Prints the parts of a difference; ``most`` is how many of each kind, ``None`` for all."""

    def __init__(self, environment: Environment, most: int | None) -> None:
        self._environment = environment
        self._most = most

    def diff(self, document: Mapping[str, Any]) -> None:
        a, b, content = document["a"], document["b"], document["content"]
        self._head(a, b)
        self._kind("articles added", [f"+ {plain(title)}" for title in content["added"]])
        self._kind("articles removed", [_removed(article) for article in content["removed"]])
        self._kind("articles renamed", [_renamed(change) for change in content["renamed"]])
        self._kind("articles changed", [_changed(change) for change in content["changed"]])
        self._kind("sections that went to another article", [_arrow(move) for move in content["moved"]])
        for kind in ("links", "mentions"):
            self._both(kind, *([f"{plain(one)} → {plain(two)}" for one, two in content[kind][w]] for w in _WAYS))
        self._both("triples", *([_triple(triple) for triple in content["triples"][way]] for way in _WAYS))
        self._kind(
            "manifest and files",
            [f"{plain(c['name'])}: {_value(c['before'])} → {_value(c['after'])}" for c in document["manifest"]],
        )
        self._kind("gold questions moved", [_question(move) for move in document["questions"]])
        for note in document["notes"]:
            self._environment.note(plain(note))
        self._suggestion(document)

    def _head(self, a: Mapping[str, Any], b: Mapping[str, Any]) -> None:
        one, two = (f"{plain(side['name'])} {plain(side['version'])}" for side in (a, b))
        self._environment.print(f"{one} → {two}", style="bold")
        same = "the same" if a["digest"] == b["digest"] else f"{a['digest'][:12]} → {b['digest'][:12]}"
        self._environment.print(
            f"articles {a['articles']:,} → {b['articles']:,}, sections {a['sections']:,} → {b['sections']:,}, "
            f"digest {same}",
            style="dim",
        )

    def _kind(self, name: str, lines: Sequence[str]) -> None:
        if not lines:
            return
        self._environment.print(f"{name}: {len(lines):,}", style="bold")
        self._lines(lines)

    def _both(self, name: str, added: Sequence[str], removed: Sequence[str]) -> None:
        if not added and not removed:
            return
        self._environment.print(f"{name}: {len(added):,} added, {len(removed):,} removed", style="bold")
        self._lines([f"+ {line}" for line in added])
        self._lines([f"- {line}" for line in removed])

    def _lines(self, lines: Sequence[str]) -> None:
        for line in lines[: self._most]:
            self._environment.print(f"  {line}", hang=4)
        if self._most is not None and len(lines) > self._most:
            self._environment.print(f"  … and {len(lines) - self._most:,} more (--all)", style="dim")

    def _suggestion(self, document: Mapping[str, Any]) -> None:
        found = document["suggestion"]
        if not document["differs"]:
            self._environment.print("The content is the same.")
            return
        reasons = plain("; ".join(found["reasons"]))
        told = (
            f"Next version: {found['version']} ({found['level']}: {reasons})"
            if found["version"] is not None
            else f"{plain(document['a']['version'])} is no semantic version; the change is {found['level']}: {reasons}"
        )
        self._environment.print(told, hang=2)
        if found["stated_is_lower"]:
            from wikigr.pack.manifest import parse_version

            stated = document["b"]["version"]
            wrong = "lower" if parse_version(stated) else "no semantic version"
            self._environment.print(f"The version stated, {plain(stated)}, is {wrong}.", style="yellow")


_WAYS = ("added", "removed")


def _removed(article: Mapping[str, Any]) -> str:
    now = f"  (now an alias of {_short(article['now'])})" if article["now"] is not None else ""
    return f"- {plain(article['title'])}{now}"


def _renamed(change: Mapping[str, Any]) -> str:
    return f"{plain(change['before'])} → {plain(change['after'])}  ({_TOLD_BY[change['told_by']]})"


def _changed(change: Mapping[str, Any]) -> str:
    parts = [f"{len(change[kind])} {kind}" for kind in ("added", "removed", "changed", "moved") if change[kind]]
    told = [f"sections: {', '.join(parts)}"] if parts else []
    if change["words_added"] or change["words_removed"]:
        told.append(f"words: +{change['words_added']:,} -{change['words_removed']:,}")
    names = [f"+{_short(name)}" for name in change["aliases_added"]]
    names += [f"-{_short(name)}" for name in change["aliases_removed"]]
    if names:
        told.append(f"aliases: {', '.join(names)}")
    if change["details"]:
        told.append(f"other {', '.join(change['details'])}")
    return f"{plain(change['title'])}  ({'; '.join(told) or 'order of sections'})"


def _triple(triple: Mapping[str, Any]) -> str:
    said = " | ".join(_short(triple[part]) for part in ("subject", "relation", "object"))
    return f"{said}  (in {_short(triple['article'])})"


def _question(move: Mapping[str, Any]) -> str:
    steps = [_value(step) for step in (move["before"], move["after"])]
    how = f"; {steps[1]}" if move["kind"] == "text-changed" else f": {steps[0]} → {steps[1]}"
    return f"{plain(move['question_id'])}  {_short(move['title'])}: {_MOVED[move['kind']]}{how}"


def _arrow(move: Mapping[str, Any]) -> str:
    return f"{plain(move['before'])} → {plain(move['after'])}"


def _value(item: object) -> str:
    return "none" if item is None else _short(str(item))


def _short(text: str) -> str:
    line = plain(" ".join(text.split()))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 2] + " …"
