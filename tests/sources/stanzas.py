"""A reader of a toy format: a poem whose stanzas are separated by blank lines and begin with their titles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from wikigr.sources.article import RawDocument, SourceArticle, SourceSection


class StanzaSource:
    format = "stanzas"

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def records(self) -> Iterator[RawDocument]:
        for number, stanza in enumerate(self.path.read_text(encoding="utf-8").split("\n\n"), start=1):
            yield RawDocument(str(number), stanza.encode())

    def parse(self, record: RawDocument) -> Iterator[SourceArticle]:
        title, _, text = record.data.decode().partition("\n")
        yield SourceArticle(title, record.source_id, (SourceSection((), text),), tuple(re.findall(r"\[(\w+)\]", text)))
