"""A server of OPC UA on this computer, with a node for each field of a sample."""

import socket
from datetime import UTC, datetime

import pytest
from started import PATIENCE, free_port


class OpcUaServer:
    """A server of OPC UA with nodes of a machine; tests are skipped where `asyncua` is missing.

    Attributes:
        port: that it listens on.
        nodes: by their names.
    """

    def __init__(self, values, port=None):
        """Serve one node of each name with its first value, on a free port where none is given."""
        sync = pytest.importorskip("asyncua.sync", reason="asyncua is not installed")
        from asyncua import ua

        self.loop = sync.ThreadLoop(PATIENCE)
        self.loop.daemon = True  # a test that fails does not wait for it
        self.loop.start()
        self.server = sync.Server(tloop=self.loop)
        self.port = port or free_port(socket.SOCK_STREAM)
        self.server.set_endpoint(f"opc.tcp://127.0.0.1:{self.port}/")
        self.server.register_namespace("urn:machine")
        self.nodes = {
            name: self.server.nodes.objects.add_variable(ua.NodeId(name, 2), name, value)
            for name, value in values.items()
        }
        for node in self.nodes.values():
            node.set_writable()
        self.server.start()

    def write(self, sample, begun):
        """Write all fields of a sample, whose time counts from `begun` [s since 1970]."""
        from asyncua import ua

        stamp = datetime.fromtimestamp(begun + sample.time, UTC).replace(tzinfo=None)

        async def write():
            for name, node in self.nodes.items():
                value = ua.Variant(sample.values[name].tolist(), ua.VariantType.Double)
                await node.aio_obj.write_value(ua.DataValue(value, SourceTimestamp=stamp))

        self.loop.post(write())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.stop()
        self.loop.stop()
