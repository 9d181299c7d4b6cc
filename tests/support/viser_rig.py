"""What tests use of viser that it gives by no public name, in one place."""

from time import monotonic, sleep
from types import SimpleNamespace

import viser
from websockets.sync.client import connect
from websockets.typing import Subprotocol

PROTOCOL = Subprotocol(f"viser-v{viser.__version__}")


def inputs(gui, label):
    """Return the controls with a label, the newest last."""
    handles = gui._gui_input_handle_from_uuid.values()
    return [handle for handle in handles if getattr(handle, "label", None) == label]


def identity(handle):
    """Return the name of a control in messages."""
    return str(handle._impl.uuid)


def use(handle, value, client):
    """Change a control's value, or press a button, as a browser would."""
    handle._impl.value = value
    event = SimpleNamespace(client=client, client_id=0, target=handle)
    for callback in tuple(handle._impl.update_cb):
        callback(event)


def connection(server, path="/", **options):
    """Return a websocket to a page's server, as its page opens one."""
    address = f"ws://127.0.0.1:{server.port}{path}"
    return connect(address, subprotocols=[PROTOCOL], max_size=None, open_timeout=30.0, **options)


def wait(holds):
    """Wait until something holds, for a minute at most."""
    end = monotonic() + 60.0
    while not holds():
        assert monotonic() < end
        sleep(0.02)


def nodes(server):
    """Return all nodes of the scene by name."""
    return dict(server.scene._handle_from_node_name)


def messages_sent(server, monkeypatch):
    """Return a list of what the scene sends to pages from here on."""
    messages = []
    queue = server.scene._queue_scene_message

    def record(message):
        messages.append(message)
        queue(message)

    monkeypatch.setattr(server.scene, "_queue_scene_message", record)
    return messages


def websockets(server):
    """Return the server of a viser server's connections."""
    return server._websock_server


def connections(server):
    """Return the connections that are open."""
    return websockets(server)._live_connections


def broadcast_buffer(server):
    """Return what waits to be sent to all pages."""
    return websockets(server)._broadcast_buffer


def message_count(server):
    """Return how many messages were put out so far, to all pages and to single ones."""
    single = websockets(server)._client_state_from_id.values()
    buffers = [broadcast_buffer(server), *(each.message_buffer for each in single)]
    return sum(buffer.message_counter for buffer in buffers)


def handled_messages(server):
    """Return the kinds of messages that the server answers."""
    return set(websockets(server)._incoming_handlers)
