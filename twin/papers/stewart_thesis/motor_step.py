"""Velocity steps of a machine with drives, as the encoders on its motors see them."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from twin.analysis.tuning.tuning import instants, no_response
from twin.analysis.tuning.velocity_step import (
    DURATION,
    SIZE,
    TIMESTEP,
    VelocityStep,
    heave_direction,
)
from twin.basics.arrays import FloatArray, positive
from twin.errors import InputError, SimulationStoppedError
from twin.kernels.plant import actuation as column
from twin.machine.machine import MachineParameters
from twin.model.machine_model import MachineModel, as_model
from twin.plant.plant import Plant
from twin.simulation.platform import Platform
from twin.simulation.simulate import simulate


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

    def __init__(
        self, platform: MachineModel, setpoint: FloatArray, plant: Plant, step: float, **gains: Any
    ) -> None:
        """Describe the step.

        Args:
            platform: the machine, at home.
            setpoint: `(n,)` [m/s, rad/s].
            plant: its drives, as they are simulated.
            step: of the engine [s].
            gains: as those of `VelocityStep`.

        Raises:
            InputError: gains that are not above zero.
        """
        super().__init__(platform, setpoint, carried=True, **gains)
        # The setpoint is constant: the control period changes only the recorded samples.
        self.period = positive(step, "step")
        self._plant = plant

    def signals(self) -> dict[str, FloatArray]:
        """Return the motors' speeds `(n,)`."""
        return {"motor_speed": self._plant.states[:, column.SPEED]}


def motor_response(
    platform: MachineModel,
    gain: float,
    integral_time: float,
    *,
    size: float = SIZE,
    timestep: float = TIMESTEP,
) -> MotorResponse:
    """Return the response of a machine with drives to a velocity step upwards, weight carried.

    Args:
        platform: the machine, every leg with a drive that has inertia.
        gain: of the velocity loop [N s/m] or [N m s/rad].
        integral_time: [s].
        size: of the step [m/s] or [rad/s].
        timestep: of the engine [s].

    Raises:
        InputError: an argument that cannot be used, or motors without inertia.
    """
    legs = as_model(platform).parameters.legs
    if not all(leg.drive is not None and leg.drive.reflected().inertia > 0.0 for leg in legs):
        raise InputError("platform", "must have drives whose motors have inertia")
    direction, speed = heave_direction(platform), positive(size, "size")
    plant = Plant(platform)
    controller = MotorStep(
        platform,
        speed * direction,
        plant,
        timestep,
        velocity_gain=gain,
        velocity_time=integral_time,
    )
    time = instants(DURATION, timestep)
    try:
        run = simulate(
            platform,
            DURATION,
            controller=controller,
            plant=plant,
            fidelity="accurate",
            timestep=timestep,
            progress=False,
        )
    except SimulationStoppedError:
        return MotorResponse(time, no_response(time), no_response(time))
    if run.stopped or len(run) != len(time):
        return MotorResponse(time, no_response(time), no_response(time))
    along = direction / float(direction @ direction) / speed
    springs = run.deflection[:, platform.n_deflections :] if platform.n_deflections else 0.0
    motors = run.signals["motor_speed"] @ along
    last = np.full(max(0, len(time) - len(motors)), motors[-1])
    return MotorResponse(
        time, np.append(motors, last)[: len(time)], np.asarray((run.rates - springs) @ along)
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
