"""An engine against the reference: trajectories under the same held forces, projected forces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.engines.mjcf import MIN_INERTIA as LEAST_MOMENT
from twin.engines.projection import projection
from twin.errors import MissingDependencyError
from twin.model.integrate import static_deflection
from twin.motion import Motion
from twin.rotations import displacement
from twin.simulation.simulate import Trajectory, simulate
from twin.validation.case import Curve, Entry, Measure, Panel, Plot, Quantity
from twin.validation.measures.equilibrium import (
    COMPARED_TIMESTEP,
    compared_step,
    duration_for,
    fastest_rate,
)
from twin.validation.measures.sampling import (
    RandomStates,
    largest,
    position_error,
    relative_error,
    rotation_error,
)

LOG_FLOOR = 1e-17
"""Value at which errors of zero are drawn, so that logarithmic axes can show them."""

DASHED_POINTS = 60
"""Points of an engine's dashed line over the reference's; the error panel below shows all
points."""

FULL_MOTION = 1e-2
"""[m] Motion of a platform joint; the error limits hold for motions at least as large."""

MIN_INERTIA_REASON = (
    "MuJoCo wants a moment of inertia of every body, which is not small in this machine"
)

PARTS_PER_LEG = 3
"""Maximum number of parts of a leg that have a moment of inertia."""

MODEL_TOLERANCE = 1e-9
"""Largest relative error of an engine's model."""


MODEL_REASON = (
    "no solver takes part, so only rounding and the digits of the model files remain (1e-13); a "
    "wrong mass, point or axis shows at 1e-3"
)

WORK_REASON = (
    "integrals of quintic splines through the samples, and of the springs' motion, leave 1e-10, of "
    "content up to 70 Hz 4e-9; in the shipped machines forces without velocity terms leave 2e-5 "
    "and more, forces off by a thousandth 1e-3"
)

END_REASON = "the sum over the steps is of fourth order, and of a whole period exact to rounding"

MAX_CURVE_POINTS = 2500
"""Maximum number of points of a curve; 8 s of 70 Hz still have four a period."""

PROJECTED_STATES = 50
"""Number of states along the motion at which the engines' models are projected."""


POSE_ERRORS = (("position", "m", position_error), ("rotation", "rad", rotation_error))
"""Names, units and functions of the errors of poses."""


class EngineLimit(NamedTuple):
    """The largest error that is allowed for an engine at its accurate fidelity."""

    engine: str
    label: str
    tolerance: float
    """largest error [m] and [rad] for motions from `FULL_MOTION` on; for smaller motions it is
    reduced in proportion"""
    reason: str


ENGINE_LIMITS = (
    EngineLimit(
        "mujoco",
        "MuJoCo",
        1e-6,
        "limit for Runge-Kutta 4 at the step of comparisons (1 ms, less in stiff machines); the "
        "loops are held by stiff springs (time constant two steps), which leaves up to 1e-7, while "
        "soft loops leave 1e-3",
    ),
    EngineLimit(
        "bullet",
        "Bullet",
        1e-7,
        "limit for the trajectory extrapolated from the step of comparisons (1 ms, less in stiff "
        "machines), its half and its quarter, which leaves 1e-9 on smooth forces; a plain "
        "step of 1 ms leaves 1e-3",
    ),
)
ENGINE_LABELS = {limit.engine: limit.label for limit in ENGINE_LIMITS}


def error_name(label: str, quantity: str) -> re.Pattern[str]:
    """Return the pattern of the names of an engine's largest errors; its group is the duration."""
    return re.compile(rf"{label}: largest {quantity} error in (\S+) s")


def missing(label: str, error: MissingDependencyError) -> Quantity:
    """Return the note that an engine could not take part."""
    return Quantity(f"{label}: not compared", float("nan"), note=str(error), unit="")


