"""Numbers that people type: they count once typing has paused, not after every key."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from twin.page.orders import Orders

PAUSE = 0.5
"""[s] without a change after which a number counts."""


class TypingPause:
    """Waits for the end of typing: of 1500 the 1, the 15 and the 150 are never used."""

    def __init__(self, orders: Orders, work: Callable[[], object]) -> None:
        """Take what is to be done after the last change."""
        self._orders, self._work = orders, work
        self._client: Any = None
        self._changed = 0.0

    def watch(self, handle: Any) -> None:
        """Wait for changes of an input, too."""

        def changed(event: Any) -> None:
            if event.client is not None:
                self._client, self._changed = event.client, monotonic()

        handle.on_update(changed)

    @property
    def waiting(self) -> bool:
        """Whether somebody has typed what does not count yet."""
        return self._client is not None

    def refresh(self) -> None:
        """Do what is to be done if it is time; called on the run's thread."""
        if self._client is not None and monotonic() - self._changed >= PAUSE:
            client, self._client = self._client, None
            self._orders.attempt(client, self._work)
