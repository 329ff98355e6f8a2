"""``docs/wikigr.1``: the manual page, in the macros of man(7) that groff and mandoc both know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from command_tree import Command, Parameter

from wikigr import __version__
from wikigr_cli.exit_codes import EXIT_CODES_HELP

_ENVIRONMENT = [
    ("WIKIGR_PACK", "The pack of every command that reads one."),
    ("WIKIGR_COMMAND_OPTION", "An option of a command, as named with it above."),
    ("ANTHROPIC_API_KEY", "With it Claude writes answers. It is sent to that server and to nobody else."),
    ("ANTHROPIC_BASE_URL", "Another server that speaks the Messages API, such as llama.cpp or Ollama."),
    ("WIKIGR_KEY_PASSPHRASE", "Opens the encrypted key of wikigr pack export --sign."),
    ("NO_COLOR, FORCE_COLOR, TERM", "Whether there is color. There is none in a pipe."),
    ("XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_CACHE_HOME", "Where the folders below are."),
]
_FILES = [
    ("wikigr.yaml", "Settings of the project, in its folder or a parent of it."),
    ("~/.config/wikigr/config.yaml", "Settings of the user. profiles/ beside it holds profiles of one's own."),
    ("~/.local/share/wikigr/packs", "Installed packs."),
    ("~/.cache/wikigr", "Prepared encoders and replies of models. Deleting it does no harm."),
]


def man_page(commands: Sequence[Command]) -> str:
    """Return the page as roff, in ASCII."""
    root = commands[0]
    lines = [
        '.\\" Written by `make docs` from the commands themselves: change the help texts in src/wikigr_cli.',
        f'.TH WIKIGR 1 "" "wikigr {__version__}" "User Commands"',
        # Names of variables and options are not broken, so lines are left ragged.
        ".nh",
        ".ad l",
        ".SH NAME",
        "wikigr \\- knowledge packs with answers whose citations can be checked",
        ".SH SYNOPSIS",
        ".B wikigr",
        "[\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGS\\fR]...",
        ".SH DESCRIPTION",
        *_paragraphs(root.paragraphs),
        ".PP",
        "Results go to standard output, everything else to standard error.",
        ".SH OPTIONS",
        *_parameters(root),
        ".SH COMMANDS",
    ]
    for command in commands[1:]:
        if not command.is_group:
            lines += [f".SS {_quoted(command.usage)}", *_paragraphs(command.paragraphs), *_parameters(command)]
            lines += [line for text in command.closing for line in (".PP", *_paragraphs([text]))]
    lines.append(".SH EXIT STATUS")
    for code in EXIT_CODES_HELP.removeprefix("Exit codes: ").split(" · "):
        number, _, meaning = code.partition(" ")
        lines += _entry(number, meaning)
    for title, entries in (("ENVIRONMENT", _ENVIRONMENT), ("FILES", _FILES)):
        lines.append(f".SH {title}")
        lines += [line for name, text in entries for line in _entry(name, text)]
    return "\n".join(lines) + "\n"


def _paragraphs(paragraphs: Sequence[str]) -> list[str]:
    return "\n.PP\n".join(_text(paragraph) for paragraph in paragraphs).split("\n")


def _parameters(command: Command) -> Iterator[str]:
    for parameter in (*command.arguments, *command.options):
        yield from _entry(parameter.names, _sentence(parameter))


def _sentence(parameter: Parameter) -> str:
    facts = [parameter.text]
    if parameter.default:
        facts.append(f"Default: {parameter.default}.")
    if parameter.limits:
        facts.append(f"Range: {parameter.limits}.")
    if parameter.variable:
        facts.append(f"[{parameter.variable}]")
    return " ".join(facts)


def _entry(name: str, text: str) -> Iterator[str]:
    yield ".TP"
    yield f".B {_quoted(name)}"
    yield _text(text)


def _quoted(text: str) -> str:
    return '"' + _escaped(text).replace('"', "\\(dq") + '"'


def _text(text: str) -> str:
    """Return ``text`` as one input line that no macro can hide in."""
    escaped = _escaped(text)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _escaped(text: str) -> str:
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in plain)
