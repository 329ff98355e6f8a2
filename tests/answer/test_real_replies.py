"""Replies that a real model of 1.5 billion parameters gave to short requests about the demo pack: what becomes of them.

``make bench-model`` asks it; ``real_replies.json`` has what it wrote, word for word.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.llm.chat_api import ChatApi, chat_reply

from wikigr.llm.chat_server import ChatServer
from wikigr.llm.options import SynthesisOptions
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile

REPLIES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("real_replies.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("recorded", REPLIES, ids=lambda recorded: recorded["id"])
def test_a_real_reply_is_checked(pack: Pack, recorded: dict[str, Any]) -> None:
    server = ChatApi()
    server.always(chat_reply(recorded["reply"]))
    profile = load_profile("enhanced").override(SynthesisOptions, citations="short")
    try:
        pipeline = Pipeline(profile, pack, model=ChatServer(model="recorded", base_url=server.base_url))
        answer = pipeline.answer(recorded["question"])
    finally:
        server.close()
    assert (answer.query_type == "synthesis", bool(answer.unverified)) == (recorded["given"], recorded["unverified"])
    # Whatever the model wrote, the answer is not worse than the one without it.
    assert recorded["right"] in answer.text
    assert "[unverified]" not in answer.text
