"""Reading keys of OpenSSH, and signatures that are valid for one manifest only."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from wikigr.distribution.signature import (
    PrivateKey,
    PublicKey,
    check_signature,
    read_private_key,
    read_public_key,
    signature_file,
)
from wikigr.errors import PackError, UsageError

# RFC 8032, section 7.1, test 1.
SEED = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
PUBLIC = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
KEY = Ed25519PrivateKey.from_private_bytes(SEED)
LINE = KEY.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)


def private_file(path: Path, key: Any = KEY, form: Any = serialization.PrivateFormat.OpenSSH) -> Path:
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return path


def test_public_keys_in_every_form(tmp_path: Path) -> None:
    for content in (LINE, LINE + b" ann@example\n", b"# mine\n\n" + LINE):
        (tmp_path / "key").write_bytes(content)
        assert read_public_key(tmp_path / "key") == read_public_key(str(tmp_path / "key")) == PublicKey(PUBLIC)
    for text in (LINE.decode(), f"{LINE.decode()} ann@example"):
        assert read_public_key(text) == PublicKey(PUBLIC)


def test_what_is_no_public_key_is_refused(subtests: pytest.Subtests) -> None:
    encoded = base64.b64encode(PUBLIC).decode()
    for text in [
        "", "nonsense", "ssh-ed25519", "ssh-ed25519 AAAA", "ssh-rsa AAAAB3NzaC1yc2E=", encoded,
        f"ssh-ed25519 {encoded}", "a" * 100_000, "key\0name",
    ]:  # fmt: skip
        with subtests.test(text=text):
            with pytest.raises(UsageError) as caught:
                read_public_key(text)
            assert len(caught.value.message) < 300


def test_other_keys_and_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not an Ed25519 key"):
        read_private_key(private_file(tmp_path / "rsa", rsa.generate_private_key(65537, 2048)))
    pem = private_file(tmp_path / "pem", form=serialization.PrivateFormat.PKCS8)
    (tmp_path / "text").write_text("hello")
    (tmp_path / "two").write_bytes(LINE + b"\n" + LINE + b" ann@example\n")
    (tmp_path / "large").write_bytes(bytes(1 << 20))
    unusable = [tmp_path / "text", tmp_path / "large", tmp_path, tmp_path / "missing", pem]
    for path in unusable:
        with pytest.raises(UsageError):
            read_private_key(path)
    for path in (*unusable, tmp_path / "two", private_file(tmp_path / "private")):
        with pytest.raises(UsageError):
            read_public_key(path)


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed")
def test_ssh_keygen_makes_keys_that_are_read_and_prints_the_same_fingerprint(tmp_path: Path) -> None:
    for name, passphrase in (("key", ""), ("locked", "secret words")):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", tmp_path / name], check=True)
    shown = subprocess.run(["ssh-keygen", "-l", "-f", tmp_path / "key.pub"], check=True, capture_output=True, text=True)
    key = read_private_key(tmp_path / "key")
    assert key.public == read_public_key(tmp_path / "key.pub")
    assert key.public.fingerprint == shown.stdout.split()[1]
    with pytest.raises(UsageError, match="has a passphrase"):
        read_private_key(tmp_path / "locked")


def test_a_signature_fits_its_manifest_and_no_other() -> None:
    key = PrivateKey(SEED)
    content = signature_file(key, b'{"name": "letters"}')
    assert content == signature_file(key, b'{"name": "letters"}')
    assert check_signature(content, b'{"name": "letters"}') == key.public
    with pytest.raises(PackError, match="does not match"):
        check_signature(content, b'{"name": "Letters"}')


def test_a_signature_without_the_domain_prefix_is_invalid() -> None:
    fields = json.loads(signature_file(PrivateKey(SEED), b"manifest"))
    fields["signature"] = base64.b64encode(KEY.sign(b"manifest")).decode()
    with pytest.raises(PackError, match="does not match"):
        check_signature(json.dumps(fields).encode(), b"manifest")


@pytest.mark.parametrize(
    "change",
    [
        {"algorithm": "none"},
        {"algorithm": None},
        {"public_key": ""},
        {"public_key": 7},
        {"public_key": base64.b64encode(PUBLIC + b"x").decode()},
        {"signature": "AAAA"},
        {"signature": "é"},
        {"signature": base64.b64encode(bytes(64)).decode()},
        {"public_key": base64.b64encode(bytes(32)).decode()},
        {"more": 1},
    ],
    ids=str,
)
def test_a_damaged_signature_is_refused(change: dict[str, object]) -> None:
    fields = json.loads(signature_file(PrivateKey(SEED), b"manifest"))
    with pytest.raises(PackError):
        check_signature(json.dumps({**fields, **change}).encode(), b"manifest")


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 4000, b" " * 5000 + b"{}"])
def test_what_is_no_signature_is_refused(content: bytes) -> None:
    with pytest.raises(PackError, match="Cannot read"):
        check_signature(content, b"manifest")
