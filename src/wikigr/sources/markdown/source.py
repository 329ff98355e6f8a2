"""Read Markdown: markdown-it writes HTML, from which ``html.text`` makes plain text."""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from selectolax.lexbor import LexborHTMLParser

from wikigr.sources.article import Names, RawDocument, SourceSection, Triple
from wikigr.sources.bylines import add_byline
from wikigr.sources.documents import NoteRecord, NoteText, resolved_href, slug_anchors
from wikigr.sources.encodings import decode
from wikigr.sources.facts import MAX_LINE_START, PROPERTIES
from wikigr.sources.formats import format_named
from wikigr.sources.html.document import UNSEEN, HtmlDocument
from wikigr.sources.html.head import find_title
from wikigr.sources.html.markup import prepare_markup
from wikigr.sources.html.text import read_note
from wikigr.sources.markdown.front_matter import FrontMatter, Property, split_front_matter
from wikigr.sources.markdown.syntax import COMMENT, FOOTNOTE_REFERENCE, WIKILINK, note_plugin, wikilink_plugin
from wikigr.sources.plain_text import PlainTextWriter
from wikigr.text import fold

_SUFFIXES = format_named("markdown").suffixes
# Keys of the environment of a rendering: the ``NoteRecord``; afterwards, whether the note has HTML of its own; a block
# of text with the number of superscripts and subscripts in it that are open; the tokens that may name the note; and the
# HTML of the blocks so far.
_NOTE = "wikigr-note"
_OWN_HTML = "wikigr-own-html"
_OPEN_TAGS = "wikigr-open-tags"
_NAMING = "wikigr-naming"
_WRITTEN = "wikigr-written"
# Tokens take a hundred times as much memory as the text of short blocks, so a long note is written in parts.
_MAX_TOKENS = 20_000
_MAX_WHOLE_CHARACTERS = 100_000

