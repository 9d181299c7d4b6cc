"""Transport of samples: UDP, replay of logs, and OPC UA, behind one source."""

from __future__ import annotations

from twin.link.transport.address import Address, Counts, parse_address
from twin.link.transport.source import (
    Source,
    Telemetry,
    UdpLink,
    open_source,
    open_telemetry,
    samples,
)

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
