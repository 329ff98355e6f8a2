"""Descriptions of nodes by the relations at them."""

from __future__ import annotations

from tests.retrieval.explore.films import BELL, entity

from wikigr.embeddings.embedder import Embedder
from wikigr.graph.engine import Graph
from wikigr.retrieval.explore.node_describer import NodeDescriber


def test_a_relation_says_what_its_target_is(graph: Graph, encoder: Embedder) -> None:
    describer = NodeDescriber(encoder, graph)
    assert describer.fit("mayor", entity("Otto Prim")) == 1.0
    assert describer.fit("director", entity("Clara Voss")) == 1.0
    # Kelburg has a mayor, and is not one.
    assert describer.fit("mayor", entity("Kelburg")) < 0.9


def test_other_nouns_are_compared_by_vectors(graph: Graph, encoder: Embedder) -> None:
    describer = NodeDescriber(encoder, graph)
    assert describer.fit("movie", BELL) > describer.fit("river", BELL)
    assert describer.fit("city", entity("Kelburg")) > describer.fit("movie", entity("Kelburg"))


def test_without_a_graph_nothing_fits(encoder: Embedder) -> None:
    describer = NodeDescriber(encoder)
    assert describer.fit("mayor", entity("Otto Prim")) == 0.0
    assert describer.lead_vectors(["The Iron Bell"]) == {}
