"""What ``wikigr why`` prints."""

from __future__ import annotations

from wikigr_cli.environment import Environment
from wikigr_cli.render.output import Document, one_line

# Longer texts are cut in text output.
_MAX_NAME_LENGTH = 200
_MAX_REASON_LENGTH = 800
# Continuation lines start in the last column of the table.
_HANG = 41


def print_why(environment: Environment, document: Document) -> None:
    """Print the outcome for an article, then its rank at every stage."""
    environment.print(one_line(document["section_id"] or document["title"], _MAX_NAME_LENGTH), style="bold", end="")
    environment.print(f": {one_line(document['reason'], _MAX_REASON_LENGTH)}")
    if document["setting"]:
        profile = one_line(document["profile"], _MAX_NAME_LENGTH)
        environment.print(f"`{document['setting']}` in the profile {profile} decides that.", style="dim")
    environment.print()
    environment.print(f"{'stage':<16}{'section':>8}{'of':>6}{'article':>9}", style="bold")
    for stage in document["stages"]:
        if stage["rank"] is None:
            reason = one_line(stage["reason"], _MAX_REASON_LENGTH)
            environment.print(f"{stage['stage']:<16}{'-':>8}{stage['of']:>6}{'-':>9}  {reason}", hang=_HANG)
        else:
            score = "" if stage["score"] is None else f"  {stage['score']:.3f}"
            place = f"{stage['rank']:>8}{stage['of']:>6}{stage['article_rank']:>9}"
            section_id = one_line(stage["section_id"], _MAX_NAME_LENGTH)
            environment.print(f"{stage['stage']:<16}{place}  {section_id}", end="")
            environment.print(score, style="dim", hang=_HANG)
