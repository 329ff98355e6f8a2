"""Write the equations of Office (Office Math Markup) as text on one line: ``x=(-b±√(b^2-4ac))/(2a)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element

# How the parts of a structure are put together; ECMA-376, part 1, 22.1.2.
_TEMPLATES = {
    "f": "{num}/{den}",
    "sSup": "{e}^{sup}",
    "sSub": "{e}_{sub}",
    "sSubSup": "{e}_{sub}^{sup}",
    "sPre": "{sub}_{sup}^{e}",
    "limLow": "{e}_{lim}",
    "limUpp": "{e}^{lim}",
    "func": "{fName} {e}",
}
_SEPARATORS = {"eqArr": "; ", "m": "; ", "mr": ", "}


def equation_text(element: _Element, depth: int = 0) -> str:
    """Return an equation, or a part of one, as text; what is nested too deeply is left out."""
    name = _name(element)
    if name == "t":
        return element.text or ""
    if depth > 100 or name.endswith("Pr"):
        return ""
    children = [child for child in element if isinstance(child.tag, str)]
    parts = [(_name(child), equation_text(child, depth + 1)) for child in children if not _name(child).endswith("Pr")]
    of = dict.fromkeys(("e", "sub", "sup", "deg"), "") | {part: _grouped(text) for part, text in parts}
    if name in _TEMPLATES and {"num", "den", "e", "lim", "fName"} & dict(parts).keys():
        template = _TEMPLATES[name]
        return template.format_map({"num": "", "den": "", "lim": "", "fName": ""} | of)
    if name == "rad":
        return f"{of['deg']}√{of['e']}"
    if name == "nary":
        limits = "".join(f"{mark}{of[part]}" for mark, part in (("_", "sub"), ("^", "sup")) if of[part])
        return f"{_property(element, 'chr', '∫')}{limits} {dict(parts).get('e', '')}"
    texts = [text for _, text in parts]
    if name == "d":
        begin, end = _property(element, "begChr", "("), _property(element, "endChr", ")")
        return begin + _property(element, "sepChr", "|").join(texts) + end
    return _SEPARATORS.get(name, "").join(texts)


def _name(element: _Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _property(element: _Element, name: str, default: str) -> str:
    found = element.find(f"{{*}}{_name(element)}Pr/{{*}}{name}")
    return default if found is None else next((str(value) for key, value in found.items() if key.endswith("val")), "")


def _grouped(text: str) -> str:
    is_number_or_name = text.replace(".", "").isdigit() or text.isalpha()
    is_bracketed = text[:1] + text[-1:] in ("()", "[]", "{}") and text.count(text[0]) == 1
    is_one = len(text) < 2 or is_number_or_name or is_bracketed
    return text if is_one else f"({text})"
