"""An engine against the reference: trajectories under the same held forces, projected forces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.engines.mjcf.elements import SMALLEST as LEAST_MOMENT
from twin.engines.projection import projection
from twin.errors import MissingDependencyError
from twin.rotations import displacement
from twin.simulation.simulate import simulate
from twin.simulation.trajectory import Trajectory
from twin.validation.measures.durations import compared_step
from twin.validation.measures.metrics import position_error, relative_error, rotation_error
from twin.validation.measures.sampling import RandomStates, platform_radius
from twin.validation.results import Curve, CurveStyle, Entry, Measure, Panel, Plot, Quantity

SMALLEST = 1e-17
"""Errors of zero are drawn here, so that logarithmic axes can show them."""


DASHES = 60
"""Points of an engine's dashed line over the reference's; the error below has all of them."""

FULL_MOTION = 1e-2
"""[m] of a platform joint; the bars are set for motions at least as large."""


class EngineBar(NamedTuple):
    """The largest error that an engine's accurate fidelity may have."""

    engine: str
    label: str
    tolerance: float
    """[m] and [rad], for motions from `FULL_MOTION` on; smaller ones are held to less in
    proportion"""
    reason: str


BARS = (
    EngineBar(
        "mujoco",
        "MuJoCo",
        1e-6,
        "bar for Runge-Kutta 4 at the compared step (1 ms, less in stiff machines); the loops are "
        "held by stiff springs (time constant two steps), which leaves up to 1e-7, while soft "
        "loops leave 1e-3",
    ),
    EngineBar(
        "bullet",
        "Bullet",
        1e-7,
        "bar for the trajectory extrapolated from the compared step (1 ms, less in stiff "
        "machines), its half and its quarter, which leaves 1e-9 on smooth forces; a plain "
        "step of 1 ms leaves 1e-3",
    ),
)
LABELS = {bar.engine: bar.label for bar in BARS}


def error_name(label: str, what: str) -> re.Pattern[str]:
    """Return the pattern of the names of an engine's largest errors; its group is the duration."""
    return re.compile(rf"{label}: largest {what} error in (\S+) s")


def missing(label: str, error: MissingDependencyError) -> Quantity:
    """Return the note that an engine could not take part."""
    return Quantity(f"{label}: not compared", float("nan"), note=str(error), unit="")


def log_curve(name: str, x: FloatArray, y: FloatArray, style: CurveStyle = "line") -> Curve:
    """Return an error curve for a logarithmic axis."""
    return Curve(name, x, np.maximum(y, SMALLEST), style)


def trajectory_comparison(
    platform: Platform, duration: float, title: str, forces: Any = None, **start: Any
) -> tuple[list[Entry], list[Plot]]:
    """Return errors and plots of every engine over `duration` [s].

    Args:
        platform: the machine.
        duration: [s], a multiple of its compared step.
        title: of the plots.
        forces: as in `simulate`.
        start: `pose`, `twist` and `deflection` as in `simulate`.
    """
    options: dict[str, Any] = {
        **start,
        "forces": forces,
        "timestep": compared_step(platform),
        "progress": False,
    }
    reference = simulate(platform, duration, **options)
    share = motion_share(platform, reference)
    measures: list[Entry] = []
    plots = []
    for bar in BARS:
        try:
            trajectory = simulate(platform, duration, engine=bar.engine, **options)
        except MissingDependencyError as error:
            measures.append(missing(bar.label, error))
            continue
        measures.extend(trajectory_measures(bar, trajectory, reference, share))
        plots.append(trajectory_plot(f"{title}: {bar.label} and reference", trajectory, reference))
    return measures, plots


def motion_share(platform: Platform, reference: Trajectory) -> float:
    """Return the largest displacement of the platform per `FULL_MOTION`, at most 1."""
    start = np.broadcast_to(reference.pose[0], reference.pose.shape)
    turned = platform_radius(platform) * rotation_error(reference.pose, start)
    return min(1.0, float((position_error(reference.pose, start) + turned).max()) / FULL_MOTION)


def trajectory_measures(
    bar: EngineBar, trajectory: Trajectory, reference: Trajectory, share: float = 1.0
) -> Iterator[Entry]:
    """Return the largest errors in position and rotation, held against a share of the bar."""
    smaller = (
        f"; a joint of the platform moves {1e3 * share * FULL_MOTION:.2g} mm at most, turning "
        f"included, and so the bar is that much smaller than for {1e3 * FULL_MOTION:g} mm"
    )
    reason = bar.reason + (smaller if share < 1.0 else "")
    for what, unit, error in (
        ("position", "m", position_error(trajectory.pose, reference.pose)),
        ("rotation", "rad", rotation_error(trajectory.pose, reference.pose)),
    ):
        name = f"{bar.label}: largest {what} error in {reference.time[-1]:.3g} s"
        yield Measure(name, error.max(), share * bar.tolerance, reason, unit=unit)


