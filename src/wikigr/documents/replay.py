"""Check offline whether a receipt still matches a pack, without an API key or a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, cast

from wikigr import __version__
from wikigr.checks import Check
from wikigr.documents.answer import answer_document
from wikigr.documents.pack import pack_document
from wikigr.documents.receipt import SETTINGS, ReceiptRead, digest_of
from wikigr.documents.shapes import AnswerDocument, CitationShape, PossibleAnswerShape, ReceiptDocument, SpanShape
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.index.candidate import Section, place
from wikigr.pack.layout import installed_packs
from wikigr.pack.locate import installed_names
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile, profile_names
from wikigr.pipeline.profile_files import load_profile
from wikigr.pipeline.profile_schema import profile_values, validate_profile

Found = Literal["--pack", "installed", "default"]

# What must be the same when the question is asked again. Addresses and source files may change.
_COMPARED: Mapping[str, Callable[[AnswerDocument], Any]] = {
    "query type": lambda document: document["query_type"],
    "answer": lambda document: document["answer"],
    "level": lambda document: document["level"],
    "citations": lambda document: [f"{c['section_id']} [{c['start']}:{c['end']}]" for c in document["citations"]],
    "short answer": lambda document: document["span"] and document["span"]["text"],
    "hops": lambda document: [hop["answer"] for hop in document["chain"]],
    "alternatives": lambda document: [other["answer"] for other in document["alternatives"]],
}


def find_receipts_pack(name: str, given: str | None, default: str | None) -> tuple[str | Path, Found]:
    """Return the location of a receipt's pack: ``given``, else the installed pack called ``name``, else ``default``.

    The name in the receipt is never used as a path. Raises ``PackError`` when none of these exists.
    """
    if given is not None:
        return given, "--pack"
    if name in installed_names():
        return installed_packs() / name, "installed"
    if default is not None:
        return default, "default"
    raise PackError(
        f"The receipt belongs to the pack {name[:80]!r}, which is not installed.",
        hint="Specify the pack: wikigr replay FILE --pack PACK",
    )


def replay(read: ReceiptRead, pack: Pack) -> Iterator[Check]:
    """Yield the checks of a receipt against ``pack``, in a fixed order, without network access.

    A failed check that is not ``required`` is informational.
    """
    receipt = read.document
    yield _check("receipt", "intact", "" if read.intact else "changed since it was written: its own digest differs")
    written = receipt["receipt"]["wikigr_version"]
    same = written == __version__
    detail = __version__ if same else f"written by {written}, replayed by {__version__}"
    yield Check("wikigr", same, detail, required=False)
    own, recorded = pack_document(pack.manifest), receipt["pack"]
    here = f"{own['name']} {own['version']} ({own['digest'][:12]})"
    there = f"{recorded['name']} {recorded['version']} ({recorded['digest'][:12]})" if recorded else "none"
    same = recorded is not None and own["digest"] == recorded["digest"]
    yield _check("pack", here, "" if same else f"its content differs: {here}, not {there}")
    answers: list[PossibleAnswerShape] = [receipt, *receipt["alternatives"]]
    parts = [part for a in answers for part in (*a["citations"], a["span"], a["context"]) if part is not None]
    stored = pack.sections(list(dict.fromkeys(part["section_id"] for part in parts)))
    for number, answer in enumerate(answers):
        yield from _possible_answer(answer, stored, pack, f"alternative {number}: " if number else "")
    quotes = {cited["n"]: cited["quote"] for cited in receipt["citations"]}
    for number, hop in enumerate(receipt["chain"], start=1):
        where = f"{hop['answer']} [{hop['n']}]"
        found = hop["answer"] in quotes.get(hop["n"], "")
        yield _check(f"hop {number}", where, "" if found else f"{where}: the quote does not contain it")
    yield _ask_again(receipt, pack)


def _check(name: str, detail: str, problem: str) -> Check:
    return Check(name, not problem, problem or detail)


def _possible_answer(
    answer: PossibleAnswerShape, stored: Mapping[str, Section], pack: Pack, name: str
) -> Iterator[Check]:
    """Check that the quotations, the short answer and the surroundings are in their sections."""
    for cited in answer["citations"]:
        where = f"{place(cited['title'], cited['section'])} [{cited['start']}:{cited['end']}]"
        problem = _cited(cited, stored, pack)
        yield _check(f"{name}citation [{cited['n']}]", where, problem and f"{where}: {problem}")
    for part, called in ((answer["span"], "short answer"), (answer["context"], "surroundings")):
        if part is not None:
            where = f"{part['section_id']} [{part['start']}:{part['end']}]"
            problem = "" if _is_stored(part, part["text"], stored) else f"{where}: the text is another one"
            yield _check(f"{name}{called}", where, problem)


def _is_stored(part: SpanShape | CitationShape, text: str, stored: Mapping[str, Section]) -> bool:
    section = stored.get(part["section_id"])
    return section is not None and part["start"] >= 0 and section.content[part["start"] : part["end"]] == text


def _cited(cited: CitationShape, stored: Mapping[str, Section], pack: Pack) -> str:
    """Return how a citation differs from the pack, or an empty string."""
    section = stored.get(cited["section_id"])
    if _is_stored(cited, cited["quote"], stored) and section is not None:
        same = (section.title, section.heading) == (cited["title"], cited["section"])
        return "" if same else f"the section is now {place(section.title, section.heading)}"
    if not (cited["quote"] and section is not None and cited["quote"] in section.content):
        # Another section of the same article comes first.
        rows = pack.graph.rows(
            "MATCH (s:Section) WHERE contains(s.content, $quote) RETURN s.section_id "
            "ORDER BY s.article_title <> $title, s.section_id LIMIT 1",
            {"quote": cited["quote"], "title": cited["title"]},
        )
        section = pack.sections([rows[0][0]])[rows[0][0]] if rows and cited["quote"] else None
    if section is None:
        return "the quote is no longer in the pack"
    start = section.content.find(cited["quote"])
    return f"the quote moved to {section.section_id} [{start}:{start + len(cited['quote'])}]"


def _ask_again(receipt: ReceiptDocument, pack: Pack) -> Check:
    """Ask the question again, unless that takes a model or a profile that this machine does not have."""
    name = "asked again"
    if receipt["model"] or receipt["usage"]["calls"]:
        digest = receipt["receipt"]["model_sha256"]
        model = " ".join(filter(None, (receipt["model"], digest and f"({digest[:12]})")))
        return Check(name, False, f"not done, because the answer depends on a model: {model}", required=False)
    if receipt["profile"] not in profile_names():
        return Check(name, False, f"not done: there is no profile {receipt['profile'][:80]!r} here", required=False)
    try:
        profile, changed = _profile(receipt)
        pipeline = Pipeline(profile, pack, offline=True)
        again = answer_document(pipeline.answer(receipt["question"]), pipeline)
    except WikigrError as error:
        return Check(name, False, f"no answer: {error.message}", error.hint or "")
    differing = [
        f"{what}: now {view(again)!r}, then {view(receipt)!r}"
        for what, view in _COMPARED.items()
        if view(again) != view(receipt)
    ]
    # The last digits of vectors, and therefore of confidences, may differ between processors.
    if abs(again["confidence"] - receipt["confidence"]) > 1e-3:
        differing.append(f"confidence: now {again['confidence']:.3f}, then {receipt['confidence']:.3f}")
    if differing and changed:
        differing.append(f"the profile {receipt['profile']} has changed")
    return _check(name, "the same answer, citations and confidence", "; ".join(differing))


def _profile(receipt: ReceiptDocument) -> tuple[Profile, bool]:
    """Return the profile of a receipt with the options that the question was asked with, and whether it has changed.

    The receipt is untrusted: only its ``SETTINGS`` are used. Raises ``UsageError`` for a value that they cannot have.
    """
    values = profile_values(load_profile(receipt["profile"]))
    changed = digest_of(values) != receipt["receipt"]["profile_sha256"]
    settings = cast("Mapping[str, Any]", receipt["receipt"]["settings"])
    for key in SETTINGS:
        if key in settings:
            section, _, field = key.partition(".")
            values[section][field] = settings[key]
    try:
        return validate_profile(values), changed
    except ValueError as error:
        raise UsageError("the settings of the receipt are not valid") from error
