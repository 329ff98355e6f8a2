"""Aliases in questions that the texts of their articles do not use."""

from __future__ import annotations

import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.retrieval.entity_linking import open_linker, replace_aliases
from wikigr.sources.detect import open_source

NOTES = {
    "pump.md": "---\ntitle: Pump P-101\naliases: [Big Bertha, wasserwerfer]\n---\nIt was installed by Acme.\n",
    "tank.rst": "Tank (water)\n============\n\n:Synonyms: Old Tom\n\nThe tank holds 90 liters.\n",
    "mill.md": "---\naliases: [Grinder, Old Ned]\n---\n# Mill\n\nThe grinder was painted red.\n",
}


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Pack:
    folder = tmp_path_factory.mktemp("aliases")
    (folder / "notes").mkdir()
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(text)
    source = folder / "notes"
    build_pack(open_source(source), str(source), folder / "pack", encoder, BuildOptions(name="notes"))
    return Pack(folder / "pack")


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("Who installed big bertha?", "Who installed Pump P-101?"),
        ("What is Wasserwerfer's age, and Big Bertha's?", "What is Pump P-101's age, and Pump P-101's?"),
        # The text uses these itself, or it is the title.
        ("Who painted the grinder?", "Who painted the grinder?"),
        ("How much does old tom hold?", "How much does old tom hold?"),
        ("Where is the mill?", "Where is the mill?"),
        ("Where is old ned?", "Where is Mill?"),
    ],
)
def test_an_alias_that_no_text_uses_is_read_as_the_title(pack: Pack, question: str, read: str) -> None:
    assert replace_aliases(question, open_linker(pack), pack.text_of) == read


def test_the_synonyms_of_a_document_lead_to_it(pack: Pack) -> None:
    (link,) = open_linker(pack).link_question("How much does old tom hold?")
    assert link.node.label == "Tank (water)"
    assert pack.text_of("No such article") == ""


def test_the_answer_keeps_the_words_of_the_question(pack: Pack) -> None:
    answer = Pipeline(Profile(), pack, offline=True).answer("Who installed big bertha?")
    assert answer.question == "Who installed big bertha?"
    assert answer.span is not None
    assert answer.span.text == "Acme"
