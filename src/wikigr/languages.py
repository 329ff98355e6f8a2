"""The language of a pack: how its text is split into words and sentences, and how questions are asked in it.

English is part of the code, which has many more rules for it; the file ``languages.yaml`` describes the others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from wikigr.errors import UsageError
from wikigr.stop_words import QUESTION_WORDS
from wikigr.text import MARKS, without_points

_CODE = re.compile(r"[a-z]{2,3}")
_WORD = re.compile(rf"\w[\w{MARKS}]*")
# Letters of scripts without spaces between words: Thai, Lao, Khmer, Burmese with their marks, kana, Han.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
# A word, or a run of letters of such scripts; their vowels and tones are not word characters.
_UNSPACED_OR_WORD = re.compile(rf"{_UNSPACED.pattern}|(?:(?!{_UNSPACED.pattern})\w)+")


@dataclass(frozen=True, eq=False)
class Language:
    """A language by its ISO 639 ``code``; see ``languages.yaml`` for the fields.

    ``asks`` maps a type of answer (date, number, reason) to a pattern of what asks for it, and ``holds`` to words that
    such an answer contains.
    """

    code: str
    name: str
    stemmer: str | None = None
    characters: bool = False
    function_words: frozenset[str] = frozenset()
    asks: Mapping[str, str] = field(default_factory=dict)
    holds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    abbreviations: frozenset[str] = frozenset()
    ordinals: bool = False
    negations: frozenset[str] = frozenset()

    @property
    def is_english(self) -> bool:
        return self.code == ENGLISH.code

    @property
    def known_parts(self) -> dict[str, bool]:
        """What helps to search and to answer in this language, and whether it is known."""
        return {
            "a stemmer": self.stemmer is not None or self.characters,
            "stop words": bool(self.function_words),
            "question words": self.is_english or bool(self.asks),
            "the ends of abbreviations and ordinals": self.is_english or bool(self.abbreviations) or self.ordinals,
        }

    def stop_words(self, english: frozenset[str]) -> frozenset[str]:
        """Return ``english``, a list of English words, or in another language its function words."""
        return english if self.is_english else self.function_words

    def tokens(self, text: str) -> list[str]:
        """Return the words of ``text``; of scripts without spaces, all pairs of neighboring characters.

        The points of Hebrew and Arabic words are left out.
        """
        text = without_points(text)
        if not self.characters:
            return _WORD.findall(text)
        return [token for word in _UNSPACED_OR_WORD.findall(text) for token in _pairs(word)]


def _pairs(word: str) -> list[str]:
    if len(word) <= 2 or _UNSPACED.match(word) is None:
        return [word]
    return [word[at : at + 2] for at in range(len(word) - 1)]


ENGLISH = Language("en", "English", stemmer="english", function_words=QUESTION_WORDS)


def is_described(code: str) -> bool:
    """Return whether ``languages.yaml`` describes the language with this code, or it is English."""
    language = language_of(code)
    return language.is_english or language.code in _described()


@cache
def language_of(code: str) -> Language:
    """Return the language with the ISO 639 code ``code``, such as ``de`` or ``pt-BR``.

    Words of a language that ``languages.yaml`` does not name are kept as they are. Raises ``UsageError`` if ``code`` is
    not a code.
    """
    short = re.split(r"[-_]", code.strip().lower(), maxsplit=1)[0]
    if not _CODE.fullmatch(short):
        raise UsageError(
            f"{code[:40]!r} is not the code of a language.", hint="Give one such as en, de or zh (ISO 639-1)."
        )
    short = _SHORT_CODES.get(short, short)
    if short == ENGLISH.code:
        return ENGLISH
    fields = _described().get(short)
    if fields is None:
        return Language(short, short)
    holds = {
        kind: tuple(fields.get(key, "").split())
        for kind, key in (("date", "months"), ("number", "numbers"), ("reason", "reasons"))
    }
    return Language(
        short,
        fields["name"],
        stemmer=fields.get("stemmer"),
        characters=fields.get("characters", False),
        function_words=frozenset(fields.get("function_words", "").split()),
        asks=fields.get("asks", {}),
        holds=holds,
        abbreviations=frozenset(fields.get("abbreviations", "").split()),
        ordinals=fields.get("ordinals", False),
        negations=frozenset(fields.get("negations", "").split()),
    )


def language_named(code: str) -> Language:
    """Return ``language_of(code)`` for a code that somebody gave; raises ``UsageError`` if no language has it."""
    from importlib.resources import files

    language = language_of(code)
    # ISO 639, as far as CLDR has names for its codes.
    if language.code not in (files("wikigr") / "language_codes.txt").read_text("ascii").split():
        raise UsageError(f"No language has the code {code[:40]!r}.", hint="Give one such as en, de or zh (ISO 639-1).")
    return language


# ISO 639-2 and 639-3 codes, which ZIM files use.
_SHORT_CODES = dict(
    pair.split(":")
    for pair in """ara:ar bul:bg ces:cs cze:cs dan:da deu:de ger:de ell:el gre:el eng:en fin:fi fra:fr fre:fr hun:hu
    ita:it jpn:ja kor:ko nld:nl dut:nl nor:no nob:no nb:no pol:pl por:pt ron:ro rum:ro rus:ru spa:es swe:sv tam:ta
    tha:th tur:tr ukr:uk zho:zh chi:zh cmn:zh""".split()
)


@cache
def _described() -> dict[str, Any]:
    from importlib.resources import files

    from wikigr.yaml_files import read_yaml

    described: dict[str, Any] = read_yaml((files("wikigr") / "languages.yaml").read_bytes()).values
    return described
