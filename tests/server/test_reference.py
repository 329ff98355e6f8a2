"""The reference page names every address, tool and argument, and nothing else."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from tests.conftest import ROOT

from wikigr.server.api import ENDPOINTS
from wikigr.server.mcp import make_server
from wikigr.server.packs import ServedPacks
from wikigr.server.service import Service

ROW = re.compile(r"^\| `(?P<name>[^`]+)` \|(?P<arguments>[^|]*)\|", re.MULTILINE)


def rows(heading: str) -> dict[str, set[str]]:
    """The arguments of each address or tool below ``heading``."""
    page = (ROOT / "docs" / "reference" / "server.md").read_text(encoding="utf-8")
    found = ROW.findall(page.partition(f"## {heading}\n")[2].partition("\n## ")[0])
    return {name: set(re.findall(r"`([a-z_]+)`", text)) for name, text in found}


def test_every_address_is_described() -> None:
    described = rows("JSON API")
    for endpoint in ENDPOINTS:
        fields = endpoint.arguments.model_fields
        names = {field.alias or name for name, field in fields.items()} - {endpoint.path_argument}
        # The values of a direction are in the same cell.
        assert described[endpoint.path] - {"out", "in", "both"} == names, endpoint.path


def test_every_tool_is_described(physics_pack: Path) -> None:
    packs = ServedPacks([str(physics_pack)], offline=True)
    tools = asyncio.run(make_server(Service(packs)).list_tools())
    described = rows("Model Context Protocol")
    for tool in tools:
        assert described[tool.name] == set(tool.input_schema["properties"]), tool.name
    packs.close()
