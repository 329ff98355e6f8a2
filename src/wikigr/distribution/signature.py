"""Sign and verify a pack's manifest with Ed25519 (RFC 8032), using keys of OpenSSH."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wikigr.errors import PackError, UsageError
from wikigr.files import describe_read_error, explain_json_error, open_regular, read_regular

# Prepended to the signed bytes, so that a signature of a pack is not valid for anything else, or the other way round.
_DOMAIN = b"wikigr pack manifest v1\n"
_ALGORITHM = "ed25519"
_SSH = "ssh-ed25519"
# A key file has a few hundred bytes, a signature file less than 300.
_MAX_KEY_LENGTH = 16 << 10
MAX_SIGNATURE_BYTES = 4 << 10
_MAKE_KEY = "Use an Ed25519 key without a passphrase: ssh-keygen -t ed25519 -N ''"


@dataclass(frozen=True, slots=True)
class PublicKey:
    """An Ed25519 public key: 32 bytes."""

    raw: bytes

    @property
    def fingerprint(self) -> str:
        """The fingerprint as ``ssh-keygen -l`` prints it: ``SHA256:…``."""
        blob = b"".join(len(part).to_bytes(4, "big") + part for part in (_SSH.encode(), self.raw))
        return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """An Ed25519 private key: 32 bytes, which appear in no message and no ``repr``."""

    raw: bytes = field(repr=False)

    @property
    def public(self) -> PublicKey:
        return PublicKey(self.open().public_key().public_bytes_raw())

    def open(self) -> Any:
        """Return the key as the library has it."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self.raw)


def read_private_key(path: Path) -> PrivateKey:
    """Read a private key from an OpenSSH file without a passphrase; raises ``UsageError`` for anything else."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_ssh_private_key

    content = _read(path)
    try:
        key = load_ssh_private_key(content, password=None)
    except (TypeError, UnsupportedAlgorithm) as error:
        raise UsageError(f"The key {path} has a passphrase or an unknown type.", hint=_MAKE_KEY) from error
    except ValueError as error:
        raise UsageError(f"{path} is not a private key of OpenSSH.", hint=_MAKE_KEY) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"The key {path} is not an Ed25519 key.", hint=_MAKE_KEY)
    return PrivateKey(key.private_bytes_raw())


def read_public_key(path_or_text: str | Path) -> PublicKey:
    """Read a public key from an OpenSSH file, or from text; raises ``UsageError`` for anything else.

    A string that is not the path of a file is text: ``ssh-ed25519 AAAA… comment``. Several keys are ambiguous.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_ssh_public_key

    path = Path(path_or_text)
    is_text = isinstance(path_or_text, str) and not _is_file(path)
    content = str(path_or_text).encode(errors="replace") if is_text else _read(path)
    lines = [line for line in map(bytes.strip, content.splitlines()) if line and not line.startswith(b"#")]
    try:
        key = load_ssh_public_key(lines[0]) if len(lines) == 1 else None
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        quoted = repr(str(path_or_text)[:80])
        raise UsageError(
            f"{quoted} is neither a file nor a public key."
            if is_text
            else f"{path} does not contain an Ed25519 public key.",
            hint=f"A public key is one line: ssh-ed25519 AAAA… {_MAKE_KEY}",
        )
    return PublicKey(key.public_bytes_raw())


def signature_file(key: PrivateKey, manifest: bytes) -> bytes:
    """Sign the bytes of a manifest and return the content of ``signature.json``; signing is deterministic."""
    fields = {
        "algorithm": _ALGORITHM,
        "public_key": base64.b64encode(key.public.raw).decode(),
        "signature": base64.b64encode(key.open().sign(_DOMAIN + manifest)).decode(),
    }
    return (json.dumps(fields, indent=2) + "\n").encode()


def read_signature(path: Path) -> bytes:
    """Return the content of a ``signature.json``; of one that is too long, only as much as ``check_signature`` refuses.

    Raises ``OSError``.
    """
    with open_regular(path) as file:
        return file.read(MAX_SIGNATURE_BYTES + 1)


def check_signature(content: bytes, manifest: bytes) -> PublicKey:
    """Verify ``content``, that of a ``signature.json``, against the bytes of ``manifest``; returns the signer.

    Raises ``PackError`` when the signature is damaged or invalid.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    sign_again = "Get the pack again, or ask for one created with `wikigr pack export --sign`."
    try:
        fields: Any = json.loads(content) if len(content) <= MAX_SIGNATURE_BYTES else None
        if not isinstance(fields, dict) or set(fields) != {"algorithm", "public_key", "signature"}:
            raise ValueError("it does not have the expected fields")
        if fields["algorithm"] != _ALGORITHM:
            raise ValueError("its algorithm is not supported")
        public = PublicKey(base64.b64decode(fields["public_key"], validate=True))
        signature = base64.b64decode(fields["signature"], validate=True)
        if (len(public.raw), len(signature)) != (32, 64):
            raise ValueError("the key or the signature has the wrong length")
    except (ValueError, TypeError, RecursionError) as error:
        raise PackError(f"Cannot read the pack's signature: {explain_json_error(error)}.", hint=sign_again) from error
    try:
        Ed25519PublicKey.from_public_bytes(public.raw).verify(signature, _DOMAIN + manifest)
    except (InvalidSignature, ValueError) as error:
        raise PackError(
            f"The pack's signature by {public.fingerprint} does not match its manifest: one of them was changed.",
            hint=sign_again,
        ) from error
    return public


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, _MAX_KEY_LENGTH)
    except (OSError, ValueError) as error:
        raise UsageError(f"Cannot read the key {path}: {describe_read_error(error)}.", hint=_MAKE_KEY) from error


def _is_file(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return False
