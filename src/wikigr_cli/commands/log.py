"""``wikigr log``: list and show earlier answers."""

from __future__ import annotations

import sys
from itertools import islice

from wikigr.errors import UsageError
from wikigr_cli.command import Result, command
from wikigr_cli.environment import Environment
from wikigr_cli.options import TOP_K, Argument, Run
from wikigr_cli.render.answer import print_answer, print_log
from wikigr_cli.render.output import counted


@command(
    number=Argument(metavar="[N]", min=1, help="Show answer N of the list; 1 is the latest.", show_default=False),
    top_k=TOP_K(help="How many answers to list."),
    clear=Run(help="Delete all answers that are kept."),
)
def log(number: int | None = None, top_k: int = 20, clear: bool = False) -> Result:
    """List the latest answers of `wikigr ask`, or show one of them.

    The last megabytes of answers are kept on this machine, in a file that only you may read. `wikigr ask --no-log`
    keeps none, and neither does WIKIGR_ASK_LOG=0, or `ask: {log: false}` in the settings.

    Examples:
      wikigr log
      wikigr log 1
    """
    from wikigr_cli.answer_log import clear_log, kept_answers, log_files

    if clear:
        removed = clear_log()
        return {"removed": removed}, lambda environment, _: environment.print(f"Deleted {counted(removed, 'answers')}.")
    if number is None:
        return {"file": str(log_files()[0]), "answers": list(islice(kept_answers(), top_k))}, print_log
    answer = next(islice(kept_answers(), min(number - 1, sys.maxsize), None), None)
    if answer is None:
        raise UsageError(f"The log has no answer {number}.", hint="`wikigr log` lists the answers.")

    def show(environment: Environment, _: object) -> None:
        environment.print(f"{answer['question']}", style="dim")
        environment.print()
        print_answer(environment, answer, names_packs=True)

    return answer, show
