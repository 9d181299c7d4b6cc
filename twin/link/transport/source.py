"""Sources of samples and telemetry, opened by their addresses."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import FloatArray, NotCopied, positive
from twin.errors import InputError, brief
from twin.link.protocol import (
    COMMAND_FIELDS,
    FIELD_WIDTHS,
    MAX_DATAGRAM_SIZE,
    Encoder,
    Kind,
    Sample,
    decode,
)
from twin.link.transport.address import (
    SILENCE_TIMEOUT,
    Address,
    Arrivals,
    Counts,
    check_allowed,
    parse_address,
    resolved_host,
)
from twin.logs import Log, LogMapping, read_log, signal_units
from twin.model.machine_model import MachineModel

BUFFER_SIZE = 1 << 20
"""[byte] Size of the queue in the system: some seconds of datagrams."""

MAX_DATAGRAMS_PER_CALL = 64
"""Maximum number of datagrams without a sample that are left out in one call, however short its
time is.
"""

TIME_TOLERANCE = 1e-9
"""[s] Largest rounding difference between equal times of two channels."""

PREFERRED_SIGNALS = {"coordinates": "measured", "forces": "motor_forces"}
"""Signals that fields take where a log has them; simulated logs have forces of the legs alone."""


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
        if not (address.is_local or hosts):
            raise InputError(
                "address",
                f"{address} can be reached from other computers; allow the other host by its name",
            )
        self._allowed, self._legs, self._kind = frozenset(hosts), legs, kind
        self._encoder = Encoder(legs)
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_SIZE)
            self._socket.bind(tuple(address))
        except OSError as error:
            self._socket.close()
            raise InputError("address", f"cannot listen on {address}: {error.strerror}") from None
        self.address = Address(*self._socket.getsockname()[:2])
        self.counts = Counts()
        self.peer: Address | None = None
        self._arrivals, self._last_accepted = Arrivals(self.counts), 0.0

    def receive(self, timeout: float) -> Sample | None:
        """Return the next sample; None where none comes within `timeout` [s]."""
        deadline, n_refused = time.monotonic() + timeout, 0
        while n_refused < MAX_DATAGRAMS_PER_CALL or time.monotonic() < deadline:
            self._socket.settimeout(max(deadline - time.monotonic(), 0.0))
            try:
                data, sender = self._socket.recvfrom(MAX_DATAGRAM_SIZE + 1)
            except (TimeoutError, BlockingIOError):
                return None
            except ConnectionError:  # what was sent before found nobody
                data, sender = b"", None
            sample = None if sender is None else self._accepted_sample(data, Address(*sender[:2]))
            if sample is not None:
                return sample
            n_refused += 1
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

    def _accepted_sample(self, data: bytes, sender: Address) -> Sample | None:
        """Return the sample of a datagram, None where it is left out."""
        arrival, counts = time.monotonic(), self.counts
        sender_refusal = self._sender_refusal(sender, arrival)
        if sender_refusal:
            counts.foreign += 1
            counts.refuse(sender_refusal)
            return None
        try:
            sample = decode(data)
            refusal = self._mismatch(sample, data[10])
        except InputError as error:
            refusal = f"damaged or of another program, by their {error.field}"
        if refusal:
            counts.malformed += 1
            counts.refuse(refusal)
            return None
        if sender != self.peer:
            counts.restarted += self.peer is not None
            self._arrivals.restart()
            self.peer = sender
        if not self._arrivals.accept(sample, arrival):
            return None
        self._last_accepted = arrival
        return sample

    def _sender_refusal(self, sender: Address, now: float) -> str:
        """Return why a sender is refused; empty if it is accepted."""
        if not (sender.is_local or sender.host in self._allowed):
            return "from hosts that are not allowed"
        may_send = (
            self.peer is None or sender == self.peer or now - self._last_accepted >= SILENCE_TIMEOUT
        )
        return "" if may_send else "from a second sender beside the first one"

    def _mismatch(self, sample: Sample, legs: int) -> str:
        """Return why a sample is not for this link; empty if it is."""
        if sample.kind != self._kind:
            return f"{sample.kind}s in place of {self._kind}s"
        if legs != self._legs:
            return f"of a machine with {legs} legs in place of {self._legs}"
        return ""


class Replay:
    """Measurements of a log at the times of its encoders.

    Each sample has the values of the other channels that are new since the sample before, and its
    `ages` say by how much [s] each is older than the encoders' reading. A command applies from its
    time stamp on (zero-order hold); a sample at exactly that time has the previous command.
    The encoders are the channel `measured`, or `coordinates` where the log has no such channel.
    Channels that are no fields of the protocol are left out. The replay is not paced: every call
    returns the next sample at once.

    Attributes:
        counts: of the samples.
        ended: whether the log is over.
    """

    def __init__(
        self, path: str | Path, machine: MachineModel, mapping: LogMapping | None = None
    ) -> None:
        """Open a log.

        Args:
            path: of any file that `twin.logs.read_log` reads.
            machine: whose log it is.
            mapping: of the channels to signals; default: channels have the signals' names, in SI.

        Raises:
            InputError: no such log, without coordinates, or in other units; names the channel.
        """
        self.counts, self.ended = Counts(), False
        names = {*FIELD_WIDTHS, *PREFERRED_SIGNALS.values()}
        log = read_log(path, mapping, machine if mapping else None, signals=names)
        signals = _fields_of(log, machine)
        if "coordinates" not in signals or not len(signals["coordinates"][0]):
            raise InputError("source", f"{path} has no channel 'coordinates' with samples")
        self._samples = _samples_of(signals)
        self._next = next(self._samples, None)

    def receive(self, timeout: float = 0.0) -> Sample | None:
        """Return the next sample; None at the end of the log."""
        sample = self._next
        self._next = next(self._samples, None)
        self.ended = self._next is None
        self.counts.received += sample is not None
        return sample

    def close(self) -> None:
        """Nothing is open."""


def _fields_of(log: Log, machine: MachineModel) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return times and values of the fields that a log has.

    Raises:
        InputError: a channel in other units than SI.
    """
    units, signals = signal_units(machine), {}
    for name in FIELD_WIDTHS:
        channel = PREFERRED_SIGNALS.get(name, name)
        channel = channel if channel in log else name
        if channel in log and name in units:
            values = log[channel]
            if values.units != units[name]:
                text = f"[{', '.join(values.units)}] in place of [{', '.join(units[name])}]"
                raise InputError(channel, f"has {text}; give a mapping")
            signals[name] = values.time, values.values
    return signals


