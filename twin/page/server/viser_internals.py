"""All that reaches into viser's internals: a guarded server, its backlog, its end, its layout.

viser 1.1 has no public way to do these things, and each of them answers an attack or a fault:

- Requests are checked before they are served. Without this, web sites that a user visits elsewhere
  reach the page through the user's browser.
- The server gets a bound socket. viser itself takes the next port if one is used by another
  program, and never returns if the host is unknown.
- Nobody can publish the page through viser's server on the internet.
- A browser that connects late gets the present state at once. viser counts through the numbers of
  all messages ever sent and serves nobody meanwhile: 1 s for a million messages, 10 s after an hour
  and a half of a moving scene.
- The end does not wait for browsers that do not respond, and prints nothing.
- The page has a style and keys of its own.
- The controls of one browser are placed above a panel of all browsers.

Should another release of viser serve in another way, the server is stopped and an error says so.
"""

from __future__ import annotations

import asyncio
import gzip
import html
import logging
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.resources import files
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from twin.basics.optional import optional
from twin.errors import StateError
from twin.page.server.access import Access, Request

if TYPE_CHECKING:
    from viser import ViserServer
    from viser.infra._async_message_buffer import AsyncMessageBuffer
    from viser.infra._messages import Message

ADVICE = 'this program knows viser 1.1. Run: pip install "viser>=1.1,<1.2"'

KNOWN = "1.1."
"""Releases of viser whose backlog is known; others keep their own way, which is slower."""

PATIENCE = 10.0
"""[s] to wait for the server's thread to end."""

REFUSED = """<!doctype html><meta charset="utf-8"><title>Not allowed</title>
<body style="font: 16px sans-serif; margin: 4em auto; max-width: 36em">
<h1>Not allowed</h1><p>{}</p></body>
"""

_STARTING = threading.Lock()

_SERVED: WeakKeyDictionary[ViserServer, Any] = WeakKeyDictionary()
"""Server -> the library's own, which knows all connections."""


