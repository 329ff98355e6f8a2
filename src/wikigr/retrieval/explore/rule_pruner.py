"""Where the search for triplets goes on, chosen by what names have in common with the question: no model is needed."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from wikigr.embeddings.embedder import Embedder, Vectors
from wikigr.graph.engine import Graph
from wikigr.graph.neighborhood import STRUCTURAL, Edge, Neighborhood, Node, Step
from wikigr.graph.schema import section_id
from wikigr.retrieval.explore.triplets import Chosen, Guide, Option, Walked
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import PREFIX_LENGTH, share_prefix, words

# What a relation's score is made of: the likeness of its words to the part of the question that no earlier step
# accounts for and to the end of it that comes next, to the one word of it that is most alike, and the share of its
# words that stand there.
_BY_TEXT = 0.25
_BY_NEXT = 0.25
_BY_WORD = 0.3
_BY_STEM = 0.4
# Questions nest ("the mayor of the city where X was born"): what is nearest to the entity comes first, so that each
# content word between counts for less.
_NEARNESS = 0.85
_NEXT_WORDS = 3
# What a relation with many edges at a node loses for each doubling, and one that leads back the way the search came.
_BY_EDGES = 0.02
_BACK = 0.2
# A step that has less to do with what is left of the question than this ends the search; unrelated words have 0.1.
_FLOOR = 0.15
# A word is accounted for by a relation that is alike to it as synonyms are.
_SYNONYM = 0.35
# What a triplet's own words add to the score of its relation, and what each sibling before it takes off, so that one
# relation with many ends does not fill the next step alone.
_BY_NAME = 0.3
_BY_TRIPLET = 0.2
_SIBLING = 0.02
# What an end that is no article is behind one that is, as a way on: most are plain values.
_BARE = 0.1
# What a way must gain with each step, about what a relation scores that the question plainly names, and what it loses
# with each word of the question that no step says. Below the least worth it answers something else.
_PLAIN_STEP = 0.6
_UNSAID = 0.3
_MIN_WORTH = -0.3
# The noun that the question asks with ("which country") describes the end of the way: what a way loses for each part
# that its end fits the noun worse than the best end does, up to a bound.
_KIND = 2.0
_MAX_MISFIT = 0.5
# A word that no step says may describe a thing on the way ("the company that produced it"): below the first fit it
# does not, from the second on it does.
_NO_FIT = 0.2
_FIT = 0.5
# Ways whose things are looked at, and relations of a thing that tell what it is.
_MAX_WAYS = 8
_MAX_TELLING = 12
# What a relation loses that passes over the word nearest to the name in "mayor of X" and "X's mayor", where another
# one says it; and one that is walked against its direction where the thing has it in its direction too.
_SKIPPED = 0.3
_AGAINST = 0.05
# Facts that answer together: "which films" asks for all of them.
_MAX_ANSWERS = 12
_ASKED = re.compile(r"\b(?:which|what)\s+(\w+)", re.IGNORECASE)
_ASKED_NOUN = re.compile(
    r"\b(?:which\s+(\w+)|what\s+(\w+)\s+(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b)",
    re.IGNORECASE,
)
# A number is told by what it counts.
_COUNTED = re.compile(r"\bhow\s+(many|much)\s+(\w+)", re.IGNORECASE)
# What graphs call that which these words ask for; only where a question begins with them.
_INTERROGATIVES = {"when": "date", "where": "place"}
_ARTICLES = frozenset("the a an his her its their this that".split())
_OWNING = re.compile(r"['’]s?$")
# Relations that end so say what their source is to their target, others what their target is to their source.
_PREPOSITIONS = frozenset("of in at by on for to from with".split())
# Words that no fact says of itself: one that such a word is left of answers another question.
_RESTRICTING = frozenset(
    """first second third last former previous original early earlier earliest late later latest next only oldest
    youngest newest largest biggest smallest highest lowest longest shortest tallest""".split()
)
# Questions that name the kind of their answer: no fact is a reason or a manner; a time or a number is no person or
# place, nor the other way round.
_MEASURE = r"(?:many|much|long|old|far|fast|tall|large|big|high|deep|heavy|often)"
_ASKS_REASON = re.compile(rf"\bwhy\b|\bhow\b(?!\s+{_MEASURE}\b)", re.IGNORECASE)
_ASKS_TIME = re.compile(r"\bwhen\b|\b(?:what|which)\s+(?:year|date|century|decade|day)\b", re.IGNORECASE)
_ASKS_NUMBER = re.compile(rf"\bhow\s+{_MEASURE}\b|\b(?:what|which)\s+number\b", re.IGNORECASE)
_ASKS_NAME = re.compile(
    r"\b(?:who|whom|whose|where|(?:what|which)\s+(?:city|town|country|state|place|person|company))\b", re.IGNORECASE
)
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_NO_NAME = re.compile(
    rf"[\d\W_]+$|.*(?:\b{_MONTH}\W*\d|\d\W*{_MONTH}\b|\b\d+\s*(?:BCE?|CE|AD)\b)", re.IGNORECASE | re.DOTALL
)
# A day, a year or a century; a year alone has at most four digits, none of them set apart.
_TIME = re.compile(
    rf"(?:(?:c\.|ca\.?|circa|about)?\s*-?\d{{1,4}}s?(?:\s*(?:BCE?|CE|AD))?|\D*\d{{1,4}}\s*[-–/]\s*\d{{1,4}}\D*"
    rf"|.*(?:\b{_MONTH}\W*\d|\d\W*{_MONTH}\b|\b\d+\s*(?:BCE?|CE|AD)\b|\d(?:st|nd|rd|th)\s+century"
    rf"|(?<![\d.,])\d{{1,4}}([-./])\d{{1,2}}\1\d{{1,4}}(?![\d,])|(?<![\d.,])(?:1\d{{3}}|20\d{{2}})(?![.,]?\d)).*)$",
    re.IGNORECASE | re.DOTALL,
)
_DAY = re.compile(
    rf".*(?:\b{_MONTH}\W*\d|\d\W*{_MONTH}\b|(?<!\d)\d{{4}}-\d{{1,2}}-\d{{1,2}}(?!\d))", re.IGNORECASE | re.DOTALL
)
# A value can be a megabyte; its beginning tells what kind of thing it is.
_LABEL_CHARS = 200
# Texts that are encoded for a question: a millisecond each.
_MAX_RELATIONS = 128
_MAX_TRIPLETS = 12
_MAX_WORDS = 32
_MAX_CACHED = 20_000

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_WORD = re.compile(r"[\W_]+")
_ALIKE_SHARE = 0.6


def relation_words(relation: str) -> str:
    """Return a relation's name as words: ``born_in`` and ``bornIn`` are "born in"; of an IRI its last part."""
    local = re.split(r"[/#]", relation.rstrip("/#"))[-1] or relation
    return " ".join(_NOT_WORD.sub(" ", _CAMEL.sub(" ", local)).lower().split())


