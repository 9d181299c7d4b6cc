"""The UDP protocol: one datagram is one sample. `docs/link.md` has the table of its bytes."""

from __future__ import annotations

from twin.link.protocol.datagram import Encoder, decode
from twin.link.protocol.fields import COMMANDS, FIELDS, MOST_LEGS, width_of
from twin.link.protocol.sample import Kind, Sample, State

__all__ = [
    "COMMANDS",
    "FIELDS",
    "MOST_LEGS",
    "Encoder",
    "Kind",
    "Sample",
    "State",
    "decode",
    "width_of",
]
