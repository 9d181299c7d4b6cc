"""Requests that people make with the page's controls, done on the run's thread."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from time import monotonic
from typing import Any

from twin.errors import TwinError

NOTIFICATION_TIME = 12.0
"""[s] Time for which a notification stays on the page."""

REQUEST_TIMEOUT = 20.0
"""[s] Longest time that work on another thread waits for the run's thread."""

TYPING_PAUSE = 0.5
"""[s] Time without a change after which a typed number counts."""

ARRIVAL_TIMEOUT = 120.0
"""[s] Longest wait for a text that a page has left in its browser: a busy one draws the scene
first."""


log = logging.getLogger(__name__)


class Requests:
    """Passes requests on to the run's thread, one after the other.

    A request that fails becomes a notification to the client that made it; the page goes on.
    """

    def __init__(self, do: Callable[[Callable[[], Any]], None]) -> None:
        """Store the function that calls others on the run's thread: `Runner.do`."""
        self._do = do

    def on(
        self,
        register: Callable[[Callable[[Any], None]], Any],
        work: Callable[[Any], object],
        prepare: Callable[[Any], Any] | None = None,
    ) -> None:
        """Make a request whenever a control is used.

        Args:
            register: of the control, such as `slider.on_update` or `button.on_click`.
            work: called on the run's thread with the event, or with the result of `prepare`.
            prepare: work that takes longer, called before on another thread; what it needs of the
                run it asks for with `result`.
        """

        def used(event: Any) -> None:
            # Values that the page itself sets come without a client.
            if event.client is not None:
                self._make(event, work, prepare)

        register(used)

    def ask(self, client: Any, work: Callable[[], object]) -> None:
        """Make a request of a client that uses no control for it."""
        self._do(lambda: self.attempt(client, work))

    def result(self, function: Callable[[], Any]) -> Any:
        """Return the result of a function on the run's thread; for `prepare`, which may wait.

        Raises:
            TimeoutError: the run's thread did not answer in time, as when it waits itself.
        """
        future: Future[Any] = Future()

        def call() -> None:
            try:
                future.set_result(function())
            except BaseException as error:
                future.set_exception(error)

        self._do(call)
        return future.result(REQUEST_TIMEOUT)

    def attempt(self, client: Any, work: Callable[[], object]) -> None:
        """Do some work at once; errors become notifications to a client."""
        try:
            work()
        except TwinError as error:
            notify(client, "Not possible", str(error))
        except Exception as error:
            log.exception("a request of the page failed")
            notify(client, "Error of the program", f"{type(error).__name__}: {error}")

    def _make(
        self, event: Any, work: Callable[[Any], object], prepare: Callable[[Any], Any] | None
    ) -> None:
        def begin() -> None:
            prepared = event if prepare is None else prepare(event)
            self.ask(event.client, lambda: work(prepared))

        self.attempt(event.client, begin)


class TypingPause:
    """Waits for the end of typing, so that the prefixes 1, 15 and 150 of 1500 are not applied."""

    def __init__(self, requests: Requests, work: Callable[[], object]) -> None:
        """Take the work to do after the last change."""
        self._requests, self._work = requests, work
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
        """Whether a typed number does not count yet."""
        return self._client is not None

    def refresh(self) -> None:
        """Do the work if it is due; called on the run's thread."""
        if self._client is not None and monotonic() - self._changed >= TYPING_PAUSE:
            client, self._client = self._client, None
            self._requests.attempt(client, self._work)


def notify(client: Any, title: str, text: str, color: str = "red") -> None:
    """Show a notification to one client of the page, who may have gone by now."""
    try:
        client.add_notification(title, text, auto_close_seconds=NOTIFICATION_TIME, color=color)
    except Exception:
        log.debug("a notification found no client", exc_info=True)


def on_arrival(server: Any, requests: Requests, use: Mapping[str, Callable[[str], object]]) -> None:
    """Hand on what the script of each newly opened page has left in its browser.

    Args:
        server: viser's.
        requests: to the run; faults become notifications on the page.
        use: name -> what is called on the run's thread with the text. Each text is used once.
    """

    def arrived(client: Any) -> None:
        for name, work in use.items():
            try:
                text = client.local_storage.get_item(f"twin-{name}", timeout=ARRIVAL_TIMEOUT)
            except (RuntimeError, TimeoutError):
                log.debug("a page has left, or its browser keeps nothing", exc_info=True)
                return
            if text:
                client.local_storage.remove_item(f"twin-{name}")
                requests.ask(client, partial(work, text))

    server.on_client_connect(arrived)
