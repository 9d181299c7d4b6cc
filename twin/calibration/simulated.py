"""Measurements of a machine whose errors are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from twin.basics.arrays import (
    as_array,
    as_floats,
    as_instance,
    as_pose,
    as_vector,
    one_of,
    whole_number,
)
from twin.calibration.frames import Frames
from twin.calibration.geometry import legs_with
from twin.calibration.leg_errors import LegErrors
from twin.calibration.measured import COMPONENTS, USUAL, MeasuredPoses, check_noise
from twin.errors import InputError
from twin.model.constraints import constrained
from twin.model.forward_kinematics import geometry
from twin.model.machine_model import MachineModel
from twin.rotations import angles_from_quaternion, displaced

STREAM = 1
"""Of random numbers: others than those from which poses with the same seed are drawn."""


def simulated(
    machine: MachineModel,
    poses: Any,
    errors: Any = None,
    *,
    frames: Frames | None = None,
    measured: Sequence[str] = COMPONENTS,
    noise: Sequence[float] = USUAL,
    seed: int | None = None,
) -> MeasuredPoses:
    """Return what a tracker and the encoders measure of a machine with errors.

    Args:
        machine: as in its file.
        poses: `(m, 7)` of the platform in the base.
        errors: `(n, k)` of the legs, as of `LegErrors`; default: none.
        frames: of the tracker and of the target; default: those of base and platform.
        measured: components that are measured.
        noise: standard deviations of positions [m], angles [rad] and coordinates.
        seed: of the noise; None for exact values.

    Raises:
        InputError: wrong shapes, numbers out of range, or poses that a leg cannot reach.
    """
    as_instance(machine, "machine", MachineModel)
    names = as_array(measured, "measured").ravel().tolist()
    known = [one_of(name, "measured", COMPONENTS) for name in names]
    if not known:
        raise InputError("measured", f"must be one or more of {', '.join(COMPONENTS)}")
    deviations = as_vector(noise, "noise", 3)
    check_noise(deviations)
    legs, size = LegErrors(machine), 6 - machine.dof
    values = np.zeros(legs.shape) if errors is None else as_floats(errors, "errors")
    if values.shape != legs.shape:
        raise InputError("errors", f"must have shape {legs.shape}, got {values.shape}")
    at, true = np.atleast_2d(as_pose(poses, "poses")), legs_with(legs, values)
    if size:
        at = constrained(true, at, np.zeros((len(at), 6)), np.zeros((len(at), 6)))[0]
    coordinates = geometry(true, at, size).values[:, : machine.n_actuators] - values[:, -1]
    if not np.isfinite(coordinates).all():
        raise InputError("poses", "a leg cannot reach one of them")
    seen = as_instance(Frames() if frames is None else frames, "frames", Frames).measured(at)
    if seed is not None:
        random = np.random.default_rng([whole_number(seed, "seed", 0), STREAM])
        seen = displaced(seen, random.normal(size=(len(at), 6)) * np.repeat(deviations[:2], 3))
        coordinates = coordinates + deviations[2] * random.normal(size=coordinates.shape)
    components = np.hstack([seen[:, :3], angles_from_quaternion(seen[:, 3:])])
    kept = np.where([name in known for name in COMPONENTS], components, np.nan)
    each = np.tile(deviations, (len(at), 1))
    return MeasuredPoses(coordinates, kept, each, np.arange(1.0, len(at) + 1.0), at)
