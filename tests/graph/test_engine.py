from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import MAIN

from wikigr.errors import PackError
from wikigr.graph.engine import STORAGE_VERSION, Graph, QueryError, check_storage_version


def test_a_result_that_arrow_cannot_represent_is_a_query_error() -> None:
    with Graph(Path(":memory:"), read_only=False) as graph:
        with pytest.raises(QueryError, match="UINT128"):
            graph.arrow("RETURN sum(CAST(1 AS UINT64)) AS total")
        assert graph.rows("RETURN 6 * 7") == [[42]]


def test_the_path_is_absolute_so_that_it_can_be_removed_from_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Graph(Path("pack.db"), read_only=False) as graph:
        assert graph.path == tmp_path / "pack.db"
    (tmp_path / "pack.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(PackError, match=r"Cannot open the database pack\.db"):
        Graph(Path("pack.db"))


@pytest.mark.parametrize(
    ("gigabytes", "command"),
    [(1, ["search", "spin", "--pack", "PACK"]),
     pytest.param(4, ["ask", "What is spin?", "--offline", "--pack", "PACK"], marks=pytest.mark.trust),
     pytest.param(2, ["pack", "validate", "PACK"], marks=pytest.mark.trust)],
)  # fmt: skip
def test_a_limit_on_virtual_memory_is_the_reported_cause(
    physics_pack: Path, gigabytes: int, command: list[str]
) -> None:
    limit = gigabytes * 1_000_000_000
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *(str(physics_pack) if word == "PACK" else word for word in command)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 3
    assert f"limited to {limit / 2**30:.1f} GiB (ulimit -v)" in done.stderr
    assert "`ulimit -v unlimited`" in done.stderr
    assert "build it again" not in done.stderr


@pytest.mark.parametrize("megabytes", [150, 200, 300])
def test_a_limit_too_small_for_the_libraries_is_no_bug(physics_pack: Path, megabytes: int) -> None:
    limit = megabytes * 1_000_000
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "ask", "What is spin?", "--pack", str(physics_pack), "--offline"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "ulimit -v" in done.stderr
    assert not any(words in done.stderr for words in ("a bug", "Traceback", "model prepare", "build it again"))


def test_keys_are_looked_up_together_and_one_by_one() -> None:
    with Graph(Path(":memory:"), read_only=False) as graph:
        graph.execute("CREATE NODE TABLE Thing(key STRING PRIMARY KEY, size INT64)")
        for number in range(30):
            graph.execute(f"CREATE (:Thing {{key: 'k{number}', size: {number}}})")
        query = "MATCH (t:Thing {key: $key}) RETURN t.key, t.size"
        for count in (0, 1, 7, 8, 9, 30):
            keys = [f"k{number}" for number in range(count)]
            assert sorted(map(list, graph.look_up(query, ["missing", *keys]))) == sorted(
                [key, int(key[1:])] for key in keys
            )


@pytest.mark.parametrize("content", [b"", b"LBUG", b"KUZU\x28\0\0\0\0\0\0\0", b"LBUG\x28\0\0\0\0\0\0\0"])
def test_other_files_and_readable_databases_pass_the_check(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "pack.db").write_bytes(content)
    check_storage_version(tmp_path / "pack.db")


def test_a_database_of_a_newer_engine_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "pack.db"
    path.write_bytes(b"LBUG" + (49).to_bytes(8, "little") + bytes(4084))
    with pytest.raises(PackError, match="storage version 49, and real_ladybug reads versions up to 40") as caught:
        Graph(path)
    assert "Update wikigr" in str(caught.value.hint)
    with Graph(tmp_path / "new.db", read_only=False) as graph:
        assert graph.storage_version == STORAGE_VERSION
