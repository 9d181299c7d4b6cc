"""Transport on this computer: order of arrivals, refusals, replay, and a server of OPC UA."""

import socket
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from opcua_server import OpcUaServer
from refusals import assert_all_refused, refused
from started import free_port
from tolerance import assert_within

from twin.link.protocol import Encoder, Sample
from twin.link.transport import Counts, UdpLink, opcua, open_source, open_telemetry, samples
from twin.link.transport.address import Address, Arrivals
from twin.logs import Channel, Log, LogMapping, signal_units, write_log

pytestmark = pytest.mark.quick

LOCAL = Address("127.0.0.1", 0)
WAIT = 20.0
"""[s] Longest wait for what is on its way on this computer."""

NODES = {"coordinates": [1.0] * 6, "residuals": [0.0] * 6, "counts[1]": 0.0}


@pytest.fixture
def link():
    """A link that listens on a free port."""
    found = UdpLink(LOCAL, 6, "command")
    yield found
    found.close()


def numbered(sequence, time=0.0):
    """Return a command with the sequence number as its speeds."""
    return Sample("command", time, {"command_rates": np.full(6, float(sequence))}, sequence)


def accepted(sequences):
    """Return the samples that are handed on of those with some sequence numbers."""
    counts = Counts()
    arrivals = Arrivals(counts)
    return [each for each in sequences if arrivals.accept(numbered(each), 0.0)], counts


def test_lost_doubled_and_reordered_samples_are_told_apart():
    handed, counts = accepted([5, 6, 6, 9, 7, 7, 10, 2**32 - 1])
    assert handed == [5, 6, 9, 10]
    assert counts == Counts(received=4, lost=1, doubled=3, reordered=1)


def test_numbers_begin_again_after_the_last_and_after_a_restart():
    handed, counts = accepted([2**32 - 2, 2**32 - 1, 0, 1, 2**32 - 1])
    assert handed == [2**32 - 2, 2**32 - 1, 0, 1]
    assert counts == Counts(received=4, doubled=1)


def arrived(sent):
    """Return the numbers that are handed on of samples with number, sender's time and arrival."""
    counts = Counts()
    arrivals = Arrivals(counts)
    return [k for k, time, at in sent if arrivals.accept(numbered(k, time), at)], counts


def test_no_old_setpoint_is_put_in_force(subtests):
    for old in [1, 63, 64, 100, 899]:
        with subtests.test(f"{old}"):
            sent = [(k, 1e-3 * k, 1e-3 * k) for k in range(1000)]
            handed, counts = arrived(
                [*sent, (999 - old, 1e-3 * (999 - old), 1.0), (1000, 1.0, 1.001)]
            )
            assert handed == [*range(1001)]
            assert counts.restarted == 0
            assert counts.doubled == 1


def test_datagrams_on_a_slower_way_are_no_restarts(subtests):
    """Every tenth of 2,000 comes late: it arrives in the end, and none is lost for good."""
    for delay in [0.01, 0.1, 0.9]:
        with subtests.test(f"{delay}"):
            sent = [(k, 1e-3 * k, 1e-3 * k + (delay if k % 10 == 9 else 0.0)) for k in range(2000)]
            handed, counts = arrived(sorted(sent, key=lambda each: each[2]))
            assert handed == sorted(handed) and len(set(handed)) == len(handed)
            assert counts.restarted == counts.lost == counts.doubled == 0
            assert counts.received + counts.reordered == 2000
            assert counts.received >= 1800


def test_a_restart_is_a_later_time_of_the_clock_or_a_gap():
    """The numbers alone are none: those of a clock that begins anew wait for a second."""
    handed, counts = arrived([(1000, 5.0, 0.0), (1001, 5.1, 0.1), (0, 5.2, 0.2), (1, 5.3, 0.3)])
    assert handed == [1000, 1001, 0, 1] and counts == Counts(received=4, restarted=1)
    begun_anew = [(k, 0.1 * k, 0.1 * k + 0.2) for k in range(15)]
    handed, counts = arrived([(1000, 5.0, 0.0), (1001, 5.1, 0.1), *begun_anew])
    assert handed == [1000, 1001, *range(9, 15)]
    assert (counts.restarted, counts.doubled) == (1, 9)


def test_late_samples_are_counted_and_slow_clocks_are_not():
    counts = Counts()
    arrivals = Arrivals(counts)
    for k in range(10_000):
        delay = 0.05 if k == 700 else 0.001
        assert arrivals.accept(numbered(k, 0.01 * k), 5.0 + 0.01 * k * (1.0 + 5e-5) + delay)
    assert counts == Counts(received=10_000, late=1)


def test_what_is_no_sample_is_counted_and_stops_nothing(link):
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
    reasons = link.counts.reasons
    assert reasons["measurements in place of commands"] == 1
    assert reasons["of a machine with 7 legs in place of 6"] == 1
    assert reasons["from a second sender beside the first one"] == 1
    assert sum(reasons.values()) == len(bad) + 1
    assert link.peer is not None
    link.send(numbered(8), link.peer)
    sender.settimeout(WAIT)
    assert sender.recv(2000) == bytes(Encoder(6).encode(numbered(8)))
    for each in (sender, other):
        each.close()


def test_other_hosts_only_by_option(stewart):
    with refused("allow"):
        open_source("udp://0.0.0.0:0", stewart)
    with refused("allow"):
        open_telemetry("udp://192.0.2.1:5005", stewart)
    with refused("allow"):
        open_telemetry("udp://192.0.2.1:5005", stewart, allow_remote=["192.0.2.2"])
    open_telemetry("udp://192.0.2.1:5005", stewart, allow_remote=["192.0.2.1"]).close()
    open_source("udp://0.0.0.0:0", stewart, allow_remote=["192.0.2.1"]).close()


