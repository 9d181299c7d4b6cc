"""Velocity steps of a machine with drives, as the encoders on its motors measure them."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from twin.analysis.tuning.steps import (
    VelocityStep,
    VelocityStudy,
    heave_direction,
    leg_speeds,
)
from twin.basics.arrays import FloatArray, positive
from twin.errors import InputError
from twin.kernels.plant import actuation as column
from twin.machine.machine import MachineParameters
from twin.model.machine_model import MachineModel, as_model
from twin.plant.plant import Plant
from twin.simulation.platform import Platform

STUDY = VelocityStudy(carried=True)


class MotorResponse(NamedTuple):
    """Speeds per step after a velocity step, all actuators together."""

    time: FloatArray
    """`(k,)` [s] after the step"""
    motor: FloatArray
    """`(k,)` of the motors, exact; infinite where the machine had to be stopped"""
    leg: FloatArray
    """`(k,)` of the legs behind the transmission"""


class MotorStep(VelocityStep):
    """A velocity step at which the motors' speeds are recorded in every step of the engine."""

    name: ClassVar[str] = "velocity step at the motors"

    plant: Plant

    def signals(self) -> dict[str, FloatArray]:
        """Return the motors' speeds `(n,)`."""
        return {"motor_speed": self.plant.states[:, column.SPEED]}


def motor_response(
    platform: MachineModel, gain: float, integral_time: float, study: VelocityStudy = STUDY
) -> MotorResponse:
    """Return the response of a machine with drives to a velocity step upwards.

    Args:
        platform: the machine, every leg with a drive that has inertia.
        gain: of the velocity loop [N s/m] or [N m s/rad].
        integral_time: [s].
        study: the step and its simulation, default with the weight carried.

    Raises:
        InputError: an argument that cannot be used, or motors without inertia.
    """
    legs = as_model(platform).parameters.legs
    if not all(leg.drive is not None and leg.drive.reflected().inertia > 0.0 for leg in legs):
        raise InputError("platform", "must have drives whose motors have inertia")
    direction = heave_direction(platform)
    controller = MotorStep(
        platform,
        study.size * direction,
        carried=study.carried,
        velocity_gain=gain,
        velocity_time=integral_time,
    )
    # The command is constant: the period changes nothing but the times of the records.
    controller.period = study.timestep
    controller.plant = Plant(platform)
    run = study.simulated(platform, controller, study.duration, controller.plant)
    time, none = study.no_response()
    if run is None or len(run) != len(time):
        return MotorResponse(time, none, none)
    along = direction / float(direction @ direction) / study.size
    motors = run.signals["motor_speed"] @ along
    last = np.full(max(0, len(time) - len(motors)), motors[-1])
    return MotorResponse(
        time, np.append(motors, last)[: len(time)], leg_speeds(platform, run) @ along
    )


def with_armature(platform: MachineModel, share: float) -> Platform:
    """Return a machine on screws whose armatures have `share` of their inertia.

    Raises:
        InputError: a share not above zero, or legs that differ or are not driven by screws.
    """
    part = positive(share, "share")
    content = as_model(platform).parameters.model_dump()
    leg = content.get("leg")
    drive = leg.get("drive") if isinstance(leg, dict) else None
    if not isinstance(drive, dict) or drive.get("kind") != "screw":
        raise InputError("platform", "must have equal legs driven by screws")
    drive["armature_inertia"] *= part
    return Platform(MachineParameters.model_validate(content))
