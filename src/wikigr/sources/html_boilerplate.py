"""Which parts of a web page are its content, as CSS selectors.

One list serves every site: the class names are those of the common generators (Sphinx, DocBook, MediaWiki,
MkDocs, Docusaurus, mdBook, Doxygen), and ARIA roles for the rest.
"""

from __future__ import annotations

# In order of preference; the first that holds any text is the content area.
CONTENT_AREAS = ("#mw-content-text", "main", "[role=main]", "article")

# Names that are used for smaller things too: these must hold most of the page's text. Else it is the body.
LIKELY_CONTENT_AREAS = (
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
    "footer, button, select, input, textarea, datalist, dialog, "
    "aside:not(.footnote):not(.footnote-list):not(.citation):not(.admonition):not(.topic)"
)
_ROLES = (
    "[role=navigation], [role=banner], [role=contentinfo], [role=search], [role=complementary], [role=menu], "
    "[role=menubar], [role=toolbar], [role=dialog]"
)
_HIDDEN = (
    "[hidden], [aria-hidden=true], [style*='display:none'], [style*='display: none'], "
    "[style*='visibility:hidden'], [style*='visibility: hidden'], .hidden, .sr-only, .visually-hidden, "
    ".screen-reader-text, .nosearch, .noprint, .robots-nocontent, [data-nosnippet]"
)
_NAVIGATION = (
    ".sidebar-nav, .sphinxsidebar, .related, .navheader, .navfooter, .navbar, .navigation, .breadcrumb, "
    ".breadcrumbs, .pagination, .pagination-nav, .prev-next-area, .rst-footer-buttons, .rst-breadcrumbs- "
    "buttons, .wy-nav-side, .wy-breadcrumbs, .md-sidebar, .md-header, .md-footer, .md-source-file, .nav- "
    "chapters, .theme-doc-toc-mobile, .skip-link, .mw-jump-link, .menu, .searchmenu, #searchbox, #side- "
    "nav, #nav-path"
)
_MARKS = (
    ".headerlink, a.anchor, a.anchor-link, a.hash-link, .linkback, .viewcode-link, .viewcode-back, .copybtn, "
    ".linenos, .lineno, .linenodiv, .mw-editsection, .editsection, .edit-link, .edit-this-page, "
    "a.footnote-reference, a.footnote, .fn-backref, "
    "a[title^='Edit this'], sup.reference, .mw-ref, sup.noprint, .mw-cite-backlink, .brackets > .fn-bracket"
)
_WIKI = (
    ".navbox, .navbox-styles, .vertical-navbox, .hatnote, .dablink, .rellink, .ambox, .metadata, "
    ".sistersitebox, .mbox-small, .reflist, ol.references, .mw-references-wrap, .catlinks, .printfooter, "
    ".shortdescription, .mw-empty-elt, .magnify, .authority-control, .stub, #siteSub, #contentSub, #jump- "
    "to-nav"
)

# Neither the text nor the links count.
BOILERPLATE = ", ".join((_ELEMENTS, _ROLES, _HIDDEN, _NAVIGATION, _MARKS, _WIKI))

# Tables of contents: the author's links to the parts of a work, but no text of the page's own.
TABLES_OF_CONTENTS = (
    ".toc, #toc, .toctree-wrapper, .contents.topic, .contents.local, nav.contents, .mw-toc, "
    "#table-of-contents, .localtoc, .minitoc"
)

INFOBOX = "table.infobox, table.infobox_v2, table.infobox_v3, .portable-infobox, div.infobox table"

CATEGORIES = "#catlinks li a, .catlinks li a, a[rel~=category], a[rel~=tag]"
