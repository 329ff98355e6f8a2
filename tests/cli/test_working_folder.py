"""The author of the working directory: modules that lie there do not run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# What a build and a query import, in this process or in a child.
PLANTED = ("json", "multiprocessing", "numpy", "pickle", "pip", "selectolax", "socket", "sqlite3", "wikigr", "yaml")


def test_no_module_of_the_working_directory_runs(tmp_path: Path) -> None:
    here = tmp_path / "here"
    (here / "notes").mkdir(parents=True)
    for n in range(3):
        (here / "notes" / f"{n}.html").write_text(f"<title>Pump {n}</title><p>The pump {n} is made of steel.</p>")
    for name in PLANTED:
        (here / f"{name}.py").write_text(f"open('ran', 'a').write('{name} ')\nraise ImportError('{name}')\n")
    # As a console script does, its folder comes first in the path, not the working directory.
    script = tmp_path / "bin" / "run.py"
    script.parent.mkdir()
    script.write_text("from wikigr_cli.entry import main\n\nif __name__ == '__main__':\n    main()\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    for command in (
        ("pack", "build", "notes", "-o", "p", "--jobs", "1"),
        ("graph", "cypher", "MATCH (a:Article) RETURN a.title", "--pack", "p"),
    ):
        done = subprocess.run(
            [sys.executable, str(script), *command],
            cwd=here,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert not (here / "ran").exists(), (here / "ran").read_text()
