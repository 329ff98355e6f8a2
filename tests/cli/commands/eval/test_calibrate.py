"""``wikigr eval calibrate``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from ...conftest import Wikigr


def test_calibrate_fits_and_stores_the_threshold(
    wikigr: Wikigr, physics_pack: Path, questions: Path, tmp_path: Path
) -> None:
    pack = Path(shutil.copytree(physics_pack, tmp_path / "copy"))
    rows = [{**json.loads(line), "split": "dev"} for line in questions.read_text().splitlines()]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ("eval", "calibrate", "--pack", str(pack), "--questions", str(questions), "--json")
    shown = json.loads(wikigr(*arguments, "--dry-run").out)
    assert "answer" not in json.loads((pack / "manifest.json").read_text())["thresholds"]
    stored = json.loads(wikigr(*arguments).out)
    assert (stored["threshold"], stored["stored"], shown["stored"]) == (shown["threshold"], True, False)
    assert json.loads((pack / "manifest.json").read_text())["thresholds"]["answer"] == stored["threshold"]
    assert wikigr("pack", "validate", str(pack)).code == 0
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows if row["answerable"]))
    one_kind = wikigr(*arguments)
    assert (one_kind.code, "unanswerable" in one_kind.err) == (2, True)
