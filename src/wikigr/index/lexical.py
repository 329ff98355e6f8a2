"""Lexical search: BM25 over sections with tantivy (Robertson & Zaragoza 2009; tantivy's k1 = 1.2 and b = 0.75)."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

from wikigr.errors import BuildError, PackError, panics_as
from wikigr.index.candidate import Hit
from wikigr.index.identifiers import find_identifiers, identifiers_in, normal
from wikigr.languages import ENGLISH, Language
from wikigr.text import without_points

CONTENT = "content"
FIELDS = ["title", "heading", CONTENT]
# The title and headings name the subject that the text often refers to as "it".
_BOOSTS = {"title": 0.5, "heading": 0.5, CONTENT: 1.0}
# The identifiers of all three, whole, which the tokenizers of the others split; packs of earlier releases lack it.
EXACT = "exact"
# The tokenizer of English text is tantivy's own; those of other languages are registered when an index is opened.
_STEMMED = "en_stem"
# It drops tokens of so many bytes and more.
_LONG_TOKEN = 40
# Further words of a query are ignored: for a pasted page, BM25 finds no more with the rest than with the beginning.
MAX_QUERY_WORDS = 64


@cache
def _analyzer(language: Language) -> Any:
    """Return an analyzer with the same steps as the index, so that stems agree."""
    import tantivy

    # Python splits the text of other languages than English, see ``_split``.
    tokenizer = tantivy.Tokenizer.simple() if language.is_english else tantivy.Tokenizer.whitespace()
    builder = tantivy.TextAnalyzerBuilder(tokenizer).filter(tantivy.Filter.lowercase())
    if language.stemmer is not None:
        builder = builder.filter(tantivy.Filter.stemmer(language.stemmer))
    return builder.build()


def _split(text: str, language: Language) -> str:
    """Return ``text`` with its tokens separated by spaces, unless tantivy finds them itself."""
    return without_points(text) if language.is_english else " ".join(language.tokens(text))


def _has_token(word: str) -> bool:
    """Return whether the index has a part of ``word``: the parser refuses a query of nothing but, say, a SHA-256."""
    return any(len(part.encode()) < _LONG_TOKEN for part in re.findall(r"[^\W_]+", word))


def stems(text: str, language: Language = ENGLISH) -> list[str]:
    """Return the tokens of ``text``, lower-cased and stemmed as in a lexical index of text in ``language``."""
    return list(_analyzer(language).analyze(_split(text, language)))


def _tokenizer(language: Language) -> str:
    return _STEMMED if language.is_english else language.code


def _schema(language: Language, *, exact: bool) -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("section_id", stored=True, tokenizer_name="raw")
    for name in FIELDS:
        builder.add_text_field(name, stored=False, tokenizer_name=_tokenizer(language))
    if exact:
        builder.add_text_field(EXACT, stored=False, tokenizer_name="whitespace")
    return builder.build()


def _register(index: Any, language: Language) -> None:
    if not language.is_english:
        index.register_tokenizer(_tokenizer(language), _analyzer(language))


def _any_of(clauses: Sequence[Any]) -> Any:
    import tantivy

    return tantivy.Query.boolean_query([(tantivy.Occur.Should, clause) for clause in clauses])


class LexicalWriter:
    """Writes an index of text in ``language`` into the new folder ``folder``, or into memory if it is ``None``.

    It commits when the ``with`` block ends without an error. Without ``exact``, it is an index as earlier releases
    wrote it, with no field of identifiers.
    """

    def __init__(self, folder: Path | None, language: Language = ENGLISH, *, exact: bool = True) -> None:
        import tantivy

        if folder is not None:
            folder.mkdir(parents=True)
        self._tantivy = tantivy
        self._language = language
        self._exact = exact
        self.index = tantivy.Index(_schema(language, exact=exact), path=None if folder is None else str(folder))
        _register(self.index, language)
        # A single thread keeps documents, and therefore ties, in the order of writing.
        self._writer = self.index.writer(64_000_000, 1)

    def add(self, section_id: str, title: str, heading: str, content: str) -> None:
        texts = (title, heading, content)
        fields = dict(zip(FIELDS, (_split(text, self._language) for text in texts), strict=True))
        if self._exact:
            found = (normal(text[start:end]) for text in texts for start, end in find_identifiers(text))
            fields[EXACT] = " ".join(found)
        document = self._tantivy.Document(section_id=section_id, **fields)
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
            raise BuildError(f"Cannot write the lexical index: {failure}.") from failure


def link_index(folder: Path, into: Path) -> None:
    """Fill the folder ``into`` with links to the index in ``folder``; tantivy can then create its lock files there."""
    for file in folder.iterdir():
        if not file.name.startswith(".tantivy-"):
            (into / file.name).symlink_to(file.absolute())


class LexicalIndex:
    """A lexical index of text in ``language`` opened for search.

    Raises ``PackError`` if it cannot be opened, and when it is damaged.
    """

    def __init__(self, folder: Path, language: Language = ENGLISH, *, links: Path | None = None) -> None:
        """Open the index in ``folder``, through the writable folder ``links`` if given; see ``link_index``."""
        import tantivy

        self._folder = folder
        self.language = language
        with self.reading():
            self.index = tantivy.Index.open(str(links or self._writable(folder)))
            _register(self.index, language)
            self.searcher = self.index.searcher()
            self.has_exact = self._has(EXACT)

    def _has(self, field: str) -> bool:
        try:
            self.searcher.doc_freq(field, "")
        except ValueError:
            return False
        return True

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Raise ``PackError`` for the errors and the panics with which tantivy meets a damaged index."""
        try:
            with panics_as(self._damaged):
                yield
        except (ValueError, OSError) as error:
            raise self._damaged(str(error)) from error

    def _damaged(self, cause: str) -> PackError:
        pack = self._folder.parent.name
        return PackError(f"The lexical index of {pack!r} cannot be read: {cause}.", hint="Build the pack again.")

    def _writable(self, folder: Path) -> Path:
        """Return ``folder``, or a temporary folder of links if it is read-only."""
        if os.access(folder, os.W_OK) or not folder.is_dir():
            return folder
        self._links = TemporaryDirectory(prefix="wikigr-lexical-")
        link_index(folder, Path(self._links.name))
        return Path(self._links.name)

    def __len__(self) -> int:
        return int(self.searcher.num_docs)

    def frequency(self, stem: str, field: str = CONTENT) -> int:
        """Return the document frequency of ``stem``: the number of sections whose ``field`` contains it."""
        return self.frequencies([stem], field)[0]

    def frequencies(self, found: Sequence[str], field: str = CONTENT) -> list[int]:
        """Return the document frequency of each of the stems ``found``; much faster than one call per stem."""
        if field == EXACT and not self.has_exact:
            return [0] * len(found)
        with self.reading():
            return [int(self.searcher.doc_freq(field, stem)) for stem in found]

    def rarity(self, stem: str, field: str = CONTENT) -> float:
        """Return the inverse document frequency of ``stem``, which is positive (Robertson & Zaragoza 2009, plus 1)."""
        frequency = self.frequency(stem, field)
        return math.log(1 + (len(self) - frequency + 0.5) / (frequency + 0.5))

    def search(self, query: str, limit: int, phrases: Sequence[str] = ()) -> list[Hit]:
        """Return the best ``limit`` sections by BM25, best first; ties break by section id.

        All words are plain terms: nothing in ``query`` is search syntax. ``phrases`` are words that count more side by
        side.
        """
        terms = self._terms(query)
        if not terms or limit < 1:
            return []
        with self.reading():
            parsed = self.index.parse_query(" ".join(terms), FIELDS, field_boosts=_BOOSTS)
            further = [*self._identified(query, self), *self._side_by_side(phrases)]
            return self._best(_any_of([parsed, *further]) if further else parsed, limit)

    def search_as_part(self, query: str, limit: int, whole: LexicalIndex, phrases: Sequence[str] = ()) -> list[Hit]:
        """Like ``search``, but weight words by their rarity in ``whole``, of which this index is a part.

        Scores of several parts are then on one scale, apart from the average length of a section.
        """
        import tantivy

        if limit < 1:
            return []
        clauses = []
        with self.reading():
            # As in the parser, a repeated word counts once.
            for term in dict.fromkeys(self._terms(query)):
                tokens = stems(term, self.language)
                for field, boost in _BOOSTS.items():
                    # A word with an underscore is a phrase, whose rarity is the sum of those of its parts.
                    own, wanted = (sum(index.rarity(stem, field) for stem in tokens) for index in (self, whole))
                    if tokens and self.frequency(tokens[0], field):
                        clause = self.index.parse_query(term, [field])
                        clauses.append(tantivy.Query.boost_query(clause, boost * wanted / own))
            clauses += [*self._identified(query, whole), *self._side_by_side(phrases)]
            return self._best(_any_of(clauses), limit) if clauses else []

    def _side_by_side(self, phrases: Sequence[str]) -> list[Any]:
        """Return a clause for each of ``phrases`` in each field."""
        import tantivy

        said = list(dict.fromkeys(tuple(stems(phrase, self.language)) for phrase in phrases))
        return [
            tantivy.Query.phrase_query(self.index.schema, field, list(tokens))
            for tokens in said
            if len(tokens) > 1
            for field in FIELDS
        ]

    def _identified(self, query: str, whole: LexicalIndex) -> list[Any]:
        """Return a clause for each identifier of ``query`` that this index has, weighted by its rarity in ``whole``."""
        import tantivy

        clauses = []
        for name in dict.fromkeys(map(normal, identifiers_in(query))) if self.has_exact else ():
            if self.frequency(name, EXACT):
                term = tantivy.Query.term_query(self.index.schema, EXACT, name)
                # Without the length of the field, which says only how many identifiers a section has.
                clauses.append(tantivy.Query.const_score_query(term, whole.rarity(name, EXACT)))
        return clauses

    def _terms(self, query: str) -> list[str]:
        # In lower case, AND, OR, NOT and IN are words rather than operators.
        words = [word.lower() for word in self.language.tokens(query)[:MAX_QUERY_WORDS]]
        return [word for word in words if not self.language.is_english or _has_token(word)]

    def _best(self, parsed: Any, limit: int) -> list[Hit]:
        hits = self.searcher.search(parsed, limit).hits
        ids = [str(self.searcher.doc(address).get_first("section_id")) for _, address in hits]
        found = [Hit(section_id, float(score)) for section_id, (score, _) in zip(ids, hits, strict=True)]
        return sorted(found, key=lambda hit: (-hit.score, hit.section_id))
