"""The phases between the axes that leave least payload.

For small motions forces are linear in the accelerations, f = s + sum c_k a_k sin(w t + p_k), and
each leg's peak is largest, s + sum |c_k a_k|, when every axis is in phase or in opposition. That
bound starts a search over all phases with full inverse dynamics.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.payload.body import AffineForces, mass_steps
from twin.analysis.payload.criterion import SAMPLES, THESIS_CRITERION, Criterion, VibrationTest
from twin.analysis.payload.dynamic import FINE, SHARES, Progress
from twin.analysis.payload.positions import grid_positions
from twin.basics import canonical
from twin.basics.arrays import FloatArray
from twin.model.machine_model import MachineModel
from twin.model.motions import REST

CANDIDATES = 8
"""Positions of the lowest bounds, repeated with full inverse dynamics."""

PATTERN_STEPS = 20
"""Each finds a lower mass with another pattern of signs; a few are enough."""


class WorstPhase(NamedTuple):
    """Result of a search over phases; masses [kg] are of the whole body on the legs."""

    extensions: FloatArray
    """`(k, n)` positions searched [m] or [rad]"""
    poses: FloatArray
    """`(k, 7)`"""
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
    """`(n,)` at which that mass is found [m] or [rad]"""
    frequency: float
    """[Hz] at which it is found"""
    phases: FloatArray
    """`(6,)` [rad] of x, y, z, yaw, pitch, roll"""
    leg: int
    """that reaches its limit, from 1"""


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
    shares: Any = SHARES,
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
    best = _Found(np.inf, int(bounds.argmin()), float(criterion.frequencies[0]), patterns[0], 0)
    candidates = canonical.order(bounds)[:CANDIDATES]
    for number, row in enumerate(candidates, start=1):
        for frequency in criterion.frequencies:
            shaken = criterion.with_phases(patterns[row])
            runs = machine.run(shaken, frequency, positions.poses[row : row + 1], FINE)
            if runs.mass[0] < best.mass:
                mass, leg = float(runs.mass[0]), int(runs.leg[0])
                best = _Found(mass, int(row), float(frequency), patterns[row], leg)
        if progress is not None:
            progress(number, len(candidates) + 1)
    if np.isfinite(best.mass):
        best = _refined(machine, criterion, positions.poses, best)
    if progress is not None:
        progress(len(candidates) + 1, len(candidates) + 1)
    lowest = min(best.mass, float(bounds.min()))
    passes, fails = mass_steps(lowest, start, machine.payload.step if step is None else step)
    if not np.isfinite(best.mass):
        passes, fails = None, None
    first = None
    if fails is not None:
        first = positions.extensions[int((bounds < fails).argmax())]
    return WorstPhase(
        extensions=positions.extensions,
        poses=positions.poses,
        bounds=bounds,
        patterns=patterns,
        passes_kg=passes,
        fails_kg=fails,
        first_failure=first,
        bound_kg=float(bounds.min()),
        limit_kg=best.mass,
        position=positions.extensions[best.row],
        frequency=best.frequency,
        phases=best.phases,
        leg=best.leg,
    )


def phase_bounds(
    machine: VibrationTest, criterion: Criterion, poses: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return largest masses `(k,)` of small motions about poses `(k, 7)`, and phases `(k, 6)`.

    The peak force is convex and piecewise linear in the mass, so Newton's steps come down on the
    limit and end there.
    """
    payload = machine.payload
    still = payload.forces(poses, REST, REST)
    parts = []
    for row in criterion.unit_accelerations():
        moving = payload.forces(poses, REST, row)
        parts.append((moving.fixed - still.fixed, moving.per_kilogram - still.per_kilogram))
    fixed, slope = (np.stack(part, axis=-1) for part in zip(*parts, strict=True))
    sides = (1.0, -1.0) if machine.sense == "magnitude" else (1.0,)
    found = [_bounds(still, fixed, slope, payload.limits, side) for side in sides]
    masses = np.concatenate([mass for mass, _ in found], axis=1)
    signs = np.concatenate([sign for _, sign in found], axis=1)
    worst = masses.argmin(axis=1)
    rows = np.arange(len(poses))
    chosen = signs[rows, worst]
    # Only phases between axes matter: the first axis that moves keeps phase zero.
    leading = int(np.flatnonzero(criterion.accelerations)[0])
    relative = chosen * chosen[:, leading : leading + 1]
    return masses[rows, worst], np.where(relative < 0.0, np.pi, 0.0)


def _bounds(
    still: AffineForces, fixed: FloatArray, slope: FloatArray, limits: FloatArray, side: float
) -> tuple[FloatArray, FloatArray]:
    """Return masses `(k, n)` and the signs of the axes `(k, n, 6)` at them."""
    mass = np.zeros(still.fixed.shape)
    signs = np.ones(fixed.shape)
    for _ in range(PATTERN_STEPS):
        signs = np.where(fixed + mass[..., None] * slope < 0.0, -1.0, 1.0)
        total = AffineForces(
            side * still.fixed + (signs * fixed).sum(axis=-1),
            side * still.per_kilogram + (signs * slope).sum(axis=-1),
        )
        lower = total.largest_mass(limits, "signed")
        lower = np.where(np.isfinite(lower), lower, mass)
        if np.array_equal(lower, mass):
            break
        mass = lower
    endless = ~np.isfinite(total.largest_mass(limits, "signed"))
    return np.where(endless, np.inf, mass), signs


def _refined(
    machine: VibrationTest, criterion: Criterion, poses: FloatArray, start: _Found
) -> _Found:
    """Return what is left when all phases at one position and frequency may change."""
    from scipy.optimize import minimize

    pose = poses[start.row : start.row + 1]
    moving = np.flatnonzero(criterion.accelerations)[1:]

    def phases(free: FloatArray) -> FloatArray:
        full = start.phases.copy()
        full[moving] = free
        return full

    def mass(free: FloatArray, samples: int = SAMPLES) -> float:
        runs = machine.run(criterion.with_phases(phases(free)), start.frequency, pose, samples)
        return float(runs.mass[0])

    if not len(moving):
        return start
    found = minimize(
        mass, start.phases[moving], args=(4 * SAMPLES,), method="Nelder-Mead",
        options={"xatol": 1e-3, "fatol": 1e-4, "maxfev": 400},
    )  # fmt: skip
    turned = np.remainder(phases(found.x), 2.0 * np.pi)
    runs = machine.run(criterion.with_phases(turned), start.frequency, pose, FINE)
    if not runs.mass[0] < start.mass:
        return start
    return _Found(float(runs.mass[0]), start.row, start.frequency, turned, int(runs.leg[0]))
