"""``wikigr doctor``: check whether this machine is ready."""

from __future__ import annotations

import typer

from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.render.output import all_passed, checks_document, print_checks, print_result


def doctor(context: typer.Context, json_output: options.Json = False) -> None:
    """Check Python, the engine and its extensions, the encoder, caches and API key; print a fix for each failure.

    \b
    Examples:
      wikigr doctor
      wikigr doctor --json
    """
    environment = context.ensure_object(Environment)

    from wikigr.doctor import diagnose

    checks = diagnose(environment.variables)
    print_result(environment, checks_document(checks), print_checks, as_json=json_output)
    if not all_passed(checks):
        raise typer.Exit(ExitStatus.RUNTIME)
