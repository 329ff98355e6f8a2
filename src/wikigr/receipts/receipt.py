"""The receipt of an answer: what it stands on, so that somebody else can check it later, offline.

A receipt holds no secret and no path of this machine. Of a prompt it keeps the hash; the evidence, by its hashes, is
enough to build the prompt again from the pack (see ``pipeline.replay``).
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

from annotated_types import Interval, MinLen

from wikigr import __version__
from wikigr.answer.answer import Answer, QueryType
from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.embeddings.model_id import local_folder
from wikigr.errors import ModelError
from wikigr.llm.usage import Usage
from wikigr.pack.layout import installed_packs
from wikigr.pipeline.profile import Profile
from wikigr.profiles.files import differences, load_profile, profile_names
from wikigr.profiles.schema import EmbeddedProfile, profile_values
from wikigr.retrieval.explore.stage import MultiStrategyOptions
from wikigr.retrieval.rerankers.cross_encoder import CrossEncoderOptions
from wikigr.settings import cache_folder

if TYPE_CHECKING:
    from wikigr.answer.requests import Request
    from wikigr.llm.client import Claude
    from wikigr.pipeline.pipeline import Pipeline

KIND = "wikigr receipt"
SCHEMA_VERSION = 1

# What the flags of `wikigr ask` set over the profile that was named.
Flag = Literal["synthesis.model", "budget.max_cost_usd", "multi_strategy.iterations"]
# The largest whole number that every reader of JSON keeps.
Offset = Annotated[int, Interval(ge=0, le=2**53)]
Score = Annotated[float, Interval(ge=-1e9, le=1e9)]
Share = Annotated[float, Interval(ge=0.0, le=1.0)]

# A path from the root, as a warning may name one: in quotes, where it may hold spaces, or bare. Not the end of an
# address. The dots stand for the folder that was cut already.
_QUOTED_PATH = re.compile(r"(?<=')…?/[^'\n]+(?=')|(?<=\")…?/[^\"\n]+(?=\")")
_PATH = re.compile(r"(?:(?<![\w:/.…])|(?<=file://))…?/(?:[^\s/'\"]+/)+[^\s/'\"]*")
_PLANNING = ("graph_plan_initial", "graph_plan_iterative", "graph_plan_reply", "triplet_entities", "triplet_relations")


@dataclass(frozen=True, slots=True)
class PackRecord:
    """The pack that was asked; ``digest`` is that of its content."""

    name: str
    version: str
    digest: str


@dataclass(frozen=True, slots=True)
class ProfileRecord:
    """The profile in full, with what flags set over it, and the SHA-256 of that content.

    ``known`` says that ``name`` finds it: it ships with wikigr or was the user's own. Otherwise it was a file.
    """

    name: str
    known: bool
    flags: Mapping[Flag, Any]
    content: EmbeddedProfile
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The model that was asked, and its server without credentials."""

    id: str
    base_url: str


@dataclass(frozen=True, slots=True)
class PromptRecord:
    """The SHA-256 of a request's ``system`` and ``messages`` in canonical JSON; ``style`` is that of its citations."""

    purpose: Literal["synthesis", "own_knowledge"]
    style: Literal["native", "markers"] | None
    sha256: str


@dataclass(frozen=True, slots=True)
class ReadSection:
    """A section that the answer was written from; ``sha256`` is that of its stored content in UTF-8."""

    section_id: str
    title: str
    heading: str
    sha256: str
    score: Score


@dataclass(frozen=True, slots=True)
class Cited:
    """Number ``n`` of the answer: ``quote`` is ``content[start:end]`` of the section, in characters."""

    n: Offset
    section_id: str
    title: str
    heading: str
    quote: Annotated[str, MinLen(1)]
    start: Offset
    end: Offset


@dataclass(frozen=True, slots=True)
class Receipt:
    """An answer and all that it stands on; see docs/receipts.md for the keys.

    ``created`` is an ISO 8601 time in UTC. ``model`` is ``None`` where no model took part, in the planning neither.
    ``templates`` holds the SHA-256 of every prompt text used, by its name. ``id`` is that of a batch's question.
    """

    created: str
    question: str
    answer: str
    query_type: QueryType
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
    wikigr_version: str = __version__
    id: str | int | None = None
    kind: str = KIND
    schema_version: int = SCHEMA_VERSION

    def to_document(self) -> dict[str, Any]:
        """Return the JSON document, with the ``sha256`` over all the rest of it as its last key."""
        values = asdict(self)
        values["profile"]["content"] = profile_values(self.profile.content)
        first = ("schema_version", "kind", "wikigr_version", "id")
        document = {key: values.pop(key) for key in first if values[key] is not None or key != "id"}
        values.pop("id", None)
        document.update(values)
        return {**document, "sha256": digest_of(document)}


def canonical(document: Any) -> bytes:
    """Return ``document`` as JSON with sorted keys, without spaces and escapes that need not be, in UTF-8.

    Raises ``ValueError`` for what is no JSON: NaN, infinities, unpaired surrogates.
    """
    return json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def digest_of(document: Any) -> str:
    """Return the SHA-256 of ``document`` in canonical JSON; raises as ``canonical``."""
    return hashlib.sha256(canonical(document)).hexdigest()


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def prompt_digest(request: Request) -> str:
    """Return the SHA-256 of what a model is sent: ``system`` and ``messages``."""
    return digest_of(request.to_dict())


