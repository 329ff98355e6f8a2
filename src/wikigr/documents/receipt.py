"""The receipt of an answer: a record of its evidence, with which anyone can check the answer later and offline.

A receipt contains no secrets and no paths of this machine. It stores the hashes of prompts and of evidence; from the
evidence, ``receipts.replay`` rebuilds the prompt and compares the hashes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Predicate

from wikigr import __version__
from wikigr.answer.answer import Answer, AnswerHop, PossibleAnswer
from wikigr.answer.citations import Offset, StoredText
from wikigr.answer.probability import Level
from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.embeddings.model_id import local_folder
from wikigr.errors import ModelError
from wikigr.graph_search.explore.stage import MultiStrategyOptions, MultiStrategyStage
from wikigr.llm import name_of
from wikigr.llm.options import SynthesisOptions
from wikigr.llm.usage import Usage
from wikigr.options import Limits, Name, Share
from wikigr.pack.layout import installed_packs
from wikigr.pipeline.profile import Profile, profile_names
from wikigr.pipeline.profile_files import differences, load_profile
from wikigr.pipeline.profile_schema import EmbeddedProfile, profile_values
from wikigr.pipeline.strategies import QUERY_TYPES
from wikigr.rerankers.cross_encoder import CrossEncoderOptions
from wikigr.retrieval.candidates import MultiQuery
from wikigr.settings import cache_folder

if TYPE_CHECKING:
    from wikigr.answer.requests import Request
    from wikigr.llm.model_client import ModelClient
    from wikigr.pipeline.pipeline import Pipeline

KIND = "wikigr receipt"
SCHEMA_VERSION = 1

# The profile keys that flags of `wikigr ask` override.
Flag = Literal[
    "synthesis.model",
    "model_file.threads",
    "model_file.context",
    "budget.max_cost_usd",
    "multi_strategy.iterations",
    "extractive.max_sentences",
]
Score = Annotated[float, Limits(ge=-1e9, le=1e9)]

# Absolute paths in warnings, quoted (then with spaces) or bare, but not the path of a URL. "…" stands for a folder that
# was already removed.
_QUOTED_PATH = re.compile(r"(?<=')…?/[^'\n]+(?=')|(?<=\")…?/[^\"\n]+(?=\")")
_PATH = re.compile(r"(?:(?<![\w:/.…])|(?<=file://))…?/(?:[^\s/'\"]+/)+[^\s/'\"]*")
_PLANNING = ("graph_plan_initial", "graph_plan_iterative", "graph_plan_reply", "triplet_entities", "triplet_relations")


@dataclass(frozen=True, slots=True)
class PackRecord:
    """The pack that answered; ``digest`` is the digest of its content."""

    name: str
    version: str
    digest: str


@dataclass(frozen=True, slots=True)
class ProfileRecord:
    """The complete profile after applying ``flags``, and the SHA-256 of that content.

    ``known`` is whether the profile can be loaded by ``name``, because it ships with wikigr or is one of the user's
    profiles. Otherwise it came from a file.
    """

    name: str
    known: bool
    flags: Mapping[Flag, Any]
    content: EmbeddedProfile
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The model that was called, and the URL of its server without credentials.

    For a model file, ``id`` is its name without the folder, ``base_url`` is empty, and ``sha256`` is the file's hash.
    """

    id: str
    base_url: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class PromptRecord:
    """The SHA-256 of a request's ``system`` and ``messages`` in canonical JSON; ``style`` is its citation style."""

    purpose: Literal["synthesis", "own_knowledge"]
    style: Literal["native", "markers"] | None
    sha256: str


@dataclass(frozen=True, slots=True)
class ReadSection:
    """A section of the evidence; ``sha256`` is the hash of its stored content in UTF-8."""

    section_id: str
    title: str
    heading: str
    sha256: str
    score: Score


