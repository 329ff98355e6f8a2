"""Compare two packs (content, manifest, gold questions) and suggest the version of the second one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr.pack.content_diff import ContentDiff, compare
from wikigr.pack.manifest import Manifest, describe_file, is_lower_version
from wikigr.pack.next_version import Level, next_version
from wikigr.pack.open import Pack
from wikigr.pack.pack_reader import ContentReader, PackReader

if TYPE_CHECKING:
    from wikigr.evaluation.gold_drift import DriftedQuestion

# Files of a pack that its author adds to those of the build.
_COMPANIONS = {"gold questions": "eval/questions.jsonl", "few-shot examples": "few_shot_examples.json"}


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two packs compared."""

    name: str
    version: str
    digest: str
    articles: int
    sections: int


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A changed field of the manifest, or a companion file; ``None`` if one of the two packs lacks it."""

    name: str
    before: str | float | bool | None
    after: str | float | bool | None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The minimum version that the second pack should have.

    ``version`` is ``None`` when the first pack's version is not semantic. ``stated_is_lower`` is true when the second
    pack's own version is lower.
    """

    level: Level
    version: str | None
    reasons: tuple[str, ...]
    stated_is_lower: bool


@dataclass(frozen=True, slots=True)
class PackDiff:
    """All differences between the pack ``a`` (before) and the pack ``b`` (after).

    ``questions_file`` is the file of the gold questions, ``None`` without any. ``notes`` say what was not compared.
    """

    a: Side
    b: Side
    content: ContentDiff
    manifest: tuple[FieldChange, ...]
    questions: tuple[DriftedQuestion, ...]
    questions_file: Path | None
    suggestion: Suggestion
    notes: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether there is a difference that requires a new version."""
        return self.suggestion.level is not Level.NONE


def diff_packs(a: str | Path, b: str | Path, *, questions: Path | None = None) -> PackDiff:
    """Compare the packs ``a`` (before) and ``b`` (after), including the effect on gold questions.

    The questions come from the file ``questions``, or from ``b`` or ``a``, whichever has some first. Unanswerable
    questions are asked of both packs if the content or the thresholds differ. The differences determine the suggested
    version:

    - major: a different encoder or format, or articles were removed or renamed (citations break);
    - minor: articles or sections were added, removed or moved, or text changed;
    - patch: only links, mentions, triples, names, metadata, thresholds or the files shipped with the pack changed;
    - none: the same content.

    Raises ``PackError`` when a pack is missing, damaged or has another format, and ``QuestionError`` for the questions.
    """
    with Pack(a) as before, Pack(b) as after:
        same = before.manifest.digest == after.manifest.digest
        contents = PackReader(after.graph)
        content = ContentDiff() if same else compare(PackReader(before.graph), contents)
        return describe(
            before, after.manifest, contents, content, folder=after.layout.root, asked=after, questions=questions
        )


def describe(
    before: Pack,
    manifest: Manifest,
    contents: ContentReader,
    content: ContentDiff,
    *,
    folder: Path,
    asked: Pack | None,
    questions: Path | None = None,
) -> PackDiff:
    """Return all differences between the pack ``before`` and another one, given the difference in ``content``.

    The other pack has ``manifest`` and ``contents``, and its companion files are in ``folder``. ``asked`` is that pack,
    open for asking questions, or ``None`` if it is not built yet.
    """
    from wikigr.evaluation.gold_drift import find_drift

    places = (before.layout.root, folder)
    file = questions or gold_questions(folder) or gold_questions(before.layout.root)
    notes: list[str] = []
    drifted = find_drift(file, content, before, contents, asked, notes) if file is not None else []
    changes = manifest_changes(before.manifest, manifest) + _companion_changes(*places)
    return PackDiff(
        side(before.manifest),
        side(manifest),
        content,
        changes,
        tuple(drifted),
        file,
        suggest(before.manifest, manifest, content, changes),
        tuple(notes),
    )


def gold_questions(root: Path) -> Path | None:
    """Return the path of the gold questions in a pack's folder, or ``None``."""
    file = root / _COMPANIONS["gold questions"]
    return file if file.is_file() else None


def side(manifest: Manifest) -> Side:
    """Return the summary of one of the two packs from its manifest."""
    counts = manifest.counts
    return Side(manifest.name, manifest.version, manifest.digest, counts["articles"], counts["sections"])


# -- manifests

_FORMAT_FIELDS = ("format_version", "engine", "storage_version")
# Build time and build version do not count as differences, and the content is compared separately.
_COMPARED = (
    "name", "description", "license", "attribution", *_FORMAT_FIELDS, "bundled_encoder",
)  # fmt: skip


def manifest_changes(before: Manifest, after: Manifest) -> tuple[FieldChange, ...]:
    """Return the fields that differ, in a fixed order; versions, times and counts are not compared."""
    pairs = [(name, getattr(before, name), getattr(after, name)) for name in _COMPARED]
    for group in ("encoder", "source", "thresholds"):
        one, two = (_mapping(getattr(manifest, group)) for manifest in (before, after))
        pairs += [(f"{group}.{key}", one.get(key), two.get(key)) for key in sorted(one.keys() | two.keys())]
    return tuple(FieldChange(name, one, two) for name, one, two in pairs if one != two)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else asdict(value)


def _companion_changes(before: Path, after: Path) -> tuple[FieldChange, ...]:
    changes = []
    for name, path in _COMPANIONS.items():
        one, two = (
            describe_file(root / path).sha256[:12] if (root / path).is_file() else None for root in (before, after)
        )
        if one != two:
            changes.append(FieldChange(name, one, two))
    return tuple(changes)


def suggest(before: Manifest, after: Manifest, content: ContentDiff, manifest: Sequence[FieldChange]) -> Suggestion:
    """Return the suggested version by the rules of ``diff_packs``, with the reasons for its level."""
    names = [change.name for change in manifest]
    # The location of the source does not affect the content, and the encoder counts as major.
    patched = [name for name in names if not name.startswith(("source.", "encoder."))]
    texts = sum(change.changes_text for change in content.changed)
    reasons = {
        Level.MAJOR: [
            *(["the encoder is different"] if any(name.startswith("encoder.") for name in names) else []),
            *(["the format is different"] if set(names) & set(_FORMAT_FIELDS) else []),
            *_counted(len(content.removed), "article was removed", "articles were removed"),
            *_counted(len(content.renamed), "article was renamed", "articles were renamed"),
        ],
        Level.MINOR: [
            *_counted(len(content.added), "article was added", "articles were added"),
            *_counted(texts, "article has changed text", "articles have changed text"),
        ],
        Level.PATCH: [
            *_counted(len(content.changed) - texts, "article has changed details", "articles have changed details"),
            *(
                f"{kind} changed"
                for kind, change in (
                    ("links", content.links),
                    ("mentions", content.mentions),
                    ("triples", content.triples),
                )
                if change.added or change.removed
            ),
            *([f"changed: {', '.join(patched)}"] if patched else []),
        ],
    }
    level = max((level for level, found in reasons.items() if found), default=Level.NONE)
    if level is Level.NONE and before.digest != after.digest:
        level, reasons[Level.PATCH] = Level.PATCH, ["the digest differs"]
    version = next_version(before.version, level)
    return Suggestion(
        level,
        version,
        tuple(reasons.get(level, ())),
        version is not None and is_lower_version(after.version, version),
    )


def _counted(count: int, one: str, many: str) -> list[str]:
    return [f"{count:,} {one if count == 1 else many}"] if count else []
