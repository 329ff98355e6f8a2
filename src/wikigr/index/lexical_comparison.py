"""Compare a stored lexical index with one rebuilt from the same sections."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikigr.index.lexical import EXACT, FIELDS, LexicalIndex, LexicalWriter

# Terms per query.
_BATCH = 1_000
# Relative, because the order in which a sum is computed decides its last digits.
_TOLERANCE = 1e-4


def lexical_difference(stored: LexicalIndex, sections: Iterable[tuple[str, str, str, str]]) -> str | None:
    """Return how ``stored`` differs from an index of ``sections`` (id, title, heading, content), or ``None``.

    Every document, term, posting list, length and position is read. Two indexes are the same if they have the same
    documents, the same terms with the same document frequencies, the same scores of all documents for groups of terms
    with distinct weights, and as many documents that repeat a term. Other differences between positions are not found.
    Memory use: an index of ``sections``, and all terms. Raises ``PackError`` when the stored index is damaged.
    """
    with LexicalWriter(None, stored.language, exact=stored.has_exact) as writer:
        for section in sections:
            writer.add(*section)
    writer.index.reload()
    with stored.reading():
        if stored.index.schema != writer.index.schema:
            return "its fields differ from those of a new index"
        rebuilt = _Documents(writer.index.searcher())
        found = _Documents(stored.searcher)
        numbers = {section_id: number for number, section_id in enumerate(rebuilt.section_ids)}
        order = [numbers.get(section_id, -1) for section_id in found.section_ids]
        if sorted(order) != list(range(len(numbers))):
            return "it does not contain exactly the sections of the database"
        for field in (*FIELDS, *([EXACT] if stored.has_exact else [])):
            terms = rebuilt.terms(field)
            if found.terms(field) != terms:
                return f"the terms of its field {field} differ from those in the database"
            for first in range(0, len(terms), _BATCH):
                batch = terms[first : first + _BATCH]
                query = _Query(writer.index.schema, field, batch)
                if not np.allclose(found.scores(query), rebuilt.scores(query)[order], _TOLERANCE, _TOLERANCE):
                    return f"searches in its field {field} do not find what the database contains"
                if found.repetitions(query) != rebuilt.repetitions(query):
                    return f"the positions in its field {field} differ from those in the database"
    return None


class _Query:
    """Queries for ``terms``, which are pairs of a term and its document frequency, in one field."""

    def __init__(self, schema: Any, field: str, terms: list[tuple[str, int]]) -> None:
        from tantivy import Occur, Query

        postings = [Query.term_query(schema, field, term) for term, _ in terms]
        # Distinct weights tell terms with equal scores apart.
        weighted = [Query.boost_query(term, 1 + number / _BATCH) for number, term in enumerate(postings)]
        self.postings = Query.boolean_query([(Occur.Should, query) for query in weighted])
        self.max_matches = sum(frequency for _, frequency in terms)
        # A phrase of a term and itself reads all positions of the term.
        phrases = [Query.phrase_query(schema, field, [term, term]) for term, _ in terms]
        self.repetitions = Query.boolean_query([(Occur.Should, query) for query in phrases])


class _Documents:
    """The documents of an index, which are numbered."""

    def __init__(self, searcher: Any) -> None:
        from tantivy import Query

        self._searcher = searcher
        self._numbers: dict[tuple[int, int], int] = {}
        self.section_ids: list[str] = []
        for _, address in searcher.search(Query.all_query(), max(1, searcher.num_docs)).hits:
            self._numbers[address.segment_ord, address.doc] = len(self.section_ids)
            self.section_ids.append(str(searcher.doc(address).get_first("section_id")))

    def terms(self, field: str) -> list[tuple[str, int]]:
        """Return all terms of ``field`` with their document frequencies, the most frequent first."""
        return list(self._searcher.terms_with_prefix(field, ""))

    def scores(self, query: _Query) -> NDArray[np.float64]:
        """Return the score of every document, 0 without a match; raises ``ValueError`` for too many matches."""
        found = self._searcher.search(query.postings, min(query.max_matches, len(self.section_ids)))
        scores = np.zeros(len(self.section_ids))
        for score, address in found.hits:
            scores[self._numbers[address.segment_ord, address.doc]] = score
        if found.count != len(found.hits):
            raise ValueError("a term is in more documents than its document frequency")
        return scores

    def repetitions(self, query: _Query) -> int:
        """Return the number of documents in which a term follows itself."""
        return int(self._searcher.search(query.repetitions, 1).count)
