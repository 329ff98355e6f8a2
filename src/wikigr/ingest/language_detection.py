"""Find out the language of what a pack is built from."""

from __future__ import annotations

import re
import string
from collections import Counter
from importlib.util import find_spec
from typing import Protocol, runtime_checkable

from wikigr.ingest.staging import Staging
from wikigr.languages import ENGLISH, Language, is_described, language_of
from wikigr.progress import Progress
from wikigr.sources.article import Source, SourceArticle
from wikigr.stop_words import STOP_WORDS

# Records whose text is looked at, spread over the source, and how much of each.
_SAMPLES = 200
_MAX_CHARACTERS = 2_000
_MAX_SECTION = 20_000
# Fewer words are too few to tell a language; those of several records, which are names and the like, must be more.
_MIN_WORDS = 10
_MIN_JOINED_WORDS = 60
_MIN_WORDS_OF_RARE = 200
# What the detector finds in numbers and the like (ISO 639-2).
_NO_LANGUAGE = "zxx"
_ASCII_WORD = re.compile(r"[A-Za-z]{1,30}(?:['’-][A-Za-z]{1,30})*")
_HEX = re.compile(r"[a-f]{6,}", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")


@runtime_checkable
class StatesLanguage(Protocol):
    """A source that may state the language of its text."""

    def stated_language(self) -> str | None:
        """Return the code of the language, or ``None`` if the source does not state it."""
        ...


def find_language(wanted: str | None, source: Source, staging: Staging, progress: Progress) -> Language:
    """Return the language ``wanted``, the one that ``source`` states, or the one of most of the staged text.

    A note says which one it is and why, and another one what a pack in it lacks. Detection needs the package py3langid.
    Templates state English for text in any language, so a stated ``en`` counts only if the text of the source does not
    contradict it. Raises ``UsageError`` if ``wanted`` is not a code.
    """
    language, why = _found(wanted, source, staging)
    progress.note(f"Language: {language.name} ({language.code}), {why}.")
    if missing := [part for part, is_known in language.known_parts.items() if not is_known]:
        known = [part for part, is_known in language.known_parts.items() if is_known]
        progress.note(
            f"wikigr knows {', '.join(known) if known else 'nothing'} of the language {language.name!r}; without: "
            f"{', '.join(missing)}."
        )
    if not language.is_english:
        progress.note(
            "The reader of short answers and the default encoder know English only: answers are whole passages, and "
            "unless --embedding-model names another encoder, sections are found by their words alone."
        )
    return language


def _found(wanted: str | None, source: Source, staging: Staging) -> tuple[Language, str]:
    """Return the language of the source, and why it is taken."""
    if wanted is not None:
        return language_of(wanted), "as --language says"
    code = source.stated_language() if isinstance(source, StatesLanguage) else None
    stated = language_of(code) if code is not None and is_described(code) else None
    if stated is not None and not stated.is_english:
        return stated, "as the source states"
    unknown = f"; the source states {code!r}, which wikigr does not know" if code is not None and stated is None else ""
    texts = list(filter(None, map(_words_of, staging.sample_records(_SAMPLES))))
    if not texts:
        return ENGLISH, "because the text has no words of any language" + unknown
    if _is_evidently_english(texts):
        return ENGLISH, (
            "as the source states" if stated is not None else "to which its most frequent words belong"
        ) + unknown
    if find_spec("py3langid") is None:
        return ENGLISH, (
            "which nothing has checked. Give another one with --language, or install what detects it: "
            "pip install 'wikigr[languages]'"
        ) + unknown
    language, share = _detected(texts)
    # The detector takes names and facts for one of its rare languages.
    is_short = not is_described(language.code) and sum(map(len, texts)) < _MIN_WORDS_OF_RARE
    if not share or is_short:
        return ENGLISH, "because its text has too few words to tell" + unknown
    if stated is None:
        return language, f"in which {share:.0%} of its text is written; --language overrides that" + unknown
    # Nearly all of the text must be in the other language for a stated English to be wrong.
    if language.is_english or share < 0.9 or not is_described(language.code):
        return ENGLISH, "as the source states"
    return (
        language,
        "in which nearly all of its text is written, although the source states 'en'; --language overrides that",
    )


def _detected(texts: list[list[str]]) -> tuple[Language, float]:
    """Return the language of most of ``texts``, and its share of their characters, 0 to 1.

    Texts of few words are judged as one, and not at all if that has few ASCII words. Those in which the detector finds
    no language do not count.
    """
    import py3langid

    long = [words for words in texts if len(words) >= _MIN_WORDS]
    short = [word for words in texts if len(words) < _MIN_WORDS for word in words]
    characters: Counter[str] = Counter()
    joined = [short] if len(short) >= _MIN_JOINED_WORDS or not " ".join(short).isascii() else []
    for words in (*long, *joined):
        # Rows of a table repeat the names of its columns.
        text = " ".join(dict.fromkeys(words))
        if text and (code := py3langid.classify(text)[0]) != _NO_LANGUAGE:
            characters[code] += len(text)
    if not characters:
        return ENGLISH, 0.0
    code = max(characters, key=lambda code: (characters[code], code == ENGLISH.code, code))
    return language_of(code), characters[code] / characters.total()


def _is_evidently_english(texts: list[list[str]]) -> bool:
    """Return whether a quarter of the words are English function words; to load the detector takes 0.7 s."""
    words = [word.lower() for text in texts for word in text]
    return sum(word in STOP_WORDS for word in words) > 0.25 * len(words)


def _words_of(record: SourceArticle) -> list[str]:
    """Return words of a record; code, numbers, codes and lines of mostly these have none."""
    words: list[str] = []
    characters = 0
    for section in record.sections:
        text = section.text[:_MAX_SECTION]
        for block in reversed(section.blocks):
            if block.kind == "code":
                text = text[: block.start] + text[block.end :]
        for line in text.split("\n"):
            tokens = [token for token in line.split() if any(map(str.isalnum, token))]
            found = [word for token in tokens if (word := _word_in(token))]
            if 2 * len(found) >= len(tokens):
                words += found
                characters += sum(map(len, found))
        if characters > _MAX_CHARACTERS:
            break
    return words


def _word_in(token: str) -> str:
    """Return the word in ``token``, ``""`` if it is a number, a code, an identifier or the like."""
    if not token.isascii():
        return _DIGITS.sub(" ", token).strip()
    word = token.strip(string.punctuation)
    return word if _ASCII_WORD.fullmatch(word) and not _HEX.fullmatch(word) else ""
