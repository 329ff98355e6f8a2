"""What a page says about itself: title, author and dates, language, address, categories and a redirect."""

from __future__ import annotations

import re
from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from wikigr.sources.bylines import Byline
from wikigr.sources.html.boilerplate import CATEGORY_AREAS, CATEGORY_LINKS
from wikigr.sources.html.document import HEADINGS, MAX_ANCESTORS, SECTIONING_ELEMENTS, HtmlDocument, outermost
from wikigr.sources.plain_text import collapse_spaces, fold_title

_NUMBERING = re.compile(r"^(?:(?:Chapter|Appendix|Part)\s+[0-9A-Z]+[.:]|(?:\d+|[A-Z])(?:\.\d+)+\.)\s+(?=\S)")
_CHAPTER_NUMBER = re.compile(r"^(?P<number>\d+)\.\s+(?=\S)")
_SEPARATORS = ("—", "–", "|", "·", "::", "»", "-")
_SUFFIX = re.compile(r"^(?P<page>.+?\S)\s+(?P<mark>—|–|\||·|::|»|-)\s+(?P<site>\S(?:(?!\s[—–|·»-]\s).)*)$")
_SITE_WORDS = re.compile(
    r"\b(?:documentation|docs?|wiki\w*|manual|handbook|reference|guide|tutorial|homepage)\b", re.IGNORECASE
)
_REFRESH = re.compile(r"^\s*(?P<delay>\d{1,6})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?['\"]?(?P<url>[^'\"]+)", re.IGNORECASE)

