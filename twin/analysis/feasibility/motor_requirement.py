"""Motor requirement of a task: force or torque, speed and power, and use of the limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.feasibility.course import SAMPLES, motion_course
from twin.analysis.payload.body import Payload, with_payload
from twin.analysis.stiffness.matrix import strut_springs
from twin.basics.arrays import FloatArray
from twin.charts.panels import Axes, Line, columns, legs, panels_figure
from twin.errors import InputError, brief
from twin.model.machine_model import MachineModel, as_model
from twin.model.motions import PlatformMotion
from twin.model.static_deflection import static_deflection
from twin.motion import Motion
from twin.plant.drives import actuator_limit

SAME = 1e-9
"""Relative difference of two legs' peaks that is rounding."""


class Peak(NamedTuple):
    """The largest magnitude of a quantity over a task."""

    value: float
    """signed"""
    leg: int
    """from 1"""
    time: float
    """[s]"""


class MotorRequirement(NamedTuple):
    """Profiles of a task, one row per time; forces [N] or torques [N m]."""

    time: FloatArray
    """`(k,)` [s]"""
    coordinates: FloatArray
    """`(k, n)` [m] or [rad]"""
    rates: FloatArray
    """`(k, n)` [m/s] or [rad/s]"""
    accelerations: FloatArray
    """`(k, n)` [m/s2] or [rad/s2]"""
    forces: FloatArray
    """`(k, n)` along the actuators; of struts: what spring, damper and actuator carry together"""

    @property
    def power(self) -> FloatArray:
        """Mechanical power of every actuator `(k, n)` [W]; negative where it brakes."""
        return self.forces * self.rates

    @property
    def peak_force(self) -> Peak:
        """The largest force [N] or torque [N m]."""
        return _peak(self.time, self.forces)

    @property
    def peak_speed(self) -> Peak:
        """The largest speed [m/s] or [rad/s]."""
        return _peak(self.time, self.rates)

    @property
    def peak_power(self) -> Peak:
        """The largest power [W], driving or braking."""
        return _peak(self.time, self.power)

    @property
    def rms_forces(self) -> FloatArray:
        """Root mean square over the task `(n,)` [N] or [N m]: a measure of their heating."""
        span = self.time[-1] - self.time[0]
        return np.asarray(np.sqrt(np.trapezoid(self.forces**2, self.time, axis=0) / span))

    @property
    def lowest_force(self) -> float:
        """The smallest signed force [N] or [N m]; above zero: every motor only ever pushes."""
        return float(self.forces.min())


class Use(NamedTuple):
    """A required quantity beside the limit of the actuator."""

    name: str
    required: float
    limit: float

    @property
    def share(self) -> float:
        """Required over limit; above 1 the actuator cannot do the task."""
        return self.required / self.limit


def motor_requirement(
    platform: MachineModel, motion: Motion, *, wrench: Any = None, samples: int = SAMPLES
) -> MotorRequirement:
    """Return the requirement of a motion by inverse dynamics.

    Args:
        platform: the machine.
        motion: the task, from `twin.motion`.
        wrench: external, constant `(6,)` in base axes, default none.
        samples: number of times from start to end.

    Raises:
        InputError: not a machine, not a motion, wrong shapes, or a convention whose angles the
            machine cannot have.
        UnreachablePoseError: the motion leads out of reach.
        SingularPoseError: the motion passes a singular pose.
    """
    as_model(platform)
    course = motion_course(platform, motion, samples)
    return requirement_along(platform, course.time, course.motion, wrench)


def requirement_along(
    platform: MachineModel, time: FloatArray, motion: PlatformMotion, wrench: Any = None
) -> MotorRequirement:
    """Return the requirement of a motion that is given at times `(k,)` [s].

    Springs in series with actuators follow without oscillating: the forces are those of inverse
    dynamics with the springs where they do not accelerate, and the actuators make up for them.

    Raises:
        InputError: wrong shapes, or a motion that the machine cannot have.
        UnreachablePoseError: the motion leads out of reach.
        SingularPoseError: the motion passes a singular pose.
        StateError: springs in series find no place to rest.
    """
    pose, twist, acceleration = motion
    jacobian, change = platform.jacobian(pose), platform.jacobian_derivative(pose, twist)
    coordinates = platform.inverse_kinematics(pose)
    rates = np.einsum("kij,kj->ki", jacobian, twist)
    accelerations = np.einsum("kij,kj->ki", jacobian, acceleration)
    accelerations += np.einsum("kij,kj->ki", change, twist)
    deflection = None
    if platform.n_deflections:
        deflection = static_deflection(platform, *motion, wrench)
        _take_off(deflection[:, : platform.n_deflections], time, coordinates, rates, accelerations)
    forces = platform.inverse_dynamics(*motion, wrench, deflection=deflection)
    struts = strut_springs(platform)
    if struts is not None:
        forces += struts.stiffness * (struts.rest - coordinates) - struts.damping * rates
    return MotorRequirement(time, coordinates, rates, accelerations, forces)