def _alike(one: str, other: str) -> bool:
    """Whether two words are forms of one, as far as their beginnings tell ("founder", "founded")."""
    return one == other or share_prefix(one, other, share=_ALIKE_SHARE)


def _bare(word: str) -> str:
    """A word without the ending of the plural or the third person, which encoders take for another word."""
    ends = len(word) > PREFIX_LENGTH and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if ends and word not in FUNCTION_WORDS else word


class RulePruner:
    """Chooses by what names have in common with the question; needs no model but the encoder of the pack.

    A question of several hops names its relations, and each step accounts for some of its words: the next is compared
    with the words that are left. With ``graph``, articles are compared by the vectors of their first sections as well.
    Vectors of relations are kept. Not for use from several threads.
    """

    always_links = False

    def __init__(self, encoder: Embedder, graph: Graph | None = None) -> None:
        self._encoder = encoder
        self._graph = graph
        self._neighborhood = Neighborhood(graph) if graph is not None else None
        self._vectors: dict[str, Vectors] = {}
        self._shown: dict[Node, tuple[list[str], list[str]]] = {}

    def begin(self, question: str, sources: Sequence[Node]) -> Guide:
        return _RuleGuide(self, question, sources)

    def encode(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Return the unit vector of each text, from memory where it was asked for before."""
        new = list(dict.fromkeys(text for text in texts if text not in self._vectors))
        if len(self._vectors) + len(new) > _MAX_CACHED:
            self._vectors.clear()
            new = list(dict.fromkeys(texts))
        if new:
            self._vectors.update(zip(new, self._encoder.encode(new), strict=True))
        return {text: self._vectors[text] for text in texts}

    def shown_by(self, node: Node) -> tuple[list[str], list[str]]:
        """Return the words that say what ``node`` is, and all that tell it: its relations and those to it, in order.

        "Mayor" is what the target of ``mayor`` is, "capital" what the source of ``capital_of`` is.
        """
        if self._neighborhood is None:
            return [], []
        if node not in self._shown:
            if len(self._shown) >= _MAX_CACHED:
                self._shown.clear()
            steps = list(self._neighborhood.facts_at(node))
            own: dict[str, None] = {}
            for step in steps:
                named = relation_words(step.relation).split()
                of_source = len(named) > 1 and named[-1] in _PREPOSITIONS
                if step.inverse is not of_source:
                    own.update(dict.fromkeys(word for word in named if word not in FUNCTION_WORDS))
            has = [relation_words(step.relation) for step in steps if not step.inverse][:_MAX_TELLING]
            of = [relation_words(step.relation) for step in steps if step.inverse][:_MAX_TELLING]
            self._shown[node] = list(own), sorted(set(has)) + sorted(set(of))
        return self._shown[node]

    def leads(self, titles: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors of the first sections of these articles."""
        if self._graph is None or not titles:
            return {}
        rows = self._graph.rows(
            "UNWIND $keys AS key MATCH (s:Section {section_id: key}) RETURN s.article_title, s.embedding",
            {"keys": [section_id(title, 0) for title in titles]},
        )
        return {str(title): np.asarray(vector, dtype=np.float32) for title, vector in rows}


# The words of a question with their places.
_Words = tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class _Way:
    """How the search came to a node: the score of its steps, the words of the question that are left, and the place in
    it that was reached."""

    score: float
    left: _Words
    at: int
    by: Walked | None = None


class _RuleGuide:
    def __init__(self, chooser: RulePruner, question: str, sources: Sequence[Node]) -> None:
        self._chooser = chooser
        self._question = question
        asked_words = words(question)[:_MAX_WORDS]
        left, places, owners = _without_names(asked_words, sources)
        self._words = asked_words
        self._owners = owners
        left = tuple((n, _INTERROGATIVES.get(word, word) if not n else word) for n, word in left)
        # A source that the question does not name is asked about at its end.
        self._ways = {node: _Way(0.0, left, places.get(node, _MAX_WORDS)) for node in sources}
        self._named = frozenset(places)
        self._scores: dict[tuple[str, _Words, int], float] = {}
        self._accounted: dict[tuple[str, _Words, int], frozenset[str]] = {}
        self._begun = False
        # What kind of thing the answer is: graphs seldom say, so no step must account for it.
        asked = _ASKED.search(question)
        self._asked = {asked[1].lower()} if asked else set()
        self._asked |= {word for n, word in left if not n and word in _INTERROGATIVES.values()}
        noun = _ASKED_NOUN.search(question)
        self._noun = (noun[1] or noun[2]).lower() if noun else ""
        if self._noun in FUNCTION_WORDS:
            self._noun = ""
        counted = _COUNTED.search(question)
        self._counted = counted[2].lower() if counted else ""
        self._asked |= {counted[1].lower()} if counted else set()
        # What a way passes over, and what it has in its direction: known once the options at its node are.
        self._heads: dict[_Way, str] = {}
        self._forward: set[tuple[_Way, str]] = set()

    def relations(self, options: Sequence[Option], most: int) -> Chosen[Step]:
        facts = [option for option in options if option.step.relation not in STRUCTURAL]
        facts = self._likely(facts)
        self._prepare(facts)
        self._look_ahead(facts)
        best: dict[Step, float] = {}
        likely = 0.0
        for option in facts:
            way = self._ways[option.node]
            score = self._score(option.step, way)
            likely = max(likely, score)
            rare = score - _BY_EDGES * math.log2(option.edges)
            best[option.step] = max(best.get(option.step, -math.inf), way.score + rare)
        if self._begun and (likely < _FLOOR or not any(_content(self._ways[o.node].left) for o in options)):
            return Chosen(finish=True)
        self._begun = True
        ordered = sorted(best, key=lambda step: (-round(best[step], 6), step))
        links = {option.step for option in options if option.step.relation in STRUCTURAL}
        ordered += sorted(links, key=lambda step: (step.inverse, STRUCTURAL.index(step.relation)))
        return Chosen(tuple(ordered[:most]))

    def ranked(self, walked: Sequence[Walked]) -> Sequence[Walked]:
        base = {item: self._base(item) for item in walked}
        ordered = sorted(walked, key=lambda item: (-round(base[item], 6), _order(item)))
        score: dict[Walked, float] = {}
        siblings: dict[tuple[Node, Step], int] = {}
        likeness = self._likeness(ordered)
        for item in sorted(walked, key=lambda i: (-round(base[i] + likeness.get(i, 0.0), 6), _order(i))):
            number = siblings.get((item.node, item.step), 0)
            siblings[item.node, item.step] = number + 1
            score[item] = base[item] + likeness.get(item, 0.0) - _SIBLING * number
        # Facts before links, whatever their scores.
        ranked = sorted(walked, key=lambda i: (i.edge.relation in STRUCTURAL, -round(score[i], 6), _order(i)))
        for item in ranked:
            # What the question names is where ways begin, however well another leads there.
            if item.end in self._named:
                continue
            if item.end not in self._ways or score[item] > self._ways[item.end].score:
                way = self._ways[item.node]
                left, at = self._left(item.edge.relation, way)
                self._ways[item.end] = _Way(score[item], left, at, item)
        return ranked

    def entities(self, found: Sequence[Edge], walked: Sequence[Walked], most: int) -> Chosen[Node]:
        def behind(place: tuple[int, Node]) -> tuple[float, int]:
            number, node = place
            return -round(self._ways[node].score - (_BARE if node.kind == "entity" else 0.0), 6), number

        facts = dict.fromkeys(item.end for item in walked if item.edge.relation not in STRUCTURAL)
        ordered = [node for _, node in sorted(enumerate(facts), key=behind)]
        return Chosen(tuple(dict.fromkeys([*ordered, *(item.end for item in walked)]))[:most])

    def answer(self, found: Collection[Edge]) -> tuple[Edge, ...]:
        """The way of facts whose steps say most of what is asked, if they say enough of it.

        It leads from what the question names, where it names any of the sources, to a thing of the kind asked for.
        """
        ways = []
        for node, way in self._ways.items():
            if not _may_answer(self._question, node):
                continue
            steps: list[Walked] = []
            here = node
            while (by := self._ways[here].by) is not None and by.edge in found and by not in steps:
                steps.append(by)
                here = by.node
            factual = all(by.edge.relation not in STRUCTURAL for by in steps)
            if steps and by is None and factual and (here in self._named or not self._named):
                unsaid = [word for word in _content(way.left) if word not in self._asked]
                if any(word in _RESTRICTING or word.isdigit() for word in unsaid):
                    continue
                worth = way.score - _PLAIN_STEP * len(steps)
                ways.append((worth, unsaid, node, steps[::-1]))
        # The likeliest ones by their words; what their things are is dearer to know.
        ways.sort(key=lambda way: (-round(way[0] - _UNSAID * len(way[1]), 6), way[2].rank))
        del ways[_MAX_WAYS:]
        fits = {node: self._fit(self._noun, node) for _, _, node, _ in ways} if self._noun else {}
        best_fit = max(fits.values(), default=0.0)
        judged = []
        for worth, unsaid, node, steps in ways:
            things = [steps[0].node, *(step.end for step in steps)]
            relations = {relation_words(step.edge.relation) for step in steps}
            undescribed = sum(self._undescribed(word, things, relations) for word in unsaid)
            misfit = min(_MAX_MISFIT, best_fit - fits.get(node, best_fit))
            worth -= _UNSAID * undescribed + _KIND * misfit
            if self._counted:
                worth += _UNSAID * _described(self._fit(self._counted, node))
            judged.append((-round(worth, 6), node.rank, steps))
        if not judged or -min(judged)[0] < _MIN_WORTH:
            return ()
        return self._alongside(min(judged)[-1], found)

    def _alongside(self, way: Sequence[Walked], found: Collection[Edge]) -> tuple[Edge, ...]:
        """The edges of ``way``, then those of all other ways in ``found`` that take the same steps from its source.

        No more ways than fit into ``_MAX_ANSWERS`` edges; ties by the names on the way.
        """
        others = sorted(found, key=lambda edge: (edge.source.rank, edge.target.rank, edge.relation))
        paths: list[tuple[tuple[Edge, ...], Node]] = [((), way[0].node)]
        for walked in way:
            paths = [
                ((*path, edge), edge.other(node))
                for path, node in paths
                for edge in others
                if node in (edge.source, edge.target) and edge.step_from(node) == walked.step and edge not in path
            ]
        own = [walked.edge for walked in way]
        chain = dict.fromkeys(own)
        # Those that share most with the way come first.
        shared = sorted(paths, key=lambda item: -sum(a == b for a, b in zip(item[0], own, strict=True)))
        for path, end in shared:
            longer = {**chain, **dict.fromkeys(path)}
            if len(longer) <= _MAX_ANSWERS and _may_answer(self._question, end):
                chain = longer
        return tuple(chain)

    def _fit(self, noun: str, node: Node) -> float:
        """How well ``noun`` says what ``node`` is, as far as the relations at it tell."""
        own, telling = self._chooser.shown_by(node)
        if any(_alike(noun, word) for word in own):
            return 1.0
        # What has a mayor is no mayor.
        said = ", ".join(text for text in telling if not any(_alike(noun, word) for word in text.split()))
        if not said:
            return 0.0
        vectors = self._chooser.encode([noun, said])
        return float(vectors[noun] @ vectors[said])

    def _undescribed(self, word: str, things: Sequence[Node], relations: Collection[str]) -> float:
        """How far ``word`` describes none of ``things`` and is no synonym of ``relations``, from 0 to 1."""
        forms = {word, _bare(word)}
        vectors = self._chooser.encode(sorted(forms | set(relations)))
        if any(float(vectors[form] @ vectors[named]) >= _SYNONYM for form in forms for named in relations):
            return 0.0
        return 1.0 - _described(max(self._fit(word, thing) for thing in things))

    def _likely(self, facts: list[Option]) -> list[Option]:
        """The options whose relations are worth encoding: those that share a word, then those with the fewest edges."""
        edges: dict[str, int] = {}
        for option in facts:
            relation = option.step.relation
            edges[relation] = min(edges.get(relation, option.edges), option.edges)
        if len(edges) <= _MAX_RELATIONS:
            return facts
        asked = {word for node in {option.node for option in facts} for word in _content(self._ways[node].left)}

        def unlikely(relation: str) -> tuple[bool, int, str]:
            named = any(_alike(w, a) for w in relation_words(relation).split() for a in asked)
            return not named, edges[relation], relation

        kept = set(sorted(edges, key=unlikely)[:_MAX_RELATIONS])
        return [option for option in facts if option.step.relation in kept]

    def _prepare(self, facts: Sequence[Option]) -> None:
        """Encode all that the scores of these options need in one call."""
        texts = {relation_words(option.step.relation) for option in facts}
        for way in {self._ways[option.node] for option in facts}:
            texts |= {_said(way.left), _said(_next(way)), *_content(way.left)}
        self._chooser.encode(sorted(texts))

    def _look_ahead(self, facts: Sequence[Option]) -> None:
        """Note which word each node's relation has to say first, if any says it, and what leads on from it forwards."""
        by_way: dict[_Way, set[str]] = {}
        for option in facts:
            way = self._ways[option.node]
            by_way.setdefault(way, set()).add(option.step.relation)
            if not option.step.inverse:
                self._forward.add((way, option.step.relation))
        for way, relations in by_way.items():
            head = self._head(way)
            if head and any(head in self._said_by(relation, way) for relation in relations):
                self._heads[way] = head

    def _head(self, way: _Way) -> str:
        """The word that stands in "mayor of X" or "X's mayor", where X is the place that was reached, else nothing."""
        left = dict(way.left)
        if way.by is None and way.at in self._owners:
            return next((word for place, word in way.left if place >= self._owners[way.at]), "")
        place = min(way.at, len(self._words)) - 1
        while place >= 0 and self._words[place] in _ARTICLES:
            place -= 1
        if place < 1 or self._words[place] != "of":
            return ""
        word = left.get(place - 1, "")
        return "" if word in FUNCTION_WORDS or word in self._asked else word

    def _score(self, step: Step, way: _Way) -> float:
        """What a step has to do with what is left of the question."""
        key = (step.relation, way.left, way.at)
        if key not in self._scores:
            self._scores[key] = self._likeness_to(relation_words(step.relation), way) if way.left else 0.0
        # The one that a thing was reached by leads back to others like the thing before it.
        came = way.by.step if way.by is not None else None
        back = came is not None and came.relation == step.relation and came.inverse is not step.inverse
        head = self._heads.get(way, "")
        skipped = bool(head) and head not in self._said_by(step.relation, way)
        against = step.inverse and (way, step.relation) in self._forward
        return self._scores[key] - _BACK * back - _SKIPPED * skipped - _AGAINST * against

    def _likeness_to(self, named: str, way: _Way) -> float:
        whole, following, near = _said(way.left), _said(_next(way)), _by_nearness(way)
        vectors = self._chooser.encode([named, whole, following, *near])
        relation = vectors[named]
        weights = [_NEARNESS**number for number in range(len(near))]
        by_word = max((w * float(relation @ vectors[x]) for w, x in zip(weights, near, strict=True)), default=0.0)
        own = [word for word in named.split() if word not in FUNCTION_WORDS] or named.split()
        stems = [max((w for w, x in zip(weights, near, strict=True) if _alike(word, x)), default=0.0) for word in own]
        return (
            _BY_TEXT * float(relation @ vectors[whole])
            + _BY_NEXT * float(relation @ vectors[following])
            + _BY_WORD * by_word
            + _BY_STEM * (sum(stems) / len(stems) if stems else 0.0)
        )

    def _left(self, relation: str, way: _Way) -> tuple[_Words, int]:
        """The words of the question that this step leaves, and the place in it that it reaches."""
        if relation in STRUCTURAL or not way.left:
            return way.left, way.at
        same = self._said_by(relation, way)
        places = [place for place, word in way.left if word in same]
        at = min(places, key=lambda place: (abs(place - way.at), place)) if places else way.at
        return tuple((place, word) for place, word in way.left if word not in same), at

    def _said_by(self, relation: str, way: _Way) -> frozenset[str]:
        """The words that are left for which ``relation`` accounts: forms of its own, or else the one most alike."""
        key = (relation, way.left, way.at)
        if key not in self._accounted:
            named = relation_words(relation)
            near = _by_nearness(way)
            same = {asked for asked in near if any(_alike(asked, word) for word in named.split())}
            # The noun that is asked with describes the end, and leaves what is said of it to be accounted for.
            others = [word for word in near if word != self._noun] or near
            if not same and others:
                vectors = self._chooser.encode([named, *others])
                likeness = [_NEARNESS**n * float(vectors[named] @ vectors[word]) for n, word in enumerate(others)]
                best = max(range(len(others)), key=lambda n: (round(likeness[n], 6), -n))
                same = {others[best]} if likeness[best] >= _SYNONYM else set()
            self._accounted[key] = frozenset(same)
        return self._accounted[key]

    def _base(self, item: Walked) -> float:
        way = self._ways[item.node]
        score = 0.0 if item.edge.relation in STRUCTURAL else self._score(item.step, way)
        name = {word for word in words(item.end.label) if word not in FUNCTION_WORDS}
        asked = _content(way.left)
        named = sum(any(_alike(word, other) for other in asked) for word in name) / len(name) if name else 0.0
        return way.score + score + _BY_NAME * named

    def _likeness(self, ordered: Sequence[Walked]) -> dict[Walked, float]:
        """What a triplet's own words add to it, against others of its relation at its node: no others, nothing.

        Ends that are articles linked to are compared by their text, of the other triplets the first few by their words.
        """
        groups: dict[tuple[Node, Step], list[Walked]] = {}
        for item in ordered:
            groups.setdefault((item.node, item.step), []).append(item)
        several = [item for item in ordered if len(groups[item.node, item.step]) > 1]
        if not several:
            return {}
        asked = self._chooser.encode([self._question])[self._question]
        links = [item for item in several if item.edge.relation in STRUCTURAL and item.end.kind == "article"]
        leads = self._chooser.leads(sorted({item.end.key for item in links}))
        near = {item: float(leads[item.end.key] @ asked) for item in links if item.end.key in leads}
        texts = {item: _verbalized(item.edge) for item in several if item not in near}
        texts = dict(list(texts.items())[:_MAX_TRIPLETS])
        vectors = self._chooser.encode(list(texts.values()))
        near.update((item, float(vectors[text] @ asked)) for item, text in texts.items())
        added: dict[Walked, float] = {}
        for group in groups.values():
            compared = [near[item] for item in group if item in near]
            usual = sum(compared) / len(compared) if compared else 0.0
            added.update((item, _BY_TRIPLET * (near.get(item, usual) - usual)) for item in group)
        return added


def _described(fit: float) -> float:
    return min(1.0, max(0.0, fit - _NO_FIT) / (_FIT - _NO_FIT))


def _may_answer(question: str, node: Node) -> bool:
    """Whether ``node`` is of the kind that ``question`` asks for, as far as both tell by their words."""
    if _ASKS_REASON.search(question):
        return False
    label = node.label[:_LABEL_CHARS]
    if _ASKS_TIME.search(question):
        return bool(_TIME.match(label))
    if _ASKS_NUMBER.search(question):
        return any(character.isdigit() for character in label) and not _DAY.match(label)
    return not (_ASKS_NAME.search(question) and _NO_NAME.match(label))


def _content(left: _Words) -> list[str]:
    return list(dict.fromkeys(word for _, word in left if word not in FUNCTION_WORDS))


def _by_nearness(way: _Way) -> list[str]:
    """The content words that are left, those nearest to the place that was reached first."""
    ordered = sorted(way.left, key=lambda item: (abs(item[0] - way.at), item[0]))
    return _content(tuple(ordered))


def _next(way: _Way) -> _Words:
    """The words around the nearest content words."""
    near = set(_by_nearness(way)[:_NEXT_WORDS])
    places = [place for place, word in way.left if word in near]
    return tuple(item for item in way.left if places and min(places) <= item[0] <= max(places))


def _said(left: _Words) -> str:
    return " ".join(word for _, word in left)


def _without_names(asked: list[str], sources: Sequence[Node]) -> tuple[_Words, dict[Node, int], dict[int, int]]:
    """The words of a question without the names of the entities that it starts from, and the places of these.

    With the places at which a name in the possessive begins, where each ends.
    """
    left = dict(enumerate(asked))
    places: dict[Node, int] = {}
    owners: dict[int, int] = {}
    for node in sorted(sources, key=lambda node: (-len(words(node.label)), node.rank)):
        name = words(node.label)
        for begin in range(len(asked) - len(name) + 1):
            span = range(begin, begin + len(name))
            written = asked[begin : begin + len(name)]
            owned = written[:-1] + [_OWNING.sub("", word) for word in written[-1:]]
            if name and name in (written, owned) and all(place in left for place in span):
                places[node] = begin
                if written != name:
                    owners[begin] = span.stop
                for place in span:
                    del left[place]
                break
    return tuple(left.items()), places, owners


def _verbalized(edge: Edge) -> str:
    return f"{edge.source.label} {relation_words(edge.relation)} {edge.target.label}"[:200]


def _order(item: Walked) -> tuple[object, ...]:
    return item.step, item.end.rank, item.node.rank, item.edge.section_id
