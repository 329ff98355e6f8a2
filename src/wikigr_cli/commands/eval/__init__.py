"""``wikigr eval``: the group of the evaluation commands, one module each."""

from __future__ import annotations

import typer

from wikigr_cli.commands.eval import bless, calibrate, compare, flips, gate, report, run, trec, validate
from wikigr_cli.exit_codes import EXIT_CODES_HELP

app = typer.Typer(
    help="Score profiles on gold questions, tell real differences from noise, and gate CI jobs.",
    rich_markup_mode=None,
    no_args_is_help=True,
    epilog=EXIT_CODES_HELP,
)
for _command in (
    run.run,
    report.report,
    trec.trec,
    compare.compare,
    flips.flips,
    gate.gate,
    bless.bless,
    calibrate.calibrate,
    validate.validate,
):
    app.command(epilog=EXIT_CODES_HELP)(_command)
