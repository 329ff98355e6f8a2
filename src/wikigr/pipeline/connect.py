"""Connect to a model if a profile wants one, with the budget that it allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wikigr.errors import UsageError
from wikigr.llm.options import BudgetOptions, ModelFileOptions, SynthesisOptions
from wikigr.pipeline.profile import Profile

if TYPE_CHECKING:
    from wikigr.llm.budget import Budget
    from wikigr.llm.model_client import ModelClient
    from wikigr.llm.response_cache import ResponseCache
    from wikigr.progress import Progress


def connect(
    profile: Profile,
    *,
    api_key: str | None = None,
    offline: bool = False,
    budget: Budget | None = None,
    cache: ResponseCache | None = None,
    progress: Progress | None = None,
) -> ModelClient | None:
    """Return a client for the profile's models, or ``None`` if it works without one.

    ``budget`` may be shared by several clients; by default the client gets the profile's budget for itself. Replies are
    stored in ``cache``, if given. ``offline`` allows a model file only, whose
    stages ``progress`` gets. Raises ``UsageError`` when the profile requires
    a model and there is neither a file, a key nor a server, or if one of them cannot be used.
    """
    options = profile[SynthesisOptions]
    if options.provider == "none":
        return None
    from wikigr.llm import api_of, available

    if offline and api_of(options.model) != "file":
        return None
    if options.provider == "auto" and not api_key and not available(options.model):
        return None
    from wikigr.llm import open_client

    return open_client(
        options.model,
        api_key=api_key,
        timeout=options.timeout,
        retries=options.retries,
        budget=budget if budget is not None else budget_of(profile),
        cache=cache,
        file=profile[ModelFileOptions],
        progress=progress,
    )


def with_model(profile: Profile, model: str | None) -> Profile:
    """Return ``profile`` with ``model``, if one is given, for all that a model does; raises ``UsageError`` for a blank.

    Claude's models rephrase questions with a smaller one; a server of other models may have no second one.
    """
    if model is None:
        return profile
    if not model.strip():
        raise UsageError("--model must not be empty.")
    if model.startswith("claude"):
        return profile.override(SynthesisOptions, model=model)
    return profile.override(SynthesisOptions, model=model, expansion_model=model)


def budget_of(profile: Profile) -> Budget:
    """Return a new budget with the limits of the profile."""
    from wikigr.llm.budget import Budget

    options = profile[BudgetOptions]
    return Budget(options.max_tokens, options.max_cost_usd)