@dataclass(frozen=True, slots=True)
class Cited:
    """Citation number ``n`` of the answer; ``quote`` is ``content[start:end]`` of the section (character offsets)."""

    n: Offset
    section_id: str
    title: str
    heading: str
    quote: Name
    start: Offset
    end: Offset


@dataclass(frozen=True, slots=True)
class AlternativeRecord:
    """Another possible answer that was shown; its ``citations`` are numbered from 1."""

    answer: str
    kind: str
    confidence: Share
    citations: Sequence[Cited]
    span: StoredText | None
    context: StoredText | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """An answer and its evidence; docs/receipts.md describes the keys.

    ``created`` is an ISO 8601 time in UTC. ``model`` is ``None`` if no model was called, not even for planning.
    ``templates`` maps the name of every prompt template used to its SHA-256. ``id`` is the id of a batch question.
    Receipts of older versions have no ``span``, no ``chain``, no ``level`` and nothing else about it.
    """

    created: str
    question: str
    answer: str
    query_type: Annotated[str, Predicate(QUERY_TYPES.__contains__)]
    abstained: bool
    confidence: Share
    pack: PackRecord
    encoder: EncoderIdentity
    profile: ProfileRecord
    model: ModelRecord | None
    prompts: Sequence[PromptRecord]
    templates: Mapping[str, str]
    evidence: Sequence[ReadSection]
    citations: Sequence[Cited]
    unverified: Sequence[str]
    cypher_query: str
    graph_context: Sequence[str]
    usage: Usage
    degraded: bool
    warnings: Sequence[str]
    span: StoredText | None = None
    chain: Sequence[AnswerHop] = ()
    level: Level | None = None
    answer_kind: str = ""
    context: StoredText | None = None
    alternatives: Sequence[AlternativeRecord] = ()
    wikigr_version: str = __version__
    id: str | int | None = None
    kind: str = KIND
    schema_version: int = SCHEMA_VERSION

    def to_document(self) -> dict[str, Any]:
        """Return the JSON document; its last key ``sha256`` is the hash of all other keys."""
        values = asdict(self)
        values["profile"]["content"] = profile_values(self.profile.content)
        first = ("schema_version", "kind", "wikigr_version", "id")
        document = {key: values.pop(key) for key in first if values[key] is not None or key != "id"}
        values.pop("id", None)
        document.update(values)
        return {**document, "sha256": digest_of(document)}


def canonical(document: Any) -> bytes:
    """Return ``document`` as UTF-8 JSON with sorted keys, without spaces or unnecessary escapes.

    Raises ``ValueError`` for values that JSON cannot represent: NaN, infinities, unpaired surrogates.
    """
    return json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def digest_of(document: Any) -> str:
    """Return the SHA-256 of ``document`` in canonical JSON; raises like ``canonical``."""
    return hashlib.sha256(canonical(document)).hexdigest()


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def prompt_digest(request: Request) -> str:
    """Return the SHA-256 of the ``system`` and ``messages`` of a request."""
    return digest_of(request.to_dict())


def portable(profile: Profile) -> Profile:
    """Return ``profile`` without paths of this machine: those of a cross-encoder and of a model are only names."""
    written_by = profile[SynthesisOptions].model
    if name_of(written_by) != written_by:
        profile = profile.override(SynthesisOptions, model=name_of(written_by))
    model = profile[CrossEncoderOptions].model
    if not _is_path(model):
        return profile
    name = PurePath(model).name
    name = "folder" if name in ("", "..") else name
    return profile.override(CrossEncoderOptions, model=name)


def _is_path(model: str) -> bool:
    """Return whether ``model`` is a path, existing or not, rather than a model id (a name, or OWNER/NAME)."""
    try:
        return local_folder(model) is not None or ".." in PurePath(model).parts or model.count("/") > 1
    except ModelError:
        return True


