"""Which engine opens a database. One process can use only one of them, so most tests start processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from wikigr.errors import PackError, UsageError
from wikigr.graph import engine_choice
from wikigr.graph.engine import Graph
from wikigr.graph.engine_choice import (
    STORAGE_VERSIONS,
    VARIABLE,
    choose_engine,
    import_engine,
    is_installed,
    read_storage_version,
)

needs_ladybug = pytest.mark.skipif(not is_installed("ladybug"), reason="needs the extra ladybug")

CREATE = """
with Graph(Path(sys.argv[1]), read_only=False) as graph:
    graph.execute("CREATE NODE TABLE Article(title STRING PRIMARY KEY)")
    graph.execute("CREATE (:Article {title: 'Spin'})")
"""
READ = """
with Graph(Path(sys.argv[1])) as graph:
    print(graph.engine, graph.version, graph.storage_version, graph.rows("MATCH (a:Article) RETURN a.title"))
"""
OWN_CONNECTION = """
module = import_engine()
with closing(module.Database(sys.argv[1], read_only=True)) as database, closing(module.Connection(database)) as conn:
    graph = Graph.of(conn)
    print(graph.engine, graph.path, graph.rows("MATCH (a:Article) WHERE a.title = $t RETURN a.title", {"t": "Spin"}))
"""


def run(program: str, *arguments: object, engine: str = "", check: bool = True) -> str:
    imports = """
