"""How a command is declared: a function with its options, which returns the document that is printed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from wikigr_cli.environment import Environment
from wikigr_cli.options import declared
from wikigr_cli.render.output import Document, print_json

Renderer = Callable[[Environment, Document], None]
# What a command returns: a document, or a document with the function that prints it as text.
Result = Document | tuple[Document, Renderer]


def command(print_text: Renderer | None = None, /, **own: Any) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Make a command of a function whose parameters are its arguments and options.

    ``own`` declares parameters by name; the others are shared by several commands (``options.SHARED``). A parameter
    ``environment`` is the ``Environment``, and ``context`` is click's. What the function returns is printed by
    ``print_text`` or, with ``--json``, as JSON. It yields it instead if something follows the printing. A function that
    is annotated to return ``None`` prints by itself and has no ``--json`` of its own.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., None]:
        signature = inspect.signature(function, eval_str=True)
        given = [p for p in signature.parameters.values() if p.name not in ("context", "environment")]
        has_json = signature.return_annotation is not None
        if has_json:
            flag = inspect.Parameter("json_output", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=bool)
            given.append(flag)
        parameters = [inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
        for parameter in given:
            hint: Any = Annotated.__class_getitem__((parameter.annotation, declared(parameter, own)))  # type: ignore[attr-defined]
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hint))

        @wraps(function)
        def run(context: typer.Context, **values: Any) -> None:
            environment = context.ensure_object(Environment)
            as_json = has_json and values.pop("json_output")
            available = {"context": context, "environment": environment}
            values.update({name: value for name, value in available.items() if name in signature.parameters})
            found = function(**values)
            for result in found if inspect.isgenerator(found) else [found]:
                if result is not None:
                    document, print_it = result if isinstance(result, tuple) else (result, print_text)
                    print_json(environment, document) if as_json else print_it(environment, document)

        vars(run).update(__signature__=inspect.Signature(parameters), __annotations__={})
        return run

    return declare
