"""Everything that is printed: JSON documents, JSON Lines, and text for people."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from wikigr_cli.environment import Environment, plain
from wikigr_cli.wrapping import cells, cut

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer
    from wikigr.build.build import BuildReport
    from wikigr.build.extraction import ExtractionReport
    from wikigr.checks import Check
    from wikigr.embeddings.models import PreparedModel
    from wikigr.errors import WikigrError
    from wikigr.evaluation.gate import GateResult
    from wikigr.pack.layout import Layout
    from wikigr.pack.manifest import Manifest
    from wikigr.pipeline.pipeline import Pipeline
    from wikigr.retrieval.candidate import Candidate, Evidence
    from wikigr.retrieval.trace import Trace

SCHEMA_VERSION = 1
_SNIPPET = 160
# Tables of figures are laid out for a terminal of this width, whatever they are written to.
_WIDTH = 80
# YAML breaks a line after the word that reaches this column.
_YAML_WIDTH = 68
# Candidates that were not read, of which `--explain` prints so many; the JSON has all.
_SHOWN_DROPPED = 20
# The one case in which a section is not read and no stage says why.
_OTHER_ARTICLE = "only sections of the best article are read (multi_doc is off)"
# A heading is broken into lines of so many characters at least.
_NARROWEST = 10


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
        for line in _stage_lines(_stages(trace)):
            environment.note(line)
    for warning in trace.warnings:
        environment.note(f"wikigr: {plain(warning)}")


def search_document(question: str, evidence: Sequence[Evidence], trace: Trace, profile: str) -> dict[str, Any]:
    """Return what ``wikigr search --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "question": question,
        "results": [_result(rank, item) for rank, item in enumerate(evidence, start=1)],
        "profile": profile,
        "degraded": trace.degraded,
        "warnings": trace.warnings,
        "timings": dict(trace.timings()),
    }


def _result(rank: int, item: Evidence) -> dict[str, Any]:
    section = item.section
    return {
        "rank": rank,
        "title": section.title,
        "section_id": section.section_id,
        "section": section.heading,
        "source_id": section.source_id,
        **_scores(item.candidate),
        "content": section.content,
    }


def _scores(candidate: Candidate) -> dict[str, Any]:
    return {
        "score": round(candidate.score, 6),
        "scores": {name: round(value, 6) for name, value in candidate.scores.items()},
    }


