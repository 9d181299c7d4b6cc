"""Texts from newly opened pages: the scheme of their system, the set-up in their address."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from twin.page.requests import Requests

PATIENCE = 120.0
"""[s] for a browser to say it: a busy one draws the scene first."""

log = logging.getLogger(__name__)


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
                text = client.local_storage.get_item(f"twin-{name}", timeout=PATIENCE)
            except (RuntimeError, TimeoutError):
                log.debug("a page has left, or its browser keeps nothing", exc_info=True)
                return
            if text:
                client.local_storage.remove_item(f"twin-{name}")
                requests.ask(client, partial(work, text))

    server.on_client_connect(arrived)
