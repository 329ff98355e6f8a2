"""From a profile and a pack to a pipeline: `ask`, `search`, `rerank` and `eval` all start here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.profiles.schema import Profile

if TYPE_CHECKING:
    from wikigr.llm.budget import Budget
    from wikigr.llm.client import Claude
    from wikigr.llm.response_cache import ResponseCache


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


def connect(
    profile: Profile,
    *,
    api_key: str | None = None,
    budget: Budget | None = None,
    cache: ResponseCache | None = None,
) -> Claude | None:
    """Return a client for the profile's models, or ``None`` where it is to do without.

    ``budget`` is one that several clients share; without it this client has the profile's for itself. Replies are kept
    in ``cache``, if any. Raises ``UsageError`` when the profile insists on Claude and there is neither a key nor a
    server.
    """
    options = profile.synthesis
    if options.provider == "none":
        return None
    from wikigr.llm import available

    if options.provider == "auto" and not api_key and not available():
        return None
    from wikigr.llm.client import Claude

    return Claude(
        model=options.model,
        api_key=api_key,
        timeout=options.timeout,
        retries=options.retries,
        budget=budget if budget is not None else budget_of(profile),
        cache=cache,
    )


def budget_of(profile: Profile) -> Budget:
    """Return a new budget as large as the profile allows a run."""
    from wikigr.llm.budget import Budget

    return Budget(profile.budget.max_tokens, profile.budget.max_cost_usd)
