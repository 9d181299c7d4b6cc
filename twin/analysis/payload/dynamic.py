"""The largest payload that a machine can shake, over positions, frequencies and phases.

Inverse dynamics is affine in the body's mass at every instant, so each run gives the largest
mass directly.

The phases between the axes that leave least payload: for small motions forces are linear in the
accelerations, f = s + sum c_k a_k sin(w t + p_k), and each leg's peak is largest,
s + sum |c_k a_k|, when every axis is in phase or in opposition. That bound starts a search over
all phases with full inverse dynamics.

The searches are written as plain content for files, and drawn: largest force over mass, mass over
frequency.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.payload.body import AffineForces, MassSteps, mass_steps
from twin.analysis.payload.static import (
    PERIOD_SAMPLES,
    THESIS_CRITERION,
    THESIS_MACHINE,
    Criterion,
    Positions,
    StaticPayload,
    VibrationTest,
    grid_positions,
)
from twin.basics import canonical
from twin.basics.arrays import FloatArray, as_floats, whole_number
from twin.charts.panels import Axes, Line, panels_figure
from twin.errors import InputError
from twin.model.machine_base import ZERO_VECTOR
from twin.model.machine_model import MachineModel, as_model

AMPLITUDE_FRACTIONS = (5.0 / 23.0, 10.0 / 23.0, 15.0 / 23.0, 20.0 / 23.0)
"""Amplitudes as fractions of the stroke; Stewart thesis, section 4.2.2: 0.05, 0.10, 0.15, 0.20 of
0.23 m."""

FINE_SAMPLES = 360
"""Times in a period of runs that decide: they miss 4e-5 of what moves."""

MAX_CANDIDATES = 8
"""Maximum number of positions, those with the lowest bounds, repeated with full inverse dynamics.
"""

PATTERN_STEPS = 20
"""Maximum number of steps, each of which lowers the mass with another pattern of signs."""

SWEPT_POSITIONS = 48
"""Number of worst positions of a search that are swept; the others are not decisive."""

WORST_POSITIONS = 8
"""Number of worst positions that are swept with phases of their own."""

SWEEP_SAMPLES = 72
"""Times in a period of the runs of a sweep."""

CURVE_POINTS = 81
"""Number of masses on the curve of the figure."""

Progress = Callable[[int, int], None]
"""Called with the number of parts that are done and of all parts."""


class DynamicPayload(NamedTuple):
    """Result of a dynamic search; masses [kg] are of the whole body on the legs."""

    criterion: Criterion
    extensions: FloatArray
    """`(k, n)` positions searched [m] or [rad], in search order"""
    poses: FloatArray
    """poses `(k, 7)` at these positions"""
    masses: FloatArray
    """`(k, f)` largest of each run; infinite where it was left out"""
    outcomes: FloatArray
    """`(k, f)` 0: done; 1: left out, beyond an actuator's ends; 2: left out, faster than one"""
    passes_kg: float | None
    """last mass that passes all runs; None: not even the first one, or every run was left out"""
    fails_kg: float | None
    """the next one; None: every run was left out"""
    first_failure: FloatArray | None
    """`(n,)` first position at which that one fails"""
    first_frequency: float | None
    """[Hz] first at that position"""
    exact_limit_kg: float
    """largest mass on the grid, between the steps; infinite where every run was left out"""
    exact_position: FloatArray
    """`(n,)` position where it is reached"""
    exact_frequency: float
    """frequency [Hz] at which it is reached"""
    exact_leg: int
    """number of the leg that reaches its limit there, from 1; 0: none"""

    @property
    def left_out(self) -> tuple[int, ...]:
        """Number of positions left out, per frequency."""
        return tuple(int(count) for count in (self.outcomes > 0.0).sum(axis=0))


