"""What a compromised process might send instead of the checks; each is a task of a sandboxed process."""

from __future__ import annotations

import os
import pickle
from typing import Any

from wikigr.sandbox.process import HEADER, Channel


def crash(channel: Channel, **_: Any) -> None:
    os.abort()


def leave(channel: Channel, **_: Any) -> None:
    os._exit(0)


def babble(channel: Channel, **_: Any) -> None:
    channel.send({"name": "digest"})


def say_nothing(channel: Channel, **_: Any) -> None:
    channel.send(None)


def say_yes(channel: Channel, **_: Any) -> None:
    channel.send({"name": "digest", "passed": "yes", "detail": "", "fix": "", "required": []})
    channel.send(None)


def say_little(channel: Channel, **_: Any) -> None:
    """A failure that is only a note must not stand for the checks that follow."""
    channel.send({"name": "encoder", "passed": False, "detail": "", "fix": "", "required": False})
    channel.send(None)


def send_pickle(channel: Channel, **_: Any) -> None:
    body = pickle.dumps({"name": "digest", "passed": True, "detail": ""})
    os.write(channel._outgoing, HEADER.pack(len(body)) + body)


def nest(channel: Channel, **_: Any) -> None:
    channel.send_bytes(b"[" * 100_000)


def flood(channel: Channel, **_: Any) -> None:
    channel.send({"name": "digest", "passed": True, "detail": "x" * (5 << 20)})
    channel.send(None)
