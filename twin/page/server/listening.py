"""The socket that the page's server listens on."""

from __future__ import annotations

import errno
import socket

from twin.errors import InputError, StateError

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
        return _bind(address, family, host, _as_port(port))
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


def _as_port(port: int) -> int:
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise InputError("port", f"expected a number from 0 to 65535, got {port!r}")
    return port


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
