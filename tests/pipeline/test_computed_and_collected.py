"""Durations, lists over the structure, ranges of days and one-sided comparisons: a garden, a school and a workshop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from wikigr.answer.abstention import NOT_COVERED
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile

FILES = {
    "Beds.md": "# Beds\n\n## North bed 2025\n\nBeans.\n\n## South bed 2025\n\nDill.\n\n## Pond bed 2024\n\nIris.\n",
    "Lessons.md": "# Lessons\n\n## Piano\n\nMondays.\n\n## Cello\n\nFridays.\n",
    "Machines.md": "# Machines\n\n## Lathe\n\nOiled weekly.\n\n## Band saw\n\nNew belt.\n\n## Drill press\n\nFine.\n",
    "people.md": "# People of the garden\n\nGreta Moss led the garden from 3 May 2001 until 9 June 2011.\n"
    "She was born on 2 March 1950 and died on 1 March 2021.\n",
    "summer.md": "# Summer course\n\nThe summer course began on 4 July 2024 and ended on 18 July 2024.\n",
    "foreman.md": "# The foreman\n\nOtis Crane has been foreman of the workshop since 1 February 2020.\n",
    "todo.md": "# Garden chores\n\n- [ ] prune the plum (due 2025-11-27)\n- [x] dig the pond (done 2025-10-03)\n",
    "school chores.md": "# School chores\n\n- [ ] tune the piano (due 2025-12-09)\n- [x] buy chalk (done 2025-11-05)\n",
    "workshop chores.md": "# Workshop chores\n\n- [x] grind the chisels (done 2025-10-20)\n",
    "Plum.md": "---\ntags: [fruit, tree]\n---\n# Plum\n\nThe plum stands by the wall.\n",
    "Quince.md": "---\ntags: [fruit]\n---\n# Quince\n\nThe quince blooms late.\n",
    "Ada Quill.md": "---\ncategory: Teachers\nphone: 555-0144\n---\n# Ada Quill\n\nShe teaches cello.\n",
    "Ned Orr.md": "---\ncategory: Teachers\n---\n# Ned Orr\n\nHe teaches piano.\n",
    "hoses.csv": "Hose,Length (m),Bought,Retired\nH-21,20,2019-03-01,2024-03-01\nH-22,35,2020-06-10,2025-06-10\n",
    "tools.csv": "Tool,Insured,Bought,Price (EUR)\nRouter,yes,2011,140\nPlane,no,2004,85\nSander,yes,2019,120\n",
}


@pytest.fixture(scope="module")
def pipeline(build: Callable[..., Path]) -> Iterator[Pipeline]:
    with Pack(build("three", FILES), purpose="queries") as pack:
        # A Tuesday.
        yield Pipeline(load_profile("enhanced"), pack, offline=True, today=date(2025, 11, 25))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How long did Greta Moss lead the garden?", "10 years and 1 month, from 3 May 2001 to 9 June 2011:"),
        ("How long did the summer course last?", "14 days, from 4 July 2024 to 18 July 2024:"),
        ("How long has Otis Crane been foreman?", "5 years and 9 months, from 1 February 2020 to 25 November 2025:"),
        ("How old did Greta Moss become?", "70 years old, on 1 March 2021:"),
    ],
)
def test_times_are_computed_from_two_cited_dates(pipeline: Pipeline, question: str, said: str) -> None:
    answer = pipeline.answer(question)
    assert answer.text.startswith(said)
    assert answer.level in ("sure", "likely") and answer.citations


def test_how_long_something_is_is_not_computed_beside_a_column_that_says_it(pipeline: Pipeline) -> None:
    answer = pipeline.answer("How long is hose H-22?")
    assert answer.span is not None and answer.span.text == "35"
    assert "5 years, from 10 June 2020" in pipeline.answer("How long was hose H-22 used?").text


def test_an_age_is_not_computed_of_another_person(pipeline: Pipeline) -> None:
    assert pipeline.answer("How old is Ned Orr?").level in ("not_sure", "not_covered")


@pytest.mark.parametrize(
    ("question", "said", "cited"),
    [
        ("Which beds were there in 2025?", "2 sections of Beds: North bed 2025; South bed 2025.", 2),
        ("List all lessons.", "2 sections of Lessons: Piano; Cello.", 2),
        ("How many machines are there?", "3 sections of Machines: Lathe; Band saw; Drill press.", 3),
        ("List all open tasks.", "2 open tasks: prune the plum (due 2025-11-27); tune the piano (due 2025-12-09).", 2),
        ("What is still to do in the school?", "1 open task: tune the piano", 1),
        ("Which workshop chores have been finished already?", "1 done task: grind the chisels", 1),
        ("Which tasks were done last month?", "2 done tasks: dig the pond", 2),
        ("What is due this week?", "1 open task: prune the plum (due 2025-11-27).", 1),
        ("Which articles have the tag fruit?", "2 articles in fruit: Plum; Quince.", 2),
        ("Who is in the category teachers?", "2 articles in Teachers: Ada Quill; Ned Orr.", 2),
        ("How many tools are there?", "3 rows of tools: Router; Plane; Sander.", 3),
        ("Give me the full list of tools.", "3 rows of tools: Router; Plane; Sander.", 3),
        ("Which tools are insured?", "2 rows: Router; Sander.", 2),
        ("Which tools were bought before 2015?", "2 rows: Router; Plane.", 2),
    ],
)
def test_what_there_is_is_listed_and_counted(pipeline: Pipeline, question: str, said: str, cited: int) -> None:
    answer = pipeline.answer(question)
    assert answer.text.startswith(said)
    assert len(answer.citations) == cited


def test_what_no_row_says_is_no_list_of_them_all(pipeline: Pipeline) -> None:
    assert not pipeline.answer("Which tools are full?").text.startswith("3 rows of tools")


def test_a_range_of_days_is_shown_as_understood(pipeline: Pipeline) -> None:
    assert pipeline.answer("What is due this week?").understood == (
        "What is due between 24 November 2025 and 30 November 2025?"
    )


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Which is older, the plum or the baobab?", "the baobab"),
        ("Is the lathe heavier than the anvil?", "the anvil"),
        ("What is the difference between the cello and the bassoon?", "the bassoon"),
    ],
)
def test_a_comparison_says_which_side_is_missing(pipeline: Pipeline, question: str, missing: str) -> None:
    answer = pipeline.answer(question)
    assert answer.abstained and answer.text == f"{NOT_COVERED} It says nothing of {missing}."


def test_the_number_of_another_person_is_no_answer(pipeline: Pipeline) -> None:
    assert "555-0144" in pipeline.answer("What is the phone number of Ada Quill?").text
    assert pipeline.answer("What is the phone number of Ned Orr?").level in ("not_sure", "not_covered")
