"""OPC UA: measurements from the nodes of a server, and telemetry to them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, NotCopied, as_vector
from twin.basics.optional import optional
from twin.errors import InputError, TwinError
from twin.link.protocol import FIELD_WIDTHS, Sample, width_of
from twin.link.transport.address import Counts, check_allowed, parse_address, resolved_host
from twin.logs import Channel, Log, LogMapping
from twin.model.machine_model import MachineModel

POLL_INTERVAL = 0.002
"""[s] Engineering choice: time between two readings of the nodes; a shadow needs a sample every 5
ms.
"""

RESPONSE_TIMEOUT = 4.0
"""[s] Time that a server has for a response."""

MIN_WAIT = 0.1
"""[s] Shortest time for which a response is waited for, however short the time of a call is."""

FIRST_PAUSE = 0.25
"""[s] Engineering choice: pause before the first attempt to connect again; each attempt doubles it.
"""

MAX_PAUSE = 2.0
"""[s] Engineering choice: longest pause between two attempts."""

STEP_WEIGHT = 0.1
"""Engineering choice: weight of a new step between two samples in the mean of the steps."""

MAX_REASON_LENGTH = 200
"""Maximum number of characters of an error text of the library."""

NODE_TEMPLATE = "ns=2;s={}"
"""Default node of a field: an array of doubles in SI with the field's name."""

logging.getLogger("asyncua").addHandler(logging.NullHandler())  # errors are told by the link


class Session(NamedTuple):
    """A session with a server, and the nodes that it has."""

    client: Any
    read: dict[str, Any]
    """channel -> node"""
    written: dict[str, Any]
    """field -> node"""


