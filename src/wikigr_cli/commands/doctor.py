"""``wikigr doctor``: is this machine ready, and if not, what mends it."""

from __future__ import annotations

import typer

from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.render import output as render


def doctor(context: typer.Context, json_output: options.Json = False) -> None:
    """Check Python, the engine and its extensions, the encoder, caches and key; print the mend beside each failure."""
    environment = context.ensure_object(Environment)

    from wikigr.doctor import diagnose

    checks = diagnose(environment.variables)
    if json_output:
        render.json_document(environment, render.checks_document(checks))
    else:
        render.checks_list(environment, checks)
    if any(check.required and not check.passed for check in checks):
        raise typer.Exit(ExitStatus.RUNTIME)
