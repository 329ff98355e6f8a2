"""Whether there is a model to ask; apart from the client, so that a question without one need not load it."""

from __future__ import annotations

import os


def available() -> bool:
    """Whether the environment names a key, a token or a server, so that a model can be asked."""
    return any(
        os.environ.get(name, "").strip() for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")
    )
