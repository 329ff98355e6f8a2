"""Draft gold questions from the sentences of a pack, each with the sentence that answers it. English only.

A sentence becomes a question only if it names its subject or clearly refers to it, and if the rest stands on its own:
few kinds of sentences, but questions that read like those of a person.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from wikigr.evaluation.metrics.accuracy import accuracy
from wikigr.pack.open import Pack
from wikigr.retrieval.definition_patterns import is_definition
from wikigr.segmentation import ends_as_prose, sentence_spans
from wikigr.text import words

# Articles that are read to choose from, at random in a larger pack.
_MAX_ARTICLES = 500
_MAX_WORDS = 35

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = rf"(?:\d{{1,2}} )?(?:{_MONTHS})(?: \d{{1,2}},)? \d{{4}}|\d{{4}}"
_WHEN = rf"(?:in|on) (?P<answer>{_DATE})(?=[\s,.;]|$)"
_SOME_WORDS = r"(?: [\w'’.–-]+)"
_NUMBER = r"\d[\d,.]*\d|\d|two|three|four|five|six|seven|eight|nine|ten|twelve"
_PAST = dict(
    pair.split(":")
    for pair in """died:die won:win received:receive moved:move published:publish became:become joined:join
    founded:found discovered:discover proposed:propose introduced:introduce invented:invent began:begin wrote:write
    left:leave returned:return opened:open started:start ended:end appeared:appear married:marry developed:develop
    showed:show demonstrated:demonstrate measured:measure observed:observe predicted:predict explained:explain
    built:build made:make gave:give took:take led:lead taught:teach retired:retire launched:launch adopted:adopt
    bought:buy replaced:replace closed:close signed:sign finished:finish presented:present supplied:supply
    produced:produce settled:settle proved:prove formulated:formulate suggested:suggest succeeded:succeed""".split()
)
_HOLDS = dict(
    pair.split(":")
    for pair in """holds:hold lasts:last takes:take weighs:weigh costs:cost contains:contain has:have seats:seat
    covers:cover needs:need uses:use carries:carry""".split()
)
_PARTICIPLE = r"(?:[a-z]+ed|built|made|held|kept|bought|written|given|found|sold|sent|won|shown|begun|chosen|drawn)"
_PLACES = r"\d|[A-Z]|\b(?:room|floor|kitchen|office|building|cellar|cupboard|shelf|drawer|hall|basement|garage|attic)\b"
# What refers to another sentence; a question with it would not stand on its own.
_REFERS = re.compile(
    r"\b(?:he|she|it|they|him|her|them|his|hers|its|their|this|that|these|those|such|there|here|then|former|latter|same|"
    r"other|others|another|both|which|who|whom|whose|where|when|also|too|however|later|earlier|else|we|our|i|my|you|your)\b",
    re.IGNORECASE,
)
_RELATIVES = re.compile(r"\b(?:father|mother|parents|wife|husband|sons?|daughters?|brothers?|sisters?|uncle)\b")
_FULL_NAME = r"(?P<answer>[A-Z][a-zà-ž’'-]+(?: (?:[A-Z]\.|de|van|von))*(?: [A-Z][a-zà-ž’'-]+){1,2})"
_NAME = re.compile(rf"{_FULL_NAME}(?= )")
_NO_NAME = re.compile(r"(?:The|A|An|In|On|At|After|Before|When|Since|By|For|From|With|New|United|North|South|Both)\b")
_BORN = re.compile(rf"\bborn (?:in (?P<place>[A-Z][\w-]+(?: [A-Z][\w-]+)*)(?:, [A-Z][\w ]+)?,? )?{_WHEN}")
_DIED = re.compile(rf"\bdied (?:in [^,.;]{{1,40}}? )?{_WHEN}")
_DEFINED = re.compile(
    r"(?P<be>is|are|was|were) (?:(?:an?|the) )?(?P<answer>[^,;:.()]+?)"
    r"(?=[,;:.(]| (?:that|which|who|whose|where|in|on|born|with|for|from|by|to|and)\b)"
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A drafted question; ``quote`` is the sentence that contains ``answer``, and ``source`` the section's address."""

    question: str
    answer: str
    title: str
    section: str | None
    quote: str
    source: str | None
    kind: str

    def line(self, number: int) -> dict[str, Any]:
        """Return the line of the question file."""
        gold = {"title": self.title} if self.section is None else {"title": self.title, "section": self.section}
        return {
            "id": f"new-{number:02d}",
            "question": self.question,
            "answers": [self.answer],
            "gold": [gold],
            "quote": self.quote,
            "source": self.source,
            "answerable": True,
            "type": "single",
        }


