"""Which machine a recorded run was made with: the one whose parameters have the same digest."""

from __future__ import annotations

import numpy as np

from twin.catalogue import load, machine_names
from twin.errors import InputError
from twin.platform import Platform, as_platform
from twin.trajectory import Trajectory


def machine_of(trajectory: Trajectory) -> Platform:
    """Return the shipped machine, with one of its presets or none, that a trajectory is of.

    Raises:
        InputError: no shipped machine has the trajectory's parameters.
    """
    if trajectory.machine in machine_names():
        for preset in _presets(trajectory.machine):
            platform = load(trajectory.machine, preset)
            if platform.hash == trajectory.parameters_hash:
                return platform
    raise InputError(
        "trajectory",
        f"was made with a machine {trajectory.machine!r} whose parameters no shipped machine has; "
        "give the platform.toml that it was made with",
    )


def check_machine(trajectory: Trajectory, platform: Platform) -> None:
    """Check that a trajectory was made with this machine.

    Raises:
        InputError: it was not; says with which it was, where that is known. Or rows that are no
            run of any machine: times that fall, other numbers of actuators or springs.
    """
    as_platform(platform)
    if trajectory.parameters_hash != platform.hash:
        raise InputError("platform", _difference(trajectory, platform))
    widths = (trajectory.lengths.shape[1], trajectory.internal.shape[1])
    if widths[0] != platform.n_actuators or widths[1] not in (0, 2 * platform.n_internal):
        raise InputError("trajectory", f"has {widths[0]} actuators and {widths[1]} inner numbers")
    for name, times in (("time", trajectory.time), ("time", trajectory.signals.get("time"))):
        if times is not None and (np.diff(times) < 0.0).any():
            raise InputError(f"trajectory.{name}", "must not fall")


def _presets(machine: str) -> tuple[str | None, ...]:
    presets = load(machine).parameters.preset
    return (None, *(presets.known if presets else ()))


def _difference(trajectory: Trajectory, platform: Platform) -> str:
    told = f"the trajectory is of {trajectory.machine!r} with other parameters than this machine"
    try:
        preset = machine_of(trajectory).parameters.preset
    except InputError:
        return f"{told}, {platform.name!r}; give the platform.toml that it was made with"
    applied = f", preset={preset.applied!r}" if preset and preset.applied else ""
    return f"{told}; use twin.load({trajectory.machine!r}{applied})"
