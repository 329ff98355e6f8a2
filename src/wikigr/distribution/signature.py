"""Ed25519 signatures (RFC 8032) over a pack's manifest, and the keys that users have for them already."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wikigr.errors import PackError, UsageError

PASSPHRASE = "WIKIGR_KEY_PASSPHRASE"

# Before the signed bytes: a signature made here is none of anything else, and none made elsewhere is one of a pack.
_DOMAIN = b"wikigr pack manifest v1\n"
_ALGORITHM = "ed25519"
_SSH = "ssh-ed25519"
_KEY_BYTES = 32
_SIGNATURE_BYTES = 64
# A key file has some hundred bytes, a signature file less than 300.
_MAX_KEY_LENGTH = 16 << 10
_MAX_SIGNATURE_LENGTH = 4 << 10
_FORMS = (
    "Keys are Ed25519, in PEM (openssl genpkey -algorithm ed25519) or OpenSSH form (ssh-keygen -t ed25519); a public "
    "key may also be given as text: ssh-ed25519 AAAA…, or the base64 of its 32 bytes."
)


@dataclass(frozen=True, slots=True)
class PublicKey:
    """An Ed25519 public key: 32 bytes."""

    raw: bytes

    @property
    def fingerprint(self) -> str:
        """The key's name as ``ssh-keygen -l`` prints it: ``SHA256:…``."""
        return "SHA256:" + base64.b64encode(hashlib.sha256(self._blob).digest()).decode().rstrip("=")

    @property
    def openssh(self) -> str:
        """The key as one line of an ``authorized_keys`` file, without a comment."""
        return f"{_SSH} {base64.b64encode(self._blob).decode()}"

    @property
    def _blob(self) -> bytes:
        kind = _SSH.encode()
        return b"".join(len(part).to_bytes(4, "big") + part for part in (kind, self.raw))

    def verifies(self, signature: bytes, manifest: bytes) -> bool:
        """Tell whether ``signature`` is this key's over the bytes of a manifest."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, _DOMAIN + manifest)
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """An Ed25519 private key: 32 bytes, which no message and no ``repr`` shows."""

    raw: bytes = field(repr=False)

    @property
    def public(self) -> PublicKey:
        return PublicKey(self._key().public_key().public_bytes_raw())

    def sign(self, manifest: bytes) -> bytes:
        """Return the signature (64 bytes) over the bytes of a manifest; the same bytes give the same one."""
        signature: bytes = self._key().sign(_DOMAIN + manifest)
        return signature

    def _key(self) -> Any:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self.raw)


def read_private_key(path: Path) -> PrivateKey:
    """Read a private key from a PEM or OpenSSH file; raises ``UsageError`` for anything else.

    The passphrase of an encrypted key is taken from the environment variable ``WIKIGR_KEY_PASSPHRASE``.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    content = _read(path)
    given = os.environ.get(PASSPHRASE)
    passphrase = given.encode("utf-8", "surrogateescape") if given else None
    openssh = content.lstrip().startswith(b"-----BEGIN OPENSSH PRIVATE KEY-----")
    load: Any = serialization.load_ssh_private_key if openssh else serialization.load_pem_private_key
    try:
        try:
            key = load(content, password=passphrase)
        except TypeError:
            if passphrase is None:
                raise UsageError(
                    f"The key {path} is encrypted.",
                    hint=f"Give its passphrase in the environment variable {PASSPHRASE}, or name a key without one.",
                ) from None
            key = load(content, password=None)  # a passphrase for another key is in the environment
    except UnsupportedAlgorithm as error:
        raise UsageError(
            f"The key {path} cannot be read here: its kind or its encryption is not supported.",
            hint="Take off its passphrase (ssh-keygen -p -N '' on a copy), or use an Ed25519 key. " + _FORMS,
        ) from error
    except ValueError as error:
        if passphrase is not None and (b"ENCRYPTED" in content or openssh):
            raise UsageError(
                f"The key {path} cannot be opened with the passphrase in {PASSPHRASE}.", hint="Check the passphrase."
            ) from error
        raise UsageError(f"{path} is no private key.", hint=_FORMS) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"The key {path} is no Ed25519 key.", hint=_FORMS)
    return PrivateKey(key.private_bytes_raw())


