"""Fuzz the reader of a model's reply, and the check of its citations.

A JSON list is the events of a stream, another JSON document is a whole reply, and anything else is the reply's text.
"""

from __future__ import annotations

import json
from typing import get_args

from wikigr.answer.citation_stream import CitationStream
from wikigr.answer.requests import CitationStyle
from wikigr.index.candidate import Candidate, Evidence, Section
from wikigr.llm.redaction import Secrets
from wikigr.llm.reply import (
    BlockEnd,
    Event,
    MalformedReply,
    ReplyReader,
    TextBlock,
    TextDelta,
)

_CONTENT = "Bees make honey in 12 hives. They never sleep. Honey is sweet."
_EVIDENCE = [Evidence(Section("Bees#0", "Bees", "", _CONTENT, "b", 0), Candidate("Bees#0", 1.0))]
_SECRETS = Secrets(["sk-secret-key"])


def TestOneInput(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        _check([TextDelta(text), BlockEnd(TextBlock(text))])
        return
    events: list[Event] = []
    try:
        reader = ReplyReader(events.append, _SECRETS)
        if isinstance(message, list):
            for event in message:
                if isinstance(event, dict):
                    reader.take(event)
        elif isinstance(message, dict):
            reader.read(message)
            again = ReplyReader()
            again.read(reader.to_message())
            assert (again.blocks, again.tool_uses, again.model) == (reader.blocks, reader.tool_uses, reader.model)
    except MalformedReply:
        return
    _check(events)


def _check(events: list[Event]) -> None:
    for style in get_args(CitationStyle):
        pieces: list[str] = []
        stream = CitationStream(_EVIDENCE, style, pieces.append)
        for event in events:
            stream.take(event)
        written = stream.finish()
        assert "".join(pieces).split() == written.text.split()
        for citation in written.citations:
            assert _CONTENT[citation.start : citation.end] == citation.quote