def test_wrong_addresses_are_refused(stewart):
    texts = ("file:x", "udp://5005", "udp://127.0.0.1:70000", "udp://no such host:1")
    for opened in (open_source, open_telemetry):
        wrong = [(text, None) for text in (*texts, "replay:no.csv")]
        assert_all_refused(lambda text, opened=opened: opened(text, stewart), wrong)


def test_a_log_is_replayed_in_order(stewart, tmp_path):
    units = signal_units(stewart)
    time, slow = np.arange(0.0, 2.5, 0.01), np.arange(0.055, 2.5, 0.1)
    table = np.arange(len(time) * 6.0).reshape(-1, 6)
    pose = np.tile(stewart.home, (len(slow), 1))
    pose[:, 0] = slow
    channels = (
        Channel("coordinates", time, table, units["coordinates"]),
        Channel("pose", slow, pose, units["pose"]),
    )
    path = write_log(Log(channels), tmp_path / "run.csv")
    source = open_source(f"replay:{path}", stewart)
    found = list(samples(source, 1.0))
    assert source.ended
    assert source.counts.received == len(found) == len(time)
    assert_array_equal([each.time for each in found], time)
    assert_array_equal([each.values["coordinates"] for each in found], table)
    # A slow channel comes once, with the first sample at or after its time, and says its age.
    with_pose = [each for each in found if "pose" in each.values]
    assert [each.values["pose"][0] for each in with_pose] == list(slow)
    for each, taken in zip(with_pose, slow, strict=True):
        assert 0.0 <= each.time - taken < 0.01
        assert_within(each.ages["pose"], each.time - taken, 1e-9)
    wrong = Log((Channel("coordinates", time, table, "mm"),))
    with refused("mapping"):
        open_source(f"replay:{write_log(wrong, tmp_path / 'mm.csv')}", stewart)


def listening():
    """Return a socket that takes connections, and its port."""
    found = socket.create_server(("127.0.0.1", 0))
    return found, found.getsockname()[1]


@pytest.mark.slow
def test_a_server_of_opc_ua_that_begins_again_is_read_on(stewart):
    port = free_port(socket.SOCK_STREAM)
    with OpcUaServer(NODES, port):
        source = open_source(f"opcua://127.0.0.1:{port}", stewart)
        assert source.receive(WAIT) is not None
    while not source.counts.reasons:
        assert source.receive(0.05) is None
    assert source.counts.lost == 0, "polls are no samples"
    with OpcUaServer(NODES, port) as server:
        assert source.receive(WAIT) is not None
        assert source.counts.restarted == 1
        server.nodes["coordinates"].write_value([2.0] * 6)
        found = source.receive(WAIT)
        assert found is not None and found.values["coordinates"][0] == 2.0
        source.close()


@pytest.mark.slow
def test_nodes_that_hold_no_coordinates_are_refused(stewart):
    with OpcUaServer({"speed": 1.0}) as server, refused("give a mapping"):
        open_source(f"opcua://127.0.0.1:{server.port}", stewart)
    with OpcUaServer({"coordinates": "one metre"}) as server:
        source = open_source(f"opcua://127.0.0.1:{server.port}", stewart)
        assert source.receive(0.5) is source.receive(0.0) is None
        assert (source.counts.malformed, source.counts.lost) == (1, 0), "one sample, many polls"
        source.close()


@pytest.mark.parametrize("sent", [b"", bytes(range(256)) * 40], ids=["silent", "garbage"])
def test_what_is_no_server_of_opc_ua_ends_in_a_reason(sent, stewart, constants):
    pytest.importorskip("asyncua", reason="asyncua is not installed")
    constants(opcua, RESPONSE_TIMEOUT=0.2)
    listener, port = listening()
    with listener, ThreadPoolExecutor(1) as other:
        taken = other.submit(listener.accept)
        answered = other.submit(lambda: taken.result()[0].sendall(sent))
        with refused(r"gives no session: \S+"):
            open_source(f"opcua://127.0.0.1:{port}", stewart)
        answered.result(WAIT)
        taken.result()[0].close()


@pytest.mark.slow
def test_a_server_of_opc_ua_is_read_and_written(stewart):
    with OpcUaServer(NODES) as server:
        nodes = server.nodes
        source = open_source(f"opcua://127.0.0.1:{server.port}", stewart)
        first = source.receive(WAIT)
        assert_array_equal(first.values["coordinates"], np.ones(6))
        assert source.receive(0.0) is None
        nodes["coordinates"].write_value([2.0] * 5 + [2.5])
        second = source.receive(WAIT)
        assert second.time >= first.time
        assert second.values["coordinates"][5] == 2.5
        nodes["coordinates"].write_value([3.0] * 5)
        assert source.receive(0.5) is None
        assert (source.counts.received, source.counts.malformed) == (2, 1)
        telemetry = open_telemetry(f"opcua://127.0.0.1:{server.port}", stewart)
        telemetry.send(Sample("estimate", 0.0, {"residuals": np.arange(6.0)}))
        telemetry.close()
        assert nodes["residuals"].read_value() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
        nodes["coordinates"].write_value([500.0] * 6)
        signal = {"channels": "ns=2;s=coordinates", "unit": "mm", "offset": "1 m"}
        mapped = open_source(
            f"opcua://127.0.0.1:{server.port}",
            stewart,
            mapping=LogMapping.of({"signals": {"coordinates": signal}}),
        )
        third = mapped.receive(WAIT)
        np.testing.assert_allclose(third.values["coordinates"], np.full(6, 1.5), rtol=1e-15)
        for each in (source, telemetry, mapped):
            each.close()
    with refused("session"):
        open_source(f"opcua://127.0.0.1:{server.port}", stewart)
