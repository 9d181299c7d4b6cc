"""Margins of the actuators: stroke, speed, acceleration, force or torque, its mean, and power."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.feasibility.course import (
    DEFAULT_SAMPLES,
    Course,
    Quantity,
    motion_course,
)
from twin.analysis.payload.body import Payload, with_payload
from twin.analysis.stiffness import strut_springs
from twin.basics.arrays import FloatArray
from twin.control.cascade import internal_forces
from twin.errors import InputError
from twin.model.integrate import static_deflection
from twin.model.machine_base import PlatformMotion
from twin.model.machine_model import MachineModel, actuator_derivatives, as_model
from twin.motion import Motion
from twin.plant.drives import actuator_limit

PEAK_TOLERANCE = 1e-9
"""Relative difference of two legs' peaks that counts as rounding error."""

MIN_TORQUE_FRACTION = 1e-9
"""Smallest torque fraction of a stepper, which keeps the ratio finite at its top speed."""


def shared_loads(
    platform: MachineModel, poses: FloatArray, forces: FloatArray, limits: FloatArray
) -> tuple[FloatArray, bool]:
    """Return forces `(k, n)` with the least limit fractions, and whether any were changed.

    The forces f + N x act alike on the platform, with N the forces that hold each other without
    moving it. Only rows in which forces of smallest norm exceed a limit are changed: the linear
    program min t, |f + N x| <= t limits, gives the smallest limit fraction t of each.

    Args:
        platform: the machine.
        poses: `(k, 7)`.
        forces: `(k, n)` of smallest norm [N] or [N m].
        limits: `(k, n)`, infinite where there is none.
    """
    redundancy = platform.n_actuators - platform.dof
    fractions = (np.abs(forces) / limits).max(axis=1)
    rows = np.flatnonzero(fractions > 1.0)
    if not redundancy or not len(rows):
        return forces, False
    shared_forces = forces.copy()
    for row, internal in zip(rows, internal_forces(platform, poses[rows]), strict=True):
        shared_forces[row] += internal @ _least_loading(forces[row], internal, limits[row])
    return shared_forces, True


def _least_loading(forces: FloatArray, internal: FloatArray, limits: FloatArray) -> FloatArray:
    """Return internal force components `(n - dof,)` that minimise the largest limit fraction."""
    from scipy.optimize import linprog

    bounded = np.isfinite(limits)
    scaled_internal = internal[bounded] / limits[bounded, None]
    scaled_forces = forces[bounded] / limits[bounded]
    column = -np.ones((len(scaled_forces), 1))
    matrix = np.block([[scaled_internal, column], [-scaled_internal, column]])
    bounds_vector = np.concatenate([-scaled_forces, scaled_forces])
    cost = np.zeros(internal.shape[1] + 1)
    cost[-1] = 1.0
    solution = linprog(
        cost, matrix, bounds_vector, bounds=[(None, None)] * len(cost), method="highs"
    )
    return solution.x[:-1] if solution.success else np.zeros(internal.shape[1])


class Peak(NamedTuple):
    """The largest magnitude of a quantity over a task."""

    value: float
    """signed value in the unit of the quantity"""
    leg: int
    """number of the leg, from 1"""
    time: float
    """time of the peak [s]"""


class LegRequirement(NamedTuple):
    """Requirement of a task on one actuator, in SI units; peaks come with their row in the task."""

    leg: int
    """number, from 1"""
    peak_force: float
    """[N] or [N m], signed"""
    peak_force_row: int
    rms_force: float
    """[N] or [N m] root mean square over time; of poses at rest, over the poses"""
    peak_speed: float
    """[m/s] or [rad/s], signed"""
    peak_speed_row: int
    peak_power: float
    """[W], negative where it brakes"""
    peak_power_row: int
    energy: float
    """[J] mechanical work while driving; energy regained while braking is not subtracted"""