def log_curve(name: str, x: FloatArray, y: FloatArray, style: str = "line") -> Curve:
    """Return an error curve for a logarithmic axis."""
    return Curve(name, x, np.maximum(y, LOG_FLOOR), style)


def trajectory_comparison(
    platform: Platform, duration: float, title: str, forces: Any = None, **start: Any
) -> tuple[list[Entry], list[Plot]]:
    """Return errors and plots of every engine over `duration` [s].

    Args:
        platform: the machine.
        duration: [s], a multiple of `compared_step`.
        title: title of the plots.
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
    fraction = motion_fraction(platform, reference)
    measures: list[Entry] = []
    plots = []
    for limit in ENGINE_LIMITS:
        try:
            trajectory = simulate(platform, duration, engine=limit.engine, **options)
        except MissingDependencyError as error:
            measures.append(missing(limit.label, error))
            continue
        measures.extend(trajectory_measures(limit, trajectory, reference, fraction))
        plots.append(
            trajectory_plot(f"{title}: {limit.label} and reference", trajectory, reference)
        )
    return measures, plots


def motion_fraction(platform: Platform, reference: Trajectory) -> float:
    """Return the largest displacement of the platform's joints per `FULL_MOTION`, at most 1.

    It is bounded from above: displacement of the reference point plus joint radius times rotation.
    """
    initial_poses = np.broadcast_to(reference.pose[0], reference.pose.shape)
    joint_displacement = platform.joint_radius * rotation_error(reference.pose, initial_poses)
    joint_displacement += position_error(reference.pose, initial_poses)
    return min(1.0, largest(joint_displacement) / FULL_MOTION)


def trajectory_measures(
    limit: EngineLimit, trajectory: Trajectory, reference: Trajectory, fraction: float = 1.0
) -> Iterator[Entry]:
    """Yield the largest errors in position and rotation, judged by `fraction` of the limit."""
    small_motion_note = (
        f"; a joint of the platform moves {1e3 * fraction * FULL_MOTION:.2g} mm at most, turning "
        f"included, and so the limit is that much smaller than for {1e3 * FULL_MOTION:g} mm"
    )
    reason = limit.reason + (small_motion_note if fraction < 1.0 else "")
    for quantity, unit, error in POSE_ERRORS:
        yield Measure(
            f"{limit.label}: largest {quantity} error in {reference.time[-1]:.3g} s",
            error(trajectory.pose, reference.pose).max(),
            fraction * limit.tolerance,
            reason,
            unit,
        )


def trajectory_plot(title: str, trajectory: Trajectory, reference: Trajectory) -> Plot:
    """Return the plot of an engine against the reference, error below."""
    time, label = reference.time, ENGINE_LABELS[trajectory.engine]
    start_pose = reference.pose[0]
    sources: tuple[tuple[str, Trajectory, str, slice], ...] = (
        ("reference", reference, "line", slice(None)),
        (label, trajectory, "dash", slice(None, None, 1 + len(time) // DASHED_POINTS)),
    )
    panels = []
    for y_label, names, columns in (
        ("displacement [m]", ("x", "y", "z"), slice(0, 3)),
        ("rotation vector [rad]", ("rx", "ry", "rz"), slice(3, 6)),
    ):
        curves = [
            Curve(f"{name} {source}", time[rows], values[rows], style)
            for source, motion, style, rows in sources
            for name, values in zip(
                names, displacement(motion.pose, start_pose).T[columns], strict=True
            )
        ]
        panels.append(Panel(y_label, *curves))
    errors = (
        log_curve(f"{name} error [{unit}]", time[1:], error(trajectory.pose, reference.pose)[1:])
        for name, unit, error in POSE_ERRORS
    )
    panels.append(Panel("error", *errors, log_y=True))
    return Plot(title, "time [s]", *panels)


def _added_inertia(platform: Platform, states: RandomStates, forces: FloatArray) -> float:
    """Return the largest fraction of the forces that MuJoCo's minimum moment of inertia can cause.

    Bodies without a moment of inertia, such as point masses, get `LEAST_MOMENT`. A leg's end moves
    with the platform: the leg's angular acceleration is that of its end divided by its length, and
    the force at the end is the moment divided by the length.
    """
    length = float(platform.home_reaches.min())
    joint_acceleration = np.linalg.norm(states.acceleration[:, :3], axis=1)
    joint_acceleration += platform.joint_radius * np.linalg.norm(states.acceleration[:, 3:], axis=1)
    inertia_force = (
        LEAST_MOMENT * joint_acceleration / length**2 * PARTS_PER_LEG * platform.n_actuators
    )
    return largest(inertia_force / np.abs(forces).max(axis=1))


def projection_errors(
    platform: Platform, states: RandomStates, *, x: FloatArray
) -> tuple[list[Entry], list[Curve]]:
    """Return each engine's largest relative error over `(m,)` states, and the errors over `x`.

    Spring deflections accelerate as in the reference, and the residual that the
    engine's equations leave in their rows counts as an error too.
    """
    pose, twist, acceleration, deflection = states
    expected = platform.inverse_dynamics(pose, twist, acceleration, deflection=deflection)
    # Columns from 6 on of forward dynamics are the accelerations of the deflections.
    deflection_acceleration = platform.forward_dynamics(
        pose, twist, expected, deflection=deflection
    )[:, 6:]
    inertia_tolerance = _added_inertia(platform, states, expected)
    measures: list[Entry] = []
    curves = []
    for engine, label in ENGINE_LABELS.items():
        try:
            projections = [
                projection(engine, platform, *state)
                for state in zip(
                    pose, twist, acceleration, deflection, deflection_acceleration, strict=True
                )
            ]
        except MissingDependencyError as error:
            measures.append(missing(label, error))
            continue
        errors = relative_error(np.array([result.forces for result in projections]), expected)
        if platform.n_deflections:
            residuals = [
                result.residual(row)[-platform.n_deflections :]
                for result, row in zip(projections, expected, strict=True)
            ]
            deflection_residual = np.abs(residuals).max(axis=1)
            errors = np.maximum(errors, deflection_residual / np.abs(expected).max(axis=1))
        name = f"{label}: largest relative error of projected forces, {len(projections)} states"
        tolerance = inertia_tolerance if engine == "mujoco" else 0.0
        reason = (
            MODEL_REASON if tolerance < MODEL_TOLERANCE else f"{MODEL_REASON}; {MIN_INERTIA_REASON}"
        )
        measures.append(Measure(name, errors.max(), max(MODEL_TOLERANCE, tolerance), reason))
        curves.append(log_curve(label, x, errors))
    return measures, curves


def force_name(platform: Platform) -> str:
    """Return the name of the actuators' forces."""
    return "thrust" if platform.force_unit == "N" else "torque"


