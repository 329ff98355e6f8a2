"""Yes or no is said where a sentence says it: denied, affirmed, or by a limit."""

from __future__ import annotations

import pytest
from tests.answer.evidence import candidates, evidence

from wikigr.pack.open import Pack


@pytest.mark.parametrize(
    ("question", "text", "lead"),
    [
        ("Are dogs allowed in the museum?", "Dogs are not allowed in the museum.", "No."),
        ("Are dogs allowed in the garden?", "Dogs are allowed in the garden.", "Yes."),
        ("Can I wash the sails in the machine?", "The sails cannot be washed in the machine.", "No."),
        ("Is the choir not open to beginners?", "The choir is open to beginners.", "No."),
        ("May a carton of 40 kg go by post?", "By post, up to 31 kg a carton.", "No."),
        ("May a carton of 20 kg go by post?", "By post, up to 31 kg a carton.", "Yes."),
        ("Do we spray at 6 m/s?", "Over 5 m/s: no spraying.", "No."),
        # Not certain: a condition, another unit, and few of the words.
        ("Are dogs allowed in the museum?", "Dogs are allowed in the museum only on Mondays.", ""),
        ("May a carton of 40 cm go by post?", "By post, up to 31 kg a carton.", ""),
        ("Are dogs allowed in the museum?", "Dogs sleep in the hall.", ""),
        ("Are dogs allowed in the museum?", "The museum is open daily; smoking is not allowed.", ""),
    ],
)
def test_a_sentence_says_yes_or_no(pack: Pack, question: str, text: str, lead: str) -> None:
    (found, *_) = candidates(pack, "yes_no", question, evidence("Rules#0", text, 0.9))
    assert (found.lead, found.text.removeprefix(lead).strip()) == (lead, text)


def test_the_name_of_a_column_says_nothing(pack: Pack) -> None:
    (found,) = candidates(pack, "yes_no", "Did the insurance pay?", evidence("Log#0", "No: D-047, paid in May.", 0.9))
    assert (found.short, found.lead) == ("", "")