def dynamic_payload(
    platform: MachineModel,
    criterion: Criterion = THESIS_CRITERION,
    *,
    limit: Any = None,
    shares: Any = AMPLITUDE_FRACTIONS,
    start: float | None = None,
    step: float | None = None,
    sense: str = "magnitude",
    checked: bool = True,
    samples: int = PERIOD_SAMPLES,
    progress: Progress | None = None,
) -> DynamicPayload:
    """Return the largest payload with which a machine meets a criterion.

    Args:
        platform: with six actuators and degrees of freedom.
        criterion: accelerations, frequencies, phases.
        limit: largest force [N] or torque [N m] of the actuators, default what its file gives.
        shares: positions of every actuator in parts of its stroke.
        start: first mass [kg] tried, default the step.
        step: what is added to it [kg], default about a thirtieth of what the machine holds at home.
        sense: "magnitude", or "signed" for pushing forces alone, as the thesis' code.
        checked: whether runs beyond the actuators' ends or speeds are left out.
        samples: times in a period; runs that decide are repeated with more.
        progress: called after every frequency.

    Raises:
        InputError: a machine without six degrees of freedom, legs that give way, no limit known, or
            numbers out of range.

    Reference:
        Stewart thesis, section 4.2.2 and appendix A.6.
    """
    whole_number(samples, "samples", 8)
    machine = VibrationTest(platform, limit, sense, checked=checked)
    positions = grid_positions(platform, shares)
    runs = []
    for number, frequency in enumerate(criterion.frequencies, start=1):
        runs.append(machine.run(criterion, frequency, positions.poses, samples))
        if progress is not None:
            progress(number, len(criterion.frequencies))
    masses, legs, statuses = (np.stack(arrays, axis=1) for arrays in zip(*runs, strict=True))

    def repeat(chosen: Any) -> None:
        """Repeat the runs `(k, f)` that are chosen, with more samples."""
        chosen = chosen & np.isfinite(masses)
        for column in np.flatnonzero(chosen.any(axis=0)):
            rows = np.flatnonzero(chosen[:, column])
            repeated = machine.run(
                criterion, criterion.frequencies[column], positions.poses[rows], FINE_SAMPLES
            )
            masses[rows, column], legs[rows, column] = repeated.mass, repeated.leg

    # A sine sampled beside its peak misses 1 - cos of it; twice that for what stays the same.
    sampling_error = 2.0 * (1.0 - np.cos(np.pi / samples))
    repeat(masses <= masses.min() * (1.0 + sampling_error))
    step_size = machine.payload.step if step is None else step
    steps = mass_steps(float(masses.min()), start, step_size)
    if not np.isfinite(masses).any():
        steps = MassSteps(None, None)
    if steps.fails is not None:
        repeat(np.abs(masses / steps.fails - 1.0) < sampling_error)
    return _result(criterion, positions, masses, legs, statuses, steps)


def _result(
    criterion: Criterion,
    positions: Positions,
    masses: FloatArray,
    legs: FloatArray,
    outcomes: FloatArray,
    steps: MassSteps,
) -> DynamicPayload:
    row, column = np.unravel_index(int(masses.argmin()), masses.shape)
    first_failure, frequency = None, None
    if steps.fails is not None:
        failing = masses < steps.fails
        index = int(failing.any(axis=1).argmax())
        first_failure = positions.extensions[index]
        frequency = float(criterion.frequencies[int(failing[index].argmax())])
    return DynamicPayload(
        criterion=criterion,
        extensions=positions.extensions,
        poses=positions.poses,
        masses=masses,
        outcomes=outcomes,
        passes_kg=steps.passes,
        fails_kg=steps.fails,
        first_failure=first_failure,
        first_frequency=frequency,
        exact_limit_kg=float(masses[row, column]),
        exact_position=positions.extensions[row],
        exact_frequency=float(criterion.frequencies[column]),
        exact_leg=int(legs[row, column]),
    )