def coordinate_name(platform: Platform) -> str:
    """Return the name of the actuators' coordinates."""
    return platform.parameters.leg.coordinate


def actuator_rates(
    platform: Platform, pose: FloatArray, twist: FloatArray, deflection: FloatArray
) -> FloatArray:
    """Return rates `(m, n)` of the coordinates on which the actuators' forces do work."""
    rates = np.asarray(np.einsum("kij,kj->ki", platform.jacobian(pose), twist))
    # A spring in series with the actuator takes its part of the leg's motion.
    return rates - deflection[:, platform.n_deflections :] if platform.n_deflections else rates


def leg_curves(time: FloatArray, values: FloatArray) -> tuple[Curve, ...]:
    """Return one curve per leg of values `(k, n)`."""
    return tuple(Curve(f"leg {i + 1}", time, column) for i, column in enumerate(values.T))


class ActuatedMotion(NamedTuple):
    """A machine carried through a motion, sampled at even times."""

    time: FloatArray
    """`(k,)` [s]"""
    pose: FloatArray
    twist: FloatArray
    acceleration: FloatArray
    deflection: FloatArray
    """`(k, 2m)` deflections of springs and their rates"""
    coordinates: FloatArray
    """`(k, n)` coordinates of the actuators [m, rad]"""
    rates: FloatArray
    """`(k, n)` rates of the coordinates on which the forces do work [m/s, rad/s]"""
    forces: FloatArray
    """`(k, n)` [N, N m]"""


