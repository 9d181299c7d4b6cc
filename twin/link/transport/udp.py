"""UDP: samples as datagrams to and from other programs, by default of this computer alone."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable
from contextlib import suppress

from twin.basics.copies import NotCopied
from twin.errors import InputError
from twin.link.protocol import Encoder, Kind, Sample, decode
from twin.link.protocol.datagram import LARGEST_SIZE
from twin.link.transport.address import Address, check_allowed, resolved_host
from twin.link.transport.arrivals import SILENCE, Arrivals, Counts

BUFFER = 1 << 20
"""Bytes that wait in the system: some seconds of datagrams."""

AT_ONCE = 64
"""Datagrams without a sample that are left out in one call, however short its time is."""


class UdpLink(NotCopied):
    """A socket that receives samples of one kind from one sender, and sends samples.

    Datagrams that are malformed, doubled, reordered or from elsewhere are counted and left out;
    `counts.reasons` says what was wrong with them.

    Attributes:
        address: that it listens on, with the port that the system chose for port 0.
        counts: of all that arrived.
        peer: sender of the last sample; None before.
        ended: always False; datagrams may come at any time.
    """

    ended = False

    def __init__(
        self, address: Address, legs: int, kind: Kind, *, allowed: Iterable[str] = ()
    ) -> None:
        """Listen.

        Args:
            address: to listen on; port 0 for any that is free.
            legs: of the machine.
            kind: of the samples to receive.
            allowed: other hosts whose datagrams are taken.

        Raises:
            InputError: an address that is not local without allowed hosts, or that is in use.
        """
        hosts = tuple(resolved_host(host, "allow_remote") for host in allowed)
        check_allowed(address, hosts, "address")
        self._allowed, self._legs, self._kind = frozenset(hosts), legs, kind
        self._encoder = Encoder(legs)
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
            self._socket.bind(tuple(address))
        except OSError as error:
            self._socket.close()
            raise InputError("address", f"cannot listen on {address}: {error.strerror}") from None
        self.address = Address(*self._socket.getsockname()[:2])
        self.counts = Counts()
        self.peer: Address | None = None
        self._arrivals, self._heard = Arrivals(self.counts), 0.0

    def receive(self, timeout: float) -> Sample | None:
        """Return the next sample; None where none comes within `timeout` [s]."""
        deadline, refused = time.monotonic() + timeout, 0
        while refused < AT_ONCE or time.monotonic() < deadline:
            self._socket.settimeout(max(deadline - time.monotonic(), 0.0))
            try:
                data, sender = self._socket.recvfrom(LARGEST_SIZE + 1)
            except (TimeoutError, BlockingIOError):
                return None
            except ConnectionError:  # what was sent before found nobody
                data, sender = b"", None
            sample = None if sender is None else self._taken(data, Address(*sender[:2]))
            if sample is not None:
                return sample
            refused += 1
        return None

    def send(self, sample: Sample, to: Address | None = None) -> None:
        """Send a sample, by default to the peer; what cannot be sent now is lost.

        Raises:
            InputError: no datagram can hold it.
        """
        to = self.peer if to is None else to
        if to is not None:
            self.send_bytes(self._encoder.encode(sample), to)

    def send_bytes(self, data: bytes | memoryview, to: Address) -> None:
        """Send an encoded sample."""
        with suppress(OSError):
            self._socket.sendto(data, tuple(to))

    def close(self) -> None:
        """Close the socket; calling it twice is allowed."""
        self._socket.close()

    def _taken(self, data: bytes, sender: Address) -> Sample | None:
        """Return the sample of a datagram, None where it is left out."""
        now, counts = time.monotonic(), self.counts
        foreign = self._foreign(sender, now)
        if foreign:
            counts.foreign += 1
            counts.refuse(foreign)
            return None
        try:
            sample = decode(data)
            wrong = self._wrong(sample, data[10])
        except InputError as error:
            wrong = f"damaged or of another program, by their {error.field}"
        if wrong:
            counts.malformed += 1
            counts.refuse(wrong)
            return None
        if sender != self.peer:
            counts.restarted += self.peer is not None
            self._arrivals.restart()
            self.peer = sender
        if not self._arrivals.accept(sample, now):
            return None
        self._heard = now
        return sample

    def _foreign(self, sender: Address, now: float) -> str:
        """Return why a sender is not heard, or nothing."""
        if not (sender.is_local or sender.host in self._allowed):
            return "from hosts that are not allowed"
        heard = self.peer is None or sender == self.peer or now - self._heard >= SILENCE
        return "" if heard else "from a second sender beside the first one"

    def _wrong(self, sample: Sample, legs: int) -> str:
        """Return why a sample is none for this link, or nothing."""
        if sample.kind != self._kind:
            return f"{sample.kind}s in place of {self._kind}s"
        if legs != self._legs:
            return f"of a machine with {legs} legs in place of {self._legs}"
        return ""
