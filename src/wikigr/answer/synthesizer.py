"""Let a model write the answer from the evidence: examples, the call, and the check of the reply.

``settle`` decides between the answer that a model wrote and the one that was found without it, and how sure it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from wikigr.answer.abstention import NOT_COVERED
from wikigr.answer.answer import ABSTAINED, OWN_KNOWLEDGE, SYNTHESIS, Answer, PossibleAnswer
from wikigr.answer.citation_stream import NOTHING, CitationStream, Written
from wikigr.answer.citations import verify_against
from wikigr.answer.few_shot import FewShotManager, cited_by_number
from wikigr.answer.probability import LEVELS
from wikigr.answer.reply_marks import ReplyMarks, plain
from wikigr.answer.requests import (
    CitationStyle,
    Request,
    build_request,
    build_short_request,
    own_knowledge_request,
    read_short_reply,
    style_of,
)
from wikigr.answer.stages import Draft, level_of_claims
from wikigr.answer.statement import read_statement
from wikigr.llm.failures import BadRequestError, EmptyReplyError
from wikigr.llm.options import FewShotOptions, ModelFileOptions
from wikigr.llm.reply import BlockEnd, TextBlock, TextDelta
from wikigr.retrieval.state import Resources
from wikigr.retrieval.trace import Trace

# What a server says if it does not know search-result blocks, as opposed to a key without credit.
_ABOUT_BLOCKS = re.compile(r"search_result|citation|content|block|type|tag|unknown|unsupported|schema", re.I)


class Synthesizer:
    """Lets a model write answers from the evidence; without a model it only shows what would be sent.

    ``few_shot_path`` is a file of worked examples that replaces the pack's own.
    """

    def __init__(
        self,
        resources: Resources,
        few_shot: FewShotOptions,
        model_file: ModelFileOptions,
        few_shot_path: Path | None = None,
    ) -> None:
        self._pack = resources.pack
        self._model = resources.model
        self._options = resources.synthesis
        self._model_file = model_file
        self._few_shot_options = few_shot
        self._few_shot_path = few_shot_path

    def request(self, draft: Draft, trace: Trace, style: CitationStyle | None = None) -> Request:
        """Return what the model is sent for the question of ``draft``, by default in the configured citation style."""
        style = style or style_of(self._options)
        state = draft.state
        question = state.question.asked or state.question.text
        if style == "short":
            return build_short_request(draft, question, self._model_file.prompt_tokens, self._pack.language)
        return build_request(
            question,
            state.evidence,
            style=style,
            examples=self._examples(question, trace, marked=style == "markers"),
            graph_context=state.exploration.context.lines if state.exploration is not None else (),
            language=self._pack.language,
        )

    def write(self, draft: Draft, answer: Answer, on_text: Callable[[str], None] | None) -> Answer:
        """Return what ``answer``, which was found without the model, becomes with the text that the model writes.

        Raises ``LlmError``, ``BudgetError``, and ``WikigrError`` when a verified span differs from the database.
        """
        style = style_of(self._options)
        try:
            written = self._write(draft, answer, style, on_text)
        except EmptyReplyError as error:
            with answer.trace.stage(SYNTHESIS) as record:
                record.warning = error.message
            written = NOTHING
        except BadRequestError as error:
            forced = style != "native" or self._options.citations == "native"
            if forced or not _ABOUT_BLOCKS.search(error.message):
                raise
            with answer.trace.stage(SYNTHESIS) as record:
                record.warning = f"{error.message} The sections are sent again, numbered in the text."
                record.degraded = True
            written = self._write(draft, answer, "markers", on_text)
        verify_against(self._pack, written.citations, answer.trace)
        assert self._model is not None
        return settle(answer, written, draft, self._model.answering(self._options.model))

    def from_own_knowledge(self, answer: Answer) -> Answer:
        """Return ``answer``, an abstention, with what the model knows from memory, labeled as such."""
        assert self._model is not None
        options = self._options
        with answer.trace.stage(OWN_KNOWLEDGE) as record:
            model = record.notes["model"] = self._model.answering(options.model)
            reply = self._model.complete(
                **own_knowledge_request(answer.question).to_dict(), model=options.model, max_tokens=options.max_tokens
            )
        said, _, _ = ReplyMarks(()).read(plain(reply.text.strip()))
        text = f"{NOT_COVERED} From the memory of {model}, not from the pack: {said}"
        return replace(answer, text=text, query_type=OWN_KNOWLEDGE, confidence=0.0, model=model)

    def _write(
        self, draft: Draft, answer: Answer, style: CitationStyle, on_text: Callable[[str], None] | None
    ) -> Written:
        assert self._model is not None
        request = self.request(draft, answer.trace, style)
        options = self._options
        with answer.trace.stage(SYNTHESIS) as record:
            warnings: list[str] = []
            stream = CitationStream(
                request.evidence,
                style,
                on_text or (lambda _: None),
                self._pack.language,
                question=draft.state.question.text,
                offline=answer,
            )
            record.scored = len(request.evidence)
            model = self._model.answering(options.model)
            record.notes.update(model=model, citations=style)
            fields: dict[str, Any] = {**request.to_dict(), "model": options.model, "max_tokens": options.max_tokens}
            if on_text is not None and style != "short":
                reply = self._model.stream(**fields, on_event=stream.take)
            else:
                reply = self._model.complete(**fields)
                blocks = (TextBlock(read_short_reply(reply)),) if style == "short" else reply.blocks
                for block in blocks:
                    stream.take(TextDelta(block.text))
                    stream.take(BlockEnd(block))
            if reply.stop_reason == "max_tokens":
                warnings.append(f"the answer was cut at {options.max_tokens:,} tokens (synthesis.max_tokens)")
            elif reply.stop_reason == "refusal":
                warnings.append(f"{model} refused to answer")
            if reply.first_token is not None and reply.writing:
                record.notes["first_token_s"] = reply.first_token
                record.notes["tokens_per_s"] = reply.usage.output_tokens / reply.writing
            if reply.usage.is_unknown:
                warnings.append("the server did not report how many tokens it used")
            if self._model.caveat:
                warnings.append(self._model.caveat)
                record.degraded = True
            written = stream.finish()
            if written.unverified:
                record.notes["unverified"] = len(written.unverified)
            if not (written.citations or written.declined):
                warnings.append(f"nothing that {model} wrote could be verified against the pack")
            record.warning = "; ".join(warnings)
            return written

    def _examples(self, question: str, trace: Trace, *, marked: bool) -> str:
        """Return worked examples for the prompt; a pack need not have any."""
        if not self._few_shot_options.enabled:
            return ""
        with trace.enhancement("few_shot") as record:
            try:
                manager = self.few_shot
            except FileNotFoundError:
                if self._few_shot_path is not None:
                    raise
                record.notes["examples"] = "the pack has none"
                return ""
            examples = manager.get_examples(question)
            record.scored = len(examples)
            return manager.format_for_prompt([cited_by_number(example, marked=marked) for example in examples])
        return ""

    @cached_property
    def few_shot(self) -> FewShotManager:
        """The worked examples; raises ``FileNotFoundError`` if there are none."""
        return FewShotManager(
            self._few_shot_path or self._pack.layout.root,
            num_examples=self._few_shot_options.num_examples,
            encoder=self._pack.encoder,
        )


# The word of a model counts as evidence: what it answers is this many times as likely to be right as it was. Chosen,
# not fitted: large enough to lift an answer that both give by a level, too small for a model alone to overturn one
# that is more likely right than not.
_WEIGHT = 2.0


def settle(offline: Answer, written: Written, draft: Draft, model: str) -> Answer:
    """Return the answer to a question for which there is ``offline``, after ``model`` has written.

    What a model wrote is the answer if some of it is verified, unless it contradicts an answer that stays likelier;
    then it is ``rejected``. The confidence falls with the share of its claims that are not verified; if that is half
    of them or more, the answer is not sure.
    """
    base = replace(offline, model=model, claims=written.claims, unverified=written.unverified)
    share = 1 - len(written.unverified) / written.claims if written.claims else 0.0
    text = PossibleAnswer(text=written.text, confidence=0.0, citations=written.citations)
    if not (share or written.declined):
        return replace(base, rejected=text if written.text else None)
    by_model = replace(base, kind="", span=None, context=None, lead="", chain=())
    possible = PossibleAnswer(**{field.name: getattr(offline, field.name) for field in fields(PossibleAnswer)})
    if written.declined:
        return replace(
            by_model,
            text=NOT_COVERED,
            query_type=ABSTAINED,
            confidence=0.0,
            level="not_covered",
            citations=(),
            alternatives=(possible, *offline.alternatives),
        )
    agrees = _agreement(offline, written, draft)
    right = offline.confidence
    # Where the answer without a model is wrong, another one that a model gives is right in half of the cases.
    other = (1 - right) * 0.5
    if agrees is False:
        total = right + _WEIGHT * other + (1 - right - other)
        if right >= _WEIGHT * other:
            level = max(offline.level, level_of_claims(draft, right / total), key=LEVELS.index)
            rejected = replace(text, confidence=_WEIGHT * other / total * share)
            return replace(base, confidence=right / total, level=level, agrees=False, rejected=rejected)
        right = _WEIGHT * other / total
    elif agrees:
        right = _WEIGHT * right / (_WEIGHT * right + 1 - right)
    return replace(
        by_model,
        text=written.text,
        query_type=SYNTHESIS,
        confidence=right * share,
        level=level_of_claims(draft, right * share) if share > 0.5 else "not_sure",
        citations=written.citations,
        span=offline.span if agrees else None,
        alternatives=(possible,) if agrees is False else (),
        agrees=agrees,
    )


def _agreement(offline: Answer, written: Written, draft: Draft) -> bool | None:
    """Return whether the verified claims give the answer ``offline``; without a short answer, it may be unknown."""
    quotes_same = any(
        one.section_id == other.section_id and one.start < other.end and other.start < one.end
        for one in written.citations
        for other in offline.citations
    )
    if offline.span is None:
        return True if quotes_same else None
    language = draft.state.question.language
    short, said = read_statement(offline.span.text, language), read_statement(written.verified, language)
    named = frozenset(token for name in short.names for token in name) | short.words
    if short.is_empty:
        return short.tokens <= said.tokens
    numbers = {number for number, _, _ in short.values}
    if numbers <= said.numbers and all(map(said.has_date, short.dates)) and named <= said.tokens:
        return True
    # From the same sentence, a part of a name or of a date is the same answer.
    return quotes_same and numbers <= said.numbers and bool((named | short.numbers) & (said.tokens | said.numbers))
