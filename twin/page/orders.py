"""What people ask for on the page: done where the run lives, and told where it goes wrong."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from twin.errors import TwinError

WARNED = 12.0
"""[s] that a message stays on the page."""

PATIENCE = 20.0
"""[s] that work elsewhere waits for the run's thread."""

log = logging.getLogger(__name__)


class Orders:
    """Passes what people do with controls on to the run's thread, one after the other.

    What cannot be done is told to who asked for it, and nobody else; the page goes on.
    """

    def __init__(self, do: Callable[[Callable[[], Any]], None]) -> None:
        """Take what lets the run's thread call a function: `Runner.do`."""
        self._do = do

    def on(
        self,
        register: Callable[[Callable[[Any], None]], Any],
        work: Callable[[Any], object],
        prepare: Callable[[Any], Any] | None = None,
    ) -> None:
        """Let people's use of a control have an effect.

        Args:
            register: of the control, such as `slider.on_update` or `button.on_click`.
            work: called on the run's thread with the event, or with what `prepare` made of it.
            prepare: what takes longer and needs nothing of the run; called elsewhere before.
        """

        def used(event: Any) -> None:
            # Values that the page itself sets come without a client: nobody asked for anything.
            if event.client is not None:
                self.ask(event.client, work, event, prepare)

        register(used)

    def ask(
        self,
        client: Any,
        work: Callable[[Any], object],
        given: Any,
        prepare: Callable[[Any], Any] | None = None,
    ) -> None:
        """Do some `work` with what is `given` for a `client` of the page; see `on`."""

        def begin() -> None:
            ready = given if prepare is None else prepare(given)
            self._do(lambda: self.attempt(client, lambda: work(ready)))

        self.attempt(client, begin)

    def result(self, function: Callable[[], Any]) -> Any:
        """Return what a function returns on the run's thread; for `prepare`, which may wait.

        Raises:
            TimeoutError: the run's thread did not come to it.
        """
        future: Future[Any] = Future()

        def answer() -> None:
            try:
                future.set_result(function())
            except BaseException as error:
                future.set_exception(error)

        self._do(answer)
        return future.result(PATIENCE)

    def attempt(self, client: Any, work: Callable[[], object]) -> None:
        """Do some work here and now; errors become messages."""
        try:
            work()
        except TwinError as error:
            tell(client, "Not possible", str(error))
        except Exception as error:
            log.exception("the page could not do what was asked")
            tell(client, "Error of the program", f"{type(error).__name__}: {error}")


def tell(client: Any, title: str, text: str, color: str = "red") -> None:
    """Show a message to one client of the page, who may have gone by now."""
    try:
        client.add_notification(title, text, auto_close_seconds=WARNED, color=color)
    except Exception:
        log.debug("a message found nobody", exc_info=True)