def read_public_key(path_or_text: str | Path) -> PublicKey:
    """Read a public key from a PEM or OpenSSH file, or from its text; raises ``UsageError`` for anything else.

    What is no file is text: ``ssh-ed25519 AAAA… comment``, or the base64 of the key's 32 bytes.
    """
    path = Path(path_or_text)
    if isinstance(path_or_text, str) and not _is_file(path):
        key = _from_text(path_or_text.strip())
        if key is not None:
            return key
        raise UsageError(
            f"{_short(path_or_text)} is neither a file nor a public key.",
            hint=_FORMS,
        )
    content = _read(path)
    key = _from_pem(content) if content.lstrip().startswith(b"-----BEGIN") else _from_lines(content)
    if key is None:
        raise UsageError(f"{path} holds no Ed25519 public key.", hint=_FORMS)
    return key


def signature_file(key: PrivateKey, manifest: bytes) -> bytes:
    """Return the content of ``signature.json`` for the bytes of a manifest."""
    fields = {
        "algorithm": _ALGORITHM,
        "public_key": base64.b64encode(key.public.raw).decode(),
        "signature": base64.b64encode(key.sign(manifest)).decode(),
    }
    return (json.dumps(fields, indent=2) + "\n").encode()


def check_signature(content: bytes, manifest: bytes) -> PublicKey:
    """Return whose signature of ``manifest`` the content of a ``signature.json`` is.

    Raises ``PackError`` when it is damaged or does not fit.
    """
    try:
        fields: Any = json.loads(content) if len(content) <= _MAX_SIGNATURE_LENGTH else None
        if not isinstance(fields, dict) or set(fields) != {"algorithm", "public_key", "signature"}:
            raise ValueError("these are not its fields")
        if fields["algorithm"] != _ALGORITHM:
            raise ValueError("this algorithm is not known here")
        key = base64.b64decode(_string(fields["public_key"]), validate=True)
        signature = base64.b64decode(_string(fields["signature"]), validate=True)
        if (len(key), len(signature)) != (_KEY_BYTES, _SIGNATURE_BYTES):
            raise ValueError("the key or the signature has another length")
    except (ValueError, RecursionError) as error:
        raise PackError(f"The pack's signature cannot be read: {error}.", hint=_SIGN_AGAIN) from error
    public = PublicKey(key)
    if not public.verifies(signature, manifest):
        raise PackError(
            f"The pack's signature by {public.fingerprint} does not fit its manifest: one of them was changed.",
            hint=_SIGN_AGAIN,
        )
    return public


_SIGN_AGAIN = "Fetch the pack again, or ask for one that was made with `wikigr pack export --sign`."


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a field is no text")
    return value


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_KEY_LENGTH + 1)
    except OSError as error:
        raise UsageError(f"The key {path} cannot be read: {error.strerror or error}.", hint=_FORMS) from error
    if len(content) > _MAX_KEY_LENGTH:
        raise UsageError(f"{path} is too large to be a key.", hint=_FORMS)
    return content


def _is_file(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a text that no path can have: too long, or with a NUL
        return False


def _from_pem(content: bytes) -> PublicKey | None:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = serialization.load_pem_public_key(content)
    except (ValueError, UnsupportedAlgorithm):
        return None
    return PublicKey(key.public_bytes_raw()) if isinstance(key, Ed25519PublicKey) else None


def _from_lines(content: bytes) -> PublicKey | None:
    """Return the only key of an OpenSSH public key file; more than one would leave open which is meant."""
    lines = [line.strip() for line in content.decode("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    return _from_text(lines[0]) if len(lines) == 1 else None


def _from_text(text: str) -> PublicKey | None:
    kind, _, rest = text.partition(" ")
    try:
        if kind != _SSH:
            raw = base64.b64decode(text, validate=True)
            return PublicKey(raw) if len(raw) == _KEY_BYTES else None
        blob = base64.b64decode(rest.split()[0] if rest.split() else "", validate=True)
    except (binascii.Error, ValueError):
        return None
    key = PublicKey(blob[-_KEY_BYTES:])
    return key if blob == key._blob else None


def _short(text: str | Path) -> str:
    shown = repr(str(text))
    return shown if len(shown) <= 80 else f"{shown[:80]}…"
