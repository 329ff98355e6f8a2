"""Fuzz the layout of plain text. Each line is an event: its first character says which, the rest is its text."""

from __future__ import annotations

from wikigr.sources.plain_text import PlainTextWriter, collapse_spaces, format_superscript


def TestOneInput(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    assert collapse_spaces(collapse_spaces(text)) == collapse_spaces(text)
    writer = PlainTextWriter("Bees")
    open_blocks = []
    for line in text.split("\n"):
        event, rest = line[:1], line[1:]
        if event == "#":
            writer.heading(1 + len(rest) % 6, rest)
        elif event == "*":
            writer.open_item("- ")
            open_blocks.append(writer.close_item)
        elif event == ">":
            writer.open_indent()
            open_blocks.append(writer.close_indent)
        elif event == "<" and open_blocks:
            open_blocks.pop()()
        elif event == "|":
            writer.verbatim(rest)
        elif event == "/":
            writer.line_break()
        elif event == "-":
            writer.removed()
        elif event == ".":
            writer.end_block()
        elif event == "^":
            writer.write(format_superscript(rest[1:], rest[:1]))
        else:
            writer.write(line)
    for close in reversed(open_blocks):
        close()
    for section in writer.sections():
        assert section.text
        assert "\x00" not in section.text
