"""Which parts of a web page are its content, as CSS selectors.

One list serves every site: the class names are those of the common generators (Sphinx, DocBook, MediaWiki,
MkDocs, Docusaurus, mdBook, Doxygen, Javadoc, rustdoc), and ARIA roles for the rest.
"""

from __future__ import annotations

import re

# The content area whenever it holds any text.
CONTENT_AREAS = ("#mw-content-text",)

# In order of preference, with the share of the body's text that each must hold; else the body is the content.
# A main element says what it is, and on a short page footers outweigh it; the other names serve smaller things too.
MAIN_SHARE = 0.25
LIKELY_SHARE = 0.5
MAIN_AREAS = ("main", "[role=main]")
LIKELY_CONTENT_AREAS = (
    "article",
    "#bodyContent",
    "#content",
    "#main-content",
    "#main",
    "div.body",
    "div.document",
    "div.contents:not(.topic):not(.local)",
    ".content",
)

_ELEMENTS = (
    "script, style, noscript, template, iframe, object, embed, svg, canvas, audio, video, map, head, nav, "
    "footer, select, input, textarea, datalist, dialog, button"
)
_ROLES = (
    "[role=navigation], [role=banner], [role=contentinfo], [role=search], [role=complementary], [role=menu], "
    "[role=menubar], [role=toolbar], [role=dialog]"
)
# A panel that waits for its tab to be chosen is content, and so is what the browser's own search may open.
_HIDDEN = (
    ":is([hidden], [aria-hidden=true], [style*='display:none'], [style*='display: none'], "
    "[style*='visibility:hidden'], [style*='visibility: hidden'], .hidden, .sr-only, .visually-hidden, "
    ".screen-reader-text, .nosearch, .noprint, .robots-nocontent, [data-nosnippet]"
    "):not([role=tabpanel], [hidden=until-found])"
)
_NAVIGATION = (
    ".sidebar-nav, .sphinxsidebar, .related, .navheader, .navfooter, .navbar, .navigation, .breadcrumb, "
    ".breadcrumbs, .pagination, .pagination-nav, .prev-next-area, .rst-footer-buttons, "
    ".rst-breadcrumbs-buttons, .wy-nav-side, .wy-breadcrumbs, .md-sidebar, .md-header, .md-footer, .md-source-file, "
    "body > .footer, .nav-chapters, .theme-doc-toc-mobile, .skip-link, .mw-jump-link, .menu, .searchmenu, #searchbox, "
    "#side-nav, #nav-path, .theme-doc-toc-desktop, .theme-doc-breadcrumbs, .theme-doc-version-badge, "
    "table.nav, table[summary^=Navigation], .topNav, .subNav, .bottomNav, .skipNav, .legalCopy, .top-nav, .sub-nav, "
    ".skip-nav, .legal-copy"
)
_MARKS = (
    ".headerlink, a.anchor, a.anchor-link, a.hash-link, .linkback, .viewcode-link, .viewcode-back, .copybtn, "
    ".linenos, .lineno, .linenodiv, .mw-editsection, .editsection, .edit-link, .edit-this-page, "
    "a.footnote-reference, a.footnote, .fn-backref, "
    ".footnote-backref, .footnote-back, .reversefootnote, .data-footnote-backref, a[href^='#fnref'], "
    "a.doc-anchor, a.header-anchor, a.permalink, a.srclink, summary.hideme, "
    "a[title^='Edit this'], sup.reference, .mw-ref, sup.noprint, .mw-cite-backlink, .brackets > .fn-bracket"
)
_WIKI = (
    ".navbox, .navbox-styles, .vertical-navbox, .hatnote, .dablink, .rellink, .ambox, .metadata, "
    ".sistersitebox, .mbox-small, .reflist, ol.references, .mw-references-wrap, .catlinks, .printfooter, "
    ".shortdescription, .mw-empty-elt, .magnify, .authority-control, .stub, #siteSub, #contentSub, "
    "#jump-to-nav"
)

# Neither the text nor the links count.
BOILERPLATE = ", ".join((_ELEMENTS, _ROLES, _HIDDEN, _NAVIGATION, _MARKS, _WIKI))

# In headings and summaries, a link with one of these texts leads to the heading itself or to a note on it.
HEADING_SIGNS = frozenset("#¶§🔗⚓ⓘ")

# Asides stand beside the text, unless their role or class says that they are a note in it, or they are the
# "sidebar" that the author of a reStructuredText document wrote: one with a title of this class.
ASIDES = "aside"
NOTE_ROLE = "note"
NOTE_CLASS = re.compile(
    r"(?:^|[\s_-])(?:admonition|aside|attention|callout|caution|citation|danger|footnote|hint|important|info|note|"
    r"tip|topic|warning)s?(?:$|[\s_-])",
    re.IGNORECASE,
)

NOTE_TITLE_CLASS = "sidebar-title"

# Tables of contents: the author's links to the parts of a work, but no text of the page's own.
TABLES_OF_CONTENTS = (
    ".toc, #toc, .toctree-wrapper, .contents.topic, .contents.local, nav.contents, .mw-toc, "
    "#table-of-contents, .table-of-contents, [class^=tableOfContents], .localtoc, .minitoc"
)

INFOBOX = "table.infobox, table.infobox_v2, table.infobox_v3, .portable-infobox, div.infobox table"

# The links in the list items of these areas, and these links anywhere.
CATEGORY_AREAS = "#catlinks, .catlinks"
CATEGORY_LINKS = "a[rel~=category], a[rel~=tag]"
