"""The last answers, so that "Why this answer?" explains the answer that was shown, and a model is paid once for it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from wikigr.answer.answer import Answer
from wikigr.pack.open import Corpus

_MAX_ANSWERS = 128

# The digests of the packs, the profile and the question.
_Key = tuple[tuple[str, ...], str, str]


@dataclass(slots=True)
class RecentAnswers:
    """The most recently used answers by packs, profile and question. Safe for several threads.

    A pack that was replaced has another digest, so its old answers are not found again.
    """

    _answers: OrderedDict[_Key, Answer] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def find(self, pack: Corpus, profile: str, question: str) -> Answer | None:
        """Return the answer to this question, if it is among the last ones."""
        with self._lock:
            key = _key(pack, profile, question)
            if key in self._answers:
                self._answers.move_to_end(key)
            return self._answers.get(key)

    def keep(self, pack: Corpus, profile: str, question: str, answer: Answer) -> None:
        """Keep an answer, unless a stage failed: asked again, it may succeed."""
        if answer.trace.degraded:
            return
        with self._lock:
            self._answers[_key(pack, profile, question)] = answer
            if len(self._answers) > _MAX_ANSWERS:
                self._answers.popitem(last=False)


def _key(pack: Corpus, profile: str, question: str) -> _Key:
    return tuple(member.manifest.digest for member in pack.members), profile, question
