"""Parse a page of wikitext into sections, hyperlinks, categories and facts."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from urllib.parse import unquote

import mwparserfromhell
from mwparserfromhell.nodes import Argument, ExternalLink, Heading, HTMLEntity, Tag, Template, Text, Wikilink
from mwparserfromhell.wikicode import Wikicode

from wikigr.sources.article import SourceSection, Triple
from wikigr.sources.block import RowText
from wikigr.sources.documents import wiki_anchors
from wikigr.sources.facts import Infobox, add_facts
from wikigr.sources.plain_text import close_gaps, collapse_spaces, format_superscript
from wikigr.sources.wikitext import is_apparatus, marks, template_tables, wikipedia_data, wikipedia_names
from wikigr.sources.wikitext.infobox import apply_labels, infobox_triples, is_fact, is_infobox, relation_name
from wikigr.sources.wikitext.layout import PageHeading, lay_out, render_table
from wikigr.sources.wikitext.marks import clean_parentheses, strip_marks
from wikigr.sources.wikitext.preprocess import prepare
from wikigr.sources.wikitext.templates import (
    TemplateCall,
    expand_template,
    is_known_template,
    is_silent,
    plain_arguments,
)

# Numbers of namespaces.
_CATEGORY, _FILE, _MEDIA = 14, 6, -2
_LANGUAGE_CODE = re.compile(r"(?:[a-z]{2,3}(?:-[a-z]{2,10}){0,2}|simple|tokipona)")
_MAGIC_WORD = re.compile(
    r"__(?:(?:NO|FORCE)?TOC|NOEDITSECTION|NEWSECTIONLINK|NONEWSECTIONLINK|NOGALLERY|HIDDENCAT|EXPECTUNUSEDCATEGORY|"
    r"NO(?:TITLE|CONTENT)CONVERT|NO[TC]C|(?:NO)?INDEX|STATICREDIRECT|START|END|DISAMBIG|ARCHIVEDTALK|NOTALK)__"
)
_DISAMBIGUATION_WORD = re.compile(r"__DISAMBIG__")
# How many nodes before and after a template say where it stands.
_NEIGHBORS = 4
_MAX_NAME = 80
_CLOSING = frozenset(".,;:!?)]}”’»%°")
_PICTURE_OPTION = re.compile(
    r"(?:\d{0,4}(?:x\d{1,4})?px|upright(?:=.*)?|alt=.*|link=.*|left|right|cent(?:er|re)|none|border)"
)
_COUNTRY_CODE = re.compile(r"[A-Z]{3}")
_WORD_AS_NAME = re.compile(r"[^\W_][\w .'’/+&-]{0,29}")
_LINE_BREAKS = re.compile(f"[\n{marks.BREAK}]+")
_QUOTE_MARKS = re.compile(r"'{2,}")
_SUPERSCRIPT = re.compile(f"{marks.SUP_OPEN}([^{marks.SUP_OPEN}{marks.SUP_CLOSE}]*){marks.SUP_CLOSE}")
_BRACES = re.compile(r"[{}]|[^{}]+")
# The literal apostrophes in a run of quotes: four are one apostrophe and bold, beyond five the rest is literal.
_APOSTROPHES = {2: "", 3: "", 4: "'", 5: ""}


@dataclass(frozen=True, slots=True)
class WikiSite:
    """The properties of a wiki that affect parsing.

    ``namespaces`` maps names in lower case to numbers. ``first_letter`` means that titles always begin with a capital
    letter. ``page_url`` is the URL of a page without its title, ``""`` if unknown. ``language`` is the ISO 639-1 code
    of the wiki's language, or ``""``.
    """

    namespaces: Mapping[str, int]
    first_letter: bool = True
    page_url: str = ""
    language: str = ""

    def title(self, written: str) -> str:
        """Return the title of the page that a link target refers to, ``""`` for a link within the page."""
        text = html.unescape(strip_marks(written)).partition("#")[0]
        if "%" in text:
            text = unquote(text)
        text = " ".join(text.replace("_", " ").split()).lstrip(": ")
        return text[:1].upper() + text[1:] if self.first_letter else text

    def namespace(self, target: str) -> tuple[int, str]:
        """Return the namespace number (0 for articles) of a link target and its name without prefix."""
        prefix, colon, rest = target.partition(":")
        if not colon:
            return 0, target
        key = " ".join(prefix.replace("_", " ").split()).lower()
        number = self.namespaces.get(key)
        if number is None:
            number = int(wikipedia_data()["namespaces"].get(key, 0))
        return (number, rest.strip()) if number else (0, target)


@dataclass(frozen=True, slots=True)
class WikiPage:
    """The content of one page; ``links`` are titles of articles in document order, without duplicates.

    ``dropped`` are the names of templates whose text is missing, with the number of their calls.
    """

    sections: tuple[SourceSection, ...]
    links: tuple[str, ...]
    categories: tuple[str, ...]
    triples: tuple[Triple, ...]
    is_disambiguation: bool
    dropped: tuple[tuple[str, int], ...] = ()


def parse_wikitext(wikitext: str, title: str, site: WikiSite) -> WikiPage:
    """Parse the source text of the page ``title``, in time linear in its length.

    Raises ``RecursionError`` or ``mwparserfromhell.parser.ParserError`` when the parser itself fails.
    """
    prepared = prepare(wikitext, template_tables(site.language)["table_ends"])
    renderer = _Renderer(title, site, prepared.verbatim)
    code = mwparserfromhell.parse(_MAGIC_WORD.sub("", prepared.text), skip_style_tags=True)
    text = renderer.render(code) + renderer.take_notes()
    laid_out = lay_out(_finish(text), renderer.headings, renderer.rows, prepared, title)
    sections, triples = add_facts(laid_out, renderer.infoboxes)
    return WikiPage(
        sections=sections,
        links=tuple(renderer.links),
        categories=tuple(renderer.categories),
        triples=triples,
        is_disambiguation=renderer.is_disambiguation or bool(_DISAMBIGUATION_WORD.search(wikitext)),
        dropped=tuple(sorted(renderer.dropped.items())),
    )


def _finish(text: str) -> str:
    if "}}" in text:
        text = _without_templates(text)
    text = re.sub(r"\{\{+|\}\}+|\[\[|\]\]", "", text)
    for _ in range(4):  # exponents of exponents
        text, count = _SUPERSCRIPT.subn(_superscript, text)
        if not count:
            break
    return text.replace(marks.SUP_OPEN, "").replace(marks.SUP_CLOSE, "")


def _without_templates(text: str) -> str:
    """Return ``text`` with ``REMOVED`` for what is between two pairs of braces, from the inside outwards.

    There may be any number of levels, as entities of braces make them after the brackets have been balanced.
    """
    pieces: list[str] = []
    for piece in _BRACES.findall(text):
        pieces.append(piece)
        if piece == "}" and pieces[-2:-1] == ["}"]:
            start = len(pieces) - 3
            while start > 0 and pieces[start] not in "{}":
                start -= 1
            if start > 0 and pieces[start] == pieces[start - 1] == "{":
                pieces[start - 1 :] = [marks.REMOVED]
    return "".join(pieces)


def _superscript(match: re.Match[str]) -> str:
    text = match[1].replace(marks.REMOVED, "")
    start = match.start()
    before = match.string[start - 1 : start] if start else ""
    return format_superscript(text, before) + marks.REMOVED * (marks.REMOVED in match[1])


class _Renderer:
    """Renders nodes as text with marks and collects links, categories and infoboxes."""

    def __init__(self, title: str, site: WikiSite, verbatim: list[str]) -> None:
        self._title = title
        self._site = site
        self._verbatim = verbatim
        self.links: dict[str, None] = {}
        self.categories: dict[str, None] = {}
        self.infoboxes: list[Infobox] = []
        self.is_disambiguation = False
        self.headings: list[PageHeading] = []
        self.rows: list[RowText] = []
        self.dropped: Counter[str] = Counter()
        # Those of the section so far.
        self._notes: list[str] = []
        self._depth = 0
        self._is_in_cell = False
        self._starts_line = True
        self._keeps_links = True
        # The headings above the current node.
        self._above: list[PageHeading] = []
        self._anchor_of = wiki_anchors()
        # Targets of the links in an infobox value; None outside of infoboxes.
        self._value_targets: list[str] | None = None

    def render(self, code: Wikicode) -> str:
        """Return the text of ``code``."""
        nodes, parts = list(code.nodes), list[str]()
        for place, node in enumerate(nodes):
            if isinstance(node, Template):
                parts.append(self._template(node, nodes, place, parts))
            else:
                self._starts_line = not parts or parts[-1].endswith("\n")
                parts.append(self._node(node))
        return "".join(parts)

    def take_notes(self) -> str:
        """Return the footnotes since the last heading, each as a block."""
        notes = "".join(f"\n\n{marks.FOOTNOTE}\n{note}\n{marks.KIND_END}\n\n" for note in self._notes)
        self._notes.clear()
        return notes

    def _note(self, node: Template) -> str:
        """Keep the text of a footnote for the end of the section, where it breaks no sentence."""
        targets, self._value_targets = self._value_targets, None
        stated = {strip_marks(str(one.name)).strip().lower(): one.value for one in node.params}
        text = next((stated[key] for key in ("1", "text", "texte", "contenu") if key in stated), None)
        note = _LINE_BREAKS.sub(" ", self._nested(text)).strip() if text is not None else ""
        self._value_targets = targets
        if any(map(str.isalnum, strip_marks(note))):
            self._notes.append(note)
        return marks.REMOVED

    def _nested(self, code: Wikicode) -> str:
        self._depth += 1
        text = self.render(code).replace(marks.PREFORMATTED, " ")
        self._depth -= 1
        return text

    def _node(self, node: object) -> str:
        if isinstance(node, Text):
            return _QUOTE_MARKS.sub(lambda run: _APOSTROPHES.get(len(run[0]), "'" * (len(run[0]) - 5)), node.value)
        if isinstance(node, Wikilink):
            return self._link(node)
        if isinstance(node, Tag):
            return self._tag(node)
        if isinstance(node, Heading):
            return self._heading(node)
        if isinstance(node, HTMLEntity):
            return html.unescape(str(node))
        if isinstance(node, ExternalLink):
            return self.render(node.title) if node.title is not None else "" if node.brackets else str(node.url)
        if isinstance(node, Argument):
            return self.render(node.default) if node.default is not None else ""
        return ""

    def _tag(self, node: Tag) -> str:
        markup = node.wiki_markup
        if node.tag == "table":
            before, self._is_in_cell = self._is_in_cell, True
            text = render_table(node, self._nested, self._plain_cell, self.rows)
            self._is_in_cell = before
            return text
        if markup == "----":
            return "\n\n"
        if markup and markup in "*#:;":
            return f"{marks.LIST}{markup}"
        return self.render(node.contents) if node.contents is not None else ""

    def _heading(self, node: Heading) -> str:
        title = collapse_spaces(self._plain(self.render(node.title)))
        if self._depth:
            return f"\n{title}\n"
        level = int(node.level)
        while self._above and self._above[-1].level >= level:
            self._above.pop()
        is_dropped = bool(self._above) and self._above[-1].is_dropped
        if not is_dropped:
            is_dropped = is_apparatus(title)
            # The links under "See also" are the author's links to other articles.
            self._keeps_links = not is_dropped or title.casefold().strip(" :") == "see also"
        self._above.append(PageHeading(level, title, self._anchor_of(title), is_dropped))
        self.headings.append(self._above[-1])
        return f"{self.take_notes()}\n{marks.HEADING}{len(self.headings) - 1}\n"

    def _plain_cell(self, text: str) -> str:
        return collapse_spaces(self._plain(close_gaps(clean_parentheses(text), marks.REMOVED)))

    def _plain(self, text: str) -> str:
        text = marks.PLACEHOLDER.sub(lambda match: self._verbatim[int(match[1])], _finish(text))
        return strip_marks(text.replace(marks.BREAK, " "))

    def _link(self, node: Wikilink) -> str:
        written = html.unescape(strip_marks(str(node.title))).strip()
        if "{{" in written:
            written = self._plain(self.render(node.title)).strip()
        has_colon = written.startswith(":")
        written = written.lstrip(": ")
        number, name = self._site.namespace(written)
        if number and not has_colon:
            if number == _CATEGORY and (category := self._site.title(name)):
                self.categories.setdefault(category)
            if number == _FILE and node.text is not None and self._starts_line and not self._depth:
                return self._caption(node.text)
            if number == _CATEGORY or number in (_FILE, _MEDIA):
                return ""
        text = self._nested(node.text) if node.text is not None else None
        if text is not None and not strip_marks(text).strip():
            text = _pipe_trick(name)
        label = written.replace("_", " ") if text is None else text
        if number:
            return label
        prefix, colon, _ = written.partition(":")
        if colon:
            is_language = _LANGUAGE_CODE.fullmatch(prefix) is not None
            if is_language and node.text is None and not has_colon:
                return ""
            if is_language or prefix.strip().lower() in wikipedia_names("interwiki"):
                return label
        return self._add_link(written, label)

    def _caption(self, options: Wikicode) -> str:
        """Return the caption of a picture that is shown with one; it is the last of its ``options``."""
        nodes = list(options.nodes)
        last = next(
            (n for n in reversed(range(len(nodes))) if isinstance(nodes[n], Text) and "|" in nodes[n].value), None
        )
        named = {word.strip().lower() for node in nodes if isinstance(node, Text) for word in node.value.split("|")}
        if last is None or wikipedia_names("framed_pictures").isdisjoint(named):
            return ""
        keeps_links, self._keeps_links = self._keeps_links, False
        text = self._nested(Wikicode([Text(nodes[last].value.rpartition("|")[2]), *nodes[last + 1 :]])).strip()
        self._keeps_links = keeps_links
        text = " ".join(text.split("\n"))
        is_option = _PICTURE_OPTION.fullmatch(text) or text.lower() in wikipedia_names("framed_pictures")
        return "" if is_option or not text else f"\n\n{marks.CAPTION}\n{text}\n{marks.KIND_END}\n\n"

    def _add_link(self, written: str, label: str) -> str:
        target = self._site.title(written)
        if not target:
            return label.lstrip("#") if label.startswith("#") else label
        if self._keeps_links:
            self.links.setdefault(target)
        if self._value_targets is None:
            return label
        self._value_targets.append(target)
        # A label is one value, even if it is shown on several lines.
        label = _LINE_BREAKS.sub(" ", label)
        return f"{marks.LINK_OPEN}{len(self._value_targets) - 1}{marks.LINK_LABEL}{label}{marks.LINK_CLOSE}"

    def _link_to_title(self, target: str, label: str) -> str:
        """Record the link that a template makes from an argument, unless that already contains a link."""
        if marks.LINK_OPEN in target or marks.LINK_OPEN in label:
            return label
        number, _ = self._site.namespace(strip_marks(target))
        return label if number else self._add_link(target, label)

    def _template(self, node: Template, siblings: Sequence[object], place: int, before: Sequence[str]) -> str:
        """Return the text of ``siblings[place]``; ``before`` are the texts of those before it."""
        name = self._name(node)
        of_page = re.sub("[ -]cleanup$", "", name)
        names = wikipedia_names("disambiguation")
        if self._depth == 0 and (of_page in names or of_page.endswith((" disambiguation", " disambig", " dab"))):
            self.is_disambiguation = True
            return ""
        # An infobox describes the subject wherever it is on the page; nested boxes are read with its fields.
        if self._value_targets is None and is_infobox(name):
            triples = tuple(apply_labels(tuple(self._facts(node))))
            path = tuple(heading.text for heading in self._above)
            self.infoboxes.append(Infobox(path, triples, self._above[-1].anchor if path else ""))
            return "\n"
        if name in ("pagename", "fullpagename", "subst:pagename"):
            return self._title
        if name in wikipedia_names("footnotes"):
            return self._note(node)
        if name.startswith("#"):
            # What a function shows depends on the wiki.
            self.dropped[name.partition(":")[0]] += 1
            return marks.REMOVED
        if is_silent(name, self._site.language):
            return marks.REMOVED
        is_known = is_known_template(name, self._site.language)
        if not is_known and not self._is_shown(siblings, place, before):
            self.dropped[name[:_MAX_NAME]] += 1
            return marks.REMOVED
        arguments = {
            strip_marks(str(parameter.name)).strip().lower(): self._nested(parameter.value).strip()
            for parameter in node.params
        }
        call = TemplateCall(arguments, self._link_to_title, self._site.language)
        if is_known:
            return expand_template(name, call) or marks.REMOVED
        is_cell = self._is_in_cell and self._is_alone(siblings, place)
        text = plain_arguments(call) if node.params else self._spoken_name(node, is_cell)
        if not text:
            self.dropped[name[:_MAX_NAME]] += 1
        return text or marks.REMOVED

    def _is_shown(self, siblings: Sequence[object], place: int, before: Sequence[str]) -> bool:
        """Return whether an unknown template stands in a sentence, or is all of a cell, a value or an argument.

        A mark that follows a word or punctuation directly, like that of a note, is no part of the sentence.
        """
        if self._is_alone(siblings, place):
            return True
        line = strip_marks("".join(before[-_NEIGHBORS:]).rpartition("\n")[2])
        after = _text_after(siblings[place + 1 : place + 1 + _NEIGHBORS])
        if line and (line[-1].isalnum() or line[-1] in _CLOSING):
            return after[:1].isalnum()
        return any(map(str.isalnum, line)) or any(map(str.isalnum, after))

    def _is_alone(self, siblings: Sequence[object], place: int) -> bool:
        if not self._depth or len(siblings) > 3:
            return False
        return not "".join(map(str, chain(siblings[:place], siblings[place + 1 :]))).strip()

    def _spoken_name(self, node: Template, is_cell: bool) -> str:
        """Return the name of a template without arguments if it is its text: a code of a country, "XIXe siècle"."""
        name = " ".join(strip_marks(str(node.name)).replace("_", " ").split())
        words = wikipedia_names("spoken_words").intersection(name.lower().split())
        is_spoken = bool(words) or _COUNTRY_CODE.fullmatch(name)
        return name if is_spoken or (is_cell and _WORD_AS_NAME.fullmatch(name)) else ""

    def _name(self, node: Template) -> str:
        name = " ".join(strip_marks(html.unescape(str(node.name))).replace("_", " ").split()).lower()
        return name.removeprefix("template:").strip()

    def _facts(self, node: Template) -> Iterator[Triple]:
        for parameter in node.params:
            inner = [child for child in parameter.value.nodes if isinstance(child, Template)]
            boxes = [child for child in inner if is_infobox(name := self._name(child)) or name.startswith("chembox")]
            for box in boxes:
                yield from self._facts(box)
            if boxes:
                continue
            relation = relation_name(str(parameter.name))
            targets: list[str] = []
            self._value_targets = targets
            value = self._nested(parameter.value)
            self._value_targets = None
            if is_fact(relation):
                value = marks.ROW_NUMBER.sub("", _finish(value))
                value = marks.PLACEHOLDER.sub(lambda match: self._verbatim[int(match[1])], value)
                yield from infobox_triples(self._title, relation, value, targets)


def _text_after(nodes: Sequence[object]) -> str:
    """Return the text of ``nodes`` up to the end of the line; a link is as good as a word."""
    parts: list[str] = []
    for node in nodes:
        if isinstance(node, Text):
            line, newline, _ = node.value.partition("\n")
            parts.append(line)
            if newline:
                break
        elif isinstance(node, (Wikilink, ExternalLink)):
            parts.append("x")
        elif isinstance(node, Tag):
            break
    return "".join(parts)


def _pipe_trick(name: str) -> str:
    """Return the text of ``[[name|]]``: the name without its qualifier."""
    before, parenthesis, qualifier = name.removesuffix(")").rpartition("(")
    if name.endswith(")") and parenthesis and ")" not in qualifier:
        return before.rstrip()
    return name.partition(", ")[0]
