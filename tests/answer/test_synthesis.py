"""Answers that a model writes: real SDK, real server on loopback, real pack; citations checked span by span."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.llm.server import MessagesServer, cut_after, reply, status, text

from wikigr.answer.abstention import NOT_COVERED
from wikigr.answer.answer import Answer
from wikigr.answer.citation_stream import UNVERIFIED
from wikigr.errors import UsageError
from wikigr.llm.budget import Budget, BudgetError
from wikigr.llm.client import Claude
from wikigr.llm.failures import BadRequestError, LlmError
from wikigr.llm.options import SynthesisOptions
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.retrieval.trace import StageRecord, Trace

QUESTION = "Who measured the wavelength of the electron?"
OFF_TOPIC = "Who won the football cup in Brazil?"
Make = Callable[..., Pipeline]


@pytest.fixture
def make(pack: Pack, messages_server: MessagesServer) -> Make:
    def build(budget: Budget | None = None, few_shot_path: Path | None = None, **synthesis: Any) -> Pipeline:
        profile = Profile().override(SynthesisOptions, **synthesis)
        client = Claude(
            model=profile[SynthesisOptions].model,
            api_key="sk-secret-key",
            base_url=messages_server.url,
            timeout=60.0,
            retries=0,
            budget=budget,
        )
        return Pipeline(profile, pack, model=client, few_shot_path=few_shot_path)

    return build


def results_of(request: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for block in request["messages"][0]["content"] if block["type"] == "search_result"]


def cite(request: dict[str, Any], index: int, first: int, last: int, **changes: Any) -> dict[str, Any]:
    """A citation as the API makes it: the texts of the cited blocks, joined."""
    blocks = results_of(request)[index]["content"]
    return {
        "type": "search_result_location",
        "cited_text": "".join(block["text"] for block in blocks[first:last]),
        "search_result_index": index,
        "start_block_index": first,
        "end_block_index": last,
        "source": results_of(request)[index]["source"],
        "title": None,
        **changes,
    }


def synthesis_record(answer: Answer) -> StageRecord:
    (record,) = [record for record in answer.trace.stages if record.stage == "synthesis"]
    return record


def cited_reply(*blocks: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[dict[str, Any]], Any]:
    return lambda request: reply(*(block(request) for block in blocks))(request)


@pytest.mark.parametrize("streamed", [False, True])
def test_every_citation_is_a_span_of_a_stored_section(
    make: Make, messages_server: MessagesServer, pack: Pack, streamed: bool
) -> None:
    messages_server.always(
        cited_reply(
            lambda r: text("Davisson and Germer did", cite(r, 0, 0, 1)),
            lambda r: text(". "),
            lambda r: text("More is told", cite(r, 0, 0, 2), cite(r, 1, 0, 1)),
            lambda r: text(". "),
            lambda r: text("They did so again", cite(r, 0, 0, 1)),
            lambda r: text("."),
        )
    )
    pieces: list[str] = []
    answer = make().answer(QUESTION, on_text=pieces.append if streamed else None)
    assert answer.text == "Davisson and Germer did [1]. More is told [2][3]. They did so again [1]."
    assert answer.query_type == "synthesis"
    assert [citation.n for citation in answer.citations] == [1, 2, 3]
    assert answer.unverified == ()
    for citation in answer.citations:
        section = pack.sections([citation.section_id])[citation.section_id]
        assert section.content[citation.start : citation.end] == citation.quote != ""
    assert answer.citations[1].quote.startswith(answer.citations[0].quote)
    assert "unverified" not in synthesis_record(answer).notes
    if streamed:
        assert "".join(pieces) == answer.text
        # Each sentence comes when it is complete.
        assert len(pieces) == 3
        assert messages_server.requests[0].json["stream"] is True


@pytest.mark.parametrize(
    "changes",
    [
        {"cited_text": "The moon is made of cheese."}, {"search_result_index": 99},
        {"start_block_index": 1, "end_block_index": 1}, {"end_block_index": 999}, {"start_block_index": "0"},
    ],
)  # fmt: skip
def test_a_citation_that_does_not_hold_is_marked(
    make: Make, messages_server: MessagesServer, changes: dict[str, Any]
) -> None:
    messages_server.always(
        cited_reply(lambda r: text("It was invented", cite(r, 0, 0, 1, **changes)), lambda r: text("."))
    )
    pipeline = make()
    answer = pipeline.answer(QUESTION)
    assert answer.rejected is not None and answer.rejected.text == f"It was invented {UNVERIFIED}."
    assert (answer.rejected.citations, answer.unverified, answer.claims) == ((), ("It was invented.",), 1)
    # Nothing supports it, so the answer is the one that needs no model.
    offline = Pipeline(Profile(), pipeline.pack, offline=True).answer(QUESTION)
    assert (answer.text, answer.level, answer.citations) == (offline.text, offline.level, offline.citations)
    assert answer.confidence == pytest.approx(offline.confidence)
    record = synthesis_record(answer)
    assert record.notes["unverified"] == 1
    assert record.warning == "nothing that claude-opus-4-6 wrote could be verified against the pack"


def test_the_request_holds_sections_examples_and_a_cached_prefix(
    make: Make, messages_server: MessagesServer, tmp_path: Path
) -> None:
    examples = tmp_path / "few_shot_examples.json"
    example = {"question": "What is a photon?", "context": {"articles": ["Photon"]}, "answer": "EXAMPLE-ANSWER"}
    examples.write_text(json.dumps({"examples": [example]}))
    messages_server.always(reply(NOT_COVERED))
    pipeline = make(few_shot_path=examples)
    shown = pipeline.request(QUESTION, Trace()).to_dict()
    assert messages_server.requests == []
    answer = pipeline.answer(QUESTION)
    (request,) = messages_server.requests
    assert {"system": request.json["system"], "messages": request.json["messages"]} == shown
    assert shown["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert len(shown["system"]) == 1
    block = shown["messages"][0]["content"][-2]["text"]
    assert block.startswith("<examples>\n") and block.endswith("\n</examples>")
    assert "EXAMPLE-ANSWER" in block
    sent = results_of(request.json)
    assert [block["source"] for block in sent] == [item.section.section_id for item in answer.evidence]
    assert all(block["citations"] == {"enabled": True} and block["content"] for block in sent)
    assert request.json["messages"][0]["content"][-1]["text"] == f"Question: {QUESTION}"
    assert b"sk-secret-key" not in request.raw


def test_what_retrieval_does_not_cover_costs_nothing(make: Make, messages_server: MessagesServer) -> None:
    answer = make().answer(OFF_TOPIC)
    assert (answer.abstained, answer.usage.calls, messages_server.requests) == (True, 0, [])


def test_own_knowledge_is_an_opt_in_and_labeled(make: Make, messages_server: MessagesServer) -> None:
    messages_server.always(reply("Brazil, five times."))
    answer = make(own_knowledge=True).answer(OFF_TOPIC)
    assert answer.query_type == "own_knowledge"
    assert answer.text.startswith(NOT_COVERED)
    assert "not from the pack: Brazil, five times." in answer.text
    assert (answer.citations, answer.confidence) == ((), 0.0)


class TestMarkers:
    """Servers without search-result blocks: numbers in the text, held against the section that they name."""

    def ask(self, make: Make, server: MessagesServer, words: str, *, streamed: bool = False) -> Any:
        server.always(reply(words))
        pieces: list[str] = []
        answer = make(citations="markers").answer(QUESTION, on_text=pieces.append if streamed else None)
        wrote = answer.rejected.text if answer.rejected is not None else answer.text
        assert not streamed or "".join(pieces).strip() == wrote
        return answer

    def test_a_marker_after_the_full_stop_belongs_to_its_sentence(
        self, make: Make, messages_server: MessagesServer
    ) -> None:
        words = "The Davisson–Germer experiment measured the wavelength of electrons. [1] That is it."
        answer = self.ask(make, messages_server, words, streamed=True)
        assert answer.text == "The Davisson–Germer experiment measured the wavelength of electrons [1]. That is it."
        assert len(answer.citations) == 1

    def test_sections_cannot_close_their_block(self, make: Make, messages_server: MessagesServer) -> None:
        self.ask(make, messages_server, NOT_COVERED)
        sent = messages_server.requests[0].json["messages"][0]["content"][0]["text"]
        assert sent.count("<section ") == sent.count("</section>") == sent.count("<") - sent.count("</section>")
        assert results_of(messages_server.requests[0].json) == []


def test_a_server_without_search_results_gets_markers_loudly(make: Make, messages_server: MessagesServer) -> None:
    words = "The Davisson–Germer experiment measured the wavelength of electrons [1]."
    messages_server.always(
        lambda request: status(400, "unknown block") if results_of(request) else reply(words)(request)
    )
    answer = make().answer(QUESTION)
    assert len(messages_server.requests) == 2
    assert len(answer.citations) == 1
    assert answer.trace.degraded
    assert any("numbered in the text" in warning for warning in answer.trace.warnings)
    with pytest.raises(BadRequestError):
        make(citations="native").answer(QUESTION)


def test_a_refusal_for_another_reason_is_not_sent_twice(make: Make, messages_server: MessagesServer) -> None:
    messages_server.always(status(400, "Your credit is too low"))
    with pytest.raises(BadRequestError, match="credit"):
        make().answer(QUESTION)
    assert len(messages_server.requests) == 1


@pytest.mark.parametrize("streamed", [False, True])
class TestWhatNothingSupports:
    """Words of a model that no citation holds: marked, never taken for verified, and nothing after a refusal."""

    def ask(self, make: Make, server: MessagesServer, streamed: bool, *blocks: Any) -> Any:
        server.always(cited_reply(*blocks))
        pieces: list[str] = []
        answer = make().answer(QUESTION, on_text=pieces.append if streamed else None)
        wrote = answer.rejected.text if answer.rejected is not None else answer.text
        assert not streamed or "".join(pieces).strip() == wrote
        return answer

    def test_an_answer_without_citations_does_not_replace_the_one_that_needs_no_model(
        self, make: Make, messages_server: MessagesServer, streamed: bool
    ) -> None:
        answer = self.ask(make, messages_server, streamed, lambda r: text("It was Bob in 1999."))
        assert answer.rejected.text == f"It was Bob in 1999 {UNVERIFIED}."
        assert (answer.unverified, answer.query_type) == (("It was Bob in 1999.",), "extractive")
        assert any("could be verified against the pack" in warning for warning in answer.trace.warnings)

    @pytest.mark.parametrize(
        "claim",
        ["It was Bob", "It was not Davisson and Germer", "Davisson and Germer did in 1928", "Davisson and Bob did"],
    )
    def test_a_citation_of_the_api_must_have_the_names_and_numbers_of_its_claim(
        self, make: Make, messages_server: MessagesServer, streamed: bool, claim: str
    ) -> None:
        answer = self.ask(make, messages_server, streamed, lambda r: text(claim, cite(r, 0, 0, 1)), lambda r: text("."))
        assert answer.rejected.text == f"{claim} {UNVERIFIED}."

    def test_numbers_that_the_model_writes_itself_are_no_citations(
        self, make: Make, messages_server: MessagesServer, streamed: bool
    ) -> None:
        answer = self.ask(
            make,
            messages_server,
            streamed,
            lambda r: text("Davisson and Germer [7] did [2, 3] it [unverified]; see [a] and [8", cite(r, 0, 0, 1)),
            lambda r: text(" 9] too."),
        )
        assert answer.rejected.text == f"Davisson and Germer did it; see [a] and (8 9) too {UNVERIFIED}."

    def test_after_a_refusal_nothing_is_said(self, make: Make, messages_server: MessagesServer, streamed: bool) -> None:
        words = f"{NOT_COVERED} But I remember that it was Bob."
        answer = self.ask(make, messages_server, streamed, lambda r: text(words), lambda r: text(" Bob!"))
        assert (answer.text, answer.query_type, answer.confidence) == (NOT_COVERED, "abstained", 0.0)
        assert (answer.level, answer.context) == ("not_covered", None)
        # What was found without the model comes first among what is nearest.
        assert answer.alternatives[0].span is not None


def test_models_that_are_not_claude_get_markers(make: Make, messages_server: MessagesServer) -> None:
    messages_server.always(reply(NOT_COVERED))
    make(model="gemma").answer(QUESTION)
    assert results_of(messages_server.requests[0].json) == []


def test_a_failure_is_never_an_answer(make: Make, messages_server: MessagesServer) -> None:
    messages_server.always(status(529))
    with pytest.raises(LlmError):
        make().answer(QUESTION)
    messages_server.always(cut_after(3, reply("It was Davisson")))
    with pytest.raises(LlmError):
        make().answer(QUESTION, on_text=lambda _: None)


def test_the_budget_stops_before_the_call(make: Make, messages_server: MessagesServer) -> None:
    messages_server.always(reply(NOT_COVERED))
    with pytest.raises(BudgetError, match="tokens"):
        make(budget=Budget(max_tokens=100)).answer(QUESTION)
    assert messages_server.requests == []


def test_a_cut_answer_says_so(make: Make, messages_server: MessagesServer) -> None:
    messages_server.always(reply("It was", stop_reason="max_tokens"))
    answer = make().answer(QUESTION)
    assert any("cut at 1,024 tokens" in warning for warning in answer.trace.warnings)


def test_a_question_too_long_to_send(make: Make, messages_server: MessagesServer) -> None:
    with pytest.raises(UsageError, match="characters"):
        make().request("spin " * 4_001, Trace())
    with pytest.raises(UsageError, match="characters"):
        make(own_knowledge=True).answer("football " * 2_300)
    assert messages_server.requests == []