def make_receipt(
    answer: Answer,
    pipeline: Pipeline,
    *,
    base: Profile | None = None,
    id_: str | int | None = None,
    created: datetime | None = None,
) -> Receipt:
    """Return the receipt of ``answer``, which ``pipeline`` has just produced. No model is called.

    ``base`` is the profile before flags changed it (by default ``pipeline.profile``); ``created`` defaults to now.
    """
    manifest = pipeline.pack.manifest
    used_model = bool(answer.model or answer.usage.calls)
    requests = list(_requests(answer, pipeline)) if used_model else []
    known_paths = _known_paths(pipeline) if answer.trace.warnings else {}
    receipt = Receipt(
        created=(created or datetime.now(UTC)).isoformat(timespec="seconds"),
        question=answer.question,
        answer=answer.text,
        query_type=answer.query_type,
        abstained=answer.abstained,
        confidence=round(answer.confidence, 4),
        pack=PackRecord(manifest.name, manifest.version, manifest.digest),
        encoder=manifest.encoder,
        profile=_profile_record(pipeline.profile, base or pipeline.profile),
        model=_model_record(answer, pipeline) if used_model else None,
        prompts=tuple(record for record, _ in requests),
        templates=_templates(answer, pipeline.profile, requests) if used_model else {},
        evidence=tuple(
            ReadSection(
                item.section.section_id,
                item.section.title,
                item.section.heading,
                text_digest(item.section.content),
                round(item.score, 6),
            )
            for item in answer.evidence
        ),
        citations=_cited(answer),
        span=answer.span,
        chain=answer.chain,
        level=answer.level,
        answer_kind=answer.kind,
        context=answer.context,
        alternatives=tuple(_alternative_record(alternative) for alternative in answer.alternatives),
        unverified=answer.unverified,
        cypher_query=answer.cypher_query,
        graph_context=answer.graph_context,
        usage=answer.usage,
        degraded=answer.trace.degraded,
        warnings=tuple(_without_paths(text, known_paths) for text in answer.trace.warnings),
        id=id_,
    )
    return _without_secrets(receipt, pipeline.model)


def _cited(answer: PossibleAnswer) -> tuple[Cited, ...]:
    return tuple(Cited(c.n, c.section_id, c.title, c.heading, c.quote, c.start, c.end) for c in answer.citations)


def _alternative_record(alternative: PossibleAnswer) -> AlternativeRecord:
    return AlternativeRecord(
        answer=alternative.text,
        kind=alternative.kind,
        confidence=round(alternative.confidence, 4),
        citations=_cited(alternative),
        span=alternative.span,
        context=alternative.context,
    )


def _profile_record(used: Profile, base: Profile) -> ProfileRecord:
    content = portable(used)
    return ProfileRecord(
        name=base.name,
        known=base.name in profile_names() and load_profile(base.name) == base,
        flags={key: value for key, _, value in differences(portable(base), content)},  # type: ignore[misc]
        content=content,
        sha256=digest_of(profile_values(content)),
    )


def _model_record(answer: Answer, pipeline: Pipeline) -> ModelRecord:
    name = answer.model or name_of(pipeline.resources.synthesis.model)
    model = pipeline.model
    return ModelRecord(name, model.server.rstrip("/"), model.weights_sha256) if model else ModelRecord(name, "")


def _requests(answer: Answer, pipeline: Pipeline) -> Sequence[tuple[PromptRecord, Request]]:
    """Rebuild the requests that the model received for the text of the answer."""
    from wikigr.answer.requests import own_knowledge_request
    from wikigr.retrieval.trace import Trace

    stages = answer.trace.stages
    # A server without search-result blocks receives a second request in another style; the last one was answered.
    styles = [record.notes["citations"] for record in stages if "citations" in record.notes]
    found = []
    if styles:
        request = pipeline.synthesizer.request(
            answer.question, answer.evidence, Trace(), styles[-1], answer.graph_context
        )
        found.append((PromptRecord("synthesis", styles[-1], prompt_digest(request)), request))
    if answer.query_type == "own_knowledge":
        request = own_knowledge_request(answer.question)
        found.append((PromptRecord("own_knowledge", None, prompt_digest(request)), request))
    return found


