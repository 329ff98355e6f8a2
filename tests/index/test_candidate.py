from __future__ import annotations

from wikigr.index.candidate import Candidate, Evidence, Section, place, section_ids


def test_a_candidate_knows_the_title_in_its_section_id() -> None:
    assert Candidate("C# (language)#12", 0.5).title == "C# (language)"


def test_relevance_is_the_score_unless_a_stage_recorded_it() -> None:
    assert Candidate("A#0", 0.5).relevance == 0.5
    assert Candidate("A#0", 7.0, {"relevance": 0.0}).relevance == 0.0


def test_section_ids_keep_the_order() -> None:
    assert section_ids(Candidate(name, 0.0) for name in ("B#1", "A#0")) == ("B#1", "A#0")


def test_a_section_is_labeled_by_title_and_heading() -> None:
    cases = {"History": "Spin › History", "": "Spin", None: "Spin"}
    assert {heading: place("Spin", heading) for heading in cases} == cases


def test_evidence_has_the_score_of_its_candidate() -> None:
    section = Section("A#0", "A", "Introduction", "Text.", "1", 0)
    assert Evidence(section, Candidate("A#0", 0.25)).score == 0.25
