"""Say in one sentence why a file cannot be read."""

from __future__ import annotations

import re

# What the messages of the YAML parser mean, in the words of someone who does not know its grammar.
_YAML_MISTAKES = (
    (r"found character '\\t'", "a tab, but YAML is indented with blanks"),
    (r"mapping values are not allowed", "a colon that is out of place"),
    (r"could not find expected ':'", "a key without a colon after it"),
    (r"expected <block end>", "a line that is not indented like the ones before it"),
    (r"expected ',' or '\]'", "a list that is not closed with ]"),
    (r"expected ',' or '\}'", "a mapping that is not closed with }"),
    (r"found unexpected end of stream", "a quotation mark that is not closed"),
)


def describe_read_error(error: BaseException) -> str:
    """Return the reason of an error of the system, of decoding or of YAML, without the file's name and a period.

    A mistake in YAML has its line and column.
    """
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, UnicodeDecodeError):
        line = error.object.count(b"\n", 0, error.start) + 1
        return f"invalid UTF-8 in line {line} (0x{error.object[error.start]:02x})"
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is None or problem is None:
        return " ".join(str(error).replace('in "<unicode string>", ', "at ").split())
    problem = next((words for pattern, words in _YAML_MISTAKES if re.match(pattern, problem)), problem)
    reason = f"{problem} in {_place(mark)}"
    start = getattr(error, "context_mark", None)
    return f"{reason} (it begins in {_place(start)})" if start is not None else reason


def _place(mark: object) -> str:
    line, column = (getattr(mark, name, 0) + 1 for name in ("line", "column"))
    return f"line {line}, column {column}"
