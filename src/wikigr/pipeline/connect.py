"""Connect to a model if a profile wants one, with the budget that it allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wikigr.llm.options import BudgetOptions, SynthesisOptions
from wikigr.pipeline.profile import Profile

if TYPE_CHECKING:
    from wikigr.llm.budget import Budget
    from wikigr.llm.client import Claude
    from wikigr.llm.response_cache import ResponseCache


def connect(
    profile: Profile,
    *,
    api_key: str | None = None,
    budget: Budget | None = None,
    cache: ResponseCache | None = None,
) -> Claude | None:
    """Return a client for the profile's models, or ``None`` if it works without one.

    ``budget`` may be shared by several clients; by default the client gets the profile's budget for itself. Replies are
    stored in ``cache``, if given. Raises ``UsageError`` when the profile requires Claude and neither a key nor a server
    is configured.
    """
    options = profile[SynthesisOptions]
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
    """Return a new budget with the limits of the profile."""
    from wikigr.llm.budget import Budget

    options = profile[BudgetOptions]
    return Budget(options.max_tokens, options.max_cost_usd)
