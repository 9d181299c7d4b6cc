"""Clients of the page's server that are late, slow, gone or hostile, beside one that is well."""

import socket
import threading
from contextlib import ExitStack, contextmanager, suppress

import msgspec
import numpy as np
import pytest
import zstandard
from viser_rig import PROTOCOL, broadcast_buffer, connection, connections, identity, wait
from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed
from websockets.uri import parse_uri

from twin.page.server import page_server
from twin.page.server.page_server import PageServer

BOXES = 40


@pytest.fixture
def server():
    """A server of its own for every test."""
    with PageServer(port=0) as opened:
        yield opened


@pytest.fixture
def boxes(server):
    """Things that move."""
    return [server.viser.scene.add_box(f"/box_{index}") for index in range(BOXES)]


@contextmanager
def reading(opened, packets):
    """Read all that comes, and keep its sizes, until the connection is closed."""

    def read_on():
        with suppress(ConnectionClosed):
            while True:
                packets.append(len(opened.recv()))

    thread = threading.Thread(target=read_on)
    thread.start()
    yield
    opened.close()
    thread.join()


def messages(packet):
    """Return what a packet of the server says."""
    size = int.from_bytes(packet[8:16], "little")
    inner = zstandard.ZstdDecompressor().decompress(packet[16 : 16 + size])
    return msgspec.msgpack.decode(inner)["messages"]


def stalled_client(server):
    """Return a connection that asks for the page's messages and reads none."""
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    opened.connect(("127.0.0.1", server.port))
    handshake = ClientProtocol(parse_uri(f"ws://127.0.0.1:{server.port}"), subprotocols=[PROTOCOL])
    handshake.send_request(handshake.connect())
    opened.sendall(b"".join(handshake.data_to_send()))
    return opened


def read(opened, until):
    """Return the messages that come until those so far are enough."""
    found = []
    while not until(found):
        packet = opened.recv(timeout=60.0)
        assert isinstance(packet, bytes)
        found.extend(messages(packet))
    return found


def replayed(found):
    """Return whether the past is over and the present begins."""
    return any(each["type"] == "ReplayDoneMessage" for each in found)


def moves(found):
    """Return what messages move, and where to along x."""
    kind = "SetPositionMessage"
    return [(each["name"], each["position"][0]) for each in found if each["type"] == kind]


def test_late_client_gets_the_present_state_at_once(server, boxes):
    buffer = broadcast_buffer(server.viser)
    with connection(server) as early, ExitStack() as stack:
        read(early, replayed)
        # Months of movement, of which only the last is kept.
        with server.viser.atomic():
            buffer.message_counter += 10**10
            for index, box in enumerate(boxes, start=1):
                box.position = (float(index), 0.0, 0.0)
        late = stack.enter_context(connection(server))
        found = read(late, replayed)
        assert found[-1]["type"] == "ReplayDoneMessage"
        assert [each["name"] for each in found if each["type"] == "BoxMessage"] == [
            box.name for box in boxes
        ]
        present = [(box.name, float(index)) for index, box in enumerate(boxes, start=1)]
        assert moves(found)[-BOXES:] == present
        assert moves(read(early, lambda some: present[-1] in moves(some))) == present
        boxes[3].position = (77.0, 0.0, 0.0)
        last = (boxes[3].name, 77.0)
        for opened in (early, late):
            assert moves(read(opened, lambda some: last in moves(some))) == [last]


def test_clients_are_not_told_what_they_said(server):
    slider = server.viser.gui.add_slider("a", 0.0, 1.0, 0.1, 0.0)
    with connection(server) as one, connection(server) as other:
        for opened in (one, other):
            read(opened, replayed)
        said = {"type": "GuiUpdateMessage", "uuid": identity(slider), "updates": {"value": 0.5}}
        one.send(msgspec.msgpack.encode(said))
        wait(lambda: slider.value == 0.5)
        slider.value = 0.75
        heard = [
            [
                each["updates"]["value"]
                for each in read(opened, lambda some: any(last(each) == 0.75 for each in some))
                if each["type"] == "GuiUpdateMessage"
            ]
            for opened in (one, other)
        ]
    assert heard[0] == [0.75]
    assert heard[1][-1] == 0.75


def last(message):
    """Return the value that a message gives to an input, None if it gives none."""
    return message.get("updates", {}).get("value")


@pytest.mark.slow
def test_stalled_clients_cost_little_and_hold_up_nobody(server, boxes):
    charts = [server.viser.gui.add_image(np.zeros((64, 64, 3), np.uint8)) for _ in range(4)]
    with connection(server) as well, ExitStack() as stack:
        for _ in range(3):
            stack.callback(stalled_client(server).close)
        wait(lambda: len(connections(server.viser)) == 4)
        packets = []
        stack.enter_context(reading(well, packets))
        random = np.random.default_rng(3)
        waiting = []
        for _ in range(150):
            before = len(packets)
            with server.viser.atomic():
                for box in boxes:
                    box.position = random.normal(size=3)
                for chart in charts:
                    chart.image = random.integers(0, 255, (64, 64, 3), dtype=np.uint8)
            wait(lambda before=before: len(packets) > before)
            sizes = [
                each.transport.get_write_buffer_size()
                for each in connections(server.viser).values()
            ]
            waiting.append(sum(sizes))
        assert len(connections(server.viser)) == 4
        # Megabytes have gone to the one that reads.
        assert sum(packets) > 20 * max(waiting[50:])
        assert max(waiting[100:]) <= 1.01 * max(waiting[:100])


def test_stalled_clients_are_ended_and_others_are_not(constants):
    constants(page_server, STALL_TIMEOUT=1.0)
    with PageServer(port=0) as server, connection(server) as well, ExitStack() as stack:
        stack.callback(stalled_client(server).close)
        wait(lambda: len(connections(server.viser)) == 2)
        stack.enter_context(reading(well, []))
        image = server.viser.gui.add_image(np.zeros((256, 256, 3), np.uint8))
        random = np.random.default_rng(4)

        def one_is_left():
            image.image = random.integers(0, 255, (256, 256, 3), dtype=np.uint8)
            return len(connections(server.viser)) == 1

        wait(one_is_left)
        (left,) = connections(server.viser).values()
        assert left.remote_address == well.local_address


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "said", ["text", b"no message", msgspec.msgpack.encode({"type": "Nothing"})]
)
def test_nonsense_ends_its_own_connection_only(server, said):
    with connection(server) as well, connection(server) as hostile:
        read(well, replayed)
        hostile.send(said)
        with pytest.raises(ConnectionClosed):
            while True:
                hostile.recv(timeout=60.0)
        wait(lambda: len(connections(server.viser)) == 1)
        box = server.viser.scene.add_box("/later")
        box.position = (5.0, 0.0, 0.0)
        read(well, lambda some: (box.name, 5.0) in moves(some))


def test_the_end_does_not_wait_for_idle_connections(caplog):
    """Connections that have said nothing, or half a request, are ended too, and not reported."""
    with ExitStack() as stack:
        opened, connections = PageServer(port=0), []
        for said in (b"", b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"):
            idle = stack.enter_context(socket.create_connection(("127.0.0.1", opened.port)))
            idle.sendall(said)
            connections.append(idle)
        stack.enter_context(connection(opened))
        opened.close()
        assert [idle.recv(1) for idle in connections] == [b"", b"", b""]
    assert not [record for record in caplog.records if "handshake" in record.message]
