"""Margins of the actuators: stroke, speed, acceleration, force or torque, its mean, and power."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from twin.analysis.feasibility.course import Course
from twin.analysis.feasibility.internal_forces import shared_loads
from twin.analysis.feasibility.margin import Quantity, amount, factor
from twin.analysis.feasibility.motor_requirement import MotorRequirement
from twin.basics.arrays import FloatArray
from twin.model.machine_model import MachineModel
from twin.plant.drives import actuator_limit

LEAST = 1e-9
"""Part of a stepper's torque that counts as left at its top speed."""


class ActuatorTask:
    """Requirement of a course on the actuators of a machine, and their limits.

    Attributes:
        needed: the requirement; forces include what drives need for themselves.
        shared: whether other internal forces than the smallest were taken to keep the limits.
    """

    def __init__(
        self, platform: MachineModel, course: Course, needed: MotorRequirement, rest: Resting
    ) -> None:
        """Add the drives' own forces, and share the loads of a redundant machine.

        Args:
            platform: the machine.
            course: the task.
            needed: its requirement.
            rest: a function of a row that returns the forces `(n,)` at rest at its pose.
        """
        self.platform, self.course, self._rest = platform, course, rest
        drives = [leg.drive for leg in platform.parameters.legs]
        seen = [None if drive is None else drive.reflected() for drive in drives]
        own = np.array([(d.inertia, d.viscous, d.friction) if d else (0.0,) * 3 for d in seen])
        forces = needed.forces + own[:, 0] * needed.accelerations + own[:, 1] * needed.rates
        # Friction of a drive at rest helps to hold; it is left out.
        forces += own[:, 2] * np.sign(needed.rates)
        positioning = [None if drive is None else drive.positioning() for drive in drives]
        top = np.array([np.inf if found is None else found.top_speed for found in positioning])
        self._fastest = np.minimum(actuator_limit(platform, "speed"), top)
        effort = actuator_limit(platform, "effort")
        peaks = [d.peak if d and d.peak else e for d, e in zip(seen, effort, strict=True)]
        # The torque of a stepper falls with its speed; that of a servo is part of its viscous loss.
        falling = np.array([found is not None and found.stepper for found in positioning])
        left = np.where(falling, 1.0 - np.abs(needed.rates) / top, 1.0)
        self._peak = np.array(peaks) * np.maximum(left, LEAST)
        self._lasting = actuator_limit(platform, "continuous_effort")
        smallest = forces
        forces, self.shared = shared_loads(platform, course.motion.pose, forces, self._peak)
        self.needed = needed._replace(forces=forces)
        self._smallest = smallest
        self._legs = [(i + 1,) for i in range(platform.n_actuators)]
        self._noun = "torque" if platform.force_unit == "N m" else "force"

    def quantities(self) -> Iterator[Quantity]:
        """Yield the quantities of which a limit is given for at least one leg."""
        yield from self._strokes()
        unit, needed = self.platform.coordinate_unit, self.needed
        power = actuator_limit(self.platform, "power")
        force = (self._noun, self.platform.force_unit)
        yield from self._limited(*force, needed.forces, self._force_remedy, self._peak)
        yield from self._lasting_force()
        if self.course.places:
            return  # nothing moves
        speed = ("speed", f"{unit}/s", needed.rates, self._speed_remedy)
        yield from self._limited(*speed, self._fastest)
        acceleration = ("acceleration", f"{unit}/s2", needed.accelerations)
        yield from self._limited(*acceleration, self._acceleration_remedy)
        yield from self._limited("power", "W", needed.power, self._power_remedy, power)

    def missing(self) -> list[str]:
        """Return the limits that the file does not give, as fields of its tables."""
        fields = {self._noun: self._peak[0]}
        if not self.course.places:
            fields["speed"] = self._fastest
            fields |= {n: actuator_limit(self.platform, n) for n in ("acceleration", "power")}
        missing = []
        for name, limits in fields.items():
            lacking = [i + 1 for i, limit in enumerate(limits) if not np.isfinite(limit)]
            if lacking:
                all_legs = len(lacking) == len(limits)
                of = "" if all_legs else f" of legs {', '.join(map(str, lacking))}"
                missing.append(f"{name} of the actuators{of}")
        return missing

    def _limited(
        self,
        name: str,
        unit: str,
        values: FloatArray,
        remedy: Callable[[int, int], str],
        limits: FloatArray | None = None,
    ) -> Iterator[Quantity]:
        known = actuator_limit(self.platform, name) if limits is None else limits
        if np.isfinite(known).any():
            bound = np.broadcast_to(known, values.shape)
            yield Quantity(name, unit, values, bound, np.abs(values) / bound, self._legs, remedy)

    def _strokes(self) -> Iterator[Quantity]:
        values = self.needed.coordinates
        low, high = self.platform.minimum_coordinates, self.platform.maximum_coordinates
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        for end, limit, side in (("lower", low, -1.0), ("upper", high, 1.0)):
            share = np.maximum(side * (values - middle) / half, 0.0)
            bound = np.broadcast_to(limit, values.shape)

            def remedy(row: int, leg: int, limit: FloatArray = limit, side: float = side) -> str:
                return self._stroke_remedy(row, leg, float(limit[leg]), side)

            unit = self.platform.coordinate_unit
            name, least = f"stroke, {end} end", side < 0
            yield Quantity(name, unit, values, bound, share, self._legs, remedy, least)

    def _lasting_force(self) -> Iterator[Quantity]:
        """Yield the root mean square over a motion; at rest, the force of every pose."""
        course, forces, limits = self.course, self._smallest, self._lasting
        resting = bool(course.places)
        if resting and np.array_equal(limits, self._peak[0]):
            return  # the same margin as that of the force
        means = np.abs(forces)
        if not resting and len(course.time) > 1:
            span = course.time[-1] - course.time[0]
            mean = np.sqrt(np.trapezoid(forces**2, course.time, axis=0) / span)
            means = np.broadcast_to(mean, forces.shape)
        if np.isfinite(limits).any():
            bound = np.broadcast_to(limits, means.shape)
            yield Quantity(
                f"continuous {self._noun}",
                self.platform.force_unit,
                means,
                bound,
                means / bound,
                self._legs,
                self._lasting_remedy,
                whole=not resting,
            )

    def _stroke_remedy(self, row: int, leg: int, limit: float, side: float) -> str:
        unit, leg_kind = self.platform.coordinate_unit, self.platform.leg
        value = float(self.needed.coordinates[row, leg])
        beyond = amount(side * (value - limit), unit)
        home = float(self.platform.home_coordinates[leg])
        text = (
            f"The {leg_kind.coordinate} of leg {leg + 1} would be {amount(value, unit)} "
            f"({self.course.place(row)}), its actuator ends at {amount(limit, unit)}: {beyond} "
            f"{'too short' if side > 0 else 'too long'}. "
        )
        part = (limit - home) / (value - home) if value != home else 0.0
        if 0.0 < part < 1.0:
            text += (
                f"Make the motion about {factor(1.0 / part)} times smaller, move its middle, or "
            )
        else:
            text += "Move the pose, or "
        return text + f"take actuators that reach {amount(value, unit)}."

    def _compared(self, row: int, leg: int, value: float, limit: float, unit: str) -> str:
        where = "" if not self.course.places else f" at rest ({self.course.places[row]})"
        when = where or f" at {self.course.place(row)}"
        return (
            f"Leg {leg + 1} needs {amount(abs(value), unit)}{when}, its actuator gives "
            f"{amount(limit, unit)}: {factor(abs(value) / limit)} times too "
        )

    def _speed_remedy(self, row: int, leg: int) -> str:
        value = float(self.needed.rates[row, leg])
        limit = float(self._fastest[leg])
        times = factor(abs(value) / limit)
        unit = f"{self.platform.coordinate_unit}/s"
        return self._compared(row, leg, value, limit, unit) + (
            f"slow. Make the motion {times} times longer in time or {times} times smaller."
        )

    def _acceleration_remedy(self, row: int, leg: int) -> str:
        value = float(self.needed.accelerations[row, leg])
        limit = float(actuator_limit(self.platform, "acceleration")[leg])
        times = abs(value) / limit
        unit = f"{self.platform.coordinate_unit}/s2"
        return self._compared(row, leg, value, limit, unit) + (
            f"little. Make the motion {factor(np.sqrt(times))} times longer in time or "
            f"{factor(times)} times smaller."
        )

    def _power_remedy(self, row: int, leg: int) -> str:
        value = float(self.needed.power[row, leg])
        limit = float(actuator_limit(self.platform, "power")[leg])
        return self._compared(row, leg, value, limit, "W") + (
            f"little. Make the motion {factor(abs(value) / limit)} times longer in time, or "
            "lighten the load."
        )

    def _force_remedy(self, row: int, leg: int) -> str:
        value, limit = float(self.needed.forces[row, leg]), float(self._peak[row, leg])
        unit, times = self.platform.force_unit, abs(value) / limit
        text = self._compared(row, leg, value, limit, unit) + "little. "
        stronger = f"take actuators of at least {amount(abs(value), unit)}"
        if self.platform.n_actuators > self.platform.dof:
            text += "No internal force of the redundant legs keeps the limits. "
        if self.course.places:
            return text + (
                f"Either {stronger}, or make platform, payload and legs together "
                f"{factor(times)} times lighter."
            )
        held = abs(float(self._rest(row)[leg]))
        if held >= limit:
            return text + (
                f"Holding this pose at rest needs {amount(held, unit)} alone: {stronger}, or "
                "lighten the load."
            )
        part = (limit - held) / (abs(value) - held)
        return text + (
            f"At rest it needs {amount(held, unit)} there: accelerate at most {part:.2g} times "
            f"as much (a motion {factor(np.sqrt(1.0 / part))} times longer in time), or {stronger}."
        )

    def _lasting_remedy(self, row: int, leg: int) -> str:
        forces = self._smallest[:, leg]
        limit = float(self._lasting[leg])
        value = abs(float(forces[row]))
        where = f"at rest ({self.course.place(row)})"
        if not self.course.places:
            span = self.course.time[-1] - self.course.time[0]
            value = float(np.sqrt(np.trapezoid(forces**2, self.course.time) / span))
            where = "in root mean square over the motion"
        unit = self.platform.force_unit
        return (
            f"Leg {leg + 1} needs {amount(value, unit)} {where}, its actuator gives "
            f"{amount(limit, unit)} continuously: it overheats, {factor(value / limit)} times too "
            "much. Pause between motions, lighten the load, or take actuators of at least "
            f"{amount(value, unit)} continuously."
        )


Resting = Callable[[int], FloatArray]
"""Function of a row that returns the forces `(n,)` [N], [N m] at rest at its pose."""