import sys
from contextlib import closing
from pathlib import Path
from wikigr.graph.engine import Graph
from wikigr.graph.engine_choice import import_engine, prepare_engine
"""
    done = subprocess.run(
        [sys.executable, "-c", imports + program, *map(str, arguments)],
        env={**os.environ, VARIABLE: engine},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not check or done.returncode == 0, done.stderr
    return done.stdout if check else done.stderr


def database(path: Path, storage_version: int) -> Path:
    """Write the header of a database."""
    path.write_bytes(b"LBUG" + storage_version.to_bytes(8, "little") + bytes(4084))
    return path


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A process that has loaded no engine yet, without the variable."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(engine_choice, "loaded_engine", lambda: None)
    monkeypatch.setattr(engine_choice, "is_installed", lambda name: True)
    return monkeypatch


def test_the_storage_version_is_read_from_the_header(tmp_path: Path) -> None:
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        written = graph.storage_version
    assert read_storage_version(tmp_path / "pack.db") == written == STORAGE_VERSIONS[graph.engine]


@pytest.mark.parametrize("content", [b"", b"LBUG", b"LBUG\x28\0\0\0\0\0\0", b"KUZU\x28\0\0\0\0\0\0\0", None])
def test_other_files_have_no_storage_version(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "pack.db").write_bytes(content)
    assert read_storage_version(tmp_path / "pack.db") is None


@pytest.mark.parametrize(
    ("storage", "variable", "read_only", "engine"),
    [
        (None, "", True, "real_ladybug"),
        (None, " ", True, "real_ladybug"),
        (None, "ladybug", False, "ladybug"),
        (40, "", True, "real_ladybug"),
        (40, "ladybug", True, "ladybug"),
        (40, "ladybug", False, "real_ladybug"),  # ladybug would convert it
        (39, "", True, "real_ladybug"),
        (41, "", True, "ladybug"),
        (49, "", True, "ladybug"),
        (49, "real_ladybug", True, "ladybug"),
        (49, "", False, "ladybug"),
        (50, "", True, "real_ladybug"),  # whose message names the version
        (2**63, "ladybug", True, "ladybug"),
    ],
)
def test_the_engine_that_reads_the_database_opens_it(
    fresh: pytest.MonkeyPatch, tmp_path: Path, storage: int | None, variable: str, read_only: bool, engine: str
) -> None:
    fresh.setenv(VARIABLE, variable)
    path = tmp_path / "pack.db" if storage is None else database(tmp_path / "pack.db", storage)
    assert choose_engine(path, read_only=read_only) == engine


def test_a_database_whose_engine_is_not_installed_says_what_to_install(
    fresh: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fresh.setattr(engine_choice, "is_installed", lambda name: name == "real_ladybug")
    with pytest.raises(PackError, match="storage version 49, which the engine ladybug reads") as caught:
        Graph(database(tmp_path / "pack.db", 49))
    assert caught.value.hint == "Run `pip install 'wikigr[ladybug]'`."


@pytest.mark.parametrize("installed", [True, False])
def test_a_process_that_uses_the_other_engine_says_which_engine_reads_both(
    fresh: pytest.MonkeyPatch, tmp_path: Path, installed: bool
) -> None:
    fresh.setattr(engine_choice, "loaded_engine", lambda: "real_ladybug")
    fresh.setattr(engine_choice, "is_installed", lambda name: installed or name != "ladybug")
    assert choose_engine(tmp_path / "pack.db") == "real_ladybug"
    with pytest.raises(PackError, match="which real_ladybug cannot read, and this process already uses") as caught:
        choose_engine(database(tmp_path / "pack.db", 49), read_only=False)
    assert f"Set {VARIABLE}=ladybug, which reads both" in str(caught.value.hint)
    assert ("pip install" in str(caught.value.hint)) != installed


def test_a_database_is_not_converted(fresh: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fresh.setattr(engine_choice, "loaded_engine", lambda: "ladybug")
    path = database(tmp_path / "pack.db", 40)
    assert choose_engine(path) == "ladybug"
    with pytest.raises(PackError, match="would convert it from storage version 40 to 49"):
        choose_engine(path, read_only=False)


def test_a_storage_version_of_the_future_says_so(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="has storage version 50, which no known engine reads"):
        Graph(database(tmp_path / "pack.db", 50))


def test_a_database_that_is_open_is_not_read_beside_the_engine(tmp_path: Path) -> None:
    """Closing a file releases the locks of the process on it (POSIX)."""
    write = "Graph(Path(sys.argv[1]), read_only=False)"
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        assert choose_engine(tmp_path / "pack.db") == graph.engine
        assert "Could not set lock" in run(write, tmp_path / "pack.db", engine=graph.engine, check=False)


def test_an_unknown_or_missing_engine_is_a_usage_error(fresh: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fresh.setenv(VARIABLE, "ladybird")
    with pytest.raises(UsageError, match=f"{VARIABLE} is 'ladybird'") as caught:
        choose_engine(tmp_path / "pack.db")
    assert caught.value.hint == "Set it to real_ladybug or ladybug, or unset it."
    fresh.setenv(VARIABLE, "ladybug")
    fresh.setattr(engine_choice, "is_installed", lambda name: False)
    with pytest.raises(UsageError, match="ladybug is not installed"):
        choose_engine(tmp_path / "pack.db")


def test_a_second_engine_is_not_loaded() -> None:
    loaded = import_engine().__name__
    (other,) = STORAGE_VERSIONS.keys() - {loaded}
    with pytest.raises(UsageError, match=f"already uses the database engine {loaded}, so it cannot use {other}"):
        import_engine(other)
    assert other not in sys.modules


@needs_ladybug
def test_each_engine_has_the_storage_version_of_the_table() -> None:
    for name, storage in STORAGE_VERSIONS.items():
        assert int(run("print(import_engine().storage_version)", engine=name)) == storage


@needs_ladybug
def test_packs_of_either_engine_open_and_stay_as_they_are(tmp_path: Path) -> None:
    paths = {name: tmp_path / f"{name}.db" for name in STORAGE_VERSIONS}
    for name, path in paths.items():
        run(CREATE, path, engine=name)
        assert read_storage_version(path) == STORAGE_VERSIONS[name]
    for name, path in paths.items():
        before = path.read_bytes()
        assert run(READ, path).split()[0] == name
        assert run(OWN_CONNECTION, path, engine=name) == f"{name} {path} [['Spin']]\n"
        newer = run(READ, path, engine="ladybug")
        assert newer.startswith("ladybug 0.22")
        assert newer.endswith("49 [['Spin']]\n")
        assert path.read_bytes() == before
    old, new = paths.values()
    both = f"for path in sys.argv[1:]:{READ.replace(chr(10), chr(10) + '    ').replace('sys.argv[1]', 'path')}"
    assert "this process already uses real_ladybug" in run(both, old, new, check=False)
    prepared = run("prepare_engine(map(Path, sys.argv[1:]))\n" + both, old, new)
    assert [line.split()[0] for line in prepared.splitlines()] == ["ladybug", "ladybug"]
