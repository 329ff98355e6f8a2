"""How a command is declared: a function with its options, which returns the document that is printed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial, wraps
from typing import Annotated, Any, cast

import typer

from wikigr_cli.environment import Environment
from wikigr_cli.options import declared
from wikigr_cli.render.output import Document, print_json

Renderer = Callable[[Environment, Document], None]
# What a command returns: a document, or a document with the function that prints it as text.
Result = Document | tuple[Document, Renderer]
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
signature_of = partial(inspect.signature, eval_str=True)


def command(print_text: Renderer | None = None, /, **own: Any) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Make a command of a function whose parameters are its arguments and options.

    ``own`` declares parameters by name; the others are shared by several commands (``options.SHARED``). A parameter
    that is a dataclass stands for an option per field, ``environment`` for the ``Environment`` and ``context`` for
    click's context. What the function returns is printed by ``print_text`` or, with ``--json``, as JSON; it yields it
    if something follows the printing. A function annotated to return ``None`` prints by itself, and has ``--json`` only
    if it has the parameter ``json_output``.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., None]:
        signature = signature_of(function)
        own_parameters = {n: p for n, p in signature.parameters.items() if n not in ("context", "environment")}
        groups: dict[str, Any] = {
            name: p.annotation for name, p in own_parameters.items() if is_dataclass(p.annotation)
        }
        given = [
            parameter
            for name, p in own_parameters.items()
            for parameter in (signature_of(groups[name]).parameters.values() if name in groups else [p])
        ]
        has_json = signature.return_annotation is not None
        if has_json:
            given.append(inspect.Parameter("json_output", _KEYWORD, default=False, annotation=bool))

        @wraps(function)
        def run(context: typer.Context, **values: Any) -> None:
            environment = context.ensure_object(Environment)
            as_json = has_json and values.pop("json_output")
            for name, group in groups.items():
                values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, value in (("context", context), ("environment", environment)):
                if name in signature.parameters:
                    values[name] = value
            found = function(**values)
            for result in found if inspect.isgenerator(found) else [found]:
                if result is not None:
                    document, print_it = result if isinstance(result, tuple) else (result, print_text)
                    (print_json if as_json else print_it)(environment, document)

        parameters = [inspect.Parameter("context", _KEYWORD, annotation=typer.Context)]
        for parameter in given:
            # A type checker would take the brackets for a type.
            annotation = cast(Any, Annotated)[parameter.annotation, declared(parameter, own)]
            parameters.append(parameter.replace(kind=_KEYWORD, annotation=annotation))
        vars(run).update(__signature__=inspect.Signature(parameters), __annotations__={})
        return run

    return declare
