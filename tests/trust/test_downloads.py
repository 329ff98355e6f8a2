"""Downloads from malicious servers: redirects, sizes and links. For broken HTTP, see ``tests/distribution``.

The public internet of these tests is a network namespace of its own with a public address on its loopback device; where
the system gives no such namespace to users, those tests are skipped.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.distribution.file_server import FileServer, fetch_file, serving
from tests.trust.conftest import Tally

from wikigr.distribution import download
from wikigr.distribution.download import open_download
from wikigr.errors import WikigrError

MOST = 1_000_000
CONTENT = bytes(300_000)
Attacks = Callable[[str], Tally]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"_FIRST_PAUSE": 0.0, "_MAX_ATTEMPTS": 2}.items():
        monkeypatch.setattr(download, name, value)
    for name in ("_HEADER_SECONDS", "_STALL_SECONDS"):
        monkeypatch.setattr(download, name, 0.5)


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving() as found:
        yield found


def refused(server: FileServer, folder: Path, tally: Tally, match: str) -> None:
    begun = time.monotonic()
    with pytest.raises(WikigrError, match=match) as caught:
        fetch_file(server.url("/p"), folder, max_bytes=MOST, allow_private=True)
    assert caught.value.hint
    assert time.monotonic() - begun < 20
    assert sum(path.stat().st_size for path in folder.iterdir()) <= MOST + 1000
    tally.refused()


@pytest.mark.parametrize(
    ("target", "match"),
    [
        ("file:///etc/passwd", "not 'file'"),
        ("ftp://example.org/p", "not 'ftp'"),
        ("gopher://127.0.0.1:70/1", "not 'gopher'"),
        ("javascript:alert(1)", "not 'javascript'"),
        ("data:text/plain,x", "not 'data'"),
        ("https:///p", "has no host"),
        ("https://user:pass@example.org/p", "a user or a password"),
        ("http://127.0.0.1\\@example.org/p", "spaces, control"),
        ("http://127.0.0.1:99999/p", "Cannot parse the URL"),
        ("http://[::1/p", "Cannot parse the URL"),
    ],
)  # fmt: skip
def test_a_redirect_to_what_is_not_fetched(
    server: FileServer, tmp_path: Path, tally: Attacks, target: str, match: str
) -> None:
    server.behaviors["/p"] = lambda request: request.reply(302, headers={"Location": target})
    with pytest.raises(WikigrError, match=f"redirects to a URL that is not allowed.*{match}"):
        fetch_file(server.url("/p"), tmp_path, max_bytes=MOST, allow_private=True)
    tally("download: redirects").refused()


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data/", "http://[fe80::1]/", "http://0.0.0.0/", "http://[::]/",
        "http://[::ffff:169.254.169.254]/", "http://[64:ff9b::a9fe:a9fe]/", "http://2852039166/", "http://0xa9fea9fe/",
        "http://224.0.0.1/", "https://169.254.169.254/",
    ],
)  # fmt: skip
def test_a_redirect_to_an_address_that_is_never_allowed(
    server: FileServer, tmp_path: Path, tally: Attacks, target: str
) -> None:
    server.behaviors["/p"] = lambda request: request.reply(302, headers={"Location": target})
    with pytest.raises(WikigrError, match="not an address of the public internet"):
        fetch_file(server.url("/p"), tmp_path, max_bytes=MOST, allow_private=True)
    tally("download: redirects").refused()


def test_a_redirect_to_plain_http_elsewhere(server: FileServer, tmp_path: Path, tally: Attacks) -> None:
    server.behaviors["/p"] = lambda request: request.reply(302, headers={"Location": "http://10.255.255.1/p"})
    refused(server, tmp_path, tally("download: redirects"), "plain http")


def test_a_body_that_is_announced_too_large(server: FileServer, tmp_path: Path, tally: Attacks) -> None:
    server.behaviors["/p"] = lambda request: request.reply(200, b"x", {"Content-Length": str(MOST + 1)})
    refused(server, tmp_path, tally("download: size"), "larger than 1,000,000 bytes")


def test_a_range_that_was_not_requested(server: FileServer, tmp_path: Path, tally: Attacks) -> None:
    headers = {"Content-Range": "bytes 0-299999/300000"}
    server.behaviors["/p"] = lambda request: request.reply(206, CONTENT, headers)
    refused(server, tmp_path, tally("download: false ranges"), "status 206 instead of a file")


def test_a_link_in_place_of_the_download_is_not_followed(server: FileServer, tmp_path: Path, tally: Attacks) -> None:
    server.files["/p"] = CONTENT
    with open_download(server.url("/p"), tmp_path, max_bytes=MOST, allow_private=True) as found:
        pass
    (tmp_path / "precious").write_text("mine")
    found.symlink_to(tmp_path / "precious")
    with pytest.raises(WikigrError, match="Cannot write the download"):
        fetch_file(server.url("/p"), tmp_path, max_bytes=MOST, allow_private=True)
    assert (tmp_path / "precious").read_text() == "mine"
    tally("download: links on disk").refused()


# -- in a namespace of its own

PUBLIC = "93.184.216.34"
_NAMESPACE = ["unshare", "-rnm"]


def _has_namespaces() -> bool:
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return False
    probe = f"ip link set lo up && ip addr add {PUBLIC}/32 dev lo && mount -t tmpfs -o size=200k tmpfs /mnt"
    return subprocess.run([*_NAMESPACE, "sh", "-c", probe], capture_output=True, check=False).returncode == 0


needs_namespace = pytest.mark.skipif(not _has_namespaces(), reason="needs user, network and mount namespaces")


def in_namespace(program: str, *arguments: str | Path, mount: str = "true") -> str:
    """Run a Python program where ``PUBLIC`` is an address of this machine, and return what it prints."""
    prepare = f'ip link set lo up && ip addr add {PUBLIC}/32 dev lo && {mount} && exec "$@"'
    command = [*_NAMESPACE, "sh", "-c", prepare, "sh", sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


_REDIRECTS = f"""
import os, sys
from pathlib import Path
from tests.distribution.file_server import fetch_file, make_certificates, serving
from wikigr.errors import WikigrError

