"""The click classes of commands and groups: what every command of the tree has in common.

Options are declared with Typer in the signatures of the commands. Each is named as it is spelled, so that click finds
its variable (``auto_envvar_prefix``) and its default in the user's settings (``default_map``). Every command also gets
the global options, and ``--pack`` if its argument is a pack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from wikigr.errors import UsageError
from wikigr_cli.environment import Environment, read_stdin, typed_in
from wikigr_cli.exit_codes import EXIT_CODES_HELP
from wikigr_cli.options import PANELS, RARE, complete_packs, no_pack, packs_of_variable

# The options that mean the same before and after a command, each with its short form and its help.
GLOBAL_OPTIONS = {
    "quiet": ("-q", "Hide progress and notes; errors still show."),
    "verbose": ("-v", "Print a trace of every stage on stderr."),
    "debug": (None, "Show the traceback of an error."),
    "help-all": (None, "Show this help with the global options and the exit codes."),
}
# What stands for a value in help texts, by type.
_METAVARS = {"int": "N", "int range": "N", "float": "NUMBER", "float range": "NUMBER", "str": "TEXT"}
# A context with this key prints the whole help, and one with the other one a help that leaves these parts out.
_SHOWS_ALL, _OMITTED = "wikigr.help_all", "wikigr.omitted"
# The lines of a help, which leaves out as much as it must to fit: first options, then what follows the summary.
MAX_HELP_LINES = 40
_TO_OMIT: tuple[tuple[str, ...], ...] = ((), ("options",), ("options", "text"))
# These commands remove or choose a pack, so it must be named: neither a variable nor the settings name it.
NAMED_PACK = (("pack", "remove"), ("pack", "use"))
CommandPath = tuple[str, ...]


class _InTree:
    """What commands and groups share: their place in the tree, and the end of their help."""

    path: CommandPath = ()

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, and the options under their headings."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], **{panel: [] for panel in PANELS}}
        for parameter in ctx.command.get_params(ctx):
            record = parameter.get_help_record(ctx)
            is_omitted = "options" in _omitted(ctx) and parameter.name in RARE
            if record is not None and not is_omitted:
                sections[heading_of(parameter)].append(record)
        if _SHOWS_ALL not in ctx.meta:
            del sections[PANELS[-1]]
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the exit codes, or where they are shown."""
        more = "More, global options" if _omitted(ctx) else "Global options"
        more += f" and exit codes: {ctx.command_path} --help-all"
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(EXIT_CODES_HELP if _SHOWS_ALL in ctx.meta else more)


def _omitted(ctx: Any) -> tuple[str, ...]:
    return () if _SHOWS_ALL in ctx.meta else ctx.meta.get(_OMITTED, ())


class Command(_InTree, TyperCommand):
    """A command of the tree. Its help fits a screen, unless all of it is asked for."""

    def get_help(self, ctx: Any) -> str:
        for ctx.meta[_OMITTED] in _TO_OMIT:
            text = super().get_help(ctx)
            if text.count("\n") < MAX_HELP_LINES:
                break
        return text

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        summary, *paragraphs = (self.help or "").split("\n\n")
        if "text" in _omitted(ctx):
            paragraphs = [paragraph for paragraph in paragraphs if paragraph.startswith("\b\nExamples:")]
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text("\n\n".join([summary, *paragraphs]))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _refuse_second_pack(self, ctx, args)
        return super().parse_args(ctx, args)


class Group(_InTree, TyperGroup):
    """A group of the tree."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            # Whole summaries: click would cut them to one line.
            formatter.write_dl([(name, self.commands[name].get_short_help_str(1000)) for name in self.commands])
        super().format_options(ctx, formatter)


class GlobalOption(TyperOption):
    """A global option; after a command it precedes the same option before the command."""

    def __init__(self, name: str) -> None:
        short, text = GLOBAL_OPTIONS[name]
        super().__init__(
            param_decls=[name.replace("-", "_"), *filter(None, (short, f"--{name}"))],
            is_flag=True,
            default=False,
            expose_value=False,
            is_eager=True,
            help=text,
            rich_help_panel=PANELS[-1],
            allow_from_autoenv=name != "help-all",
            callback=self._apply,
        )

    def _apply(self, ctx: Any, _: Any, value: bool) -> bool:
        environment = ctx.find_object(Environment)
        if not value or environment is None:
            return value
        if self.name == "help_all":
            ctx.meta[_SHOWS_ALL] = True
            environment.write(f"{ctx.get_help()}\n")
            raise typer.Exit
        if self.name == "debug":
            environment.debug = True
        # A flag before the command precedes the settings.
        elif environment.verbosity == 0 or typed_in(ctx)(str(self.name)):
            environment.verbosity = -1 if self.name == "quiet" else 1
        return value


class PackOption(TyperOption):
    """``--pack`` for a command whose argument is a pack: another way to give the argument."""

    def __init__(self, argument: Any, *, has_default: bool) -> None:
        super().__init__(
            param_decls=["pack", "--pack", "-p"],
            metavar="PACK",
            multiple=argument.nargs == -1,
            expose_value=False,
            is_eager=True,
            allow_from_autoenv=has_default,
            rich_help_panel=PANELS[0],
            help="The pack, instead of the argument." + ("" if has_default else " It has no default: name the pack."),
            autocompletion=lambda ctx, args, incomplete: complete_packs(incomplete),
        )
        self.argument, self.is_required = argument, argument.required
        argument.required = False

    def handle_parse_result(self, ctx: Any, opts: Mapping[str, Any], args: list[str]) -> tuple[Any, list[str]]:
        value, source = self.consume_value(ctx, opts)
        name = str(self.argument.name)
        is_named = opts.get(name) is not None
        if not ctx.resilient_parsing:
            if is_named and source.name == "COMMANDLINE":
                raise UsageError("The pack is given twice.", hint="Give it either as an argument or with --pack.")
            if not is_named and value is None and self.is_required:
                raise no_pack("PACK", default_applies=self.allow_from_autoenv)
        if not is_named and value is not None:
            opts[name] = value  # type: ignore[index]  # the parser passes a dict
        return super().handle_parse_result(ctx, opts, args)


def prepare(command: Any, path: CommandPath) -> None:
    """Give ``command`` and its subcommands what every command has; ``path`` is the command's place in the tree."""
    command.path = path
    # Click would join the lines of the examples.
    command.help = re.sub(r"\n\n(?=Examples:\n)", "\n\n\b\n", command.help or "")
    children = getattr(command, "commands", None)
    if children is None:
        _accept_words(command)
        _accept_pack_option(command)
        _name_as_spelled(command)
    elif path:
        for name, child in children.items():
            prepare(child, (*path, name))
    for option in options_of(command):
        choices = "|".join(getattr(option.type, "choices", ()))
        option.metavar = option.metavar or choices or _METAVARS.get(option.type.name)
        option.show_envvar = False
        # A pack has a default in a variable or the settings; its callback says what to do without any.
        option.required &= option.name != "pack"
        # A variable that asks for a help text or the version would keep every command from running.
        option.allow_from_autoenv &= not option.is_eager or isinstance(option, PackOption)
    command.params += [GlobalOption(name) for name in GLOBAL_OPTIONS]


