"""The UDP protocol: one datagram is one sample. `docs/logs.md` has the table of its bytes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from struct import Struct
from typing import Literal, NamedTuple
from zlib import crc32

import numpy as np

from twin.basics.arrays import LARGEST_ENTRY, FloatArray
from twin.errors import InputError, brief

PER_LEG = 0
"""Width of a field that has one number for each leg."""

FIELD_WIDTHS = {
    "coordinates": PER_LEG,
    "rates": PER_LEG,
    "forces": PER_LEG,
    "currents": PER_LEG,
    "temperatures": PER_LEG,
    "pose": 7,
    "twist": 6,
    "wrench": 6,
    "accelerometer": 3,
    "gyroscope": 3,
    "setpoint": PER_LEG,
    "command_rates": PER_LEG,
    "command_forces": PER_LEG,
    "reference_pose": 7,
    "residuals": PER_LEG,
    "alarms": 9,
}
"""Names and widths of the fields, in the order of the bits of the mask, bit 0 first.

Names and units are those of signals of a log (`twin.logs.log`). Two more are for estimates:
`residuals`, each per its threshold, and `alarms`, 1 where active, else 0.
"""

COMMAND_FIELDS = ("setpoint", "command_rates", "command_forces")
"""Fields of a measurement that hold the command in force over the period before it."""

POSE_FIELDS = ("pose", "reference_pose")
"""Fields that are a position [m] and a unit quaternion, scalar first."""

MAX_LEGS = 12
"""Maximum number of legs, with which a datagram of all fields still fits into one frame of
Ethernet.
"""

SEQUENCE_MODULUS = 2**32
"""Modulus of the sequence numbers, which restart at zero."""

MAGIC = b"TWIN"

VERSION = 2

HEADER = Struct("<4sIBBBBIQII")
"""Magic, checksum, version, kind, legs, state, sequence, time [ns], acknowledged, mask."""

CHECKSUM_START = 8
"""First byte that the checksum covers."""

MAX_DATAGRAM_SIZE = HEADER.size + 8 * sum(width or MAX_LEGS for width in FIELD_WIDTHS.values())
"""[byte] Size of the largest datagram."""

NANOSECONDS_PER_SECOND = 10**9

MAX_TIME = 9e9
"""[s] Largest time: nanoseconds fit into 64 bits."""

NORM_TOLERANCE = 1e-2
"""Largest deviation from one of the norm of a received quaternion, which is then normalised."""

NUMBER_TYPE = np.dtype("<f8")


class Layout(NamedTuple):
    """Layout of a datagram: where the fields of a mask are among its numbers."""

    slices: tuple[tuple[str, slice], ...]
    """name of each field and its numbers"""
    poses: tuple[int, ...]
    """first number of each quaternion"""
    size: int
    """number of all entries"""


def width_of(field: str, legs: int) -> int:
    """Return the width of a field on a machine with `legs` legs."""
    return FIELD_WIDTHS[field] or legs


def mask_of(fields: frozenset[str]) -> int:
    """Return the mask with the bits of some fields."""
    return sum(1 << bit for bit, name in enumerate(FIELD_WIDTHS) if name in fields)


@lru_cache(maxsize=64)
def layout_of(legs: int, mask: int) -> Layout:
    """Return the layout of the fields of a mask for a number of legs.

    Raises:
        ValueError: a bit of the mask has no field.
    """
    if mask >> len(FIELD_WIDTHS):
        raise ValueError("the mask has bits without a field")
    slices, poses, first_entry = [], [], 0
    for bit, name in enumerate(FIELD_WIDTHS):
        if mask >> bit & 1:
            end_entry = first_entry + width_of(name, legs)
            slices.append((name, slice(first_entry, end_entry)))
            if name in POSE_FIELDS:
                poses.append(first_entry + 3)
            first_entry = end_entry
    return Layout(tuple(slices), tuple(poses), first_entry)


Kind = Literal["command", "measurement", "estimate"]
DATAGRAM_KINDS: tuple[Kind, ...] = ("command", "measurement", "estimate")
"""Kinds of datagrams; their numbers in a datagram are 1, 2 and 3."""

MachineState = Literal["running", "holding", "stopped"]
MACHINE_STATES: tuple[MachineState, ...] = ("running", "holding", "stopped")
"""States of the machine; their numbers in a datagram are 0, 1 and 2."""


class Sample(NamedTuple):
    """One command, measurement or estimate.

    A command with `command_forces` alone sets forces. With `command_rates` it sets speeds, and
    with `setpoint` positions, to which the other two are feedforward. Without a field it holds.
    A measurement holds the command in force beside what was measured.
    """

    kind: Kind
    time: float
    """[s] time of the sender's clock, which may begin anywhere"""
    values: Mapping[str, FloatArray]
    """name of a field -> `(w,)`; read-only where it was received"""
    sequence: int = 0
    """number of the sample, one more than the sender's last; 0 after 4294967295"""
    acknowledged: int = 0
    """sequence number of the last command that was received before; 0 without one"""
    state: MachineState = "running"
    """state of the machine: it follows commands, holds its position without them, or has stopped"""
    ages: Mapping[str, float] | None = None
    """name of a field -> [s] by which it is older than `time`; None where no field is"""


