"""Logs of real and simulated machines: channels with units, files, mapping, checks, offsets."""

from __future__ import annotations

from twin.logs.checks import check_log
from twin.logs.files import read_log, sha256_of, write_log
from twin.logs.log import Channel, Finding, Log, join, signal_units
from twin.logs.mapping import LogMapping
from twin.logs.offset import TimeOffset, aligned, time_offset
from twin.logs.simulated import log_of

__all__ = [
    "Channel",
    "Finding",
    "Log",
    "LogMapping",
    "TimeOffset",
    "aligned",
    "check_log",
    "join",
    "log_of",
    "read_log",
    "sha256_of",
    "signal_units",
    "time_offset",
    "write_log",
]
