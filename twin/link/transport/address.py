"""Addresses of hosts; others than this computer only where they are allowed by name."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from ipaddress import ip_address
from typing import NamedTuple

from twin.errors import InputError, brief

LAST_PORT = 65535


class Address(NamedTuple):
    """A host, as a number such as 127.0.0.1 or ::1, and a port."""

    host: str
    port: int

    @property
    def is_local(self) -> bool:
        """Whether it is this computer's own, which no other can reach."""
        return ip_address(self.host.partition("%")[0]).is_loopback

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str, field: str = "address") -> Address:
    """Return the address of a text such as "127.0.0.1:5005", "[::1]:5005" or "localhost:5005".

    Raises:
        InputError: no host and port, or a host that is not known.
    """
    host, _, port = text.rpartition(":")
    if not (host and port.isdecimal() and len(port) <= 5 and int(port) <= LAST_PORT):
        raise InputError(field, f"must be HOST:PORT, such as 127.0.0.1:5005, not {brief(text)}")
    return Address(resolved_host(host.strip("[]"), field), int(port))


def resolved_host(host: str, field: str) -> str:
    """Return the number of a host.

    Raises:
        InputError: it is not known.
    """
    try:
        return str(socket.getaddrinfo(host, None)[0][4][0])
    except (OSError, UnicodeError):
        raise InputError(field, f"{brief(host)} is no known host") from None


def check_allowed(address: Address, allowed: Iterable[str], field: str) -> None:
    """Check that an address is this computer's own, or that hosts beyond it are allowed.

    Raises:
        InputError: it is another one's, and no host is allowed.
    """
    if not (address.is_local or tuple(allowed)):
        raise InputError(
            field, f"{address} is not on this computer alone; allow the other host by its name"
        )