class Encoder:
    """Samples of a machine as datagrams, all in one buffer."""

    def __init__(self, legs: int) -> None:
        """Prepare for a machine with so many legs.

        Raises:
            InputError: no whole number from 1 to 12.
        """
        if type(legs) is not int or not 1 <= legs <= MAX_LEGS:
            raise InputError("legs", f"must be from 1 to {MAX_LEGS}, not {brief(legs)}")
        self._legs = legs
        self._buffer = bytearray(MAX_DATAGRAM_SIZE)
        self._view = memoryview(self._buffer)
        self._numbers = np.frombuffer(self._buffer, NUMBER_TYPE, offset=HEADER.size)

    def encode(self, sample: Sample) -> memoryview:
        """Return a sample's datagram; the next one overwrites it.

        Raises:
            InputError: a field or a time that no datagram can hold; names it.
        """
        kind, time, values, sequence, acknowledged, state, _ = sample
        if not 0.0 <= time <= MAX_TIME:
            raise InputError("time", f"must be from 0 to {MAX_TIME:g} s, not {brief(time)}")
        if kind not in DATAGRAM_KINDS or state not in MACHINE_STATES:
            raise InputError("kind", f"{brief(kind)} in state {brief(state)} is no sample")
        legs, numbers = self._legs, self._numbers
        mask = mask_of(frozenset(values))
        layout = layout_of(legs, mask)
        if len(layout.slices) != len(values):
            unknown_name = next(name for name in values if name not in FIELD_WIDTHS)
            raise InputError(
                "values", f"{unknown_name!r} is no field; known: {', '.join(FIELD_WIDTHS)}"
            )
        for name, entries in layout.slices:
            signal_values = values[name]
            if np.shape(signal_values) != (width_of(name, legs),):
                shape = f"({width_of(name, legs)},)"
                raise InputError(name, f"must have shape {shape}, got {np.shape(signal_values)}")
            numbers[entries] = signal_values
        if not _usable(numbers[: layout.size]):
            raise InputError("values", "must be finite numbers")
        first_fields = (
            VERSION,
            DATAGRAM_KINDS.index(kind) + 1,
            legs,
            MACHINE_STATES.index(state),
            sequence % SEQUENCE_MODULUS,
        )
        last_fields = (round(time * NANOSECONDS_PER_SECOND), acknowledged % SEQUENCE_MODULUS, mask)
        HEADER.pack_into(self._buffer, 0, MAGIC, 0, *first_fields, *last_fields)
        size = HEADER.size + 8 * layout.size
        checksum = crc32(self._view[CHECKSUM_START:size])
        self._buffer[4:CHECKSUM_START] = checksum.to_bytes(4, "little")
        return self._view[:size]


def decode(data: bytes) -> Sample:
    """Return the sample of a datagram; its arrays are views of `data` where no pose is among them.

    Raises:
        InputError: no datagram of this protocol; the field is what is wrong with it: `size`,
            `magic`, `version`, `checksum`, `kind`, `legs`, `state`, `time`, `mask` or `values`.
    """
    if not HEADER.size <= len(data) <= MAX_DATAGRAM_SIZE:
        raise InputError("size", f"{len(data)} bytes are no datagram")
    magic, checksum, version, kind, legs, state, sequence, time, acknowledged, mask = (
        HEADER.unpack_from(data)
    )  # fmt: skip
    if magic != MAGIC:
        raise InputError("magic", "is no datagram of this protocol")
    if version != VERSION:
        raise InputError("version", f"{version} is not known, this is {VERSION}")
    if checksum != crc32(memoryview(data)[CHECKSUM_START:]):
        raise InputError("checksum", "is wrong")
    if not 1 <= kind <= len(DATAGRAM_KINDS):
        raise InputError("kind", f"{kind} is not known")
    if not 1 <= legs <= MAX_LEGS:
        raise InputError("legs", f"{legs} are not from 1 to {MAX_LEGS}")
    if state >= len(MACHINE_STATES):
        raise InputError("state", f"{state} is not known")
    if time > MAX_TIME * NANOSECONDS_PER_SECOND:
        raise InputError("time", f"is beyond {MAX_TIME:g} s")
    if mask >> len(FIELD_WIDTHS):
        raise InputError("mask", "has bits without a field")
    layout = layout_of(legs, mask)
    if len(data) != HEADER.size + 8 * layout.size:
        raise InputError("size", f"{len(data)} bytes do not fit the mask")
    numbers = np.frombuffer(data, NUMBER_TYPE, layout.size, HEADER.size)
    if not _usable(numbers):
        raise InputError("values", "are not finite")
    if layout.poses:
        numbers = _normalised(numbers, layout.poses)
    values = {name: numbers[entries] for name, entries in layout.slices}
    kind_time_values = DATAGRAM_KINDS[kind - 1], time / NANOSECONDS_PER_SECOND, values
    return Sample(*kind_time_values, sequence, acknowledged, MACHINE_STATES[state])


def _usable(numbers: FloatArray) -> bool:
    """Return whether all numbers and their squares are finite."""
    return bool(np.abs(numbers).max(initial=0.0) <= LARGEST_ENTRY)


def _normalised(numbers: FloatArray, poses: tuple[int, ...]) -> FloatArray:
    """Return the numbers with unit quaternions, read-only.

    Raises:
        InputError: a quaternion that is none.
    """
    normalised = numbers.copy()
    for start in poses:
        quaternion = normalised[start : start + 4]
        norm = float(np.sqrt(quaternion @ quaternion))
        if not abs(norm - 1.0) <= NORM_TOLERANCE:
            raise InputError("values", f"a quaternion has the norm {norm:.3g}")
        quaternion /= norm
    normalised.flags.writeable = False
    return normalised
