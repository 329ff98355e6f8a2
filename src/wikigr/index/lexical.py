"""BM25 over sections with tantivy (Robertson & Zaragoza 2009; k1 = 1.2, b = 0.75 are tantivy's)."""

from __future__ import annotations

import math
import os
import re
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

from wikigr.errors import BuildError, PackError
from wikigr.index.candidate import Hit

_FIELDS = ["title", "heading", "content"]
# The title and headings name the subject that the text then calls "it".
_BOOSTS = {"title": 0.5, "heading": 0.5, "content": 1.0}
_STEMMED = "en_stem"
_WORD = re.compile(r"\w+")
# Words of a query beyond this are ignored: BM25 over a pasted page finds nothing that its start does not.
MAX_QUERY_WORDS = 64
_WRITER_HEAP = 64_000_000


@lru_cache(maxsize=1)
def _analyzer() -> Any:
    """Return the analysis that the index applies, so that stems agree."""
    import tantivy

    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


def stems(text: str) -> list[str]:
    """Return the stemmed tokens of ``text`` as the lexical index has them."""
    return list(_analyzer().analyze(text))


def _schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("section_id", stored=True, tokenizer_name="raw")
    for name in _FIELDS:
        builder.add_text_field(name, stored=False, tokenizer_name=_STEMMED)
    return builder.build()


class LexicalWriter:
    """Writes an index into a folder; leaving the ``with`` block without an error commits it."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        folder.mkdir(parents=True)
        self._tantivy = tantivy
        self._index = tantivy.Index(_schema(), path=str(folder))
        # One thread: the order of documents, and with it the order of ties, is the order of writing.
        self._writer = self._index.writer(_WRITER_HEAP, 1)

    def add(self, section_id: str, title: str, heading: str, content: str) -> None:
        document = self._tantivy.Document(section_id=section_id, title=title, heading=heading, content=content)
        self._writer.add_document(document)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            return
        try:
            self._writer.commit()
            self._writer.wait_merging_threads()
        except ValueError as failure:
            raise BuildError(f"The lexical index cannot be written: {failure}.") from failure


def query_words(query: str) -> list[str]:
    """Return the words of ``query``; a search takes its first ``MAX_QUERY_WORDS``."""
    return _WORD.findall(query)


class LexicalIndex:
    """An index opened for search."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        try:
            self._index = tantivy.Index.open(str(self._lockable(folder)))
            self._searcher = self._index.searcher()
        except (ValueError, OSError) as error:
            raise PackError(
                f"The lexical index {folder} cannot be opened: {error}.", hint="Build the pack again."
            ) from error

    def _lockable(self, folder: Path) -> Path:
        """Return ``folder``, or a place of links to its files where it is read-only: tantivy makes lock files."""
        if os.access(folder, os.W_OK) or not folder.is_dir():
            return folder
        self._links = TemporaryDirectory(prefix="wikigr-lexical-")
        for file in folder.iterdir():
            if not file.name.startswith(".tantivy-"):
                (Path(self._links.name) / file.name).symlink_to(file.resolve())
        return Path(self._links.name)

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    def frequency(self, stem: str) -> int:
        """Return in how many sections' texts the stemmed word ``stem`` occurs."""
        return int(self._searcher.doc_freq("content", stem))

    def rarity(self, stem: str) -> float:
        """Return the inverse document frequency of ``stem``, above 0 (Robertson and Zaragoza 2009, with a 1 added)."""
        frequency = self.frequency(stem)
        return math.log(1 + (len(self) - frequency + 0.5) / (frequency + 0.5))

    def search(self, query: str, limit: int) -> list[Hit]:
        """Return the best ``limit`` sections by BM25, best first, ties by section id.

        Every word is a plain term: nothing in ``query`` is read as search syntax.
        """
        # Lower case also disarms AND, OR, NOT, IN, which the query parser would read as operators.
        terms = [word.lower() for word in query_words(query)[:MAX_QUERY_WORDS]]
        if not terms or limit < 1:
            return []
        parsed = self._index.parse_query(" ".join(terms), _FIELDS, field_boosts=_BOOSTS)
        hits = self._searcher.search(parsed, limit).hits
        found = [Hit(str(self._searcher.doc(address).get_first("section_id")), float(score)) for score, address in hits]
        return sorted(found, key=lambda hit: (-hit.score, hit.section_id))
