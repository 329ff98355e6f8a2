"""Write a Markdown note as HTML, from which ``html/text.py`` makes plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from selectolax.lexbor import LexborHTMLParser

from wikigr.sources.documents import NoteRecord, resolved_href
from wikigr.sources.html.document import UNSEEN
from wikigr.sources.html.markup import prepare_markup
from wikigr.sources.markdown.syntax import COMMENT, FOOTNOTE_REFERENCE, WIKILINK

# Keys of the environment of a rendering: the ``NoteRecord``, and, afterwards, whether the note has HTML of its own.
NOTE = "wikigr-note"
OWN_HTML = "wikigr-own-html"
# The key of a block of text, and of the number of superscripts and subscripts in it that are open.
_OPEN_TAGS = "wikigr-open-tags"
_MAX_OPEN_TAGS = 8

_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".pdf")
_RECORDINGS = (".mp3", ".mp4", ".webm", ".wav", ".ogg")
_HTML_COMMENT = re.compile(r"\s*<!--(?!-?>)(?:[^-]|-(?!-!?>))*+-->\s*")
# The only tags within text that change it; what any others enclose is text too, even that of <title> or <script>.
_INLINE_TAG = re.compile(r"<(/?)(br|sup|sub)(?=[\s/>])", re.IGNORECASE)


def rendering_plugin(md: MarkdownIt) -> None:
    """Render the tokens of a note as ``read_note`` expects them: balanced HTML with all links resolved or as written.

    ``env[NOTE]`` is the record of the note, without which wiki links have no target.
    """
    for name, rule in _RULES.items():
        md.add_render_rule(name, rule)


def _html_block(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    """Return a block of HTML with balanced tags, so that it does not enclose or continue in what comes after it."""
    markup = tokens[index].content
    if _HTML_COMMENT.fullmatch(markup):
        return markup
    env[OWN_HTML] = True
    body = LexborHTMLParser(prepare_markup(markup, env[NOTE].source_id)).body
    return f"<div>{body.inner_html}</div>" if body is not None else ""


def _html_inline(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    tag = _INLINE_TAG.match(tokens[index].content)
    if tag is None or tag[2].lower() == "br":
        return "<br>" if tag else ""
    env[OWN_HTML] = True
    block, depth = env.get(_OPEN_TAGS, (None, 0))
    depth = depth if block is tokens else 0
    is_end = bool(tag[1])
    env[_OPEN_TAGS] = tokens, max(depth + (-1 if is_end else 1), 0)
    # The parser takes quadratic time in the depth.
    return f"<{tag[1]}{tag[2]}>" if depth + (not is_end) <= _MAX_OPEN_TAGS else ""


def _image(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return renderer.renderInline(tokens[index].children or [], options, env)


def _wikilink(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    target = str(token.meta["target"])
    # ![[picture.png]] embeds a file; ![[Note]] and ![[v1.2 notes]] link to a page.
    if token.meta["is_embed"] and target.lower().endswith(_PICTURES + _RECORDINGS):
        return UNSEEN
    note: NoteRecord | None = env.get(NOTE)
    href = resolved_href(note.notes.resolve(note.source_id, target)) if target and note is not None else "#"
    return f'<a href="{escapeHtml(href)}">{escapeHtml(token.content)}</a>'


def _paragraph_close(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    if not tokens[index].hidden:
        return "</p>"
    # What separated two paragraphs of a list without blank lines may be a comment.
    return "<br>" if index + 1 < len(tokens) and tokens[index + 1].type == "paragraph_open" else ""


def _text(form: str) -> Any:
    """Return the rule that writes the content of a token in ``form``."""

    def rule(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return form.format(escapeHtml(tokens[index].content))

    return rule


_RULES = {
    "html_block": _html_block,
    "html_inline": _html_inline,
    "image": _image,
    "paragraph_close": _paragraph_close,
    "math_inline": _text("${}$"),
    "math_inline_double": _text("$${}$$"),
    "math_block": _text("<pre>$${}$$</pre>"),
    "math_block_label": _text("<pre>$${}$$</pre>"),
    "footnote_reference_open": _text("<div>"),
    "footnote_reference_close": _text("</div>"),
    COMMENT: _text(UNSEEN),
    FOOTNOTE_REFERENCE: _text(UNSEEN),
    WIKILINK: _wikilink,
}
