"""Reading keys in all supported formats, and signatures that are valid for one manifest only."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa, x25519
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from wikigr.distribution.signature import (
    PASSPHRASE,
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
PEM, OPENSSH = serialization.PrivateFormat.PKCS8, serialization.PrivateFormat.OpenSSH


@pytest.fixture(autouse=True)
def no_passphrase(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PASSPHRASE, raising=False)


def private_file(path: Path, form: serialization.PrivateFormat, passphrase: str = "", key: object = KEY) -> Path:
    encryption = (
        serialization.BestAvailableEncryption(passphrase.encode()) if passphrase else serialization.NoEncryption()
    )
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, encryption))  # type: ignore[attr-defined]
    return path


def public_text(encoding: serialization.Encoding, form: serialization.PublicFormat) -> bytes:
    return KEY.public_key().public_bytes(encoding, form)


@pytest.mark.parametrize("form", [PEM, OPENSSH])
def test_private_keys_in_both_forms(tmp_path: Path, form: serialization.PrivateFormat) -> None:
    key = read_private_key(private_file(tmp_path / "key", form))
    assert (key.raw, key.public.raw) == (SEED, PUBLIC)
    assert SEED.hex() not in repr(key)
    assert repr(SEED)[2:10] not in repr(key)


def test_an_encrypted_key_takes_its_passphrase_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = private_file(tmp_path / "key", PEM, "secret words")
    with pytest.raises(UsageError, match="is encrypted") as caught:
        read_private_key(path)
    assert PASSPHRASE in (caught.value.hint or "")
    monkeypatch.setenv(PASSPHRASE, "other words")
    with pytest.raises(UsageError, match="with the passphrase") as caught:
        read_private_key(path)
    assert "other words" not in caught.value.message
    monkeypatch.setenv(PASSPHRASE, "secret words")
    assert read_private_key(path).raw == SEED
    assert read_private_key(private_file(tmp_path / "plain", PEM)).raw == SEED


def test_public_keys_in_every_form(tmp_path: Path) -> None:
    pem = public_text(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    line = public_text(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    for content in (pem, line, line + b" ann@example\n", b"# mine\n\n" + line, base64.b64encode(PUBLIC) + b"\n"):
        (tmp_path / "key").write_bytes(content)
        assert read_public_key(tmp_path / "key") == read_public_key(str(tmp_path / "key")) == PublicKey(PUBLIC)
    for text in (line.decode(), f"{line.decode()} ann@example", base64.b64encode(PUBLIC).decode()):
        assert read_public_key(text) == PublicKey(PUBLIC)


def test_what_is_no_public_key_is_refused(subtests: pytest.Subtests) -> None:
    for text in [
        "",
        "nonsense",
        "ssh-ed25519",
        "ssh-ed25519 AAAA",
        "ssh-rsa AAAAB3NzaC1yc2E=",
        base64.b64encode(PUBLIC[:31]).decode(),
        base64.b64encode(PUBLIC + b"x").decode(),
        "ssh-ed25519 " + base64.b64encode(PUBLIC).decode(),
        "a" * 100_000,
        "key\0name",
    ]:
        with subtests.test(text=text):
            with pytest.raises(UsageError) as caught:
                read_public_key(text)
            assert len(caught.value.message) < 300


def test_other_keys_and_files_are_refused(tmp_path: Path) -> None:
    others = {"rsa": rsa.generate_private_key(65537, 2048), "x25519": x25519.X25519PrivateKey.generate()}
    for name, key in others.items():
        with pytest.raises(UsageError, match="not an Ed25519 key"):
            read_private_key(private_file(tmp_path / name, PEM, key=key))
    (tmp_path / "text").write_text("hello")
    line = public_text(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    (tmp_path / "two").write_bytes(line + b"\n" + line + b" ann@example\n")
    (tmp_path / "large").write_bytes(bytes(1 << 20))
    private = private_file(tmp_path / "private", PEM)
    for path in (tmp_path / "text", tmp_path / "large", tmp_path, tmp_path / "missing"):
        with pytest.raises(UsageError):
            read_private_key(path)
    for path in (tmp_path / "text", tmp_path / "two", tmp_path / "large", tmp_path, tmp_path / "missing", private):
        with pytest.raises(UsageError):
            read_public_key(path)


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed")
def test_ssh_keygen_makes_keys_that_are_read_and_prints_the_same_fingerprint(tmp_path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    shown = subprocess.run(["ssh-keygen", "-l", "-f", tmp_path / "key.pub"], check=True, capture_output=True, text=True)
    key = read_private_key(tmp_path / "key")
    assert key.public == read_public_key(tmp_path / "key.pub")
    assert key.public.fingerprint == shown.stdout.split()[1]


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
