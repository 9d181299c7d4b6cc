"""Before a fit: units that cannot be right, frames fitted to the file's machine, swapped legs."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.calibration.alignment import aligned
from twin.calibration.frames import Frames
from twin.calibration.gauge import Gauge
from twin.calibration.leg_errors import LegErrors
from twin.calibration.measured import MeasuredPoses
from twin.calibration.measurement_model import FRAME_UNKNOWNS, MeasurementModel
from twin.calibration.residuals import Residuals, differences
from twin.calibration.solution import solve
from twin.errors import InputError
from twin.logs import Channel, Log
from twin.logs.checks.units import unit_findings
from twin.model.machine_model import MachineModel
from twin.rotations import angles_from_quaternion

TIMES = 50.0
"""How many times more or less poses must vary than the legs say for a wrong unit."""

MISFIT = 0.02
"""Distance per mean arm between poses and the file's machine from which legs may be swapped."""

CLEARLY = 5.0
"""How many times smaller it must be with two legs swapped to name them."""


def check_units(machine: MachineModel, poses: MeasuredPoses) -> None:
    """Check that recorded coordinates can be those of the machine.

    Raises:
        InputError: names the unit that would fit.
    """
    units = (machine.coordinate_unit,) * machine.n_actuators
    legs = Channel("coordinates", poses.numbers, poses.coordinates, units)
    for finding in unit_findings(Log((legs,)), machine):
        raise InputError(finding.channel, finding.message)


def only_frames(model: MeasurementModel) -> Gauge:
    """Return the directions of the frames alone, for the machine as in its file."""
    frames = np.arange(model.size) >= model.size - FRAME_UNKNOWNS
    return Gauge(np.eye(model.size)[:, frames & (model.scales > 0.0)], 0)


def fitted_frames(
    machine: MachineModel, poses: MeasuredPoses, free: tuple[bool, bool]
) -> MeasurementModel:
    """Return the model with unknown frames fitted to the machine without errors.

    Raises:
        InputError: coordinates or poses that the machine cannot have, wrong units, swapped legs.
    """
    model = MeasurementModel(LegErrors(machine), None, free)
    arm = machine.parameters.mean_arm
    try:
        platform = model.start(poses)
        frames, misfit = _aligned(platform, poses, free, arm)
    except InputError as error:
        swapped = _swapped_legs(model, poses, free, np.inf)
        raise InputError(error.field, f"{error.message}{swapped}") from None
    if misfit > MISFIT * arm and (swapped := _swapped_legs(model, poses, free, misfit)):
        raise InputError("coordinates", f"do not fit the poses{swapped}")
    _check_scale(platform, poses, arm)
    model = MeasurementModel(model.errors, frames, free)
    found = solve(Residuals(model, poses), only_frames(model), None, robust=True)
    return MeasurementModel(model.errors, model.at(found.unknowns).frames, free)


def _aligned(
    platform: FloatArray, poses: MeasuredPoses, free: tuple[bool, bool], arm: float
) -> tuple[Frames, float]:
    """Return guessed frames and how far [m] measured poses are from platform poses in them."""
    frames = aligned(platform, poses, free)
    return frames, _misfit(frames, platform, poses, arm)


def _misfit(frames: Frames, platform: FloatArray, poses: MeasuredPoses, arm: float) -> float:
    """Return the distance [m] between measured and platform poses, angles times the arm."""
    off = differences(frames.measured(platform), poses) * np.repeat([1.0, arm], 3)
    return float(np.sqrt(np.nanmean(off**2)))


def _swapped_legs(
    model: MeasurementModel, poses: MeasuredPoses, free: tuple[bool, bool], misfit: float
) -> str:
    """Return a hint at two legs whose columns are swapped; empty where there are none."""
    n, arm = model.machine.n_actuators, model.machine.parameters.mean_arm
    best, found = misfit / CLEARLY, ""
    for a, b in combinations(range(n), 2):
        order = np.arange(n)
        order[[a, b]] = b, a
        try:
            now = _aligned(model.start(poses.with_legs(order)), poses, free, arm)[1]
        except InputError:
            continue
        if now < min(best, MISFIT * arm):
            best, found = now, f"; the columns of legs {a + 1} and {b + 1} seem to be swapped"
    return found


def _check_scale(platform: FloatArray, poses: MeasuredPoses, arm: float) -> None:
    """Check that places and angles vary about as much as the legs say.

    Raises:
        InputError: they do not, so that a unit must be wrong.
    """
    place, turn = _spread(platform[:, :3]), _spread(angles_from_quaternion(platform[:, 3:]))
    here, there = poses.values[:, :3], poses.values[:, 3:]
    for name, values, expected in (("position", here, place + arm * turn), ("angles", there, turn)):
        found = _spread(values[np.isfinite(values).all(axis=1)])
        if found and not expected / TIMES < found < TIMES * expected:
            message = f"vary by {found:.3g}, the coordinates of the legs say {expected:.3g}"
            raise InputError(name, f"{message} (SI units); check units and what belongs together")


def _spread(values: FloatArray) -> float:
    """Return the root of the summed variances of columns; 0 of fewer than three rows."""
    return float(np.sqrt(values.var(axis=0).sum())) if len(values) > 2 else 0.0
