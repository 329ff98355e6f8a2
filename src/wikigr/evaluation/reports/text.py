"""The tables of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wikigr.answer.presentation import LEVEL_WORDS
from wikigr.evaluation.groups import SHOWN

Document = Mapping[str, Any]
Rows = list[list[str]]

_NONE = "—"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a report: its title, headings, rows (the first cell is the name of a row) and legend."""

    title: str
    head: Sequence[str]
    rows: Rows
    legend: str = ""


def short_names(document: Document) -> dict[str, str]:
    """Return the headings of the profiles; those of an ablation name only what is missing."""
    names = [profile["name"] for profile in document["profiles"]]
    prefix = f"{names[0]}-" if names else ""
    return {name: name.removeprefix(prefix) if name.startswith(f"{prefix}without-") else name for name in names}


def summary_table(document: Document) -> Table:
    """Return the table of the primary metric: a row per profile, with its difference from the first."""
    primary, comparisons, names = document["primary"], document["comparisons"], short_names(document)
    compared = {c["second"]: r for c in comparisons for r in c["results"] if r["metric"] == primary}
    head = ["profile", primary, *(("diff.", "95% interval", "verdict") if compared else ())]
    rows = []
    for profile in document["profiles"]:
        name, figure, result = profile["name"], profile["metrics"].get(primary), compared.get(profile["name"])
        row = [names[name], _NONE if figure is None else f"{figure['mean']:.3f}"]
        if result is not None:
            interval = f"{result['interval']['low']:+.3f} to {result['interval']['high']:+.3f}"
            row += [f"{result['difference']:+.3f}", interval, result["verdict"]]
        rows.append(row + [""] * (len(head) - len(row)))
    return Table("Summary", head, rows)


def metric_table(document: Document) -> Table:
    """Return the table of metrics: one column per profile, one row per metric, with means and intervals."""
    profiles = document["profiles"]
    metrics = dict.fromkeys(metric for profile in profiles for metric in profile["metrics"])
    upward = {metric: document["metrics"][metric]["higher_is_better"] for metric in metrics}
    rows = [
        [
            _label(metric, document["primary"], upward[metric]),
            *(estimate(profile["metrics"].get(metric), "mean") for profile in profiles),
        ]
        for metric in metrics
    ]
    lower = "" if all(upward.values()) else "; ↓ lower is better"
    head = ["metric", *short_names(document).values()]
    return Table("Metrics", head, rows, f"Means with 95% intervals; * the primary metric{lower}.")


def comparison_table(comparison: Document) -> Table:
    """Return the table of one comparison: difference, interval, p-value, wins and losses, and the verdict."""
    rows = []
    for result in comparison["results"]:
        p = result["p"] if result["p_adjusted"] is None else result["p_adjusted"]
        interval = result["interval"]
        rows.append(
            [
                _label(result["metric"], comparison["primary"], result["higher_is_better"]),
                f"{result['difference']:+.3f}",
                f"[{interval['low']:+.3f}, {interval['high']:+.3f}]",
                f"{p:.4f}",
                f"{result['wins']}/{result['ties']}/{result['losses']}",
                result["verdict"],
            ]
        )
    head = ["metric", "diff.", "95% interval", "p", "w/t/l", "verdict"]
    return Table(f"{comparison['second']} against {comparison['first']}", head, rows)


def _label(metric: str, primary: str, higher_is_better: bool) -> str:
    return metric + ("" if higher_is_better else " ↓") + (" *" if metric == primary else "")


def estimate(found: Document | None, key: str = "value", *, of: int | None = None) -> str:
    """Return a figure with its interval, of ``of`` answers, or a dash without a figure."""
    if found is None:
        return _NONE
    return f"{found[key]:.3f} [{found['low']:.3f}, {found['high']:.3f}]{'' if of is None else f' of {of}'}"


def further_tables(document: Document) -> Iterator[Table]:
    """Yield the tables that follow the metrics and the comparisons; those without rows are left out."""
    profiles, primary = document["profiles"], document["primary"]
    yield from _groups(document, "Hops", "by_hops", "hops")
    kinds = {(each["hops"], each["type"]) for each in document["questions"] if each["answerable"]}
    hops = {hops for hops, _ in kinds}
    # A single type repeats the metrics, and types that each have their own number of hops repeat the table by hops.
    if len(kinds) > 1 and (len(hops) < len(kinds) or None in hops):
        yield from _groups(document, "Types", "by_type", "type")
    yield from _part(document, "Abstention", "abstention", _ABSTENTION, _ABSTENTION_LEGEND)
    yield from _part(document, "Confidence", "reliability", _CONFIDENCE, _CONFIDENCE_LEGEND)
    levels = next((profile["levels"] for profile in profiles if profile["levels"]), ())
    of_levels = {LEVEL_WORDS[each["level"]].lower(): _level_cell(place) for place, each in enumerate(levels)}
    # Runs of older versions have no levels.
    yield from _part(document, "Levels", "levels", of_levels, _LEVEL_LEGEND)
    repeated = [profile["repeats"]["deviations"] for profile in profiles if profile["repeats"]]
    # A smaller deviation is better for every metric.
    of_repeats = {_label(m, primary, True): _deviation_cell(m) for deviations in repeated for m in deviations}
    yield from _part(
        document,
        "Repeats",
        "repeats",
        {**of_repeats, "unstable questions": _unstable_cell},
        f"Standard deviation between the means of {document['run']['repeat']} repeats; unstable: {primary} differed "
        "between repeats.",
    )
    yield from _latency(document)


