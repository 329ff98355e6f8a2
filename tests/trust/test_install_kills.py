"""`wikigr pack install` killed at any moment: the pack that was there answers, or the new one, and nothing is left."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.distribution.letters import build_letters
from tests.trust.conftest import Tally, kill_when, kills

from wikigr.distribution.archive import export_pack
from wikigr.distribution.install import install
from wikigr.embeddings.embedder import Embedder
from wikigr.pack.layout import MANIFEST, installed_packs
from wikigr.pack.locate import find_pack
from wikigr.pack.manifest import check_file, read_manifest
from wikigr.pack.open import Pack

KILLS = kills(30)
_PROGRAM = "import sys; from wikigr.distribution.install import install; install(sys.argv[1])"


@pytest.fixture
def versions(tmp_path: Path, encoder: Embedder, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two archives of one pack, 1.0.0 installed."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    source = build_letters(tmp_path / "letters", encoder)
    archives = []
    for version in ("1.0.0", "2.0.0"):
        manifest = json.loads((source / MANIFEST).read_text())
        (source / MANIFEST).write_text(json.dumps({**manifest, "version": version}))
        archives.append(export_pack(source, tmp_path / f"{version}.wikigr").file)
    install(archives[0])
    return archives


def whole_version() -> str:
    """Return the version in use after checking it completely and searching it."""
    layout = find_pack("letters")
    manifest = read_manifest(layout.root / MANIFEST)
    assert {check_file(layout.root / name, record) for name, record in manifest.files.items()} == {None}
    with Pack("letters") as opened:
        assert opened.graph.rows("MATCH (a:Article) RETURN count(a)") == [[3]]
        assert opened.lexical.search("alpha", 3)
    return manifest.version


def left() -> set[str]:
    root = installed_packs()
    return {path.relative_to(root).as_posix() for path in (*root.iterdir(), *(root / ".versions").glob("*"))}


def test_killed_at_any_moment(versions: list[Path], tmp_path: Path, tally: Callable[[str], Tally]) -> None:
    count, chance = tally("install: killed"), random.Random(17)
    command = [sys.executable, "-c", _PROGRAM, str(versions[1])]
    data = tmp_path / "data"
    shutil.copytree(data, tmp_path / "before", symlinks=True)
    begun = time.monotonic()
    assert subprocess.run(command, check=False).returncode == 0
    seconds = time.monotonic() - begun
    found = set()
    versions_folder, link = installed_packs() / ".versions", installed_packs() / "letters"
    for n in range(KILLS):
        shutil.rmtree(data)
        shutil.copytree(tmp_path / "before", data, symlinks=True)
        process = subprocess.Popen(command, start_new_session=True)
        if n % 3 == 0:
            # Most of the time it verifies the pack.
            kill_when(process, lambda: True, chance.uniform(0.1, 1.1) * seconds)
        elif n % 3 == 1:
            # Beside the lock and the versions, there is a folder in which the new one is prepared.
            kill_when(process, lambda: len(list(versions_folder.iterdir())) > 2, chance.uniform(0, 0.3) * seconds)
        else:
            kill_when(process, lambda: link.readlink().name.startswith("2.0.0"), 0.0)
        found.add(whole_version())
        assert install(versions[1]).version == "2.0.0"
        assert whole_version() == "2.0.0"
        assert left() == {"letters", ".versions", ".versions/.lock", ".versions/letters"}
        assert len(list((installed_packs() / ".versions" / "letters").iterdir())) == 1
        count.harmless()
    assert found == {"1.0.0", "2.0.0"}


_AT_STEP = """
import os, signal, sys
from pathlib import Path
from wikigr.distribution.install import install
from wikigr.pack.layout import installed_packs

step, calls = int(sys.argv[2]), 0

def counting(act):
    def call(*arguments, **named):
        global calls
        calls += str(arguments[0]).startswith(str(installed_packs()))
        if calls > step:
            os.kill(os.getpid(), signal.SIGKILL)
        return act(*arguments, **named)
    return call

for name in ("rename", "replace", "symlink_to"):
    setattr(Path, name, counting(getattr(Path, name)))
install(sys.argv[1])
"""


@pytest.mark.parametrize("step", range(5))
def test_killed_between_any_two_changes_of_names(
    versions: list[Path], tally: Callable[[str], Tally], step: int
) -> None:
    done = subprocess.run([sys.executable, "-c", _AT_STEP, str(versions[1]), str(step)], check=False)
    # The origin, the version, the link, the link's place; then there is nothing left to do.
    assert done.returncode == (0 if step >= 4 else -signal.SIGKILL)
    assert whole_version() == ("2.0.0" if step >= 4 else "1.0.0")
    assert install(versions[1]).version == "2.0.0"
    assert whole_version() == "2.0.0"
    assert left() == {"letters", ".versions", ".versions/.lock", ".versions/letters"}
    tally("install: killed").harmless()
