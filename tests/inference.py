"""Load the default encoder and reader once in each worker, and run them once for each input in a run of all tests.

Nothing here may import numpy at the top: ``conftest.py`` imports this module before a worker has a core of its own, and
numpy counts the cores when it is imported.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wikigr.settings import cache_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Sessions and tokenizers of the user's models, which tests must not change.
_LOADED: dict[tuple[object, ...], Any] = {}


@pytest.fixture(scope="session")
def outputs_of_graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where all workers store what the graphs returned."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    folder = folder / "outputs"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def run_every_graph(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function after which the rest of the test shares no outputs."""
    from wikigr.embeddings.session import run_session

    def start() -> None:
        monkeypatch.setattr("wikigr.embeddings.onnx.run_session", run_session)
        monkeypatch.setattr("wikigr.reader.reader.run_session", run_session)

    return start


@pytest.fixture(scope="module", autouse=True)
def shared_inference(outputs_of_graphs: Path) -> Iterator[None]:
    """Return the output of an earlier run of the same graph on the same tensors, from any test of any worker.

    Hundreds of tests ask the same few questions of the same pack, and inference took a third of their time; loading
    the models for each of a thousand packs took a tenth. Only equal inputs count as the same. The tests of the graphs
    override this fixture; processes that a test starts load and run their own graphs.
    """
    import numpy as np

    from wikigr.embeddings import session as sessions
    from wikigr.embeddings import tokenization
    from wikigr.embeddings.session import run_session

    models = (cache_folder() / "models").resolve()

    def open_session(graph: Path, *, packed: bool) -> Any:
        path = graph.resolve()
        if models not in path.parents:
            return sessions.open_session(graph, packed=packed)
        key = (path, packed)
        if key not in _LOADED:
            _LOADED[key] = sessions.open_session(graph, packed=packed)
        return _LOADED[key]

    def load_tokenizer(path: Path, user: str) -> Any:
        key = (path.resolve(), user)
        if key in _LOADED:
            return _LOADED[key]
        tokenizer = load(path)
        # Its users switch padding off, and before that they read which token pads.
        if models in key[0].parents and tokenization.padding_id(tokenizer) == 0:
            _LOADED[key] = tokenizer
        return tokenizer

    load = tokenization.load_tokenizer

    def run(
        session: Any, graph: Path, output: str, feed: Mapping[str, NDArray[np.int32]], shape: tuple[int, ...]
    ) -> NDArray[np.float32]:
        # Tests change only their own copies of models.
        path = graph.resolve()
        if models not in path.parents:
            return run_session(session, graph, output, feed, shape)
        # Prepacking can change the last digits.
        unpacked = session.get_session_options().get_session_config_entry("session.disable_prepacking")
        key = hashlib.sha256(repr((path, unpacked, output, shape)).encode())
        for name, tensor in sorted(feed.items()):
            key.update(repr((name, tensor.shape, tensor.dtype)).encode())
            key.update(tensor.tobytes())
        file = outputs_of_graphs / key.hexdigest()
        if file.exists():
            return np.frombuffer(file.read_bytes(), np.float32).reshape(shape).copy()
        values = run_session(session, graph, output, feed, shape)
        partial = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        partial.write_bytes(values.tobytes())
        partial.replace(file)
        return values

    with pytest.MonkeyPatch.context() as patch:
        for user in ("wikigr.embeddings.onnx", "wikigr.reader.reader"):
            patch.setattr(f"{user}.run_session", run)
            patch.setattr(f"{user}.open_session", open_session)
        # Encoder and reader set their tokenizers up differently.
        for user in ("wikigr.embeddings.tokenization", "wikigr.reader.reader"):
            patch.setattr(f"{user}.load_tokenizer", partial(load_tokenizer, user=user))
        yield