def _take_off(yields: FloatArray, time: FloatArray, *derivatives: FloatArray) -> None:
    """Take from coordinates and their derivatives, in place, what springs in series yield."""
    for values in derivatives:
        values -= yields
        moving = len(time) > 1 and time[-1] > time[0]
        yields = np.gradient(yields, time, axis=0) if moving else np.zeros_like(yields)


def payload_sweep(
    platform: MachineModel,
    motion: Motion,
    payloads: Sequence[Payload | None],
    *,
    wrench: Any = None,
    samples: int = SAMPLES,
) -> tuple[MotorRequirement, ...]:
    """Return the requirement of one task under each payload; None is the machine as it is.

    Raises:
        InputError: no payloads, or as `motor_requirement`.
        SingularPoseError: the motion passes a singular pose.
    """
    if not isinstance(payloads, Sequence) or not payloads:
        raise InputError("payloads", "must be a list of Payload or None")
    return tuple(
        motor_requirement(with_payload(platform, payload), motion, wrench=wrench, samples=samples)
        for payload in payloads
    )


def actuator_use(platform: MachineModel, requirement: MotorRequirement) -> tuple[Use, ...]:
    """Return force (or torque) and speed of the leg that comes closest to its limit.

    Limits that the parameters do not give are left out.

    Raises:
        InputError: not a machine, or a requirement with another number of actuators.
    """
    as_model(platform)
    if requirement.forces.shape[-1] != platform.n_actuators:
        raise InputError("requirement", f"must be of {platform.n_actuators} actuators")
    force = "torque" if platform.force_unit == "N m" else "force"
    uses = []
    for name, limit, required in (
        (force, "effort", requirement.forces),
        ("speed", "speed", requirement.rates),
    ):
        largest, limits = np.abs(required).max(axis=0), actuator_limit(platform, limit)
        leg = int((largest / limits).argmax())
        if np.isfinite(limits).any():
            uses.append(Use(f"{name} of leg {leg + 1}", float(largest[leg]), float(limits[leg])))
    return tuple(uses)


def requirement_figure(platform: MachineModel, requirement: MotorRequirement) -> Any:
    """Return a plotly figure of force or torque, speed and power over time, peaks marked.

    Raises:
        InputError: not a machine, not a requirement.
        MissingDependencyError: plotly is not installed.
    """
    length, force = as_model(platform).coordinate_unit, platform.force_unit
    if not isinstance(requirement, MotorRequirement):
        raise InputError("requirement", f"must be a MotorRequirement, not {brief(requirement)}")
    label = "torque" if force == "N m" else "force"
    panels = []
    for title, unit, values, peak in (
        (label, force, requirement.forces, requirement.peak_force),
        ("speed", f"{length}/s", requirement.rates, requirement.peak_speed),
        ("power", "W", requirement.power, requirement.peak_power),
    ):
        lines = columns(requirement.time, values, legs(platform.n_actuators))
        text = f"peak {title} {peak.value:.4g} {unit}, leg {peak.leg}"
        mark = Line(text, np.array([peak.time]), np.array([peak.value]), "markers")
        panels.append(Axes(f"{title} [{unit}]", [*lines, mark]))
    return panels_figure(
        panels, "time [s]", title=f"{platform.name}: motor requirement of the task"
    )


def _peak(time: FloatArray, values: FloatArray) -> Peak:
    sizes = np.abs(values)
    # Legs of a symmetrical machine differ by rounding: the first of them is named.
    first = int((sizes >= (1.0 - SAME) * sizes.max()).argmax())
    row, column = np.unravel_index(first, values.shape)
    return Peak(float(values[row, column]), int(column) + 1, float(time[row]))
