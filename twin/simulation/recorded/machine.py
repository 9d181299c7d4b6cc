"""The machine of a recorded motion, found again by the digest of its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np

from twin.errors import InputError
from twin.machine.catalogue import gallery_names, machine_names, parameters_path
from twin.machine.file.read import read_parameters
from twin.machine.payload import Occupant
from twin.model.machine_model import MachineModel
from twin.simulation.live.settings import Payload, loaded_machine, occupant
from twin.simulation.recorded.motion import RecordedMotion


class RecordedMachine(NamedTuple):
    """A machine as it was when a run was recorded."""

    platform: MachineModel
    payload: Occupant | None
    """person on it"""
    description: str
    """name, configuration and payload, for messages"""


def machine_of(trajectory: RecordedMotion, machine: str | Path | None = None) -> RecordedMachine:
    """Return the machine of a trajectory, with the configuration and the payload that it had.

    Args:
        trajectory: a run.
        machine: name or path of its platform.toml; default: the shipped one of the trajectory's
            name.

    Raises:
        InputError: the machine has other parameters with any configuration and payload; says how to
            go on.
        MachineNotFoundError: not a known name and not a file.
        ParameterError: the file cannot be used.
    """
    name = trajectory.machine if machine is None else machine
    if machine is not None or name in (*machine_names(), *gallery_names()):
        for variant in _variants(name):
            if variant.platform.hash == trajectory.parameters_hash:
                return variant
    owner = "no shipped machine has" if machine is None else f"{str(machine)!r} does not have"
    raise InputError(
        "trajectory",
        f"is of a machine {trajectory.machine!r} with parameters that {owner}; give the "
        "platform.toml that it was made with",
    )


def check_machine(trajectory: RecordedMotion, platform: MachineModel) -> None:
    """Check that a trajectory was made with this machine.

    Raises:
        InputError: it was not; says with which it was, where that is known. Or rows that are no
            run of any machine: times that fall, other numbers of actuators or springs.
    """
    if trajectory.parameters_hash != platform.hash:
        raise InputError("machine", _difference(trajectory, platform))
    widths = (trajectory.lengths.shape[1], trajectory.deflection.shape[1])
    if widths[0] != platform.n_actuators or widths[1] not in (0, 2 * platform.n_deflections):
        raise InputError("trajectory", f"has {widths[0]} actuators and {widths[1]} inner numbers")
    for times in (trajectory.time, trajectory.signals.get("time")):
        if times is not None and (np.diff(times) < 0.0).any():
            raise InputError("trajectory.time", "must not fall")


def _variants(machine: str | Path) -> Iterator[RecordedMachine]:
    """Yield a machine with each configuration and payload, the plain ones first."""
    configurations = read_parameters(parameters_path(machine)).configuration
    payloads: tuple[Payload, ...] = get_args(Payload)
    for payload in payloads:
        for configuration in (None, *(configurations.known if configurations else ())):
            description = (
                f"{machine}"
                if configuration is None
                else f"{machine} with the configuration {configuration}"
            )
            if payload != "none":
                description = f"{description} and the payload {payload}"
            platform = loaded_machine(machine, configuration, payload)
            yield RecordedMachine(platform, occupant(payload), description)


def _difference(trajectory: RecordedMotion, platform: MachineModel) -> str:
    problem = f"{platform.name!r} has other parameters than the machine that was recorded"
    try:
        return f"{problem}, which is {machine_of(trajectory).description}"
    except InputError as error:
        return f"{problem}, {trajectory.machine!r}; {error.message.partition('; ')[2]}"