folder = Path(sys.argv[1])
authority, certificate = make_certificates(folder, "{PUBLIC}", "127.0.0.1", "localhost")
os.environ["SSL_CERT_FILE"] = str(authority)
with serving("127.0.0.1", certificate) as inner, serving("{PUBLIC}", certificate) as outer:
    inner.files["/secret"] = b"secret"
    outer.files["/p"] = b"public"
    print(fetch_file(outer.url("/p"), folder / "d", max_bytes=100).decode())
    port = inner.server_port
    hosts = ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"]
    for host in hosts:
        outer.behaviors["/r"] = lambda request: request.reply(302, headers={{"Location": f"https://{{host}}:{{port}}/secret"}})
        try:
            fetch_file(outer.url("/r"), folder / "d", max_bytes=100)
            print("fetched")
        except WikigrError as error:
            print("refused" if "public internet" in error.message or "Cannot resolve" in error.message else error.message)
    outer.behaviors["/r"] = lambda request: request.reply(302, headers={{"Location": f"http://{PUBLIC}:{{port}}/secret"}})
    try:
        fetch_file(outer.url("/r"), folder / "d", max_bytes=100)
    except WikigrError as error:
        print("refused" if "downgrades https to http" in error.message else error.message)
    print("reached", len(inner.requests))
"""  # noqa: E501


@needs_namespace
def test_a_public_server_does_not_lead_into_this_machine(tmp_path: Path, tally: Attacks) -> None:
    lines = in_namespace(_REDIRECTS, tmp_path).split("\n")
    assert lines[0] == "public"
    assert lines[1:9] == ["refused"] * 8
    assert lines[9] == "reached 0"
    tally("download: redirects").refused(8)


_REBINDING = f"""
import os, socket, sys
from pathlib import Path
from tests.distribution.file_server import fetch_file, make_certificates, serving

folder = Path(sys.argv[1])
authority, certificate = make_certificates(folder, "{PUBLIC}", "rebind.example")
os.environ["SSL_CERT_FILE"] = str(authority)
asked = 0

def rebinding(host, port, *rest, real=socket.getaddrinfo, **named):
    global asked
    if host == "rebind.example":
        asked += 1
        host = "{PUBLIC}" if asked == 1 else "127.0.0.1"
    return real(host, port, *rest, **named)

socket.getaddrinfo = rebinding
with serving("{PUBLIC}", certificate) as outer:
    outer.files["/p"] = b"public"
    target = outer.url("/p", "rebind.example")
    outer.behaviors["/r"] = lambda request: request.reply(302, headers={{"Location": target}})
    print(fetch_file(outer.url("/r"), folder / "d", max_bytes=100).decode(), asked)
"""


@needs_namespace
def test_a_name_that_changes_its_address_between_check_and_use(tmp_path: Path, tally: Attacks) -> None:
    assert in_namespace(_REBINDING, tmp_path) == "public 1\n"
    tally("download: DNS rebinding").harmless()


_FULL = """
import sys
from pathlib import Path
from tests.distribution.file_server import fetch_file, serving
from wikigr.errors import WikigrError

folder = Path(sys.argv[1])
with serving() as server:
    for length in ("500000", None):
        def send(request):
            request.send_response(200)
            if length:
                request.send_header("Content-Length", length)
            request.end_headers()
            request.wfile.write(bytes(500_000))
            request.close_connection = True
        server.behaviors["/p"] = send
        try:
            fetch_file(server.url("/p"), folder, max_bytes=10**6, allow_private=True)
        except WikigrError as error:
            print(error.message, "|", error.hint)
"""


@needs_namespace
def test_a_disk_that_is_full(tmp_path: Path, tally: Attacks) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    first, second = in_namespace(_FULL, folder, mount=f"mount -t tmpfs -o size=300k tmpfs '{folder}'").splitlines()
    assert "needs 500,000 more bytes" in first
    assert "No space left on device" in second
    tally("download: full disk").refused(2)


_READ_ONLY = """
import sys
from wikigr.errors import WikigrError
from wikigr.distribution.install import install
try:
    install(sys.argv[1])
except WikigrError as error:
    print(type(error).__name__, error.message, "|", error.hint)
"""


@needs_namespace
def test_a_data_folder_that_is_read_only(physics_pack: Path, tmp_path: Path, tally: Attacks) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    mount = f"mount -t tmpfs -o ro tmpfs '{folder}' && export XDG_DATA_HOME='{folder}'"
    said = in_namespace(_READ_ONLY, physics_pack, mount=mount)
    assert said.startswith("WikigrError The pack was not installed: Read-only file system")
    assert "XDG_DATA_HOME" in said
    tally("install: full or read-only disk").refused()


@needs_namespace
def test_a_data_disk_that_is_too_small(physics_pack: Path, tmp_path: Path, tally: Attacks) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    mount = f"mount -t tmpfs -o size=2m tmpfs '{folder}' && export XDG_DATA_HOME='{folder}'"
    program = (
        _READ_ONLY + "\nimport os; print(sorted(os.listdir(os.environ['XDG_DATA_HOME'] + '/wikigr/packs/.versions')))"
    )
    said = in_namespace(program, physics_pack, mount=mount).splitlines()
    assert said[0].startswith("WikigrError The archive unpacks to ")
    assert "Free some space" in said[0]
    assert said[1] == "['.lock']"
    tally("install: full or read-only disk").refused()
