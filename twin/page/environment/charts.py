"""Charts of an environment's episodes, and their values after a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from twin.charts.panels import legs
from twin.envs.task import Task
from twin.simulation.live.machine_charts import Chart, actuator_limits

DEGREES = 180.0 / np.pi

AXES = ("x", "y", "z")


class Part(NamedTuple):
    """A chart and its signals, in the order of its curves."""

    chart: Chart
    signals: tuple[tuple[str, slice], ...]
    """name in `info`, and the slice of its numbers"""


LINEAR, ANGULAR, ALL = slice(0, 3), slice(3, 6), slice(None)

ACCELERATION = Chart(
    "acceleration",
    "Acceleration in the world",
    "m/s²",
    (*(f"{axis} of the base" for axis in AXES), *AXES),
    setpoint=tuple(f"{axis} of the base" for axis in AXES),
    least=0.1,
)

OWN_CHARTS: dict[str, tuple[Part, ...]] = {
    "PoseTracking": (
        Part(
            Chart("position_error", "Position error", "mm", AXES, 1e3, least=1e-5),
            (("position_error", ALL),),
        ),
        Part(
            Chart("rotation_error", "Rotation error", "deg", AXES, DEGREES, least=1e-4),
            (("orientation_error", ALL),),
        ),
    ),
    "MotionCueing": (
        Part(
            Chart("force_error", "Error of perceived force", "m/s²", AXES, least=0.1),
            (("perceived_error", LINEAR),),
        ),
        Part(
            Chart(
                "turning_error", "Error of perceived turning", "deg/s", AXES, DEGREES, least=0.01
            ),
            (("perceived_error", ANGULAR),),
        ),
    ),
    "VibrationIsolation": (
        Part(ACCELERATION, (("base_acceleration", ALL), ("absolute_acceleration", ALL))),
        Part(
            Chart("displacement", "Displacement in the world", "mm", AXES, 1e3, least=1e-4),
            (("absolute_displacement", ALL),),
        ),
    ),
    "BallBalance": (
        Part(
            Chart("ball_error", "Ball to target", "mm", AXES[:2], 1e3, least=1e-3),
            (("target_error", ALL),),
        ),
        Part(
            Chart("slope", "Slope of the plate", "%", AXES[:2], 100.0, least=0.01),
            (("slope", ALL),),
        ),
    ),
}
"""Charts of a task's error, by the name of its class."""


class EnvironmentCharts:
    """Charts of a task: reward and its terms, error, actions, forces.

    Attributes:
        charts: in the order of their switches.
    """

    def __init__(self, task: Task) -> None:
        """Describe the charts of a task."""
        self._task = task
        self._own = OWN_CHARTS.get(type(task).__name__, ())
        terms = tuple(task.terms)
        most = np.unique(actuator_limits(task.platform).force)
        bounds = tuple(most[np.isfinite(most)].tolist())
        self.charts = (
            Chart("reward", "Reward", "", ("sum", *terms)),
            *(part.chart for part in self._own),
            Chart("actions", "Actions", "", _names(task), limits=(-1.0, 1.0)),
            Chart("return", "Sum of rewards", "", ("return",)),
            Chart(
                "forces",
                "Actuator forces",
                task.platform.force_unit,
                tuple(legs(task.platform.n_actuators)),
                limits=(*(-bound for bound in bounds), *bounds),
            ),
        )

    def values(self, info: Mapping[str, Any], action: Any, returned: float) -> dict[str, Any]:
        """Return the charts' values; terms of the reward are weighted.

        Args:
            info: of the last step.
            action: `(a,)` of it.
            returned: sum of the rewards of the episode so far.
        """
        task = self._task
        terms = task.weights * np.array([info["reward_terms"][name] for name in task.terms])
        values = {
            "reward": np.array([terms.sum(), *terms]),
            "actions": action,
            "return": returned,
            "forces": info["forces"],
        }
        for chart, signals in self._own:
            values[chart.name] = np.concatenate([info[name][part] for name, part in signals])
        return values


def _names(task: Task) -> tuple[str, ...]:
    """Return names of all numbers of an action."""
    return tuple(
        f"{channel.name} {k + 1}" if channel.size > 1 else channel.name
        for channel in task.actions
        for k in range(channel.size)
    )
