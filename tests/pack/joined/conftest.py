"""Small packs that are opened together, and one that holds the content of two of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.distribution.letters import list_encoder
from tests.embeddings.conftest import MakeBert, make_bert  # noqa: F401

from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.models import prepare
from wikigr.embeddings.onnx import OnnxEncoder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.joined import JoinedPack, open_packs
from wikigr.pack.layout import ENCODER
from wikigr.reader.prepared import copy_prepared
from wikigr.sources.detect import open_source

Record = dict[str, object]
OpenAll = Callable[..., JoinedPack]

BIRDS: list[Record] = [
    {
        "id": "c",
        "title": "Crane",
        "text": "The crane is a tall bird with a long neck. A crane lives for up to forty years. It calls like a horn.",
        "links": ["h"],
    },
    {"id": "h", "title": "Heron", "text": "The heron is a bird that waits for fish.\n# Nest\nHerons nest in trees."},
    {"id": "o", "title": "Owl", "text": "The owl hunts mice at night. Its eyes cannot move.", "links": ["h"]},
]
MACHINES: list[Record] = [
    {
        "id": "c",
        "title": "Crane",
        "text": "A crane is a machine that lifts loads. The tower crane was patented by Hans Liebherr in 1949.",
        "links": ["w"],
    },
    {"id": "w", "title": "Winch", "text": "A winch winds a rope on a drum. The horn of a winch warns of the load."},
    {"id": "l", "title": "Lift", "text": "A lift carries people between floors.", "links": ["w"]},
]


def build(folder: Path, records: Sequence[Record], encoder: Embedder) -> Path:
    """Build a pack of ``records`` in ``folder``, which gives it its name."""
    source = folder.with_name(f"{folder.name}.jsonl")
    source.write_text("".join(json.dumps(record) + "\n" for record in records))
    build_pack(open_source(source), str(source), folder, encoder, BuildOptions(name=folder.name))
    return folder


@pytest.fixture(scope="session")
def birds(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    return build(tmp_path_factory.mktemp("library") / "birds", BIRDS, encoder)


@pytest.fixture(scope="session")
def machines(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    return build(tmp_path_factory.mktemp("library") / "machines", MACHINES, encoder)


@pytest.fixture(scope="session")
def lifts(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    """The articles of ``machines`` whose titles no bird has."""
    return build(tmp_path_factory.mktemp("library") / "lifts", MACHINES[1:], encoder)


@pytest.fixture(scope="session")
def birds_and_lifts(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    return build(tmp_path_factory.mktemp("library") / "whole", [*BIRDS, *MACHINES[1:]], encoder)


@pytest.fixture
def waves(tmp_path: Path, make_bert: MakeBert) -> Path:  # noqa: F811
    """A pack that was built with another encoder, which it bundles."""
    prepared = prepare(str(make_bert()), cache_dir=tmp_path / "cache")
    records: list[Record] = [
        {"id": "w", "title": "Wave", "text": "A wave carries energy. A laser wave was first made in 1960."},
        {"id": "a", "title": "Atom", "text": "The atom is when light is a quantum."},
    ]
    folder = build(tmp_path / "waves", records, OnnxEncoder(prepared))
    copy_prepared(prepared.folder, folder / ENCODER)
    list_encoder(folder)
    return folder


@pytest.fixture
def open_all() -> Iterator[OpenAll]:
    """Return a function that opens packs as one."""
    opened: list[JoinedPack] = []

    def open_(*locations: Path) -> JoinedPack:
        pack = open_packs([str(location) for location in locations]).pack
        assert isinstance(pack, JoinedPack)
        opened.append(pack)
        return pack

    yield open_
    for pack in opened:
        pack.close()