def portable(profile: Profile) -> Profile:
    """Return ``profile`` without a path of this machine: a cross-encoder in a folder goes by the folder's name."""
    model = profile[CrossEncoderOptions].model
    if not _is_path(model):
        return profile
    name = PurePath(model).name
    name = "folder" if name in ("", "..") else name
    return profile.override(CrossEncoderOptions, model=name)


def _is_path(model: str) -> bool:
    """Whether ``model`` names a folder, there or not: what else is no id, an owner and a name at most, is one too."""
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
    """Return the receipt of ``answer``, which ``pipeline`` has just given.

    ``base`` is the profile as it was named, before flags changed it (``pipeline.profile`` if left out). ``created``
    is now if left out. Nothing is asked of a model.
    """
    manifest = pipeline.pack.manifest
    asked = bool(answer.model or answer.usage.calls)
    requests = list(_requests(answer, pipeline)) if asked else []
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
        model=_model_record(answer, pipeline) if asked else None,
        prompts=tuple(record for record, _ in requests),
        templates=_templates(answer, pipeline.profile, requests) if asked else {},
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
        citations=tuple(
            Cited(c.n, c.section_id, c.title, c.heading, c.quote, c.start, c.end) for c in answer.citations
        ),
        unverified=answer.unverified,
        cypher_query=answer.cypher_query,
        graph_context=answer.graph_context,
        usage=answer.usage,
        degraded=answer.trace.degraded,
        warnings=tuple(_without_paths(text, known_paths) for text in answer.trace.warnings),
        id=id_,
    )
    return _without_secrets(receipt, pipeline.model)


def _profile_record(used: Profile, base: Profile) -> ProfileRecord:
    content = portable(used)
    return ProfileRecord(
        name=base.name,
        known=base.name in profile_names() and load_profile(base.name) == base,
        flags={key: value for key, _, value in differences(base, used)},  # type: ignore[misc]
        content=content,
        sha256=digest_of(profile_values(content)),
    )


def _model_record(answer: Answer, pipeline: Pipeline) -> ModelRecord:
    name = answer.model or pipeline.resources.synthesis.model
    return ModelRecord(name, pipeline.model.server.rstrip("/") if pipeline.model else "")


def _requests(answer: Answer, pipeline: Pipeline) -> Sequence[tuple[PromptRecord, Request]]:
    """Return what the model was sent for the text of the answer, built again from what it was built from."""
    from wikigr.answer.requests import own_knowledge_request
    from wikigr.retrieval.trace import Trace

    stages = answer.trace.stages
    # A server that knows no search-result blocks is asked twice; the last request is the one that was answered.
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
    if "multi_query" in stages:
        used.append("rephrase")
    if "multi_strategy" in stages and profile[MultiStrategyOptions].planner != "rule":
        used += _PLANNING
    return {name: text_digest(prompt(name)) for name in sorted(set(used))}


# The blocks of a request that have a text of their own, by the first line of each.
_BLOCKS = {"examples": "<examples>", "graph_context": "<graph-context>"}


def _known_paths(pipeline: Pipeline) -> Mapping[str, str]:
    """Return the paths that a warning may name, and what stands for each: no expression finds one with a space in it.

    What has no slash ("." or a folder's name) shows nothing of the machine, and may be a part of any word.
    """
    root, model = pipeline.pack.layout.root, pipeline.profile[CrossEncoderOptions].model
    found: dict[str, str] = {}
    for folder in (*_home(), cache_folder(), installed_packs()):
        found |= {str(folder): "…", str(folder.resolve()): "…"}
    if _is_path(model):
        name = f"…/{portable(pipeline.profile)[CrossEncoderOptions].model}"
        found |= dict.fromkeys((model, *_expanded(model)), name)
    found |= {str(root): "PACK", str(root.resolve()): "PACK"}
    # As a warning has them: on one line, with one space where there may be several.
    paths = {" ".join(path.rstrip("/").split()): name for path, name in found.items()}
    return {path: paths[path] for path in sorted(paths, key=lambda path: (-len(path), path)) if "/" in path}


def _home() -> tuple[Path, ...]:
    try:
        return (Path.home(),)
    except RuntimeError:  # a user whom the system does not know
        return ()


def _expanded(model: str) -> tuple[str, ...]:
    """Return the folder that ``model`` names, as it is from the root and behind its links."""
    try:
        path = Path(model).expanduser()
        return str(path), str(path.absolute()), str(path.resolve())
    except (OSError, ValueError, RuntimeError):
        return ()


def _without_paths(text: str, known: Mapping[str, str]) -> str:
    """Return a warning with the last part of every path in it: whoever reads a receipt has other folders."""
    for path, name in known.items():
        before = r"(?<![\w.~…-])" if path.startswith("/") else r"(?<![\w./~…-])"
        text = name.join(re.split(rf"{before}{re.escape(path)}(?![\w-]|\.\w)", text))
    for paths in (_QUOTED_PATH, _PATH):
        text = paths.sub(lambda path: "…/" + path.group().rstrip("/").rpartition("/")[2], text)
    return text


def _without_secrets(receipt: Receipt, model: Claude | None) -> Receipt:
    """Return ``receipt`` without the credentials of ``model``: replies are without them, other words may not be."""
    if model is None:
        return receipt
    clean = model.secrets.clean
    asked = receipt.model
    return replace(
        receipt,
        answer=clean(receipt.answer),
        model=ModelRecord(clean(asked.id), clean(asked.base_url)) if asked else None,
        unverified=tuple(map(clean, receipt.unverified)),
        cypher_query=clean(receipt.cypher_query),
        graph_context=tuple(map(clean, receipt.graph_context)),
        warnings=tuple(map(clean, receipt.warnings)),
    )