class MotorRequirement(NamedTuple):
    """Profiles of a task, one row per time; forces [N] or torques [N m].

    Of struts, whose limits hold for spring, damper and actuator together, those of the whole strut.
    """

    time: FloatArray
    """times `(k,)` [s]"""
    coordinates: FloatArray
    """actuator coordinates `(k, n)` [m] or [rad]"""
    rates: FloatArray
    """actuator rates `(k, n)` [m/s] or [rad/s]"""
    accelerations: FloatArray
    """actuator accelerations `(k, n)` [m/s2] or [rad/s2]"""
    forces: FloatArray
    """`(k, n)` along the actuators; of struts the whole axial force"""

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
        duration = self.time[-1] - self.time[0]
        return np.asarray(np.sqrt(np.trapezoid(self.forces**2, self.time, axis=0) / duration))

    @property
    def legs(self) -> tuple[LegRequirement, ...]:
        """Requirement on each actuator."""
        power, moves = self.power, self.time[-1] > self.time[0]
        rms = self.rms_forces if moves else np.sqrt((self.forces**2).mean(axis=0))
        energy = np.trapezoid(np.maximum(power, 0.0), self.time, axis=0)
        legs = []
        for i in range(self.forces.shape[1]):
            numbers: list[Any] = [i + 1]
            for values in (self.forces, self.rates, power):
                row, _ = _first_peak(values[:, i : i + 1])
                numbers += [float(values[row, i]), row]
            numbers.insert(3, float(rms[i]))
            numbers.append(float(energy[i]))
            legs.append(LegRequirement(*numbers))
        return tuple(legs)

    @property
    def lowest_force(self) -> float:
        """The smallest signed force [N] or [N m]; above zero: every motor only ever pushes."""
        return float(self.forces.min())


