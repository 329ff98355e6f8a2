"""Say in one sentence why a file cannot be read."""

from __future__ import annotations


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
    reason = f"{problem} in {_place(mark)}"
    context, start = getattr(error, "context", None), getattr(error, "context_mark", None)
    return f"{reason} ({context} from {_place(start)})" if context and start is not None else reason


def _place(mark: object) -> str:
    line, column = (getattr(mark, name, 0) + 1 for name in ("line", "column"))
    return f"line {line}, column {column}"
