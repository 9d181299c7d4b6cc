"""viser's server behind a guard: on a socket that is given, for requests that are allowed.

viser takes no part in who reaches it: it listens where it likes, to everybody, and can open a
tunnel to a public server. It serves through the `websockets` library, under that name in one of
its modules; there the guard steps in while a server is started, and only there. Should another
release of viser serve in another way, the server is stopped and an error says so.
"""

from __future__ import annotations

import gzip
import html
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from twin.basics.optional import optional
from twin.errors import StateError
from twin.page.access import Access, Request
from twin.page.backlog import replay_quickly

if TYPE_CHECKING:
    from viser import ViserServer


ADVICE = 'this program knows viser 1.1. Run: pip install "viser>=1.1,<1.2"'

REFUSED = """<!doctype html><meta charset="utf-8"><title>Not allowed</title>
<body style="font: 16px sans-serif; margin: 4em auto; max-width: 36em">
<h1>Not allowed</h1><p>{}</p></body>
"""

_STARTING = threading.Lock()


def guarded_server(bound: socket.socket, access: Access, title: str) -> ViserServer:
    """Return a viser server that listens on a bound socket and asks `access` about every request.

    Args:
        bound: it belongs to the server from now on.
        access: decides.
        title: of the page, and above its controls.

    Raises:
        MissingDependencyError: viser is not installed.
        StateError: a viser that serves in another way.
    """
    viser = optional("viser")
    inside: Any = optional("viser.infra._infra")
    host, port = bound.getsockname()[:2]
    unknown = f"viser {viser.__version__} serves in a way that cannot be guarded: {ADVICE}"
    with _STARTING:
        real = getattr(inside, "websockets", None)
        if real is None:
            raise StateError(unknown)
        library = _Library(real, bound, access, title)
        inside.websockets = library
        try:
            with quiet():
                server: ViserServer = viser.ViserServer(host, port, title, verbose=False)
        finally:
            inside.websockets = real
    if not library.served:
        server.stop()
        raise StateError(unknown)
    _close_tunnel(server)
    replay_quickly(server._websock_server._broadcast_buffer, viser.__version__)
    return server


@contextmanager
def quiet() -> Iterator[None]:
    """Keep viser from printing: what is to be said about the server is said once, by its owner."""
    console = optional("rich").get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


class _Library:
    """The `websockets` library as viser sees it: all of it, but for how a server begins."""

    def __init__(self, real: Any, bound: socket.socket, access: Access, title: str) -> None:
        self.asyncio = SimpleNamespace(server=SimpleNamespace(serve=self.serve))
        self.served = False
        self._real = real
        self._bound = bound
        self._access = access
        self._title = title

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def serve(self, handler: Any, *_: Any, process_request: Any = None, **options: Any) -> Any:
        """Serve on the bound socket, whatever host and port are asked for."""
        from websockets.asyncio.server import serve

        self.served = True
        answer = _guard(process_request, self._access, self._title)
        options = {key: value for key, value in options.items() if key not in ("host", "port")}
        log = _log()
        return serve(handler, sock=self._bound, process_request=answer, logger=log, **options)


def _guard(
    serve_file: Callable[[Any, Any], Any], access: Access, title: str
) -> Callable[[Any, Any], Any]:
    """Return what answers a request before it becomes a websocket: None lets it become one."""
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    @lru_cache(maxsize=4)
    def titled(body: bytes, packed: bool) -> bytes:
        text = gzip.decompress(body) if packed else body
        name = html.escape(title).encode()
        text = text.replace(b"<title>Viser</title>", b"<title>" + name + b"</title>", 1)
        return gzip.compress(text) if packed else text

    def answer(connection: Any, request: Request) -> Any:
        reason = access.refusal(request)
        if reason:
            body = REFUSED.format(html.escape(reason)).encode()
            kind = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body))}
            return Response(403, "Forbidden", Headers(kind), body)
        response = serve_file(connection, request)
        if response is not None:
            if response.headers.get("Content-Type", "").startswith("text/html"):
                packed = response.headers.get("Content-Encoding") == "gzip"
                response.body = titled(response.body, packed)
                del response.headers["Content-Length"]
                response.headers["Content-Length"] = str(len(response.body))
            response.headers.update(access.headers(request))
        return response

    return answer


def _log() -> logging.Logger:
    """Return a log without the visits of programs that open a connection and say nothing."""
    log = logging.getLogger(__name__)
    if not log.filters:
        log.addFilter(lambda record: record.getMessage() != "opening handshake failed")
    return log


def _close_tunnel(server: ViserServer) -> None:
    """Take away what publishes the page through a server on the internet."""
    messages = optional("viser._messages")
    for message in (messages.ShareUrlRequest, messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(message)
    server.gui.configure_theme(show_share_button=False, show_logo=False)
