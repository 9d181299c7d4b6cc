"""The largest payload that a machine holds at rest, over a grid of actuator positions.

The static forces of a body that keeps its geometry are affine in its mass, so one pass over the
grid covers all masses.

The least payload limit over all actuator positions, by searches from the worst of a grid.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.payload.body import (
    AffineForces,
    ScaledPayload,
    as_sense,
    first_lowest,
    mass_steps,
)
from twin.analysis.payload.positions import (
    Followers,
    Positions,
    grid_positions,
    strokes,
)
from twin.basics.arrays import FloatArray, as_floats, whole_number
from twin.errors import InputError, SingularPoseError
from twin.model.machine_model import MachineModel
from twin.model.motions import REST

STARTS = 6
"""Searches per actuator and sign, from its worst positions that are apart."""

APART = 0.25
"""Distance of two starts in parts of the stroke."""

DIFFERENCE = 1e-5
"""Step of the gradient in parts of the stroke."""

SAME = 1e-9
"""Relative difference of two limits that is rounding: symmetrical machines have several."""

CORNER = 1e-6
"""Distance from an end of the stroke, in parts of it, that is rounding."""


class ContinuousLimit(NamedTuple):
    """The position at which a machine holds least."""

    limit_kg: float
    """[kg]"""
    position: FloatArray
    """`(n,)` extensions [m] or [rad] beyond the lower ends of the actuators"""
    pose: FloatArray
    """`(7,)`"""
    leg: int
    """that reaches its limit, from 1"""
    corner: bool
    """whether every actuator that may be set freely is at one of its ends"""
    searches: int
    """how many were made"""


class _Ratio:
    """Share of an actuator's room that a kilogram takes: one over the mass that fills it.

    Smooth where the mass itself is infinite or changes sign.
    """

    def __init__(self, machine: ScaledPayload, leg: int, side: float) -> None:
        self.machine, self.leg, self.side = machine, leg, side
        self.followers = Followers.of(machine.platform)
        self.stroke = strokes(machine.platform)
        size = len(self.followers.leading)
        self.offsets = DIFFERENCE * np.vstack([np.zeros(size), np.eye(size), -np.eye(size)])

    def poses(self, shares: FloatArray, guess: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return extensions `(k, n)` and poses `(k, 7)` of shares `(k, degrees of freedom)`."""
        return self.followers.positions(shares * self.stroke[self.followers.leading], guess)

    def values(self, shares: FloatArray, guess: FloatArray) -> FloatArray:
        """Return the ratios `(k,)` of shares `(k, degrees of freedom)`; NaN where there is none."""
        _, poses = self.poses(shares, guess)
        if not np.isfinite(poses).all():
            return np.full(len(shares), np.nan)
        try:
            forces = self.machine.forces(poses, REST, REST)
        except SingularPoseError:
            return np.full(len(shares), np.nan)
        return ratios(forces, self.machine.limits, self.side)[:, self.leg]

    def __call__(self, shares: FloatArray, guess: FloatArray) -> tuple[float, FloatArray]:
        """Return minus the ratio and its gradient, for a minimiser; zero where there is none."""
        values = self.values(shares + self.offsets, guess)
        if not np.isfinite(values).all():
            return 0.0, np.zeros(len(shares))
        half = len(shares)
        gradient = (values[1 : half + 1] - values[half + 1 :]) / (2.0 * DIFFERENCE)
        return -float(values[0]), -gradient


def ratios(forces: AffineForces, limits: FloatArray, side: float) -> FloatArray:
    """Return the share `(..., n)` of every actuator's room that one kilogram takes [1/kg]."""
    room = limits - side * forces.fixed
    return np.asarray(side * forces.per_kilogram / np.where(room > 0.0, room, np.nan))


def continuous_limit(
    machine: ScaledPayload, positions: Positions, forces: AffineForces, sense: str
) -> ContinuousLimit:
    """Return the least limit over the whole range of all actuators.

    From the worst positions of a grid, for every actuator and sign, along the gradient within the
    strokes. What the grid has is never lost.

    Args:
        machine: the machine and the limits of its actuators.
        positions: of the grid.
        forces: of the actuators at these positions.
        sense: "magnitude" or "signed".
    """
    masses = forces.largest_mass(machine.limits, sense)
    row, leg = first_lowest(masses)
    best = (float(masses[row, leg]), positions.extensions[row], positions.poses[row], leg)
    searches = 0
    if 0.0 < best[0] < np.inf:
        for side in (1.0, -1.0) if sense == "magnitude" else (1.0,):
            values = ratios(forces, machine.limits, side)
            for number in range(machine.platform.n_actuators):
                ratio = _Ratio(machine, number, side)
                starts = _starts(ratio, positions, values[:, number])
                searches += len(starts)
                for start in starts:
                    found = _search(ratio, positions, start)
                    if found[0] < best[0] * (1.0 - SAME):
                        best = found
    limit, extensions, pose, number = best
    followers, stroke = Followers.of(machine.platform), strokes(machine.platform)
    shares = (extensions / stroke)[followers.leading]
    corner = bool(np.minimum(np.abs(shares), np.abs(1.0 - shares)).max() < CORNER)
    return ContinuousLimit(limit, extensions, pose, number + 1, corner, searches)


def _starts(ratio: _Ratio, positions: Positions, values: FloatArray) -> list[int]:
    """Return the rows of the worst positions for one actuator that are apart from each other."""
    shares = (positions.extensions / ratio.stroke)[:, ratio.followers.leading]
    chosen: list[int] = []
    for row in np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable"):
        if not values[row] > 0.0 or len(chosen) == STARTS:
            break
        if all(np.abs(shares[row] - shares[other]).max() > APART for other in chosen):
            chosen.append(int(row))
    return chosen


