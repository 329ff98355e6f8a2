"""The number and text formats of the HTML report, used as template filters. Missing and infinite numbers are dashes."""

from __future__ import annotations

from markupsafe import Markup, escape

from wikigr.evaluation.statistics.wording import NO_FIGURE, finite

# Longer answers and quotations are cut, so that a rambling model does not make the report unreadable.
MAX_TEXT_LENGTH = 2_000


def fixed_point(value: object, digits: int = 1, *, sign: bool = False, trim: bool = False) -> str:
    """Return a number with a real minus sign; ``trim`` removes trailing zeros."""
    number = finite(value)
    if number is None:
        return NO_FIGURE
    text = f"{abs(number):,.{digits}f}"
    zero = float(text.replace(",", "")) == 0.0
    if trim and "." in text:
        text = text.rstrip("0").rstrip(".")
    prefix = "" if zero else "−" if number < 0 else "+" if sign else ""
    return prefix + text


def as_share(value: object) -> str:
    """Return a metric's value: a share in [-1, 1] as a percentage, any other number with two decimals."""
    number = finite(value)
    if number is None:
        return NO_FIGURE
    return f"{fixed_point(number * 100)}%" if -1.0 <= number <= 1.0 else fixed_point(number, 2)


def as_whole(value: object) -> str:
    """Return a number without decimals."""
    return fixed_point(value, 0)


def as_points(value: object, digits: int = 1, *, sign: bool = False, trim: bool = True) -> str:
    """Return a difference of shares in percentage points, without the unit."""
    number = finite(value)
    return NO_FIGURE if number is None else fixed_point(number * 100, digits, sign=sign, trim=trim)


def as_p(value: object) -> str:
    """Return a p-value with its significant digits."""
    number = finite(value)
    if number is None:
        return NO_FIGURE
    return "< 0.0001" if number < 0.0001 else f"{number:.4f}" if number < 0.01 else f"{number:.3f}"


def as_milliseconds(value: object) -> str:
    """Return a duration in milliseconds, with one decimal below 100."""
    number = finite(value)
    return NO_FIGURE if number is None else fixed_point(number, 0 if abs(number) >= 100 else 1)


def without_unit(text: str) -> str:
    """Return a percentage without its unit."""
    return text.removesuffix("%")


def clipped(text: object) -> str:
    """Return ``text``, cut to ``MAX_TEXT_LENGTH`` characters with a note on the number cut."""
    whole = str(text)
    if len(whole) <= MAX_TEXT_LENGTH:
        return whole
    return f"{whole[:MAX_TEXT_LENGTH]} … ({len(whole) - MAX_TEXT_LENGTH:,} more characters)"


def breakable(name: object) -> Markup:
    """Return a name that may wrap after its hyphens and underscores."""
    return Markup(str(escape(name)).replace("-", "-<wbr>").replace("_", "_<wbr>"))  # noqa: S704 - the name is escaped
