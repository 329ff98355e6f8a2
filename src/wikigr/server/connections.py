"""Limits on connections, which hold before a request has arrived."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

# Seconds in which the head of a request must arrive, from the beginning of the connection or the last response.
HEAD_TIME_LIMIT = 10
# Seconds in which a client must read something of a response that waits for it.
STALL_TIME_LIMIT = 5


class _PipelineFlow(FlowControl):
    """Reads no further while the next request of a pipeline waits in the buffer.

    uvicorn resumes reading when an application asks for the body of a request, although the body has been read; each
    request of a pipeline would add up to 256 KB to the buffer.
    """

    def __init__(self, transport: asyncio.Transport, connection: h11.Connection) -> None:
        super().__init__(transport)
        self._connection = connection

    def resume_reading(self) -> None:
        states = self._connection.their_state, self._connection.our_state
        if states[0] is not h11.DONE or states[1] is h11.DONE or not self._connection.trailing_data[0]:
            super().resume_reading()


class LimitedProtocol(H11Protocol):
    """The HTTP protocol for a server with at most ``most_connections`` connections, which ends once it ``is_stopping``.

    One connection more closes the one that has waited longest for a request or for its client to read; if all others
    have a request under way, the new one is closed. uvicorn's own limit would answer requests only after the sockets
    are used up.
    """

    waiting_since = 0.0
    deadline: asyncio.TimerHandle | None = None
    stalled: asyncio.TimerHandle | None = None

    def __init__(self, *, most_connections: int, is_stopping: Callable[[], bool], **options: Any) -> None:
        super().__init__(**options)
        self.most_connections = most_connections
        self.is_stopping = is_stopping

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = _PipelineFlow(transport, self.conn)
        if self.is_stopping():
            self.drop()  # it was accepted before the listener was closed
            return
        self.wait_for_request()
        if len(self.connections) > self.most_connections:
            open_ = [other for other in self.connections if isinstance(other, LimitedProtocol)]
            idle = [other for other in open_ if other is not self and (other.stalled or not other.is_busy)]
            min(idle, key=lambda other: other.waiting_since, default=self).drop()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self.deadline, self.stalled):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self.waiting_since = self.loop.time()
        self.watch(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        super().resume_writing()
        if self.stalled is not None:
            self.stalled.cancel()
            self.stalled = None

    def watch(self, unread: int) -> None:
        """Drop the connection unless its client reads some of the ``unread`` bytes within the time limit."""
        self.stalled = self.loop.call_later(STALL_TIME_LIMIT, self.drop_if_stalled, unread)

    def drop_if_stalled(self, unread: int) -> None:
        left = self.transport.get_write_buffer_size()
        if left < unread:
            self.watch(left)
        else:
            self.drop()

    def on_response_complete(self) -> None:
        # Before the next request of a pipeline begins.
        self.wait_for_request()
        super().on_response_complete()

    def wait_for_request(self) -> None:
        """Start the time limit of the next request, which partial data does not extend."""
        self.waiting_since = self.loop.time()
        if self.deadline is not None:
            self.deadline.cancel()
        self.deadline = self.loop.call_later(HEAD_TIME_LIMIT, self.close_if_idle)

    @property
    def is_busy(self) -> bool:
        """Whether a request is under way."""
        return self.cycle is not None and not self.cycle.response_complete

    def close_if_idle(self) -> None:
        if self.is_busy:
            return
        if self.transport.get_write_buffer_size():
            self.drop()  # to close it would wait for the client to read the last response
        else:
            self.transport.close()

    def drop(self) -> None:
        """Close the connection at once."""
        self.connections.discard(self)
        self.transport.abort()