def motor_requirement(
    platform: MachineModel, motion: Motion, *, wrench: Any = None, samples: int = DEFAULT_SAMPLES
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

    Springs in series with actuators are taken to follow without oscillating: the forces are those
    of inverse dynamics with springs that do not accelerate, and actuators compensate deflections.

    Raises:
        InputError: wrong shapes, or a motion that the machine cannot have.
        UnreachablePoseError: the motion leads out of reach.
        SingularPoseError: the motion passes a singular pose.
        StateError: springs in series find no place to rest.
    """
    coordinates = platform.inverse_kinematics(motion.pose)
    rates, accelerations = actuator_derivatives(platform, *motion)
    deflection, n = None, platform.n_deflections
    if n:
        deflection = static_deflection(platform, *motion, wrench)
        _subtract_deflections(deflection[:, :n], time, coordinates, rates, accelerations)
    forces = platform.inverse_dynamics(*motion, wrench, deflection=deflection)
    struts = strut_springs(platform)
    if struts is not None:
        forces += struts.stiffness * (struts.rest - coordinates) - struts.damping * rates
    return MotorRequirement(time, coordinates, rates, accelerations, forces)


def _subtract_deflections(
    deflections: FloatArray, time: FloatArray, *derivatives: FloatArray
) -> None:
    """Subtract deflections of springs in series from coordinates and derivatives, in place."""
    for values in derivatives:
        values -= deflections
        is_moving = len(time) > 1 and time[-1] > time[0]
        deflections = (
            np.gradient(deflections, time, axis=0) if is_moving else np.zeros_like(deflections)
        )


def payload_sweep(
    platform: MachineModel,
    motion: Motion,
    payloads: Sequence[Payload | None],
    *,
    samples: int = DEFAULT_SAMPLES,
) -> tuple[MotorRequirement, ...]:
    """Return the requirement of one task under each payload; None is the machine as it is.

    Raises:
        InputError: no payloads, or as `motor_requirement`.
        SingularPoseError: the motion passes a singular pose.
    """
    if not isinstance(payloads, Sequence) or not payloads:
        raise InputError("payloads", "must be a list of Payload or None")
    return tuple(
        motor_requirement(with_payload(platform, payload), motion, samples=samples)
        for payload in payloads
    )


def _peak(time: FloatArray, values: FloatArray) -> Peak:
    row, column = _first_peak(values)
    return Peak(float(values[row, column]), column + 1, float(time[row]))


def _first_peak(values: FloatArray) -> tuple[int, int]:
    """Return row and column of the largest magnitude; the first where others differ by rounding."""
    magnitudes = np.abs(values)
    first_peak = int((magnitudes >= (1.0 - PEAK_TOLERANCE) * magnitudes.max()).argmax())
    row, column = divmod(first_peak, values.shape[1])
    return row, column


class ActuatorTask:
    """Requirement of a course on the actuators of a machine, and their limits.

    Attributes:
        needed: the requirement; forces include what drives need for themselves.
        shared: whether the internal forces were changed from those of least norm to keep the
            limits.
    """

    def __init__(self, platform: MachineModel, course: Course, needed: MotorRequirement) -> None:
        """Add the drives' own forces, and redistribute the loads of a redundant machine."""
        self.platform, self.course = platform, course
        drives = platform.parameters.drives
        reflected = [None if drive is None else drive.reflected() for drive in drives]
        inertia, viscous, friction = np.array(
            [(d.inertia, d.viscous, d.friction) if d else (0.0,) * 3 for d in reflected]
        ).T
        forces = needed.forces + inertia * needed.accelerations + viscous * needed.rates
        # Friction of a drive at rest helps to hold; it is left out.
        forces += friction * np.sign(needed.rates)
        positioning = [None if drive is None else drive.positioning() for drive in drives]
        top_speeds = np.array([np.inf if loop is None else loop.top_speed for loop in positioning])
        self._speed_limits = np.minimum(actuator_limit(platform, "speed"), top_speeds)
        effort = actuator_limit(platform, "effort")
        peaks = [d.peak if d and d.peak else e for d, e in zip(reflected, effort, strict=True)]
        # The torque of a stepper falls with its speed; that of a servo is part of its viscous loss.
        is_stepper = np.array([loop is not None and loop.stepper for loop in positioning])
        torque_fraction = np.where(is_stepper, 1.0 - np.abs(needed.rates) / top_speeds, 1.0)
        self._force_limits = np.array(peaks) * np.maximum(torque_fraction, MIN_TORQUE_FRACTION)
        self._least_norm = needed._replace(forces=forces)
        forces, self.shared = shared_loads(platform, course.motion.pose, forces, self._force_limits)
        self.needed = needed._replace(forces=forces)
        self._legs = [(i + 1,) for i in range(platform.n_actuators)]
        self._noun = "torque" if platform.force_unit == "N m" else "force"

    def quantities(self) -> Iterator[Quantity]:
        """Yield the quantities of which a limit is given for at least one leg."""
        yield from self._strokes()
        unit, needed = self.platform.coordinate_unit, self.needed
        force = (self._noun, self.platform.force_unit, needed.forces, self._force_limits)
        yield from self._limited(*force, "force at rest" if self.course.pose_names else "force")
        yield from self._lasting_force()
        if self.course.pose_names:
            return  # nothing moves
        yield from self._limited("speed", f"{unit}/s", needed.rates, self._speed_limits)
        yield from self._limited("acceleration", f"{unit}/s2", needed.accelerations)
        yield from self._limited("power", "W", needed.power)

    def missing(self) -> list[str]:
        """Return the limits that the file does not give, as fields of its tables."""
        fields = {self._noun: self._force_limits[0]}
        if not self.course.pose_names:
            fields["speed"] = self._speed_limits
            fields |= {n: actuator_limit(self.platform, n) for n in ("acceleration", "power")}
        missing = []
        for name, limits in fields.items():
            lacking = [i + 1 for i, limit in enumerate(limits) if not np.isfinite(limit)]
            if lacking:
                all_legs = len(lacking) == len(limits)
                of_legs = "" if all_legs else f" of legs {', '.join(map(str, lacking))}"
                missing.append(f"{name} of the actuators{of_legs}")
        return missing

    def _limited(
        self,
        name: str,
        unit: str,
        values: FloatArray,
        limits: FloatArray | None = None,
        recommendation: str = "",
    ) -> Iterator[Quantity]:
        """Yield a quantity `(k, n)` if any leg has a limit, by default the machine's own."""
        given_limits = actuator_limit(self.platform, name) if limits is None else limits
        if np.isfinite(given_limits).any():
            bound, key = np.broadcast_to(given_limits, values.shape), recommendation or name
            yield Quantity(name, unit, values, bound, np.abs(values) / bound, self._legs, key)

    def _strokes(self) -> Iterator[Quantity]:
        values = self.needed.coordinates
        low, high = self.platform.minimum_coordinates, self.platform.maximum_coordinates
        middle, half_stroke = 0.5 * (low + high), 0.5 * (high - low)
        for end_name, limit, sign in (("lower", low, -1.0), ("upper", high, 1.0)):
            yield Quantity(
                f"stroke, {end_name} end",
                self.platform.coordinate_unit,
                values,
                np.broadcast_to(limit, values.shape),
                np.maximum(sign * (values - middle) / half_stroke, 0.0),
                self._legs,
                "stroke",
                at_least=sign < 0,
            )

    def _lasting_force(self) -> Iterator[Quantity]:
        """Yield the root mean square over a motion; at rest, the force of every pose."""
        forces = np.abs(self._least_norm.forces)
        limits = actuator_limit(self.platform, "continuous_effort")
        is_at_rest = bool(self.course.pose_names)
        if is_at_rest and np.array_equal(limits, self._force_limits[0]):
            return  # the same margin as that of the force
        if not is_at_rest and len(forces) > 1:
            forces = np.broadcast_to(self._least_norm.rms_forces, forces.shape)
        name, unit = f"continuous {self._noun}", self.platform.force_unit
        for quantity in self._limited(name, unit, forces, limits, "continuous force"):
            yield quantity._replace(over_motion=not is_at_rest)
