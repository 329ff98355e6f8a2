"""CSS selectors that separate the content of a web page from its boilerplate.

They combine the class names of common generators (Sphinx, DocBook, MediaWiki, MkDocs, Docusaurus, mdBook, Doxygen,
Javadoc, rustdoc) with ARIA roles for all other sites.
"""

from __future__ import annotations

import re

# The content area if it contains any text.
CONTENT_AREAS = ("#mw-content-text",)

# Candidates in order of preference, with the share of the body's text that each must contain; without one, the body
# is the content. The share of main elements is lower because footers outweigh them on short pages; the other names
# are also used for smaller parts.
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
# Unselected tab panels are content, and so is what the browser's search can reveal.
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

# Elements whose text and links are both ignored.
BOILERPLATE = ", ".join((_ELEMENTS, _ROLES, _HIDDEN, _NAVIGATION, _MARKS, _WIKI))

# Link texts in headings and summaries that mark a permalink or a note.
HEADING_SIGNS = frozenset("#¶§🔗⚓ⓘ")

# Asides are skipped unless their role or class marks them as a note within the text, or they are the "sidebar" of a
# reStructuredText document, which has a title of the class NOTE_TITLE_CLASS.
ASIDES = "aside"
NOTE_ROLE = "note"
NOTE_CLASS = re.compile(
    r"(?:^|[\s_-])(?:admonition|aside|attention|callout|caution|citation|danger|footnote|hint|important|info|note|"
    r"tip|topic|warning)s?(?:$|[\s_-])",
    re.IGNORECASE,
)

NOTE_TITLE_CLASS = "sidebar-title"

# Marks of footnotes, where no class says so: in brackets, and either a link to a note of MediaWiki, a superscript that
# links within the page, or the superscript of a template that asks for a source.
FOOTNOTE_MARKS = "sup, a[href*='#cite_note'], a[href*='#cite_ref'], a[href*='#endnote']"
NOTE_TARGET = re.compile(r"#(?:cite_|end)note|#cite_ref")
NOTE_REQUEST = re.compile(
    r"\[(?:[\w ]+ needed|(?:by |according to )?whom|who|when|where|which|why|how|vague|dubious.*|clarify|verify|"
    r"(?:permanent )?dead link|original research|failed verification|not in citation given)\??\]",
    re.IGNORECASE,
)

# Tables of contents: their links count, their text does not.
TABLES_OF_CONTENTS = (
    ".toc, #toc, .toctree-wrapper, .contents.topic, .contents.local, nav.contents, .mw-toc, "
    "#table-of-contents, .table-of-contents, [class^=tableOfContents], .localtoc, .minitoc"
)

INFOBOX = "table.infobox, table.infobox_v2, table.infobox_v3, .portable-infobox, div.infobox table"

# Categories are the links in list items of these areas, and these links anywhere.
CATEGORY_AREAS = "#catlinks, .catlinks"
CATEGORY_LINKS = "a[rel~=category], a[rel~=tag]"