def _samples_of(signals: dict[str, tuple[FloatArray, FloatArray]]) -> Iterator[Sample]:
    """Yield a sample for each time of the coordinates.

    It has the command in force, and of each other field what was measured since the sample before.
    """
    times = signals["coordinates"][0]
    rows = {name: _rows(name, own_times, times) for name, (own_times, _) in signals.items()}
    rows["coordinates"] = np.arange(len(times))
    is_new = {
        name: (row >= 0)
        & ((np.diff(row, prepend=-1) > 0) | np.full(len(row), name in COMMAND_FIELDS))
        for name, row in rows.items()
    }
    for sequence, sample_time in enumerate(times.tolist()):
        values, ages = {}, {}
        for name, (own_times, table) in signals.items():
            if is_new[name][sequence]:
                row = rows[name][sequence]
                values[name] = table[row]
                if name not in COMMAND_FIELDS and sample_time - own_times[row] > TIME_TOLERANCE:
                    ages[name] = float(sample_time - own_times[row])
        yield Sample("measurement", sample_time, values, sequence, ages=ages or None)


def _rows(name: str, time: FloatArray, sample_times: FloatArray) -> NDArray[np.intp]:
    """Return the row of a field's values for each sample at times `sample_times`; -1 for none."""
    if name in COMMAND_FIELDS:  # at the end of the period over which it was in force
        return np.searchsorted(time, sample_times - TIME_TOLERANCE, side="left") - 1
    return np.searchsorted(time, sample_times + TIME_TOLERANCE, side="right") - 1


