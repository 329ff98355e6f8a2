"""``wikigr eval``: the evaluation commands, one module each."""

from __future__ import annotations

from wikigr_cli.command_table import group
from wikigr_cli.commands.eval import calibrate, compare, gate, report, run, validate

app = group(
    """Score profiles on gold questions, tell real differences from noise, and gate CI jobs.

    \b
    Examples:
      wikigr eval run --pack packs/physics --offline -o runs/first
      wikigr eval report runs/first
    """,
    {
        "run": run.run,
        "report": report.report,
        "trec": report.trec,
        "compare": compare.compare,
        "flips": compare.flips,
        "gate": gate.gate,
        "bless": gate.bless,
        "calibrate": calibrate.calibrate,
        "validate": validate.validate,
    },
)