def _templates(answer: Answer, profile: Profile, requests: Sequence[tuple[PromptRecord, Request]]) -> dict[str, str]:
    from wikigr.llm.prompts import prompt

    stages = {record.stage for record in answer.trace.stages}
    used: list[str] = []
    for record, request in requests:
        used += ["synthesis", f"citations_{record.style}"] if record.style else ["own_knowledge"]
        first_lines = [block.get("text", "").partition("\n")[0] for block in request.messages[0]["content"]]
        used += [name for name, tag in _BLOCKS.items() if tag in first_lines]
    if MultiQuery.name in stages:
        used.append("rephrase")
    if MultiStrategyStage.name in stages and profile[MultiStrategyOptions].planner != "rule":
        used += _PLANNING
    return {name: text_digest(prompt(name)) for name in sorted(set(used))}


# The optional blocks of a request that have a prompt template, identified by their first line.
_BLOCKS = {"examples": "<examples>", "graph_context": "<graph-context>"}


def _known_paths(pipeline: Pipeline) -> Mapping[str, str]:
    """Return the paths that warnings may contain, and their replacements. The regular expressions miss unquoted spaces.

    Paths without a slash (".", or a folder's name) are omitted: they reveal nothing, and may be part of any word.
    """
    root, model = pipeline.pack.layout.root, pipeline.profile[CrossEncoderOptions].model
    found: dict[str, str] = {}
    for folder in (*_home(), cache_folder(), installed_packs()):
        found |= {str(folder): "…", str(folder.resolve()): "…"}
    if _is_path(model):
        name = f"…/{portable(pipeline.profile)[CrossEncoderOptions].model}"
        found |= dict.fromkeys((model, *_expanded(model)), name)
    found |= {str(root): "PACK", str(root.resolve()): "PACK"}
    # Warnings are on one line, with runs of spaces collapsed.
    paths = {" ".join(path.rstrip("/").split()): name for path, name in found.items()}
    return {path: paths[path] for path in sorted(paths, key=lambda path: (-len(path), path)) if "/" in path}


def _home() -> tuple[Path, ...]:
    try:
        return (Path.home(),)
    except RuntimeError:  # the system has no entry for this user
        return ()


def _expanded(model: str) -> tuple[str, ...]:
    """Return the forms of the folder ``model``: with ``~`` expanded, absolute, and with links resolved."""
    try:
        path = Path(model).expanduser()
        return str(path), str(path.absolute()), str(path.resolve())
    except (OSError, ValueError, RuntimeError):
        return ()


def _without_paths(text: str, known: Mapping[str, str]) -> str:
    """Return a warning in which only the last part of every path remains, to reveal no folders of this machine."""
    for path, name in known.items():
        before = r"(?<![\w.~…-])" if path.startswith("/") else r"(?<![\w./~…-])"
        text = name.join(re.split(rf"{before}{re.escape(path)}(?![\w-]|\.\w)", text))
    for paths in (_QUOTED_PATH, _PATH):
        text = paths.sub(lambda path: "…/" + path.group().rstrip("/").rpartition("/")[2], text)
    return text


def _without_secrets(receipt: Receipt, model: ModelClient | None) -> Receipt:
    """Return ``receipt`` without the credentials of ``model``; replies are already clean, but other text may not be."""
    if model is None:
        return receipt
    clean = model.secrets.clean
    record = receipt.model
    return replace(
        receipt,
        answer=clean(receipt.answer),
        model=replace(record, id=clean(record.id), base_url=clean(record.base_url)) if record else None,
        unverified=tuple(map(clean, receipt.unverified)),
        cypher_query=clean(receipt.cypher_query),
        graph_context=tuple(map(clean, receipt.graph_context)),
        warnings=tuple(map(clean, receipt.warnings)),
    )
