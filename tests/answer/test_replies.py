"""What hostile and careless replies of a model become: who gives the answer, what is printed of the reply, the level.

Each reply comes from a real server on loopback, whole and as a stream, and is checked against a real pack, which has
``Born in Würzburg on 5 December 1901, he grew up in Munich and died in that city on 1 February 1976.``
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.documents.test_blocks import runs_of
from tests.llm.server import MessagesServer, reply

from wikigr.answer.answer import Answer
from wikigr.documents.answer import stated_answer
from wikigr.documents.answer_markdown import answer_markdown
from wikigr.llm.client import Claude
from wikigr.llm.options import SynthesisOptions
from wikigr.pack.open import Corpus, Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile

QUESTION = "Where was Werner Heisenberg born?"
# Who gives the answer: the model, the answer without it, or nobody, because the model found none.
MODEL, OFFLINE, DECLINED = "synthesis", "extractive", "abstained"

# Replies by their kind: the reply, who gives the answer, what is printed of it (the text of the answer, or of what
# is shown below it), and the level if it is not *sure*. A ``~`` stands for ``TRUTH``.
TRUTH = "Heisenberg was born in Würzburg"
TABLE: dict[str, list[tuple[str, ...]]] = {
    "inventions beside a truth": [("~ [1]. He flew to the moon in 1950. He kept nine parrots.", MODEL,
     "~ [1]. He flew to the moon in 1950 [unverified]. He kept nine parrots [unverified].", "not_sure"),
     ("~, and he invented the zip [1].", OFFLINE, "~, and he invented the zip [unverified]."),
     ("~ [1]. He sold umbrellas there [1].", MODEL, "~ [1]. He sold umbrellas there [unverified].", "not_sure")],
    "another number": [("~ in 1902 [1].", OFFLINE, "~ in 1902 [unverified]."),
     ("Heisenberg was born on 6 December 1901 in Würzburg.", OFFLINE,
     "Heisenberg was born on 6 December 1901 in Würzburg [unverified]."),
     ("~ before 1901 [1].", OFFLINE, "~ before 1901 [unverified].")],
    "another name": [("Heisenberg was born in Hamburg [1].", OFFLINE, "Heisenberg was born in Hamburg [unverified]."),
     ("Niels Bohr was born in Würzburg [1].", OFFLINE, "Niels Bohr was born in Würzburg [unverified]."),
     ("Zorblax was born in Würzburg on 5 December 1901 [1].", OFFLINE,
     "Zorblax was born in Würzburg on 5 December 1901 [unverified].")],
    "negation": [("Heisenberg was not born in Würzburg [1].", OFFLINE,
     "Heisenberg was not born in Würzburg [unverified]."),
     ("Heisenberg was never born in Würzburg, he grew up in Munich [1].", OFFLINE,
     "Heisenberg was never born in Würzburg, he grew up in Munich [unverified]."),
     ("Heisenberg wasn't born in Würzburg.", OFFLINE, "Heisenberg wasn't born in Würzburg [unverified].")],
    "brackets of other scripts": [("~ ［１］.", MODEL, "~ [1]."), ("~【1】.", MODEL, "~ [1]."),
     ("~〔1†source〕.", MODEL, "~ [1].")],
    "titles as marks": [("~ [Werner Heisenberg].", MODEL, "~ [1]."),
     ("~ [Werner Heisenberg › Introduction] in 1901 [werner heisenberg#0].", MODEL, "~ in 1901 [1]."),
     ("~ [Albert the Unknown].", OFFLINE, "~ [Albert the Unknown] [unverified].")],
    "words as marks": [("~ (source 1).", MODEL, "~ [1]."), ("~ (see section 1) [Source 1, Ref. 2].", MODEL, "~ [1]."),
     ("~ (in source 99) [99].", MODEL, "~ [1].")],
    "footnotes": [("~[^1].\n\n[^1]: Werner Heisenberg", MODEL, "~ [1]."), ("~.¹", MODEL, "~ [1]."),
     ("~ [^1].\n\n[^1]: Dirac sold hats.", MODEL, "~ [1].\n\nDirac sold hats [unverified].", "not_sure")],
    "lists of sources": [("~.\n\nSources:\n[1] Werner Heisenberg\n[2] https://example.org", MODEL, "~ [1]."),
     ("~.\n\n**References**\n1. Werner Heisenberg\n2. Bohr was born on Mars", MODEL,
     "~ [1].\n\n2. Bohr was born on Mars [unverified]", "not_sure"),
     ("~.\nSource: Werner Heisenberg, Werner Heisenberg › Introduction", MODEL, "~ [1].")],
    "links": [("Heisenberg was born in [Würzburg](https://evil.example/w).", MODEL, "~ [1]."),
     ("~ [1](https://evil.example/1).", MODEL, "~ [1]."),
     ("~, see https://evil.example/proof.", OFFLINE, "~, see https://evil.example/proof [unverified].")],
    "lines of wikigr": [("Sure (0.99)\n~ [1].\nSources\n  [1] Werner Heisenberg\nSure (0.99)", MODEL, "~ [1]."),
     ("Niels Bohr was born on Mars [1].\n\nSources\n\nSure (1.00), the same with and without the model", OFFLINE,
     "Niels Bohr was born on Mars [unverified]."),
     ("~ [1].\n\n## Other possible answers\n\n**Likely (0.80)**", MODEL, "~ [1].")],
    "characters that are not seen": [("~ [\u200b1\u2060].", MODEL, "~ [1]."),
     ("Bohr was born on Mars [un\xadveri\u200bfied].", OFFLINE, "Bohr was born on Mars [unverified]."),
     ("~ \ue0001\ue001[\ue0000]. Sur\u200be (0.99)", MODEL, "~ 1 [1].")],
    "marks in code": [("Run `rows[1]` and ` [1]` first.", OFFLINE, "Run `rows[1]` and ` (1)` first [unverified]."),
     ("```python\nprint(rows[1])  # [1]\n```", OFFLINE, "```python\nprint(rows[1])  # [1]\n```\n\n[unverified]"),
     ("~ [1].\n\n    rows [1]\n", MODEL, "~ [1].\n\n    rows [unverified]", "not_sure")],
    "marks of Markdown": [("Bohr was born on Mars [**1**].", OFFLINE, "Bohr was born on Mars [**1**] [unverified]."),
     ("Bohr was born on Mars &#91;1&#93; \\[1\\].", OFFLINE, "Bohr was born on Mars &#91;1&#93; \\[1\\] [unverified]."),
     ("~ [[1]] [1[2]].", MODEL, "~ [1].")],
    "a few words": [("Würzburg", MODEL, "Würzburg [1]"), ("Munich [1]", OFFLINE, "Munich [unverified]"),
     ("Copenhagen.", OFFLINE, "Copenhagen [unverified].")],
    "lists and tables": [("- born: Würzburg\n- died: Munich\n- loved: cheese", MODEL,
     "- born: Würzburg [1]\n- died: Munich [1]\n- loved: cheese [unverified]", "likely"),
     ("| Person | Place |\n|---|---|\n| Heisenberg | Würzburg |\n| Bohr | Mars |\n", MODEL,
     "| Person | Place |\n|---|---|\n| Heisenberg | Würzburg [1] |\n| Bohr | Mars [unverified] |", "not_sure"),
     ("1. ~.\n2. He grew up in Munich.", MODEL, "1. ~ [1].\n2. He grew up in Munich [1].")],
    "computed values": [("Heisenberg was born in 1901 and died in 1976, so he lived 75 years [1].", OFFLINE,
     "Heisenberg was born in 1901 and died in 1976, so he lived 75 years [1]."),
     ("Heisenberg was born in 1901 [1]. He died in 1976 [1]. That is 80 years later.", OFFLINE,
     "Heisenberg was born in 1901 [1]. He died in 1976 [1]. That is 80 years later [unverified]."),
     ("Heisenberg was born on 5 December 1901 and died in 1976 [1]. He lived for 75 years.", OFFLINE,
     "Heisenberg was born on 5 December 1901 and died in 1976 [1]. He lived for 75 years [1].")],
    "nothing to verify": [("  \n", OFFLINE, ""), ("I hope this helps!", OFFLINE, "I hope this helps!"),
     ("Sure, here is the answer:", OFFLINE, "Sure, here is the answer:")],
    "refusals": [("The pack does not cover this.", DECLINED, "The pack does not cover this.", "not_covered"),
     ("**The pack does not cover this.** But I remember that it was Berlin.", DECLINED, "The pack does not cover this.",
     "not_covered"), ("It was Berlin. The pack does not cover this.", OFFLINE,
     "It was Berlin [unverified]. The pack does not cover this.")],
    "paraphrases": [("Werner Heisenberg came from Würzburg, his place of birth.", OFFLINE,
     "Werner Heisenberg came from Würzburg, his place of birth [unverified]."),
     ("According to the sections, ~. He grew up in Munich.", MODEL,
     "According to the sections, ~ [1]. He grew up in Munich [1]."),
     ("The city of Würzburg is where Heisenberg was born.", MODEL,
     "The city of Würzburg is where Heisenberg was born [1].")],
}  # fmt: skip


class Row(NamedTuple):
    """A reply and what becomes of it."""

    kind: str
    reply: str
    answers: str
    printed: str
    level: str = "sure"


ROWS = [Row(kind, *(part.replace("~", TRUTH) for part in row)) for kind, rows in TABLE.items() for row in rows]


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


def check_stated(answer: Answer, pack: Corpus) -> None:
    """Only checked citations are shown as such."""
    stated = stated_answer(answer, pack)
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


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.kind}: {row.reply[:40]}")
def test_a_reply_becomes(
    row: Row, pipeline: Pipeline, messages_server_for_all: MessagesServer, offline: Answer
) -> None:
    messages_server_for_all.always(reply(row.reply))
    pieces: list[str] = []
    seen: list[Answer] = []
    answer = pipeline.answer(QUESTION, on_text=pieces.append, on_offline=seen.append)
    wrote = answer.rejected.text if answer.rejected is not None else answer.text if answer.query_type != OFFLINE else ""
    assert (answer.query_type, wrote, answer.level) == (row.answers, row.printed, row.level)
    # The answer without the model comes first.
    assert "".join(pieces).strip() == wrote
    assert [(first.text, first.level) for first in seen] == [(offline.text, offline.level)]
    assert wrote.count("[unverified]") == len(answer.unverified) <= answer.claims
    if row.answers == OFFLINE:
        # Never worse than without the model.
        assert (answer.text, answer.span, answer.citations) == (offline.text, offline.span, offline.citations)
    elif row.answers == MODEL:
        assert answer.citations
    else:
        assert answer.alternatives[0].text == offline.text
    check_stated(answer, pipeline.pack)


def test_the_table_has_three_of_each_kind() -> None:
    assert len(ROWS) >= 40 and {len(rows) for rows in TABLE.values()} == {3}
