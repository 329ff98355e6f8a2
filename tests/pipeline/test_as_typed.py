"""Questions as people type them, asked of a small pack of notes: codes, slips, dates, thanks and follow-ups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest
from tests.possible_answers import answer_of, possible_answer, section_of

from wikigr.answer.abstention import NOT_A_QUESTION
from wikigr.pack.open import Pack
from wikigr.pipeline.conversation import turn_of, understand
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile

NOTES = {
    "winches.md": "# Winches\n\nThe W40 winch lifts 300 kg.\n\nThe W400 winch lifts 3 tonnes.\n",
    "alarms.md": "# Alarms of the kiln\n\n| alarm | meaning |\n|---|---|\n| F-207 | door open |\n| F-208 | too hot |\n",
    "store.md": "# Store\n\nThe store reads store.toml. The F# binding needs Mono. The F* binding needs OCaml.\n",
    "Mira Holt.md": "---\nbirthday: 1970-05-04\nphone: 555-0102\n---\n# Mira Holt\n\nShe is the vet.\n",
    "log.txt": "LOG OF THE STABLE\n\n9/6 late - Ann\nThe mare kicked the gate, the hinge is bent.\n\n"
    "8/6 early - Bo\nThe vet looked at the foal.\n",
    "backup.md": "# Backups\n\nThe job disk07-weekly may fail.\n\nIf it fails again, purge disk07 and start it.\n",
    "paint.md": "# Paint\n\nThe varnish of the rudder dries in eight hours.\n",
}


@pytest.fixture(scope="module")
def pipeline(build: Callable[..., Path]) -> Iterator[Pipeline]:
    with Pack(build("notes", NOTES), purpose="queries") as pack:
        yield Pipeline(load_profile("enhanced"), pack, offline=True, today=date(2025, 6, 10))


def test_a_neighbor_does_not_answer(pipeline: Pipeline) -> None:
    answers = {code: pipeline.answer(f"What does the {code} winch lift?") for code in ("W40", "W400", "W4")}
    assert "300 kg" in answers["W40"].text
    assert "3 tonnes" in answers["W400"].text
    assert answers["W4"].level in ("not_sure", "not_covered")
    assert pipeline.answer("What does alarm F-209 mean?").level in ("not_sure", "not_covered")
    assert "too hot" in pipeline.answer("What does alarm f208 mean?").text


def test_a_part_of_an_identifier_is_no_neighbor(pipeline: Pipeline) -> None:
    assert "purge disk07" in pipeline.answer("What to do when disk07-weekly fails again?").text


def test_a_short_answer_is_not_cut_at_a_dot(pipeline: Pipeline) -> None:
    span = pipeline.answer("What does the store read?").span
    assert span is None or span.text == "store.toml"


def test_a_corrected_question_says_how_it_was_understood(pipeline: Pipeline) -> None:
    answer = pipeline.answer("How long does the vranish of the ruder dry?")
    assert answer.question == "How long does the vranish of the ruder dry?"
    assert answer.understood == "How long does the varnish of the rudder dry?"
    assert "eight hours" in answer.text
    assert pipeline.answer("How long does the varnish of the rudder dry?").understood == ""


def test_days_are_matched_in_every_form(pipeline: Pipeline) -> None:
    answer = pipeline.answer("What happened to the gate yesterday?")
    assert answer.understood == "What happened to the gate on 9 June 2025?"
    assert "mare" in answer.text
    assert "foal" not in answer.text


def test_an_age_is_computed_from_the_cited_birthday(pipeline: Pipeline) -> None:
    answer = pipeline.answer("How old is Mira Holt?")
    assert answer.text.startswith("55 years old, on 10 June 2025:")
    assert "1970-05-04" in answer.citations[0].quote


def test_thanks_are_not_answered(pipeline: Pipeline) -> None:
    answer = pipeline.answer("Thanks a lot!")
    assert (answer.text, answer.abstained, answer.alternatives) == (NOT_A_QUESTION, True, ())


def test_a_follow_up_asks_about_another_code(pipeline: Pipeline) -> None:
    turns = [turn_of(pipeline.answer("What does alarm F-207 mean?"))]
    assert understand("and F-208?", turns, pipeline.pack) == "What does alarm F-208 mean?"


def test_a_later_question_may_mean_a_whole_task() -> None:
    section = section_of("- [ ] Ida: prune the plum\n- [ ] Bo: sweep the yard\n")
    listed = answer_of("likely", possible_answer(section, section.content.strip()), section=section)
    assert turn_of(listed).items == ("Ida: prune the plum", "Bo: sweep the yard")
