"""Questions for dates, places, people and figures in articles, and for those that an article does not state."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from training.examples import Example
from training.structure.building import ATTRIBUTE, ENTITY_SWAP, Rivals, answered, removed, unanswered
from training.structure.passages import Passage
from training.structure.wording import Span, choose, sentences, words

NAME = "life"

_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATE = (
    rf"(?:(?:\d{{1,2}}\s+)?{_MONTH}(?:\s+\d{{1,2}})?,?\s+\d{{3,4}}(?: BC| AD)?|(?:c\. |circa )?\d{{3,4}}(?: BC| AD)?)"
)
_FULL_DATE = rf"(?:\d{{1,2}} {_MONTH},? \d{{3,4}}(?: BC)?|{_MONTH} \d{{1,2}},\s+\d{{3,4}}(?: BC)?)"
_NAME = (
    r"[A-ZÀ-Þ][\w.'’-]+(?: (?:of|de|la|von|van|the|du|del|da|di|al|ibn|[A-ZÀ-Þ][\w.'’-]*))*(?<! of)(?<! the)(?<! de)"
)
_FULL_NAME = r"[A-ZÀ-Þ][\w.'’-]+(?: (?:of |de |von |van )?[A-ZÀ-Þ][\w.'’-]*){1,3}"
_PEOPLE = rf"(?:{_FULL_NAME}(?: and {_FULL_NAME})?)"
_PLACE = rf"(?:{_NAME}(?:, {_NAME}){{0,3}})"
_ON = rf"(?:(?:on|in|about|around) )?(?:{_DATE},? )?"
_MADE = (
    "founded|established|created|built|designed|invented|discovered|written|directed|composed|painted|developed"
    "|released|published|opened|formed|introduced|completed|launched|proposed|described"
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """What articles state: ``cue`` matches a text that may state it, ``near`` names attributes of the same type."""

    name: str
    pattern: re.Pattern[str]
    questions: tuple[str, ...]
    cue: re.Pattern[str]
    is_personal: bool = True


def _attribute(name: str, pattern: str, questions: str, cue: str, *, is_personal: bool = True) -> Attribute:
    return Attribute(name, re.compile(pattern), tuple(questions.split("|")), re.compile(cue), is_personal)


_DEATH_CUE = r"\b(?:die[ds]?|death|dead|killed|murder|assassinat|executed|buried|last|until|late)|\d{3,4}\s*\)"
ATTRIBUTES = (
    _attribute(
        "birth",
        rf"\(\s*(?:[^()\d]{{0,60}}[,;:] )?(?:born:? |b\. )?(?P<value>{_DATE})\s*[-–—]|\((?:[^()\d]{{0,60}}[,;:] "
        rf")?(?:born|b\.)(?: on| in)? (?P<value4>{_DATE})|\b[Bb]orn:?\s+(?:on )?"
        rf"(?P<value2>{_FULL_DATE})|was born (?:[^.;]{{0,40}} )?(?:on|in) (?P<value3>{_FULL_DATE}|\d{{4}})",
        "When was {x} born?|When was {x} born?|In which year was {x} born?|What is {x}'s date of birth?|What is the "
        "birthday of {x}?"
        "|On which date was {x} born?|When is {x}'s birthday?|date of birth of {x}",
        r"\bborn|birth|\(\s*[^)]*\d{3,4}",
    ),
    _attribute(
        "death",
        rf"(?P<cut>\s*[-–—]\s*(?:died |d\. )?(?P<value>{_DATE}))\s*[);]|\b[Dd]ied:?\s+(?:on |in "
        rf")?(?P<value2>{_FULL_DATE})"
        rf"|(?:[Hh]e|[Ss]he|(?!who\b)\w+) died (?:[^.;]{{0,40}} )?(?:on|in) (?P<value3>{_FULL_DATE}|\d{{4}})",
        "When did {x} die?|When did {x} die?|In which year did {x} die?|What is the date of {x}'s death?|When was "
        "{x}'s death?"
        "|On which date did {x} die?|What year did {x} pass away?|date of death of {x}",
        _DEATH_CUE,
    ),
    _attribute(
        "birthplace",
        rf"(?:was |, |)born {_ON}(?:to [^.;,]{{3,40}} )?(?:in|at|near) (?:the (?:city|town|village) of "
        rf")?(?P<value>{_PLACE})"
        rf"|\bBorn:?\s+{_DATE}(?: \(age \d+\))? (?P<value2>{_NAME}, {_NAME})(?= Died| Occupation|\n)",
        "Where was {x} born?|Where was {x} born?|In which city was {x} born?|What is the birthplace of {x}?|Where "
        "does {x} come from?"
        "|What is {x}'s place of birth?|birthplace of {x}",
        r"\bborn|birth|\bBorn",
    ),
    _attribute(
        "deathplace",
        rf"\bdied {_ON}(?:in|at) (?:his|her|the)? ?(?:home in )?(?P<value>{_PLACE})|\bDied:?\s+{_DATE} "
        rf"(?P<value2>{_NAME}, {_NAME})",
        "Where did {x} die?|Where did {x} die?|In which place did {x} die?|What was {x}'s place of death?|What city "
        "did {x} die in?",
        _DEATH_CUE,
    ),
    _attribute(
        "spouse",
        rf"(?:\b[Mm]arried|(?:his|her) (?:first |second |third )?(?:wife|husband),?|married to) (?P<value>{_PEOPLE})",
        "Who did {x} marry?|Who was {x} married to?|Who was the spouse of {x}?|What was the name of {x}'s spouse?"
        "|Who was {x}'s partner in marriage?"
        "|Who was the wife of {x}?|Who was the husband of {x}?",
        r"\b(?:marri|wife|wives|husband|spouse|[Cc]onsort|[Ww]idow|bride|wed|queen|Queen)",
    ),
    _attribute(
        "father",
        rf"(?:(?:his|her|His|Her) father,? (?:was )?|\b(?:son|daughter) of |\bFather )(?P<value>{_PEOPLE})",
        "Who was the father of {x}?|Who was {x}'s father?|What was the name of {x}'s father?|Whose child was {x}?",
        r"\b(?:father|son|daughter|parents|child)",
    ),
    _attribute(
        "mother",
        rf"(?:(?:his|her|His|Her) mother,? (?:was )?|\bMother )(?P<value>{_PEOPLE})",
        "Who was the mother of {x}?|Who was {x}'s mother?|What was the name of {x}'s mother?",
        r"\b(?:mother|son|daughter|parents|child)",
    ),
    _attribute(
        "school",
        rf"(?:educated|studied|graduated|enrolled|degree|education) [^.;]{{0,30}}?(?:at|from) (?:the "
        rf")?(?P<value>{_NAME})",
        "Where did {x} study?|Where was {x} educated?|Which university did {x} attend?|Which school did {x} go to?"
        "|Where did {x} go to university?",
        r"\b(?:educat|stud[iy]|school|college|universit|University|College|School|degree|gradua|taught)",
    ),
    _attribute(
        "height",
        r"[Hh]eight:?\s+(?P<value>\d[^.()]{2,14}?)(?= \(|\n)",
        "How tall was {x}?|How tall is {x}?|What was {x}'s height?",
        r"[Hh]eight|\btall\b|feet|metres|\bcm\b",
    ),
    _attribute(
        "children",
        r"had (?P<value>\w+) (?:children|sons|daughters)",
        "How many children did {x} have?|How many kids did {x} have?|What number of children did {x} have?",
        r"\b(?:child|son\b|sons|daughter|[Ii]ssue|kids|heir)",
    ),
    _attribute(
        "made",
        rf"(?:was|were) (?:first |originally |)(?P<verb>{_MADE}) (?:[^.;,]{{0,40}} )?(?:in|on) "
        rf"(?P<value>{_FULL_DATE}|(?:{_MONTH} )?\d{{4}})\b",
        "When was {x} {verb}?|When was {x} {verb}?|In which year was {x} {verb}?|On what date was {x} {verb}?|What "
        "year was {x} {verb} in?"
        "|Since when has {x} been {verb}?",
        rf"\b(?:{_MADE}|since|began|start)",
        is_personal=False,
    ),
    _attribute(
        "maker",
        rf"(?P<verb>{_MADE}) (?:in \d{{4}} |jointly |)by (?:the )?(?:[a-z]+ ){{0,3}}(?P<value>{_PEOPLE})",
        "Who {verb} {x}?|Who {verb} {x}?|By whom was {x} {verb}?|Who was {x} {verb} by?|What is the name of the "
        "person who {verb} {x}?",
        rf"\b(?:{_MADE}|by [A-Z]|founder|author|inventor|creator)",
        is_personal=False,
    ),
    _attribute(
        "capital",
        rf"(?:[Cc]apital(?: city)?(?: \([^)]*\))?(?:,| is| was|:) |whose capital is |\bCapital )(?:the city of "
        rf")?(?P<value>{_NAME})",
        "What is the capital of {x}?|Which city is the capital of {x}?|What is {x}'s capital?|capital city of {x}",
        r"[Cc]apital|seat",
        is_personal=False,
    ),
    _attribute(
        "population",
        r"population (?:of|is|was)(?: about| around| approximately| over| roughly| nearly| estimated at)? "
        r"(?P<value>\d[\d,.]*(?: million| billion)?)",
        "What is the population of {x}?|How many people live in {x}?|How many inhabitants does {x} have?|How large "
        "is the population of {x}?"
        "|How populous is {x}?",
        r"[Pp]opulation|inhabitants|people|residents",
        is_personal=False,
    ),
    _attribute(
        "area",
        r"(?:area of|covers|covering|an area:?)(?: about| around| approximately| over| some| an area of| roughly)* "
        r"(?P<value>\d[\d,.]* (?:km²|square (?:kilometres|miles|kilometers)|sq mi|hectares|acres))",
        "How large is {x}?|What is the area of {x}?|What area does {x} cover?|How big is {x}?|How many square "
        "kilometers does {x} cover?",
        r"\b[Aa]rea|km²|square|acres|hectares",
        is_personal=False,
    ),
    _attribute(
        "location",
        r"\b(?:located|situated|lies) (?P<value>(?:in|on|at|near|along|between|off) [^.;:()]{4,60}?)(?=[.;:(]|, "
        r"(?:and|which|with|where)|$)",
        "Where is {x}?|Where is {x} located?|Where does {x} lie?|Where can {x} be found?|In what place is {x}?",
        r"\b(?:located|situated|lies|[Ll]ocation|found|in [A-Z])",
        is_personal=False,
    ),
    _attribute(
        "name",
        r"\bnamed after (?P<value>[^.;:(),]{4,50}?)(?=[.;:(),]| (?:in|by|and|who|because)\b|$)",
        "What is {x} named after?|After whom is {x} named?|Who or what gave {x} its name?|Where does the name of {x} "
        "come from?",
        r"\bname[ds]?\b|called|etymolog",
        is_personal=False,
    ),
    _attribute(
        "measure",
        r"(?P<value>\d[\d,.]* (?:metres|meters|feet|km|kilometres|miles|m|ft)) (?:\([^)]*\) )?(?P<verb>tall|high"
        r"|long|deep|wide)\b",
        "How {verb} is {x}?|How {verb} is {x}?|What makes {x} {verb}, in figures?|How many meters {verb} is {x}?",
        r"\b(?:tall|high|height|long|length|deep|depth|wide|width|metres|feet|km|miles)\b",
        is_personal=False,
    ),
)
_PERSON = re.compile(r"\b(?:[Bb]orn|[Hh]e|[Ss]he|[Hh]is|[Hh]er)\b")
_LIFE = re.compile(
    rf"\([^()]*(?:\d{{3,4}}[^()]*[-–—][^()]*\d{{3,4}}|\bborn [^()]*\d{{3,4}})[^()]*\) (?:was|is) an?\b|"
    rf"\bBorn:? |\({_DATE}\s*[-–—]\s*{_DATE}\)"
)
# Between the name of the subject and a verb, this begins another subject.
_OTHER_SUBJECT = re.compile(r",(?! an? | the )|\b(?:with|from|in which|of which|who|whose|which|when|while)\b")
_VERBS_ASKED = {"made": _MADE.split("|"), "maker": _MADE.split("|")[:12], "measure": ["tall", "long", "deep", "high"]}
# The date of birth before a date of death that was removed.
_ONE_DATE = re.compile(rf"\(\s*(?={_DATE}\s*\))")
_SHARE_OF_NEGATIVES = 0.8
# Characters between the name of the subject and what is said of it.
MAX_DISTANCE = 90
_MIN_PRONOUNS = 2
# Passages of a person without any of its facts serve as negatives this often.
_SHARE_OF_MISSING = 0.5


def generate(passages: Sequence[Passage], rivals: Rivals, draw: random.Random) -> Iterator[Example]:
    """Yield questions for the attributes that ``passages`` state, and for others that they do not state."""
    people = sorted({passage.title for passage in passages if is_person(passage)})
    known = set(people)
    for passage in passages:
        if "(" in passage.title and passage.title.partition(" (")[0] in known:
            continue
        is_about_person = passage.title in known
        subject = passage.title.partition(" (")[0]
        found = {}
        for attribute in ATTRIBUTES:
            if attribute.is_personal == is_about_person:
                place = _find(passage, attribute)
                if place is not None:
                    found[attribute.name] = place
                    yield from _asked(passage, subject, attribute, *place, people, rivals, draw)
        if (is_about_person and draw.random() < _SHARE_OF_MISSING) or found:
            yield from _missing(passage, subject, is_about_person, draw)


def is_person(passage: Passage) -> bool:
    """Return whether a passage begins like the lead of an article about a person."""
    last = passage.title.partition(" (")[0].split()[-1]
    lead = passage.text[:700]
    is_life = _LIFE.search(lead) or re.search(rf"\b(?:{re.escape(last)}|He|She) was born\b", lead)
    is_named = not re.search(r"\d| (?:War|Empire)\b", passage.title)
    return bool(is_life) and is_named and len(_PERSON.findall(passage.text)) >= _MIN_PRONOUNS


def _find(passage: Passage, attribute: Attribute) -> tuple[Span, Span, str] | None:
    """Return the value, what to cut to remove it, and the verb, if the passage states an attribute of its subject."""
    text = passage.text
    if attribute.name == "birth" and passage.heading != "Introduction":
        return None
    for start, end in sentences(text):
        match = attribute.pattern.search(text, start, end)
        if match is None:
            continue
        group = next(name for name in ("value", "value2", "value3", "value4") if match.groupdict().get(name))
        if not _is_about(
            passage.title, text[start : match.start(group)], text[start:end], is_strict=not attribute.is_personal
        ):
            continue
        he, she = (len(re.findall(rf"\b{word}\b", text, re.IGNORECASE)) for word in ("he", "she"))
        if attribute.is_personal and re.match(r"He\b|His\b" if she > he else r"She\b|Her\b", text[start:end]):
            continue
        verb = match.groupdict().get("verb") or ""
        span = (match.start(group), match.start(group) + len(match[group].rstrip(". ")))
        if text[slice(*span)].lower() in ("his", "her", "the", "a", "no"):
            continue
        cut = match.span("cut") if match.groupdict().get("cut") else (start, end)
        return span, cut, verb
    return None


def _is_about(title: str, before: str, sentence: str, *, is_strict: bool) -> bool:
    """Return whether the subject of a sentence is the article's: its name or a pronoun stands before the value."""
    start = re.match(r"(?:The |In (?:\d+|[A-Z]\w+ \d+), )?(?:He|She|His|Her|It|Its)\b", sentence)
    names = [
        word
        for word in re.findall(r"[\wÀ-þ]{3,}", title.partition(" (")[0])
        if (word[0].isupper() or word.isdigit()) and word != "The"
    ]
    if start or not before.strip():
        return bool(before.strip()) and len(before) < MAX_DISTANCE
    near = before[-MAX_DISTANCE:]
    found = [match.end() for name in names[-2:] for match in re.finditer(rf"\b{re.escape(name)}\b", near)]
    return bool(found) and (not is_strict or not _OTHER_SUBJECT.search(near[max(found) :]))


