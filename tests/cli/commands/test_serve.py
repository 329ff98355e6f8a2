"""`wikigr serve` and `wikigr mcp`: how they start, what they refuse, and how they end."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx2
import pytest
from tests.waiting import until

from ..conftest import MAIN, Wikigr

TOKEN = "0123456789abcdef"


@contextmanager
def serving(*arguments: str, program: str = MAIN) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a server; the second value is the address that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, "serve", "--port", "0", "--offline", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def test_an_answer_is_opened_in_the_page(physics_pack: Path, tmp_path: Path, wikigr: Wikigr) -> None:
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o755)
    ask = ["ask", "What is spin?", "--web", "--offline", "--pack", str(physics_pack)]
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, *ask],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "BROWSER": str(browser)},
    )  # fmt: skip
    until(opened.exists)
    address = opened.read_text().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?q=What\+is\+spin%3F", address)
    assert httpx2.get(address, timeout=60).status_code == 200
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.splitlines()[-1]) == (0, f"{address}\n", "Stopped.")
    refused = wikigr(*ask, "--json")
    assert (refused.code, refused.err.splitlines()[0]) == (2, "wikigr: --json does not go with --web.")


def test_a_signal_stops_the_server_after_the_questions_under_way(physics_pack: Path) -> None:
    with serving("--pack", str(physics_pack), "--host", "0.0.0.0", "--token", TOKEN) as (process, address):
        statuses: list[int] = []
        token = {"Authorization": f"Bearer {TOKEN}"}

        def ask() -> None:
            asked = httpx2.get(f"{address}api/ask?question=What+is+spin", headers=token, timeout=120)
            statuses.append(asked.status_code)

        # It can be opened on this machine, and shared.
        assert address.startswith("http://127.0.0.1:") and TOKEN not in address
        assert httpx2.get(f"{address}api/packs", timeout=60).status_code == 401
        assert httpx2.get(f"{address}api/packs", headers=token, timeout=60).status_code == 200
        # A client that waits for messages must not hold up the end.
        waiting = socket.create_connection(("127.0.0.1", httpx2.URL(address).port or 0))
        head = f"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
        waiting.sendall(f"{head}Accept: text/event-stream\r\n\r\n".encode())
        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        while not statuses:
            threads[0].join(0.01)
        process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join()
        out, err = process.communicate(timeout=60)
        waiting.close()
        # Those that came too late are refused, the others are answered.
        assert statuses and set(statuses) == {200}
        assert process.returncode == 0 and "Stopped." in err and "Traceback" not in err + out


def test_a_server_needs_no_standard_output(physics_pack: Path) -> None:
    command = [sys.executable, "-c", MAIN, "serve", "--port", "0", "--offline", "--pack", str(physics_pack)]
    process = subprocess.Popen(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("Serving ")
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "Stopped.\n")


@pytest.mark.trust
def test_idle_connections_do_not_end_the_process(physics_pack: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))\n"
    with serving("--pack", str(physics_pack), program=limit + MAIN) as (process, address):
        place = ("127.0.0.1", httpx2.URL(address).port or 0)
        with ExitStack() as idle:
            for _ in range(300):
                idle.enter_context(socket.create_connection(place, timeout=60))

        def is_served() -> bool:
            with suppress(httpx2.TransportError):
                return httpx2.get(f"{address}healthz", timeout=60).status_code == 200
            return False

        until(is_served)
        assert httpx2.get(f"{address}api/articles/Spin", timeout=60).status_code == 200
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0 and "Traceback" not in err and len(err) < 1_000, err


def test_what_a_server_refuses(wikigr: Wikigr, physics_pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = ("--pack", str(physics_pack))
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        for arguments, code, message in (
            (("serve",), 2, "No pack was given"),
            (("serve", "--pack", "nowhere"), 4, "There is no pack 'nowhere'"),
            (("serve", *pack, "--port", port), 2, f"Port {port} is in use"),
            (("serve", *pack, "--host", "0.0.0.0"), 2, "Add --token"),
            (("serve", *pack, "--host", "0.0.0.0", "--token", "short"), 2, "too short"),
            (("serve", *pack, "--host", "0.0.0.0", "--token", "sixteen blanks in it"), 2, "a header cannot hold"),
            (("serve", *pack, "--allowed-host", "https://wiki"), 2, "'https://wiki' is not the name of a host"),
            (("serve", *pack, "--sources", "nowhere"), 2, "nowhere is not a folder."),
            (("serve", *pack, "--host", "nowhere.invalid", "--token", TOKEN), 2, "not an address of this machine"),
            (("serve", *pack, "--port", "0", "--profile", "nothing"), 2, "nothing"),
            (("mcp",), 2, "No pack was given"),
            (("mcp", "--pack", "nowhere"), 4, "There is no pack 'nowhere'"),
            (("mcp", "--pack", "nowhere", "--print-config", "cursor"), 4, "There is no pack 'nowhere'"),
            (("mcp", *pack, "--print-config", "emacs"), 2, "claude-desktop"),
        ):
            result = wikigr(*arguments)
            assert (result.code, result.out) == (code, ""), result
            assert message in result.err
    monkeypatch.setattr("wikigr_cli.commands.serve.find_spec", lambda name: None if name == "mcp" else importlib.util)
    for command in ("serve", "mcp"):
        result = wikigr(command, *pack)
        assert result.code == 2 and "pip install 'wikigr[serve]'" in result.err and "needs mcp" in result.err


def test_the_settings_of_assistants(
    wikigr: Wikigr, physics_pack: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(physics_pack.parent)
    expected = ["mcp", "--pack", str(physics_pack), "--profile", "fast", "--offline"]
    options = ("--pack", physics_pack.name, "--profile", "fast", "--offline", "--print-config")
    for client in ("claude-desktop", "cursor"):
        entry = json.loads(wikigr("mcp", *options, client).out)["mcpServers"]["wikigr"]
        assert entry["args"] == expected and Path(entry["command"]).name == "wikigr"
    entry = json.loads(wikigr("mcp", *options, "vscode").out)["servers"]["wikigr"]
    assert entry["type"] == "stdio" and entry["args"] == expected
    # A profile that is a file is found from another folder.
    (tmp_path / "my.yaml").write_text("extends: fast\n")
    monkeypatch.chdir(tmp_path)
    found = wikigr("mcp", "--pack", str(physics_pack), "--profile", "my.yaml", "--print-config", "cursor").out
    assert str(tmp_path / "my.yaml") in json.loads(found)["mcpServers"]["wikigr"]["args"]
    monkeypatch.chdir(physics_pack.parent)
    words = shlex.split(wikigr("mcp", *options, "claude-code").out)
    assert words[:5] == ["claude", "mcp", "add", "wikigr", "--"] and words[6:] == expected
