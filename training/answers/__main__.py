"""Fit the probability of answers, and write ``src/wikigr/answer/probability.json``.

python -m training.answers            # ask all questions, then fit
python -m training.answers collect    # ask all questions, into training/.work/answers
python -m training.answers fit        # fit, and print the figures by source
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from training.answers.asked import GROUP as ASKED
from training.answers.asked import READ_GROUP as READ
from training.answers.asked import asked_sources
from training.answers.collect import collect, read_judged, write_judged
from training.answers.fit import Floats, Scored, cross_fit, cross_fit_right, fit_model
from training.answers.questions import MAX_QUESTIONS, QuestionSource, question_sources
from wikigr.answer.probability import FILE, WITH_READER, WITHOUT_READER, AnswerModel
from wikigr.errors import WikigrError
from wikigr.settings import cache_folder

_HERE = Path(__file__).parent
_SETTINGS = {WITH_READER: True, WITHOUT_READER: False}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(prog="python -m training.answers", description=__doc__.partition("\n")[0])
    parser.add_argument("command", nargs="?", choices=("run", "collect", "fit"), default="run")
    data = Path(os.environ.get("WIKIGR_TRAINING_DATA", _HERE.parent.parent.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=data, help="the folder of the data sets (WIKIGR_TRAINING_DATA)")
    pages = Path(os.environ.get("WIKIGR_TRAINING_PAGES", _HERE.parent / ".work" / "pages"))
    parser.add_argument("--pages", type=Path, default=pages, help="the pages of training/asked (WIKIGR_TRAINING_PAGES)")
    packages = Path(os.environ.get("WIKIGR_TRAINING_PACKAGES", _HERE.parent / ".work" / "packages"))
    packages_help = "the unpacked Debian packages of the manuals (WIKIGR_TRAINING_PACKAGES)"
    parser.add_argument("--packages", type=Path, default=packages, help=packages_help)
    parser.add_argument("--work", type=Path, default=_HERE.parent / ".work" / "answers")
    parser.add_argument("--sources", nargs="+", default=["*"], help="collect only these again; * is any part of a name")
    parser.add_argument("--settings", nargs="+", choices=tuple(_SETTINGS), default=tuple(_SETTINGS), help="only these")
    parser.add_argument("--most", type=int, default=MAX_QUESTIONS, help="questions of a source at most")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--output", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    if options.command in ("run", "collect"):
        _collect(options)
    if options.command in ("run", "fit"):
        _fit(options)


def _collect(options: argparse.Namespace) -> None:
    for source in _sources(options):
        if not any(fnmatch(source.name, pattern) for pattern in options.sources):
            continue
        try:
            for name in options.settings:
                judged = list(collect(source.drawn(options.most), reader=_SETTINGS[name], seed=options.seed))
                write_judged(options.work / name / f"{source.name}.jsonl", judged)
        except WikigrError as error:
            print(f"{source.name} is left out: {error.message}", file=sys.stderr)
        else:
            print(f"{source.name}: {len(source.questions)} questions", flush=True)


def _sources(options: argparse.Namespace) -> Iterator[QuestionSource]:
    packs = options.work / "packs"
    yield from question_sources(options.data, packs, cache_folder() / "bench-answers")
    for folder, pages, aside in (
        (options.data / "asked", options.data / "asked" / "pages", True),
        (_HERE.parent / "asked", options.pages, False),
    ):
        yield from asked_sources(folder, pages, options.packages, packs / "asked", options.seed, aside=aside)


def _fit(options: argparse.Namespace) -> None:
    document: dict[str, Any] = json.loads(options.output.read_text(encoding="utf-8"))
    document |= {"command": "python -m training.answers", "seed": options.seed}
    for name in options.settings:
        judged = [item for file in sorted((options.work / name).glob("*.jsonl")) for item in read_judged(file)]
        scored = cross_fit(judged)
        probability = cross_fit_right(scored)
        model = fit_model(judged, scored, probability)
        document["figures"][name] = _figures(scored, probability, model)
        document[name] = asdict(model)
        print(f"\n{name}: sure from {model.sure}, likely from {model.likely}, covered from {model.covered}")
        _print_table(document["figures"][name])
    options.output.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _figures(scored: Sequence[Scored], probability: Floats, model: AnswerModel) -> dict[str, Any]:
    """Return the figures by source, by kind of source and for all, from weights fitted without the source."""
    rows: dict[str, list[tuple[Scored, float]]] = defaultdict(list)
    for item, value in zip(scored, probability, strict=True):
        if not item.judged.removed:
            rows[item.judged.source].append((item, float(value)))
            rows[f"all of {item.judged.group}"].append((item, float(value)))
            if item.judged.group == ASKED:
                kind = item.judged.source.partition("-")[0]
                rows[f"all of {kind}"].append((item, float(value)))
            if item.judged.group != READ:
                rows["all"].append((item, float(value)))
        else:
            rows["removed"].append((item, float(value)))
    return {name: _summary(members, model) for name, members in rows.items()}


def _summary(members: Sequence[tuple[Scored, float]], model: AnswerModel) -> dict[str, float | int | None]:
    covered = [(item, value) for item, value in members if item.judged.covered]
    others = [value for item, value in members if not item.judged.covered]
    right = [item.judged.right[item.order[0]] for item, _ in covered]
    printed = [flag and value >= model.covered for flag, (_, value) in zip(right, covered, strict=True)]
    sure = [item.judged.right[item.order[0]] for item, value in members if value >= model.sure]
    likely = [item.judged.right[item.order[0]] for item, value in members if model.likely <= value < model.sure]
    eighty = [item.judged.right[item.order[0]] for item, value in members if value >= 0.8]
    return {
        "questions": len(members),
        "answerable": len(covered),
        "possible": _share([any(item.judged.right) for item, _ in covered]),
        "first": _share(right),
        "printed": _share(printed),
        "stated": _share([flag and value >= model.likely for flag, (_, value) in zip(right, covered, strict=True)]),
        "said not to be covered": _share([value < model.covered for _, value in covered]),
        "declined": sum(value < model.covered for value in others),
        "at most not sure": sum(value < model.likely for value in others),
        "not covered": len(others),
        "sure": _share(sure),
        "sure answers": len(sure),
        "likely": _share(likely),
        "likely answers": len(likely),
        "0.8": _share(eighty),
        "0.8 answers": len(eighty),
    }


def _share(flags: Sequence[bool]) -> float | None:
    return round(float(np.mean(flags)), 4) if flags else None


def _print_table(figures: dict[str, dict[str, Any]]) -> None:
    print(
        f"{'source':30}{'asked':>6}{'possible':>9}{'first':>7}{'printed':>8}{'stated':>7}{'false':>6}"
        "  declined       sure         likely       ≥ 0.8"
    )
    for name, row in sorted(figures.items()):
        cells = [f"{_percent(row[key])} ({row[f'{key} answers']:>3})" for key in ("sure", "likely", "0.8")]
        print(
            f"{name:30}{row['questions']:>6}{_percent(row['possible']):>9}{_percent(row['first']):>7}"
            f"{_percent(row['printed']):>8}{_percent(row['stated']):>7}{_percent(row['said not to be covered']):>6}"
            f"  {row['declined']:>3}, {row['at most not sure']:>3} of {row['not covered']:<4} {'  '.join(cells)}"
        )


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


if __name__ == "__main__":
    main()
