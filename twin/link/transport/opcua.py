"""OPC UA: measurements from the nodes of a server, and telemetry to them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from datetime import UTC
from queue import Empty, Queue
from threading import Thread
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, NotCopied, as_vector
from twin.basics.optional import optional
from twin.errors import InputError, TwinError
from twin.link.protocol import FIELD_WIDTHS, Sample, width_of
from twin.link.transport.address import Counts, check_allowed, parse_address
from twin.logs import Channel, Log, LogMapping
from twin.model.machine_model import MachineModel

POLL_INTERVAL = 0.002
"""[s] Engineering choice: time between two readings of the nodes; a shadow needs a sample every 5
ms.
"""

RESPONSE_TIMEOUT = 4.0
"""[s] Time that a server has for a response."""

MIN_WAIT = 0.01
"""[s] Shortest wait for a sample, however short the `timeout` of `receive` is."""

MAX_WAITING = 64
"""Samples that wait to be received; then the oldest is lost."""

MIN_PAUSE = 0.25
"""[s] Engineering choice: pause before the first attempt to connect again; each attempt doubles it.
"""

MAX_PAUSE = 2.0
"""[s] Engineering choice: longest pause between two attempts."""

MAX_REASON_LENGTH = 200
"""Maximum number of characters of an error text of the library."""

NODE_TEMPLATE = "ns=2;s={}"
"""Default node of a field: an array of doubles in SI with the field's name."""

logging.getLogger("asyncua").addHandler(logging.NullHandler())  # errors are told by the link


