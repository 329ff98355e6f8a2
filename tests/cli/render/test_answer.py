"""What the terminal shows of an answer of each level; the answers are made, so that no fitted model decides."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.possible_answers import (
    BEFORE,
    BOHR,
    BORN,
    PLANCK,
    answer_everything,
    answer_of,
    demo_answer,
    possible_answer,
    section_of,
)

from wikigr.answer.answer import Answer
from wikigr.answer.presentation import CANNOT_LIST, PERHAPS
from wikigr.answer.probability import Level
from wikigr.documents.answer import stated_answer
from wikigr.index.candidate import Section
from wikigr.pack.open import Pack
from wikigr_cli.environment import Environment
from wikigr_cli.render.answer import show_answer

from ..conftest import Wikigr
from ..terminal import environment_of, widest

BOLD, DIM, OFF = "\x1b[1m", "\x1b[2m", "\x1b[0m"
QUESTION = "In which city was Heisenberg born?"


@pytest.fixture(scope="module")
def pack(physics_pack: Path) -> Iterator[Pack]:
    with Pack(physics_pack) as opened:
        yield opened


def printed(answer: Answer, pack: Pack) -> str:
    environment = Environment(io.StringIO(), io.StringIO(), io.StringIO())
    show_answer(environment, answer, stated_answer(answer, pack), pack, live=False, explain_limit=0)
    assert isinstance(environment.stdout, io.StringIO)
    return environment.stdout.getvalue()


def colored(answer: Answer, pack: Pack, columns: int = 400) -> str:
    environment, out, _ = environment_of(columns, NO_COLOR="", TERM="xterm")
    show_answer(environment, answer, stated_answer(answer, pack), pack, live=False, explain_limit=0)
    return out.getvalue()


def test_a_sure_answer_stands_in_its_surroundings(pack: Pack) -> None:
    answer = demo_answer(pack, "sure")
    place = answer.citations[0]
    assert printed(answer, pack) == (
        f"Würzburg\n\n{BEFORE} {BORN} [1]\n\nSources\n"
        f"  [1] Werner Heisenberg › Introduction  Werner Heisenberg#0 [{place.start}:{place.end}]\nSure (0.61)\n"
    )
    short, gap, text = colored(answer, pack).split("\n")[:3]
    assert (short, gap) == (f"{BOLD}Würzburg{OFF}", "")
    # The surroundings are dim, the quotation is not, and the short answer in it is bold.
    rest = BORN.removeprefix("Born in Würzburg")
    assert text == f"{DIM}{BEFORE} {OFF}Born in {BOLD}Würzburg{OFF}{rest} [1]"
    # A bar shows the confidence where there is color.
    last = f"\x1b[32m{'━' * 6}{OFF}{DIM}{'─' * 4} {OFF}{DIM}Sure (0.61){OFF}"
    assert colored(answer, pack).splitlines()[-1] == last


def test_a_likely_answer_is_followed_by_two_others(pack: Pack) -> None:
    answer = demo_answer(pack, "likely")
    bohr, planck = (other.citations[0] for other in answer.alternatives)
    stated, others = printed(answer, pack).split("\nOther possible answers\n")
    assert stated + "Sure (0.61)\n" == printed(demo_answer(pack, "sure"), pack)
    assert others == (
        f"  [2] Niels Bohr › Introduction  Niels Bohr#0 [{bohr.start}:{bohr.end}]  (0.30)\n      Copenhagen\n"
        f"      Niels Bohr: {BOHR}\n"
        f"  [3] Max Planck › Introduction  Max Planck#0 [{planck.start}:{planck.end}]  (0.20)\n      {PLANCK}\n"
        "Likely (0.61)\n"
    )


def test_an_answer_that_is_not_sure_is_one_of_three_passages(pack: Pack) -> None:
    answer = demo_answer(pack, "not_sure", QUESTION)
    first = answer.citations[0]
    bohr, planck = (other.citations[0] for other in answer.alternatives)
    assert printed(answer, pack) == (
        "Perhaps one of these:\n"
        f"\n  [1] Werner Heisenberg › Introduction  Werner Heisenberg#0 [{first.start}:{first.end}]\n"
        f"      {BEFORE} {BORN}\n"
        f"\n  [2] Niels Bohr › Introduction  Niels Bohr#0 [{bohr.start}:{bohr.end}]\n      Niels Bohr: {BOHR}\n"
        f"\n  [3] Max Planck › Introduction  Max Planck#0 [{planck.start}:{planck.end}]\n      {PLANCK}\n"
        "\nNot sure (0.61)\n"
    )
    unlisted = printed(replace(answer, cannot_list=True), pack)
    assert unlisted == printed(answer, pack).replace(PERHAPS, CANNOT_LIST)
    shown = colored(answer, pack)
    # The words of the question are marked, and no short answer is.
    assert f"Niels Bohr: He was {BOLD}born{OFF} in Copenhagen" in shown
    assert f"{BOLD}Heisenberg{OFF}" in shown and f"{BOLD}city{OFF}" in shown
    assert f"{BOLD}Würzburg" not in shown


def test_what_is_not_covered_is_followed_by_the_nearest_passages(
    wikigr: Wikigr, physics_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wikigr.pipeline.pipeline.STRATEGIES", ())
    result = wikigr("ask", QUESTION, "-p", str(physics_pack), "--offline")
    assert result.out.startswith("The pack does not cover this.\n\nNearest passages\n\n  [1] Werner Heisenberg › ")
    assert "Born in Würzburg on 5 December 1901" in " ".join(result.out.split())
    assert [line[:5] for line in result.out.splitlines() if line.startswith("  [")] == ["  [1]", "  [2]", "  [3]"]
    assert result.out.splitlines()[-1].startswith("Not covered (0.")
    document = json.loads(wikigr("ask", QUESTION, "-p", str(physics_pack), "--offline", "--json").out)
    assert (document["citations"], document["span"], len(document["alternatives"])) == ([], None, 3)
    for other in document["alternatives"]:
        (cited,) = other["citations"]
        assert (other["kind"], other["span"], cited["quote"] != "") == ("passage", None, True)


@pytest.mark.parametrize("level", ["not_sure"])
def test_only_what_is_not_covered_fails_strictly(
    wikigr: Wikigr, physics_pack: Path, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    answer_everything(monkeypatch, level)  # type: ignore[arg-type]
    result = wikigr("ask", QUESTION, "-p", str(physics_pack), "--offline", "--strict", "--json")
    document = json.loads(result.out)
    assert (result.code, document["level"], document["abstained"]) == (0, level, False)
    monkeypatch.setattr("wikigr.pipeline.pipeline.STRATEGIES", ())
    result = wikigr("ask", QUESTION, "-p", str(physics_pack), "--offline", "--strict", "--json")
    assert (result.code, json.loads(result.out)["level"]) == (1, "not_covered")


def shown(pack: Pack, section: Section, quoted: str, columns: int, level: Level = "sure", **made: str) -> list[str]:
    """Return the lines of an answer that quotes ``section`` in a terminal, without its sources."""
    environment, out, _ = environment_of(columns)
    answer = answer_of(level, possible_answer(section, quoted, **made), section=section)  # type: ignore[arg-type]
    show_answer(environment, answer, stated_answer(answer, pack), pack, live=False, explain_limit=0)
    assert widest(out.getvalue()) <= columns
    return out.getvalue().split("\n\nSources")[0].splitlines()


def test_lists_and_tables_wrap_under_their_text(pack: Pack) -> None:
    steps = "1. Unpack the archive in a folder of its own and compare its sum.\n2. Build:\n   - with make"
    assert shown(pack, section_of(steps), steps, 40) == [
        "1. Unpack the archive in a folder of its",
        "   own and compare its sum.",
        "2. Build:",
        "   - with make [1]",
    ]
    table = section_of("| what | size |\n| - | - |\n| Mug | 500 ml |\n| Cup for the left hand, 茶碗 | 200 ml |")
    quoted = "what: Cup for the left hand, 茶碗 | size: 200 ml"
    assert shown(pack, table, quoted, 24) == [
        "   what       size",
        "─" * 24,
        "   Mug      500 ml",
        "▸  Cup for  200 ml  [1]",
        "   the",
        "   left",
        "   hand,",
        "   茶碗",
    ]
    # In a narrower terminal only the row is left, as lines.
    assert shown(pack, table, quoted, 20) == [
        "what: Cup for the",
        "    left hand, 茶碗",
        "size: 200 ml [1]",
        "… 1 more row",
    ]
    doubtful = shown(pack, table, quoted, 40, "not_sure")
    assert doubtful[-4:-2] == ["      ▸  Cup for the left hand,  200 ml", "         茶碗"]


def test_an_alternative_with_several_quotations_has_all_their_places(pack: Pack) -> None:
    notes = section_of("Ferns like shade. Moss does too.")
    both = possible_answer(notes, "Ferns like shade.", "Moss does too.", kind="comparison")
    shown = printed(answer_of("likely", both, both, section=notes), pack)
    assert "Ferns like shade. [1] Moss does too. [2]\n\nSources\n  [1] Notes" in shown
    assert "  [3] Notes › Ferns  Notes#0 [0:17]  (0.40)\n  [4] Notes › Ferns  Notes#0 [18:32]\n" in shown
    assert "      Ferns like shade. [3] Moss does too. [4]\n" in shown


def test_a_long_alternative_is_cut(pack: Pack) -> None:
    notes = section_of("".join(f"- fern {n}\n" for n in range(9)))
    item = possible_answer(notes, notes.content, kind="list")
    stated, other = printed(answer_of("likely", item, item, section=notes), pack).split("Other possible answers")
    assert "- fern 8 [1]" in stated
    assert "- fern 4 …" in other and "- fern 5" not in other
