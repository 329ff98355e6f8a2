"""What differs between two packs: contents, manifests, gold questions; and the version that the second should bear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr.changes.content_diff import ContentDiff, compare
from wikigr.changes.next_version import Level, is_lower, raised
from wikigr.pack.manifest import Manifest, describe_file
from wikigr.pack.open import Pack
from wikigr.pack.pack_reader import Contents, PackContents

if TYPE_CHECKING:
    from wikigr.changes.gold_drift import MovedQuestion

# Files of a pack that a build does not make but that go with it.
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
    """A field of the manifest, or a file that goes with the pack; ``None`` where one of the two has it not."""

    name: str
    before: str | float | bool | None
    after: str | float | bool | None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The version that the second pack should bear at least.

    ``version`` is ``None`` when the first pack's is no semantic version; ``stated_is_lower`` tells that the second
    pack's own is below it.
    """

    level: Level
    version: str | None
    reasons: tuple[str, ...]
    stated_is_lower: bool


@dataclass(frozen=True, slots=True)
class PackDiff:
    """Everything that differs from the pack ``a`` to the pack ``b``.

    ``questions_file`` is where the gold questions were read from, ``None`` without any. ``notes`` say what could not be
    compared.
    """

    a: Side
    b: Side
    content: ContentDiff
    manifest: tuple[FieldChange, ...]
    questions: tuple[MovedQuestion, ...]
    questions_file: Path | None
    suggestion: Suggestion
    notes: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether there is any difference that a version should tell."""
        return self.suggestion.level is not Level.NONE


def diff_packs(a: str | Path, b: str | Path, *, questions: Path | None = None) -> PackDiff:
    """Compare the packs ``a`` (before) and ``b`` (after), and what it means for gold questions.

    The questions are those of ``questions``, else the ones that ``b`` carries, else those of ``a``. Unanswerable ones
    are asked of both packs where the content differs. The suggested version follows from what differs:

    - major: the encoder or the format is another, or articles were removed or renamed (citations break);
    - minor: articles or sections were added, removed or moved, or text changed;
    - patch: only links, mentions, triples, names, metadata, thresholds or the files that go with the pack;
    - none: the same content.

    Raises ``PackError`` when one of them is missing, damaged or of another format, and ``QuestionError``.
    """
    with Pack(a) as before, Pack(b) as after:
        same = before.manifest.digest == after.manifest.digest
        contents = PackContents(after.graph)
        content = ContentDiff() if same else compare(PackContents(before.graph), contents)
        return describe(
            before, after.manifest, contents, content, folder=after.layout.root, asked=after, questions=questions
        )


def describe(
    before: Pack,
    manifest: Manifest,
    contents: Contents,
    content: ContentDiff,
    *,
    folder: Path,
    asked: Pack | None,
    questions: Path | None = None,
) -> PackDiff:
    """Return the whole difference from the pack ``before`` to one of which the content has been compared.

    The other one has ``manifest`` and ``contents``; the files that go with it are in ``folder``. ``asked`` is that pack
    opened, so that questions can be put to it, or ``None`` while it is not built.
    """
    from wikigr.changes.gold_drift import find_moved

    places = (before.layout.root, folder)
    file = questions or gold_questions(folder) or gold_questions(before.layout.root)
    notes: list[str] = []
    moved = find_moved(file, content, before, contents, asked, notes) if file is not None else []
    changes = manifest_changes(before.manifest, manifest) + _companion_changes(*places)
    return PackDiff(
        side(before.manifest),
        side(manifest),
        content,
        changes,
        tuple(moved),
        file,
        suggest(before.manifest, manifest, content, changes),
        tuple(notes),
    )


def gold_questions(root: Path) -> Path | None:
    """Return the file of gold questions in a pack's folder, or ``None``."""
    file = root / _COMPANIONS["gold questions"]
    return file if file.is_file() else None


def side(manifest: Manifest) -> Side:
    """Return what a manifest says of its pack, as one side of a difference."""
    counts = manifest.counts
    return Side(manifest.name, manifest.version, manifest.digest, counts["articles"], counts["sections"])


# -- manifests

_FORMAT_FIELDS = ("format_version", "engine", "storage_version")
# When and by which build the pack was made, and what the content's own comparison tells, is no difference.
_COMPARED = (
    "name", "description", "license", *_FORMAT_FIELDS, "bundled_encoder",
)  # fmt: skip


def manifest_changes(before: Manifest, after: Manifest) -> tuple[FieldChange, ...]:
    """Return the fields that differ, in a fixed order; versions, times and counts aside."""
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
    """Return the next version by the rule of ``diff_packs``, with the reasons for its level."""
    names = [change.name for change in manifest]
    # Where the text was read from says nothing of it.
    told = [name for name in names if not name.startswith(("source.", "encoder."))]
    texts = sum(change.changes_text for change in content.changed)
    reasons = {
        Level.MAJOR: [
            *(["the encoder is another"] if any(name.startswith("encoder.") for name in names) else []),
            *(["the format is another"] if set(names) & set(_FORMAT_FIELDS) else []),
            *_counted(len(content.removed), "article was removed", "articles were removed"),
            *_counted(len(content.renamed), "article was renamed", "articles were renamed"),
        ],
        Level.MINOR: [
            *_counted(len(content.added), "article was added", "articles were added"),
            *_counted(texts, "article has another text", "articles have another text"),
        ],
        Level.PATCH: [
            *_counted(len(content.changed) - texts, "article has other details", "articles have other details"),
            *(
                f"{kind} changed"
                for kind, change in (
                    ("links", content.links),
                    ("mentions", content.mentions),
                    ("triples", content.triples),
                )
                if change.added or change.removed
            ),
            *([f"changed: {', '.join(told)}"] if told else []),
        ],
    }
    level = max((level for level, found in reasons.items() if found), default=Level.NONE)
    if level is Level.NONE and before.digest != after.digest:
        level, reasons[Level.PATCH] = Level.PATCH, ["the digest differs"]
    version = raised(before.version, level)
    return Suggestion(
        level,
        version,
        tuple(reasons.get(level, ())),
        version is not None and is_lower(after.version, version),
    )


def _counted(count: int, one: str, many: str) -> list[str]:
    return [f"{count:,} {one if count == 1 else many}"] if count else []
