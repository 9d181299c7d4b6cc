"""What tests use of viser that it gives by no public name, in one place."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest


def inputs(gui: Any, label: str) -> list[Any]:
    """Return the controls with a label, the newest last."""
    handles = gui._gui_input_handle_from_uuid.values()
    return [handle for handle in handles if getattr(handle, "label", None) == label]


def identity(handle: Any) -> str:
    """Return the name of a control in messages."""
    return str(handle._impl.uuid)


def use(handle: Any, value: Any, client: Any) -> None:
    """Change a control's value, or press a button, as a browser would."""
    handle._impl.value = value
    event = SimpleNamespace(client=client, client_id=0, target=handle)
    for callback in tuple(handle._impl.update_cb):
        callback(event)


def nodes(server: Any) -> dict[str, Any]:
    """Return all nodes of the scene by name."""
    return dict(server.scene._handle_from_node_name)


def messages_sent(server: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list of what the scene sends to pages from here on."""
    messages: list[Any] = []
    queue = server.scene._queue_scene_message

    def record(message: Any) -> None:
        messages.append(message)
        queue(message)

    monkeypatch.setattr(server.scene, "_queue_scene_message", record)
    return messages


def websockets(server: Any) -> Any:
    """Return the server of a viser server's connections."""
    return server._websock_server


def connections(server: Any) -> Any:
    """Return the connections that are open."""
    return websockets(server)._live_connections


def broadcast_buffer(server: Any) -> Any:
    """Return what waits to be sent to all pages."""
    return websockets(server)._broadcast_buffer


def message_count(server: Any) -> int:
    """Return how many messages were put out so far, to all pages and to single ones."""
    single = websockets(server)._client_state_from_id.values()
    buffers = [broadcast_buffer(server), *(each.message_buffer for each in single)]
    return sum(buffer.message_counter for buffer in buffers)


def handled_messages(server: Any) -> set[Any]:
    """Return the kinds of messages that the server answers."""
    return set(websockets(server)._incoming_handlers)
