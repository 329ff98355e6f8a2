"""Open several packs at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.embeddings.model_id import DEFAULT_WEIGHTS_SHA256
from wikigr.graph.engine import Graph, reserved_space
from wikigr.graph.engine_choice import prepare_engine
from wikigr.joined.pack import JoinedPack
from wikigr.pack.layout import DATABASE, MANIFEST, Layout
from wikigr.pack.locate import find_pack
from wikigr.pack.manifest import Manifest, read_manifest
from wikigr.pack.open import Corpus, Pack

if TYPE_CHECKING:
    from wikigr.embeddings.loader import Purpose


@dataclass(frozen=True, slots=True)
class Opened:
    """The packs that were opened, as one, and the locations of those that were given before."""

    pack: Corpus
    repeated: tuple[str, ...]


def open_packs(
    locations: Sequence[str],
    *,
    encoder: str | None = None,
    purpose: Purpose = "query",
    preload: bool = False,
    models_from: Mapping[EncoderIdentity, Corpus] | None = None,
) -> Opened:
    """Open the packs at ``locations`` as one; the arguments are those of ``Pack``.

    ``models_from`` are open packs by their encoder, whose models are used instead of loading them again.

    The same content with the same encoder counts once, wherever it is. The result does not depend on the order of
    ``locations``. Raises ``PackError`` if any of them is missing, damaged or has another
    format; none is then left open.
    """
    found: dict[tuple[str, EncoderIdentity], tuple[Layout, Manifest]] = {}
    repeated = []
    for location in locations:
        layout = find_pack(location)
        with layout.reading():
            manifest = read_manifest(layout.part(MANIFEST))
        if found.setdefault((manifest.digest, manifest.encoder), (layout, manifest))[0] is not layout:
            repeated.append(location)
    chosen = sorted(found.values(), key=lambda pair: _order(pair[1]))
    if len(chosen) > 1:
        prepare_engine(layout.part(DATABASE) for layout, _ in chosen)
    with ExitStack() as stack:
        leads = dict(models_from or {})
        members = []
        for layout, manifest in chosen:
            lead = leads.get(manifest.encoder)
            member = stack.enter_context(
                Pack(
                    layout.root,
                    encoder=encoder,
                    purpose=purpose,
                    preload=preload,
                    graph=_open_graph(layout),
                    models_from=lead,
                )
            )
            leads.setdefault(manifest.encoder, member)
            members.append(member)
        stack.pop_all()
    return Opened(members[0] if len(members) == 1 else JoinedPack(members), tuple(repeated))


def _order(manifest: Manifest) -> tuple[bool, str, str, str, str]:
    """Return the sort key of a pack; the default encoder comes first, because its reader expects its cosines."""
    encoder = manifest.encoder
    is_other = encoder.weights_sha256 != DEFAULT_WEIGHTS_SHA256
    return is_other, manifest.name, manifest.version, manifest.digest, encoder.weights_sha256


def _open_graph(layout: Layout) -> Graph:
    """Open a database with little address space: a process has room for 15 with the engine's default."""
    with layout.reading():
        path = layout.part(DATABASE)
        return Graph(path, address_space=reserved_space(path.stat().st_size) if path.is_file() else None)
