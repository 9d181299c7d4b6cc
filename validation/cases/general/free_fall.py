"""Free fall from rest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.errors import ForwardKinematicsError
from twin.model.integrate import Solution
from twin.validation.case import validation_case
from twin.validation.measures.comparison import trajectory_comparison
from twin.validation.measures.equilibrium import (
    duration_for,
    rest,
    stiff_scale,
    time_scale,
    whole_steps,
)
from twin.validation.measures.laws import balance_of, free_motion
from twin.validation.measures.sampling import moved_poses, platform_radius, stroke
from twin.validation.published.printed import (
    EXTENDED_SPACE_PAPER,
    FREE_FALLS,
    Comparison,
    FreeFall,
    PrintedValue,
    compared,
)
from twin.validation.results import CaseResult, Statement

ENGINE_TIME = 0.3
"""[s] Longest duration of the engines' falls."""

FALL_TIME = 1.0
"""[s] Longest fall of the reference."""

START_DIRECTION = np.array([0.8, -0.5, 0.3])
"""Direction of the initial displacement from home, along or about x, y and z, in parts of its
size."""

START_TILT = np.radians(2.5)
"""[rad] Size of the initial rotation from home."""

OFFSET_FRACTION = 0.01
"""Size of the initial displacement from home as a fraction of the stroke, for legs with springs
along them."""


@validation_case(needs_gravity=True, cost=0.7)
def check_free_fall(platform: Platform) -> CaseResult:
    """Free fall from rest.

    The machine falls without actuator forces. It starts tilted, as symmetric machines would
    otherwise only sink straight down. Where springs between platform and base carry it, it is let
    go a hundredth of the stroke beside home. Where a paper prints the end of a fall, it starts as
    there, and the end is compared. Both engines are compared with the reference over the first 0.3
    s (less in small machines and in stiff ones). The reference alone goes on to 1 s (less in stiff
    machines), through the base and through the singular pose in its plane, which task-space
    equations pass unharmed. On pillars it ends with the first part, before a strut has no length
    left. Its energy has to stay constant except for losses in dampers and friction.
    """
    initial = {"pose": start_pose(platform), "deflection": rest(platform).deflection}
    fall = free_fall(platform)
    duration = duration_for(platform, ENGINE_TIME)
    if fall.time[-1] < duration:
        duration = whole_steps(platform, float(fall.time[-1]))
    measures, plots = trajectory_comparison(platform, duration, "Free fall", **initial)
    balance = balance_of(platform, fall)
    crossing = singular_time(platform, fall)
    measures.append(balance.measure(f"reference: energy drift in {fall.time[-1]:.3g} s"))
    statements: tuple[Statement, ...] = ()
    if platform.name in FREE_FALLS and fall.time[-1] == FALL_TIME:
        printed = FREE_FALLS[platform.name]
        benchmark = tuple(_benchmark(printed, fall(FALL_TIME)[0]))
        measures.extend(comparison.measure for comparison in benchmark)
        statements = (
            *(comparison.statement for comparison in benchmark),
            *_statements(platform, printed, fall, crossing, balance.total),
        )
    return check_free_fall.result(platform, measures, plots, statements)


def start_pose(platform: Platform) -> FloatArray:
    """Return the pose `(7,)` from which a machine falls."""
    if platform.leg.has_axial_spring:
        offset = OFFSET_FRACTION * stroke(platform)
        shift = np.concatenate(
            [offset * START_DIRECTION, offset / platform_radius(platform) * START_DIRECTION]
        )
    elif platform.name in FREE_FALLS:
        return platform.home
    else:
        shift = np.concatenate([np.zeros(3), START_TILT * START_DIRECTION])
    return np.asarray(
        platform.constrain(moved_poses(platform.home[None], shift[None], 1.0)).pose[0]
    )


def free_fall(platform: Platform) -> Solution:
    """Return the fall of the reference, halved in duration if a leg cannot follow it."""
    max_duration = FALL_TIME if platform.dof == 6 else ENGINE_TIME
    duration = max_duration * (time_scale(platform) if platform.dof < 6 else stiff_scale(platform))
    return free_motion(
        platform, duration, pose=start_pose(platform), deflection=rest(platform).deflection
    )


CROSSING_STEP = 1e-5
"""[s] Time step near singular poses; the legs of srspm pass three of them within 0.2 ms."""


def singular_time(platform: Platform, fall: Solution) -> float | None:
    """Return the time [s] at which the determinant of a square Jacobian first changes sign."""
    if not platform.n_actuators == platform.dof == 6:
        return None
    from scipy.optimize import brentq

    def determinant(time: float | FloatArray) -> FloatArray:
        return np.asarray(np.linalg.det(platform.jacobian(fall(time)[0])))

    time = np.linspace(0.0, fall.time[-1], round(fall.time[-1] / CROSSING_STEP) + 1)
    values = determinant(time)
    sign_changes = np.flatnonzero(values[1:] * values[:-1] <= 0.0)
    if not sign_changes.size:
        return None
    return float(brentq(determinant, time[sign_changes[0]], time[sign_changes[0] + 1], xtol=1e-12))


def tracked_until(platform: Platform, fall: Solution, step: float) -> float:
    """Return the time [s] for which forward kinematics finds the pose of the falling legs.

    Each solution is the guess of the next one, `step` [s] later, as actuator-space equations do.
    """
    pose = platform.home
    for k in range(1, round(FALL_TIME / step) + 1):
        true_pose = fall(k * step)[0]
        try:
            pose = platform.forward_kinematics(platform.inverse_kinematics(true_pose), pose)
        except ForwardKinematicsError:
            return (k - 1) * step
        if np.abs(pose - true_pose).max() > 1e-6:
            return (k - 1) * step
    return FALL_TIME


def _benchmark(printed: FreeFall, end: FloatArray) -> Iterator[Comparison]:
    source = f"{EXTENDED_SPACE_PAPER}, code published with the paper: free fall from home"
    for axis, value, expected in (("x", end[0], printed.x), ("z", end[2], printed.z)):
        name = f"{axis} after {FALL_TIME:g} s"
        yield compared(PrintedValue(source, name, expected, "m"), float(value))


def _statements(
    platform: Platform, printed: FreeFall, fall: Solution, crossing: float | None, total: FloatArray
) -> tuple[Statement, ...]:
    tracked_time = tracked_until(platform, fall, printed.output_step)
    crossing_text = "none is passed" if crossing is None else f"it is passed at {crossing:.4f} s"
    drift_percent = 100.0 * float(np.abs(total - total[0]).max() / abs(total[0]))
    return (
        EXTENDED_SPACE_PAPER["singular_fall"].judged(
            f"The singular pose: {crossing_text}. Tracking the legs' lengths in steps of "
            f"{1e3 * printed.output_step:g} ms, forward kinematics finds the platform until "
            f"{tracked_time:.2f} s and not after.",
            abs(tracked_time - printed.singular_time) < 1e-6,
        ),
        EXTENDED_SPACE_PAPER["task_space_passes"].judged(
            f"The task-space reference runs through to {FALL_TIME:g} s without a stop.",
            bool(fall(FALL_TIME)[0][2] < 0.0),
        ),
        EXTENDED_SPACE_PAPER["total_energy"].not_given(
            f"Largest change {drift_percent:.1e} percent of the energy at the start.",
            "a curve without numbers",
        ),
    )
