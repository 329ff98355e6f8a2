"""Answer match: containment accuracy, and the exact match and F1 of SQuAD."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection

from wikigr.evaluation.metrics.answered import AnsweredQuestion

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
# These separate words without spaces around them. Deleting them would join the words.
_SEPARATORS = re.compile(r"[—―…]|\.{3}")
_JOINTS = re.compile(r"[-‐‑‒–/]|['’]s\b")


def matched(
    measure: Callable[[str, Collection[str]], float], part: Callable[[AnsweredQuestion], str]
) -> Callable[[AnsweredQuestion], float]:
    """Return ``measure`` of a part of the answer, never NaN, with abstention scored as in SQuAD 2.0.

    Abstaining from an answerable question scores 0. An unanswerable question scores 1 for abstaining, 0 for any answer.
    """

    def of_answer(answered: AnsweredQuestion) -> float:
        question = answered.question
        return measure(part(answered), question.answers) if question.answerable else float(answered.answer.abstained)

    return of_answer


def normalize(text: str) -> str:
    """Return ``text`` as SQuAD compares it: lower case, no punctuation, no articles, single spaces.

    SQuAD's script (Rajpurkar et al. 2016) handles ASCII only. This function also removes all Unicode punctuation,
    treats composed and decomposed letters alike, and separates words at long dashes and ellipses.
    """
    lowered = _SEPARATORS.sub(" ", unicodedata.normalize("NFC", text).lower())
    bare = "".join(character for character in lowered if not _is_punctuation(character))
    return " ".join(_ARTICLES.sub(" ", bare).split())


def _is_punctuation(character: str) -> bool:
    # SQuAD removes all of string.punctuation, which Unicode classifies as punctuation (P) or symbols (S).
    category = unicodedata.category(character)
    return category[0] == "P" or (category[0] == "S" and character.isascii())


def accuracy(text: str, accepted: Collection[str]) -> float:
    """Return 1.0 if ``text`` contains an ``accepted`` string as whole words after ``normalize``, otherwise 0.0.

    Whole words means that ``5`` does not match ``1954`` and ``art`` does not match ``Stuttgart``. Words joined by a
    hyphen, dash or slash match both separately and joined, as SQuAD joins them (``1930`` and ``1930-1937`` both match
    ``1930–1937``). A possessive matches its noun (``Planck`` matches ``Planck's``). An accepted string that
    ``normalize`` empties (``A``, ``+``) must occur in ``text`` verbatim, with no word character next to it.

    The measure follows the containment accuracy of open-domain question answering (Mallen et al. 2023), which has no
    word boundaries.
    """
    separated = _JOINTS.sub(" ", text)
    return float(any(_contains(text, a) or _contains(separated, _JOINTS.sub(" ", a)) for a in accepted))


def _contains(text: str, accepted: str) -> bool:
    wanted = normalize(accepted)
    if wanted:
        return f" {wanted} " in f" {normalize(text)} "
    verbatim = accepted.strip()
    return bool(verbatim and re.search(rf"(?<!\w){re.escape(verbatim)}(?!\w)", text))


def exact_match(text: str, accepted: Collection[str]) -> float:
    """Return 1.0 if ``text`` equals an ``accepted`` string after ``normalize``, otherwise 0.0 (SQuAD's EM).

    Strings that ``normalize`` empties are compared verbatim.
    """
    return float(any(_tokens(text) == _tokens(string) for string in accepted))


def token_f1(text: str, accepted: Collection[str]) -> float:
    """Return the best token F1 of ``text`` against an ``accepted`` string, in [0, 1] (SQuAD's F1).

    Tokens come from ``normalize`` and count as often as they occur. Without accepted strings the result is 0.0.
    """
    tokens = Counter(_tokens(text))
    counts = [Counter(_tokens(string)) for string in accepted]
    pairs = [((tokens & wanted).total(), tokens.total() + wanted.total()) for wanted in counts]
    return max((2 * shared / total if shared else 0.0 for shared, total in pairs), default=0.0)


def _tokens(text: str) -> list[str]:
    return normalize(text).split() or text.split()
