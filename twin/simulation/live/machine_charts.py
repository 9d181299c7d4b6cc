"""The charts of a running machine, and their values at one instant.

A history keeps the rows of the last seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, quaternion_product, read_only
from twin.charts.panels import legs
from twin.errors import TwinError
from twin.model.engine import State
from twin.model.machine_model import MachineModel
from twin.plant.drives import actuator_limit
from twin.rotations import angle_between, angles_from_quaternion
from twin.simulation.live.steering import Axes


class Chart(NamedTuple):
    """One chart: curves over time with a common unit."""

    name: str
    """name under which the history keeps the chart's values"""
    title: str
    """title as shown, without the unit"""
    unit: str
    """unit of the numbers shown"""
    series: tuple[str, ...]
    """names of the curves, in the order of the values"""
    scale: float = 1.0
    """factor from the stored SI value to the number shown"""
    setpoint: tuple[str, ...] = ()
    """names of the curves of setpoints, drawn dashed; the k-th has the
    colour of the k-th measured one"""
    limits: tuple[float, ...] = ()
    """values [SI] at which a horizontal limit line is drawn"""
    logarithmic: bool = False
    min_extent: float = 0.0
    """smallest distance from zero [SI] that the vertical axis covers, so that noise does not fill
    the chart; 0 where curves do not rest at zero"""


class History:
    """A ring of rows, as many as `capacity`; older ones are overwritten.

    Attributes:
        charts: charts whose values are kept.
        capacity: number of rows that are kept.
        changes: number of changes so far: appended rows, including overwritten ones, and clearings.
    """

    def __init__(self, charts: Sequence[Chart], capacity: int) -> None:
        """Make room for `capacity` rows of the `charts`."""
        self.charts = tuple(charts)
        self.capacity = capacity
        self._time = np.full(capacity, np.nan)
        self._values = {
            chart.name: np.full((capacity, len(chart.series)), np.nan) for chart in self.charts
        }
        self._count = self.changes = 0

    def __len__(self) -> int:
        return min(self._count, self.capacity)

    def append(self, time: float, values: Mapping[str, Any]) -> None:
        """Keep one row: `values` by the charts' names, one number per curve, SI units.

        A chart without values in this row gets a gap.
        """
        slot = self._count % self.capacity
        self._time[slot] = time
        for name, history in self._values.items():
            history[slot] = values.get(name, np.nan)
        self._count += 1
        self.changes += 1

    def clear(self) -> None:
        """Forget all rows."""
        self._count = 0
        self.changes += 1

    def time(self) -> FloatArray:
        """Return the times `(k,)` [s], the oldest first."""
        return oldest_first(self._time, self._count)

    def values(self, name: str) -> FloatArray:
        """Return the values `(k, curves)` of a chart, the oldest row first."""
        return oldest_first(self._values[name], self._count)


def oldest_first(ring: FloatArray, count: int) -> FloatArray:
    """Return the rows of a ring into which `count` rows were put, the oldest first."""
    if count <= len(ring):
        return ring[:count].copy()
    return np.roll(ring, -(count % len(ring)), axis=0)


class ActuatorLimits(NamedTuple):
    """Limits of each actuator, infinite where none is known. Read-only arrays."""

    low: FloatArray
    """`(n,)` smallest coordinates [m, rad]"""
    high: FloatArray
    """`(n,)` largest"""
    speed: FloatArray
    """`(n,)` largest rates [m/s, rad/s]"""
    force: FloatArray
    """`(n,)` largest forces [N, N m], of actuators and drives"""

    def stroke_margin(self, lengths: FloatArray) -> FloatArray:
        """Return the distance `(n,)` to the nearer end of the stroke: 1 in the middle, 0 at an end.

        Args:
            lengths: `(n,)` actuator coordinates [m, rad].
        """
        remaining_stroke = np.minimum(lengths - self.low, self.high - lengths)
        return np.clip(2.0 * remaining_stroke / (self.high - self.low), 0.0, 1.0)

    def stroke(self, lengths: FloatArray) -> FloatArray:
        """Return positions within the strokes `(n,)`: 0 at the lower end, 1 at the upper end."""
        return (lengths - self.low) / (self.high - self.low)

    def utilisation(self, forces: FloatArray) -> FloatArray:
        """Return forces `(n,)` as fractions of their limits; NaN where no limit is known."""
        return np.where(np.isfinite(self.force), np.abs(forces) / self.force, np.nan)


def actuator_limits(platform: MachineModel) -> ActuatorLimits:
    """Return the limits of a machine's actuators."""
    forces = []
    for leg in platform.parameters.legs:
        limits = [leg.actuator.effort, None if leg.drive is None else leg.drive.reflected().peak]
        forces.append(min((value for value in limits if value is not None), default=inf))
    ends = (platform.minimum_coordinates, platform.maximum_coordinates)
    return ActuatorLimits(*map(read_only, (*ends, actuator_limit(platform, "speed"), forces)))


MICRO_SCALE = 1e6
"""Micrometres in a metre, microradians in a radian."""

NANO_SCALE = 1e9
"""Nanometres in a metre."""

