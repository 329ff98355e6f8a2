"""Tasks that the tests run in a sandboxed process."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from wikigr.sandbox.process import Channel

_SET_SIGNAL = 10  # F_SETSIG


def echo(channel: Channel) -> None:
    while True:
        channel.send(channel.receive())


def describe(channel: Channel, **arguments: Any) -> None:
    """Report the environment, the modules and the open files, then the arguments."""
    descriptors = []
    for number in range(64):
        try:
            os.fstat(number)
        except OSError:
            continue
        descriptors.append(number)
    channel.send({"environment": dict(os.environ), "modules": sorted(sys.modules), "files": descriptors, **arguments})


def attempt(channel: Channel, readable: str, forbidden: str, parent: int) -> None:
    """Try everything that the walls should prevent, and a few things that they should not."""
    folder = Path(forbidden)
    attempts: dict[str, Callable[[], object]] = {
        "read a file": (folder / "secret.txt").read_bytes,
        "list a folder": lambda: list(folder.iterdir()),
        "read the parent's environment": lambda: Path(f"/proc/{parent}/environ").read_bytes(),
        "map a file for writing": lambda: _map(folder / "secret.txt"),
        "truncate a file": lambda: os.truncate(folder / "secret.txt", 6),
        "write a file": lambda: (folder / "secret.txt").write_bytes(b""),
        "append to a file": lambda: os.open(folder / "secret.txt", os.O_WRONLY | os.O_APPEND),
        "write a readable file": lambda: Path(readable).write_bytes(b""),
        "create a file": lambda: (folder / "new").write_bytes(b""),
        "create a folder": (folder / "new folder").mkdir,
        "link a file": lambda: os.link(folder / "secret.txt", folder / "other"),
        "change a mode": lambda: (folder / "secret.txt").chmod(0o777),
        "change an owner": lambda: os.chown(folder / "secret.txt", os.getuid(), os.getgid()),
        "change times": lambda: os.utime(folder / "secret.txt"),
        "rename a file": lambda: (folder / "secret.txt").rename(folder / "renamed"),
        "remove a file": (folder / "renamed").unlink,
        "open an internet socket": socket.socket,
        "open a socket for datagrams": lambda: socket.socket(type=socket.SOCK_DGRAM),
        "open a local socket": lambda: socket.socket(socket.AF_UNIX),
        "create a socket pair": socket.socketpair,
        "fork": _fork,
        "start a program": lambda: subprocess.run(["/bin/true"], check=False),
        "replace the program": _replace,
        "send a signal to the parent": lambda: os.kill(parent, 0),
        "send a signal to the parent through a pipe": lambda: _signal_through_pipe(parent),
        "read the memory of the parent": lambda: _read_memory(parent),
        "limit the parent": lambda: resource.prlimit(parent, resource.RLIMIT_CORE, (0, 0)),
        "pin the parent to a processor": lambda: os.sched_setaffinity(parent, {0}),
        "leave a shared memory file": lambda: os.memfd_create("x"),
        "allocate 4 GB": lambda: mmap.mmap(-1, 4 << 30).close(),
        "read a readable file": Path(readable).read_bytes,
        "start a thread": _run_thread,
    }
    channel.send({name: _outcome(try_it) for name, try_it in attempts.items()})


def _outcome(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "OSError")
    except MemoryError:
        return "MemoryError"
    return "done"


def _fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _signal_through_pipe(process: int) -> None:
    """Ask the kernel to send SIGURG, which is ignored, when data arrives. SIGKILL would work in the same way."""
    reading, _ = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETOWN, process)
    fcntl.fcntl(reading, _SET_SIGNAL, signal.SIGURG)
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC)


def _map(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    with mmap.mmap(descriptor, 0) as mapped:
        mapped[0] = mapped[0]


def _read_memory(process: int) -> None:
    """Read a byte of another process with process_vm_readv."""
    library = ctypes.CDLL(None, use_errno=True)
    byte = ctypes.create_string_buffer(1)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(byte), 1)
    if library.process_vm_readv(process, vector, 1, vector, 1, 0) < 0 and ctypes.get_errno() != errno.EFAULT:
        raise OSError(ctypes.get_errno(), "process_vm_readv")


def _replace() -> None:
    try:
        os.execv("/no/such/program", ["program"])
    except FileNotFoundError:
        return  # the kernel looked for it


def _run_thread() -> None:
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()


def crash(channel: Channel) -> None:
    channel.receive()
    ctypes.string_at(0)


def abort(channel: Channel) -> None:
    channel.receive()
    os.abort()


def sleep(channel: Channel) -> None:
    channel.receive()
    threading.Event().wait()


def spin(channel: Channel) -> None:
    """Compute without end, as a native library would, and do not read the channel."""
    channel.send(os.getpid())
    while True:
        pass


def create(channel: Channel, folders: list[str]) -> None:
    """Create a file in each folder, and write into it."""

    def write(folder: str) -> None:
        os.write(os.open(Path(folder) / "lock", os.O_WRONLY | os.O_CREAT), b"x")

    channel.send([_outcome(partial(write, folder)) for folder in folders])


def leave(channel: Channel) -> None:
    channel.receive()
    os._exit(3)


def fail(channel: Channel) -> None:
    channel.receive()
    raise LookupError("nothing here")


def answer(channel: Channel, text: str) -> None:
    """Send ``text`` as it is, whatever it is."""
    channel.receive()
    channel.send_bytes(text.encode("utf-8", "replace"))


def flood(channel: Channel, size: int) -> None:
    channel.receive()
    channel.send("x" * size)


def listen(channel: Channel, *, inside: str, outside: str) -> None:
    """Send what happens on trying to listen and to connect."""

    def unix(path: str, *, connects: bool = False) -> None:
        with socket.socket(socket.AF_UNIX) as each:
            if connects:
                each.connect(path)
            else:
                each.bind(path)
                each.listen()

    attempts: dict[str, Callable[[], object]] = {
        "inside": lambda: unix(inside),
        "outside": lambda: unix(outside),
        "connect": lambda: unix(inside, connects=True),
        "tcp": lambda: socket.create_server(("127.0.0.1", 0)),
        "pair": socket.socketpair,
    }
    channel.send({name: _outcome(try_it) for name, try_it in attempts.items()})
