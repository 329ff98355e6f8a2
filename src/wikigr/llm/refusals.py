"""What a request can do without: servers and models refuse parameters that others need."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

# Names as they appear in the messages of servers, and so in the body, except for the role of the instructions.
_SYSTEM_ROLE = "system role"
_OPTIONAL = ("temperature", "stream_options", "tool_choice", "response_format", "strict", "tools")
_LIMIT, _OTHER_LIMIT = "max_tokens", "max_completion_tokens"


def refused_in(message: str, body: Mapping[str, Any]) -> str | None:
    """Return which part of ``body`` a server refuses with ``message`` and can be left out or said otherwise, if any."""
    if re.search(r"system.{0,20}\brole|\brole.{0,20}system", message, re.IGNORECASE) and "system" in _roles(body):
        return _SYSTEM_ROLE
    named = set(re.findall(r"[a-z_]+", message.lower()))
    for name in (*_OPTIONAL, _LIMIT):
        is_sent = name in body or (name == "strict" and any("strict" in tool for tool in body.get("tools", ())))
        if name in named and is_sent:
            return name
    return None


def without(body: Mapping[str, Any], refused: Collection[str]) -> dict[str, Any]:
    """Return ``body`` without what is ``refused``; the limit of the reply gets its other name, never none."""
    left = {name: value for name, value in body.items() if name not in refused or name == _LIMIT}
    if _LIMIT in refused and _LIMIT in left:
        left[_OTHER_LIMIT] = left.pop(_LIMIT)
    if "strict" in refused and "tools" in left:
        left["tools"] = [{name: value for name, value in tool.items() if name != "strict"} for tool in left["tools"]]
    if "tools" in refused:
        left.pop("tool_choice", None)
    if _SYSTEM_ROLE in refused and "system" in _roles(left):
        system, first, *others = left["messages"]
        left["messages"] = [{**first, "content": f"{system['content']}\n\n{first['content']}"}, *others]
    return left


def _roles(body: Mapping[str, Any]) -> list[str]:
    return [message["role"] for message in body["messages"]]
