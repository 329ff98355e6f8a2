"""Questions for a whole enumeration, and for how many things a passage counts."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from training.examples import Example
from training.structure.building import ATTRIBUTE, SEARCH, Rivals, answered, removed, unanswered
from training.structure.passages import Passage
from training.structure.wording import Span, choose, lower_first, points_back, sentences, words

LISTS, COUNTS = "lists", "counts"

_SHARE_OF_NEGATIVES = 0.8
_ITEM = r"(?:[^\s,;:.()|]+(?: [^\s,;:.()|]+){0,3}?)"
_ENUMERATION = rf"(?P<list>{_ITEM}(?:, {_ITEM})+,? (?:and|or) {_ITEM})"
_SET = (
    r"(?P<set>(?:[a-z-]+ ){0,3}?(?:types|kinds|modes|values|options|methods|formats|languages|members|parts|elements|"
    r"countries|cities|states|rivers|species|fields|platforms|systems|databases|backends|commands|operators|forms|"
    r"components|categories|levels|classes|colours|colors|groups|stages|phases|branches|variables|functions|files|"
    r"protocols|algorithms|servers|drivers|products|crops|industries|minerals|works|novels|plays|books|films|albums|"
    r"songs|children|islands|provinces|regions|religions|sports|instruments|materials|metals|planets|gases|properties|"
    r"attributes|parameters|settings|features|names|titles|characters|events|units|symptoms|causes|tools|libraries|modules))"
)
_SENTENCES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:The|Its|His|Her|Their|Valid|Supported|Possible|Available|Accepted) {_SET}(?P<of> (?:of|for|in) "
        rf"[^,.;:()]{{2,40}}?|) "
        rf"(?:are|were|include|included|is one of|can be|may be)(?: either|:)? {_ENUMERATION}(?=[.;(]|$)",
        rf".{{0,60}}\b(?:following|several|many|two|three|four|five|six|various|other|different|supported|main"
        rf"|major) {_SET}"
        rf"(?P<of>)(?:, including|, namely|, such as|:| including| such as| are| include) {_ENUMERATION}(?=[.;(]|$)",
        rf"(?:The |)(?P<who>[A-Z][^\s,;:]+(?: [^\s,;:]+)?) (?P<verb>supports|provides|accepts|includes|contains"
        rf"|comprises|produces|exports|"
        rf"borders|has) {_SET}(?P<of>)(?: such as|:| including|, including) {_ENUMERATION}(?=[.;(]|$)",
        r"(?P<who>[A-Z][^\s,;:]+(?: [^\s,;:]+){0,2}?) (?P<verb>supports|accepts|borders|comprises|exports|won|wrote"
        r"|invented|visited|"
        rf"founded|discovered|produces|joined|conquered|influenced) (?P<set>)(?P<of>){_ENUMERATION}(?=[.;(]|$)",
        rf"(?P<who>[A-Z][^\s,;:]+(?: [^\s,;:]+){{0,2}}?) (?P<is>is|was|are) (?P<verb>bordered|surrounded|influenced"
        rf"|divided|made up|"
        rf"composed|supported|used|written|founded) (?P<set>)(?P<of>(?:by|into|of|in)) {_ENUMERATION}(?=[.;(]|$)",
    )
)
_QUESTIONS = (
    "Which {set} {of} are there?",
    "What are the {set} {of}?",
    "What {set} {of} are there?",
    "Name the {set} {of}",
    "List the {set} {of}",
    "Which are the {set} {of}?",
    "What are all the {set} {of}?",
)
_VERB_QUESTIONS = (
    "Which {set} does {who} {base}?",
    "What {set} does {who} {base}?",
    "List the {set} that {who} {verb}",
)
_PAST_QUESTIONS = ("What did {who} {base}?", "Which {things} did {who} {base}?", "What all did {who} {base}?")
_BASES = {
    f"{verb}s": verb for verb in "support provide accept include contain comprise produce export border".split()
} | {
    "has": "have",
    "won": "win",
    "wrote": "write",
    **{f"{verb}ed": verb for verb in "invent visit found discover join conquer".split()},
    "influenced": "influence",
}
_PAST = frozenset("won wrote invented visited founded discovered joined conquered influenced".split())
_NOT_A_SUBJECT = re.compile(
    r"\b(?:it|he|she|they|this|that|these|which|who|we|you|there|his|her|its|as|if|when|while|since|for|in|on|at|by|"
    r"example|has|have|had|is|are|was|were|also|enlarge|each|some|one|or|to|not|many|most)\b",
    re.IGNORECASE,
)
_NOT_ITEMS = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|may|will|also|which|that|who|where|example|controlled|used|set|specified"
    r"|they"
    r"|it|differ|be|been|e\.g|so|then|but|you|not)\b|\d{4}"
)

_NUMBER = (
    r"(?P<number>\d{1,3}(?:,\d{3})+|\d{1,4}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen"
    r"|fourteen|"
    r"fifteen|sixteen|twenty|thirty|forty|fifty|twenty-\w+|thirty-\w+|several hundred|a dozen)"
)
_COUNTED = re.compile(
    rf"(?P<who>(?:[Tt]he |)[A-Z][^,.;:()]{{1,40}}?|He|She|It|They) (?P<verb>has|have|had|consists of|contains"
    rf"|contain|includes|"
    rf"comprises|won|wrote|scored|published|served|supports|accepts|takes|employs|sold|killed|produced|lasted|uses|"
    rf"requires|provides|defines|covers|operates|released|recorded|directed|composed|is divided into|made)"
    rf"(?: (?:about|around|approximately|over|nearly|almost|at least|more than|up to|exactly|a total of|only|some))? "
    rf"{_NUMBER} (?!million|billion|thousand|percent|hundred)"
    r"(?P<things>(?:[a-z-]+ ){0,2}?(?!million|billion|thousand|percent|of|and|or|to|in|or)[a-z-]{3,}s|children"
    r"|people|men|women)\b"
)
_THERE = re.compile(
    rf"[Tt]here (?P<verb>are|were) (?:about |around |approximately |over |nearly |more than |currently |only |some "
    rf")?{_NUMBER} "
    r"(?P<things>(?:[a-z-]+ ){0,2}?(?!million|billion|thousand|of|and|or)[a-z-]{3,}s|children|people)"
    r"(?P<where> (?:in|of|on|for|to) [^,.;:()]{2,35}|)(?=[,.;:( ])"
)
_COUNT_BASES = {
    "has": "have",
    "had": "have",
    "have": "have",
    "consists of": "consist of",
    "contain": "contain",
    "won": "win",
    "wrote": "write",
    "sold": "sell",
    **{f"{verb}s": verb for verb in "contain include comprise support accept take employ use require provide".split()},
    **{f"{verb}s": verb for verb in "cover define operate".split()},
    **{f"{verb}ed": verb for verb in "publish record direct kill last".split()},
    **{f"{verb}d": verb for verb in "score compose release serve produce".split()},
}
_PAST_COUNTS = frozenset("had won wrote scored published served sold killed produced lasted released recorded".split())
_HOW_MANY = (
    "How many {things} {does} {who} {base}?",
    "How many {things} {does} {who} {base}?",
    "What number of {things} {does} {who} {base}?",
)


def generate_lists(passages: Sequence[Passage], rivals: Rivals, draw: random.Random) -> Iterator[Example]:
    """Yield questions for the enumerations of ``passages``; the answer is the whole list."""
    for passage in passages:
        if " and " not in passage.text and " or " not in passage.text:
            continue
        for question, span in _enumerations(passage, draw):
            yield from _with_negative(LISTS, passage, question, span, rivals, draw)


def _enumerations(passage: Passage, draw: random.Random) -> Iterator[tuple[str, Span]]:
    text = passage.text
    for start, end in sentences(text):
        if text.count(",", start, end) < 1 or "|" in text[start:end]:
            continue
        for pattern in _SENTENCES:
            match = pattern.match(text, start, end)
            if (
                match is None
                or words(match["list"]) > 25
                or points_back(match["list"])
                or _NOT_ITEMS.search(match["list"])
            ):
                continue
            groups = match.groupdict()
            who, verb = groups.get("who") or "", groups.get("verb") or ""
            of = groups["of"].strip()
            if not of and not who and words(passage.title) < 5:
                of = draw.choice((f"of {passage.title}", f"for {passage.title}", f"in {passage.title}"))
            if points_back(of) or not (of or who) or _NOT_A_SUBJECT.search(who):
                break
            if not who:
                question = choose(draw, _QUESTIONS, set=groups["set"], of=of)
            elif verb in _PAST:
                question = choose(draw, _PAST_QUESTIONS[::2], who=who, base=_BASES[verb])
            elif verb in _BASES:
                templates = (
                    _VERB_QUESTIONS if groups["set"] else ("What does {who} {base}?", "What all does {who} {base}?")
                )
                question = choose(draw, templates, who=who, base=_BASES[verb], verb=verb, set=groups["set"])
            else:
                question = choose(draw, (f"What {groups['is']} {{who}} {{verb}} {{of}}?",), who=who, verb=verb, of=of)
            yield question, match.span("list")
            break


def generate_counts(passages: Sequence[Passage], rivals: Rivals, draw: random.Random) -> Iterator[Example]:
    """Yield questions of how many, and the same passages asked for how many of what other passages count."""
    found = [(passage, *count) for passage in passages for count in _counts(passage, draw)]
    things: dict[str, list[str]] = defaultdict(list)
    for _, template, thing, _ in found:
        things[_kind(template)].append(thing)
    for passage, template, thing, span in found:
        asked = choose(draw, (template,), things=thing)
        yield from _with_negative(COUNTS, passage, asked, span, rivals, draw)
        other = draw.choice(things[_kind(template)])
        if draw.random() < _SHARE_OF_NEGATIVES and other.split()[-1][:-1] not in passage.text:
            yield unanswered(COUNTS, ATTRIBUTE, passage, choose(draw, (template,), things=other))


def _kind(template: str) -> str:
    """Return the verb that a question ends with: what is published is not what is contained."""
    return template.rstrip("?").rsplit(" ", 1)[-1] if "{things} are" not in template else "are"


def _counts(passage: Passage, draw: random.Random) -> Iterator[tuple[str, str, Span]]:
    """Yield a question with a slot for the things, the things that the passage counts, and their number."""
    text = passage.text
    title = passage.title.partition(" (")[0]
    for start, end in sentences(text):
        match = _COUNTED.match(text, start, end)
        found = match or _THERE.search(text, start, end)
        if found is None or "|" in found[0] or points_back(found["things"]):
            continue
        if not match:
            where = found["where"].strip()
            if not points_back(where) and (where or words(found["things"]) > 1):
                yield f"How many {{things}} {found['verb']} there {where}?", found["things"], found.span("number")
            continue
        who, verb = match["who"], match["verb"]
        if who in ("He", "She", "It", "They"):
            who = title if words(title) < 5 and passage.source == "wikispeedia" else ""
        base = _COUNT_BASES.get(verb, "")
        if not who or not base or words(who) > 5 or _NOT_A_SUBJECT.search(who):
            continue
        is_past = verb in _PAST_COUNTS or verb.endswith("ed")
        does = "did" if is_past else "do" if verb in ("have", "contain") else "does"
        who = lower_first(who) if who.startswith("The ") else who
        yield (
            draw.choice(_HOW_MANY).format(things="{things}", does=does, who=who, base=base),
            found["things"],
            found.span("number"),
        )


def _with_negative(
    name: str, passage: Passage, question: str, span: Span, rivals: Rivals, draw: random.Random
) -> Iterator[Example]:
    positive = answered(name, passage, question, [span])
    yield positive
    if draw.random() < _SHARE_OF_NEGATIVES:
        made = removed(name, passage, question, [span]) if draw.random() < 0.5 else []
        yield from made
        rival = None if made else rivals.find(passage, question, positive.accepted)
        if rival is not None:
            yield unanswered(name, SEARCH, rival, question, positive.accepted)
