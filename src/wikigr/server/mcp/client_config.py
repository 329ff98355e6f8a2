"""What to paste into the settings of an assistant so that it starts ``wikigr mcp``."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

# Client to the file that takes the text, or "" for a command.
CLIENTS = {
    "claude-desktop": "claude_desktop_config.json",
    "claude-code": "",
    "vscode": ".vscode/mcp.json",
    "cursor": ".cursor/mcp.json",
}


def client_config(client: str, command: Sequence[str]) -> str:
    """Return the text for ``client``, one of ``CLIENTS``; ``command`` starts the server."""
    entry = {"command": command[0], "args": list(command[1:])}
    if client == "claude-code":
        return shlex.join(["claude", "mcp", "add", "wikigr", "--", *command])
    if client == "vscode":
        return json.dumps({"servers": {"wikigr": {"type": "stdio", **entry}}}, indent=2, ensure_ascii=False)
    return json.dumps({"mcpServers": {"wikigr": entry}}, indent=2, ensure_ascii=False)
