"""Saved engine states: bytes with a header that says which engine they belong to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from twin.errors import InputError
from twin.model.machine_model import MachineModel

MAGIC = b"twin-state-3\n"

DIGEST_BYTES = hashlib.sha256().digest_size


class Header(NamedTuple):
    """Properties that a saved state must agree with to be restored."""

    engine: str
    machine: str
    parameters: str
    timestep: float
    fidelity: str
    library: str
    options: str


def header(
    engine: str,
    platform: MachineModel,
    timestep: float,
    fidelity: str,
    library: str = "",
    options: Mapping[str, Any] | None = None,
) -> Header:
    """Return the header of an engine.

    Args:
        engine: its name.
        platform: the machine.
        timestep: [s].
        fidelity: the engine's fidelity.
        library: name and version of the simulator, whose content only itself can read.
        options: further settings that change the future; plain numbers, strings, lists.
    """
    settings = json.dumps(dict(options or {}), sort_keys=True)
    return Header(engine, platform.name, platform.hash, timestep, fidelity, library, settings)


def pack(head: Header, steps: int, content: bytes) -> bytes:
    """Return header, number of steps since reset and the simulator's state as bytes."""
    line = json.dumps({**head._asdict(), "steps": steps}).encode()
    data = b"\n".join([line, content])
    return MAGIC + hashlib.sha256(data).digest() + data


def unpack(head: Header, saved: bytes) -> tuple[int, bytes]:
    """Return number of steps and simulator's state from bytes that `pack` made for the same header.

    Raises:
        InputError: no saved state, a damaged one, or one of another engine, machine, time step,
            fidelity, library or options.
    """
    if not isinstance(saved, bytes) or not saved.startswith(MAGIC):
        raise InputError("saved", "is not a saved engine state; use what `save` returned")
    digest, data = saved[len(MAGIC) :][:DIGEST_BYTES], saved[len(MAGIC) + DIGEST_BYTES :]
    if hashlib.sha256(data).digest() != digest:
        raise InputError("saved", "is damaged; use what `save` returned, unchanged")
    line, _, content = data.partition(b"\n")
    given = json.loads(line)
    for name, own in head._asdict().items():
        if given[name] != own:
            raise InputError(
                "saved",
                f"belongs to another {name}: it has {given[name]!r}, this engine {own!r}",
            )
    return int(given["steps"]), content
