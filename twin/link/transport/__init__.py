"""Transport of samples: UDP, replay of logs, and OPC UA, behind one source."""

from __future__ import annotations

from twin.link.transport.address import Address, parse_address
from twin.link.transport.arrivals import Counts
from twin.link.transport.source import Source, Telemetry, open_source, open_telemetry, samples
from twin.link.transport.udp import UdpLink

__all__ = [
    "Address",
    "Counts",
    "Source",
    "Telemetry",
    "UdpLink",
    "open_source",
    "open_telemetry",
    "parse_address",
    "samples",
]
