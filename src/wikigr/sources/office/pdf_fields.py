"""The fields of forms in a PDF and what people typed on its pages, whether or not the file says how they look."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ctypes import byref, c_ushort
from typing import TYPE_CHECKING, Any, NamedTuple

from wikigr.sources.plain_text import collapse_spaces

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

# Of a page, and of the entries of a list.
_MAX_FIELDS = 1_000
# Names that programs give fields.
_NO_LABEL = re.compile(
    r"(?:undefined|untitled|(?:text|check|radio|combo|list)?[ _-]?(?:box|field|button)?)[ _-]?\d*", re.I
)


class PdfField(NamedTuple):
    """The text of a filled field or of a remark, and its box in points from the lower left corner of the page.

    A check box is ``[x]`` or ``[ ]``. ``label`` is the name of a field for people, or ``""``.
    """

    text: str
    label: str
    left: float
    bottom: float
    right: float
    top: float
    is_box: bool = False
    is_remark: bool = False


def page_fields(pdf: PdfDocument, page: PdfPage) -> Iterator[PdfField]:
    """Yield what is filled in and typed on a page; push buttons, signatures and what is hidden are left out."""
    from pypdfium2 import raw

    for number in range(min(raw.FPDFPage_GetAnnotCount(page), _MAX_FIELDS)):
        annotation = raw.FPDFPage_GetAnnot(page, number)
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        hidden = raw.FPDFAnnot_GetFlags(annotation) & (raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW)
        box = raw.FS_RECTF()
        if not hidden and kind in (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT):
            raw.FPDFAnnot_GetRect(annotation, byref(box))
            place = (
                min(box.left, box.right),
                min(box.bottom, box.top),
                max(box.left, box.right),
                max(box.bottom, box.top),
            )
            if kind == raw.FPDF_ANNOT_FREETEXT:
                text = _string(lambda *out: raw.FPDFAnnot_GetStringValue(annotation, b"Contents", *out))  # noqa: B023
                field = PdfField(text, "", *place, is_remark=True)
            elif pdf.formenv:
                field = _field(pdf.formenv, annotation, place)
            if field.text:
                yield field
        raw.FPDFPage_CloseAnnot(annotation)


def _field(form: Any, annotation: Any, place: tuple[float, float, float, float]) -> PdfField:
    from pypdfium2 import raw

    def text_of(get: Any, *more: Any) -> str:
        return _string(lambda *out: get(form, annotation, *more, *out))

    kind = raw.FPDFAnnot_GetFormFieldType(form, annotation)
    name = text_of(raw.FPDFAnnot_GetFormFieldName).rpartition(".")[2].partition("[")[0].replace("_", " ")
    label = text_of(raw.FPDFAnnot_GetFormFieldAlternateName) or ("" if _NO_LABEL.fullmatch(name) else name)
    text = ""
    is_box = kind in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)
    if is_box:
        text = "[x]" if raw.FPDFAnnot_IsChecked(form, annotation) else "[ ]"
    elif kind in (raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX):
        options = range(min(raw.FPDFAnnot_GetOptionCount(form, annotation), _MAX_FIELDS))
        chosen = [number for number in options if raw.FPDFAnnot_IsOptionSelected(form, annotation, number)]
        text = ", ".join(text_of(raw.FPDFAnnot_GetOptionLabel, number) for number in chosen)
    is_text = kind in (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX)
    # A flag of text fields: ISO 32000-1, table 228.
    if is_text and not text and not raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & 1 << 13:
        text = text_of(raw.FPDFAnnot_GetFormFieldValue)
    return PdfField(text, label, *place, is_box=is_box)


def _string(get: Callable[..., int]) -> str:
    """Return a string in UTF-16 that PDFium writes into a buffer, on one line."""
    size = min(get(None, 0), 100_000)
    buffer = (c_ushort * (size // 2 + 1))()
    get(buffer, size)
    return collapse_spaces(bytes(buffer)[: max(size - 2, 0)].decode("utf-16-le", "replace"))
