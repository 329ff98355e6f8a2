"""Installing, updating and removing packs, from real archives and folders."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.distribution.file_server import serving

from wikigr.distribution.archive import export_pack
from wikigr.distribution.install import PackStore, install, read_origin, remove, update_installed
from wikigr.distribution.signature import PrivateKey
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.pack.layout import DATABASE, MANIFEST, ORIGIN, installed_name, installed_packs
from wikigr.pack.locate import find_pack, installed_names
from wikigr.pack.manifest import read_manifest
from wikigr.pack.open import Pack
from wikigr.progress import Silent
from wikigr.settings import cache_folder

KEY, OTHER = PrivateKey(bytes(range(32))), PrivateKey(bytes(range(1, 33)))


class Notes(Silent):
    """Records the notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


pytestmark = pytest.mark.usefixtures("quick_validation")


@pytest.fixture(autouse=True)
def own_folders(own_caches: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


Make = Callable[..., Path]


@pytest.fixture
def pack(letters_pack: Path, tmp_path: Path) -> Make:
    """Copy a pack and change fields of its manifest."""

    def make(folder: str = "source", **fields: object) -> Path:
        copy = tmp_path / folder
        shutil.copytree(letters_pack, copy)
        manifest = json.loads((copy / MANIFEST).read_text())
        (copy / MANIFEST).write_text(json.dumps({**manifest, **fields}))
        return copy

    return make


@pytest.fixture
def archive(pack: Make, tmp_path: Path) -> Make:
    def make(file: str = "p.wikigr", key: PrivateKey | None = None, **fields: object) -> Path:
        folder = pack(f"of-{file}", **fields)
        export_pack(folder, tmp_path / file, key=key)
        shutil.rmtree(folder)
        return tmp_path / file

    return make


def store_files() -> list[str]:
    """Everything in the folder of installed packs except the contents of packs."""
    root = installed_packs()
    found = [path.relative_to(root).as_posix() for path in root.rglob("*") if len(path.relative_to(root).parts) <= 3]
    return sorted(found)


def titles(location: str | Path) -> list[str]:
    with Pack(location) as opened:
        return [title for (title,) in opened.graph.rows("MATCH (a:Article) RETURN a.title ORDER BY a.title")]


def plant(letters_pack: Path, name: str, version: str, origin: dict[str, object] | None = None) -> Path:
    """Install a version without validating it."""
    store = PackStore(installed_packs())
    with store.lock(Silent()):
        new = store.new_folder()
        shutil.copytree(letters_pack, new, ignore=shutil.ignore_patterns(".wikigr"))
        manifest = json.loads((new / MANIFEST).read_text())
        (new / MANIFEST).write_text(json.dumps({**manifest, "name": name, "version": version}))
        fields: dict[str, object] = {
            "source": str(letters_pack), "sha256": None, "pinned": False, "signer": None, "allow_private": False,
            "identity": "0" * 64, "installed": "2026-01-01T00:00:00+00:00",
        }  # fmt: skip
        (new / ORIGIN).write_text(json.dumps({**fields, **(origin or {})}))
        return store.activate(new, name, version)


def test_an_archive_is_installed_used_and_removed(archive: Make, letters_pack: Path) -> None:
    file = archive(key=KEY)
    done = install(file, trust=[OTHER.public, KEY.public])
    assert (done.name, done.version, done.before, done.changed) == ("letters", "1.0.0", None, True)
    assert done.signer == KEY.public.fingerprint
    assert find_pack("letters").root == done.folder
    assert installed_name(done.folder) == "letters"
    assert titles("letters") == titles(letters_pack)
    link = installed_packs() / "letters"
    assert link.readlink() == Path(".versions") / "letters" / done.folder.name
    origin = read_origin(done.folder)
    assert (origin.source, origin.sha256, origin.signer) == (str(file), done.sha256, done.signer)
    assert stat.S_IMODE((done.folder / ORIGIN).stat().st_mode) == 0o600

    (installed_packs() / ".versions" / ".new-1-killed" / "lexical").mkdir(parents=True)
    again = install(file)
    assert (again.changed, again.folder) == (False, done.folder)
    assert store_files() == [".versions", ".versions/.lock", ".versions/letters",
                             f".versions/letters/{done.folder.name}", "letters"]  # fmt: skip

    with Pack("letters") as opened:
        remove("letters")
        assert opened.graph.rows("MATCH (a:Article) RETURN count(a)")[0][0] > 0
    assert store_files() == [".versions", ".versions/.lock"]
    with pytest.raises(PackError, match="no pack 'letters'"):
        find_pack("letters")


def test_a_folder_is_copied_without_foreign_files(pack: Make) -> None:
    source = pack(name="../../evil", version="../1.0")
    (source / "notes.txt").write_text("mine")
    (source / "eval" / "secret.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"'../../evil' is not a valid pack name"):
        install(source)
    for name in ("", ".hidden", "..", "a/b", "-x", "a b", "a\n", "ä", "x" * 101):
        with pytest.raises(UsageError, match="is not a valid pack name"):
            install(source, name=name)
    done = install(source, name="good", force=True)
    assert done.folder.parent == installed_packs() / ".versions" / "good"
    # The lexical index is locked by a hidden file while it is opened.
    parts = {path.relative_to(done.folder).as_posix() for path in done.folder.rglob("[!.]*") if path.is_file()}
    assert parts == {
        *read_manifest(source / MANIFEST).files, MANIFEST, "few_shot_examples.json", "eval/questions.jsonl",
    }  # fmt: skip
    assert done.sha256 is None


@pytest.mark.parametrize("linked", [DATABASE, MANIFEST, "eval"])
def test_a_link_in_a_folder_is_not_followed(pack: Make, tmp_path: Path, linked: str) -> None:
    source = pack()
    (source / linked).rename(tmp_path / "elsewhere")
    (source / linked).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PackError, match="link"):
        install(source)
    assert store_files() == []


def test_a_new_version_replaces_the_one_before_while_readers_go_on(archive: Make, letters_pack: Path) -> None:
    first = plant(letters_pack, "letters", "1.0.0")
    # An installation by an earlier release, which kept one more version.
    origin = json.loads((first / ORIGIN).read_text())
    (first / ORIGIN).write_text(json.dumps({**origin, "before": "0.9.0-123"}))
    shutil.copytree(first, first.with_name("0.9.0-123"))
    with Pack("letters") as opened:
        done = install(archive(version="1.2.0"))
        assert opened.graph.rows("MATCH (s:Section) RETURN count(s)")[0][0] > 0
    assert done.before == "1.0.0"
    assert list(done.folder.parent.iterdir()) == [done.folder]
    assert read_manifest(find_pack("letters").root / MANIFEST).version == "1.2.0"


def test_a_lower_version_needs_force(archive: Make, letters_pack: Path) -> None:
    plant(letters_pack, "letters", "1.10.0")
    lower = archive(version="1.9.0")
    with pytest.raises(UsageError, match=r"1\.10\.0 is installed, but this is 1\.9\.0"):
        install(lower)
    assert find_pack("letters").root.name.startswith("1.10.0-")
    assert install(lower, force=True).before == "1.10.0"


@pytest.mark.parametrize(
    ("key", "said"), [(OTHER, OTHER.public.fingerprint), (None, "not signed")], ids=["other", "none"]
)
def test_another_signer_needs_force(archive: Make, letters_pack: Path, key: PrivateKey | None, said: str) -> None:
    plant(letters_pack, "letters", "1.0.0", {"signer": KEY.public.fingerprint})
    new = archive(key=key, version="1.1.0")
    with pytest.raises(PackError) as caught:
        install(new)
    assert said in caught.value.message
    assert KEY.public.fingerprint in caught.value.message
    assert read_manifest(find_pack("letters").root / MANIFEST).version == "1.0.0"


def test_another_pack_of_the_same_publisher_needs_force(archive: Make) -> None:
    first = install(archive(key=KEY), name="mine")
    shutil.copyfile(archive("b.wikigr", KEY, name="digits", version="2.0.0"), "p.wikigr")
    with pytest.raises(PackError, match="mine is the pack 'letters', but this is 'digits'"):
        update_installed("mine")
    assert find_pack("mine").root == first.folder
    assert update_installed("mine", force=True).version == "2.0.0"


def test_a_manifest_that_cannot_be_read_is_no_obstacle_for_long(archive: Make, letters_pack: Path) -> None:
    (plant(letters_pack, "letters", "1.0.0") / MANIFEST).write_text("{")
    new = archive(version="2.0.0")
    with pytest.raises(PackError) as caught:
        install(new)
    assert "wikigr pack remove letters" in (caught.value.hint or "")
    remove("letters")
    assert install(new).version == "2.0.0"


def test_what_is_not_vouched_for_is_not_installed(archive: Make, pack: Make) -> None:
    signed, unsigned = archive(key=KEY), archive("u.wikigr")
    with pytest.raises(PackError, match="not a trusted key"):
        install(signed, trust=[OTHER.public])
    with pytest.raises(PackError, match="not signed, but --trust requires"):
        install(unsigned, trust=[KEY.public])
    with pytest.raises(PackError, match="not the expected file"):
        install(unsigned, sha256="0" * 64)
    with pytest.raises(UsageError, match="64 hexadecimal"):
        install(unsigned, sha256="12")
    with serving() as server:
        server.files["/p"] = b"not an archive"
        with pytest.raises(PackError, match="is not the expected file"):
            install(server.url("/p"), sha256="0" * 64, allow_private=True)
    with pytest.raises(UsageError, match="not a pack's folder"):
        install(pack(), sha256="0" * 64)
    with pytest.raises(PackError, match="neither an archive nor a pack"):
        install("nothing.wikigr")
    assert installed_names() == []


def test_a_damaged_pack_is_refused_and_a_damaged_installed_pack_is_repaired(pack: Make) -> None:
    source = pack()
    done = install(source)
    manifest, examples = ((done.folder / name).read_bytes() for name in (MANIFEST, "few_shot_examples.json"))
    with (done.folder / "lexical" / "meta.json").open("ab") as file:
        file.write(b" ")
    notes = Notes()
    mended = install(source, progress=notes)
    assert (mended.changed, mended.folder == done.folder) == (True, False)
    assert "damaged" in notes.notes[0]
    for name, content in ((MANIFEST, "{"), (MANIFEST, None), ("few_shot_examples.json", "[]")):
        found = find_pack("letters").root / name
        found.write_text(content if content is not None else found.read_text().replace("1.0.0", "0.9.0"))
        assert install(source).changed
        assert (find_pack("letters").root / name).read_bytes() == (manifest if name == MANIFEST else examples)
    with (source / DATABASE).open("r+b") as file:
        file.seek(5000)
        file.write(b"\xa5" * 64)
    with pytest.raises(PackError, match=r"pack\.db has changed"):
        install(source, name="other")
    assert installed_names() == ["letters"]


def test_what_was_put_there_by_hand_is_left_alone(pack: Make, tmp_path: Path) -> None:
    mine = installed_packs() / "letters"
    source = pack()
    installed_packs().mkdir(parents=True)
    mine.symlink_to(source)
    with pytest.raises(UsageError, match="by hand"):
        install(source)
    with pytest.raises(PackError, match="by hand"):
        remove("letters")
    assert mine.readlink() == source
    assert find_pack("letters").exists()


def test_a_name_that_is_not_installed_gets_a_suggestion(letters_pack: Path) -> None:
    plant(letters_pack, "physics", "1.0.0")
    for act in (remove, update_installed):
        with pytest.raises(PackError) as caught:
            act("phisics")
        assert "physics" in (caught.value.hint or "")
        for name in (".versions", "..", "/etc", ""):
            with pytest.raises(PackError, match="is installed"):
                act(name)
    assert installed_names() == ["physics"]
    with pytest.raises(PackError, match="no pack"):
        find_pack(".versions")


def test_leftovers_of_killed_installs_are_removed_by_the_next(pack: Make, letters_pack: Path) -> None:
    kept = plant(letters_pack, "kept", "1.0.0")
    versions = installed_packs() / ".versions"
    (versions / ".new-1-abc" / "lexical").mkdir(parents=True)
    shutil.copytree(kept, versions / "orphan" / "1.0.0-abc")
    shutil.copytree(kept, versions / "kept" / "2.0.0-abc")
    (installed_packs() / ".link-1-abc").symlink_to("nowhere")
    remove_me = plant(letters_pack, "gone", "1.0.0")
    assert remove_me.exists()
    remove("gone")
    assert store_files() == [".versions", ".versions/.lock", ".versions/kept", f".versions/kept/{kept.name}", "kept"]


def test_a_data_folder_that_is_a_file_is_an_error(pack: Make, tmp_path: Path) -> None:
    source = pack()
    (tmp_path / "data").write_text("")
    with pytest.raises(WikigrError, match="was not installed: Not a directory"):
        install(source)


def test_an_installed_pack_follows_its_url(archive: Make) -> None:
    with serving() as server:
        url = server.url("/letters?token=secret")
        server.files["/letters?token=secret"] = archive(key=KEY).read_bytes()
        first = install(url, trust=[KEY.public], allow_private=True)
        assert (first.source, first.changed) == (server.url("/letters"), True)
        assert update_installed("letters").changed is False
        server.files["/letters?token=secret"] = archive("b.wikigr", OTHER, version="1.1.0").read_bytes()
        with pytest.raises(PackError, match="was signed by"):
            update_installed("letters")
        server.files["/letters?token=secret"] = archive("c.wikigr", KEY, version="1.1.0").read_bytes()
        second = update_installed("letters")
        assert (second.version, second.before, second.signer) == ("1.1.0", "1.0.0", KEY.public.fingerprint)
    assert list((cache_folder() / "downloads").iterdir()) == []


def test_a_pack_that_was_pinned_and_not_signed_is_not_updated_on_trust(letters_pack: Path) -> None:
    plant(letters_pack, "letters", "1.0.0", {"pinned": True, "source": "https://u.example/p?token=secret"})
    with pytest.raises(PackError, match="cannot be authenticated") as caught:
        update_installed("letters")
    assert "secret" not in (caught.value.hint or "")


@pytest.mark.trust
def test_two_concurrent_installations_both_succeed(pack: Make, tmp_path: Path) -> None:
    sources = [pack(f"s{n}", version=f"1.{n}.0") for n in range(2)]
    program = "import sys; from wikigr.distribution.install import install; install(sys.argv[1], force=True)"
    running = [subprocess.Popen([sys.executable, "-c", program, str(source)]) for source in sources]
    assert [process.wait(120) for process in running] == [0, 0]
    current = find_pack("letters")
    assert len(list(current.root.parent.iterdir())) == 1
    assert titles("letters")


def test_a_garbled_origin_is_an_error(letters_pack: Path) -> None:
    place = plant(letters_pack, "letters", "1.0.0")
    (place / ORIGIN).write_text('{"source": 1}')
    with pytest.raises(PackError, match="origin of the pack"):
        update_installed("letters")
    remove("letters")
    assert installed_names() == []


def test_a_version_that_is_not_semantic_needs_force(pack: Make, archive: Make) -> None:
    version = "1.0/../../zz"  # see tests/pack/test_manifest.py for others
    with pytest.raises(PackError, match="not a semantic version") as refused:
        install(pack("new", version=version))
    assert "--force" in str(refused.value.hint) and not installed_names()
    install(pack("good", version="2.0.0"))
    for source in (pack("bad", version=version), archive(version=version)):
        with pytest.raises(PackError, match="not a semantic version"):
            install(source)
    assert read_manifest(find_pack("letters").part(MANIFEST)).version == "2.0.0"
    forced = install(pack("forced", version=version), force=True)
    assert (forced.version, forced.before) == (version, "2.0.0")
    # A pack of before this was refused is used as ever, and a real version may follow it.
    assert titles("letters")
    assert not install(pack("again", version=version)).changed
    assert install(pack("next", version="0.1.0")).before == version
