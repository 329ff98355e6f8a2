"""The short form of the report of a run: who is better, by how much, and on which questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wikigr.text import harmless
from wikigr_cli.environment import Environment
from wikigr_cli.render.evaluation import failures, notices, on_one_line, print_table
from wikigr_cli.render.output import counted

# Questions shown as lost, and as won; `wikigr eval flips` shows all.
_MAX_FLIPS = 5
_NONE = "—"


def summary(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print the verdict, the primary metric of every profile and some of the questions that changed."""
    comparisons = document["comparisons"]
    if len(comparisons) == 1:
        _print_verdict(environment, comparisons[0])
    elif comparisons:
        _print_verdicts(environment, document)
    notices(environment, document["notices"])
    failures(environment, document)
    if comparisons:
        environment.print()
    print_table(environment, *_profiles(document))
    if len(comparisons) == 1:
        _print_flips(environment, document, comparisons[0]["second"])


def _print_verdict(environment: Environment, comparison: Mapping[str, Any]) -> None:
    from wikigr.evaluation.statistics.wording import detectable, headline, primary_result

    environment.print(harmless(headline(comparison)), style="bold")
    result = primary_result(comparison)
    if result is not None and result["verdict"] == "inconclusive" and result["mde"]:
        environment.print(detectable(result), style="dim")


def _print_verdicts(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print one line per verdict, with the profiles that have it."""
    from wikigr.evaluation.statistics.wording import VERDICT_WORDS, primary_result

    first = document["comparisons"][0]["first"]
    found: dict[str, list[str]] = {}
    for comparison in document["comparisons"]:
        result = primary_result(comparison)
        verdict = "not comparable" if result is None else VERDICT_WORDS[result["verdict"]]
        found.setdefault(verdict, []).append(_short_name(comparison["second"], first))
    environment.print(f"Compared with {harmless(first)} in {document['primary']}:", style="bold")
    for verdict in (*VERDICT_WORDS.values(), "not comparable"):
        if verdict in found:
            environment.print(f"  {verdict}: {harmless(', '.join(found[verdict]))}", hang=4)


def _profiles(document: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the table of the primary metric: a row per profile, with its difference from the first."""
    from wikigr.evaluation.statistics.wording import p_value, primary_result

    primary = document["primary"]
    compared = {comparison["second"]: primary_result(comparison) for comparison in document["comparisons"]}
    first = document["profiles"][0]["name"]
    # Where there are many profiles, the rows need room for long names.
    is_short = len(compared) > 1
    rows = []
    for profile in document["profiles"]:
        name, figure = profile["name"], profile["metrics"].get(primary)
        value = _NONE
        if figure is not None:
            interval = "" if is_short else f" [{figure['low']:.3f}, {figure['high']:.3f}]"
            value = f"{figure['mean']:.3f}{interval}"
        row = [_short_name(name, first), value]
        result = compared.get(name)
        if result is not None:
            row += [
                f"{result['difference']:+.3f}",
                f"{result['interval']['low']:+.3f} to {result['interval']['high']:+.3f}",
                p_value(result["p"]).removeprefix("p ").removeprefix("= ").replace(" ", ""),
                f"{result['wins']}/{result['losses']}",
            ]
        elif compared:
            row += [""] * 4
        rows.append(row)
    head = ["profile", primary, *(("diff.", "95% interval", "p", "won/lost") if compared else ())]
    return head, rows


def _short_name(name: str, first: str) -> str:
    """Return the name of a profile; of an ablation of ``first``, only what is missing."""
    return name.removeprefix(f"{first}-") if name.startswith(f"{first}-without-") else name


def _print_flips(environment: Environment, document: Mapping[str, Any], name: str) -> None:
    flips: Sequence[Mapping[str, Any]] = document["flips"][name]
    for verb, is_worse in (("lost", True), ("won", False)):
        found = [flip for flip in flips if flip["worse"] is is_worse]
        if not found:
            continue
        among = ":" if len(found) <= _MAX_FLIPS else f", {_MAX_FLIPS} of them:"
        environment.print()
        environment.print(f"{harmless(name)} {verb} {counted(len(found), 'questions')}{among}", style="bold")
        for flip in found[:_MAX_FLIPS]:
            line = f"  {on_one_line(flip['question_id'])}  {on_one_line(flip['question'])}"
            environment.print(line, overflow="cut")