def _name_as_spelled(command: Any) -> None:
    """Name every option as it is spelled; the function of the command still gets its own names."""
    own = {}
    for parameter in command.params:
        if parameter.param_type_name == "option":
            name = long_name(parameter).replace("-", "_")
        else:
            # The option --pack has the name of its argument.
            name = "pack_argument" if parameter.name == "pack" else parameter.name
        own[name], parameter.name = parameter.name, name
        if name == "pack" and parameter.multiple:
            # Click splits variables at blanks, which the path of a pack may contain.
            parameter.value_from_envvar = lambda ctx, pack=parameter: packs_of_variable(pack.resolve_envvar_value(ctx))
    run = command.callback
    command.callback = lambda **values: run(**{own.get(name, name): value for name, value in values.items()})


def leaf_commands(command: Any, path: CommandPath = ()) -> Iterator[tuple[CommandPath, Any]]:
    """Yield every command at or below ``command``, which is at ``path``, without the groups."""
    children = getattr(command, "commands", None)
    if children is None:
        yield path, command
        return
    for name in children:
        yield from leaf_commands(children[name], (*path, name))


def is_option(root: Any, name: str) -> bool:
    """Return whether a command has the option ``--name``. Commands are imported until one has it."""
    return any(long_name(option) == name for _, command in leaf_commands(root) for option in options_of(command))


def heading_of(parameter: Any) -> str:
    """Return the heading of an argument or option in help texts."""
    if parameter.param_type_name == "argument":
        return "Arguments"
    # Only --help and the options for shell completion, which Typer adds, have no heading of their own.
    return getattr(parameter, "rich_help_panel", None) or PANELS[-1]


def options_of(command: Any) -> list[TyperOption]:
    """Return the options of ``command`` that are not hidden."""
    return [p for p in command.params if p.param_type_name == "option" and not p.hidden]


def long_name(option: Any) -> str:
    """Return the long spelling of an option without dashes."""
    return str(max(option.opts, key=len)).lstrip("-")


def _accept_words(command: Any) -> None:
    """Let an argument such as ``QUESTION...`` take several words, which are joined."""
    for parameter in command.params:
        is_argument = parameter.param_type_name == "argument" and parameter.nargs == 1
        if is_argument and (parameter.metavar or "").rstrip("]").endswith("..."):
            parameter.nargs = -1
            parameter.callback = _join_words


def takes_words(parameter: Any) -> bool:
    """Return whether ``parameter`` is an argument whose words are joined."""
    return getattr(parameter, "callback", None) is _join_words


def _join_words(ctx: Any, parameter: Any, words: Sequence[str] | None) -> str | None:
    if not words or ctx.resilient_parsing:
        return None
    if parameter.name == "question" and tuple(words) == ("-",):
        question = read_stdin(ctx.ensure_object(Environment), "the question").strip()
        if not question:
            raise UsageError(
                "Standard input holds no question.", hint='Example: echo "What is spin?" | wikigr ask - --pack PACK'
            )
        return question
    return " ".join(words)


def _accept_pack_option(command: Any) -> None:
    """Add ``--pack`` to a command whose argument is a pack."""
    for parameter in command.params:
        if parameter.param_type_name == "argument" and parameter.name in ("pack", "packs"):
            command.params.append(PackOption(parameter, has_default=command.path not in NAMED_PACK))
            return


def _refuse_second_pack(command: Command, ctx: Any, args: Sequence[str]) -> None:
    """Raise ``UsageError`` if ``--pack`` is repeated for a command that takes one pack.

    Of other options the last one counts, so that an alias in a shell can be overridden.
    """
    packs = [option for option in options_of(command) if option.name == "pack" and not option.multiple]
    if not packs or ctx.resilient_parsing:
        return
    _, _, given = command.make_parser(ctx).parse_args(args=list(args))
    if sum(parameter is packs[0] for parameter in given) > 1:
        name = " ".join(command.path)
        raise UsageError(
            f"`{name}` takes one pack, but --pack is given more than once.", hint="`ask` and `search` take several."
        )
