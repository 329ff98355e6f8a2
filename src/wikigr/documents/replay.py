"""Check offline whether a receipt still matches a pack, without an API key or a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wikigr import __version__
from wikigr.answer.answer import Answer
from wikigr.answer.citations import StoredText
from wikigr.answer.requests import own_knowledge_request
from wikigr.answer.synthesizer import Synthesizer
from wikigr.checks import Check
from wikigr.documents.receipt import (
    AlternativeRecord,
    Cited,
    ModelRecord,
    PackRecord,
    PromptRecord,
    ReadSection,
    Receipt,
    portable,
    prompt_digest,
    text_digest,
)
from wikigr.documents.receipt_file import ReceiptRead
from wikigr.errors import PackError, WikigrError
from wikigr.index.candidate import Candidate, Evidence, Section, place
from wikigr.llm.options import FewShotOptions, SynthesisOptions
from wikigr.pack.layout import installed_packs
from wikigr.pack.locate import installed_names
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile, profile_names
from wikigr.pipeline.profile_files import differences, load_profile
from wikigr.rerankers.cross_encoder import CrossEncoderOptions
from wikigr.retrieval.state import Resources
from wikigr.retrieval.trace import Trace

Found = Literal["--pack", "installed", "default"]

# The last digits of vectors, and therefore of confidences, may differ between processors.
_CONFIDENCE_TOLERANCE = 1e-3
_DIGEST_PREFIX = 12


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """The location of a pack, and how it was found."""

    location: str | Path
    found: Found


def find_receipts_pack(record: PackRecord, given: str | None, default: str | None) -> Whereabouts:
    """Return the location of a receipt's pack: ``given``, else the installed pack with its name, else ``default``.

    The name in the receipt is never used as a path. Raises ``PackError`` when none of these exists.
    """
    if given is not None:
        return Whereabouts(given, "--pack")
    if record.name in installed_names():
        return Whereabouts(installed_packs() / record.name, "installed")
    if default is not None:
        return Whereabouts(default, "default")
    raise PackError(
        f"The receipt belongs to the pack {record.name[:80]!r}, which is not installed.",
        hint="Specify the pack: wikigr replay FILE --pack PACK",
    )


def replay(read: ReceiptRead, pack: Pack) -> Iterator[Check]:
    """Yield the checks of a receipt against ``pack``, in a fixed order, without network access.

    A failed check that is not ``required`` is informational.
    """
    receipt = read.receipt
    yield _check("receipt", read.intact, "intact", "changed since it was written: its own hash differs")
    yield _version(receipt.wikigr_version)
    yield _pack(receipt.pack, pack)
    own, recorded = pack.manifest.encoder, receipt.encoder
    yield _check(
        "encoder",
        own == recorded,
        f"{own.model_id}, the same weights",
        f"{own.model_id} ({own.weights_sha256[:_DIGEST_PREFIX]}) in the pack, but "
        f"{recorded.model_id} ({recorded.weights_sha256[:_DIGEST_PREFIX]}) in the receipt",
    )
    profile, check = _profile(read)
    yield check
    stored = pack.sections(list(dict.fromkeys(_section_ids(receipt))))
    yield from _possible_answer(receipt, stored, pack)
    yield from _hops(receipt)
    for number, alternative in enumerate(receipt.alternatives, start=1):
        yield from _possible_answer(alternative, stored, pack, f"alternative {number}: ")
    changed = []
    for item in receipt.evidence:
        problem = _read_section(item, stored.get(item.section_id), pack)
        if problem:
            changed.append(item.section_id)
        yield _check(f"section {item.section_id}", not problem, "the same text", problem)
    if receipt.model is None:
        yield _ask_again(read, profile, pack)
        return
    templates = _changed_templates(receipt.templates)
    yield _check(
        "prompt texts", not templates, f"{len(receipt.templates)}, unchanged", f"changed in this wikigr: {templates}"
    )
    for record in receipt.prompts:
        problem = _prompt(record, read, profile, pack, stored, changed)
        yield _check(f"prompt ({record.purpose})", not problem, "rebuilt, unchanged", problem)
    yield Check(
        "answer",
        False,
        f"not asked again, because it depends on the model {_model(receipt.model)}; only its citations were checked",
        required=False,
    )


def _model(record: ModelRecord) -> str:
    return record.id if record.sha256 is None else f"{record.id} ({record.sha256[:_DIGEST_PREFIX]})"


def _check(name: str, passed: bool, detail: str, problem: str) -> Check:
    return Check(name, passed, detail if passed else problem)


def _version(written: str) -> Check:
    same = written == __version__
    detail = __version__ if same else f"written by {written}, replayed by {__version__}"
    return Check("wikigr", same, detail, required=False)


def _pack(record: PackRecord, pack: Pack) -> Check:
    manifest = pack.manifest
    here = f"{manifest.name} {manifest.version} ({manifest.digest[:_DIGEST_PREFIX]})"
    there = f"{record.name} {record.version} ({record.digest[:_DIGEST_PREFIX]})"
    return _check("pack", manifest.digest == record.digest, here, f"its content differs: {here}, not {there}")


def _profile(read: ReceiptRead) -> tuple[Profile | None, Check]:
    """Return the profile for asking again, if it is safe to use, and a check that it equals the local one of that name.

    The profile in the receipt is untrusted, so a cross-encoder that it names is never opened. A local profile may name
    any.
    """
    record = read.receipt.profile
    cross_encoder = record.content[CrossEncoderOptions]
    usable = not cross_encoder.enabled or cross_encoder.model == CrossEncoderOptions().model
    profile = record.content if usable else None
    if not record.known:
        detail = f"{record.name} came from a file, so the copy in the receipt is used"
        return profile, Check("profile", False, detail, required=False)
    if record.name not in profile_names():
        return profile, Check("profile", False, f"this machine has no profile {record.name}")
    try:
        own = load_profile(record.name)
    except WikigrError as error:
        return profile, Check("profile", False, f"cannot read {record.name}: {error.message}")
    differing = [key for key, _, _ in differences(portable(own), record.content) if key not in record.flags]
    if differing:
        return profile, Check("profile", False, f"{record.name} has changed: {', '.join(differing)}")
    flags = f", except for flags: {', '.join(sorted(record.flags))}" if record.flags else ""
    used = record.content.with_options(own[CrossEncoderOptions])
    return used, Check("profile", True, record.name + flags)


def _cited(cited: Cited, section: Section | None, pack: Pack) -> str:
    """Return how a citation differs from the pack, or an empty string."""
    if section is not None:
        if section.content[cited.start : cited.end] == cited.quote:
            if (section.title, section.heading) == (cited.title, cited.heading):
                return ""
            return f"the section is now {place(section.title, section.heading)}"
        start = _nearest(section.content, cited.quote, cited.start)
        if start >= 0:
            return f"the quote moved to [{start}:{start + len(cited.quote)}] of the section"
    other = _find_quote(cited, pack)
    if other is None:
        return "the quote is no longer in the pack"
    start = other.content.find(cited.quote)
    where = "another section" if other.title == cited.title else "another article"
    return (
        f"the quote moved to {where}: {place(other.title, other.heading)}, {other.section_id} "
        f"[{start}:{start + len(cited.quote)}]"
    )


def _section_ids(receipt: Receipt) -> Iterator[str]:
    """Yield the sections of everything that is checked."""
    answers: list[Receipt | AlternativeRecord] = [receipt, *receipt.alternatives]
    for answer in answers:
        yield from (cited.section_id for cited in answer.citations)
        yield from (part.section_id for part in (answer.span, answer.context) if part is not None)
    yield from (item.section_id for item in receipt.evidence)


def _possible_answer(
    answer: Receipt | AlternativeRecord, stored: Mapping[str, Section], pack: Pack, name: str = ""
) -> Iterator[Check]:
    """Check that the quotations, the short answer and the surroundings are in their sections."""
    for cited in answer.citations:
        problem = _cited(cited, stored.get(cited.section_id), pack)
        where = f"{place(cited.title, cited.heading)} [{cited.start}:{cited.end}]"
        yield _check(f"{name}citation [{cited.n}]", not problem, where, f"{where}: {problem}")
    span, context = answer.span, answer.context
    if span is not None:
        where = f"{span.section_id} [{span.start}:{span.end}]"
        same = _is_stored(span, stored)
        yield _check(f"{name}short answer", same, f"{span.text!r} at {where}", f"{span.text!r} is not at {where}")
    if context is not None:
        where = f"{context.section_id} [{context.start}:{context.end}]"
        yield _check(f"{name}surroundings", _is_stored(context, stored), where, f"the text at {where} is another one")


def _is_stored(part: StoredText, stored: Mapping[str, Section]) -> bool:
    section = stored.get(part.section_id)
    return section is not None and section.content[part.start : part.end] == part.text


def _hops(receipt: Receipt) -> Iterator[Check]:
    """Check that the answer of each hop is in the quote that it cites."""
    quotes = {cited.n: cited.quote for cited in receipt.citations}
    for number, hop in enumerate(receipt.chain, start=1):
        problem = f"{hop.answer!r} is not in the quote of citation [{hop.n}]"
        yield _check(f"hop {number}", hop.answer in quotes.get(hop.n, ""), f"{hop.answer} [{hop.n}]", problem)


def _nearest(text: str, quote: str, start: int) -> int:
    """Return the offset of the occurrence of ``quote`` in ``text`` nearest to ``start``, or -1."""
    before, after = text.rfind(quote, 0, start + len(quote)), text.find(quote, start)
    return min((at for at in (before, after) if at >= 0), key=lambda at: abs(at - start), default=-1)


def _find_quote(cited: Cited, pack: Pack) -> Section | None:
    """Return another section that contains the quote: one of the same article if possible, else the first by id."""
    found = "MATCH (s:Section) WHERE contains(s.content, $quote) AND s.section_id <> $id"
    names = {"quote": cited.quote, "id": cited.section_id}
    rows = pack.graph.rows(
        f"{found} AND s.article_title = $title RETURN s.section_id ORDER BY s.position LIMIT 1",
        {**names, "title": cited.title},
    ) or pack.graph.rows(f"{found} RETURN s.section_id ORDER BY s.section_id LIMIT 1", names)
    return pack.sections([rows[0][0]])[rows[0][0]] if rows else None


def _read_section(item: ReadSection, section: Section | None, pack: Pack) -> str:
    """Return how a section of the evidence differs from the pack, or an empty string."""
    if section is not None and text_digest(section.content) == item.sha256:
        return ""
    problem = "gone" if section is None else "its text changed"
    rows = pack.graph.rows(
        "MATCH (:Article {title: $title})-[:HAS_SECTION]->(s:Section) RETURN s.section_id, s.content "
        "ORDER BY s.position",
        {"title": item.title},
    )
    moved = next((id_ for id_, content in rows if text_digest(content) == item.sha256), None)
    return problem if moved is None else f"{problem}; the original text is now in {moved}"


def _changed_templates(recorded: Mapping[str, str]) -> str:
    from wikigr.llm import prompts

    # Only the names of shipped templates are opened: a name in the receipt may be a path.
    shipped = prompts.prompt_names()
    return ", ".join(
        name
        for name, digest in sorted(recorded.items())
        if name not in shipped or text_digest(prompts.prompt(name)) != digest
    )


def _prompt(
    record: PromptRecord,
    read: ReceiptRead,
    profile: Profile | None,
    pack: Pack,
    stored: Mapping[str, Section],
    changed: list[str],
) -> str:
    """Return why the prompt cannot be rebuilt identically, or an empty string."""
    receipt = read.receipt
    gone = [item.section_id for item in receipt.evidence if item.section_id not in stored]
    try:
        if record.purpose == "own_knowledge":
            request = own_knowledge_request(receipt.question)
        elif gone:
            return f"it cannot be rebuilt without {', '.join(gone)}"
        else:
            evidence = [
                Evidence(stored[item.section_id], Candidate(item.section_id, item.score)) for item in receipt.evidence
            ]
            used = profile or receipt.profile.content
            synthesizer = Synthesizer(Resources(pack, synthesis=used[SynthesisOptions]), used[FewShotOptions])
            request = synthesizer.request(
                receipt.question, evidence, Trace(), record.style, graph_context=receipt.graph_context
            )
    except WikigrError as error:
        return f"it cannot be rebuilt: {error.message}"
    if prompt_digest(request) == record.sha256:
        return ""
    if record.purpose == "synthesis" and changed:
        return f"the rebuilt prompt differs, because {', '.join(changed)} changed"
    return "the prompt rebuilt from the same sections differs: in the prompt texts, the worked examples or the question"


def _ask_again(read: ReceiptRead, profile: Profile | None, pack: Pack) -> Check:
    name = "asked again"
    if profile is None:
        return Check(name, False, "not done: the receipt requires a cross-encoder that no local profile uses")
    try:
        answer = Pipeline(profile, pack, offline=True).answer(read.receipt.question)
    except WikigrError as error:
        return Check(name, False, f"no answer: {error.message}", error.hint or "")
    differing = list(_differing(read, answer))
    return _check(name, not differing, "the same answer, citations and confidence", "; ".join(differing))


def _differing(read: ReceiptRead, answer: Answer) -> Iterator[str]:
    receipt = read.receipt
    if answer.query_type != receipt.query_type:
        yield f"the query type is {answer.query_type}, but was {receipt.query_type}"
    if answer.text != receipt.answer:
        yield f"the answer is: {answer.text}"
    cited = [(c.section_id, c.start, c.end) for c in answer.citations]
    if cited != [(c.section_id, c.start, c.end) for c in receipt.citations]:
        places = ", ".join(f"{section_id} [{start}:{end}]" for section_id, start, end in cited)
        yield f"it cites {places or 'nothing'}"
    yield from _differing_short_answers(receipt, answer)
    if abs(answer.confidence - receipt.confidence) > _CONFIDENCE_TOLERANCE:
        yield f"the confidence is {answer.confidence:.3f}, but was {receipt.confidence:.3f}"
    if receipt.level is not None:
        yield from _differing_level(receipt, answer)


def _differing_level(receipt: Receipt, answer: Answer) -> Iterator[str]:
    """Yield how the level and the alternatives differ; a receipt of an older version has none to compare."""
    if answer.level != receipt.level:
        yield f"the level is {answer.level}, but was {receipt.level}"
    if [other.text for other in answer.alternatives] != [other.answer for other in receipt.alternatives]:
        yield f"the alternatives are: {' / '.join(other.text for other in answer.alternatives) or 'none'}"


def _differing_short_answers(receipt: Receipt, answer: Answer) -> Iterator[str]:
    """Yield how the short answer and the hops differ; a receipt of an older version has none to compare."""
    if receipt.span is not None:
        span = receipt.span
        found = answer.span
        if found is None or (found.section_id, found.start, found.end) != (span.section_id, span.start, span.end):
            yield f"the short answer is {found.text if found is not None else None!r}, but was {span.text!r}"
    if receipt.chain and [hop.answer for hop in answer.chain] != [hop.answer for hop in receipt.chain]:
        yield f"the hops are: {' → '.join(hop.answer for hop in answer.chain) or 'none'}"
