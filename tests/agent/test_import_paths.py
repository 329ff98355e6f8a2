"""Every documented import path works, and both paths of a class give the same class."""

from __future__ import annotations

from importlib import import_module

import pytest

# reference/*.md, and the second paths that the reference documents use for the same classes.
DOCUMENTED = {
    "wikigr.agent.kg_agent": "KnowledgeGraphAgent",
    "wikigr.agent.reranker": "GraphReranker",
    "wikigr.agent.enhancements.graph_reranker": "GraphReranker",
    "wikigr.agent.multi_doc_synthesis": "MultiDocSynthesizer",
    "wikigr.agent.enhancements.multidoc_synthesizer": "MultiDocSynthesizer",
    "wikigr.agent.few_shot": "FewShotManager",
    "wikigr.agent.enhancements.few_shot_manager": "FewShotManager",
    "wikigr.agent.cross_encoder": "CrossEncoderReranker",
    "wikigr.agent.enhancements.cross_encoder": "CrossEncoderReranker",
    "wikigr.embeddings": "EmbeddingGenerator",
}


def test_a_documented_path_imports_the_class(subtests: pytest.Subtests) -> None:
    for module in DOCUMENTED:
        with subtests.test(module=module):
            assert getattr(import_module(module), DOCUMENTED[module]).__name__ == DOCUMENTED[module]


def test_both_paths_of_a_class_give_the_same_class() -> None:
    classes: dict[str, set[type]] = {}
    for module, name in DOCUMENTED.items():
        classes.setdefault(name, set()).add(getattr(import_module(module), name))
    assert len(classes) == 6
    assert [name for name, found in classes.items() if len(found) != 1] == []