def trajectory_plot(title: str, trajectory: Trajectory, reference: Trajectory) -> Plot:
    """Return the plot of an engine against the reference, error below."""
    time, label = reference.time, LABELS[trajectory.engine]
    start = reference.pose[0]
    sources: tuple[tuple[str, Trajectory, CurveStyle, slice], ...] = (
        ("reference", reference, "line", slice(None)),
        (label, trajectory, "dash", slice(None, None, 1 + len(time) // DASHES)),
    )
    panels = []
    for y_label, names, columns in (
        ("displacement [m]", ("x", "y", "z"), slice(0, 3)),
        ("rotation vector [rad]", ("rx", "ry", "rz"), slice(3, 6)),
    ):
        curves = [
            Curve(f"{name} {source}", time[kept], values[kept], style)
            for source, motion, style, kept in sources
            for name, values in zip(names, displacement(motion.pose, start).T[columns], strict=True)
        ]
        panels.append(Panel(y_label, *curves))
    errors = (
        log_curve(f"{name} error [{unit}]", time[1:], error(trajectory.pose, reference.pose)[1:])
        for name, unit, error in (
            ("position", "m", position_error),
            ("rotation", "rad", rotation_error),
        )
    )
    panels.append(Panel("error", *errors, log_y=True))
    return Plot(title, "time [s]", *panels)


LEAST_REASON = "MuJoCo wants a moment of inertia of every body, which is not small in this machine"

PARTS = 3
"""Parts of a leg with a moment of inertia of their own at most."""

TOLERANCE = 1e-9
REASON = (
    "bar; no solver takes part, so only rounding and the digits of the model files remain (1e-13); "
    "a wrong mass, point or axis shows at 1e-3"
)


def _added_inertia(platform: Platform, states: RandomStates, forces: FloatArray) -> float:
    """Return the largest share of forces that MuJoCo's smallest moment of inertia may take.

    Bodies without an own moment, such as point masses, have `LEAST_MOMENT` of it. A leg's end moves
    with the platform, so that the leg turns at its acceleration over its length, and the moment
    asks for a force over that length once more.
    """
    length = float(platform.home_reaches.min())
    moved = np.linalg.norm(states.acceleration[:, :3], axis=1)
    moved += platform_radius(platform) * np.linalg.norm(states.acceleration[:, 3:], axis=1)
    own = LEAST_MOMENT * moved / length**2 * PARTS * platform.n_actuators
    return float((own / np.abs(forces).max(axis=1)).max())


def projection_errors(
    platform: Platform, states: RandomStates, *, x: FloatArray
) -> tuple[list[Entry], list[Curve]]:
    """Return each engine's largest relative error over `(m,)` states, and the errors over `x`.

    Where legs have coordinates of their own, these move as the reference says, and what the
    engine's equations then leave in their rows counts as an error too.
    """
    pose, twist, acceleration, deflection = states
    expected = platform.inverse_dynamics(pose, twist, acceleration, deflection=deflection)
    inside = platform.forward_dynamics(pose, twist, expected, deflection=deflection)[:, 6:]
    added = _added_inertia(platform, states, expected)
    measures: list[Entry] = []
    curves = []
    for engine, label in LABELS.items():
        try:
            found = [
                projection(engine, platform, *state)
                for state in zip(pose, twist, acceleration, deflection, inside, strict=True)
            ]
        except MissingDependencyError as error:
            measures.append(missing(label, error))
            continue
        errors = relative_error(np.array([each.forces for each in found]), expected)
        if platform.n_deflections:
            left = [each.residual(row) for each, row in zip(found, expected, strict=True)]
            rows = np.abs(np.array(left)[:, -platform.n_deflections :]).max(axis=1)
            errors = np.maximum(errors, rows / np.abs(expected).max(axis=1))
        name = f"{label}: largest relative error of projected forces, {len(found)} states"
        least = added if engine == "mujoco" else 0.0
        reason = REASON if least < TOLERANCE else f"{REASON}; {LEAST_REASON}"
        measures.append(Measure(name, errors.max(), max(TOLERANCE, least), reason))
        curves.append(log_curve(label, x, errors))
    return measures, curves
