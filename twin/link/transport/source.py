"""Sources of samples and telemetry, opened by their addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Protocol

from twin.basics.arrays import positive
from twin.errors import InputError, brief
from twin.link.protocol import Sample
from twin.link.transport.address import Address, check_allowed, parse_address, resolved_host
from twin.link.transport.arrivals import Counts
from twin.link.transport.replay import Replay
from twin.link.transport.udp import UdpLink
from twin.logs import LogMapping
from twin.model.machine_model import MachineModel


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
    scheme, rest = _parts(text, ("udp://", "replay:", "opcua://"), "source")
    if scheme == "replay:":
        return Replay(rest, machine, mapping)
    if scheme == "opcua://":
        from twin.link.transport.opcua import OpcUaLink

        link = OpcUaLink(rest, machine, mapping, allowed=allow_remote)
        with ExitStack() as failed:
            failed.callback(link.close)
            link.check_readable()
            failed.pop_all()
        return link
    address = parse_address(rest, "source")
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
    scheme, rest = _parts(text, ("udp://", "opcua://"), "telemetry")
    if scheme == "opcua://":
        from twin.link.transport.opcua import OpcUaLink

        return OpcUaLink(rest, machine, allowed=allow_remote)
    to = parse_address(rest, "telemetry")
    hosts = [host for host in allow_remote if resolved_host(host, "allow_remote") == to.host]
    check_allowed(to, hosts, "telemetry")
    own = Address("::" if ":" in to.host else "0.0.0.0", 0) if hosts else to._replace(port=0)
    link = UdpLink(own, machine.n_actuators, "command", allowed=hosts)
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
