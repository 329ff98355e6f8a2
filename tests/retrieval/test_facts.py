"""Examples and rules of reference/multidoc-synthesizer.md, `_extract_facts`."""

from __future__ import annotations

from wikigr.retrieval.sentences import extract_facts


def test_statements() -> None:
    cases = {
        "Quantum mechanics is a theory. It describes atoms.": ["Quantum mechanics is a theory.", "It describes atoms."],
        "Fact one. Fact two. Is this a fact?": ["Fact one.", "Fact two."],
        "Planck et al. measured 6.6 units in the U.S. in 1900.": [
            "Planck et al. measured 6.6 units in the U.S. in 1900."
        ],
        "See also": [],
        "Yes.": [],
        "a long fragment without its full stop": ["a long fragment without its full stop"],
        "He asked “Why me?”": [],
        "It ends well! It ended.": ["It ends well!", "It ended."],
        "": [],
    }
    assert {text: extract_facts([text]) for text in cases} == cases


def test_each_once_in_order_over_all_texts() -> None:
    assert extract_facts(["Beta holds. Alpha holds.", "Alpha  holds. Gamma holds."]) == [
        "Beta holds.",
        "Alpha holds.",
        "Gamma holds.",
    ]
