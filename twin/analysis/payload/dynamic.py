"""The largest payload that a machine can shake, over positions and frequencies.

Inverse dynamics is affine in the body's mass at every instant, so each run gives the largest
mass directly.

For small motions forces are linear in the accelerations, f = s + sum c_k a_k sin(w t + p_k), and
each leg's peak is largest, s + sum |c_k a_k|, when every axis is in phase or in opposition. That
bounds the payload whatever the phases between the axes.

The searches are written as plain content for files; the figure is the largest force over the mass.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.payload.body import AffineForces, MassSteps, mass_steps
from twin.analysis.payload.static import (
    PERIOD_SAMPLES,
    THESIS_CRITERION,
    Criterion,
    StaticPayload,
    VibrationTest,
    grid_positions,
)
from twin.basics.arrays import FloatArray
from twin.charts.panels import Axes, Line, panels_figure
from twin.model.machine_base import ZERO_VECTOR
from twin.model.machine_model import MachineModel, as_model

AMPLITUDE_FRACTIONS = (5.0 / 23.0, 10.0 / 23.0, 15.0 / 23.0, 20.0 / 23.0)
"""Amplitudes as fractions of the stroke; Stewart thesis, section 4.2.2: 0.05, 0.10, 0.15, 0.20 of
0.23 m."""

FINE_SAMPLES = 360
"""Times in a period of runs that decide: they miss 4e-5 of what moves."""


PATTERN_STEPS = 20
"""Maximum number of steps, each of which lowers the mass with another pattern of signs."""


CURVE_POINTS = 81
"""Number of masses on the curve of the figure."""


class DynamicPayload(NamedTuple):
    """Result of a dynamic search; masses [kg] are of the whole body on the legs."""

    criterion: Criterion
    extensions: FloatArray
    """`(k, n)` positions searched [m] or [rad], in search order"""
    poses: FloatArray
    """poses `(k, 7)` at these positions"""
    masses: FloatArray
    """`(k, f)` largest mass per position and frequency; infinite: no limit, or run left out"""
    outcomes: FloatArray
    """`(k, f)` 0: done; left out, 1: beyond an actuator's ends, 2: beyond its largest speed"""
    passes_kg: float | None
    """last mass that passes all runs; None: the first mass fails, or every run was left out"""
    fails_kg: float | None
    """next mass, which fails; None: every mass passes, or every run was left out"""
    first_failure: FloatArray | None
    """`(n,)` first position at which that mass fails"""
    first_failure_frequency: float | None
    """[Hz] first frequency at which it fails in that position"""
    exact_limit_kg: float
    """largest mass on the grid, between the steps; infinite: every mass passes, or no run done"""
    exact_position: FloatArray
    """`(n,)` position where that limit is reached"""
    exact_frequency: float
    """frequency [Hz] at which that limit is reached"""
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

    Raises:
        InputError: a machine without six degrees of freedom, legs that give way, no limit known, or
            numbers out of range.

    Reference:
        Stewart thesis, section 4.2.2 and appendix A.6.
    """
    machine = VibrationTest(platform, limit, sense, checked=checked)
    positions = grid_positions(platform, shares)
    runs = [
        machine.run(criterion, frequency, positions.poses) for frequency in criterion.frequencies
    ]
    masses, legs, outcomes = (np.stack(arrays, axis=1) for arrays in zip(*runs, strict=True))

    def repeat(mask: Any) -> None:
        """Repeat the runs `(k, f)` that are chosen, with more samples."""
        mask = mask & np.isfinite(masses)
        for column in np.flatnonzero(mask.any(axis=0)):
            rows = np.flatnonzero(mask[:, column])
            fine_runs = machine.run(
                criterion, criterion.frequencies[column], positions.poses[rows], FINE_SAMPLES
            )
            masses[rows, column], legs[rows, column] = fine_runs.mass, fine_runs.leg

    # A sine sampled beside its peak misses 1 - cos of it; twice that for what stays the same.
    sampling_error = 2.0 * (1.0 - np.cos(np.pi / PERIOD_SAMPLES))
    repeat(masses <= masses.min() * (1.0 + sampling_error))
    step_size = machine.payload.step if step is None else step
    steps = mass_steps(float(masses.min()), start, step_size)
    if outcomes.all():  # every run was left out
        steps = MassSteps(None, None)
    first_failure, frequency = None, None
    if steps.fails is not None:
        repeat(np.abs(masses / steps.fails - 1.0) < sampling_error)
        failing = masses < steps.fails
        index = int(failing.any(axis=1).argmax())
        first_failure = positions.extensions[index]
        frequency = float(criterion.frequencies[int(failing[index].argmax())])
    row, column = np.unravel_index(int(masses.argmin()), masses.shape)
    return DynamicPayload(
        criterion=criterion,
        extensions=positions.extensions,
        poses=positions.poses,
        masses=masses,
        outcomes=outcomes,
        passes_kg=steps.passes,
        fails_kg=steps.fails,
        first_failure=first_failure,
        first_failure_frequency=frequency,
        exact_limit_kg=float(masses[row, column]),
        exact_position=positions.extensions[row],
        exact_frequency=float(criterion.frequencies[column]),
        exact_leg=int(legs[row, column]),
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
    moved = [payload.forces(poses, ZERO_VECTOR, row) for row in criterion.unit_accelerations()]
    fixed = np.stack([forces.fixed for forces in moved], axis=-1)
    slope = np.stack([forces.per_kilogram for forces in moved], axis=-1)
    fixed -= static_forces.fixed[..., None]
    slope -= static_forces.per_kilogram[..., None]
    force_signs = (1.0, -1.0) if machine.sense == "magnitude" else (1.0,)
    bounds = [_bounds(static_forces, fixed, slope, payload.limits, sign) for sign in force_signs]
    masses, signs = (np.concatenate(parts, axis=1) for parts in zip(*bounds, strict=True))
    worst_leg = masses.argmin(axis=1)
    rows = np.arange(len(poses))
    axis_signs = signs[rows, worst_leg]
    # Only phases between axes matter: the first axis that moves keeps phase zero.
    first_axis = int(np.flatnonzero(criterion.accelerations)[0])
    relative = axis_signs * axis_signs[:, first_axis : first_axis + 1]
    return masses[rows, worst_leg], np.where(relative < 0.0, np.pi, 0.0)


def _bounds(
    static_forces: AffineForces,
    fixed: FloatArray,
    slope: FloatArray,
    limits: FloatArray,
    force_sign: float,
) -> tuple[FloatArray, FloatArray]:
    """Return masses `(k, n)` and the signs of the axes `(k, n, 6)` at them."""
    mass = np.zeros(static_forces.fixed.shape)
    signs = np.ones(fixed.shape)
    for _ in range(PATTERN_STEPS):
        signs = np.where(fixed + mass[..., None] * slope < 0.0, -1.0, 1.0)
        peak_forces = AffineForces(
            force_sign * static_forces.fixed + (signs * fixed).sum(axis=-1),
            force_sign * static_forces.per_kilogram + (signs * slope).sum(axis=-1),
        )
        next_mass = peak_forces.largest_mass(limits, "signed")
        next_mass = np.where(np.isfinite(next_mass), next_mass, mass)
        if np.array_equal(next_mass, mass):
            break
        mass = next_mass
    is_unlimited = ~np.isfinite(peak_forces.largest_mass(limits, "signed"))
    return np.where(is_unlimited, np.inf, mass), signs


def payload_record(
    platform: MachineModel,
    at_rest: StaticPayload,
    in_phase: DynamicPayload | None = None,
    backwards: DynamicPayload | None = None,
) -> dict[str, Any]:
    """Return searches as content of a file.

    Keys: `machine`, `parameters` (their hash), `force_unit`, `coordinate_unit`, `limits` `(n,)`,
    `sense`, `positions`, `skipped`, `passes_kg`, `fails_kg` (null: none), `first_failure` `(n,)`
    (extensions beyond the lower ends of the actuators, or null), `exact_limit_kg`,
    `exact_position` `(n,)`, `exact_leg` (from 1), and `dynamic` (null without).

    Keys of `dynamic`: `frequencies`, `in_phase` and `backwards` (rotations as the thesis prints
    them, null for other machines). The last two have `passes_kg`, `fails_kg`, `first_failure`,
    `first_failure_frequency`, `exact_limit_kg`, `exact_position`, `exact_frequency`, `exact_leg`
    and `left_out` (runs beyond an actuator's ends or speeds, per frequency).

    Args:
        platform: the machine.
        at_rest: the search at rest.
        in_phase: the search under shaking; None: not searched.
        backwards: that with rotations backwards.
    """
    search_names = (
        "passes_kg",
        "fails_kg",
        "first_failure",
        "exact_limit_kg",
        "exact_position",
        "exact_leg",
    )
    shaking_names = (*search_names, "first_failure_frequency", "exact_frequency", "left_out")
    content = {
        "machine": platform.name,
        "parameters": platform.hash,
        "force_unit": platform.force_unit,
        "coordinate_unit": platform.coordinate_unit,
        "positions": len(at_rest.extensions),
        **_fields(at_rest, ("limits", "sense", "skipped", *search_names)),
        "dynamic": None,
    }
    if in_phase is not None:
        content["dynamic"] = {
            "frequencies": in_phase.criterion.frequencies,
            "in_phase": _fields(in_phase, shaking_names),
            "backwards": None if backwards is None else _fields(backwards, shaking_names),
        }
    return content


def _fields(result: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(result, name) for name in names}


def static_figure(platform: MachineModel, result: StaticPayload) -> Any:
    """Return a plotly figure of the largest static force or torque over the payload's mass.

    Raises:
        InputError: not a machine.
        MissingDependencyError: plotly is not installed.
    """
    unit = as_model(platform).force_unit
    axis_limit = 1.3 * result.exact_limit_kg
    masses = (
        np.linspace(0.0, axis_limit, CURVE_POINTS)
        if np.isfinite(axis_limit) and axis_limit > 0.0
        else np.arange(2.0)
    )
    limit = float(result.limits.min())
    label = "torque" if unit == "N m" else "force"
    curves = [
        Line("largest on the grid", masses, result.largest_force(masses)),
        Line("limit", masses[[0, -1]], np.array([limit, limit]), "dash"),
    ]
    for name, mass in (
        ("last that holds", result.passes_kg),
        ("first that does not", result.fails_kg),
    ):
        if mass is not None and np.isfinite(mass):
            marked = np.array([mass])
            force = result.largest_force(marked)
            curves.append(Line(f"{name}, {mass:g} kg", marked, force, "markers"))
    panels = [Axes(f"{label} [{unit}]", curves)]
    return panels_figure(panels, "mass [kg]", title=f"{platform.name}: largest payload at rest")
