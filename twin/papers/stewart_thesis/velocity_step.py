"""Velocity steps: in closed form around one equivalent mass, and as the motors' encoders see them.

The closed form is that of

    m v' = Kp (1 + 1/(Ti s)) (v_d - v) - w

with a weight w that the integral does not carry yet at the step. For a setpoint v_d from rest,

    v / v_d = [ (Kp - w / v_d) s + Kp / Ti ] / ( m s^2 + Kp s + Kp / Ti ):

second order with a zero. The weight acts like a smaller gain in the numerator. Where the integral
carries it (w = 0), the loop has two integrators and the integral of the error over time is zero:
the response must overshoot.
"""

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
from twin.kernels.plant import columns as column
from twin.model.machine_base import Model, changed
from twin.model.machine_model import MachineModel, as_model
from twin.model.motions import REST
from twin.plant.plant import Plant

SMALLEST_SPREAD = 1e-7
"""Of the poles per natural frequency: closer ones are moved apart by as much, which changes the
response by its square."""


class HeaveLeg(NamedTuple):
    """Share of one actuator in the vertical motion of the platform at home."""

    mass: float
    """[kg], for cranks [kg m2]"""
    weight: float
    """[N] or [N m] that holds the platform at rest"""


def heave_leg(platform: MachineModel) -> HeaveLeg:
    """Return the share of mass and weight of one actuator in heave at home, without its drive.

    The mass is that of the vertical motion over the sum of the actuators' squared rates; the thesis
    estimates it as the rod and a sixth of the platform.

    Raises:
        InputError: not a machine, or one that cannot rise.
    """
    direction = heave_direction(platform)
    # Speed of the platform per speed of the actuator that moves most.
    speed = 1.0 / float(np.abs(platform.jacobian(platform.home)[:, 2]).max())
    mass = float(platform.mass_matrix(platform.home)[2, 2]) * speed**2
    forces = platform.inverse_dynamics(platform.home, REST, REST)
    return HeaveLeg(
        mass / float(direction @ direction),
        float(forces @ direction) / float(direction @ direction),
    )


def velocity_step_response(
    time: FloatArray,
    mass: float,
    gain: float,
    integral_time: float,
    *,
    weight: float = 0.0,
    size: float = 0.02,
) -> FloatArray:
    """Return the velocity per step `(k,)` at times `(k,)` [s] after the step.

    Args:
        time: `(k,)` [s].
        mass: [kg].
        gain: of the velocity loop [N s/m].
        integral_time: [s].
        weight: [N] that the integral does not carry at the step.
        size: of the step [m/s].
    """
    natural = np.sqrt(gain / integral_time / mass)
    damping = 0.5 * gain / mass
    spread = np.sqrt(complex(damping**2 - natural**2))
    if abs(spread) < SMALLEST_SPREAD * natural:
        spread = complex(SMALLEST_SPREAD * natural)
    poles = np.array([-damping + spread, -damping - spread])
    numerator = np.array([gain - weight / size, gain / integral_time]) / mass
    # Partial fractions of numerator / (s (s - p1) (s - p2)); the one of the pole 0 is 1.
    residues = (numerator[0] * poles + numerator[1]) / (poles * (poles - poles[::-1]))
    return np.asarray(1.0 + (np.exp(time[:, None] * poles) @ residues).real)


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
    direction, size = heave_direction(platform), study.step_size(platform)
    controller = MotorStep(
        platform,
        size * direction,
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
    along = direction / float(direction @ direction) / size
    motors = run.signals["motor_speed"] @ along
    last = np.full(max(0, len(time) - len(motors)), motors[-1])
    return MotorResponse(
        time, np.append(motors, last)[: len(time)], leg_speeds(platform, run) @ along
    )


def with_armature(platform: Model, share: float) -> Model:
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
    return changed(platform, content)
