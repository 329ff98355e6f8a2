"""From a profile and a pack to a pipeline: `ask`, `search`, `rerank` and `eval` all start here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile

if TYPE_CHECKING:
    from wikigr.llm.client import Claude


def build_pipeline(
    profile: Profile,
    pack: Pack,
    *,
    model: Claude | None = None,
    few_shot_path: Path | None = None,
    offline: bool = False,
) -> Pipeline:
    """Return the pipeline that asks ``pack`` as ``profile`` says.

    Without ``model`` (see ``connect``) nothing of a question leaves the machine and answers are quotations.
    ``few_shot_path`` is a file of worked examples in place of the pack's own. ``offline`` forbids the network
    altogether, to a cross-encoder that would be downloaded too; a ``model`` is then a mistake (``ValueError``).
    """
    if offline and model is not None:
        raise ValueError("a pipeline that is offline cannot have a model")
    return Pipeline(pack, profile, model=model, few_shot_path=few_shot_path, offline=offline)


def connect(profile: Profile, *, api_key: str | None = None) -> Claude | None:
    """Return the client for the profile's models, within its budget, or ``None`` where it is to do without.

    Raises ``UsageError`` when the profile insists on Claude and there is neither a key nor a server.
    """
    options = profile.synthesis
    if options.provider == "none":
        return None
    from wikigr.llm.available import available

    if options.provider == "auto" and not api_key and not available():
        return None
    from wikigr.llm.budget import Budget
    from wikigr.llm.client import Claude

    budget = Budget(profile.budget.max_tokens, profile.budget.max_cost_usd)
    return Claude(model=options.model, api_key=api_key, timeout=options.timeout, retries=options.retries, budget=budget)