def search_results(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print search results for a person."""
    from wikigr.retrieval.candidate import place

    if not document["results"]:
        environment.note("Nothing in the pack matches.")
    for result in document["results"]:
        section = place(result["title"], result["section"])
        environment.print(f"{result['rank']:>3}. {plain(section)}", style="bold", end="")
        environment.print(f"  {result['score']:.3f}", style="dim", hang=5)
        text = " ".join(result["content"].split())
        snippet = text if len(text) <= _SNIPPET else text[:_SNIPPET].rsplit(" ", 1)[0] + " …"
        environment.print(f"     {plain(snippet)}")


def rerank_document(
    given: Mapping[str, Any], results: Sequence[Mapping[str, Any]], method: str, trace: Trace
) -> dict[str, Any]:
    """Return what ``wikigr rerank --json`` prints: the given document with other results."""
    return {
        **given,
        "results": [_ranks_first(result) for result in results],
        "method": method,
        "degraded": trace.degraded,
        "warnings": trace.warnings,
        "timings": dict(trace.timings()),
    }


def _ranks_first(result: Mapping[str, Any]) -> dict[str, Any]:
    ranks = {"rank": result["rank"], "old_rank": result["old_rank"]}
    return {**ranks, **{key: value for key, value in result.items() if key not in ranks}}


def reranked(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print reranked results for a person, with their old ranks."""
    from wikigr.retrieval.candidate import place

    for result in document["results"]:
        section = place(result["title"], result.get("section"))
        moved = result["old_rank"] - result["rank"]
        was = "" if not moved else f"  was {result['old_rank']}"
        environment.print(f"{result['rank']:>3}. {plain(section)}", style="bold", end="")
        environment.print(f"  {result['score']:.3f}{was}", style="dim", hang=5)


def value(item: object) -> str:
    """Return a setting as YAML would write it."""
    return "null" if item is None else str(item).lower() if isinstance(item, bool) else plain(str(item))


def yaml_document(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print a mapping as YAML, its keys in their order."""
    import yaml

    environment.write(yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True, width=_YAML_WIDTH))


def answer_document(answer: Answer, pipeline: Pipeline, *, explain: bool) -> dict[str, Any]:
    """Return what ``wikigr ask --json`` prints."""
    manifest = pipeline.pack.manifest
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "question": answer.question,
        "answer": answer.text,
        "abstained": answer.abstained,
        "confidence": round(answer.confidence, 4),
        "query_type": answer.query_type,
        "sources": answer.sources,
        "citations": [
            {
                "n": c.n,
                "title": c.title,
                "section_id": c.section_id,
                "section": c.heading,
                "source_id": c.source_id,
                "quote": c.quote,
                "start": c.start,
                "end": c.end,
            }
            for c in answer.citations
        ],
        "unverified_claims": list(answer.unverified),
        "entities": pipeline.entities(answer),
        "facts": pipeline.facts(answer),
        "cypher_query": answer.cypher_query,
        "profile": answer.profile,
        "degraded": answer.trace.degraded,
        "warnings": answer.trace.warnings,
        "pack": {"name": manifest.name, "version": manifest.version, "digest": manifest.digest},
        "model": answer.model,
        "usage": answer.usage.to_dict(),
        "timings": dict(answer.trace.timings()),
    }
    if explain:
        document["explain"] = _explain(answer)
    return document


def failure_document(id_: str | int, question: str, error: WikigrError) -> dict[str, Any]:
    """Return the line of ``wikigr ask --batch`` for a question that could not be answered."""
    return {"id": id_, "schema_version": SCHEMA_VERSION, "question": question, "error": error.message}


def _explain(answer: Answer) -> dict[str, Any]:
    cited = {(c.section_id, c.start) for c in answer.citations}
    return {
        "stages": _stages(answer.trace),
        "candidates": _candidates(answer),
        "sentences": [
            {
                "section_id": s.section.section_id,
                "start": s.start,
                "end": s.end,
                "text": s.text,
                "score": round(s.score, 4),
                "parts": {part: round(value, 4) for part, value in s.parts().items()},
                "cited": (s.section.section_id, s.start) in cited,
            }
            for s in answer.sentences
        ],
    }


def _stages(trace: Trace) -> list[dict[str, Any]]:
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


def _candidates(answer: Answer) -> list[dict[str, Any]]:
    """Return all that was ranked, best first; one that was not read has a ``reason`` and no text."""
    read = {item.section.section_id: item for item in answer.evidence}
    # What was read without having been ranked comes last.
    candidates = {c.section_id: c for c in (*answer.ranking, *(item.candidate for item in answer.evidence))}
    reasons = {section_id: why for record in answer.trace.stages for section_id, why in record.dropped.items()}
    return [
        {**_result(rank, read[candidate.section_id]), "reason": None}
        if candidate.section_id in read
        else {
            "rank": rank,
            "title": candidate.title,
            "section_id": candidate.section_id,
            "section": None,
            "source_id": None,
            **_scores(candidate),
            "content": None,
            "reason": reasons.get(candidate.section_id, _OTHER_ARTICLE),
        }
        for rank, candidate in enumerate(candidates.values(), start=1)
    ]


def print_answer(environment: Environment, answer: Answer, *, explain: bool, streamed: bool = False) -> None:
    """Print an answer for a person; of one that was ``streamed`` only what belongs below it."""
    from wikigr.retrieval.candidate import place

    # A model that was asked has shown its answer already; what it knows of itself is not streamed.
    shown = streamed and bool(answer.model) and answer.query_type != "own_knowledge"
    environment.print("" if shown else plain(answer.text))
    if answer.abstained:
        titles = list(dict.fromkeys(item.section.title for item in answer.evidence))[:3]
        if titles:
            environment.print(f"Nearest articles: {', '.join(map(plain, titles))}", style="dim")
    else:
        environment.print()
        environment.print("Sources", style="bold")
        for citation in answer.citations:
            section = place(citation.title, citation.heading)
            environment.print(f"  [{citation.n}] {plain(section)}", end="")
            environment.print(f"  {plain(citation.section_id)} [{citation.start}:{citation.end}]", style="dim", hang=6)
    environment.print(f"Confidence {answer.confidence:.2f}", style="dim")
    if answer.unverified:
        environment.print(f"{len(answer.unverified)} of the claims could not be verified.", style="yellow")
    if answer.usage.calls:
        environment.print(_spent(answer), style="dim")
    if explain:
        _explanation(environment, _explain(answer))


def _spent(answer: Answer) -> str:
    usage = answer.usage
    read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    price = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    return f"{plain(answer.model)}: {read:,} tokens in, {usage.output_tokens:,} out, {price}"


def _explanation(environment: Environment, explain: Mapping[str, Any]) -> None:
    environment.print()
    environment.print("Stages", style="bold")
    for line in _stage_lines(explain["stages"]):
        environment.print(line, hang=31)
    environment.print("Sections", style="bold")
    for result in explain["candidates"]:
        if result["reason"] is not None:
            continue
        parts = ", ".join(
            f"{name} {value:.3f}"
            + (f" (rank {result['scores'][f'{name}_rank']:.0f})" if f"{name}_rank" in result["scores"] else "")
            for name, value in result["scores"].items()
            if not name.endswith("_rank")
        )
        environment.print(
            f" {result['rank']:>3}. {result['score']:.3f}  {plain(result['section_id'])}  {parts}", hang=13
        )
    dropped = [result for result in explain["candidates"] if result["reason"] is not None]
    if dropped:
        environment.print("Dropped", style="bold")
    for result in dropped[:_SHOWN_DROPPED]:
        line = f" {result['rank']:>3}. {result['score']:.3f}  {plain(result['section_id'])}  {result['reason']}"
        environment.print(line, hang=13)
    if len(dropped) > _SHOWN_DROPPED:
        environment.print(f"      … and {len(dropped) - _SHOWN_DROPPED:,} more (--json has all)", style="dim")
    environment.print("Sentences", style="bold")
    for sentence in explain["sentences"][:12]:
        mark = "*" if sentence["cited"] else " "
        parts = ", ".join(f"{part} {value:.2f}" for part, value in sentence["parts"].items())
        place = f"{sentence['section_id']} [{sentence['start']}:{sentence['end']}]"
        environment.print(f" {mark} {sentence['score']:.3f}  {plain(place)}  {parts}", hang=10)
        environment.print(f"          {plain(' '.join(sentence['text'].split())[:100])}", style="dim")


def _stage_lines(stages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
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


def build_document(report: BuildReport, folder: Path) -> dict[str, Any]:
    """Return what ``wikigr pack build --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "pack": str(folder),
        "name": report.manifest.name,
        "digest": report.manifest.digest,
        "counts": dict(report.manifest.counts),
        "skipped": dict(report.skipped),
        "bad_records": [asdict(bad) for bad in report.bad_records],
        "links_to_nowhere": report.lost_links,
        "embedded": report.embedded,
        "reused": report.reused,
        "extraction": _extraction(report.extraction),
    }


def _extraction(report: ExtractionReport | None) -> dict[str, Any] | None:
    if report is None:
        return None
    return {
        "model": report.model,
        "prompt": report.prompt,
        "sections": report.sections,
        "failed": [asdict(failed) for failed in report.failed],
        "kept": report.kept,
        "asked": report.asked,
        "cached": report.cached,
        "dropped": dict(report.dropped),
        "usage": report.usage.to_dict(),
    }


def build_report(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print what a build did: the pack on stdout, what was left out on stderr."""
    for bad in document["bad_records"]:
        environment.note(f"Left out {plain(bad['where'])}: {plain(bad['reason'])}")
    for reason, count in document["skipped"].items():
        environment.note(f"Skipped {count:,}: {reason}")
    if document["links_to_nowhere"]:
        environment.note(f"Dropped {counted(document['links_to_nowhere'], 'hyperlinks')} to nothing in the pack.")
    extraction = document["extraction"]
    if extraction is not None:
        _tell_extraction(environment, extraction)
    counts = ", ".join(counted(count, name) for name, count in document["counts"].items() if count)
    environment.print(f"{document['pack']}: {counts}")
    environment.print(
        f"digest {document['digest'][:16]}, {counted(document['embedded'], 'sections')} embedded, "
        f"{document['reused']:,} reused",
        style="dim",
    )


def _tell_extraction(environment: Environment, extraction: Mapping[str, Any]) -> None:
    for failed in extraction["failed"]:
        environment.note(f"Not read: {plain(failed['section_id'])}: {plain(failed['reason'])}")
    for reason, count in extraction["dropped"].items():
        environment.note(f"Not believed {count:,}: {reason}")
    usage = extraction["usage"]
    price = "cost unknown" if usage["cost_usd"] is None else f"${usage['cost_usd']:.4f}"
    read, calls = counted(extraction["sections"], "sections"), counted(extraction["asked"], "calls")
    environment.note(
        f"{plain(extraction['model'])} read {read} ({extraction['kept']:,} in an earlier run, "
        f"{extraction['cached']:,} from the cache of replies): {calls}, {price}."
    )


def manifest_document(manifest: Manifest, layout: Layout) -> dict[str, Any]:
    """Return what ``wikigr pack info --json`` prints."""
    return {"schema_version": SCHEMA_VERSION, "path": str(layout.root), **asdict(manifest)}


def manifest(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print a manifest for a person."""
    environment.print(f"{plain(document['name'])} {plain(document['version'])}", style="bold")
    encoder = document["encoder"]
    rows = {
        "path": document["path"],
        "description": document["description"],
        "license": document["license"],
        "source": f"{document['source']['name']} ({document['source']['format']})",
        "created": document["created"],
        "holds": ", ".join(counted(count, name) for name, count in document["counts"].items() if count),
        "encoder": f"{encoder['model_id']}, {encoder['dimension']} dimensions, weights {encoder['weights_sha256'][:12]}"
        + (" (bundled)" if document["bundled_encoder"] else ""),
        "engine": f"{document['engine']} {document['engine_version']} (storage {document['storage_version']})",
        "vectors": "index" if document["vector_index"] else "exact scan",
        "extraction": _read_by(document["extraction"]),
        "digest": document["digest"],
        "made by": f"wikigr {document['wikigr_version']}",
    }
    for label, value in rows.items():
        if value:
            environment.print(f"  {label:<12} {plain(str(value))}", hang=15)


def _read_by(extraction: Mapping[str, Any]) -> str:
    if not extraction:
        return ""
    failed = f", {extraction['failed']} failed" if extraction.get("failed") else ""
    return f"{extraction.get('model')}, {counted(extraction.get('sections', 0), 'sections')} read{failed}"


def pack_table(environment: Environment, packs: Sequence[Mapping[str, Any]], roots: Sequence[Path]) -> None:
    """Print the packs found, one a line, by the name to use: of an installed pack that need not be its own."""
    if not packs:
        environment.note(f"No packs in {' or '.join(map(str, roots))}.")
        return
    rows = [("name", "version", "articles", "sections", "path")]
    for pack in packs:
        counts = pack["counts"]
        figures = (f"{counts['articles']:,}", f"{counts['sections']:,}")
        used = pack["installed_as"] or pack["name"]
        name = plain(used if used == pack["name"] else f"{used} ({pack['name']})")
        rows.append((name, plain(pack["version"]), *figures, plain(pack["path"])))
    names, versions, articles, sections = (max(cells(row[column]) for row in rows) for column in range(4))
    for number, row in enumerate(rows):
        line = f"{_padded(row[0], names)}  {_padded(row[1], versions)}  {row[2]:>{articles}}  {row[3]:>{sections}}  "
        width = environment.width(environment.stdout)
        # The end of a path says more than its beginning.
        path = row[4] if width is None else cut(row[4], max(width - cells(line), _NARROWEST), front=True)
        environment.print(line + path, style="" if number else "bold", overflow="keep")


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cells(text))


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


def evaluation(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print the report of a run for a person."""
    from wikigr.evaluation.reports import text

    _table(environment, *text.profile_rows(document))
    environment.print(text.legend(document), style="dim")
    notices(environment, document["notices"])
    for profile in document["profiles"]:
        if profile["errors"] or profile["degraded"]:
            environment.print(
                f"{plain(profile['name'])}: {counted(profile['errors'], 'samples')} failed, "
                f"{profile['degraded']:,} degraded",
                style="yellow",
            )
    judged = text.judge_line(document)
    if judged is not None:
        environment.print(plain(judged))
    for item in document["comparisons"]:
        environment.print()
        environment.print(plain(text.headline(item)), style="bold")
        comparison(environment, item)
    for table, note in (
        (text.abstention_rows(document), text.ABSTENTION_LEGEND),
        (text.repeat_rows(document), text.repeat_legend(document)),
        (text.latency_rows(document), ""),
    ):
        if table is not None:
            environment.print()
            _table(environment, *table)
            if note:
                environment.print(note, style="dim")


def comparison(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print one comparison for a person; of the effects that would show, that of the primary metric only."""
    from wikigr.evaluation.reports.text import comparison_rows

    caveats(environment, document.get("caveats", ()))
    _table(environment, *comparison_rows(document, compact=True))
    result = next((r for r in document["results"] if r["metric"] == document["primary"]), None)
    if result is not None and result["mde"]:
        effect = f"a difference in {document['primary']} of {result['mde']:.3f}"
        environment.print(f"Four times in five, so many questions would show {effect}.", style="dim")
    if document["unpaired"]:
        environment.print(f"Answered by one side only: {counted(document['unpaired'], 'questions')}.", style="yellow")


def caveats(environment: Environment, found: Sequence[str]) -> None:
    """Print, as part of the result, why two runs that were compared should not have been."""
    if found:
        text = f"Compared by force although {' and '.join(found)}: only questions of both count."
        environment.print(text, style="yellow")


def notices(environment: Environment, found: Sequence[str]) -> None:
    """Print, as part of the result, what keeps its figures from being what they seem."""
    for notice in found:
        environment.print(_one_line(notice), style="yellow")


def flips(environment: Environment, document: Mapping[str, Any], labels: tuple[str, str]) -> None:
    """Print the questions that changed, worse ones first; ``labels`` tell the two sides apart."""
    caveats(environment, document["caveats"])
    notices(environment, document["notices"])
    for flip in document["flips"]:
        mark = "worse" if flip["worse"] else "better"
        environment.print(f"{_one_line(flip['question_id'])} {mark}: {_one_line(flip['question'])}", style="bold")
        environment.print(f"  expected: {_one_line(' | '.join(flip['answers'])) or 'no answer'}")
        for side in flip["sides"]:
            environment.print(f"  {_one_line(side['label'])}: {_one_line(side['answer'])}", hang=4)
            environment.print(f"    read: {_one_line(', '.join(side['ranking']))}", style="dim", hang=6)
            environment.print(f"    {_one_line(side['command'])}", style="dim", overflow="keep")
    if not document["paired"]:
        names = " and ".join(map(_one_line, labels))
        environment.print(
            f"Nothing could change: no question has {document['primary']} under both {names}.", style="yellow"
        )
    elif not document["flips"]:
        environment.note(f"No question changed, of {document['paired']:,}.")


def gate(environment: Environment, result: GateResult, questions: Mapping[str, Mapping[str, Any]]) -> None:
    """Print the outcome of a gate for a person."""
    outcome, style = ("passed", "green") if result.passed else ("failed", "red")
    environment.print(f"The gate for {_one_line(result.profile)}: {outcome}", style=style)
    for check in result.checks:
        mark, style = ("ok", "green") if check.passed else ("FAILED", "red")
        environment.print(f"{mark:<7}", style=style, end="")
        environment.print(f"{check.name}: {check.detail}", hang=7)
    for id_ in result.regressed:
        question = str(questions.get(id_, {}).get("question", ""))
        environment.print(f"       worse: {_one_line(id_)} {_one_line(question)}")
    for caveat in result.caveats:
        environment.print(f"       note: {_one_line(caveat)}", style="yellow")


def _one_line(text: str) -> str:
    """Return ``text`` so that none of it can begin a line: on GitHub Actions a line may be a command."""
    return plain(" ".join(text.split()))


def _table(environment: Environment, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table whose columns are aligned, the first to the left; what 80 columns cannot hold goes below it."""
    cells = [[plain(cell) for cell in row] for row in rows]
    widths = [max((len(row[column]) for row in cells), default=0) for column in range(len(head))]
    # A long name of a profile takes several lines, rather than the place of another column.
    headings = [
        wrap(plain(name), max(width, _NARROWEST), break_long_words=False)
        for name, width in zip(head, widths, strict=True)
    ]
    widths = [max([width, *map(len, lines)]) for width, lines in zip(widths, headings, strict=True)]
    room = min(environment.width(environment.stdout) or _WIDTH, _WIDTH)
    for number, columns in enumerate(_blocks(widths, room)):
        if number:
            environment.print()
        height = max(len(headings[column]) for column in columns)
        # A heading of fewer lines stands at the bottom, next to its column.
        raised = [[""] * (height - len(headings[column])) + headings[column] for column in columns]
        for words in zip(*raised, strict=True):
            environment.print(_row(words, [widths[column] for column in columns]), style="bold", overflow="cut")
        for row in cells:
            line = _row([row[column] for column in columns], [widths[column] for column in columns])
            environment.print(line, overflow="cut")


def _blocks(widths: Sequence[int], room: int) -> list[list[int]]:
    """Return which columns stand side by side in ``room`` columns: the first always, and at least one other."""
    blocks = [[0]]
    used = widths[0]
    for column in range(1, len(widths)):
        if used + 2 + widths[column] > room and len(blocks[-1]) > 1:
            blocks.append([0])
            used = widths[0]
        blocks[-1].append(column)
        used += 2 + widths[column]
    return blocks


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]).rstrip()
