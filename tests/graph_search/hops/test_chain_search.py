"""Which further questions are asked, by what the reader found so far."""

from __future__ import annotations

from wikigr.graph_search.hops.chain_search import ChainSearch, HopsOptions
from wikigr.graph_search.hops.one_hop import Reading
from wikigr.index.candidate import Section
from wikigr.question.decomposition import decompose
from wikigr.reader.passage import Span
from wikigr.retrieval.chain import Hop

PEOPLE = ("Ada Holm", "Bo Lind", "Cy Moss")


def asked(probabilities: tuple[float, ...], *, known: bool = True, dead_end: bool = False) -> list[str]:
    """Return the further questions if each of ``PEOPLE`` answers the description with one of ``probabilities``.

    Nothing in the pack has the name of the first one if not ``known``, and a ``dead_end`` says nothing about them.
    """

    def read(question: str, *, limit: int) -> Reading:
        if dead_end and PEOPLE[0] in question:
            return Reading((), ())
        names = PEOPLE if "discovered" in question else ("Uppsala",)
        hops = []
        for name, probability in zip(names, probabilities, strict=False):
            content = f"{name} answers this: {question}"
            section = Section(f"{name}#0", content, "", content, "1", 0)
            span = Span(0, len(name), 1.0)
            hops.append(Hop(question, name, section, 0, len(content), span, known or name != PEOPLE[0], probability))
        return Reading((), tuple(hops[:limit]))

    decompositions = decompose("In which town was the chemist born who discovered holmium?")
    search = ChainSearch(read, HopsOptions(), lambda: 0.0)
    search.chains(None, decompositions)
    return [question for question in search.searches if question.startswith("In which town")]


def test_what_is_unlikely_to_be_described_is_not_asked_about() -> None:
    about = [f"In which town was {name} born?" for name in PEOPLE]
    assert asked((0.9, 0.5, 0.2)) == about
    assert asked((0.9, 0.5, 0.08)) == about[:2]
    assert asked((0.9, 0.08, 0.08)) == about[:1]
    # The likeliest is worth less if nothing in the pack has its name.
    assert asked((0.9, 0.08, 0.08), known=False) == about
    # The likeliest leads nowhere.
    assert asked((0.9, 0.08, 0.07), dead_end=True) == about[:2]
    # All may be unlikely.
    assert asked((0.04, 0.03, 0.02)) == about
