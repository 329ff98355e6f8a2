"""The state that the retrieval stages pass on, and the resources that they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from wikigr.embeddings.model_id import DEFAULT_WEIGHTS_SHA256
from wikigr.index.candidate import Candidate, Evidence, Hit, Section
from wikigr.llm.options import SynthesisOptions
from wikigr.options import Options
from wikigr.pack.open import Corpus
from wikigr.question.question import Question
from wikigr.reader.passage import ReaderOptions
from wikigr.retrieval.chain import Chain, Exploration, PathAnswers
from wikigr.retrieval.entity_linking import EntityLink, EntityLinker
from wikigr.retrieval.trace import StageRecord, Trace

if TYPE_CHECKING:
    from wikigr.llm.model_client import ModelClient
    from wikigr.reader.prepared import NoReaderError

StageOptions = TypeVar("StageOptions", bound=Options)
StageState = TypeVar("StageState")
# The hits of each ranker, by its name.
Runs = Mapping[str, list[Hit]]
# A search result as a JSON object: ``title``, ``score``, ``content`` and any other keys that its source wrote.
Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class State:
    """The state of retrieval for one question.

    ``limit`` is the number of sections that are wanted in the end, ``depth`` how many each ranker finds at least, and
    ``within`` the titles, folded, to which retrieval is restricted, if any. ``wordings`` are the question and its
    rephrasings; ``runs`` what the rankers found for each of them. ``candidates`` are the remaining sections, best
    first; ``sections`` what was read of them, by id; ``links`` the nodes that the question names; ``chains`` what was
    found by several hops, the likeliest first; ``selected`` the candidates to be read, and ``evidence`` their text.
    ``paths`` are the answers of the relation paths that explain the question, the best path first; if there are any,
    the stages after it have nothing to do.
    """

    question: Question
    limit: int
    depth: int
    within: frozenset[str] | None = None
    wordings: tuple[Question, ...] = ()
    runs: tuple[Runs, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    sections: Mapping[str, Section] = field(default_factory=dict)
    links: tuple[EntityLink, ...] = ()
    chains: tuple[Chain, ...] = ()
    exploration: Exploration | None = None
    selected: tuple[Candidate, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    paths: tuple[PathAnswers, ...] = ()


@dataclass
class Resources:
    """What stages use besides their state: the pack, a model if there is one, and objects shared by all questions.

    ``reading`` are the options of the reader. ``offline`` forbids downloads. ``cypher_examples`` returns worked
    examples of Cypher for a question, and ``search`` what retrieval finds for another question, in one hop.
    """

    pack: Corpus
    model: ModelClient | None = None
    synthesis: SynthesisOptions = field(default_factory=SynthesisOptions)
    reading: ReaderOptions = field(default_factory=ReaderOptions)
    offline: bool = False
    search: Callable[[str], State] | None = None
    cypher_examples: Callable[[str], str] | None = None
    _said: set[str] = field(default_factory=set)

    def skip_without_reader(self, record: StageRecord, error: NoReaderError) -> None:
        """Record that a stage was skipped because the pack has no reader; only one question warns of it."""
        record.degraded = True
        record.notes["reader"] = error.message
        if error.message not in self._said:
            self._said.add(error.message)
            record.warning = error.message if error.hint is None else f"{error.message} To prepare it: {error.hint}"

    @cached_property
    def linker(self) -> EntityLinker:
        """Links the names in a question to the pack's graph."""
        return EntityLinker(self.pack.graph_index, self.pack.lexical)


def encodes_its_language(pack: Corpus) -> bool:
    """Return whether the encoder of ``pack`` knows its language; the default one knows English only."""
    return pack.language.is_english or pack.manifest.encoder.weights_sha256 != DEFAULT_WEIGHTS_SHA256


class PipelineStage(ABC, Generic[StageOptions, StageState]):
    """A stage on the way from a question to an answer: created once per pipeline, called for every question.

    A subclass implements ``run``. It returns a new state and fills its ``StageRecord``; ``Trace`` holds those of the
    stages before it.
    """

    # The name of the stage in traces, timings and messages.
    name: ClassVar[str]

    def __init__(self, resources: Resources, options: StageOptions) -> None:
        self.resources = resources
        self.options = options

    def applies(self, state: StageState) -> bool:
        """Return whether there is anything to do for ``state``."""
        return True

    @abstractmethod
    def run(self, state: StageState, record: StageRecord, trace: Trace) -> StageState:
        """Return ``state`` after this stage."""


class RetrievalStage(PipelineStage[StageOptions, State]):
    """A stage of retrieval."""

    # Whether the stage has nothing to do without candidates.
    needs_candidates: ClassVar[bool] = True
    # Whether the stage follows the graph to other articles, and must not run where retrieval is restricted to some.
    leaves_articles: ClassVar[bool] = False

    def applies(self, state: State) -> bool:
        if state.paths or (self.leaves_articles and state.within is not None):
            return False
        return bool(state.candidates) or not self.needs_candidates
