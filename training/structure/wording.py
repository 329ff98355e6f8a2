"""Turn phrases of documentation into phrases of questions."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

Span = tuple[int, int]

# Words. A longer answer is not one that people would underline.
MAX_ANSWER_WORDS = 25
MAX_QUESTION_WORDS = 22

_CLAUSE_END = re.compile(
    r"(?:[;:,] |,? (?:which|where|whereas|while|although|because|since|so that|unless|but|as well as|for example|"
    r"e\.g\.|i\.e\.|such as|when|if|in order) )|\s\(|\s[-–—]\s|\n"
)
_LINE = re.compile(r"[^\s](?:[^\n]*[^\s])?")
_SENTENCE_END = re.compile(r"(?<=[a-z)\]\"”’0-9][.!?]) (?=[A-Z\"“])(?<!\be\.g\. )(?<!\bi\.e\. )")
_PERSONS = (
    (r"\byou are\b", "I am"),
    (r"\byou have\b", "I have"),
    (r"\byourself\b", "myself"),
    (r"\byours\b", "mine"),
    (r"\byour\b", "my"),
    (r"\byou\b", "I"),
    (r"\b(to|for|from|with|by|of|lets|let|allows|allow) I\b", r"\1 me"),
)
_KEYWORD_WORDS = frozenset(
    "what which who when where how why is are was were do does did the a an of i can could should would be there to my "
    "in for".split()
)
_CODE = re.compile(r"[_()=<>$@/\\]|^-|\w\.\w|[a-z][A-Z]|\w::\w|^[A-Z][A-Z0-9]+$|\w-\w+-\w")
_DANGLING = re.compile(
    r"(?:,? (?:e\.g|i\.e|when|which|that|and|or|if|as|of|to|the|an?|in|with|for|by|from|but|is|are|see))+$"
)
_POINTS_BACK = re.compile(
    r"\b(?:this|these|those|it|its|they|their|them|above|below|following|here|such|same|former|latter|other|he|she"
    r"|his|her|another|aforementioned)\b",
    re.IGNORECASE,
)


# What people do with software. "set" and "display" are nouns too, so they count only where a verb is expected.
VERBS = frozenset(
    """
    abort accept access activate add adjust allow alter append apply archive assign attach authenticate avoid backup
    bind block boot build bypass cache calculate call cancel capture cast change check choose clean clear clone close
    collect combine compare compile compress compute configure confirm connect construct contain control convert copy
    count create customize cut debug declare decode decrease decrypt define delay delete deliver deny deploy derive
    detach detect determine disable discard disconnect display distribute divide download drop dump edit eliminate
    emit empty enable encode encrypt enforce ensure enter erase escape evaluate exclude execute exit expand export
    expose extend extract fail fetch fill filter find finish fix flush force format forward generate get give grant
    group handle hide identify ignore implement import improve include increase indicate influence inherit initialize
    insert inspect install instantiate instruct invoke iterate join keep kill limit link list listen load locate lock
    log lookup maintain make manage manipulate map mark match measure merge migrate modify monitor mount move name
    negotiate obtain omit open optimize order output overload override overwrite pack parse partition pass pause
    perform permit place populate preserve prevent print process produce prohibit protect provide publish purge put
    query queue quit raise read rebuild receive record recover redirect reduce refer refresh register reject release
    reload remove rename render reorder repair repeat replace replicate report represent request require reset resize
    resolve restart restore restrict resume retrieve retry return reuse revert revoke rewrite roll rotate route run save
    scale scan schedule search select send serialize serve set share shorten show shut simplify simulate skip sort
    specify split start stop store stream submit subscribe substitute supply suppress suspend switch synchronize tell
    terminate test throttle toggle trace track transfer transform translate traverse treat trigger truncate tune turn
    undo uninstall unload unlock unpack update upgrade upload use validate verify view wait warn watch wrap write yield
    """.split()
)


def points_back(text: str) -> bool:
    """Return whether ``text`` refers to something outside it ("this value", "the following")."""
    return _POINTS_BACK.search(text) is not None


def is_code(word: str) -> bool:
    """Return whether ``word`` looks like a name in a program rather than a word."""
    return _CODE.search(word) is not None


def words(text: str) -> int:
    """Return the number of words."""
    return len(text.split())


def lower_first(text: str) -> str:
    """Return ``text`` with a lowercase first letter, unless its first word is a name or an abbreviation."""
    first = text.split(" ", 1)[0]
    if first[1:] != first[1:].lower() or is_code(first) or (first == "I"):
        return text
    return text[:1].lower() + text[1:]


def upper_first(text: str) -> str:
    """Return ``text`` with an uppercase first letter."""
    return text[:1].upper() + text[1:]


def as_asker(text: str) -> str:
    """Return what a text says to "you" as "I" would ask it."""
    for old, new in _PERSONS:
        text = re.sub(old, new, text)
    return text


def third_person(verb: str) -> str:
    """Return the third person of a verb: "specifies" for "specify"."""
    if verb in ("be", "have", "do", "go"):
        return {"be": "is", "have": "has", "do": "does", "go": "goes"}[verb]
    if re.search(r"(?:s|x|z|ch|sh)$", verb):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"


def base_forms(verb: str) -> list[str]:
    """Return the possible infinitives of a gerund or a third person."""
    found = []
    if verb.endswith("ing"):
        stem = verb[:-3]
        found = [stem, f"{stem}e"]
        if len(stem) > 2 and stem[-1] == stem[-2]:
            found.insert(0, stem[:-1])
        if stem.endswith("y"):
            found.append(f"{stem[:-1]}ie")
    elif verb.endswith("s"):
        found = [verb[:-1]]
        if verb.endswith("ies"):
            found.insert(0, f"{verb[:-3]}y")
        elif verb.endswith("es"):
            found.append(verb[:-2])
    return found


def infinitive(verb: str, text: str = "") -> str:
    """Return the infinitive of a gerund or a third person, ``""`` if neither the list of verbs nor ``text`` has it."""
    forms = base_forms(verb)
    known = (form for form in forms if form in VERBS)
    return next(known, "") or next((form for form in forms if re.search(rf"\b{form}\b", text)), "")


def clause(text: str, start: int, end: int, max_words: int = MAX_ANSWER_WORDS) -> Span | None:
    """Return the span from ``start`` to the end of its sentence, or of its longest clause of at most ``max_words``.

    The sentence's final punctuation is left out. Returns ``None`` if there is no such clause.
    """
    piece = text[start:end].rstrip()
    piece = re.sub(r"[.!:;,]+$", "", piece)
    ends = [match.start() for match in _CLAUSE_END.finditer(piece)] + [len(piece)]
    for stop in reversed(ends):
        cut = _DANGLING.sub("", piece[:stop].rstrip(" ,;:"))
        if "\n" not in cut.strip() and 0 < words(cut) <= max_words and cut.count("(") == cut.count(")"):
            return start, start + len(cut)
    return None


def sentences(text: str) -> Iterator[Span]:
    """Yield the sentences of the lines of ``text``; much faster than the segmenter, for text without abbreviations."""
    for line in _LINE.finditer(text):
        start = line.start()
        for stop in (*(match.start() for match in _SENTENCE_END.finditer(line[0])), len(line[0])):
            if line.start() + stop > start:
                yield start, line.start() + stop
            start = line.start() + stop + 1


def sentence_at(text: str, start: int) -> Span:
    """Return the sentence in which the character ``start`` stands."""
    for first, last in sentences(text):
        if first <= start < last:
            return first, last
    return start, len(text)


def choose(draw: random.Random, templates: Sequence[str], **slots: str) -> str:
    """Return a question: a random one of ``templates``, with its slots filled, now and then as people type."""
    text = " ".join(draw.choice(templates).format(**slots).split())
    text = re.sub(r" ([?,])", r"\1", text)
    chance = draw.random()
    if chance < 0.06:
        kept = [word for word in text.rstrip("?").split() if word.lower() not in _KEYWORD_WORDS]
        return " ".join(kept) if len(kept) > 2 else text
    if chance < 0.12:
        return lower_first(text.rstrip("?"))
    return upper_first(text)


def article(noun: str) -> str:
    """Return "a" or "an" for ``noun``."""
    return "an" if re.match(r"[aeio]|un[^i]|hour|[FHLMNRSX][A-Z]", noun) else "a"