@dataclass(frozen=True)
class _Article:
    title: str
    aliases: Sequence[str]
    # The id, the heading and the text of each section, in order.
    sections: Sequence[tuple[str, str, str]]

    @cached_property
    def is_person(self) -> bool:
        """Whether the article is about a person: it says when they were born, and calls them he or she."""
        lead = self.sections[0][2]
        text = " ".join(content for *_, content in self.sections)
        return bool(_BORN.search(lead) and re.search(r"\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er)\b", text))

    @cached_property
    def name(self) -> str:
        """The title as a sentence would name it: "the printer" where the article does, "Max Planck"."""
        text = " ".join(content for *_, content in self.sections)
        for name in () if self.is_person else (f"{self.title[:1].lower()}{self.title[1:]}", self.title):
            if re.search(rf"\b[Tt]he {re.escape(name)}\b", text):
                return f"the {name}"
        return self.title

    @cached_property
    def names(self) -> Sequence[str]:
        """How a sentence that is about the article begins."""
        own = [self.title, *(alias for alias in self.aliases if alias[:1].isupper() and len(alias) > 3)]
        if self.is_person:
            own.append(self.title.split()[-1])
        lowered = [f"The {name[:1].lower()}{name[1:]}" for name in own]
        return [*own, *lowered, *(f"The {name}" for name in own)]


def draft_questions(pack: Pack, count: int, *, seed: int) -> list[Draft]:
    """Return up to ``count`` questions, spread over the articles and the kinds; the same seed gives the same ones."""
    draws = random.Random(seed)
    titles = sorted(str(title) for (title,) in pack.graph.rows("MATCH (a:Article) RETURN a.title"))
    articles = _read(pack, draws.sample(titles, min(len(titles), _MAX_ARTICLES)))
    common = {word for each in articles for *_, content in each.sections for word in re.findall(r"\b[a-z]+\b", content)}
    waiting = [found for each in articles if (found := list(_drafts(each, common)))]
    for found in waiting:
        draws.shuffle(found)
    draws.shuffle(waiting)
    chosen: list[Draft] = []
    kinds: Counter[str] = Counter()
    while waiting and len(chosen) < count:
        for found in waiting:
            if len(chosen) < count:
                best = min(found, key=lambda draft: kinds[draft.kind])
                found.remove(best)
                kinds[best.kind] += 1
                chosen.append(best)
        waiting = [found for found in waiting if found]
    addresses = pack.urls_of(draft.source for draft in chosen if draft.source)
    return [Draft(**{**asdict(draft), "source": addresses.get(draft.source or "")}) for draft in chosen]


def _read(pack: Pack, titles: Sequence[str]) -> list[_Article]:
    rows = pack.graph.rows(
        "MATCH (a:Article)-[:HAS_SECTION]->(s:Section) WHERE a.title IN $titles RETURN a.title, a.aliases, "
        "s.section_id, coalesce(s.title, ''), s.content ORDER BY a.title, s.position",
        {"titles": list(titles)},
    )
    aliases: dict[str, Sequence[str]] = {}
    sections: dict[str, list[tuple[str, str, str]]] = {}
    for title, names, section_id, heading, content in rows:
        aliases[title] = names or ()
        sections.setdefault(title, []).append((section_id, heading, content))
    return [_Article(title, aliases[title], found) for title, found in sections.items()]


def _drafts(article: _Article, common: set[str]) -> Iterator[Draft]:
    """Yield the questions of an article; ``common`` are the words that the pack also writes in lower case."""
    seen: set[str] = set()
    for place, (section_id, heading, content) in enumerate(article.sections):
        subjects = dict.fromkeys(article.names, article.name)
        if place and heading:
            # What a section is about, its heading may name: "Mower" under the title "Tools".
            subject = f"{heading[:1].lower()}{heading[1:]}"
            subjects |= {f"The {name}": f"the {subject}" for name in (subject, heading)}
        subjects = dict(sorted(subjects.items(), key=lambda named: len(named[0]), reverse=True))
        about: str | None = article.name
        for number, (start, end) in enumerate(sentence_spans(content)):
            sentence = " ".join(content[start:end].split())
            about, rest = _predicate(sentence, subjects, about, is_person=article.is_person)
            if not ends_as_prose(sentence) or len(sentence.split()) > _MAX_WORDS or " | " in sentence:
                continue
            for kind, question, answer in _asked(
                sentence, about, rest, article, common, is_lead=not place, is_first=not number
            ):
                # The quotation has to answer the question, and the question must not answer itself.
                if question not in seen and accuracy(sentence, [answer]) and not accuracy(question, [answer]):
                    seen.add(question)
                    named = heading if place and heading else None
                    yield Draft(question, answer, article.title, named, content[start:end], section_id, kind)


def _predicate(
    sentence: str, subjects: Mapping[str, str], about: str | None, *, is_person: bool
) -> tuple[str | None, str]:
    """Return the subject of a sentence, as a question names it, and what the sentence says about it.

    ``subjects`` has the name in a question by the beginning of a sentence, the longest first. A pronoun refers to
    ``about``, the subject of the sentence before it. The subject is None if the sentence is about something else.
    """
    for name, subject in subjects.items():
        if sentence.startswith(f"{name} "):
            return subject, sentence[len(name) + 1 :]
    pronoun, _, rest = sentence.partition(" ")
    return (about, rest) if pronoun in (("He", "She") if is_person else ("It",)) else (None, "")


