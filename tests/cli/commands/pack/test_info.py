"""``wikigr pack info``, and what a build shows in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ...conftest import ROOT_PACK, Wikigr
from .conftest import change_manifest


def test_build_info_list_validate(wikigr: Wikigr, tmp_path: Path) -> None:
    built = wikigr("pack", "build", str(ROOT_PACK / "articles"), "-o", "packs/p", "--limit", "4", "--json")
    assert built.code == 0
    document = json.loads(built.out)
    assert document["counts"]["articles"] == 4
    info = json.loads(wikigr("pack", "info", "packs/p", "--json").out)
    assert (info["name"], info["digest"]) == ("p", document["digest"])
    assert "4 articles" in wikigr("pack", "info", "packs/p").out
    listed = json.loads(wikigr("pack", "list", "--json").out)
    assert [(pack["name"], pack["installed_as"]) for pack in listed["packs"]] == [("p", None)]
    assert wikigr("pack", "list", "packs").out.split()[0] == "name"
    checked = wikigr("pack", "validate", "packs/p")
    assert checked.code == 0
    assert "FAILED" not in checked.out


@pytest.mark.parametrize(
    ("field", "value"),
    [("counts", None), ("counts", {"articles": "x"}), ("thresholds", {"abstention": "x"}), ("storage_version", True),
     ("encoder", {"model_id": 1}), ("files", {"pack.db": 3}), ("name", 5)],
)  # fmt: skip
def test_a_garbled_manifest_is_a_clear_error(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, field: str, value: object
) -> None:
    copy = change_manifest(physics_pack, tmp_path / "copy", field, value)
    for command in (("pack", "info", str(copy)), ("ask", "What is spin?", "--pack", str(copy))):
        result = wikigr(*command)
        assert result.code == 4
        assert "missing or malformed field" in result.err
