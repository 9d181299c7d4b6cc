"""The least payload limit over all actuator positions, by searches from the worst of a grid."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.payload.positions import Followers, Positions, reachable_poses, strokes
from twin.analysis.payload.scaled import AffineForces, ScaledPayload, first_lowest
from twin.basics.arrays import FloatArray
from twin.errors import SingularPoseError
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
        leading = shares * self.stroke[self.followers.leading]
        extensions = self.followers.complete(leading)
        coordinates = self.machine.platform.minimum_coordinates + extensions
        return extensions, reachable_poses(self.machine.platform, coordinates, guess)

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
        forces: there.
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
    size = abs(ratio(start, guess)[0])

    def scaled(shares: FloatArray) -> tuple[float, FloatArray]:
        value, slope = ratio(shares, guess)
        return value / size, slope / size

    found = minimize(
        scaled, start, jac=True, method="SLSQP", bounds=[(0.0, 1.0)] * len(start),
        constraints=_ends(ratio), options={"ftol": 1e-14},
    )  # fmt: skip
    shares = np.clip(found.x, 0.0, 1.0)[None]
    extensions, poses = ratio.poses(shares, guess)
    value = float(ratio.values(shares, guess)[0])
    outside = np.maximum(-extensions[0], extensions[0] - stroke) > CORNER * stroke
    if outside.any() or not value > 0.0:
        return np.inf, extensions[0], poses[0], ratio.leg
    return 1.0 / value, extensions[0], poses[0], ratio.leg


def _ends(ratio: _Ratio) -> list[Any]:
    """Return the constraint that keeps following actuators between their ends, if there are any."""
    followers = ratio.followers
    following = [i for i in range(len(ratio.stroke)) if i not in followers.leading]
    if not following:
        return []

    def room(shares: FloatArray) -> FloatArray:
        leading = shares[None] * ratio.stroke[followers.leading]
        parts = (followers.complete(leading)[0] / ratio.stroke)[following]
        return np.concatenate([parts, 1.0 - parts])

    return [{"type": "ineq", "fun": room}]
