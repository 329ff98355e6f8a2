"""Run the web application until the process is told to stop."""

from __future__ import annotations

import asyncio
import errno
import resource
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from ipaddress import IPv6Address, ip_address, ip_network
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from starlette.types import Message, Receive, Scope, Send

from wikigr.errors import UsageError, WikigrError
from wikigr.server.api import error_response
from wikigr.server.connections import HEAD_TIME_LIMIT, LimitedProtocol
from wikigr.server.workers import CLIENT, BusyError, Client

# Seconds for requests under way after SIGTERM or Ctrl-C; a second signal ends them.
GRACE = 4
# Seconds in which clients must read the error of a request that is cut off.
LAST_WORDS = 0.2
# The maximum number of open connections, if the process may open twice as many files.
MAX_CONNECTIONS = 1_000
# Bytes that the system keeps of the responses on a connection; its own limit is several MB.
SEND_BUFFER = 128 << 10


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 is any free one. Raises ``UsageError`` for a bad address or a port in use."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as error:
        raise UsageError(f"{host!r} is not an address of this machine: {error}.") from error
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)  # also of the connections
        listener.bind(address)
        listener.listen(1024)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise UsageError(
                f"Port {port} is in use: another program listens there.",
                hint="Choose another one with --port, or 0 for any free port.",
            ) from error
        raise UsageError(f"Cannot listen on {host}:{port}: {error.strerror}.") from error
    return listener


def run_app(app: Starlette, listener: socket.socket, *, on_ready: Callable[[], None]) -> int:
    """Serve ``app`` until SIGTERM or Ctrl-C, and return how many requests were cut off.

    Those under way have ``GRACE`` seconds. ``on_ready`` is called when the first client can connect. Raises
    ``WikigrError`` if the application cannot start.
    """
    server = AppServer(app, on_ready)
    asyncio.run(server.serve(sockets=[listener]))
    if not server.started:
        raise WikigrError("The server could not start.")
    return server.cut_off


class AppServer(uvicorn.Server):
    """Serves an application made by ``create_app``.

    When it is told to stop, it ends the streams of clients, gives the requests under way ``GRACE`` seconds, cuts the
    others off, drops the connections that remain and returns.
    """

    cut_off = 0
    is_stopping = False

    def __init__(self, app: Starlette, on_ready: Callable[[], None]) -> None:
        most = _max_connections()
        config = uvicorn.Config(
            self._respond,
            interface="asgi3",
            log_level="error",
            access_log=False,
            http=partial(LimitedProtocol, most_connections=most, is_stopping=lambda: self.is_stopping),  # type: ignore[arg-type]
            # So many connections are accepted before the first of them is counted.
            backlog=max(8, most // 8),
            timeout_keep_alive=HEAD_TIME_LIMIT,
            ws="none",
            lifespan="on",
            server_header=False,
            proxy_headers=False,
            h11_max_incomplete_event_size=32 << 10,
        )
        super().__init__(config)
        self._app = app
        self._on_ready = on_ready

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; one that is cut off gets an error."""
        started = complete = False
        if scope["type"] == "http" and scope["client"] is not None:
            CLIENT.set(client_at(scope["client"][0]))

        async def noted(message: Message) -> None:
            nonlocal started, complete
            started = True
            complete = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except asyncio.CancelledError:
            # uvicorn would log it with a traceback.
            if scope["type"] != "http":
                raise
            if not started:
                await error_response(BusyError("The server is shutting down."))(scope, receive, send)
            elif not complete:
                await send({"type": "http.response.body"})

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.is_stopping = True
        self._app.state.mcp.end_streams()
        ending = asyncio.create_task(self._cut_off())
        await super().shutdown(sockets=sockets)
        ending.cancel()

    async def _cut_off(self) -> None:
        """Cancel what is under way after ``GRACE`` seconds, and drop whose clients do not read."""
        await asyncio.sleep(GRACE)
        for connection in self._connections():
            if connection.transport.get_write_buffer_size():
                connection.drop()
        tasks = list(self.server_state.tasks)
        self.cut_off = len(tasks)
        for task in tasks:
            task.cancel()
        while True:
            await asyncio.sleep(LAST_WORDS)
            for connection in self._connections():
                connection.drop()

    def _connections(self) -> list[LimitedProtocol]:
        return [each for each in self.server_state.connections if isinstance(each, LimitedProtocol)]

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        old = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.handle_exit(number, frame)


def client_at(address: str) -> Client:
    """Return the client at an address, which has what one customer of a provider usually gets.

    That is an IPv4 address, or a /64 network of IPv6 in a /48 network of a provider, which usually has a /32 network.
    IPv4 addresses are too scarce to have many, and those of one /24 network may be all the people of an office.
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return Client(address, address)
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    if found.version == 4:
        return Client(f"{found}/32", f"{found}/32")
    return Client(*(str(ip_network((found, bits), strict=False)) for bits in (48, 64, 32)))


def _max_connections() -> int:
    """Return the maximum number of connections; they use at most half of the files that the process may open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if files == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, max(8, files // 2))
