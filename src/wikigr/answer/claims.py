"""Whether the sections that a model was given support what it says, and where."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from wikigr.answer.answer import PossibleAnswer
from wikigr.answer.statement import Statement, Value, read_statement
from wikigr.index.candidate import Evidence, Section
from wikigr.languages import ENGLISH, Language
from wikigr.retrieval.units import units_of
from wikigr.text import words

# The characters ``start:end`` of a section, which support a claim.
Support = tuple[Section, int, int]

# A paraphrase keeps this share of the words that are neither names nor numbers.
_MIN_SHARE = 0.7
# What is sent for a few words without a verb must share this much of the question, which they answer.
_MIN_ASKED = 0.5
_EQUATION = re.compile(r"\S\s*[=≈≤≥<>∝]\s*\S")
# No more claims of one reply are looked up; the others are unverified.
_MAX_CLAIMS = 300
_CLAUSE = re.compile(r";\s+|,?\s+(?:and|but|so|while|whereas)\s+|,\s+(?:which|who)\s+")
# A number that may be a year is stated, not computed.
_YEARS = frozenset(range(1000, 2200))
# Stems of words that say how a number was computed.
_COMPUTING = frozenset(
    "age altogeth averag combin differ last later live longer more old older sum than total year".split()
)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence of a section: ``place`` are the words of its title and heading.

    ``subject`` are the names of the sentence before it, for one of which the pronoun stands that it begins with.
    """

    section: Section
    start: int
    end: int
    said: Statement
    place: frozenset[str]
    subject: frozenset[str]

    @property
    def support(self) -> Support:
        return self.section, self.start, self.end