def _asked(
    sentence: str,
    about: str | None,
    rest: str,
    article: _Article,
    common: set[str],
    *,
    is_lead: bool,
    is_first: bool,
) -> Iterator[tuple[str, str, str]]:
    """Yield the kind, the question and the answer of every pattern that a sentence fits."""
    if is_lead and is_first and about is not None and (found := _definition(sentence, rest, article)):
        yield "definition", *found
    if is_lead and article.is_person and not _RELATIVES.search(sentence):
        if born := _BORN.search(sentence):
            yield "life", f"When was {article.title} born?", born["answer"]
            if born["place"]:
                yield "life", f"Where was {article.title} born?", born["place"]
        if died := _DIED.search(sentence):
            yield "life", f"When did {article.title} die?", died["answer"]
    for kind, pattern, template in _PATTERNS if about is not None else ():
        match = pattern.match(rest)
        if match is not None and not _REFERS.search(match["rest"] or ""):
            base = (_PAST | _HOLDS).get(match["verb"], match["verb"])
            said = {"name": about, "verb": match["verb"], "base": base, "rest": match["rest"] or ""}
            yield kind, f"{template.format(**said).rstrip()}?", match["answer"].rstrip(".,")
    if (amount := _AMOUNT.match(sentence)) is not None:
        subject = f"{amount['subject'][:1].lower()}{amount['subject'][1:]}"
        asked = f"How many {amount['rest']} does {subject} {_HOLDS[amount['verb']]}{amount['purpose'] or ''}?"
        yield "amount", asked, amount["answer"]
    # Of what has a name, the patterns have asked.
    passive = None if re.match(_DONE_BY, rest) else _PASSIVE.match(sentence)
    if passive is not None and passive["subject"].split()[0].lower() in common:
        subject = f"{passive['subject'][:1].lower()}{passive['subject'][1:]}"
        if not _REFERS.search(f"{subject} {passive['rest']}"):
            yield "by", f"By whom {passive['verb']} {subject} {passive['rest']}?", passive["answer"]
    named = _NAME.match(sentence)
    if named is not None and not _NO_NAME.match(sentence) and not common & set(words(named["answer"])):
        acts = sentence[named.end() + 1 :].rstrip(".")
        verb = acts.split()[0]
        if (verb in _PAST or re.fullmatch(r"[a-z]+(?:ed|s)", verb)) and verb not in ("is", "was", "has", "does"):
            is_whole = "," not in acts and 3 <= len(acts.split()) <= 14
            if is_whole and not _REFERS.search(acts):
                yield "who", f"Who {acts}?", named["answer"]


_VERBS = "|".join(_PAST)
_DONE_BY = rf"(?P<verb>is|are|was|were) (?P<rest>{_PARTICIPLE}) by {_FULL_NAME}(?=[ .,;]|$)"
_PATTERNS: Sequence[tuple[str, re.Pattern[str], str]] = (
    (
        "when",
        re.compile(rf"(?P<verb>{_VERBS})(?P<rest>{_SOME_WORDS}{{0,9}}?) {_WHEN}"),
        "When did {name} {base}{rest}",
    ),
    (
        "when",
        re.compile(rf"(?P<verb>was|were) (?P<rest>{_PARTICIPLE}{_SOME_WORDS}{{0,8}}?) {_WHEN}"),
        "When {verb} {name} {rest}",
    ),
    (
        "where",
        re.compile(
            rf"(?P<verb>is|are|was|were) (?P<rest>(?:located|kept|stored|situated|housed)?) ?(?:in|on|at|near|next to) "
            rf"(?P<answer>(?=[^,.;]*(?:{_PLACES}))[^,.;]{{2,50}})(?=[,.;])"
        ),
        "Where {verb} {name} {rest}",
    ),
    ("by", re.compile(_DONE_BY), "By whom {verb} {name} {rest}"),
)
_AMOUNT = re.compile(
    rf"(?P<subject>(?:A|An|The|Each|Every) [a-z]+(?: [a-z]+)?) (?P<verb>{'|'.join(_HOLDS)}) "
    rf"(?:(?:about|up to|at least|at most|around|roughly|only) )?(?P<answer>{_NUMBER}) (?P<rest>[a-z]+s)\b"
    r"(?P<purpose> to [a-z]+(?=[.,;]))?"
)
_PASSIVE = re.compile(rf"(?P<subject>[A-Z][a-z]+(?: [a-z]+){{0,2}}) {_DONE_BY}")


def _definition(sentence: str, rest: str, article: _Article) -> tuple[str, str] | None:
    """Return the question and the answer of the sentence that defines the subject of an article."""
    defined = _DEFINED.match(rest)
    if defined is None or not is_definition(sentence, article.title) or _REFERS.search(defined["answer"]):
        return None
    # In "the theory of electrons, positrons and light", the definition goes on after the comma.
    if not 2 <= len(defined["answer"].split()) <= 8 or re.match(r", [\w -]+ (?:and|or)\b", rest[defined.end() :]):
        return None
    # Two words with capitals may be a person of whom the article does not say so.
    if not article.is_person and _NAME.match(f"{article.title} "):
        return None
    subject = re.sub(r"^The ", "the ", sentence.removesuffix(f" {rest}"))
    return f"{'Who' if article.is_person else 'What'} {defined['be']} {subject}?", defined["answer"]