def actuated_motion(
    platform: Platform, motion: Motion, time: FloatArray | None = None
) -> ActuatedMotion:
    """Return coordinates, rates and forces of the actuators along a motion, by the analytic model.

    Args:
        platform: the machine.
        motion: reference motion, which `Platform.constrain` adapts to a machine of fewer than six
            degrees of freedom.
        time: `(k,)` [s], default in steps of `COMPARED_TIMESTEP` over the whole motion.
    """
    if time is None:
        time = np.arange(round(motion.duration / COMPARED_TIMESTEP) + 1.0) * COMPARED_TIMESTEP
    pose, twist, acceleration = platform.constrain(*motion(time))
    deflection = springs_along(platform, motion, time)
    return ActuatedMotion(
        time,
        pose,
        twist,
        acceleration,
        deflection,
        platform.inverse_kinematics(pose),
        actuator_rates(platform, pose, twist, deflection),
        platform.inverse_dynamics(pose, twist, acceleration, deflection=deflection),
    )


def springs_along(platform: Platform, motion: Motion, time: FloatArray) -> FloatArray:
    """Return spring deflections and rates `(k, 2m)` along a motion, from static equilibrium."""
    from scipy.integrate import solve_ivp

    count = platform.n_deflections
    if not count:
        return np.empty((len(time), 0))

    def slope(time_now: float, spring_state: FloatArray) -> FloatArray:
        state = platform.constrain(*motion(time_now))
        forces = platform.inverse_dynamics(*state, deflection=spring_state)
        acceleration = platform.forward_dynamics(
            state.pose, state.twist, forces, deflection=spring_state
        )
        return np.concatenate([spring_state[count:], acceleration[6:]])

    initial = static_deflection(platform, *platform.constrain(*motion(0.0)))
    time_span = (0.0, float(time[-1]))
    # At rest nothing tells the solver how fast stiff springs are; a long first step overflows.
    first_step = min(time_span[1], 1.0 / fastest_rate(platform))
    solution = solve_ivp(
        slope, time_span, initial, "DOP853", time, rtol=1e-9, atol=1e-12, first_step=first_step
    )
    return np.asarray(solution.y.T)


def _powers(platform: Platform, course: ActuatedMotion) -> tuple[FloatArray, FloatArray]:
    """Return the power of the forces and the losses `(k,)` [W] along a motion."""
    losses = platform.dissipation(course.pose, course.twist, deflection=course.deflection)
    return np.asarray(np.einsum("ki,ki->k", course.forces, course.rates)), losses


def work_measure(platform: Platform, course: ActuatedMotion, tolerance: float) -> Measure:
    """Return the largest running imbalance of work, losses and energy, per largest work or gain.

    The balance is taken from the start to every sample: over a whole period alone forces without
    losses would always balance, whatever their size.
    """
    from scipy.interpolate import make_interp_spline

    power, dissipation = _powers(platform, course)
    spline = make_interp_spline(course.time, np.column_stack([power, dissipation]), k=5)
    work, losses = spline.antiderivative()(course.time).T
    energies = platform.energy(course.pose, course.twist, deflection=course.deflection)
    energy = np.sum(energies, axis=0)
    gain = energy - energy[0]
    return Measure(
        "work of the forces less gain of energy and losses at any time, per largest of the three",
        largest(work - losses - gain) / max(largest(work), largest(gain)),
        tolerance,
        WORK_REASON,
    )


