"""Find out the language of what a pack is built from."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.util import find_spec
from typing import Protocol, runtime_checkable

from wikigr.ingest.staging import Staging
from wikigr.languages import ENGLISH, Language, is_described, language_of
from wikigr.progress import Progress
from wikigr.sources.article import Source
from wikigr.stop_words import STOP_WORDS

# Records whose text is looked at, spread over the source.
_SAMPLES = 200
_LETTERS = re.compile(r"[^\W\d_]")


@runtime_checkable
class StatesLanguage(Protocol):
    """A source that may state the language of its text."""

    def stated_language(self) -> str | None:
        """Return the code of the language, or ``None`` if the source does not state it."""
        ...


def find_language(wanted: str | None, source: Source, staging: Staging, progress: Progress) -> Language:
    """Return the language ``wanted``, the one that ``source`` states, or the one of most of the staged text.

    Detection needs the package py3langid. Templates state English for text in any language, so a stated ``en`` counts
    only if the text of the source does not contradict it. Raises ``UsageError`` if ``wanted`` is not a code.
    """
    if wanted is not None:
        language = language_of(wanted)
        _note_missing_parts(language, progress)
        return language
    stated = source.stated_language() if isinstance(source, StatesLanguage) else None
    if stated is not None:
        if is_described(stated) and not language_of(stated).is_english:
            return language_of(stated)
        if not is_described(stated):
            progress.note(f"The source states the language {stated!r}, which wikigr does not know.")
            stated = None
    texts = _samples(staging)
    if not texts or _is_evidently_english(texts):
        return ENGLISH
    if find_spec("py3langid") is None:
        if _is_in_another_script(texts):
            progress.note(
                "The text is taken for English. Give its language with --language, or install what detects it: "
                "pip install 'wikigr[languages]'"
            )
        return ENGLISH
    language, share = _detected(texts)
    if stated is None or language.is_english:
        return language
    # Nearly all of the text must be in the other language for a stated English to be wrong.
    if share < 0.9 or not is_described(language.code):
        return ENGLISH
    progress.note(
        f"The source states the language 'en', but nearly all of its text is {language.name}, so that is used. "
        "--language en overrides that."
    )
    return language


def _note_missing_parts(language: Language, progress: Progress) -> None:
    parts = language.known_parts
    if not all(parts.values()):
        known = [part for part, is_known in parts.items() if is_known]
        missing = [part for part, is_known in parts.items() if not is_known]
        progress.note(
            f"wikigr knows {', '.join(known) if known else 'nothing'} of the language {language.name!r}; without: "
            f"{', '.join(missing)}."
        )


def _detected(texts: list[str]) -> tuple[Language, float]:
    """Return the language of most of ``texts``, and its share of their characters, 0 to 1."""
    import py3langid

    found: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    for text in texts:
        code = py3langid.classify(text)[0]
        found[code] += 1
        characters[code] += len(text)
    code = max(found, key=lambda code: (found[code], code == ENGLISH.code, code))
    return language_of(code), characters[code] / characters.total()


def _is_evidently_english(texts: list[str]) -> bool:
    """Return whether a quarter of the words are English function words; to load the detector takes 0.7 s."""
    words = [word for text in texts for word in text.lower().split()]
    english = sum(word in STOP_WORDS for word in words)
    return english > 0.25 * len(words)


def _is_in_another_script(texts: list[str]) -> bool:
    letters = _LETTERS.findall("".join(texts))
    others: int = sum(letter > "\u024f" for letter in letters)
    return others > len(letters) // 2


def _samples(staging: Staging) -> list[str]:
    step = max(1, staging.count("record") // _SAMPLES)
    texts = []
    for (payload,) in staging.rows("SELECT payload FROM record WHERE n % ? = 0 ORDER BY n LIMIT ?", (step, _SAMPLES)):
        text = " ".join(section["text"] for section in json.loads(payload)["sections"])[:2_000]
        if len(text) >= 80:
            texts.append(text)
    return texts
