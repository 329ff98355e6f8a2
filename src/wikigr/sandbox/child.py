"""The child's side of a sandbox: read a task, raise the walls, and run the task inside them."""

from __future__ import annotations

import json
import os
import select
import struct
import threading
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from wikigr.sandbox.walls import confine

HEADER = struct.Struct("!I")  # the length of a message in bytes


def encode(message: Any) -> bytes:
    """Return ``message`` as JSON, with ``?`` for unpaired surrogates; raises ``ValueError`` for NaN and infinities."""
    return json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


class Channel:
    """JSON messages from and to the parent process."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    def receive(self) -> Any:
        """Return the next message; the process ends when the parent has closed its side."""
        return json.loads(self.receive_bytes())

    def receive_bytes(self) -> bytes:
        """Return the next message as the parent sent it."""
        (size,) = HEADER.unpack(self._read(HEADER.size))
        return self._read(size)

    def send(self, message: Any) -> None:
        """Send a message; raises ``ValueError`` for NaN and infinities."""
        self.send_bytes(encode(message))

    def send_bytes(self, body: bytes) -> None:
        """Send a message that is already JSON."""
        data = memoryview(HEADER.pack(len(body)) + body)
        while data:
            data = data[os.write(self._outgoing, data) :]

    def watch(self) -> None:
        """End this process when the parent closes its side, even during a computation."""
        threading.Thread(target=self._wait_for_end, daemon=True).start()

    def _wait_for_end(self) -> None:
        poll = select.poll()
        poll.register(self._incoming, 0)
        poll.poll()
        os._exit(0)

    def _read(self, size: int) -> bytes:
        parts = []
        while size:
            part = os.read(self._incoming, min(size, 1 << 20))
            if not part:
                os._exit(0)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def finish(channel: Channel) -> None:
    """Do nothing inside the walls: a task that only shows which of them stand."""


def main() -> None:
    """Run the task in the first message; standard input and output are the channel, and nothing else can use them."""
    channel = Channel(os.dup(0), os.dup(1))
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 0)
    os.dup2(devnull, 1)
    os.close(devnull)
    task = channel.receive()
    try:
        entry = getattr(import_module(task["module"]), task["function"])
        walls = confine(
            readable=[Path(path) for path in task["readable"]],
            scratch=None if task["scratch"] is None else Path(task["scratch"]),
            address_space=task["address_space"],
            cpu_seconds=task["cpu_seconds"],
            listening=task["listening"],
        )
        channel.watch()
        channel.send({"walls": asdict(walls)})
        entry(channel, **task["arguments"])
    except Exception as error:
        channel.send({"fault": f"{type(error).__name__}: {error}"})
        raise
