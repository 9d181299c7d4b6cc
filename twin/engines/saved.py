"""Saved engine states: bytes with a header that says which engine they belong to."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np

from twin.arrays import FloatArray
from twin.errors import InputError
from twin.platform import Platform

MAGIC = b"twin-state-1\n"


class Header(NamedTuple):
    """What a saved state must agree with to be restored."""

    engine: str
    machine: str
    parameters: str
    preset: str
    timestep: float
    options: str = ""


def header(
    engine: str, platform: Platform, preset: str, timestep: float, options: str = ""
) -> Header:
    """Return the header of an engine; `options` tells further settings that change the future."""
    return Header(engine, platform.name, platform.hash, preset, timestep, options)


def pack(head: Header, *arrays: FloatArray) -> bytes:
    """Return header and float64 arrays (flattened, one after the other) as bytes."""
    values = np.concatenate([np.ravel(array) for array in arrays]).astype(np.float64)
    return MAGIC + json.dumps(head._asdict()).encode() + b"\n" + values.tobytes()


def unpack(head: Header, saved: bytes, *sizes: int) -> list[FloatArray]:
    """Return the arrays of the given sizes from bytes that `pack` made for the same header.

    Raises:
        InputError: no saved state, or one of another engine, machine, preset or time step.
    """
    if not isinstance(saved, bytes) or not saved.startswith(MAGIC):
        raise InputError("saved", "is not a saved engine state; use what `save` returned")
    text, _, data = saved[len(MAGIC) :].partition(b"\n")
    try:
        given = Header(**json.loads(text))
    except (ValueError, TypeError):
        raise InputError("saved", "has a damaged header") from None
    for name, wanted, found in zip(Header._fields, head, given, strict=True):
        if wanted != found:
            raise InputError(
                "saved", f"belongs to another {name}: it has {found!r}, this engine {wanted!r}"
            )
    if len(data) != 8 * sum(sizes):
        raise InputError("saved", f"has {len(data)} bytes of state, {8 * sum(sizes)} are needed")
    values = np.frombuffer(data, dtype=np.float64)
    return [part.copy() for part in np.split(values, np.cumsum(sizes)[:-1])]
