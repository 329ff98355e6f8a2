"""Read documentation and articles into the passages that a pack would hold."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from wikigr.errors import RecordError
from wikigr.ingest.chunking import chunk_article
from wikigr.sources.article import SourceArticle
from wikigr.sources.detect import open_source

# Pages of a package that hold no prose: listings of source code, indexes and changes.
_SKIPPED_PAGES = re.compile(
    r"(?:^|/)(?:_modules|_sources|_static|changelog|changes|genindex|ix\d+|release|whatsnew)\b|(?:^|/)(?:release-"
    r"|notes\.html)|"
    r"concept_index|options_index"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A section of a page; ``before`` is the heading above its own, ``""`` if there is none."""

    source: str
    page: str
    title: str
    heading: str
    before: str
    text: str


@dataclass(frozen=True, slots=True)
class Package:
    """A Debian package with HTML documentation in the English pages ``pages`` below ``folder``."""

    name: str
    subject: str
    license: str
    folder: str
    pages: str = ""


# ``subject`` is what people call the software in a question.
PACKAGES = (
    Package("apache2-doc", "Apache", "Apache-2.0", "/usr/share/doc/apache2-doc/manual/en"),
    Package("cmake-doc", "CMake", "BSD-3-Clause", "/usr/share/doc/cmake-data/html"),
    Package("postgresql-doc-15", "PostgreSQL", "PostgreSQL", "/usr/share/doc/postgresql-doc-15/html"),
    Package("python-django-doc", "Django", "BSD-3-Clause", "/usr/share/doc/python-django-doc/html"),
    Package("python-sqlalchemy-doc", "SQLAlchemy", "MIT", "/usr/share/doc/python-sqlalchemy-doc/html"),
    Package("python-flask-doc", "Flask", "BSD-3-Clause", "/usr/share/doc/python-flask-doc/html"),
    Package("python-jinja2-doc", "Jinja", "BSD-3-Clause", "/usr/share/doc/python-jinja2-doc/html"),
    Package("python-celery-doc", "Celery", "BSD-3-Clause, CC BY-SA 4.0", "/usr/share/doc/python-celery-doc/html"),
    Package("python-lxml-doc", "lxml", "BSD-3-Clause", "/usr/share/doc/python-lxml/html"),
    Package("python-bs4-doc", "Beautiful Soup", "MIT", "/usr/share/doc/python-bs4-doc/html"),
    Package("python-werkzeug-doc", "Werkzeug", "BSD-3-Clause", "/usr/share/doc/python-werkzeug-doc/html"),
    Package("python-click-doc", "Click", "BSD-3-Clause", "/usr/share/doc/python-click-doc/html"),
    Package("python-requests-doc", "Requests", "Apache-2.0", "/usr/share/doc/python-requests-doc/html"),
    Package("bind9-doc", "BIND", "MPL-2.0", "/usr/share/doc/bind9-doc/arm"),
    Package("haproxy-doc", "HAProxy", "GPL-2+", "/usr/share/doc/haproxy/html"),
    Package("exim4-doc-html", "Exim", "GPL-2+", "/usr/share/doc/exim4-doc-html/spec_html"),
    Package("libvirt-doc", "libvirt", "LGPL-2.1+", "/usr/share/doc/libvirt-doc/html"),
    Package("erlang-doc", "Erlang", "Apache-2.0", "/usr/share/doc/erlang-doc"),
    Package("zsh-doc", "zsh", "MIT-like", "/usr/share/doc/zsh-common/html"),
    Package("debian-reference-en", "Debian", "GPL-2+", "/usr/share/debian-reference", r"\.en\.html"),
    Package("debian-handbook", "Debian", "GPL-2+ or CC BY-SA 3.0", "/usr/share/doc/debian-handbook/html/en-US"),
    Package("developers-reference", "Debian", "GPL-2+", "/usr/share/developers-reference"),
    Package("debian-policy", "Debian", "GPL-2+", "/usr/share/doc/debian-policy", r"(?<!-1)\.html"),
    Package("debian-faq", "Debian", "GPL-2+", "/usr/share/doc/debian/FAQ", r"\.en\.html"),
    Package("aptitude-doc-en", "aptitude", "GPL-2+", "/usr/share/doc/aptitude/html/en"),
    Package("apt-doc", "APT", "GPL-2+", "/usr/share/doc/apt-doc", r"^(?:guide|offline)\.html"),
    Package("installation-guide-amd64", "the Debian installer", "GPL-2+", "/usr/share/doc/installation-guide-amd64/en"),
)


def read_packages(packages: tuple[Package, ...] = PACKAGES) -> Iterator[Passage]:
    """Yield the passages of all ``packages`` that are installed; name the others on stderr."""
    for package in packages:
        if not Path(package.folder).is_dir():
            print(f"Skipped: the Debian package {package.name} is not installed ({package.folder}).", file=sys.stderr)
            continue
        yield from read_folder(Path(package.folder), package.name, package.pages)


def read_folder(folder: Path, name: str, pages: str = "") -> Iterator[Passage]:
    """Yield the passages of the documents below ``folder`` whose paths match the regular expression ``pages``."""
    source = open_source(folder, "html")
    for record in source.records():
        if _SKIPPED_PAGES.search(record.source_id) or not re.search(pages, record.source_id):
            continue
        try:
            articles = [item for item in source.parse(record) if isinstance(item, SourceArticle)]
        except RecordError as error:
            print(f"Skipped: {error.message}", file=sys.stderr)
            continue
        for article in articles:
            yield from passages_of(name, article)


def passages_of(name: str, article: SourceArticle) -> Iterator[Passage]:
    """Yield the sections of ``article`` as a pack holds them."""
    for chunk in chunk_article(article.title, [article]).sections:
        before = chunk.heading_path[-2] if len(chunk.heading_path) > 1 else ""
        yield Passage(name, article.source_id, article.title, chunk.title, before, chunk.content)


# Articles kept for evaluation, and those of the development set.
HELD_OUT = frozenset(
    (
        *("Computational complexity theory", "European Union law", "Fresno, California", "Oxygen", "Private school"),
        *("Victoria (Australia)", "Ray Charles"),
    )
)
MAX_PASSAGES = 4
MIN_PASSAGE_CHARS = 120
_PHYSICS = Path(__file__).parents[2] / "packs" / "physics" / "articles"


def read_articles(data: Path) -> Iterator[Passage]:
    """Yield the first passages of the articles of Wikispeedia below ``data``, without those kept for evaluation."""
    path = data / "wikispeedia" / "articles.jsonl.xz"
    if not path.is_file():
        print(f"Skipped: {path} does not exist.", file=sys.stderr)
        return
    kept = {title.lower() for title in HELD_OUT} | {page.stem.replace("-", " ") for page in _PHYSICS.glob("*.md")}
    source = open_source(path, "jsonl")
    for record in source.records():
        for article in source.parse(record):
            if isinstance(article, SourceArticle) and article.title.replace("-", " ").lower() not in kept:
                short = replace(article, sections=article.sections[:MAX_PASSAGES])
                passages = [p for p in passages_of("wikispeedia", short) if len(p.text) >= MIN_PASSAGE_CHARS]
                yield from passages[:MAX_PASSAGES]
