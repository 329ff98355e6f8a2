"""From a profile and a pack to a pipeline: `ask`, `search`, `rerank` and `eval` all start here."""

from __future__ import annotations

from pathlib import Path

from wikigr.llm.budget import Budget
from wikigr.llm.client import Claude, available
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile


def build_pipeline(
    profile: Profile, pack: Pack, *, model: Claude | None = None, few_shot_path: Path | None = None
) -> Pipeline:
    """Return the pipeline that asks ``pack`` as ``profile`` says.

    Without ``model`` (see ``connect``) nothing leaves the machine and answers are quotations. ``few_shot_path`` is a
    file of worked examples in place of the pack's own.
    """
    return Pipeline(pack, profile, model=model, few_shot_path=few_shot_path)


def connect(profile: Profile, *, api_key: str | None = None) -> Claude | None:
    """Return the client for the profile's models, within its budget, or ``None`` where it is to do without.

    Raises ``UsageError`` when the profile insists on Claude and there is neither a key nor a server.
    """
    options = profile.synthesis
    if options.provider == "none" or (options.provider == "auto" and not api_key and not available()):
        return None
    budget = Budget(profile.budget.max_tokens, profile.budget.max_cost_usd)
    return Claude(model=options.model, api_key=api_key, timeout=options.timeout, retries=options.retries, budget=budget)