_EMBEDDED_FILES = (
    *(".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".pdf"),
    *(".mp3", ".mp4", ".webm", ".wav", ".ogg"),
)
_HTML_COMMENT = re.compile(r"\s*<!--(?!-?>)(?:[^-]|-(?!-!?>))*+-->\s*")
# The only tags within text that change it; what any others enclose is text too, even that of <title> or <script>.
_INLINE_TAG = re.compile(r"<(/?)(br|sup|sub|del|strike|s)(?=[\s/>])", re.IGNORECASE)
# A tab of Docusaurus, whose label is shown.
_TAB = re.compile(r"<TabItem\s(?:[^<>]*?\s)?label=([\"'])([^\"'<>]*)\1[^<>]*>")
_LINK_TAG = re.compile(r"<a\s", re.IGNORECASE)


class MarkdownConverter:
    """Reads Markdown.

    The title comes from the front matter, the first top-level heading or the file name, in this order. Relative links
    become ids, and so do ``[[wiki links]]`` that name a note by its path or file name instead of a title or alias.
    """

    def scan(self, document: RawDocument) -> Names:
        env: dict[str, Any] = {}
        matter, text = split_front_matter(decode(document.source_id, document.data), document.source_id)
        _write(_block_parser(), _block_parser().parse(text, env), env)
        return _names(matter, document.source_id, env)

    def parse_note(self, record: NoteRecord) -> NoteText:
        matter, text = split_front_matter(decode(record.source_id, record.data), record.source_id)
        env: dict[str, Any] = {_NOTE: record}
        if len(text) > _MAX_WHOLE_CHARACTERS:
            # What the definitions of links and notes say must be known before the first part is written.
            _block_parser().parse(text, env)
            env = {key: value for key, value in env.items() if key not in (_NAMING, _WRITTEN)}
        _write(_parser(), _parser().parse(text, env), env)
        names = _names(matter, record.source_id, env)
        page = HtmlDocument("".join(env[_WRITTEN]), is_note=True, has_boilerplate=_OWN_HTML in env)
        sections, hrefs = read_note(page, names.heading or record.title, slug_anchors())
        links = record.targets(hrefs, _SUFFIXES)
        sections, facts = _with_properties(add_byline(sections, matter.byline), matter.properties, record)
        linked = (fact.object_link for fact in facts if fact.object_link)
        links = tuple(dict.fromkeys((*links, *linked)))
        return NoteText(sections, links, names.aliases, matter.categories, matter.url, triples=facts)


def note_html(text: str, record: NoteRecord) -> str:
    """Return Markdown without front matter as HTML for ``read_note``; links are resolved as those of ``record``."""
    env: dict[str, Any] = {_NOTE: record}
    _write(_parser(), _parser().parse(text, env), env)
    return "".join(env[_WRITTEN])


def _write(parser: MarkdownIt, tokens: Sequence[Token], env: MutableMapping[str, Any]) -> None:
    """Keep the HTML of the next blocks of a note, and those of their tokens that may name it."""
    kept = env.setdefault(_NAMING, [])
    for position, token in enumerate(tokens):
        is_title = token.type == "heading_open" and token.tag == "h1"
        if is_title or not kept or (token.type == "html_block" and "<h1" in token.content.lower()):
            kept += tokens[position : position + 1 + is_title]
    if "inline" in parser.get_active_rules()["core"]:
        env.setdefault(_WRITTEN, []).append(parser.renderer.render(tokens, parser.options, env))


def _write_part(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    if not silent and state.level == 0 and len(state.tokens) > _MAX_TOKENS:
        part = StateCore("", state.md, state.env, state.tokens[:])
        state.tokens.clear()
        _, _, *rules = state.md.core.ruler.getRules("")  # all but those that make blocks
        for rule in rules:
            rule(part)
        _write(state.md, part.tokens, state.env)
    return False


def _names(matter: FrontMatter, source_id: str, env: dict[str, Any]) -> Names:
    tokens: list[Token] = env[_NAMING]
    heading = _title_heading(tokens, source_id, env)
    # The title in the front matter replaces a heading that opens the text; the heading becomes an alias.
    top = [token for token in tokens if token.type == "heading_open" and token.tag == "h1"]
    if matter.title and len(top) == 1 and tokens[0] is top[0]:
        alias = (heading,) if heading and fold(heading) != fold(matter.title) else ()
        return Names(matter.title, heading, (*matter.aliases, *alias))
    title = matter.title or heading
    return Names(title, title, matter.aliases)


def _with_properties(
    sections: tuple[SourceSection, ...], properties: Sequence[Property], record: NoteRecord
) -> tuple[tuple[SourceSection, ...], tuple[Triple, ...]]:
    """Return ``sections`` with the properties of the note after its lead, one a line, and the facts that they are."""
    facts: list[Triple] = []
    writer = PlainTextWriter("")
    writer.heading(1, PROPERTIES)
    for stated in properties:
        shown = ", ".join(stated.texts)
        writer.add_property(stated.name, shown)
        for text, target in zip(stated.texts, stated.targets, strict=True):
            link = record.notes.resolve(record.source_id, target) if target else None
            line = f"{stated.name}: {shown}"[:MAX_LINE_START]
            facts.append(Triple(record.title, stated.name, text, link, line))
    leads = 1 if sections and not sections[0].heading_path else 0
    return (*sections[:leads], *writer.sections(), *sections[leads:]), tuple(facts)


def _title_heading(tokens: Sequence[Token], source_id: str, env: dict[str, Any]) -> str:
    for position, token in enumerate(tokens):
        title = ""
        if token.type == "heading_open" and token.tag == "h1":
            # The block parser leaves inline text unparsed.
            markup = _parser().renderInline(tokens[position + 1].content, dict(env))
            heading = HtmlDocument(markup, is_note=True, has_boilerplate=False)
            title = heading.flat_text(heading.content)
        elif token.type == "html_block" and "<h1" in token.content.lower():
            title = find_title(HtmlDocument(token.content, source_id))
        if title:
            return title
    return ""


@cache
def _parser() -> MarkdownIt:
    """Return a parser that renders balanced HTML for ``read_note``, with all links resolved or as written."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    # Formulas are kept as written; without the plugin, their underscores and backslashes would be markup.
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False)
    parser.use(wikilink_plugin).use(note_plugin).use(deflist_plugin)
    parser.block.ruler.before("deep", "part", _write_part)
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


@cache
def _block_parser() -> MarkdownIt:
    """Return a parser that finds headings but does not parse inline text, which is much faster."""
    parser = MarkdownIt("commonmark").disable(["inline", "text_join"])
    parser.use(note_plugin).use(deflist_plugin)
    parser.block.ruler.before("deep", "part", _write_part)
    return parser


def _html_block(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    """Return a block of HTML with balanced tags, so that it does not enclose or continue in what comes after it."""
    markup = tokens[index].content
    if _HTML_COMMENT.fullmatch(markup):
        return markup
    env[_OWN_HTML] = True
    markup = _TAB.sub(r"<p>\2</p>", markup)
    body = LexborHTMLParser(prepare_markup(markup, env[_NOTE].source_id)).body
    return f"<div>{body.inner_html}</div>" if body is not None else ""


def _html_inline(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    content = tokens[index].content
    tag = _INLINE_TAG.match(content)
    if tag is None and _is_footnote_link(tokens, index):
        return content
    if tag is None or tag[2].lower() == "br":
        return "<br>" if tag else ""
    env[_OWN_HTML] = True
    block, depth = env.get(_OPEN_TAGS, (None, 0))
    depth = depth if block is tokens else 0
    is_end = bool(tag[1])
    env[_OPEN_TAGS] = tokens, max(depth + (-1 if is_end else 1), 0)
    # An unclosed <s>, unlike <del>, would be opened again in the next block.
    name = tag[2] if tag[2].lower().startswith("su") else "del"
    # The parser takes quadratic time in the depth.
    return f"<{tag[1]}{name}>" if depth + (not is_end) <= 8 else ""


def _is_footnote_link(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a tag begins or ends the link in ``<sup><a href="#note">1</a></sup>``."""
    start = index if _LINK_TAG.match(tokens[index].content) else index - 2
    around = tokens[start - 1 : start + 4] if start > 0 else []
    if [token.type for token in around] != ["html_inline", "html_inline", "text", "html_inline", "html_inline"]:
        return False
    tags = [around[number].content.lower() for number in (0, 1, 3, 4)]
    return tags[0].startswith("<sup") and tags[1].startswith("<a") and tags[2:] == ["</a>", "</sup>"]


def _wikilink(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    target = str(token.meta["target"])
    # ![[picture.png]] embeds a file; ![[Note]] and ![[v1.2 notes]] link to a page.
    if token.meta["is_embed"] and target.lower().endswith(_EMBEDDED_FILES):
        return UNSEEN
    note: NoteRecord | None = env.get(_NOTE)
    href = resolved_href(note.notes.resolve(note.source_id, target)) if target and note is not None else "#"
    return f'<a href="{escapeHtml(href)}">{escapeHtml(token.content)}</a>'


def _paragraph_close(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    if not tokens[index].hidden:
        return "</p>"
    # What separated two paragraphs of a list without blank lines may be a comment.
    return "<br>" if index + 1 < len(tokens) and tokens[index + 1].type == "paragraph_open" else ""


def _text(form: str) -> Callable[..., str]:
    return lambda renderer, tokens, index, options, env: form.format(escapeHtml(tokens[index].content))


_RULES: dict[str, Callable[..., str]] = {
    "html_block": _html_block,
    "html_inline": _html_inline,
    "image": lambda renderer, tokens, index, *more: renderer.renderInline(tokens[index].children or [], *more),
    "paragraph_close": _paragraph_close,
    "math_inline": _text("${}$"),
    "math_inline_double": _text("$${}$$"),
    "math_block": _text("<pre>$${}$$</pre>"),
    "math_block_label": _text("<pre>$${}$$</pre>"),
    "footnote_reference_open": lambda renderer, tokens, index, *more: (
        f'<aside role="doc-footnote" data-label="{escapeHtml(tokens[index].meta["label"])}">'
    ),
    "footnote_reference_close": _text("</aside>"),
    COMMENT: _text(UNSEEN),
    FOOTNOTE_REFERENCE: _text(UNSEEN),
    WIKILINK: _wikilink,
}