class OpcUaLink(NotCopied):
    """A client of one server; where the server goes away it connects again.

    Attributes:
        counts: of the samples. Malformed samples have nodes of bad quality or of another shape;
            lost ones are estimated from the mean step and the time without a session.
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
        hosts = (host for host in allowed if resolved_host(host, "allow_remote") == address.host)
        check_allowed(address, hosts, "opcua")
        self._machine, self._mapping = machine, mapping
        self.counts = Counts()
        self._stamps: list[Any] = []
        self._time, self._step, self._interrupted = -np.inf, 0.0, False
        self._library, self._url = optional("asyncua"), f"opc.tcp://{address}/{path}"
        self._loop = optional("asyncua.sync").ThreadLoop(4.0 * RESPONSE_TIMEOUT)
        self._loop.daemon = True
        self._loop.start()
        self._session: Session | None = None
        self._joining: Future[Session] | None = None
        self._reading: Future[Any] | None = None
        self._sent: Future[Any] | None = None
        self._pause = FIRST_PAUSE
        try:
            self._session = self._loop.post(self._connect(0.0))
        except Exception as error:  # the library raises anything
            self.close()
            if isinstance(error, InputError):
                raise
            raise InputError("opcua", f"{address} gives no session: {_reason(error)}") from None

    def check_readable(self) -> None:
        """Raise InputError if the server has no node that could be read."""
        if self._session is not None and not self._session.read:
            node_id = NODE_TEMPLATE.format("coordinates")
            raise InputError("opcua", f"the server has no node such as {node_id!r}; give a mapping")

    def receive(self, timeout: float) -> Sample | None:
        """Return the next measurement; None where the nodes do not change within `timeout` [s]."""
        deadline = time.monotonic() + timeout
        while True:
            sample = self._poll(deadline)
            remaining = deadline - time.monotonic()
            if sample is not None or remaining <= 0.0:
                self.counts.received += sample is not None
                return sample
            time.sleep(min(POLL_INTERVAL, remaining))

    def send(self, sample: Sample) -> None:
        """Write a sample's fields to the default nodes that the server has, without waiting.

        While one is on its way, or there is no session, others are left out.
        """
        if self._sent is not None:
            if not self._sent.done():
                return
            error, self._sent = self._sent.exception(), None
            if error is not None:
                self._leave(error)
        session = self._joined()
        if session is None:
            self.counts.lost += 1
            return
        names = [name for name in sample.values if name in session.written]
        nodes = [session.written[name] for name in names]
        values = [sample.values[name].tolist() for name in names]
        self._sent = self._begun(session.client.write_values(nodes, values))

    def close(self) -> None:
        """Leave the server; calling it twice is allowed."""
        if self._loop.is_alive():
            with suppress(Exception):  # the server is gone already
                if self._session is not None:
                    self._loop.post(_left(self._session.client))
                self._loop.post(_cancel_others())
            self._loop.stop()

    def _begun(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop.loop)

    async def _connect(self, pause: float) -> Session:
        """Return a session, after a pause [s].

        Raises:
            InputError: a node of the mapping is not there.
            Exception: of any kind, where the server gives no session.
        """
        await asyncio.sleep(pause)
        client, wanted = (
            self._library.Client(self._url, RESPONSE_TIMEOUT),
            _identifiers(self._mapping),
        )
        try:
            async with asyncio.timeout(2.0 * RESPONSE_TIMEOUT):
                await client.connect()
                read = await _known(client, wanted)
                written = await _known(
                    client, {name: NODE_TEMPLATE.format(name) for name in FIELD_WIDTHS}
                )
            missing = sorted(wanted.keys() - read.keys())
            if self._mapping is not None and missing:
                raise InputError("opcua", f"the server has no node {missing[0]!r}")
        except BaseException:
            await _left(client)
            raise
        return Session(client, read, written)

    def _joined(self) -> Session | None:
        """Return the session; None while there is none."""
        if self._session is None and self._joining is not None and self._joining.done():
            error, joining = self._joining.exception(), self._joining
            self._joining = None
            if error is not None:
                self._leave(error)
            else:
                self._session, self._pause = joining.result(), FIRST_PAUSE
                self.counts.restarted += 1
        return self._session

    def _leave(self, error: BaseException) -> None:
        """Close a session after an error, and schedule the next attempt to connect."""
        self.counts.refuse(f"connections or readings that failed: {_reason(error)}")
        if self._session is not None:
            self._begun(_left(self._session.client))
        self._session, self._interrupted = None, True
        if self._joining is None:
            self._joining = self._begun(self._connect(self._pause))
            self._pause = min(2.0 * self._pause, MAX_PAUSE)

    def _poll(self, deadline: float) -> Sample | None:
        """Return the values of the nodes; None if they are unchanged or do not arrive in time."""
        session = self._joined()
        if session is None:
            return None
        if self._reading is None:
            nodes = list(session.read.values())
            self._reading = self._begun(session.client.read_attributes(nodes))
        pending = self._reading
        try:
            data_values = pending.result(max(deadline - time.monotonic(), MIN_WAIT))
        except Exception as error:  # the library raises anything when a server is gone
            if pending.done():
                self._reading = None
                self._leave(error)
            return None
        self._reading = None
        try:
            return self._sample(session, data_values)
        except TwinError as error:
            self.counts.malformed += 1
            field = error.field if isinstance(error, InputError) else "values"
            self.counts.refuse(f"samples of bad quality or another shape, by {field}")
            return None

    def _sample(self, session: Session, found: list[Any]) -> Sample | None:
        """Return the sample of the nodes' values; None where it is what they had before.

        Raises:
            InputError: a node of bad quality, or values of another shape.
        """
        stamps = [data_value.SourceTimestamp for data_value in found]
        if stamps == self._stamps:
            return None
        self._stamps = stamps
        values = {}
        for name, data_value in zip(session.read, found, strict=True):
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
        at = time.time() if newest is None else newest.replace(tzinfo=UTC).timestamp()
        self._count_lost(at)
        return Sample("measurement", at, checked, self.counts.received)

    def _count_lost(self, at: float) -> None:
        """Count the samples that an interruption has cost, at the first time [s] after it."""
        step = at - self._time
        if self._interrupted and self._step > 0.0 and step > 0.0:
            self.counts.lost += max(round(step / self._step) - 1, 0)
        elif np.isfinite(step) and step > 0.0:
            weight = STEP_WEIGHT if self._step > 0.0 else 1.0
            self._step += weight * (step - self._step)
        self._time, self._interrupted = at, False

    def _mapped(self, values: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return fields from the values of nodes; signals that are no fields are left out."""
        assert self._mapping is not None
        channels = tuple(
            Channel(name, np.zeros(1), values_of_name[None], ("",) * len(values_of_name))
            for name, values_of_name in values.items()
        )
        log = Log(channels)
        signals = self._mapping.apply(log, self._machine)
        return {
            channel.name: channel.values[0]
            for channel in signals.channels
            if channel.name in FIELD_WIDTHS
        }


def _identifiers(mapping: LogMapping | None) -> dict[str, str]:
    """Return the identifiers of the nodes to read, by the names of their channels."""
    if mapping is None:
        return {name: NODE_TEMPLATE.format(name) for name in FIELD_WIDTHS}
    channels = [name for signal in mapping.signals.values() for name in signal.channels]
    return {name: name for name in channels}


async def _known(client: Any, identifiers: Mapping[str, str]) -> dict[str, Any]:
    """Return the nodes that a server has, by the names of their channels."""
    nodes = {name: client.get_node(text) for name, text in identifiers.items()}
    found = await client.read_attributes(list(nodes.values()))
    known = zip(nodes.items(), found, strict=True)
    return {name: node for (name, node), value in known if value.StatusCode.is_good()}


async def _left(client: Any) -> None:
    """Leave a server, which may be gone already."""
    with suppress(Exception):
        async with asyncio.timeout(RESPONSE_TIMEOUT):
            await client.disconnect()


async def _cancel_others() -> None:
    """Cancel all other tasks of the loop, and wait for them."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=RESPONSE_TIMEOUT)


def _reason(error: BaseException) -> str:
    """Return the text of an error of the library."""
    if isinstance(error, TimeoutError):
        return f"no response within {RESPONSE_TIMEOUT:g} s"
    return str(error)[:MAX_REASON_LENGTH] or type(error).__name__