Cell = Callable[[Any], str]


def _part(document: Document, title: str, part: str, cells: Mapping[str, Cell], legend: str) -> Iterator[Table]:
    """Yield the table of one part of the profiles that have it; ``cells`` makes the cell of each row from the part."""
    shown = [profile for profile in document["profiles"] if profile[part]]
    if shown:
        rows = [[label, *(cell(profile[part]) for profile in shown)] for label, cell in cells.items()]
        yield Table(
            title, [title.lower(), *(short_names(document)[profile["name"]] for profile in shown)], rows, legend
        )


def _groups(document: Document, title: str, part: str, key: str) -> Iterator[Table]:
    """Yield the table of the figures by group, if there are groups: a row per metric of each group."""
    by_profile = [{group[key]: group for group in profile[part]} for profile in document["profiles"]]
    rows = []
    for value in sorted({value for groups in by_profile for value in groups}):
        label = value if isinstance(value, str) else "1 hop" if value == 1 else f"{value} hops"
        for metric in SHOWN:
            figures = [groups[value]["metrics"].get(metric) if value in groups else None for groups in by_profile]
            # A metric may apply to some questions of a group only.
            questions = max((figure["questions"] for figure in figures if figure is not None), default=0)
            if questions:
                rows.append([f"{label} ({questions}), {metric}", *(estimate(figure, "mean") for figure in figures)])
    if rows:
        yield Table(title, [title.lower(), *short_names(document).values()], rows, _GROUPS_LEGEND)


_GROUPS_LEGEND = (
    f"{SHOWN[0]}: the answer is right; {SHOWN[1]}: every article (passage, section) that the answer "
    "needs is among the first 5. "
    "The number of questions is in parentheses."
)
_ABSTENTION: Mapping[str, Cell] = {
    "precision": lambda found: estimate(found["precision"]),
    "recall": lambda found: estimate(found["recall"]),
    "AUROC": lambda found: estimate(found["auroc"]),
    "abstained": lambda found: f"{found['abstained']}, {found['abstained_rightly']} rightly",
    "unanswerable": lambda found: f"{found['unanswerable']} of {found['unanswerable'] + found['answerable']}",
}
_ABSTENTION_LEGEND = (
    "Precision: abstentions that were right. Recall: unanswerable questions abstained from. "
    "AUROC: higher confidence in answerable than in unanswerable questions (0.5 is chance)."
)
_CONFIDENCE: Mapping[str, Cell] = {
    "ECE ↓": lambda found: estimate(found["ece"]),
    "ECE by chance": lambda found: f"{found['noise']:.3f}",
    "answers": lambda found: str(found["answers"]),
}
_CONFIDENCE_LEGEND = (
    "ECE: mean gap between confidence and accuracy of the answers. ECE by chance: that of answers as often right as "
    "their confidence says."
)
_LEVEL_LEGEND = "The share of the answers of each level that are right, and their number."


def _level_cell(place: int) -> Cell:
    return lambda levels: estimate(levels[place]["precision"], of=levels[place]["answers"])


def _deviation_cell(metric: str) -> Cell:
    return lambda item: f"{item['deviations'][metric]:.4f}" if metric in item["deviations"] else _NONE


def _unstable_cell(item: Document) -> str:
    share = item["unstable_share"]
    return _NONE if share is None else f"{len(item['unstable'])} of {item['judged']} ({100 * share:.1f}%)"


def _latency(document: Document) -> Iterator[Table]:
    """Yield the latencies in milliseconds: whole answers, then stage medians; cached answers separately."""
    columns = [
        (short_names(document)[profile["name"]] + suffix, profile[key])
        for profile in document["profiles"]
        for suffix, key in (("", "latency"), (" (cached)", "latency_cached"))
        if profile[key]
    ]
    stages = sorted({stage for _, times in columns for stage in times} - {"total"})
    rows = [
        [f"{stage}, {figure}", *(f"{times[stage][figure]:,.1f}" if stage in times else _NONE for _, times in columns)]
        for stage, figure in (("total", "p50"), ("total", "p95"), *((stage, "p50") for stage in stages))
    ]
    if columns:
        yield Table("Latency", ["milliseconds", *(name for name, _ in columns)], rows)


def sample_lines(document: Document) -> list[str]:
    """Return one line for each profile with failed or degraded samples, and one about the judge."""
    lines = [
        f"{profile['name']}: {profile['errors']} samples failed, {profile['degraded']} degraded."
        for profile in document["profiles"]
        if profile["errors"] or profile["degraded"]
    ]
    judge = document["judge"]
    if judge is not None:
        cost = "price unknown" if judge["cost_usd"] is None else f"${judge['cost_usd']:.4f}"
        lines.append(f"Judge {judge['model']}: {judge['judged']} judged, {judge['errors']} errors, {cost}; advisory.")
    return lines