@dataclass
class Claims:
    """Looks up the claims of one reply in ``evidence``, and remembers those that it found.

    ``offline`` is the answer without the model: what it quotes answers the question, so a claim in the words of
    the question that gives the same answer is supported by it.
    """

    evidence: Sequence[Evidence]
    question: str = ""
    offline: PossibleAnswer | None = None
    language: Language = ENGLISH
    verified: list[tuple[Statement, tuple[Support, ...]]] = field(default_factory=list)
    _looked_up: int = 0

    def states_something(self, claim: str, *, is_heading: bool = False) -> bool:
        """Return whether ``claim`` is one; a heading is none if it has only words of the sections and the question."""
        said = self._read(claim)
        if said.is_empty:
            # Yes and no answer a question without naming anything.
            return bool(said.tokens) and said.tokens <= {"yes", "no", "not", "never"}
        self._looked_up += is_heading
        if not is_heading or said.values or said.dates or self._looked_up > _MAX_CLAIMS:
            return True
        named = {token for name in said.names for token in name}
        return self._known.share_of(said.words | named, self._asked.tokens) < 1.0

    def find(self, claim: str, preferred: Sequence[int] = ()) -> tuple[Support, ...]:
        """Return what supports ``claim``, first looking in the ``preferred`` sections, or nothing if that fails."""
        self._looked_up += 1
        said = self._read(claim)
        if self._looked_up > _MAX_CLAIMS or said.is_empty:
            return ()
        one = self._best(said, preferred)
        found = (
            (one.support,)
            if one is not None
            else self._by_clauses(claim, preferred) or self._computed(said, self.verified)
        )
        if found:
            self.verified.append((said, found))
        return found

    def find_code(self, code: str) -> tuple[Support, ...]:
        """Return where ``code`` stands in the sections, whatever its white space."""
        self._looked_up += 1
        wanted = " ".join(code.split())
        for unit in self._units if wanted and self._looked_up <= _MAX_CLAIMS else ():
            if wanted in " ".join(unit.section.content[unit.start : unit.end].split()):
                self.verified.append((self._read(code[:2_000]), (unit.support,)))
                return (unit.support,)
        return ()

    def accept(self, claim: str, spans: Sequence[Support]) -> bool:
        """Return whether the ``spans`` that the API cites have the names and numbers of ``claim``, and deny as it."""
        said = self._read(claim)
        for section, start, end in spans:
            text = self._read(section.content[start:end])
            whole = self._read(f"{section.title} {section.heading} {section.content}")
            missing = {value for value in said.values if whole.misses(value)}
            if (
                all(frozenset(name) <= whole.tokens for name in said.names)
                and all(map(whole.has_date, said.dates))
                and _are_computed(missing, whole.numbers & said.numbers)
                and said.denies == text.denies
            ):
                self.verified.append((said, tuple(spans)))
                return True
        return False

    def _read(self, text: str) -> Statement:
        return read_statement(text, self.language, self._vocabulary)

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        """The words that the sections do not write like names."""
        found = {token for item in self.evidence for token in re.findall(r"\b[^\W\d_]+", item.section.content)}
        return frozenset(token for token in found if token == token.lower())

    @cached_property
    def _known(self) -> Statement:
        """All sections together."""
        return self._read(
            "\n".join(f"{i.section.title} {i.section.heading}\n{i.section.content}" for i in self.evidence)
        )

    @cached_property
    def _asked(self) -> Statement:
        return self._read(self.question)

    @cached_property
    def _units(self) -> list[_Unit]:
        found: list[_Unit] = []
        for item in self.evidence:
            section = item.section
            place = self._read(f"{section.title} {section.heading}").tokens
            subject: frozenset[str] = frozenset()
            for unit in units_of(section, self.language):
                said = self._read(section.content[unit.start : unit.end])
                if not said.begins_with_pronoun:
                    subject = frozenset(token for name in said.names for token in name)
                own = subject if said.begins_with_pronoun else frozenset()
                found.append(_Unit(section, unit.start, unit.end, said, place, own))
        return found

    @cached_property
    def _whole(self) -> dict[str, Statement]:
        """All of each section, in which the whole name of a thing may stand elsewhere."""
        return {item.section.section_id: self._read(item.section.content) for item in self.evidence}

    def _best(self, said: Statement, preferred: Sequence[int], operands: frozenset[str] = frozenset()) -> _Unit | None:
        """Return the sentence that best supports a claim, of several the first one in a preferred section."""
        ids = {self.evidence[n - 1].section.section_id for n in preferred if 1 <= n <= len(self.evidence)}
        found = [(unit, share) for unit in self._units if (share := self._share(said, unit, operands)) is not None]
        ranked = sorted(found, key=lambda item: (item[0].section.section_id not in ids, -item[1]))
        return ranked[0][0] if ranked else None

    def _share(self, said: Statement, unit: _Unit, operands: frozenset[str]) -> float | None:
        """Return the share of the words of a claim that ``unit`` has, or ``None`` if it does not support the claim.

        Its other numbers may be computed from its own that ``unit`` has, and from ``operands``.
        """
        text = unit.said
        if said.is_short and _EQUATION.search(said.text):
            # Without its last term, it is another one.
            return 1.0 if said.text.strip() in map(str.strip, text.text.splitlines()) else None
        if said.denies != text.denies or not said.limits <= text.tokens or not all(map(text.has_date, said.dates)):
            return None
        missing = {value for value in said.values if text.misses(value)}
        if missing and not _are_computed(missing, (said.numbers & text.numbers) | operands):
            return None
        if not self._names_are_kept(said, unit):
            return None
        cited = self.offline.citations if self.offline is not None else ()
        places = [(c.start, c.end) for c in cited if c.section_id == unit.section.section_id]
        is_offline = any(start < unit.end and unit.start < end for start, end in places)
        is_fragment = _is_fragment(said, text)
        if is_fragment and not (self._agrees(said) if is_offline else self._is_asked_of(unit)):
            return None
        more = unit.place | (self._asked.tokens if is_offline and not is_fragment else frozenset())
        share = text.share_of(said.words - _COMPUTING if missing else said.words, more)
        knows_negation = self.language.is_english or self.language.negations
        return share if share >= (1.0 if is_fragment or not knows_negation else _MIN_SHARE) else None

    def _names_are_kept(self, said: Statement, unit: _Unit) -> bool:
        tokens, whole = unit.said.tokens, self._whole[unit.section.section_id].tokens
        for number, name in enumerate(said.names):
            # The subject of a claim is named first.
            known = tokens | unit.place | (unit.subject if said.words and not number else frozenset())
            # "Wolfgang Pauli" of a sentence about Pauli, if the section names him in full.
            if not (set(name) <= known or (name[-1] in tokens and set(name) <= whole)):
                return False
        if not (said.words or said.numbers or any(set(name) <= tokens for name in said.names)):
            return False
        named = {token for name in said.names for token in name}
        # A sentence that begins with another name is not about the subject of the claim, which only the title names.
        return named <= tokens or unit.said.lead in ("", *named, *unit.place)

    def _is_asked_of(self, unit: _Unit) -> bool:
        """Return whether ``unit`` says enough of what the question says, for a few words in it to answer."""
        asked, known = self._asked, unit.said.tokens | unit.place
        return (
            self._names_are_kept(asked, unit)
            and asked.numbers | asked.limits <= known
            and unit.said.share_of(asked.words, unit.place) >= _MIN_ASKED
        )

    def _agrees(self, said: Statement) -> bool:
        """Return whether a few words are the short answer that was found without the model, or in it."""
        if self.offline is None or self.offline.span is None:
            return self.offline is not None
        short = frozenset(words(self.offline.span.text))
        return short <= said.tokens or frozenset(words(said.text)) <= short

    def _by_clauses(self, claim: str, preferred: Sequence[int]) -> tuple[Support, ...]:
        """Return what supports the clauses of ``claim`` one by one; each is about the subject of the first."""
        clauses = [clause for clause in _CLAUSE.split(" ".join(claim.split())) if clause.strip()]
        if not 2 <= len(clauses) <= 6:
            return ()
        first = self._read(clauses[0])
        subject = " ".join(first.names[0]).title() if first.names else ""
        before = list(self.verified)
        for number, clause in enumerate(clauses):
            said = self._read(f"{subject} {clause}" if number else clause)
            operands = frozenset(value for own, _ in before[len(self.verified) :] for value in own.numbers)
            unit = self._best(said, preferred, operands) if said.words else None
            found = (unit.support,) if unit is not None else self._computed(said, before)
            if not found:
                return ()
            before.append((said, found))
        return tuple(dict.fromkeys(support for _, found in before[len(self.verified) :] for support in found))

    def _computed(
        self, said: Statement, before: Sequence[tuple[Statement, tuple[Support, ...]]]
    ) -> tuple[Support, ...]:
        """Return what supports the claims ``before`` if their numbers give those of ``said``, about the same things."""
        known = frozenset(token for own, _ in before for token in own.tokens) | self._asked.tokens
        operands = [number for own, _ in before for number in sorted(own.numbers)]
        missing = {value for value in said.values if value[0] not in operands}
        names = {token for name in said.names for token in name}
        if not (missing and _are_computed(missing, operands) and names <= known and not said.dates):
            return ()
        of_others = said.words - _COMPUTING
        if said.denies or len(of_others - known) > len(of_others) * (1 - _MIN_SHARE):
            return ()
        return tuple(dict.fromkeys(support for own, found in before if own.numbers for support in found))


def _is_fragment(said: Statement, text: Statement) -> bool:
    """Return whether a claim is only a few words of ``text``, and states something only as the answer to a question."""
    if not said.words or not said.is_short:
        return not said.words
    few, all_words = words(said.text), words(text.text)
    whole, part = f" {' '.join(all_words)} ", f" {' '.join(few)} "
    return part in whole and not (whole.startswith(part) and 2 * len(few) >= len(all_words))


def _are_computed(values: Collection[Value], operands: Collection[str]) -> bool:
    """Return whether each number is the sum, difference, product or quotient of two others, or the sum of all."""
    known = [number for text in sorted(operands) if (number := _as_number(text)) is not None][:24]
    results = {round(sum(known), 6)} if len(known) > 1 else set()
    for one, other in combinations(known, 2):
        results |= {round(one + other, 6), round(abs(one - other), 6), round(one * other, 6)}
        if one and other:
            results |= {round(one / other, 6), round(other / one, 6)}
    for text, _, limit in values:
        number = _as_number(text)
        if limit or number is None or number in _YEARS or round(number, 6) not in results:
            return False
    return True


def _as_number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"-?\d{1,15}(?:\.\d{1,15})?", text) else None