class WorstPhase(NamedTuple):
    """Result of a search over phases; masses [kg] are of the whole body on the legs."""

    extensions: FloatArray
    """`(k, n)` positions searched [m] or [rad]"""
    poses: FloatArray
    """poses `(k, 7)` at these positions"""
    bounds: FloatArray
    """`(k,)` largest masses of small motions with each position's own worst phases"""
    patterns: FloatArray
    """`(k, 6)` those phases [rad], 0 or pi"""
    passes_kg: float | None
    """last mass that holds whatever the phases; None: not even the first one, or nothing was run"""
    fails_kg: float | None
    """the next one; None: all runs were left out"""
    first_failure: FloatArray | None
    """`(n,)` first position that has phases with which it fails"""
    bound_kg: float
    """the least of `bounds`"""
    limit_kg: float
    """found with full inverse dynamics over all phases; infinite where all runs are left out"""
    position: FloatArray
    """`(n,)` position [m] or [rad] at which that mass is found"""
    frequency: float
    """frequency [Hz] at which it is found"""
    phases: FloatArray
    """`(6,)` phases [rad] of x, y, z, yaw, pitch, roll"""
    leg: int
    """number of the leg that reaches its limit, from 1"""


class _Found(NamedTuple):
    mass: float
    row: int
    frequency: float
    phases: FloatArray
    leg: int


def worst_phase(
    platform: MachineModel,
    criterion: Criterion = THESIS_CRITERION,
    *,
    limit: Any = None,
    shares: Any = AMPLITUDE_FRACTIONS,
    start: float | None = None,
    step: float | None = None,
    sense: str = "magnitude",
    checked: bool = True,
    progress: Progress | None = None,
) -> WorstPhase:
    """Return the largest payload a machine moves whatever the phases between the axes.

    Arguments and errors are those of `dynamic_payload`; the criterion's own phases do not matter.
    """
    machine = VibrationTest(platform, limit, sense, checked=checked)
    positions = grid_positions(platform, shares)
    bounds, patterns = phase_bounds(machine, criterion, positions.poses)
    worst_found = _Found(
        np.inf, int(bounds.argmin()), float(criterion.frequencies[0]), patterns[0], 0
    )
    candidates = canonical.order(bounds)[:MAX_CANDIDATES]
    for number, row in enumerate(candidates, start=1):
        for frequency in criterion.frequencies:
            shaken = criterion.with_phases(patterns[row])
            runs = machine.run(shaken, frequency, positions.poses[row : row + 1], FINE_SAMPLES)
            if runs.mass[0] < worst_found.mass:
                mass, leg = float(runs.mass[0]), int(runs.leg[0])
                worst_found = _Found(mass, int(row), float(frequency), patterns[row], leg)
        if progress is not None:
            progress(number, len(candidates) + 1)
    if np.isfinite(worst_found.mass):
        worst_found = _refined(machine, criterion, positions.poses, worst_found)
    if progress is not None:
        progress(len(candidates) + 1, len(candidates) + 1)
    lowest = min(worst_found.mass, float(bounds.min()))
    passes, fails = mass_steps(lowest, start, machine.payload.step if step is None else step)
    if not np.isfinite(worst_found.mass):
        passes, fails = None, None
    first_failure = None
    if fails is not None:
        first_failure = positions.extensions[int((bounds < fails).argmax())]
    return WorstPhase(
        extensions=positions.extensions,
        poses=positions.poses,
        bounds=bounds,
        patterns=patterns,
        passes_kg=passes,
        fails_kg=fails,
        first_failure=first_failure,
        bound_kg=float(bounds.min()),
        limit_kg=worst_found.mass,
        position=positions.extensions[worst_found.row],
        frequency=worst_found.frequency,
        phases=worst_found.phases,
        leg=worst_found.leg,
    )


