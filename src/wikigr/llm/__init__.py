"""The language model: a client of the Messages API, its budget, prices, prompts and response cache."""

from __future__ import annotations

import os


def available() -> bool:
    """Return whether the environment names an API key, a token or a server for a model.

    This function is not in ``client`` because a question without a model must not load the client.
    """
    return any(
        os.environ.get(name, "").strip() for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")
    )