class Source(Protocol):
    """A stream of measurements."""

    counts: Counts
    ended: bool

    def receive(self, timeout: float) -> Sample | None:
        """Return the next measurement; None at the end or after `timeout` [s]."""
        ...

    def close(self) -> None:
        """Free what was opened; calling it twice is allowed."""
        ...


class Telemetry(Protocol):
    """A place to which estimates are sent; what cannot be sent is lost."""

    counts: Counts

    def send(self, sample: Sample) -> None:
        """Send a sample without waiting for the receiver."""
        ...

    def close(self) -> None:
        """Free what was opened; calling it twice is allowed."""
        ...


def open_source(
    text: str,
    machine: MachineModel,
    *,
    mapping: LogMapping | None = None,
    allow_remote: Iterable[str] = (),
) -> Source:
    """Return the source of an address.

    Args:
        text: "udp://HOST:PORT" to listen on, "replay:FILE" of a log, or "opcua://HOST:PORT/PATH"
            of a server.
        machine: whose measurements they are.
        mapping: of the channels of a log, or of the nodes of a server, to signals.
        allow_remote: other hosts whose samples are taken; default: this computer alone.

    Raises:
        InputError: no such address, or what is there is of no use.
        MissingDependencyError: the library of OPC UA or of the log's format is not installed.
    """
    scheme, location = _parts(text, ("udp://", "replay:", "opcua://"), "source")
    if scheme == "replay:":
        return Replay(location, machine, mapping)
    if scheme == "opcua://":
        from twin.link.transport.opcua import OpcUaLink

        link = OpcUaLink(location, machine, mapping, allowed=allow_remote)
        with ExitStack() as failed:
            failed.callback(link.close)
            link.check_readable()
            failed.pop_all()
        return link
    address = parse_address(location, "source")
    return UdpLink(address, machine.n_actuators, "measurement", allowed=allow_remote)


def open_telemetry(
    text: str, machine: MachineModel, *, allow_remote: Iterable[str] = ()
) -> Telemetry:
    """Return the place of an address to which estimates are sent.

    Args:
        text: "udp://HOST:PORT", or "opcua://HOST:PORT/PATH" of a server that has the nodes.
        machine: whose estimates they are.
        allow_remote: other hosts to which they may be sent; default: this computer alone.

    Raises:
        InputError: no such address, or no such server.
        MissingDependencyError: asyncua is not installed.
    """
    scheme, location = _parts(text, ("udp://", "opcua://"), "telemetry")
    if scheme == "opcua://":
        from twin.link.transport.opcua import OpcUaLink

        return OpcUaLink(location, machine, allowed=allow_remote)
    to = parse_address(location, "telemetry")
    check_allowed(to, allow_remote, "telemetry")
    own_host = to.host if to.is_local else "::" if ":" in to.host else "0.0.0.0"
    link = UdpLink(Address(own_host, 0), machine.n_actuators, "command", allowed=[to.host])
    link.peer = to
    return link


def samples(source: Source, timeout: float) -> Iterator[Sample]:
    """Yield the samples of a source until it ends, or is silent for `timeout` [s].

    Raises:
        InputError: a time that is not above zero.
    """
    positive(timeout, "timeout")
    while (sample := source.receive(timeout)) is not None:
        yield sample


def _parts(text: str, schemes: tuple[str, ...], field: str) -> tuple[str, str]:
    """Return the scheme of an address and what comes after it."""
    for scheme in schemes:
        if text.startswith(scheme):
            return scheme, text[len(scheme) :]
    raise InputError(field, f"must begin with {', '.join(schemes)}, not be {brief(text)}")