def phase_bounds(
    machine: VibrationTest, criterion: Criterion, poses: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return largest masses `(k,)` of small motions about poses `(k, 7)`, and phases `(k, 6)`.

    The peak force is convex and piecewise linear in the mass, so Newton's steps come down on the
    limit and end there.
    """
    payload = machine.payload
    static_forces = payload.forces(poses, ZERO_VECTOR, ZERO_VECTOR)
    amplitudes = []
    for row in criterion.unit_accelerations():
        axis_forces = payload.forces(poses, ZERO_VECTOR, row)
        amplitudes.append(
            (
                axis_forces.fixed - static_forces.fixed,
                axis_forces.per_kilogram - static_forces.per_kilogram,
            )
        )
    fixed, slope = (np.stack(axis_parts, axis=-1) for axis_parts in zip(*amplitudes, strict=True))
    force_signs = (1.0, -1.0) if machine.sense == "magnitude" else (1.0,)
    bounds = [
        _bounds(static_forces, fixed, slope, payload.limits, force_sign)
        for force_sign in force_signs
    ]
    masses = np.concatenate([mass for mass, _ in bounds], axis=1)
    signs = np.concatenate([sign for _, sign in bounds], axis=1)
    worst_leg = masses.argmin(axis=1)
    rows = np.arange(len(poses))
    axis_signs = signs[rows, worst_leg]
    # Only phases between axes matter: the first axis that moves keeps phase zero.
    first_axis = int(np.flatnonzero(criterion.accelerations)[0])
    relative = axis_signs * axis_signs[:, first_axis : first_axis + 1]
    return masses[rows, worst_leg], np.where(relative < 0.0, np.pi, 0.0)


def _bounds(
    still: AffineForces, fixed: FloatArray, slope: FloatArray, limits: FloatArray, side: float
) -> tuple[FloatArray, FloatArray]:
    """Return masses `(k, n)` and the signs of the axes `(k, n, 6)` at them."""
    mass = np.zeros(still.fixed.shape)
    signs = np.ones(fixed.shape)
    for _ in range(PATTERN_STEPS):
        signs = np.where(fixed + mass[..., None] * slope < 0.0, -1.0, 1.0)
        peak_forces = AffineForces(
            side * still.fixed + (signs * fixed).sum(axis=-1),
            side * still.per_kilogram + (signs * slope).sum(axis=-1),
        )
        lower = peak_forces.largest_mass(limits, "signed")
        lower = np.where(np.isfinite(lower), lower, mass)
        if np.array_equal(lower, mass):
            break
        mass = lower
    is_unlimited = ~np.isfinite(peak_forces.largest_mass(limits, "signed"))
    return np.where(is_unlimited, np.inf, mass), signs


def _refined(
    machine: VibrationTest, criterion: Criterion, poses: FloatArray, start: _Found
) -> _Found:
    """Return the lowest payload found when all phases at one position and frequency vary."""
    from scipy.optimize import minimize

    pose = poses[start.row : start.row + 1]
    free_axes = np.flatnonzero(criterion.accelerations)[1:]

    def phases(free: FloatArray) -> FloatArray:
        all_phases = start.phases.copy()
        all_phases[free_axes] = free
        return all_phases

    def mass(free: FloatArray, samples: int = PERIOD_SAMPLES) -> float:
        runs = machine.run(criterion.with_phases(phases(free)), start.frequency, pose, samples)
        return float(runs.mass[0])

    if not len(free_axes):
        return start
    optimum = minimize(
        mass, start.phases[free_axes], args=(4 * PERIOD_SAMPLES,), method="Nelder-Mead",
        options={"xatol": 1e-3, "fatol": 1e-4, "maxfev": 400},
    )  # fmt: skip
    optimal_phases = np.remainder(phases(optimum.x), 2.0 * np.pi)
    runs = machine.run(criterion.with_phases(optimal_phases), start.frequency, pose, FINE_SAMPLES)
    if not runs.mass[0] < start.mass:
        return start
    return _Found(float(runs.mass[0]), start.row, start.frequency, optimal_phases, int(runs.leg[0]))


class FrequencySweep(NamedTuple):
    """Largest masses [kg] over frequency, ends and speeds of actuators ignored."""

    frequency: FloatArray
    """frequencies `(f,)` [Hz]"""
    in_phase: FloatArray
    """`(f,)` masses with the criterion's own phases"""
    worst_phase: FloatArray
    """`(f,)` masses with each position's worst phases"""
    backwards: FloatArray
    """`(f,)` masses with the criterion's own phases and rotations that run backwards"""


def frequency_sweep(
    platform: MachineModel,
    dynamic: DynamicPayload,
    worst: WorstPhase,
    frequencies: Any,
    *,
    limit: Any = None,
    sense: str = "magnitude",
) -> FrequencySweep:
    """Return the largest masses over frequencies `(f,)` [Hz] at the worst positions of searches.

    Raises:
        InputError: as `dynamic_payload`, or frequencies that are no numbers above zero.
    """
    rates = as_floats(frequencies, "frequencies")
    if rates.ndim != 1 or not rates.size or not (rates > 0.0).all():
        raise InputError("frequencies", "must be numbers above zero, in Hz")
    machine = VibrationTest(platform, limit, sense, checked=False)
    rows = canonical.order(dynamic.masses.min(axis=1))[:SWEPT_POSITIONS]
    poses = dynamic.poses[rows]
    criterion = dynamic.criterion
    opposite = criterion._replace(reversed_rotation=not criterion.reversed_rotation)
    own_positions = canonical.order(worst.bounds)[:WORST_POSITIONS]

    def lowest(shaken: Criterion, frequency: float, centers: FloatArray) -> float:
        return float(machine.run(shaken, frequency, centers, SWEEP_SAMPLES).mass.min())

    def lowest_own(frequency: float) -> float:
        return min(
            lowest(
                criterion.with_phases(worst.patterns[row]), frequency, worst.poses[row : row + 1]
            )
            for row in own_positions
        )

    return FrequencySweep(
        rates,
        np.array([lowest(criterion, rate, poses) for rate in rates]),
        np.array([lowest_own(rate) for rate in rates]),
        np.array([lowest(opposite, rate, poses) for rate in rates]),
    )


def payload_record(
    platform: MachineModel,
    still: StaticPayload,
    dynamic: tuple[DynamicPayload, DynamicPayload | None, WorstPhase] | None,
) -> dict[str, Any]:
    """Return searches as JSON can hold them; infinite numbers are null.

    Keys: `machine`, `parameters` (their hash), `force_unit`, `coordinate_unit`, `limits` `(n,)`,
    `sense`, `positions`, `skipped`, `passes_kg`, `fails_kg` (null: none), `first_failure` `(n,)`
    (extensions beyond the lower ends of the actuators, or null), `exact_limit_kg`,
    `exact_position` `(n,)`, `exact_leg` (from 1), `continuous_limit_kg`, `continuous_position`
    `(n,)`, `continuous_pose` `(7,)`, `continuous_leg`, `continuous_at_corner` and `dynamic` (null
    without).

    Keys of `dynamic`: `frequencies`, `in_phase`, `backwards` (rotations as the thesis prints them,
    null for other machines) and `worst_phase`. The second and the third have `passes_kg`,
    `fails_kg`, `first_failure`, `first_failure_frequency`, `exact_limit_kg`, `exact_position`,
    `exact_frequency`, `exact_leg` and `left_out` (runs beyond an actuator's ends or speeds, per
    frequency). The last has `passes_kg`, `fails_kg`, `first_failure`, `bound_kg`, `limit_kg`,
    `position`, `frequency`, `phases` `(6,)` (x, y, z, yaw, pitch, roll) and `leg`.

    Args:
        platform: the machine.
        still: the search at rest.
        dynamic: axes in phase, rotations backwards (None for machines other than the thesis'),
            worst phases; None: not searched.
    """
    continuous = still.continuous
    content = {
        "machine": platform.name,
        "parameters": platform.hash,
        "force_unit": platform.force_unit,
        "coordinate_unit": platform.coordinate_unit,
        "limits": still.limits,
        "sense": still.sense,
        "positions": len(still.extensions),
        "skipped": still.skipped,
        **_fields(still, "passes_kg", "fails_kg", "first_failure"),
        **_fields(still, "exact_limit_kg", "exact_position", "exact_leg"),
        "continuous_limit_kg": continuous.limit_kg,
        "continuous_position": continuous.position,
        "continuous_pose": continuous.pose,
        "continuous_leg": continuous.leg,
        "continuous_at_corner": continuous.corner,
        "dynamic": None,
    }
    if dynamic is not None:
        forwards, backwards, worst_phases = dynamic
        content["dynamic"] = {
            "frequencies": forwards.criterion.frequencies,
            "in_phase": _dynamic(forwards),
            "backwards": None if backwards is None else _dynamic(backwards),
            "worst_phase": _fields(
                worst_phases, "passes_kg", "fails_kg", "first_failure", "bound_kg", "limit_kg",
                "position", "frequency", "phases", "leg",
            ),
        }  # fmt: skip
    return {key: _plain(value) for key, value in content.items()}


def _dynamic(found: DynamicPayload) -> dict[str, Any]:
    names = ("passes_kg", "fails_kg", "first_failure", "exact_limit_kg", "exact_position")
    fields = _fields(found, *names, "exact_frequency", "exact_leg", "left_out")
    return fields | {"first_failure_frequency": found.first_frequency}


def _fields(found: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(found, name) for name in names}


def _plain(value: Any) -> Any:
    """Return what JSON can hold: arrays as lists, numbers that are not finite as null."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (tuple, list, np.ndarray)):
        return [_plain(entry) for entry in value]
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.12g}") if np.isfinite(value) else None
    return value


def static_figure(platform: MachineModel, found: StaticPayload) -> Any:
    """Return a plotly figure of the largest static force or torque over the payload's mass.

    Raises:
        InputError: not a machine.
        MissingDependencyError: plotly is not installed.
    """
    unit = as_model(platform).force_unit
    axis_limit = 1.3 * found.exact_limit_kg
    masses = (
        np.linspace(0.0, axis_limit, CURVE_POINTS)
        if np.isfinite(axis_limit) and axis_limit > 0.0
        else np.arange(2.0)
    )
    limit = float(found.limits.min())
    label = "torque" if unit == "N m" else "force"
    curves = [
        Line("largest on the grid", masses, found.largest_force(masses)),
        Line("limit", masses[[0, -1]], np.array([limit, limit]), "dash"),
    ]
    for name, mass in (
        ("last that holds", found.passes_kg),
        ("first that does not", found.fails_kg),
    ):
        if mass is not None and np.isfinite(mass):
            marker_mass = np.array([mass])
            curves.append(
                Line(
                    f"{name}, {mass:g} kg", marker_mass, found.largest_force(marker_mass), "markers"
                )
            )
    panels = [Axes(f"{label} [{unit}]", curves)]
    return panels_figure(panels, "mass [kg]", title=f"{platform.name}: largest payload at rest")


def sweep_figure(platform: MachineModel, sweep: FrequencySweep) -> Any:
    """Return a plotly figure of the largest masses of a machine over frequency.

    Ends and speeds of the actuators are ignored, as in `FrequencySweep`.

    Raises:
        InputError: not a machine.
        MissingDependencyError: plotly is not installed.
    """
    title = f"{as_model(platform).name}: largest payload under shaking, ends and speeds ignored"
    lines = [
        Line("in phase", sweep.frequency, sweep.in_phase),
        Line("worst phases", sweep.frequency, sweep.worst_phase),
    ]
    if platform.name == THESIS_MACHINE:
        lines.append(Line("rotations backwards", sweep.frequency, sweep.backwards, "dash"))
    panels = [Axes("mass [kg]", lines)]
    return panels_figure(panels, "frequency [Hz]", log_x=True, title=title)