MIN_CHART_RANGE = 1e-3
"""[m, rad, per s] Smallest range of a chart."""


class MachineCharts:
    """Charts of a machine that is driven along a reference.

    Attributes:
        charts: setpoint and measured axes, lengths, speeds and forces with their limits, energy.
        limits: limits of the actuators.
    """

    def __init__(self, axes: Axes) -> None:
        """Describe the charts of the machine with these `axes`."""
        self._platform, self._axes = axes.platform, axes
        self.limits = actuator_limits(self._platform)
        names = [axes.names[k] for k in axes.shown]
        self._linear = [k for k in axes.shown if k < 3]
        self._angles = [k for k in axes.shown if k >= 3]
        n_linear = len(self._linear)
        self.charts = (
            _axes_chart("position", "Position from home", "mm", 1e3, names[:n_linear]),
            _axes_chart("rotation", "Rotation from home", "deg", 180.0 / np.pi, names[n_linear:]),
            *_actuator_charts(self._platform, self.limits),
            Chart("energy", "Energy", "J", ("kinetic", "potential", "total")),
        )

    def values(
        self, state: State, setpoint: FloatArray | None, forces: FloatArray
    ) -> dict[str, FloatArray]:
        """Return the charts' values.

        Args:
            state: state of the machine.
            setpoint: `(7,)` pose; None without a reference.
            forces: `(n,)` forces on the legs.
        """
        pose, twist, _ = self._platform.constrain(state.pose, state.twist)
        measured = self._displacement(pose)
        no_setpoints = np.full_like(measured, np.nan)
        setpoints = no_setpoints if setpoint is None else self._displacement(setpoint)
        axes = np.array([setpoints, measured])
        return {
            "position": axes[:, self._linear].ravel(),
            "rotation": axes[:, self._angles].ravel(),
            "lengths": state.lengths,
            "speeds": state.rates,
            "forces": forces,
            "energy": self._energy(pose, twist, state.deflection),
        }

    def _displacement(self, pose: FloatArray) -> FloatArray:
        """Return a pose `(7,)` as axes `(k,)` from home [m], [rad]."""
        home = self._platform.home
        conjugate = home[None, 3:] * [1.0, -1.0, -1.0, -1.0]
        rotation = quaternion_product(pose[None, 3:], conjugate)[0]
        angles = angles_from_quaternion(rotation / np.linalg.norm(rotation), self._axes.convention)
        return np.concatenate([pose[:3] - home[:3], angles])

    def _energy(self, pose: FloatArray, twist: FloatArray, deflection: FloatArray) -> FloatArray:
        try:
            kinetic, potential = self._platform.energy(pose, twist, deflection=deflection)
        except TwinError:  # an engine has left the poses that the legs can reach
            return np.full(3, np.nan)
        return np.array([kinetic, potential, kinetic + potential], dtype=float)


LOOP_GAP = Chart(
    "loop_gap", "Loop gap", "nm", ("engine", "second engine"), NANO_SCALE, logarithmic=True
)
REAL_TIME = Chart("real_time", "Real-time factor", "", ("factor",), limits=(1.0,))
ENGINE_DIFFERENCE = Chart(
    "difference",
    "Difference to the second engine",
    "\u00b5m, \u00b5rad",
    ("position", "rotation"),
    MICRO_SCALE,
    logarithmic=True,
)


def difference(pose: Any, other_pose: Any) -> FloatArray:
    """Return distance [m] and angle [rad] between two poses `(7,)`."""
    distance = float(np.linalg.norm(pose[:3] - other_pose[:3]))
    return np.array([distance, float(angle_between(pose[3:], other_pose[3:]))])


def _axes_chart(name: str, title: str, unit: str, scale: float, axes: list[str]) -> Chart:
    setpoints = tuple(f"{axis} setpoint" for axis in axes)
    series = (*setpoints, *axes)
    return Chart(name, title, unit, series, scale, setpoints, min_extent=MIN_CHART_RANGE)


def _actuator_charts(platform: MachineModel, limits: ActuatorLimits) -> tuple[Chart, ...]:
    names = tuple(legs(platform.n_actuators))
    rotary = platform.coordinate_unit == "rad"
    unit, scale = ("deg", 180.0 / np.pi) if rotary else ("mm", 1e3)
    coordinates, forces = ("angles", "torques") if rotary else ("lengths", "forces")
    ends = _lines(limits.low, limits.high)
    speeds, efforts = (_lines(-limit, limit) for limit in (limits.speed, limits.force))
    return (
        Chart("lengths", f"Actuator {coordinates}", unit, names, scale, limits=ends),
        Chart(
            "speeds",
            "Actuator speeds",
            f"{unit}/s",
            names,
            scale,
            limits=speeds,
            min_extent=MIN_CHART_RANGE,
        ),
        Chart("forces", f"Actuator {forces}", platform.force_unit, names, limits=efforts),
    )


def _lines(*bounds: FloatArray) -> tuple[float, ...]:
    """Return the distinct finite limits, for the lines of a chart."""
    values = np.unique(np.concatenate(bounds))
    return tuple(values[np.isfinite(values)].tolist())