# Names of <meta> in lower case; those of Open Graph, Dublin Core and Highwire are in common use.
_AUTHORS = ("author", "article:author", "citation_author", "dc.creator", "dcterms.creator")
_PUBLISHED = (
    *("article:published_time", "datepublished", "date", "citation_publication_date", "citation_date", "dc.date"),
    *("dcterms.date", "dcterms.created", "dcterms.issued", "pubdate"),
)
_UPDATED = ("article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "last-modified")
_BYLINES = "header [itemprop=author], header [rel=author], header .byline, header .author, header .post-author"


def find_title(page: HtmlDocument) -> str:
    """Return the page's title without the site's name and a manual's numbering, ``""`` if nothing names the page."""
    tag = page.root.css_first("head > title")
    full = collapse_spaces(tag.text()) if tag is not None else ""
    own = [page.flat_text(node) for node in outermost(page.content, "h1, h2, h3")]
    top = [page.flat_text(node) for node in outermost(page.root, "h1")]
    return strip_numbering(_choose_title(full, own, top), own)


def _choose_title(full: str, own: Sequence[str], top: Sequence[str]) -> str:
    """Return the title of a page whose ``<title>`` is ``full``.

    ``own`` are the headings of the content area, ``top`` the top-level headings of the whole page. A heading that
    ``full`` begins or ends with is the title; otherwise it is ``full`` without a recognizable site name.
    """
    if full.startswith("<no title>"):  # of Sphinx
        full = ""
    headings = [heading for heading in dict.fromkeys([*own, *top]) if heading]
    if not full:
        return next(iter(headings), "")
    # "Page - Site" is far more common than "Site - Page", and the site's name may be a heading too.
    for heading in headings:
        rest = fold_title(full).removeprefix(fold_title(heading))
        begins = rest != fold_title(full) and rest.startswith(" ") and rest.lstrip().startswith(_SEPARATORS)
        if begins or fold_title(full) == fold_title(heading):
            return heading
    match = _SUFFIX.match(full)
    has_site = match is not None and (match["mark"] == "|" or _SITE_WORDS.search(match["site"]) is not None)
    for heading in headings:
        rest = fold_title(full).removesuffix(fold_title(heading))
        ends = rest != fold_title(full) and rest.endswith(" ") and rest.rstrip().endswith(_SEPARATORS)
        # A heading outside the content such as "Site documentation" is the same on all pages.
        if ends and not (has_site and heading not in own):
            return heading
    return match["page"] if match is not None and has_site else full


def strip_numbering(title: str, headings: Sequence[str] = ()) -> str:
    """Remove a manual's numbering ("25.1. ", "Appendix B. ") from the start of a title.

    A plain number ("4. ") may be part of a name, so it is removed only when ``headings`` continue it ("4.1. ").
    """
    match = _CHAPTER_NUMBER.match(title)
    if match and any(heading.startswith(match["number"] + ".1") for heading in headings):
        return title[match.end() :]
    return _NUMBERING.sub("", title, count=1)


def find_heading(page: HtmlDocument) -> str:
    """Return the heading of the content: its only ``<h1>``, or its first heading if there is none, or ``""``.

    The header that a site shows on all pages does not count. Several ``<h1>`` each name only a part.
    """
    nodes = [node for node in outermost(page.content, HEADINGS) if _is_heading_of_content(node, page)]
    texts = [(node.tag, text) for node in nodes if (text := page.flat_text(node))]
    top = dict.fromkeys(text for tag, text in texts if tag == "h1")
    if len(top) > 1 or not texts:
        return ""
    return strip_numbering(next(iter(top), texts[0][1]), [text for _, text in texts])


def _is_heading_of_content(heading: LexborNode, page: HtmlDocument) -> bool:
    in_header = False
    current: LexborNode | None = heading
    for _ in range(MAX_ANCESTORS):
        if current is None or current.mem_id == page.content.mem_id:
            break
        if current.mem_id in page.skip:
            return False
        in_header = current.tag not in SECTIONING_ELEMENTS and (in_header or current.tag == "header")
        current = current.parent
    return not (in_header and page.content.tag == "body")


def find_base(page: HtmlDocument) -> str:
    """Return the ``<base>`` that the page's links are relative to, as written; ``""`` for the page's own URL."""
    return _attribute(page.root.css_first("base[href]"), "href")


def find_url(page: HtmlDocument) -> str:
    """Return the page's canonical address on the web, ``""`` if it does not state an absolute one."""
    href = _attribute(page.root.css_first("link[rel=canonical i][href]"), "href")
    return href if href.lower().startswith(("http://", "https://")) else ""


def find_redirect(page: HtmlDocument) -> str | None:
    """Return the raw URL of a meta refresh whose delay is short enough for a redirect."""
    for node in page.root.css("meta[http-equiv][content]"):
        match = _REFRESH.match(node.attributes.get("content") or "")
        is_refresh = _attribute(node, "http-equiv").casefold() == "refresh"
        # A refresh in <noscript> is for browsers without scripts; the page has not moved.
        is_for_all = node.parent is None or node.parent.tag != "noscript"
        if match and is_refresh and is_for_all and int(match["delay"]) <= 10:
            return match["url"].strip()
    return None


def find_categories(page: HtmlDocument) -> tuple[str, ...]:
    """Return the page's categories: MediaWiki's category links and ``rel=tag``."""
    # The selector "#catlinks li a" would examine all ancestors of every link on the page.
    wanted = {node.mem_id for node in page.root.css(CATEGORY_LINKS)}
    for area in page.root.css(CATEGORY_AREAS):
        wanted.update(link.mem_id for item in area.css("li") for link in item.css("a"))
    links = (node for node in page.root.css("a") if node.mem_id in wanted) if wanted else ()
    return tuple(dict.fromkeys(filter(None, map(page.flat_text, links))))


def find_byline(root: LexborNode) -> Byline:
    """Return the authors and dates of a page: in its metadata and the header that is not read as text."""
    metas: dict[str, list[str]] = {}
    for node in root.css("meta[content]"):
        name = node.attributes.get("name") or node.attributes.get("property") or node.attributes.get("itemprop") or ""
        metas.setdefault(name.strip().lower(), []).append(node.attributes.get("content") or "")
    authors = next((metas[name] for name in _AUTHORS if any(metas.get(name, ()))), None)
    if authors is None:
        authors = [node.text(separator=" ") for node in root.css(_BYLINES)][:1]
    published, updated = (
        next((value for name in names for value in metas.get(name, ()) if value.strip()), "")
        for names in (_PUBLISHED, _UPDATED)
    )
    return Byline(tuple(authors), published or _attribute(root.css_first("header time[datetime]"), "datetime"), updated)


def _attribute(node: LexborNode | None, name: str) -> str:
    return (node.attributes.get(name) or "").strip() if node is not None else ""
