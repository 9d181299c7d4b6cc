"""Ends connections of browsers that no longer take what is sent to them.

What waits for a browser is bounded: newer states of a thing replace older ones, and nothing more
is handed to a connection while it is full. But a browser that sleeps, or whose network is gone,
would be kept for ever, as the library's own pings wait behind what it does not take. A browser
that wakes up connects anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

STALLED = 20.0
"""[s] without taking anything after which a connection is ended."""


class StalledConnections:
    """Looks at a server's connections now and then, in the server's own loop."""

    def __init__(
        self,
        connections: Mapping[int, Any],
        loop: asyncio.AbstractEventLoop,
        after: float = STALLED,
    ) -> None:
        """Begin to look.

        Args:
            connections: of the `websockets` library, by client; watched as they come and go.
            loop: that serves them.
            after: [s] without taking anything that is too long.
        """
        self._connections = connections
        self._loop = loop
        self._after = after
        self._waiting: dict[int, tuple[int, float]] = {}
        loop.call_soon_threadsafe(self._look)

    def _look(self) -> None:
        now = self._loop.time()
        present: dict[int, tuple[int, float]] = {}
        for client, connection in self._connections.items():
            size = connection.transport.get_write_buffer_size()
            before, since = self._waiting.get(client, (0, now))
            if size and size == before and now - since >= self._after:
                connection.transport.abort()
            elif size:
                present[client] = (size, since if size == before else now)
        self._waiting = present
        self._loop.call_later(self._after / 4.0, self._look)
