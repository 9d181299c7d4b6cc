"""Addresses of hosts, and counts of what arrives from them.

Hosts other than this computer are used only where they are allowed by name. `Arrivals` judges the
samples of one sender by their sequence numbers and delays, and counts them in `Counts`.
"""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from math import inf
from typing import NamedTuple

from twin.errors import InputError, brief
from twin.link.protocol import SEQUENCE_MODULUS, Sample

LAST_PORT = 65535

REORDER_WINDOW = 4096
"""Number of sequence numbers back to which doubled samples are distinguished from reordered ones.
"""

WINDOW_MASK = (1 << REORDER_WINDOW) - 1
"""Bits of all sequence numbers of the window, the newest in the last place."""

SILENCE_TIMEOUT = 1.0
"""[s] Engineering choice: time without a newer sample after which an older number, or another
sender, counts as a restart.
"""

MAX_REASONS = 16
"""Maximum number of kinds of left-out samples that are counted one by one."""

LATE_DELAY = 0.02
"""[s] Engineering choice: delay, beyond that of the fastest sample, above which a sample counts as
late.
"""

CLOCK_DRIFT = 1e-4
"""Engineering choice: largest relative difference of two clocks."""


class Address(NamedTuple):
    """A host, as a number such as 127.0.0.1 or ::1, and a port."""

    host: str
    port: int

    @property
    def is_local(self) -> bool:
        """Whether it is a loopback address, which no other computer can reach."""
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
    """Return the numeric address of a host.

    Raises:
        InputError: it is not known.
    """
    try:
        return str(socket.getaddrinfo(host, None)[0][4][0])
    except (OSError, UnicodeError):
        raise InputError(field, f"{brief(host)} is no known host") from None


def check_allowed(address: Address, allowed: Iterable[str], field: str) -> None:
    """Refuse the address of another computer unless its host is among the `allowed` ones.

    Raises:
        InputError: the address is not loopback, and its host is not allowed.
    """
    if address.is_local:
        return
    if address.host not in {resolved_host(host, "allow_remote") for host in allowed}:
        raise InputError(field, f"{address} is another computer; allow its host by its name")


@dataclass
class Counts:
    """Samples that arrived, and what was wrong with others."""

    received: int = 0
    """handed on"""
    lost: int = 0
    """never arrived, by the gaps in their sequence numbers"""
    doubled: int = 0
    """arrived before, or older than the first one of their sequence; left out"""
    reordered: int = 0
    """other ones older than one accepted before; left out"""
    late: int = 0
    """took 20 ms longer than the fastest; accepted"""
    restarted: int = 0
    """sequences that restarted"""
    malformed: int = 0
    """no datagrams of the protocol, with other legs or of another kind; left out"""
    foreign: int = 0
    """samples from hosts that are not allowed, or from a second sender; left out"""
    reasons: Counter[str] = field(default_factory=Counter, repr=False, compare=False)
    """what was wrong with malformed and foreign ones -> how many"""

    def refuse(self, reason: str) -> None:
        """Count one more that was left out for a reason; rare reasons are counted together."""
        is_listed = reason in self.reasons or len(self.reasons) < MAX_REASONS
        self.reasons[reason if is_listed else "of other kinds"] += 1

    def __str__(self) -> str:
        """Return the counts as a phrase, without those that are zero."""
        names = [count_field.name for count_field in fields(self) if count_field.name != "reasons"]
        count_texts = [f"{number} {name}" for name in names if (number := getattr(self, name))]
        return ", ".join(count_texts) or "nothing received"


class Arrivals:
    """Sequence numbers and delays of one sender's samples.

    A number below the newest one is left out. It begins a new sequence where the sender's clock
    says that it is a later sample, or where nothing newer came for `SILENCE_TIMEOUT`.
    """

    def __init__(self, counts: Counts) -> None:
        """Begin with the first sample, counted in `counts`."""
        self._counts = counts
        self.restart()

    def restart(self) -> None:
        """Restart: treat the next sample as the first one."""
        self._newest_sequence, self._seen_bits, self._newest_time = -1, 0, -inf
        self._shortest_delay, self._last_arrival = inf, 0.0

    def accept(self, sample: Sample, arrival: float) -> bool:
        """Count a sample and return whether to hand it on.

        Args:
            sample: as decoded.
            arrival: [s] of the own clock, which does not go back.
        """
        counts = self._counts
        half = SEQUENCE_MODULUS // 2
        lead = (sample.sequence - self._newest_sequence + half) % SEQUENCE_MODULUS - half
        is_silent = arrival - self._last_arrival >= SILENCE_TIMEOUT
        is_restart = is_silent or sample.time > self._newest_time
        if self._newest_sequence >= 0 and lead < 0 and is_restart:
            counts.restarted += 1
            self.restart()
        if self._newest_sequence < 0:
            self._seen_bits = WINDOW_MASK  # none before it is missing
        elif lead > 0:
            counts.lost += lead - 1
            self._seen_bits = (self._seen_bits << min(lead, REORDER_WINDOW) | 1) & WINDOW_MASK
        else:
            self._leave_out(-lead)
            return False
        self._newest_sequence, self._newest_time = sample.sequence, sample.time
        counts.received += 1
        counts.late += self._is_late(arrival - sample.time, arrival)
        return True

    def _leave_out(self, behind: int) -> None:
        """Count a sample that is so many numbers behind the newest one."""
        counts = self._counts
        if behind < REORDER_WINDOW and self._seen_bits >> behind & 1:
            counts.doubled += 1
            return
        counts.reordered += 1
        if behind < REORDER_WINDOW:
            self._seen_bits |= 1 << behind
            counts.lost = max(counts.lost - 1, 0)

    def _is_late(self, delay: float, arrival: float) -> bool:
        """Return whether a delay between two clocks is much longer than the shortest so far."""
        self._shortest_delay = min(
            self._shortest_delay + CLOCK_DRIFT * (arrival - self._last_arrival), delay
        )
        self._last_arrival = arrival
        return delay > self._shortest_delay + LATE_DELAY