class OpcUaLink(NotCopied):
    """A client of one server; where the server goes away it connects again.

    A thread of its own reads and writes the nodes.

    Attributes:
        counts: of the samples. Malformed samples have nodes of bad quality or of another shape;
            lost ones waited too long to be received.
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
        host_and_port, _, path = text.partition("/")
        address = parse_address(host_and_port, "opcua")
        check_allowed(address, allowed, "opcua")
        self._machine, self._mapping = machine, mapping
        self.counts = Counts()
        self._stamps: list[Any] = []
        self._library, self._url = optional("asyncua"), f"opc.tcp://{address}/{path}"
        self._nodes_to_read: dict[str, Any] = {}
        self._nodes_to_write: dict[str, Any] = {}
        self._arrived: Queue[Sample] = Queue(MAX_WAITING)
        self._estimate: Sample | None = None
        self._connected, self._is_reading, self._closed = False, False, False
        first_session: Future[None] = Future()
        self._thread = Thread(target=lambda: asyncio.run(self._serve(first_session)), daemon=True)
        self._thread.start()
        try:
            first_session.result()
        except InputError:
            raise
        except Exception as error:  # the library raises anything
            raise InputError("opcua", f"{address} gives no session: {_reason(error)}") from None

    def check_readable(self) -> None:
        """Raise InputError if the server has no node that could be read."""
        if not self._nodes_to_read:
            node_id = NODE_TEMPLATE.format("coordinates")
            raise InputError("opcua", f"the server has no node such as {node_id!r}; give a mapping")

    def receive(self, timeout: float) -> Sample | None:
        """Return the next measurement; None where the nodes do not change within `timeout` [s]."""
        self._is_reading = True
        try:
            sample = self._arrived.get(timeout=max(timeout, MIN_WAIT))
        except Empty:
            return None
        self.counts.received += 1
        return sample

    def send(self, sample: Sample) -> None:
        """Write a sample's fields to the default nodes that the server has, without waiting.

        While one is on its way, a newer one takes the place of those that wait.
        """
        self._estimate = sample
        self.counts.lost += not self._connected

    def close(self) -> None:
        """Leave the server; calling it twice is allowed."""
        self._closed = True
        self._thread.join(2.0 * RESPONSE_TIMEOUT)

    async def _serve(self, first_session: Future[None]) -> None:
        """Exchange samples in one session after the other, with pauses between them."""
        pause = MIN_PAUSE
        while not self._closed:
            try:
                async with self._library.Client(self._url, RESPONSE_TIMEOUT) as client:
                    await self._find_nodes(client)
                    self._connected, pause = True, MIN_PAUSE
                    if first_session.done():
                        self.counts.restarted += 1
                    else:
                        first_session.set_result(None)
                    while not self._closed or self._estimate is not None:
                        await self._exchange(client)
                        await asyncio.sleep(POLL_INTERVAL)
            except Exception as error:  # the library raises anything when a server is gone
                if not first_session.done():
                    first_session.set_exception(error)
                    return
                if not self._closed:
                    self.counts.refuse(f"connections or readings that failed: {_reason(error)}")
                self._connected = False
                await asyncio.sleep(pause)
                pause = min(2.0 * pause, MAX_PAUSE)

    async def _find_nodes(self, client: Any) -> None:
        """Find the nodes to read and to write.

        Raises:
            InputError: a node of the mapping is not there.
        """
        default_nodes = {name: NODE_TEMPLATE.format(name) for name in FIELD_WIDTHS}
        self._nodes_to_write = await _existing_nodes(client, default_nodes)
        if self._mapping is None:
            self._nodes_to_read = self._nodes_to_write
            return
        names = [name for signal in self._mapping.signals.values() for name in signal.channels]
        self._nodes_to_read = await _existing_nodes(client, dict(zip(names, names, strict=True)))
        missing = sorted(set(names) - self._nodes_to_read.keys())
        if missing:
            raise InputError("opcua", f"the server has no node {missing[0]!r} of good quality")

    async def _exchange(self, client: Any) -> None:
        """Write the estimate that waits, and read the nodes once, where they are wanted."""
        estimate, self._estimate = self._estimate, None
        if estimate is not None:
            names = [name for name in estimate.values if name in self._nodes_to_write]
            values = [estimate.values[name].tolist() for name in names]
            await client.write_values([self._nodes_to_write[name] for name in names], values)
        if not self._is_reading:
            return
        data_values = await client.read_attributes(list(self._nodes_to_read.values()))
        try:
            sample = self._sample(data_values)
        except TwinError as error:
            self.counts.malformed += 1
            field = error.field if isinstance(error, InputError) else "values"
            self.counts.refuse(f"samples of bad quality or another shape, by {field}")
            return
        if sample is not None and self._arrived.full():
            self._arrived.get()
            self.counts.lost += 1
        if sample is not None:
            self._arrived.put(sample)

    def _sample(self, data_values: list[Any]) -> Sample | None:
        """Return the sample of the nodes' values; None where it is what they had before.

        Raises:
            InputError: a node of bad quality, or values of another shape.
        """
        stamps = [data_value.SourceTimestamp for data_value in data_values]
        if stamps == self._stamps:
            return None
        self._stamps = stamps
        values = {}
        for name, data_value in zip(self._nodes_to_read, data_values, strict=True):
            if not data_value.StatusCode.is_good():
                raise InputError(name, "has a bad quality")
            try:
                values[name] = np.atleast_1d(np.asarray(data_value.Value.Value, dtype=float))
            except (TypeError, ValueError, AttributeError, OverflowError):
                raise InputError(name, "is no list of numbers") from None
        if self._mapping is not None:
            values = self._mapped(values)
        legs = self._machine.n_actuators
        checked = {
            name: as_vector(entry, name, width_of(name, legs)) for name, entry in values.items()
        }
        newest = max((stamp for stamp in stamps if stamp is not None), default=None)
        sample_time = time.time() if newest is None else newest.replace(tzinfo=UTC).timestamp()
        return Sample("measurement", sample_time, checked, self.counts.received)

    def _mapped(self, values: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return fields from the values of nodes; signals that are no fields are left out."""
        assert self._mapping is not None
        channels = [Channel(name, np.zeros(1), row[None], ("",)) for name, row in values.items()]
        signals = self._mapping.apply(Log(tuple(channels)), self._machine)
        return {
            channel.name: channel.values[0]
            for channel in signals.channels
            if channel.name in FIELD_WIDTHS
        }


async def _existing_nodes(client: Any, identifiers: Mapping[str, str]) -> dict[str, Any]:
    """Return the nodes that a server has, by the names of their channels."""
    nodes = {name: client.get_node(text) for name, text in identifiers.items()}
    data_values = await client.read_attributes(list(nodes.values()))
    nodes_and_values = zip(nodes.items(), data_values, strict=True)
    return {name: node for (name, node), value in nodes_and_values if value.StatusCode.is_good()}


def _reason(error: BaseException) -> str:
    """Return the text of an error of the library."""
    if isinstance(error, TimeoutError):
        return f"no response within {RESPONSE_TIMEOUT:g} s"
    return str(error)[:MAX_REASON_LENGTH] or type(error).__name__
