"""OPC UA: measurements from the nodes of a server, and telemetry to them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from datetime import UTC
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_vector
from twin.basics.optional import optional
from twin.errors import InputError, TwinError
from twin.link.protocol import FIELDS, Sample, width_of
from twin.link.transport.address import check_allowed, parse_address, resolved_host
from twin.link.transport.arrivals import Counts
from twin.logs import Channel, Log, LogMapping
from twin.model.machine_model import MachineModel

POLL = 0.002
"""[s] Adopted: between two readings of the nodes; a shadow needs a sample every 5 ms."""

PATIENCE = 4.0
"""[s] that a server has for a response."""

NODE = "ns=2;s={}"
"""Default node of a field: an array of doubles in SI with the field's name."""


class OpcUaLink:
    """A client of one server.

    Attributes:
        counts: of the samples; malformed ones have nodes of bad quality or of another shape.
        ended: always False.
    """

    ended = False

    def __init__(
        self,
        text: str,
        machine: MachineModel,
        mapping: LogMapping | None = None,
        *,
        allowed: Iterable[str] = (),
    ) -> None:
        """Connect.

        Args:
            text: HOST:PORT, or with a path behind it.
            machine: whose measurements they are.
            mapping: whose channels are identifiers of nodes, such as "ns=3;s=Axis1.Position";
                default: nodes "ns=2;s=" with the names of fields.
            allowed: other hosts that may be asked.

        Raises:
            InputError: no such server, a host that is not allowed, or nodes that are not there.
            MissingDependencyError: asyncua is not installed.
        """
        place, _, path = text.partition("/")
        address = parse_address(place, "opcua")
        hosts = (host for host in allowed if resolved_host(host, "allow_remote") == address.host)
        check_allowed(address, hosts, "opcua")
        self._machine, self._mapping = machine, mapping
        self.counts = Counts()
        self._stamps: list[Any] = []
        self._sent: Any = None
        library = optional("asyncua")
        self._loop = optional("asyncua.sync").ThreadLoop(PATIENCE)
        self._loop.daemon = True
        self._loop.start()
        self._client = library.Client(f"opc.tcp://{address}/{path}", PATIENCE)
        try:
            self._loop.post(self._client.connect())
            self._read_nodes = self._known(_identifiers(mapping))
            self._written = self._known({name: NODE.format(name) for name in FIELDS})
        except Exception as error:  # the library raises anything
            self._loop.stop()
            raise InputError("opcua", f"{address} gives no session: {error}") from None
        missing = sorted(set(_identifiers(mapping)) - set(self._read_nodes))
        if mapping is not None and missing:
            self.close()
            raise InputError("opcua", f"the server has no node {missing[0]!r}")

    def receive(self, timeout: float) -> Sample | None:
        """Return the next measurement; None where the nodes do not change within `timeout` [s]."""
        deadline = time.monotonic() + timeout
        while True:
            sample = None
            try:
                sample = self._read()
            except TwinError:
                self.counts.malformed += 1
            except Exception:  # the library raises anything when a server is gone
                self.counts.lost += 1
            rest = deadline - time.monotonic()
            if sample is not None or rest <= 0.0:
                self.counts.received += sample is not None
                return sample
            time.sleep(min(POLL, rest))

    def send(self, sample: Sample) -> None:
        """Write a sample's fields to the default nodes that the server has, without waiting.

        While one is on its way, others are left out.
        """
        if self._sent is not None:
            if not self._sent.done():
                return
            self.counts.lost += self._sent.exception() is not None
        names = [name for name in sample.values if name in self._written]
        nodes = [self._written[name] for name in names]
        writing = self._client.write_values(nodes, [sample.values[name].tolist() for name in names])
        self._sent = asyncio.run_coroutine_threadsafe(writing, self._loop.loop)

    def close(self) -> None:
        """Leave the server; calling it twice is allowed."""
        if self._loop.is_alive():
            try:
                self._loop.post(self._client.disconnect())
            except Exception:  # it is gone already
                self.counts.lost += 1
            self._loop.stop()

    def _known(self, identifiers: Mapping[str, str]) -> dict[str, Any]:
        """Return the nodes that the server has, by the names of their channels."""
        nodes = {name: self._client.get_node(text) for name, text in identifiers.items()}
        found = self._loop.post(self._client.read_attributes(nodes.values()))
        known = zip(nodes.items(), found, strict=True)
        return {name: node for (name, node), value in known if value.StatusCode.is_good()}

    def _read(self) -> Sample | None:
        """Return what the nodes have now; None where it is what they had before.

        Raises:
            InputError: a node of bad quality, or values of another shape.
        """
        found = self._loop.post(self._client.read_attributes(self._read_nodes.values()))
        stamps = [each.SourceTimestamp for each in found]
        if stamps == self._stamps:
            return None
        self._stamps = stamps
        values = {}
        for name, each in zip(self._read_nodes, found, strict=True):
            if not each.StatusCode.is_good():
                raise InputError(name, "has a bad quality")
            values[name] = np.atleast_1d(np.asarray(each.Value.Value, dtype=float))
        if self._mapping is not None:
            values = self._mapped(values)
        legs = self._machine.n_actuators
        checked = {
            name: as_vector(each, name, width_of(name, legs)) for name, each in values.items()
        }
        newest = max((stamp for stamp in stamps if stamp is not None), default=None)
        at = time.time() if newest is None else newest.replace(tzinfo=UTC).timestamp()
        return Sample("measurement", at, checked, self.counts.received)

    def _mapped(self, values: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return fields from the values of nodes; signals that are no fields are left out."""
        assert self._mapping is not None
        channels = tuple(
            Channel(name, np.zeros(1), each[None], ("",) * len(each))
            for name, each in values.items()
        )
        log = Log(channels)
        signals = self._mapping.apply(log, self._machine)
        return {each.name: each.values[0] for each in signals.channels if each.name in FIELDS}


def _identifiers(mapping: LogMapping | None) -> dict[str, str]:
    """Return the identifiers of the nodes to read, by the names of their channels."""
    if mapping is None:
        return {name: NODE.format(name) for name in FIELDS}
    channels = [name for signal in mapping.signals.values() for name in signal.channels]
    return {name: name for name in channels}
