"""Read Markdown notes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from wikigr.sources.anchors import slug_anchors
from wikigr.sources.article import Names, RawDocument
from wikigr.sources.bylines import add_byline
from wikigr.sources.documents import NoteRecord, NoteText, decode_note
from wikigr.sources.formats import format_named
from wikigr.sources.html.document import HtmlDocument
from wikigr.sources.html.text import parse_html_head, read_note
from wikigr.sources.markdown.front_matter import FrontMatter, parse_front_matter
from wikigr.sources.markdown.html import NOTE, OWN_HTML, rendering_plugin
from wikigr.sources.markdown.syntax import note_plugin, wikilink_plugin
from wikigr.text import fold

_SUFFIXES = format_named("markdown").suffixes


class MarkdownConverter:
    """Reads Markdown.

    The title comes from the front matter, the first top-level heading or the file name, in this order. Relative links
    become ids, and so do ``[[wiki links]]`` that name a note by its path or file name instead of a title or alias.
    """

    def scan(self, document: RawDocument) -> Names:
        env: dict[str, Any] = {}
        tokens = _block_parser().parse(decode_note(document.source_id, document.data), env)
        return _names(tokens, _front_matter(tokens, document.source_id), document.source_id, env)

    def parse_note(self, record: NoteRecord) -> NoteText:
        env: dict[str, Any] = {NOTE: record}
        parser = _parser()
        tokens = parser.parse(decode_note(record.source_id, record.data), env)
        matter = _front_matter(tokens, record.source_id)
        names = _names(tokens, matter, record.source_id, env)
        markup = parser.renderer.render(tokens, parser.options, env)
        page = HtmlDocument(markup, is_note=True, has_boilerplate=OWN_HTML in env)
        sections, hrefs = read_note(page, names.heading or record.title, slug_anchors())
        links = record.targets(hrefs, _SUFFIXES)
        return NoteText(add_byline(sections, matter.byline), links, names.aliases, matter.categories, matter.url)


def note_html(text: str, record: NoteRecord) -> str:
    """Return Markdown without front matter as HTML for ``read_note``; links are resolved as those of ``record``."""
    return str(_parser().render(text, {NOTE: record}))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    # Formulas are kept as written; without the plugin, their underscores and backslashes would be markup.
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False)
    parser.use(front_matter_plugin).use(wikilink_plugin).use(note_plugin).use(deflist_plugin)
    return parser.use(rendering_plugin)


@cache
def _block_parser() -> MarkdownIt:
    """Return a parser that finds headings but does not parse inline text, which is much faster."""
    return (
        MarkdownIt("commonmark")
        .disable(["inline", "text_join"])
        .use(front_matter_plugin)
        .use(note_plugin)
        .use(deflist_plugin)
    )


def _names(tokens: Sequence[Token], matter: FrontMatter, source_id: str, env: dict[str, Any]) -> Names:
    heading = _title_heading(tokens, source_id, env)
    # The title in the front matter replaces a heading that opens the text; the heading becomes an alias.
    if matter.title and _opens_with_heading(tokens):
        alias = (heading,) if heading and fold(heading) != fold(matter.title) else ()
        return Names(matter.title, heading, (*matter.aliases, *alias))
    title = matter.title or heading
    return Names(title, title, matter.aliases)


def _front_matter(tokens: Sequence[Token], source_id: str) -> FrontMatter:
    if tokens and tokens[0].type == "front_matter":
        return parse_front_matter(tokens[0].content, source_id)
    return FrontMatter()


def _title_heading(tokens: Sequence[Token], source_id: str, env: dict[str, Any]) -> str:
    """Return the text of the first top-level heading in Markdown or HTML; ``env`` holds link definitions."""
    for position, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h1":
            # The block parser leaves inline text unparsed.
            markup = _parser().renderInline(tokens[position + 1].content, dict(env))
            heading = HtmlDocument(markup, is_note=True, has_boilerplate=False)
            text = heading.flat_text(heading.content)
            if text:
                return text
        if token.type == "html_block" and "<h1" in token.content.lower():
            title = parse_html_head(token.content, where=source_id).title
            if title:
                return title
    return ""


def _opens_with_heading(tokens: Sequence[Token]) -> bool:
    """Return whether the text begins with its only top-level heading."""
    blocks = [token for token in tokens if token.type != "front_matter"]
    top = [token for token in blocks if token.type == "heading_open" and token.tag == "h1"]
    return len(top) == 1 and blocks[0] is top[0]