def _search(
    ratio: _Ratio, positions: Positions, row: int
) -> tuple[float, FloatArray, FloatArray, int]:
    """Return limit, extensions, pose and leg of the worst position that one search comes to."""
    from scipy.optimize import minimize

    guess, stroke = positions.poses[row], ratio.stroke
    start = (positions.extensions[row] / stroke)[ratio.followers.leading]
    # Zero where the position is at the edge of what the machine can take.
    size = abs(ratio(start, guess)[0]) or 1.0

    def scaled(shares: FloatArray) -> tuple[float, FloatArray]:
        value, slope = ratio(shares, guess)
        return value / size, slope / size

    found = minimize(
        scaled, start, jac=True, method="SLSQP", bounds=[(0.0, 1.0)] * len(start),
        constraints=_ends(ratio, guess), options={"ftol": 1e-14},
    )  # fmt: skip
    shares = np.clip(found.x, 0.0, 1.0)[None]
    extensions, poses = ratio.poses(shares, guess)
    value = float(ratio.values(shares, guess)[0])
    outside = np.maximum(-extensions[0], extensions[0] - stroke) > CORNER * stroke
    if outside.any() or not value > 0.0:
        return np.inf, extensions[0], poses[0], ratio.leg
    return 1.0 / value, extensions[0], poses[0], ratio.leg


def _ends(ratio: _Ratio, guess: FloatArray) -> list[Any]:
    """Return the constraint that keeps following actuators between their ends, if there are any."""
    followers = ratio.followers
    following = [i for i in range(len(ratio.stroke)) if i not in followers.leading]
    if not following:
        return []

    def room(shares: FloatArray) -> FloatArray:
        leading = shares[None] * ratio.stroke[followers.leading]
        parts = (followers.positions(leading, guess)[0][0] / ratio.stroke)[following]
        return np.asarray(np.nan_to_num(np.concatenate([parts, 1.0 - parts]), nan=-1.0))

    return [{"type": "ineq", "fun": room}]


GRID = 4
"""Positions per actuator; Stewart thesis, section 4.2.1: thirds of the stroke."""


class StaticPayload(NamedTuple):
    """Result of a static search; masses [kg] are of the whole body on the legs."""

    limits: FloatArray
    """`(n,)` of the actuators [N] or [N m]"""
    sense: str
    """"magnitude" or "signed" """
    extensions: FloatArray
    """`(k, n)` positions searched [m] or [rad], in search order"""
    poses: FloatArray
    """`(k, 7)`"""
    skipped: int
    """positions of the grid that the machine cannot take"""
    forces: AffineForces
    """at every position"""
    passes_kg: float | None
    """last mass that holds everywhere; None: not even the first one"""
    fails_kg: float | None
    """the next one"""
    first_failure: FloatArray | None
    """`(n,)` first position at which that one does not hold"""
    exact_limit_kg: float
    """largest mass on the grid, between the steps"""
    exact_position: FloatArray
    """`(n,)` where it is reached"""
    exact_leg: int
    """that reaches its limit there, from 1"""
    continuous: ContinuousLimit
    """the least over all positions between the grid's"""

    def largest_force(self, mass: Any) -> FloatArray:
        """Return the largest force or torque on the grid with bodies of masses `(m,)` [kg].

        Raises:
            InputError: not finite, or not `(m,)`.
        """
        masses = as_floats(mass, "mass")
        if masses.ndim != 1:
            raise InputError("mass", f"must have one axis, got shape {masses.shape}")
        values = [self.forces.of(kilograms) for kilograms in masses]
        if self.sense == "magnitude":
            values = [np.abs(value) for value in values]
        return np.array([value.max() for value in values])


def static_payload(
    platform: MachineModel,
    *,
    limit: Any = None,
    grid: int = GRID,
    start: float | None = None,
    step: float | None = None,
    sense: str = "magnitude",
) -> StaticPayload:
    """Return the largest payload a machine holds at rest.

    Args:
        platform: the machine.
        limit: largest force [N] or torque [N m] of the actuators, default what its file gives.
        grid: positions per actuator, evenly from end to end.
        start: first mass [kg] tried, default the step.
        step: what is added to it [kg], default about a thirtieth of what the machine holds at home.
        sense: "magnitude", or "signed" for pushing forces alone, as the thesis' code.

    Raises:
        InputError: legs that give way, no limit known, no gravity, or numbers out of range.
        SingularPoseError: a position of the grid is singular.

    Reference:
        Stewart thesis, section 4.2.1 and appendix A.5.
    """
    machine, chosen = ScaledPayload(platform, limit), as_sense(sense)
    if not platform.parameters.gravity > 0.0:
        raise InputError("platform", f"{platform.name} has no gravity: a payload weighs nothing")
    whole_number(grid, "grid", 2)
    positions = grid_positions(platform, np.linspace(0.0, 1.0, grid))
    forces = machine.forces(positions.poses, REST, REST)
    masses = forces.largest_mass(machine.limits, chosen)
    limits = masses.min(axis=1)
    lowest, leg = first_lowest(masses)
    passes, fails = mass_steps(float(limits[lowest]), start, machine.step if step is None else step)
    first = None if fails is None else positions.extensions[int((limits < fails).argmax())]
    return StaticPayload(
        limits=machine.limits,
        sense=chosen,
        extensions=positions.extensions,
        poses=positions.poses,
        skipped=positions.skipped,
        forces=forces,
        passes_kg=passes,
        fails_kg=fails,
        first_failure=first,
        exact_limit_kg=float(limits[lowest]),
        exact_position=positions.extensions[lowest],
        exact_leg=leg + 1,
        continuous=continuous_limit(machine, positions, forces, chosen),
    )
