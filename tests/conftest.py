"""Fixtures for all tests: the real encoder, the demo pack (built once), and small databases."""

from __future__ import annotations

import fcntl
import gc
import hashlib
import importlib.util
import os
import pickle
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tests.inference import outputs_of_graphs, run_every_graph, shared_inference  # noqa: F401
from tests.llm.plugin import messages_server, no_model  # noqa: F401

from wikigr.checks import Check, all_passed
from wikigr.embeddings.embedder import Embedder
from wikigr.errors import ModelError
from wikigr.graph.engine import import_engine
from wikigr.progress import Progress
from wikigr.sandbox.isolation import run_isolated
from wikigr.settings import cache_folder

# The same examples in every run, on a machine of any speed, so that CI is deterministic.
settings.register_profile(
    "repeatable", max_examples=40, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")

kuzu = import_engine()
ROOT = Path(__file__).parent.parent
Links = Sequence[tuple[str, str]]
# While one worker builds the demo pack, the others run long files that do not need it. Those would otherwise come last,
# and keep one worker busy when the others are done.
FIRST = ("agent",)
# The checks of packs that passed them, by the content of the pack.
_PASSED: dict[bytes, list[Check]] = {}
# Its modules import packages of the extra `test-web`.
collect_ignore = [] if importlib.util.find_spec("playwright") else ["web"]


def pytest_xdist_auto_num_workers() -> int:
    """Start three workers for two cores: many tests wait for a process, a server or a limit."""
    return max(2, 3 * len(_cores()) // 2)


def pytest_configure() -> None:
    """Let SIGINT end the processes that tests start, let these import ``tests``, and assign one core to each worker.

    If workers share all cores, their threads wait for each other (20 % slower). A worker beyond the number of cores
    uses whatever the others leave: on a core of its own, it would slow the worker there down to half.
    """
    # A shell starts background jobs with SIGINT ignored, which every process below them would inherit.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # The first build of a process keeps the working folder out of its children's imports (PYTHONSAFEPATH).
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None and hasattr(os, "sched_setaffinity"):
        cores, number = _cores(), int(worker.removeprefix("gw"))
        if number < len(cores):
            os.sched_setaffinity(0, [cores[number]])
    gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of the folders in ``FIRST`` first."""
    folders = [ROOT / "tests" / name for name in FIRST]

    def place(item: pytest.Item) -> int:
        return next((n for n, folder in enumerate(folders) if item.path.is_relative_to(folder)), len(folders))

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """Exempt the modules and tests of all files from garbage collection, which would traverse them again and again."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
    gc.enable()


def _cores() -> list[int]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


@pytest.fixture
def spawn_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the child process of a build as for users."""
    monkeypatch.setattr("wikigr.ingest.build.run_isolated", run_isolated)


@pytest.fixture
def quick_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Validate untrusted packs in this process, and good ones once; only for tests of other things.

    A process for it takes 0.6 s, and the demo pack 0.7 s.
    """
    from wikigr.distribution import verify

    def validate(folder: Path, reserve: int, links: Path, *limits: object) -> list[Check]:
        content = hashlib.sha256(str((cache_folder() / "models").resolve()).encode())
        for path in sorted(folder.rglob("*")):
            content.update(repr((path.relative_to(folder), path.lstat().st_mode)).encode())
            if path.is_file():
                content.update(hashlib.sha256(path.read_bytes()).digest())
        if content.digest() not in _PASSED:
            checks = run_checks(folder, reserve, links)
            if not all_passed(checks):
                return checks
            _PASSED[content.digest()] = checks
        return list(_PASSED[content.digest()])

    def run_checks(folder: Path, reserve: int, links: Path) -> list[Check]:
        messages: list[Any] = []
        channel: Any = SimpleNamespace(send=messages.append)
        verify.report_checks(channel, str(folder), reserve, str(links))
        assert messages.pop() is None
        return [Check(**message) for message in messages]

    monkeypatch.setattr(verify, "_run", validate)


@pytest.fixture(scope="module")
def quick_garbage_collection() -> None:
    """Exempt all present objects from garbage collection, which takes half a second in a run of all tests."""
    gc.collect()
    gc.freeze()


def _run_here(function: Callable[..., Any], arguments: tuple[Any, ...], progress: Progress, log: Path) -> Any:
    function, arguments = pickle.loads(pickle.dumps((function, arguments)))
    return pickle.loads(pickle.dumps(function(*arguments, progress)))


@pytest.fixture(scope="session", autouse=True)
def _load_in_this_process() -> Iterator[None]:
    """Write the databases of builds in this process, which takes 0.2 s instead of 0.7 s for a small pack.

    Arguments and results are pickled as for the child process, which is used by builds in processes that a test
    starts, by ``test_isolation.py`` and by the tests in ``trust/``.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wikigr.ingest.build.run_isolated", _run_here)
        yield


@pytest.fixture(scope="session")
def encoder() -> Embedder:
    """The default encoder, prepared in the user's cache with its reader if necessary."""
    from wikigr.embeddings.loader import DEFAULT_MODEL, open_encoder
    from wikigr.embeddings.models import prepare
    from wikigr.reader.prepared import prepare_reader

    try:
        prepare_reader(prepare(DEFAULT_MODEL))
        return open_encoder(DEFAULT_MODEL, purpose="query")
    except ModelError as error:
        pytest.fail(f"cannot prepare the default encoder: {error.message} {error.hint or ''}")


@pytest.fixture
def own_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cache folder of this test that holds the user's prepared encoders and nothing else."""
    models = cache_folder() / "models"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cache_folder().mkdir(parents=True)
    (cache_folder() / "models").symlink_to(models)
    return cache_folder()


@pytest.fixture(scope="session")
def physics_pack(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    """The demo pack, built from its articles by the first worker that needs it. Tests must not change it."""
    from wikigr.ingest.build import BuildOptions, build_pack
    from wikigr.sources.detect import open_source

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    articles = ROOT / "packs" / "physics" / "articles"
    destination = folder / "packs" / "physics"
    with (folder / "physics.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (destination / "manifest.json").exists():
            build_pack(open_source(articles), str(articles), destination, encoder, BuildOptions(name="physics"))
    return destination


@pytest.fixture(scope="session")
def pack_of(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Callable[[str, Mapping[str, str]], Path]:
    """Return a function that builds a pack from the texts of a folder's files, or of the only file."""
    from wikigr.ingest.build import BuildOptions, build_pack
    from wikigr.sources.detect import open_source

    def build(name: str, files: Mapping[str, str]) -> Path:
        folder = tmp_path_factory.mktemp(name)
        source = folder / "source"
        source.mkdir()
        for file, text in files.items():
            (source / file).write_text(text, encoding="utf-8")
        if len(files) == 1:
            source /= next(iter(files))
        build_pack(open_source(source), str(source), folder / name, encoder, BuildOptions(name=name))
        return folder / name

    return build


@pytest.fixture(scope="session")
def letters_pack(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    """A pack of three articles. Tests only read it."""
    from tests.distribution.letters import build_letters

    return build_letters(tmp_path_factory.mktemp("letters") / "letters", encoder)


@pytest.fixture
def letters_copy(letters_pack: Path, tmp_path: Path) -> Path:
    """A copy of that pack, which a test may change."""
    return shutil.copytree(letters_pack, tmp_path / "letters")


@pytest.fixture(scope="session")
def people_pack(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    """A pack of a graph of triples. Tests only read it."""
    from tests.distribution.letters import build_triples

    return build_triples(tmp_path_factory.mktemp("people") / "people", encoder)


@pytest.fixture
def link_graph(tmp_path: Path) -> Iterator[Callable[[Sequence[str], Links], Any]]:
    """Return a function that creates a real database of articles and hyperlinks and returns a connection to it."""
    opened: list[Any] = []

    def make(titles: Sequence[str], links: Links) -> Any:
        database = kuzu.Database(str(tmp_path / f"{len(opened)}.db"), buffer_pool_size=64 << 20)
        conn = kuzu.Connection(database)
        opened.extend((conn, database))
        conn.execute("CREATE NODE TABLE Article(title STRING PRIMARY KEY)")
        conn.execute("CREATE REL TABLE LINKS_TO(FROM Article TO Article)")
        for title in titles:
            conn.execute("CREATE (:Article {title: $title})", {"title": title})
        for source, target in links:
            conn.execute(
                "MATCH (a:Article {title: $a}), (b:Article {title: $b}) CREATE (a)-[:LINKS_TO]->(b)",
                {"a": source, "b": target},
            )
        return conn

    yield make
    for part in opened:
        part.close()


@pytest.fixture
def physics_conn(physics_pack: Path) -> Iterator[Any]:
    """A connection to the demo pack's database, opened as a user of the documented classes would."""
    database = kuzu.Database(str(physics_pack / "pack.db"), read_only=True, buffer_pool_size=64 << 20)
    conn = kuzu.Connection(database)
    yield conn
    conn.close()
    database.close()
