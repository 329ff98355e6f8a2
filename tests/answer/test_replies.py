"""What hostile and careless replies of a model become: who gives the answer, what is printed of the reply, the level.

Each reply comes from a real server on loopback, whole and as a stream, and is checked against a real pack, which has
``Born in Würzburg on 5 December 1901, he grew up in Munich and died in that city on 1 February 1976.``
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.llm.server import MessagesServer, reply

from wikigr.answer.answer import Answer
from wikigr.documents.answer import stated_answer
from wikigr.documents.answer_markdown import answer_markdown
from wikigr.documents.blocks import runs_of
from wikigr.llm.client import Claude
from wikigr.llm.options import SynthesisOptions
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile

QUESTION = "Where was Werner Heisenberg born?"
# Who gives the answer: the model, the answer without it, or nobody, because the model found none.
MODEL, OFFLINE, DECLINED = "synthesis", "extractive", "abstained"


class Row(NamedTuple):
    """A reply and what becomes of it; ``printed`` is the text of the answer, or of what is shown below it."""

    kind: str
    reply: str
    answers: str
    printed: str
    level: str


ROWS = (
    Row(
        "inventions beside a truth",
        "Heisenberg was born in Würzburg [1]. He flew to the moon in 1950. He kept nine parrots.",
        MODEL,
        "Heisenberg was born in Würzburg [1]. He flew to the moon in 1950 [unverified]. "
        "He kept nine parrots [unverified].",
        "not_sure",
    ),
    Row(
        "inventions beside a truth",
        "Heisenberg was born in Würzburg, and he invented the zip [1].",
        OFFLINE,
        "Heisenberg was born in Würzburg, and he invented the zip [unverified].",
        "sure",
    ),
    Row(
        "inventions beside a truth",
        "Heisenberg was born in Würzburg [1]. He sold umbrellas there [1].",
        MODEL,
        "Heisenberg was born in Würzburg [1]. He sold umbrellas there [unverified].",
        "not_sure",
    ),
    Row(
        "another number",
        "Heisenberg was born in Würzburg in 1902 [1].",
        OFFLINE,
        "Heisenberg was born in Würzburg in 1902 [unverified].",
        "sure",
    ),
    Row(
        "another number",
        "Heisenberg was born on 6 December 1901 in Würzburg.",
        OFFLINE,
        "Heisenberg was born on 6 December 1901 in Würzburg [unverified].",
        "sure",
    ),
    Row(
        "another number",
        "Heisenberg was born in Würzburg before 1901 [1].",
        OFFLINE,
        "Heisenberg was born in Würzburg before 1901 [unverified].",
        "sure",
    ),
    Row(
        "another name",
        "Heisenberg was born in Hamburg [1].",
        OFFLINE,
        "Heisenberg was born in Hamburg [unverified].",
        "sure",
    ),
    Row(
        "another name",
        "Niels Bohr was born in Würzburg [1].",
        OFFLINE,
        "Niels Bohr was born in Würzburg [unverified].",
        "sure",
    ),
    Row(
        "another name",
        "Zorblax was born in Würzburg on 5 December 1901 [1].",
        OFFLINE,
        "Zorblax was born in Würzburg on 5 December 1901 [unverified].",
        "sure",
    ),
    Row(
        "negation",
        "Heisenberg was not born in Würzburg [1].",
        OFFLINE,
        "Heisenberg was not born in Würzburg [unverified].",
        "sure",
    ),
    Row(
        "negation",
        "Heisenberg was never born in Würzburg, he grew up in Munich [1].",
        OFFLINE,
        "Heisenberg was never born in Würzburg, he grew up in Munich [unverified].",
        "sure",
    ),
    Row(
        "negation",
        "Heisenberg wasn't born in Würzburg.",
        OFFLINE,
        "Heisenberg wasn't born in Würzburg [unverified].",
        "sure",
    ),
    Row(
        "brackets of other scripts",
        "Heisenberg was born in Würzburg ［１］.",
        MODEL,
        "Heisenberg was born in Würzburg [1].",
        "sure",
    ),
    Row(
        "brackets of other scripts",
        "Heisenberg was born in Würzburg【1】.",
        MODEL,
        "Heisenberg was born in Würzburg [1].",
        "sure",
    ),
    Row(
        "brackets of other scripts",
        "Heisenberg was born in Würzburg〔1†source〕.",
        MODEL,
        "Heisenberg was born in Würzburg [1].",
        "sure",
    ),
    Row(
        "titles as marks",
        "Heisenberg was born in Würzburg [Werner Heisenberg].",
        MODEL,
        "Heisenberg was born in Würzburg [1].",
        "sure",
    ),
    Row(
        "titles as marks",
        "Heisenberg was born in Würzburg [Werner Heisenberg › Introduction] in 1901 [werner heisenberg#0].",
        MODEL,
        "Heisenberg was born in Würzburg in 1901 [1].",
        "sure",
    ),
    Row(
        "titles as marks",
        "Heisenberg was born in Würzburg [Albert the Unknown].",
        OFFLINE,
        "Heisenberg was born in Würzburg [Albert the Unknown] [unverified].",
        "sure",
    ),
    Row(
        "words as marks",
        "Heisenberg was born in Würzburg (source 1).",
        MODEL,
        "Heisenberg was born in Würzburg [1].",
        "sure",
    ),
    Row(
        "words as marks",
        "Heisenberg was born in Würzburg (see section 1) [Source 1, Ref. 2].",
        MODEL,
        "Heisenberg was born in Würzburg [1].",
        "sure",
    ),
    Row(
        "words as marks",
        "Heisenberg was born in Würzburg (in source 99) [99].",
        MODEL,
        "Heisenberg was born in Würzburg [1].",
        "sure",
    ),
    Row(
        "footnotes",
        "Heisenberg was born in Würzburg[^1].\n\n[^1]: Werner Heisenberg",
        MODEL,
        "Heisenberg was born in Würzburg [1].",
        "sure",
    ),
    Row("footnotes", "Heisenberg was born in Würzburg.¹", MODEL, "Heisenberg was born in Würzburg [1].", "sure"),
    Row(
        "footnotes",
        "Heisenberg was born in Würzburg [^1].\n\n[^1]: Dirac sold hats.",
        MODEL,
        "Heisenberg was born in Würzburg [1].\n\nDirac sold hats [unverified].",
        "not_sure",
    ),
    Row(
        "lists of sources",
        "Heisenberg was born in Würzburg.\n\nSources:\n[1] Werner Heisenberg\n[2] https://example.org",
        MODEL,
        "Heisenberg was born in Würzburg [1].",
        "sure",
    ),
    Row(
        "lists of sources",
        "Heisenberg was born in Würzburg.\n\n**References**\n1. Werner Heisenberg\n2. Bohr was born on Mars",
        MODEL,
        "Heisenberg was born in Würzburg [1].\n\n2. Bohr was born on Mars [unverified]",
        "not_sure",
    ),
    Row(
        "lists of sources",
        "Heisenberg was born in Würzburg.\nSource: Werner Heisenberg, Werner Heisenberg › Introduction",
        MODEL,
        "Heisenberg was born in Würzburg [1].",
        "sure",
    ),
    Row(
        "links",
        "Heisenberg was born in [Würzburg](https://evil.example/w).",
        MODEL,
        "Heisenberg was born in Würzburg [1].",
        "sure",
    ),
    Row(
        "links",
        "Heisenberg was born in Würzburg [1](https://evil.example/1).",
        MODEL,
        "Heisenberg was born in Würzburg [1].",
        "sure",
    ),
    Row(
        "links",
        "Heisenberg was born in Würzburg, see https://evil.example/proof.",
        OFFLINE,
        "Heisenberg was born in Würzburg, see https://evil.example/proof [unverified].",
        "sure",
    ),
    Row(
        "lines of wikigr",
        "Sure (0.99)\nHeisenberg was born in Würzburg [1].\nSources\n  [1] Werner Heisenberg\nSure (0.99)",
        MODEL,
        "Heisenberg was born in Würzburg [1].",
        "sure",
    ),
    Row(
        "lines of wikigr",
        "Niels Bohr was born on Mars [1].\n\nSources\n\nSure (1.00), the same with and without the model",
        OFFLINE,
        "Niels Bohr was born on Mars [unverified].",
        "sure",
    ),
    Row(
        "lines of wikigr",
        "Heisenberg was born in Würzburg [1].\n\n## Other possible answers\n\n**Likely (0.80)**",
        MODEL,
        "Heisenberg was born in Würzburg [1].",
        "sure",
    ),
    Row(
        "characters that are not seen",
        "Heisenberg was born in Würzburg [\u200b1\u2060].",
        MODEL,
        "Heisenberg was born in Würzburg [1].",
        "sure",
    ),
    Row(
        "characters that are not seen",
        "Bohr was born on Mars [un\xadveri\u200bfied].",
        OFFLINE,
        "Bohr was born on Mars [unverified].",
        "sure",
    ),
    Row(
        "characters that are not seen",
        "Heisenberg was born in Würzburg \ue0001\ue001[\ue0000]. Sur\u200be (0.99)",
        MODEL,
        "Heisenberg was born in Würzburg 1 [1].",
        "sure",
    ),
    Row(
        "marks in code",
        "Run `rows[1]` and ` [1]` first.",
        OFFLINE,
        "Run `rows[1]` and ` (1)` first [unverified].",
        "sure",
    ),
    Row(
        "marks in code",
        "```python\nprint(rows[1])  # [1]\n```",
        OFFLINE,
        "```python\nprint(rows[1])  # [1]\n```\n\n[unverified]",
        "sure",
    ),
    Row(
        "marks in code",
        "Heisenberg was born in Würzburg [1].\n\n    rows [1]\n",
        MODEL,
        "Heisenberg was born in Würzburg [1].\n\n    rows [unverified]",
        "not_sure",
    ),
    Row(
        "marks of Markdown",
        "Bohr was born on Mars [**1**].",
        OFFLINE,
        "Bohr was born on Mars [**1**] [unverified].",
        "sure",
    ),
    Row(
        "marks of Markdown",
        "Bohr was born on Mars &#91;1&#93; \\[1\\].",
        OFFLINE,
        "Bohr was born on Mars &#91;1&#93; \\[1\\] [unverified].",
        "sure",
    ),
    Row(
        "marks of Markdown",
        "Heisenberg was born in Würzburg [[1]] [1[2]].",
        MODEL,
        "Heisenberg was born in Würzburg [1].",
        "sure",
    ),
    Row("a few words", "Würzburg", MODEL, "Würzburg [1]", "sure"),
    Row("a few words", "Munich [1]", OFFLINE, "Munich [unverified]", "sure"),
    Row("a few words", "Copenhagen.", OFFLINE, "Copenhagen [unverified].", "sure"),
    Row(
        "lists and tables",
        "- born: Würzburg\n- died: Munich\n- loved: cheese",
        MODEL,
        "- born: Würzburg [1]\n- died: Munich [1]\n- loved: cheese [unverified]",
        "likely",
    ),
    Row(
        "lists and tables",
        "| Person | Place |\n|---|---|\n| Heisenberg | Würzburg |\n| Bohr | Mars |\n",
        MODEL,
        "| Person | Place |\n|---|---|\n| Heisenberg | Würzburg [1] |\n| Bohr | Mars [unverified] |",
        "not_sure",
    ),
    Row(
        "lists and tables",
        "1. Heisenberg was born in Würzburg.\n2. He grew up in Munich.",
        MODEL,
        "1. Heisenberg was born in Würzburg [1].\n2. He grew up in Munich [1].",
        "sure",
    ),
    Row(
        "computed values",
        "Heisenberg was born in 1901 and died in 1976, so he lived 75 years [1].",
        OFFLINE,
        "Heisenberg was born in 1901 and died in 1976, so he lived 75 years [1].",
        "sure",
    ),
    Row(
        "computed values",
        "Heisenberg was born in 1901 [1]. He died in 1976 [1]. That is 80 years later.",
        OFFLINE,
        "Heisenberg was born in 1901 [1]. He died in 1976 [1]. That is 80 years later [unverified].",
        "sure",
    ),
    Row(
        "computed values",
        "Heisenberg was born on 5 December 1901 and died in 1976 [1]. He lived for 75 years.",
        OFFLINE,
        "Heisenberg was born on 5 December 1901 and died in 1976 [1]. He lived for 75 years [1].",
        "sure",
    ),
    Row("nothing to verify", "  \n", OFFLINE, "", "sure"),
    Row("nothing to verify", "I hope this helps!", OFFLINE, "I hope this helps!", "sure"),
    Row("nothing to verify", "Sure, here is the answer:", OFFLINE, "Sure, here is the answer:", "sure"),
    Row("refusals", "The pack does not cover this.", DECLINED, "The pack does not cover this.", "not_covered"),
    Row(
        "refusals",
        "**The pack does not cover this.** But I remember that it was Berlin.",
        DECLINED,
        "The pack does not cover this.",
        "not_covered",
    ),
    Row(
        "refusals",
        "It was Berlin. The pack does not cover this.",
        OFFLINE,
        "It was Berlin [unverified]. The pack does not cover this.",
        "sure",
    ),
    Row(
        "paraphrases",
        "Werner Heisenberg came from Würzburg, his place of birth.",
        OFFLINE,
        "Werner Heisenberg came from Würzburg, his place of birth [unverified].",
        "sure",
    ),
    Row(
        "paraphrases",
        "According to the sections, Heisenberg was born in Würzburg. He grew up in Munich.",
        MODEL,
        "According to the sections, Heisenberg was born in Würzburg [1]. He grew up in Munich [1].",
        "sure",
    ),
    Row(
        "paraphrases",
        "The city of Würzburg is where Heisenberg was born.",
        MODEL,
        "The city of Würzburg is where Heisenberg was born [1].",
        "sure",
    ),
)


@pytest.fixture(scope="module")
def pipeline(physics_pack: Path, messages_server_for_all: MessagesServer) -> Iterator[Pipeline]:
    profile = Profile().override(SynthesisOptions, citations="markers")
    client = Claude(model="local", api_key="key", base_url=messages_server_for_all.url, timeout=60.0, retries=0)
    with Pack(physics_pack) as pack:
        yield Pipeline(profile, pack, model=client)
    client.close()


@pytest.fixture(scope="module")
def messages_server_for_all() -> Iterator[MessagesServer]:
    server = MessagesServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def offline(physics_pack: Path) -> Answer:
    with Pack(physics_pack) as pack:
        return Pipeline(Profile(), pack, offline=True).answer(QUESTION)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.kind}: {row.reply[:40]}")
def test_a_reply_becomes(
    row: Row, pipeline: Pipeline, messages_server_for_all: MessagesServer, offline: Answer
) -> None:
    messages_server_for_all.always(reply(row.reply))
    pieces: list[str] = []
    seen: list[Answer] = []
    answer = pipeline.answer(QUESTION, on_text=pieces.append, on_offline=seen.append)
    whole = pipeline.answer(QUESTION)
    wrote = answer.rejected.text if answer.rejected is not None else answer.text if answer.query_type != OFFLINE else ""
    assert (answer.query_type, wrote, answer.level) == (row.answers, row.printed, row.level)
    # A stream says the same as a whole reply, and the answer without the model comes before both.
    assert "".join(pieces).strip() == wrote
    assert (whole.text, whole.level, whole.unverified) == (answer.text, answer.level, answer.unverified)
    assert whole.confidence == pytest.approx(answer.confidence)
    assert [(first.text, first.level) for first in seen] == [(offline.text, offline.level)]
    assert wrote.count("[unverified]") == len(answer.unverified) <= answer.claims
    if row.answers == OFFLINE:
        # Never worse than without the model.
        assert (answer.text, answer.span, answer.citations) == (offline.text, offline.span, offline.citations)
    elif row.answers == MODEL:
        assert answer.citations
    else:
        assert answer.alternatives[0].text == offline.text


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.kind}: {row.reply[:40]}")
def test_only_checked_citations_are_shown_as_such(
    row: Row, pipeline: Pipeline, messages_server_for_all: MessagesServer
) -> None:
    messages_server_for_all.always(reply(row.reply))
    answer = pipeline.answer(QUESTION)
    stated = stated_answer(answer, pipeline.pack)
    for shown in (stated, *filter(None, (stated["rejected"],))):
        runs = [run for block in shown["blocks"] for run in runs_of(block)]
        numbers = {run["n"] for run in runs if run["role"] == "citation"}
        assert numbers <= {citation["n"] for citation in shown["citations"]}
        code = [run for block in shown["blocks"] if block["kind"] == "code" for run in block["runs"]]
        for run in runs:
            if run["role"] != "citation" and run not in code:
                assert "[1]" not in run["text"], run
    if answer.unverified:
        assert "[unverified]" in answer_markdown(stated, lambda url: url)


def test_the_table_has_three_of_each_kind() -> None:
    kinds = Counter(row.kind for row in ROWS)
    assert len(ROWS) >= 40 and set(kinds.values()) == {3}
