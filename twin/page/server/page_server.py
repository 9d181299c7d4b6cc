"""The page's server: its address, its token and its end.

The socket that the page's server listens on.
"""

from __future__ import annotations

import atexit
import errno
import re
import secrets
import socket
import webbrowser
from typing import TYPE_CHECKING

from twin.basics.arrays import whole_number
from twin.errors import InputError, StateError
from twin.page.server.access import TOKEN, Access, is_loopback
from twin.page.server.viser_internals import end_server, guarded_server

if TYPE_CHECKING:
    from viser import ViserServer

FIRST_PORT = 8080

TRIED = 100
"""Ports from the first one on that are tried where none is given."""

STALLED = 20.0
"""[s] without taking anything after which the system ends a connection: a browser that sleeps, or
whose network is gone, would be kept for ever, as the library's own pings wait behind the rest."""


def listen(host: str, port: int | None) -> socket.socket:
    """Return a socket bound to a host and a port, before anything is served on it.

    Args:
        host: name or address; `0.0.0.0` and `::` mean all of this computer's.
        port: None for the first free one from `FIRST_PORT` on, 0 for any free one.

    Raises:
        InputError: not this computer's host; the port is taken, not allowed or no port.
        StateError: no free port.
    """
    address, family = _resolve(host)
    if port is not None:
        return _bind(address, family, host, whole_number(port, "port", 0, 65535))
    for candidate in range(FIRST_PORT, FIRST_PORT + TRIED):
        try:
            return _bind(address, family, host, candidate)
        except InputError as error:
            if error.field != "port":
                raise
    last = FIRST_PORT + TRIED - 1
    raise StateError(f"no free port from {FIRST_PORT} to {last} on {host}: ask for one with `port`")


def _resolve(host: str) -> tuple[str, socket.AddressFamily]:
    """Return the address of a host, IPv4 where it has both kinds."""
    if not isinstance(host, str) or not host:
        raise InputError("host", "expected a host name or an address, such as 127.0.0.1")
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise InputError("host", f"{host!r} is not a known host ({error})") from None
    family, _, _, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
    return str(address[0]), family


def _bind(address: str, family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    try:
        bound = socket.create_server((address, port), family=family)
    except PermissionError:
        raise InputError("port", f"{port} is reserved for the system; take one >= 1024") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            reason = f"{port} on {host} is used by another program; take another or none"
            raise InputError("port", reason) from None
        raise InputError("host", f"cannot listen on {host!r} ({error.strerror})") from None
    # The connections inherit it.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(1e3 * STALLED))
    return bound


LOOPBACK = "127.0.0.1"

TOKEN_FORM = re.compile(r"[A-Za-z0-9_-]{16,}")


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
        host: str = LOOPBACK,
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
        access = Access(loopback=not self.is_public, token=self.token)
        self.url = self._address_as(LOOPBACK if address == "0.0.0.0" else address)
        try:
            self.viser: ViserServer = guarded_server(bound, access, title)
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
            f"{self._address_as(_own_address())}"
        )

    def show(self) -> bool:
        """Open the page in the user's browser, and return whether one was found."""
        from twin.viewer.drawing_context import has_display

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
        end_server(self.viser)

    def __enter__(self) -> PageServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _address_as(self, host: str) -> str:
        name = f"[{host}]" if ":" in host else host
        query = f"/?{TOKEN}={self.token}" if self.token else ""
        return f"http://{name}:{self.port}{query}"


def _own_address() -> str:
    """Return this computer's address in its network, its name where there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Sends nothing: it asks for the way to an address that nobody has.
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()
