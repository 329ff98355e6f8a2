"""Short requests for small models: what they hold, and how their replies are read; with a real pack and server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.llm.chat_api import ChatApi, chat_error, chat_reply
from tests.llm.server import Response

from wikigr.answer.abstention import NOT_COVERED
from wikigr.answer.answer import Answer
from wikigr.answer.requests import estimate_tokens
from wikigr.llm.chat_server import ChatServer
from wikigr.llm.options import ModelFileOptions, SynthesisOptions
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile
from wikigr.retrieval.trace import Trace

QUESTION = "Who measured the wavelength of the electron?"


@pytest.fixture
def server() -> Iterator[ChatApi]:
    api = ChatApi()
    yield api
    api.close()


Make = Callable[..., Pipeline]


@pytest.fixture
def make(pack: Pack, server: ChatApi) -> Make:
    def build(tokens: int = 1200, citations: str = "short", **options: Any) -> Pipeline:
        profile = load_profile("enhanced").override(SynthesisOptions, citations=citations, **options)
        profile = profile.override(ModelFileOptions, prompt_tokens=tokens)
        return Pipeline(profile, pack, model=ChatServer(model="small", base_url=server.base_url))

    return build


def said(quotation: str, section: int, answer: str) -> str:
    return json.dumps({"quotation": quotation, "section": section, "answer": answer})


def first_sentence(request: dict[str, Any], fence: str = "") -> Response:
    """Answer with the first sentence of the first section."""
    content = request["messages"][-1]["content"]
    sentence = content.partition(">\n")[2].partition(". ")[0] + "."
    text = said(sentence, 1, sentence)
    return chat_reply(f"```json\n{text}\n```" if fence else text)(request)


def test_the_prompt_begins_with_what_never_changes_and_stays_within_its_limit(make: Make) -> None:
    questions = (QUESTION, "Where was Werner Heisenberg born?", "What is entanglement?", "Who composed Carmen?")
    systems = set()
    for tokens in (600, 1200):
        for question in questions:
            request = make(tokens).request(question, Trace())
            (system,), (message,) = request.system, request.messages
            systems.add(system["text"])
            assert estimate_tokens(system["text"] + message["content"]) <= tokens
            assert message["content"].endswith(f"\nQuestion: {question}")
            count = len(request.evidence)
            assert message["content"].count("<section number=") == count >= 1
            assert request.response_format is not None
            schema = request.response_format["json_schema"]["schema"]
            assert schema["properties"]["section"]["enum"] == list(range(count + 1))
    assert len(systems) == 1


def test_a_likely_answer_needs_few_sections_and_a_small_limit_cuts_them(make: Make) -> None:
    wide, narrow = (make(tokens).request(QUESTION, Trace()) for tokens in (4000, 500))
    everything = make(citations="markers").request(QUESTION, Trace())
    assert 1 <= len(narrow.evidence) <= len(wide.evidence) < len(everything.evidence)
    (shown,) = (message["content"] for message in narrow.messages)
    # The sentence that answers is among what is left.
    assert "Davisson" in shown


def test_a_quotation_becomes_a_checked_claim_with_its_section(make: Make, server: ChatApi) -> None:
    for fence in ("", "json"):
        server.script(partial(first_sentence, fence=fence))
        answer = make().answer(QUESTION)
        section = answer.citations[0].section_id if answer.citations else ""
        assert (answer.unverified, section) == ((), make().request(QUESTION, Trace()).evidence[0].section.section_id)
    assert server.requests[-1].json["response_format"]["type"] == "json_schema"


def ask(make: Make, server: ChatApi, content: str) -> Answer:
    server.script(chat_reply(content))
    return make().answer(QUESTION, on_text=lambda _: None)


def test_a_reply_of_no_section_declines(make: Make, server: ChatApi) -> None:
    for content in (said("", 0, ""), said("", 0, "Nobody did."), said("", 1, " ")):
        answer = ask(make, server, content)
        assert (answer.text, answer.abstained, answer.confidence) == (NOT_COVERED, True, 0.0)


def test_an_invention_and_another_format_are_not_verified(make: Make, server: ChatApi) -> None:
    for content in (
        said("x", 1, "Ada Quill did in 1799."),
        said("x", 999, "Ada Quill did."),
        '{"quotation": "Ada Quill',
    ):
        answer = ask(make, server, content)
        assert answer.unverified
        assert "Quill" not in answer.text


def test_a_server_without_formats_is_asked_without_one(make: Make, server: ChatApi) -> None:
    def refuses(request: dict[str, Any]) -> Response:
        if "response_format" in request:
            return chat_error(400, "This server does not support response_format.")
        return first_sentence(request, "json")

    server.always(refuses)
    assert make().answer(QUESTION).citations
    assert len(server.requests) == 2


@pytest.mark.parametrize("citations", ["markers", "native"])
def test_examples_cite_as_the_rules_say(make: Make, tmp_path: Path, pack: Pack, citations: str) -> None:
    example = {
        "question": "What is a photon?",
        "context": {"articles": ["Photon", "Light [1]"], "facts": ["A photon is a quantum."]},
        "answer": "A quantum of light [Photon]. It has no mass [Nothing], and no charge [Photon].",
    }
    file = tmp_path / "few_shot_examples.json"
    file.write_text(json.dumps([example]))
    profile = load_profile("enhanced").override(SynthesisOptions, citations=citations)
    shown = Pipeline(profile, pack, few_shot_path=file).request(QUESTION, Trace()).messages[0]["content"]
    block = shown[-2]["text"]
    if citations == "markers":
        assert "A quantum of light [1]. It has no mass [Nothing], and no charge [1]." in block
        assert "[1: Photon]" in block
    else:
        assert "A quantum of light. It has no mass [Nothing], and no charge." in block
        assert "[Photon]" in block


def test_one_sentence_does_not_replace_steps(server: ChatApi, pack_of: Callable[..., Path]) -> None:
    text = (
        "# Priming the pump\n\nTo prime the pump:\n\n1. Close the outlet valve.\n2. Fill the casing with water.\n"
        "3. Start the motor.\n4. Open the outlet valve slowly.\n\n# The motor\n\nThe motor weighs 12 kg.\n"
    )
    server.always(chat_reply(said("Close the outlet valve.", 1, "Close the outlet valve.")))
    profile = load_profile("enhanced").override(SynthesisOptions, citations="short")
    with Pack(pack_of("pump", {"pump.md": text})) as built:
        pipeline = Pipeline(profile, built, model=ChatServer(model="small", base_url=server.base_url))
        steps = pipeline.answer("How do I prime the pump?")
        assert (steps.kind in ("steps", "list"), "Open the outlet valve slowly" in steps.text) == (True, True)
        assert server.requests == []
        pipeline.answer("How much does the motor weigh?")
        assert len(server.requests) == 1


def test_a_long_block_is_cut(pack_of: Callable[..., Path]) -> None:
    listing = "\n".join(f"    set_valve({n}, pressure={n * 7})" for n in range(400))
    note = f"# Valve settings\n\nThe settings of the valves:\n\n```\n{listing}\n```\n"
    profile = load_profile("enhanced").override(SynthesisOptions, citations="short")
    with Pack(pack_of("valves", {"valves.md": note})) as built:
        request = Pipeline(profile, built).request("What are the settings of the valves?", Trace())
    text = request.system[0]["text"] + request.messages[0]["content"]
    assert estimate_tokens(text) <= 1200
    assert "set_valve(" in text
