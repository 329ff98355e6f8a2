from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from tests.distribution.file_server import serving

from wikigr.distribution.archive import export_pack
from wikigr.distribution.signature import PrivateKey
from wikigr.pack.layout import installed_packs

from ...conftest import Wikigr

KEY = PrivateKey(bytes(range(32)))
pytestmark = pytest.mark.usefixtures("quick_validation")


@pytest.fixture(scope="module")
def exported(physics_pack: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo pack as a signed archive."""
    return export_pack(physics_pack, tmp_path_factory.mktemp("exported") / "file.wikigr", key=KEY).file


@pytest.fixture
def archive(exported: Path, wikigr: Wikigr, tmp_path: Path, own_caches: Path) -> Path:
    """That archive, in an empty folder."""
    return Path(shutil.copy(exported, tmp_path))


def test_install_ask_list_update_remove(archive: Path, wikigr: Wikigr) -> None:
    with serving() as server:
        server.files["/physics"] = archive.read_bytes()
        url = server.url("/physics")
        public = KEY.open().public_key()
        key = public.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH).decode()
        done = wikigr("pack", "install", url, "--allow-private", "--trust", key, "--json")
        assert done.code == 0, done.err
        document = json.loads(done.out)
        assert (document["schema_version"], document["name"], document["changed"]) == (1, "physics", True)
        assert (document["signer"], document["before"]) == (KEY.public.fingerprint, None)
        assert "downloading:" in done.err
        assert wikigr("search", "spin", "--pack", "physics").code == 0
        assert (
            json.loads(wikigr("ask", "What is spin?", "--pack", "physics", "--json").out)["pack"]["name"] == "physics"
        )
        assert wikigr("pack", "validate", "physics").code == 0
        listed = json.loads(wikigr("pack", "list", "--json").out)["packs"]
        assert [(pack["name"], pack["version"], pack["path"]) for pack in listed] == [
            ("physics", "1.0.0", str(installed_packs() / "physics"))
        ]
        updated = wikigr("pack", "update", "physics")
        assert (updated.code, "is already installed" in updated.out) == (0, True)
    removed = wikigr("pack", "remove", "physics", "--yes")
    assert (removed.code, removed.out) == (0, "physics was removed.\n")
    gone = wikigr("search", "spin", "--pack", "physics")
    assert gone.code == 4


def test_no_command_writes_into_an_installed_pack_and_a_copy_is_whole(
    letters_pack: Path, wikigr: Wikigr, tmp_path: Path, own_caches: Path
) -> None:
    export_pack(letters_pack, tmp_path / "letters.wikigr", key=KEY)
    assert wikigr("pack", "install", "letters.wikigr", "--name", "work").code == 0
    (tmp_path / "notes.jsonl").write_text('{"id": "a", "title": "Alpha", "text": "Alpha is a letter."}\n')
    rank = ("pagerank", "build", "--force")
    before = (installed_packs() / "work" / "manifest.json").read_bytes()
    for command in (
        (*rank, "work"),
        ("pack", "build", "notes.jsonl", "-o", str(installed_packs() / "work")),
        ("pack", "update", "work", "--from", "notes.jsonl"),
    ):
        refused = wikigr(*command)
        assert (refused.code, "installed pack" in refused.err, "cp -RL" in refused.err) == (2, True, True), command
    assert (installed_packs() / "work" / "manifest.json").read_bytes() == before
    assert wikigr(*rank, "work", "-o", "scores.json").code == 0
    shutil.copytree(installed_packs() / "work", tmp_path / "whole")
    assert wikigr("pack", "verify", "whole").code == 0
    assert wikigr("pack", "update", "whole", "--from", "notes.jsonl", "--force").code == 0
    verified = wikigr("pack", "verify", "whole")
    assert (verified.code, "not signed" in verified.out) == (0, True), verified
    assert not (tmp_path / "whole" / ".origin.json").exists()


def test_an_install_without_pins_prints_them(archive: Path, wikigr: Wikigr) -> None:
    done = wikigr("pack", "install", str(archive), "--name", "mine")
    assert done.code == 0, done.err
    assert done.out.splitlines()[0] == "mine 1.0.0 was installed."
    assert f"--sha256 {export_pack('mine', archive.with_name('again.wikigr')).sha256}" in done.err
    assert KEY.public.fingerprint in done.err
    again = wikigr("pack", "install", str(archive), "--name", "mine")
    assert (again.code, again.out) == (0, "mine 1.0.0 is already installed.\n")
    assert wikigr("-q", "pack", "install", str(archive), "--name", "quiet").err == ""


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("nothing.wikigr",), 4, "neither an archive nor a pack"),
        (("file.wikigr", "--sha256", "0" * 64), 4, "not the expected file"),
        (("file.wikigr", "--trust", "no key"), 2, "neither a file nor a public key"),
        (("file.wikigr", "--name", "../up"), 2, "is not a valid pack name"),
        (("http://127.0.0.1:1/p",), 2, "--allow-private permits http to this machine"),
        (("https://me:secret@example.org/p",), 2, "a user or a password"),
        (("broken.wikigr",), 4, "archive"),
        ((), 2, "Missing argument"),
    ],
)
def test_failures_have_a_message_and_an_exit_code(
    archive: Path, wikigr: Wikigr, tmp_path: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    (tmp_path / "broken.wikigr").write_bytes(archive.read_bytes()[:5000])
    done = wikigr("pack", "install", *arguments)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert "secret" not in done.err
    assert wikigr("pack", "list", "--json").out.count('"path"') == 0


def test_a_name_that_is_not_installed(physics_pack: Path, wikigr: Wikigr) -> None:
    shutil.copytree(physics_pack, installed_packs() / "by-hand")
    for command in ("remove", "update"):
        done = wikigr("pack", command, "nothing")
        assert done.code == 4
    assert "by hand" in wikigr("pack", "remove", "by-hand").err
    assert wikigr("search", "spin", "--mode", "lexical", "--pack", "by-hand").code == 0