def end_work_measure(platform: Platform, course: ActuatedMotion, tolerance: float) -> Measure:
    """Return the imbalance of work, losses and energy at the end of a course, per work exchanged.

    Where a course ends as it began, nothing but losses and their integral is left.
    """
    from scipy.integrate import simpson

    power, dissipation = _powers(platform, course)
    first_and_last = slice(None, None, len(course.time) - 1)
    energies = platform.energy(
        course.pose[first_and_last],
        course.twist[first_and_last],
        deflection=course.deflection[first_and_last],
    )
    gain = np.diff(np.sum(energies, axis=0))[0]
    imbalance = simpson(power - dissipation, x=course.time) - gain
    exchanged = np.trapezoid(np.abs(power), course.time)
    return Measure(
        "work of the forces less gain of energy and losses at the end, per work exchanged",
        abs(imbalance) / exchanged,
        tolerance,
        END_REASON,
    )


def engines_along(
    platform: Platform,
    motion: Motion,
    course: ActuatedMotion,
    title: str,
    longest: float,
    *,
    begin: float = 0.0,
    caption: str = "",
) -> tuple[list[Entry], list[Plot]]:
    """Return the comparison of both engines with the reference along a motion, legs' plot first.

    The engines' models are projected at states along the whole motion. In a part of the motion they
    are also driven by the forces of `course`, held over each step.

    Args:
        platform: the machine.
        motion: the reference motion.
        course: actuators and forces along it.
        title: title of the legs' plot.
        longest: [s] longest duration of that part.
        begin: [s] time in the motion at which the part begins.
        caption: caption of the legs' plot.
    """
    projected, curves = projection_along(platform, course)
    title_driven = f"Driven by the {force_name(platform)}s"
    followed, plots = follow(platform, motion, begin, longest, title_driven)
    plots.insert(0, legs_plot(platform, course, title, curves, caption))
    return [*projected, *followed], plots


def projection_along(platform: Platform, course: ActuatedMotion) -> tuple[list[Entry], list[Curve]]:
    """Return the engines' projection errors at states all along the motion."""
    indices = np.linspace(0, len(course.time) - 1, PROJECTED_STATES).astype(int)
    # The fields of the states, which follow the time.
    states = RandomStates(*(values[indices] for values in course[1:5]))
    return projection_errors(platform, states, x=course.time[indices])


def follow(
    platform: Platform, motion: Motion, begin: float, longest: float, title: str
) -> tuple[list[Entry], list[Plot]]:
    """Return the comparison of engines and reference, driven by the forces of a part of a motion.

    The part begins at `begin` [s] and lasts `longest` [s], less in a small or stiff machine.
    """
    duration, step = duration_for(platform, longest), compared_step(platform)
    excerpt = actuated_motion(
        platform, motion, begin + np.arange(round(duration / step) + 1.0) * step
    )
    return trajectory_comparison(
        platform,
        duration,
        title,
        excerpt.forces[:-1],
        pose=excerpt.pose[0],
        twist=excerpt.twist[0],
        deflection=excerpt.deflection[0],
    )


def legs_plot(
    platform: Platform, course: ActuatedMotion, title: str, projection: list[Curve], caption: str
) -> Plot:
    """Return actuator coordinates, forces, and the projection errors below."""
    travel = course.coordinates - platform.minimum_coordinates
    drawn_rows = slice(None, None, 1 + len(course.time) // MAX_CURVE_POINTS)
    force_label = f"{force_name(platform)} [{platform.force_unit}]"
    panels = (
        Panel(
            f"{coordinate_name(platform)} from its minimum [{platform.coordinate_unit}]",
            *leg_curves(course.time[drawn_rows], travel[drawn_rows]),
        ),
        Panel(force_label, *leg_curves(course.time[drawn_rows], course.forces[drawn_rows])),
        Panel("projection error / largest force", *projection, log_y=True),
    )
    return Plot(title, "time [s]", *panels, caption=caption)
