"""The page's server: its address, its token and its end.

All that reaches into viser's internals is here: a guarded server, its backlog, its end, its layout.

viser 1.1 has no public way to do these things, most of which answer an attack or a fault:

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
import atexit
import errno
import gzip
import hmac
import html
import logging
import re
import secrets
import socket
import threading
import webbrowser
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.resources import files
from ipaddress import ip_address
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from twin.basics.arrays import whole_number
from twin.basics.optional import optional
from twin.errors import InputError, StateError

if TYPE_CHECKING:
    from viser import ViserServer
    from viser.infra._async_message_buffer import AsyncMessageBuffer
    from viser.infra._messages import Message
    from websockets.http11 import Request

TOKEN_PARAMETER = "token"
"""Name of the parameter in the page's address."""

HOST_PATTERN = re.compile(r"[A-Za-z0-9.\-_\[\]:]+")

VERSION_ADVICE = 'this program knows viser 1.1. Run: pip install "viser>=1.1,<1.2"'

KNOWN_VERSION = "1.1."
"""Releases of viser whose backlog is known; others are served in their ordinary way, which is
slower.
"""

STOP_TIMEOUT = 10.0
"""[s] Time to wait for the server's thread to end."""

REFUSAL_PAGE = """<!doctype html><meta charset="utf-8"><title>Not allowed</title>
<body style="font: 16px sans-serif; margin: 4em auto; max-width: 36em">
<h1>Not allowed</h1><p>{}</p></body>
"""

_STARTING = threading.Lock()

FIRST_PORT = 8080

PORTS_TRIED = 100
"""Number of ports from the first one on that are tried where none is given."""

STALL_TIMEOUT = 20.0
"""[s] Time without taking anything after which the system ends a connection: a browser that sleeps,
or whose network is gone, would be kept for ever, as the library's own pings wait behind the rest.
"""

LOOPBACK_ADDRESS = "127.0.0.1"

TOKEN_FORM = re.compile(r"[A-Za-z0-9_-]{16,}")


def is_loopback(name: str) -> bool:
    """Return whether a host name or address is this computer's own, seen from itself alone."""
    host_name = name.strip("[]").lower().rstrip(".")
    try:
        return ip_address(host_name).is_loopback
    except ValueError:
        return host_name == "localhost" or host_name.endswith(".localhost")


class Access:
    """Rules for requests.

    A web site that the user visits elsewhere must not reach the server through the user's browser.
    It could do so under a name of its own that leads to this computer, or by a websocket from its
    pages. So a server on the loopback serves loopback names only, and a request with an origin must
    come from the page itself. Over a network a request carries the token: in the address at first,
    then in the cookie that the first response sets.
    """

    def __init__(self, *, loopback: bool, token: str | None, port: int) -> None:
        """Keep the rules; `token` is None where none is needed."""
        self._loopback = loopback
        self._token = token
        # Browsers send cookies to all ports of a host alike.
        self._cookie = f"twin_{TOKEN_PARAMETER}_{port}"

    def refusal(self, request: Request) -> str:
        """Return why a request is refused, empty where it is not."""
        host = _host(request)
        if not HOST_PATTERN.fullmatch(host):
            return "The request does not name its host."
        name = re.sub(r":\d*$", "", host)
        if self._loopback and not is_loopback(name):
            return f"This page is served to this computer alone, not to {name}."
        origins = [text.partition("://")[2].lower() for text in request.headers.get_all("Origin")]
        if origins and origins != [host.lower()]:
            return "This page is closed to other web sites."
        if self._token and not any(self._fits(token) for token in self._tokens(request)):
            return (
                "The access token is missing or wrong. Open the whole address that the program "
                f"printed when it started, with ?{TOKEN_PARAMETER}=... at its end."
            )
        return ""

    def headers(self, request: Request) -> dict[str, str]:
        """Return the headers that are added to the response to an allowed request.

        The page may load and reach nothing but its own server, and no other site may frame it.
        """
        host = _host(request)
        headers = {
            "Content-Security-Policy": (
                "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; "
                f"connect-src 'self' ws://{host} wss://{host} data: blob:; "
                "frame-ancestors 'self'; form-action 'none'; base-uri 'none'"
            ),
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }
        if self._token:
            headers["Set-Cookie"] = (
                f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
            )
        return headers

    def _tokens(self, request: Request) -> Iterator[str]:
        """Yield all tokens that come with a request, in its address and its cookies."""
        yield from parse_qs(request.path.partition("?")[2]).get(TOKEN_PARAMETER, [])
        for header in request.headers.get_all("Cookie"):
            for pair in header.split(";"):
                name, _, value = pair.strip().partition("=")
                if name == self._cookie:
                    yield value

    def _fits(self, given: str) -> bool:
        # A character that cannot be encoded is in no token.
        return hmac.compare_digest(given.encode(errors="replace"), (self._token or "").encode())