def guarded_server(bound: socket.socket, access: Access, title: str) -> ViserServer:
    """Return a viser server that listens on a bound socket and checks every request.

    Args:
        bound: it belongs to the server from now on.
        access: rules that requests are checked against.
        title: of the page, and above its controls.

    Raises:
        MissingDependencyError: viser is not installed.
        StateError: a viser that serves in another way.
    """
    viser = optional("viser")
    inside: Any = optional("viser.infra._infra")
    host, port = bound.getsockname()[:2]
    served: list[Any] = []

    def serve(handler: Any, *_: Any, process_request: Any = None, **options: Any) -> Any:
        from websockets.asyncio.server import serve as listen

        response = _guard(process_request, access, title)
        options |= {"process_request": response, "logger": _log()}
        served.append(listen(handler, sock=bound, **options))
        return served[0]

    unknown = f"viser {viser.__version__} serves in a way that cannot be guarded: {ADVICE}"
    with _STARTING:
        real = getattr(inside, "websockets", None)
        if real is None:
            raise StateError(unknown)
        # viser's threads look the library up in this module while they start.
        inside.websockets = SimpleNamespace(
            asyncio=SimpleNamespace(server=SimpleNamespace(serve=serve)),
            datastructures=real.datastructures,
            exceptions=real.exceptions,
        )
        try:
            with _quiet():
                server: ViserServer = viser.ViserServer(host, port, title, verbose=False)
        finally:
            inside.websockets = real
    if not served:
        server.stop()
        raise StateError(unknown)
    _SERVED[server] = served[0]
    messages = optional("viser._messages")
    for message in (messages.ShareUrlRequest, messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(message)
    darken(server, False)
    if viser.__version__.startswith(KNOWN):
        _replay_quickly(server._websock_server._broadcast_buffer)
    return server


def _log() -> logging.Logger:
    """Return the server's log, which leaves out connections that never ask for anything."""
    log = logging.getLogger("twin.page.connections")
    if not log.filters:
        log.addFilter(lambda record: record.msg != "opening handshake failed")
    return log


def end_server(server: ViserServer) -> None:
    """End a server and the connections to it, also those that do not respond."""
    inside: Any = server._websock_server
    serving = _SERVED.pop(server).server

    def abort() -> None:
        # Among them those that have not said yet what they want: the library waits 10 s for them.
        for connection in tuple(serving.handlers):
            connection.transport.abort()

    with suppress(RuntimeError):  # the loop has ended by itself
        inside._background_event_loop.call_soon_threadsafe(abort)
    with _quiet():
        server.stop()
        inside._server_thread.join(PATIENCE)


def stack_above(client: Any, panel: Any) -> None:
    """Put one client's controls above a panel of all clients, in its column."""
    above = {"kind": "split", "anchor_uuid": panel._impl.uuid, "side": "above"}
    client.gui.main_panel._set_position(above)


def darken(server: ViserServer, dark: bool) -> None:
    """Draw the controls light on dark, or dark on light."""
    server.gui.configure_theme(show_share_button=False, show_logo=False, dark_mode=dark)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep viser from printing."""
    console = optional("rich").get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def _own_head() -> bytes:
    """Return what is added to the head of the page: its style and its script."""
    folder = files("twin.page.server")
    style, script = (folder.joinpath(f"page.{kind}").read_text("utf-8") for kind in ("css", "js"))
    return f"<style>{style}</style><script>{script}</script></head>".encode()


def _guard(
    serve_file: Callable[[Any, Any], Any], access: Access, title: str
) -> Callable[[Any, Any], Any]:
    """Return the response to a request, None if it may become a websocket."""
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    @lru_cache(maxsize=4)
    def titled(body: bytes, packed: bool) -> bytes:
        text = gzip.decompress(body) if packed else body
        name = html.escape(title).encode()
        text = text.replace(b"<title>Viser</title>", b"<title>" + name + b"</title>", 1)
        text = text.replace(b"</head>", _own_head(), 1)
        return gzip.compress(text) if packed else text

    def respond(connection: Any, request: Request) -> Any:
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

    return respond


def _replay_quickly(buffer: AsyncMessageBuffer) -> None:
    """Let a buffer of broadcast messages skip the numbers of messages that are gone."""

    def windows(client_id: int, backlog_done_message: Message | None = None) -> Any:
        # The last message of the past is the last one now, not when the first is read.
        return _windows(buffer, client_id, buffer.message_counter - 1, backlog_done_message)

    buffer.window_generator = windows  # type: ignore[method-assign]


async def _windows(
    buffer: AsyncMessageBuffer, client: int, past: int, done: Message | None
) -> AsyncGenerator[Sequence[Message], None]:
    """Yield messages for a client in their order, some at a time: first the past, then `done`."""
    sent = -1
    try:
        while not buffer.done:
            window: list[Message] = []
            wait = True
            # Within an atomic block nothing is handed out.
            if buffer.atomic_counter == 0:
                newest = buffer.message_counter - 1 if done is None else past
                window, sent = _next(buffer, client, sent, newest)
                wait = sent >= newest
                if done is not None and sent >= past:
                    window.append(done)
                    done = None
            # What every client has got may be forgotten.
            buffer.generator_cursors[client] = sent
            if window:
                yield window
            elif wait:
                await buffer.message_event.wait()
                buffer.message_event.clear()
            if not window or sent == buffer.message_counter - 1:
                await _gather(buffer)
    finally:
        buffer.generator_cursors.pop(client, None)


def _next(
    buffer: AsyncMessageBuffer, client: int, sent: int, newest: int
) -> tuple[list[Message], int]:
    """Return the messages after the one numbered `sent`, and the last number they reach."""
    with buffer.buffer_lock:
        numbers = []
        # Numbers grow, so the last ones are the newest.
        for number in reversed(buffer.message_from_id):
            if number <= sent:
                break
            if number <= newest:
                numbers.append(number)
        numbers.reverse()
        chosen = numbers[: buffer.max_window_size]
        window = [
            message
            for message in map(buffer.message_from_id.__getitem__, chosen)
            if message.excluded_self_client != client
        ]
    return window, chosen[-1] if len(chosen) < len(numbers) else max(sent, newest)


async def _gather(buffer: AsyncMessageBuffer) -> None:
    """Wait for as long as messages are gathered, or until the buffer is flushed."""
    with suppress(TimeoutError):
        async with asyncio.timeout(buffer.window_duration_sec):
            await buffer.flush_event.wait()
            if not buffer.done:
                buffer.flush_event.clear()
