"""``wikigr eval``: the evaluation commands, one module each."""

from __future__ import annotations

from wikigr_cli.command_table import group
from wikigr_cli.commands.eval import gate, questions, report, run

eval_command = group(
    """Measure the answers to test questions, and gate CI jobs.

    Profiles are scored on questions whose answers are known, and real differences are told from noise.

    Examples:
      wikigr eval run --pack packs/physics --offline -o runs/first
      wikigr eval report runs/first
    """,
    {
        "run": run.run,
        "report": report.report,
        "trec": report.trec,
        "compare": report.compare,
        "flips": report.flips,
        "gate": gate.gate,
        "bless": gate.bless,
        "validate": questions.validate,
    },
)