def _host(request: Request) -> str:
    """Return the host that a request names once, else nothing."""
    hosts = request.headers.get_all("Host")
    return hosts[0] if len(hosts) == 1 else ""


def guarded_server(bound: socket.socket, access: Access, title: str) -> tuple[ViserServer, Any]:
    """Return a viser server on a bound socket that checks every request, and the library's own.

    Args:
        bound: it belongs to the server from now on.
        access: rules that requests are checked against.
        title: of the page, and above its controls.

    Raises:
        MissingDependencyError: viser is not installed.
        StateError: a viser that serves in another way.
    """
    viser = optional("viser")
    infrastructure: Any = optional("viser.infra._infra")
    host, port = bound.getsockname()[:2]
    served: list[Any] = []

    def serve(handler: Any, *_: Any, process_request: Any = None, **options: Any) -> Any:
        from websockets.asyncio.server import serve as listen

        response = _guard(process_request, access, title)
        options |= {"process_request": response, "logger": _log()}
        served.append(listen(handler, sock=bound, **options))
        return served[0]

    refusal = f"viser {viser.__version__} serves in a way that cannot be guarded: {VERSION_ADVICE}"
    with _STARTING:
        original_websockets = getattr(infrastructure, "websockets", None)
        if original_websockets is None:
            raise StateError(refusal)
        # viser's threads look the library up in this module while they start.
        infrastructure.websockets = SimpleNamespace(
            asyncio=SimpleNamespace(server=SimpleNamespace(serve=serve)),
            datastructures=original_websockets.datastructures,
            exceptions=original_websockets.exceptions,
        )
        try:
            with _quiet():
                server: ViserServer = viser.ViserServer(host, port, title, verbose=False)
        finally:
            infrastructure.websockets = original_websockets
    if not served:
        server.stop()
        raise StateError(refusal)
    messages = optional("viser._messages")
    for message in (messages.ShareUrlRequest, messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(message)
    darken(server, False)
    if viser.__version__.startswith(KNOWN_VERSION):
        _replay_quickly(server._websock_server._broadcast_buffer)
    return server, served[0]


def _log() -> logging.Logger:
    """Return the server's log, which leaves out connections that never ask for anything."""
    log = logging.getLogger("twin.page.connections")
    if not log.filters:
        log.addFilter(lambda record: record.msg != "opening handshake failed")
    return log


def end_server(server: ViserServer, served: Any) -> None:
    """End a server and the connections to it, also those that do not respond."""
    websock_server: Any = server._websock_server

    def abort() -> None:
        # Among them those that have not said yet what they want: the library waits 10 s for them.
        for connection in tuple(served.server.handlers):
            connection.transport.abort()

    with suppress(RuntimeError):  # the loop has ended by itself
        websock_server._background_event_loop.call_soon_threadsafe(abort)
    with _quiet():
        server.stop()
        websock_server._server_thread.join(STOP_TIMEOUT)


def stack_above(client: Any, panel: Any) -> None:
    """Put one client's controls above a panel of all clients, in its column."""
    split_message = {"kind": "split", "anchor_uuid": panel._impl.uuid, "side": "above"}
    client.gui.main_panel._set_position(split_message)


def darken(server: ViserServer, dark: bool) -> None:
    """Draw the controls light on dark, or dark on light."""
    server.gui.configure_theme(show_share_button=False, show_logo=False, dark_mode=dark)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep viser from printing."""
    console = optional("rich").get_console()
    was_quiet, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = was_quiet


def _page_head() -> bytes:
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
        text = text.replace(b"</head>", _page_head(), 1)
        return gzip.compress(text) if packed else text

    def respond(connection: Any, request: Request) -> Any:
        reason = access.refusal(request)
        if reason:
            page_body = REFUSAL_PAGE.format(html.escape(reason)).encode()
            header_fields = {
                "Content-Type": "text/html; charset=utf-8",
                "Content-Length": str(len(page_body)),
            }
            return Response(403, "Forbidden", Headers(header_fields), page_body)
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
        message_numbers = []
        # Numbers grow, so the last ones are the newest.
        for number in reversed(buffer.message_from_id):
            if number <= sent:
                break
            if number <= newest:
                message_numbers.append(number)
        message_numbers.reverse()
        sent_numbers = message_numbers[: buffer.max_window_size]
        messages = [
            message
            for message in map(buffer.message_from_id.__getitem__, sent_numbers)
            if message.excluded_self_client != client
        ]
    return messages, sent_numbers[-1] if len(sent_numbers) < len(message_numbers) else max(
        sent, newest
    )


async def _gather(buffer: AsyncMessageBuffer) -> None:
    """Wait for as long as messages are gathered, or until the buffer is flushed."""
    with suppress(TimeoutError):
        async with asyncio.timeout(buffer.window_duration_sec):
            await buffer.flush_event.wait()
            if not buffer.done:
                buffer.flush_event.clear()


def listen(host: str, port: int | None) -> socket.socket:
    """Return a socket bound to a host and a port, before anything is served on it.

    Args:
        host: name or address; `0.0.0.0` and `::` mean all of this computer's.
        port: None for the first free one from `FIRST_PORT` on, 0 for any free one.

    Raises:
        InputError: not this computer's host; the port is taken, not allowed or no port.
        StateError: no free port.
    """
    if not isinstance(host, str) or not host:
        raise InputError("host", "expected a host name or an address, such as 127.0.0.1")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    last_port = FIRST_PORT + PORTS_TRIED - 1
    candidates = (
        range(FIRST_PORT, last_port + 1)
        if port is None
        else (whole_number(port, "port", 0, 65535),)
    )
    for candidate in candidates:
        try:
            bound = socket.create_server((host, candidate), family=family)
        except PermissionError:
            raise InputError(
                "port", f"{candidate} is reserved for the system; take one >= 1024"
            ) from None
        except (OSError, UnicodeError) as error:
            if getattr(error, "errno", None) == errno.EADDRINUSE:
                continue
            raise InputError("host", f"cannot listen on {host!r} ({error})") from None
        # The connections inherit it.
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(1e3 * STALL_TIMEOUT))
        return bound
    if port is None:
        raise StateError(
            f"no free port from {FIRST_PORT} to {last_port} on {host}: ask for one with `port`"
        )
    raise InputError("port", f"{port} on {host} is used by another program; take another or none")


class PageServer:
    """A viser server and its address.

    Attributes:
        viser: the server, whose `scene` and `gui` make the page.
        port: that it listens on.
        is_public: whether other computers can reach it.
        token: that a request must carry; None where none is needed.
        url: for a browser on this computer, with the token.
    """

    def __init__(
        self,
        host: str = LOOPBACK_ADDRESS,
        port: int | None = None,
        *,
        title: str = "platform twin",
        token: str | None = None,
    ) -> None:
        """Listen; `close` it.

        Args:
            host: name or address to listen on; default: this computer alone.
            port: None for the first free one from 8080 on, 0 for any free one.
            title: of the page.
            token: that a request must carry. Default: a random one where other computers can reach
                the page, else none.

        Raises:
            InputError: a host, port or token that cannot be used.
            StateError: no free port; a viser that serves in another way.
            MissingDependencyError: viser is not installed.
        """
        if token is not None and not TOKEN_FORM.fullmatch(token):
            reason = "expected at least 16 letters, digits, hyphens and underscores"
            raise InputError("token", reason)
        bound = listen(host, port)
        address, self.port = bound.getsockname()[:2]
        self.is_public = not is_loopback(address)
        self.token = token or (secrets.token_urlsafe(24) if self.is_public else None)
        access = Access(loopback=not self.is_public, token=self.token, port=self.port)
        reached = {"0.0.0.0": LOOPBACK_ADDRESS, "::": "::1"}.get(address, address)
        self.url = self._address_as(reached)
        try:
            self.viser, self._served = guarded_server(bound, access, title)
        except BaseException:
            bound.close()
            raise
        self._closed = False
        # Registered last, so that it comes before viser's own, which prints.
        atexit.register(self.close)

    @property
    def warning(self) -> str:
        """Risks of a page that is open to other computers; empty where it is not."""
        if not self.is_public:
            return ""
        return (
            "Warning: this page can be reached from other computers. Whoever has its address with "
            "the token sees and drives the simulated machine, and reads and loads its runs. The "
            "connection is not encrypted: use it in networks that you trust. From elsewhere: "
            f"{self._address_as(_local_address())}"
        )

    def show(self) -> bool:
        """Open the page in the user's browser, and return whether one was found."""
        from twin.viewer.camera import has_display

        # Without a display, browsers for the terminal would be started, and take it over.
        if not has_display():
            return False
        try:
            return webbrowser.open(self.url)
        except (webbrowser.Error, OSError):
            return False

    def close(self) -> None:
        """End the server and the connections to it; more calls do nothing."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        end_server(self.viser, self._served)

    def __enter__(self) -> PageServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _address_as(self, host: str) -> str:
        name = f"[{host}]" if ":" in host else host
        query = f"/?{TOKEN_PARAMETER}={self.token}" if self.token else ""
        return f"http://{name}:{self.port}{query}"


def _local_address() -> str:
    """Return this computer's address in its network, its name where there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Sends nothing: it asks for the way to an address that nobody has.
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()
