"""HTTP connections that are closed when a request stops arriving."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

# Seconds that the head of a request may take to arrive.
HEAD_SECONDS = 10.0


class TimedProtocol(H11Protocol):
    """HTTP/1.1 connection that is closed if the head of a request does not arrive in time.

    Any program on this machine can open connections, and each of them holds a file descriptor of
    the server. uvicorn closes connections that are idle after a request, but waits for the first
    one, and for the rest of a head, without end.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for the first request."""
        super().connection_made(transport)
        self._follow()

    def data_received(self, data: bytes) -> None:
        """Take what has arrived; a head may take only so long, however many pieces it comes in."""
        super().data_received(data)
        self._follow()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        self._cancel()
        super().connection_lost(exc)

    def _follow(self) -> None:
        waiting = self.cycle is None or self.cycle.response_complete
        if not waiting:
            self._cancel()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self._close)

    def _cancel(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self.transport.close()