def _asked(
    passage: Passage,
    subject: str,
    attribute: Attribute,
    span: Span,
    cut: Span,
    verb: str,
    people: list[str],
    rivals: Rivals,
    draw: random.Random,
) -> Iterator[Example]:
    if words(subject) > 6:
        return
    questions = attribute.questions
    if attribute.name == "spouse":
        is_woman = re.search(r"\b[Ss]he\b", passage.text) is not None
        is_man = re.search(r"\b[Hh]e\b", passage.text) is not None
        questions = questions[:5] if is_woman == is_man else (*questions[:4], questions[6 if is_woman else 5])
    if attribute.name == "father" and "daughter" not in passage.text and "father" not in passage.text.lower():
        questions = (*questions[:3], "Whose son was {x}?")
    question = choose(draw, questions, x=subject, verb=verb)
    positive = answered(NAME, passage, question, [span])
    yield positive
    if draw.random() > _SHARE_OF_NEGATIVES:
        return
    if draw.random() < 0.6:
        made = removed(NAME, passage, question, [span], cut)
        if attribute.name == "death":
            made = [replace(one, text=_ONE_DATE.sub("(born ", one.text, count=1)) for one in made]
        cue = attribute.cue.search(made[0].text) if made and attribute.name not in ("birth", "death") else None
        yield from (() if cue and draw.random() < 0.7 else made)
        return
    others = people if subject in people else [passage.title for passage in (rivals.sample(draw, passage.source),)]
    other = draw.choice(others).partition(" (")[0] if others else subject
    if other.split()[-1] not in f"{passage.title} {passage.text}" and words(other) < 6:
        yield unanswered(NAME, ENTITY_SWAP, passage, choose(draw, questions, x=other, verb=verb))


def _missing(passage: Passage, subject: str, is_about_person: bool, draw: random.Random) -> Iterator[Example]:
    """Yield a question for an attribute of the subject that the passage does not mention."""
    lacking = [a for a in ATTRIBUTES if a.is_personal == is_about_person and not a.cue.search(passage.text)]
    if lacking and words(subject) <= 6:
        attribute = draw.choice(lacking)
        verb = draw.choice(_VERBS_ASKED.get(attribute.name, [""]))
        question = choose(draw, attribute.questions, x=subject, verb=verb)
        yield unanswered(NAME, ATTRIBUTE, passage, question)
