"""Ask the questions of the bench and print how many were answered rightly, by source and by kind of answer.

python -m eval.real                  # all sources whose Debian packages are installed
python -m eval.real --only-shipped   # those that need no download
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from eval.real.packs import SOURCES, BenchSource, build
from eval.real.questions import find_mistakes, load_questions
from eval.real.scores import Outcome, Score, calibration_error, judge, score
from wikigr.errors import WikigrError
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile
from wikigr.settings import cache_folder

_FLOORS = ("right", "near", "sure", "not_covered")
_HEADER = f"{'':18} questions   right    near     sure (answers)  not covered said"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the bench; return 1 if a total is below its ``--min`` or ``--check`` finds mistakes, else 0."""
    parser = argparse.ArgumentParser(prog="python -m eval.real", description=__doc__.partition("\n")[0])
    names = [source.name for source in SOURCES]
    parser.add_argument("--sources", nargs="+", choices=names, metavar="NAME", help=f"only these: {', '.join(names)}")
    parser.add_argument("--only-shipped", action="store_true", help="only sources that come with the project")
    parser.add_argument("--profile", default="enhanced", help="the profile that answers (default: enhanced)")
    parser.add_argument(
        "--cache",
        type=Path,
        default=cache_folder() / "bench-answers",
        help="where packs are kept (default: %(default)s)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all outcomes to FILE")
    parser.add_argument("--show-wrong", action="store_true", help="also print the questions without a right answer")
    parser.add_argument("--check", action="store_true", help="only check that the quotes are in the sources")
    parser.add_argument(
        "--min",
        action="append",
        default=[],
        type=_floor,
        metavar="NAME=SHARE",
        help=f"fail below; {', '.join(_FLOORS)}",
    )
    given = parser.parse_args(arguments)
    sources = list(_chosen(given.sources or names, only_shipped=given.only_shipped))
    if given.check:
        mistakes = [mistake for source in sources for mistake in find_mistakes(source)]
        print(*mistakes, f"{len(mistakes)} mistakes in the questions on {len(sources)} sources", sep="\n")
        return 1 if mistakes else 0
    given.cache.mkdir(parents=True, exist_ok=True)
    outcomes = [outcome for source in sources for outcome in _ask(source, given.cache, given.profile)]
    if not outcomes:
        print("None of the sources is installed.", file=sys.stderr)
        return 1
    if given.show_wrong:
        _print_wrong(outcomes)
    _print_table(outcomes)
    if given.json is not None:
        given.json.write_text(_document(outcomes, given.profile), encoding="utf-8")
    return _check_floors(score(outcomes), dict(given.min))


def _floor(text: str) -> tuple[str, float]:
    name, _, share = text.partition("=")
    if name not in _FLOORS:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(_FLOORS)}")
    return name, float(share)


def _chosen(names: Sequence[str], *, only_shipped: bool) -> Iterator[BenchSource]:
    """Yield the sources that are chosen and installed; say how to install the others."""
    for source in SOURCES:
        if source.name not in names or (only_shipped and not source.is_shipped):
            continue
        if source.location.exists():
            yield source
        else:
            print(f"{source.name} is skipped: apt-get install {source.debian_package}", file=sys.stderr)


def _ask(source: BenchSource, cache: Path, profile: str) -> Iterator[Outcome]:
    """Yield the outcomes of the questions about ``source``; if its pack cannot be built, say so and ask nothing."""
    begun = time.perf_counter()
    questions = load_questions(source)
    try:
        folder = build(source, cache)
    except WikigrError as error:
        print(f"{source.name}: no pack, so no question is answered. {error.message}", file=sys.stderr)
        yield from map(Outcome, questions)
        return
    built = time.perf_counter()
    with Pack(folder) as pack:
        pipeline = Pipeline(load_profile(profile), pack, offline=True)
        for question in questions:
            yield judge(question, pipeline.answer(question.question))
    asked = time.perf_counter()
    print(
        f"{source.name}: {len(questions)} questions, {asked - built:.1f} s (pack: {built - begun:.1f} s)",
        file=sys.stderr,
    )


def _print_table(outcomes: Sequence[Outcome]) -> None:
    for title, groups in (("source", _by_source(outcomes)), ("kind", _by_kind(outcomes))):
        print(title + _HEADER[len(title) :])
        for name, members in groups.items():
            print(_row(name, score(members)))
        print()
    print(_row("all", score(outcomes)))
    error = calibration_error(outcomes)
    print(f"expected calibration error of the answers: {'-' if error is None else f'{error:.3f}'}")


def _row(name: str, found: Score) -> str:
    declined = "-" if found.not_covered is None else f"{round(found.not_covered * found.unanswerable)}"
    return (
        f"{name:18} {found.answerable + found.unanswerable:>9} {_percent(found.right)} {_percent(found.near)} "
        f"{_percent(found.sure)} {f'({found.sure_answers})':>10} {declined:>8} of {found.unanswerable}"
    )


def _percent(share: float | None) -> str:
    return f"{'-':>7}" if share is None else f"{100 * share:>6.1f}%"


def _by_source(outcomes: Sequence[Outcome]) -> Mapping[str, list[Outcome]]:
    groups = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.question.source].append(outcome)
    return groups


def _by_kind(outcomes: Sequence[Outcome]) -> Mapping[str, list[Outcome]]:
    groups = defaultdict(list)
    for outcome in sorted(outcomes, key=lambda outcome: outcome.question.kind):
        groups[outcome.question.kind].append(outcome)
    return groups


def _print_wrong(outcomes: Sequence[Outcome]) -> None:
    for outcome in outcomes:
        question = outcome.question
        if not (outcome.declined if question.gold is None else outcome.right):
            printed = " ".join(outcome.printed.split()) or ("declined" if outcome.declined else "not asked")
            print(f"{question.id} [{question.kind}] {question.question}")
            print(f"    wanted {question.gold or 'not covered'}\n    {outcome.confidence:.2f} {printed[:300]}")
    print()


def _document(outcomes: Sequence[Outcome], profile: str) -> str:
    """Return everything that was measured as one JSON document."""
    return json.dumps(
        {
            "schema_version": 1,
            "profile": profile,
            "all": asdict(score(outcomes)),
            "calibration_error": calibration_error(outcomes),
            "sources": {name: asdict(score(members)) for name, members in _by_source(outcomes).items()},
            "kinds": {name: asdict(score(members)) for name, members in _by_kind(outcomes).items()},
            "outcomes": [asdict(outcome) for outcome in outcomes],
        },
        ensure_ascii=False,
        indent=1,
    )


def _check_floors(found: Score, floors: Mapping[str, float]) -> int:
    """Print which of the shares of ``found`` are below their floors, and return 1 if there is one, else 0."""
    below = [(name, share, floor) for name, floor in floors.items() if (share := getattr(found, name) or 0.0) < floor]
    for name, share, floor in below:
        print(f"The share {name!r} is {share:.3f}, below the floor of {floor}.", file=sys.stderr)
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
