"""Runs under control: errors of a controlled machine against its reference, and their figures."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.control.controller import Controller
from twin.control.reference import Reference, reference_of
from twin.machine.machine import MachineParameters
from twin.model.engine import Engine
from twin.motion.axes import AxisSample
from twin.motion.motion import Motion
from twin.plant.plant import Plant
from twin.rotations import displacement
from twin.simulation.simulate import simulate
from twin.simulation.trajectory import Trajectory
from twin.validation.results import Curve, Panel, Plot


class Tracked(NamedTuple):
    """A course with its errors, one row per control instant."""

    trajectory: Trajectory
    time: FloatArray
    """`(k,)` [s]"""
    position: FloatArray
    """`(k, 3)` actual minus reference [m]"""
    rotation: FloatArray
    """`(k, 3)` rotation vectors from reference to actual [rad], base axes"""
    actuators: FloatArray
    """`(k, n)` actual minus reference leg coordinates [m] or [rad]"""

    @property
    def rms(self) -> tuple[float, float, float]:
        """Root mean squares: of the position error, of the rotation error, of one actuator."""
        return _root_mean_squares(self.position, self.rotation, self.actuators)


class Excerpt(Motion):
    """A part of a motion, from a time on, faded in from rest.

    Attributes:
        whole: the motion.
        begin: [s] where in it the excerpt begins.
    """

    whole: Motion
    begin: float

    def __init__(self, whole: Motion, begin: float, duration: float, fade_in: float) -> None:
        """Describe the excerpt: its begin in the motion, its length, its rise [s]."""
        super().__init__(whole.center, duration, whole.convention, fade_in)
        self._set(whole=whole, begin=begin)

    def _axes(self, time: FloatArray) -> AxisSample:
        return self.whole.axes(time + self.begin)


def with_drive(platform: Platform, **changes: Any) -> Platform:
    """Return a machine whose drives differ in the given parameters."""
    content = platform.parameters.model_dump()
    content["leg"]["drive"].update(changes)
    return Platform(MachineParameters.model_validate(content))


def tracked(
    platform: Platform,
    controller: Controller,
    engine: Engine,
    duration: float,
    plant: Plant | None = None,
) -> Tracked:
    """Return the course of a machine that begins on its reference, at the reference's twist.

    Without a `plant` its drives and sensors are those of its parameters.
    """
    reference = controller.reference
    course = simulate(
        platform,
        duration,
        pose=reference.pose[0],
        twist=reference.twist[0],
        controller=controller,
        plant=plant,
        engine=engine,
        every=round(controller.period / engine.timestep),
        progress=False,
    )
    rows = [reference.row(k) for k in range(len(course))]
    off = displacement(course.pose, reference.pose[rows])
    actuators = course.lengths - reference.coordinates[rows]
    return Tracked(course, course.time, off[:, :3], off[:, 3:], actuators)


def motion_size(reference: Reference, count: int) -> tuple[float, float, float]:
    """Return root mean squares of a reference about its begin, as `Tracked.rms`, over `count` rows.

    What a machine that stays where it is would err by.
    """
    pose, coordinates = reference.pose[:count], reference.coordinates[:count]
    away = displacement(pose, pose[0])
    return _root_mean_squares(away[:, :3], away[:, 3:], coordinates - coordinates[0])


def part(platform: Platform, reference: Reference, begin: int, end: int) -> Reference:
    """Return rows `begin` to `end` of a reference as one that begins at time 0."""
    rows = slice(begin, end + 1)
    return reference_of(
        platform,
        reference.period,
        reference.time[rows] - reference.time[begin],
        reference.pose[rows],
        reference.twist[rows],
        reference.acceleration[rows],
    )


def apart(one: Trajectory, other: Trajectory) -> tuple[float, float]:
    """Return the largest differences of two courses, in parts of the motion of the first.

    Of positions, and of quaternions; the motion is the largest change since the begin.
    """
    places = (slice(0, 3), slice(3, 7))
    return tuple(  # type: ignore[return-value]
        float(
            np.abs(other.pose[:, k] - one.pose[:, k]).max()
            / np.abs(one.pose[:, k] - one.pose[0, k]).max()
        )
        for k in places
    )


def _root_mean_squares(
    position: FloatArray, rotation: FloatArray, actuators: FloatArray
) -> tuple[float, float, float]:
    return (
        float(np.sqrt((position**2).sum(axis=1).mean())),
        float(np.sqrt((rotation**2).sum(axis=1).mean())),
        float(np.sqrt((actuators**2).mean())),
    )


def tracking_plots(
    courses: dict[tuple[str, str], Tracked],
    units: tuple[tuple[str, str], ...],
    names: tuple[str, ...],
) -> list[Plot]:
    """Return errors of the named controllers over time, and what the observer estimates.

    Args:
        courses: by plant and controller, with "hardware" and "PI + Kalman" among them.
        units: names and units of position and rotation errors, times a thousand.
        names: of the controllers to be shown.
    """
    errors = []
    for k, (what, unit) in enumerate(units[:2]):
        curves = []
        for name in names:
            course = courses["hardware", name]
            size = np.linalg.norm((course.position, course.rotation)[k], axis=1)
            curves.append(Curve(name, course.time[1:], 1e3 * size[1:]))
        errors.append(Panel(f"{what} error [{unit}]", *curves, log_y=True))
    course = courses["hardware", "PI + Kalman"]
    signals = course.trajectory.signals
    time, estimated = signals["time"], signals["estimated_rate"]
    actual = course.trajectory.rates[: len(time)]
    legs = range(estimated.shape[1])
    return [
        Plot(
            "Errors under control, hardware plant",
            "time [s]",
            *errors,
            caption="Thesis figure 4.40 shows the error in pitch on its ideal plant.",
        ),
        Plot(
            "Speed and disturbance estimated by the Kalman observer, hardware plant",
            "time [s]",
            Panel(
                "speed of leg 1 [mm/s]",
                Curve("actual", time, 1e3 * actual[:, 0]),
                Curve("estimated", time, 1e3 * estimated[:, 0], "dash"),
            ),
            Panel(
                "estimated minus actual [mm/s]",
                Curve("leg 1", time, 1e3 * (estimated - actual)[:, 0]),
            ),
            Panel(
                "disturbance force [N]",
                *(
                    Curve(f"leg {k + 1}", time, signals["estimated_disturbance"][:, k])
                    for k in legs
                ),
            ),
            caption="As thesis figures 4.41 to 4.44. The observer knows the motor's position; the "
            "leg's actual speed differs from it by backlash and compression of the transmission.",
        ),
    ]
