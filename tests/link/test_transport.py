"""Transport on this computer: order of arrivals, refusals, replay, and a server of OPC UA."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import twin
from twin.analysis.platform import Platform
from twin.errors import InputError
from twin.link.protocol import Encoder, Sample
from twin.link.transport import Counts, UdpLink, open_source, open_telemetry, samples
from twin.link.transport.address import Address
from twin.link.transport.arrivals import Arrivals
from twin.logs import Channel, Log, LogMapping, signal_units, write_log

pytestmark = pytest.mark.quick

LOCAL = Address("127.0.0.1", 0)
WAIT = 20.0
"""[s] Longest wait for what is on its way on this computer."""


@pytest.fixture(scope="module")
def machine() -> Platform:
    """A machine with six legs."""
    return twin.load("stewart")


@pytest.fixture
def link() -> Iterator[UdpLink]:
    """A link that listens on a free port."""
    found = UdpLink(LOCAL, 6, "command")
    yield found
    found.close()


def numbered(sequence: int, time: float = 0.0) -> Sample:
    """Return a command with the sequence number as its speeds."""
    return Sample("command", time, {"command_rates": np.full(6, float(sequence))}, sequence)


def accepted(sequences: list[int]) -> tuple[list[int], Counts]:
    """Return the samples that are handed on of those with some sequence numbers."""
    counts = Counts()
    arrivals = Arrivals(counts)
    return [each for each in sequences if arrivals.accept(numbered(each), 0.0)], counts


def test_lost_doubled_and_reordered_samples_are_told_apart() -> None:
    handed, counts = accepted([5, 6, 6, 9, 7, 7, 10, 2**32 - 1])
    assert handed == [5, 6, 9, 10]
    assert counts == Counts(received=4, lost=1, doubled=3, reordered=1)


def test_numbers_begin_again_after_the_last_and_after_a_restart() -> None:
    handed, counts = accepted([2**32 - 2, 2**32 - 1, 0, 1, 2**32 - 1])
    assert handed == [2**32 - 2, 2**32 - 1, 0, 1]
    assert counts == Counts(received=4, doubled=1)
    handed, counts = accepted([1000, 1001, 0, 1])
    assert handed == [1000, 1001, 0, 1]
    assert counts == Counts(received=4, restarted=1)


def test_late_samples_are_counted_and_slow_clocks_are_not() -> None:
    counts = Counts()
    arrivals = Arrivals(counts)
    for k in range(10_000):
        delay = 0.05 if k == 700 else 0.001
        assert arrivals.accept(numbered(k, 0.01 * k), 5.0 + 0.01 * k * (1.0 + 5e-5) + delay)
    assert counts == Counts(received=10_000, late=1)


def test_what_is_no_sample_is_counted_and_stops_nothing(link: UdpLink) -> None:
    sender, other = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    good = [bytes(Encoder(6).encode(numbered(k))) for k in range(3)]
    wrong = bytes(Encoder(6).encode(numbered(1)._replace(kind="measurement")))
    seven = Sample("command", 0.0, {"setpoint": np.zeros(7)}, 1)
    bad = [b"", b"TWIN", good[1][:-1], b"x" * 5000, wrong, bytes(Encoder(7).encode(seven))]
    for data in (good[0], *bad, good[1]):
        sender.sendto(data, link.address)
    other.sendto(good[2], link.address)
    sender.sendto(good[2], link.address)
    found = [link.receive(WAIT) for _ in range(3)]
    assert [each.sequence for each in found if each] == [0, 1, 2]
    assert link.receive(0.0) is None
    assert link.counts == Counts(received=3, malformed=len(bad), foreign=1)
    assert str(link.counts) == f"3 received, {len(bad)} malformed, 1 foreign"
    assert link.peer is not None
    link.send(numbered(8), link.peer)
    sender.settimeout(WAIT)
    assert sender.recv(2000) == bytes(Encoder(6).encode(numbered(8)))
    for each in (sender, other):
        each.close()


def test_other_hosts_only_by_option(machine: Platform) -> None:
    with pytest.raises(InputError, match="allow"):
        open_source("udp://0.0.0.0:0", machine)
    with pytest.raises(InputError, match="allow"):
        open_telemetry("udp://192.0.2.1:5005", machine)
    with pytest.raises(InputError, match="allow"):
        open_telemetry("udp://192.0.2.1:5005", machine, allow_remote=["192.0.2.2"])
    open_telemetry("udp://192.0.2.1:5005", machine, allow_remote=["192.0.2.1"]).close()
    open_source("udp://0.0.0.0:0", machine, allow_remote=["192.0.2.1"]).close()


@pytest.mark.parametrize(
    "text",
    ["file:x", "udp://5005", "udp://127.0.0.1:70000", "udp://no such host:1", "replay:no.csv"],
)
def test_wrong_addresses_are_refused(text: str, machine: Platform) -> None:
    with pytest.raises(InputError):
        open_source(text, machine)
    with pytest.raises(InputError):
        open_telemetry(text, machine)


def test_telemetry_arrives(machine: Platform) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(WAIT)
        telemetry = open_telemetry(f"udp://127.0.0.1:{receiver.getsockname()[1]}", machine)
        sample = Sample("estimate", 1.0, {"residuals": np.arange(6.0)}, 4)
        telemetry.send(sample)
        assert receiver.recv(2000) == bytes(Encoder(6).encode(sample))
        telemetry.close()


def test_a_log_is_replayed_in_order(machine: Platform, tmp_path: Path) -> None:
    units = signal_units(machine)
    time, slow = np.arange(0.0, 2.5, 0.01), np.arange(0.055, 2.5, 0.1)
    table = np.arange(len(time) * 6.0).reshape(-1, 6)
    pose = np.tile(machine.home, (len(slow), 1))
    pose[:, 0] = slow
    channels = (
        Channel("coordinates", time, table, units["coordinates"]),
        Channel("pose", slow, pose, units["pose"]),
    )
    path = write_log(Log(channels), tmp_path / "run.csv")
    source = open_source(f"replay:{path}", machine)
    found = list(samples(source, 1.0))
    assert source.ended
    assert source.counts.received == len(found) == len(time)
    np.testing.assert_array_equal([each.time for each in found], time)
    np.testing.assert_array_equal([each.values["coordinates"] for each in found], table)
    assert "pose" not in found[5].values
    for each in found[6:]:
        last = slow[slow <= each.time + 1e-9][-1]
        assert each.values["pose"][0] == last
    wrong = Log((Channel("coordinates", time, table, "mm"),))
    with pytest.raises(InputError, match="mapping"):
        open_source(f"replay:{write_log(wrong, tmp_path / 'mm.csv')}", machine)


@pytest.mark.slow
def test_a_server_of_opc_ua_is_read_and_written(machine: Platform) -> None:
    sync = pytest.importorskip("asyncua.sync", reason="asyncua is not installed")
    from asyncua import ua

    loop = sync.ThreadLoop(WAIT)
    loop.daemon = True  # a test that fails does not wait for it
    loop.start()
    server = sync.Server(tloop=loop)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server.set_endpoint(f"opc.tcp://127.0.0.1:{port}/")
    server.register_namespace("urn:machine")
    names = {"coordinates": [1.0] * 6, "residuals": [0.0] * 6, "counts[1]": 0.0}
    nodes = {
        name: server.nodes.objects.add_variable(ua.NodeId(name, 2), name, value)
        for name, value in names.items()
    }
    nodes["residuals"].set_writable()
    server.start()
    try:
        source = open_source(f"opcua://127.0.0.1:{port}", machine)
        first = source.receive(WAIT)
        assert first is not None
        np.testing.assert_array_equal(first.values["coordinates"], np.ones(6))
        assert source.receive(0.0) is None
        nodes["coordinates"].write_value([2.0] * 5 + [2.5])
        second = source.receive(WAIT)
        assert second is not None
        assert second.time >= first.time
        assert second.values["coordinates"][5] == 2.5
        nodes["coordinates"].write_value([3.0] * 5)
        assert source.receive(0.0) is None
        assert (source.counts.received, source.counts.malformed) == (2, 1)
        telemetry = open_telemetry(f"opcua://127.0.0.1:{port}", machine)
        telemetry.send(Sample("estimate", 0.0, {"residuals": np.arange(6.0)}))
        telemetry._sent.result(WAIT)  # type: ignore[attr-defined]
        assert nodes["residuals"].read_value() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
        nodes["coordinates"].write_value([500.0] * 6)
        signal = {"channels": "ns=2;s=coordinates", "unit": "mm", "offset": "1 m"}
        mapped = open_source(
            f"opcua://127.0.0.1:{port}",
            machine,
            mapping=LogMapping.of({"signals": {"coordinates": signal}}),
        )
        third = mapped.receive(WAIT)
        assert third is not None
        np.testing.assert_allclose(third.values["coordinates"], np.full(6, 1.5), rtol=1e-15)
        for each in (source, telemetry, mapped):
            each.close()
    finally:
        server.stop()
        loop.stop()
    with pytest.raises(InputError, match="session"):
        open_source(f"opcua://127.0.0.1:{port}", machine)
