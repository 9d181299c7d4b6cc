"""Actuator positions that a search visits, in the order of nested loops, and their poses."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats
from twin.errors import InputError
from twin.kernels.kinematics.forward import forward_kinematics_batch
from twin.model.evaluation import run
from twin.model.forward_kinematics import found_poses
from twin.model.machine_model import MachineModel, as_model

LARGEST_GRID = 2_000_000
"""Positions; more take minutes and gigabytes, and the continuous search knows better."""

INSIDE = 1e-9
"""Rounding allowed at an actuator's ends, in parts of its stroke."""

RANK = 1e-9
"""Share of a row that is not a combination of others, below which it is rounding."""


class Positions(NamedTuple):
    """Positions in search order; those that the machine cannot take are left out."""

    extensions: FloatArray
    """`(k, n)` [m] or [rad] beyond the lower ends of the actuators"""
    poses: FloatArray
    """`(k, 7)`"""
    skipped: int
    """positions left out: no pose, or an actuator that follows the others beyond its ends"""


def grid_positions(platform: MachineModel, shares: Any) -> Positions:
    """Return all combinations of positions, the last actuator's changing fastest.

    Where there are more actuators than degrees of freedom, the last ones follow the others.

    Args:
        platform: the machine.
        shares: `(grid,)` positions of every actuator in parts of its stroke, 0 to 1.

    Raises:
        InputError: not a machine, shares outside 0 to 1, too many, or none that the machine can
            take.
    """
    stroke = strokes(as_model(platform))
    parts = as_floats(shares, "shares")
    if parts.ndim != 1 or not parts.size or parts.min() < 0.0 or parts.max() > 1.0:
        raise InputError("shares", "must be numbers from 0 to 1, one after the other")
    followers = Followers.of(platform)
    count = len(followers.leading)
    if len(parts) ** count > LARGEST_GRID:
        raise InputError("shares", f"{len(parts)}^{count} positions; use fewer per actuator")
    leading = np.array(list(itertools.product(parts, repeat=count)))
    extensions, poses = followers.positions(leading * stroke[followers.leading])
    # Written so that a position without a pose is not inside.
    inside = ((extensions >= -INSIDE * stroke) & (extensions <= (1.0 + INSIDE) * stroke)).all(1)
    inside &= np.isfinite(poses).all(axis=1)
    if not inside.any():
        raise InputError("shares", f"{platform.name} can take none of these positions")
    kept = np.clip(extensions[inside], 0.0, stroke)
    return Positions(kept, poses[inside], len(leading) - len(kept))


class Followers(NamedTuple):
    """Actuators that may be set freely, and how the others follow them."""

    platform: MachineModel
    leading: list[int]
    """actuators from 0"""
    matrix: FloatArray
    """`(n, degrees of freedom)` coordinates relative to home from those of the leading ones; of
    machines with six degrees of freedom at home alone"""
    home: FloatArray
    """`(n,)` home coordinates beyond the lower ends"""

    @classmethod
    def of(cls, platform: MachineModel) -> Followers:
        """Return them for a machine.

        Coordinates of pillars are linear in as many numbers as there are degrees of freedom
        (docs/driving_simulator.md), so what holds for rates at home holds everywhere.
        """
        home = platform.home_coordinates - platform.minimum_coordinates
        n = platform.n_actuators
        if platform.dof == n:
            return cls(platform, list(range(n)), np.eye(n), home)
        forbidden = platform.constraints(platform.home)
        allowed = np.linalg.svd(forbidden)[2][len(forbidden) :].T if len(forbidden) else np.eye(6)
        rates = platform.jacobian(platform.home) @ allowed
        leading: list[int] = []
        for i in range(n):
            chosen = rates[[*leading, i]]
            if np.linalg.svd(chosen)[1][-1] > RANK * np.linalg.norm(rates):
                leading.append(i)
            if len(leading) == platform.dof:
                break
        return cls(platform, leading, rates @ np.linalg.inv(rates[leading]), home)

    def positions(
        self, leading: FloatArray, guess: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return extensions `(k, n)` and poses `(k, 7)`, NaN where there are none.

        Args:
            leading: `(k, dof)` extensions of the leading actuators.
            guess: `(7,)` pose from which the search begins, default home.
        """
        platform = self.platform
        low = platform.minimum_coordinates
        if platform.dof == 6 < platform.n_actuators:
            poses = self._led(leading + low[self.leading], guess)
            extensions = np.full((len(poses), platform.n_actuators), np.nan)
            found = np.isfinite(poses).all(axis=1)
            extensions[found] = platform.inverse_kinematics(poses[found]) - low
            return extensions, poses
        extensions = self.home + (leading - self.home[self.leading]) @ self.matrix.T
        extensions[:, self.leading] = leading
        return extensions, reachable_poses(platform, low + extensions, guess)

    def _led(self, coordinates: FloatArray, guess: FloatArray | None) -> FloatArray:
        """Return the poses `(k, 7)` of coordinates `(k, 6)` of the leading actuators; NaN: none.

        They are those of the machine without the other legs, on the branch of the guess.
        """
        legs: Any = self.platform.constants.legs
        led = type(legs)(legs.rows[self.leading])
        first = self.platform.home if guess is None else guess
        found = np.empty((len(coordinates), 9))
        guesses = np.tile(first, (len(coordinates), 1))
        run(forward_kinematics_batch, (led,), (coordinates, guesses, found))
        least = INSIDE * float(strokes(self.platform).max())
        found[~(found[:, 7] <= least), :7] = np.nan
        return found[:, :7].copy()


def strokes(platform: MachineModel) -> FloatArray:
    """Return the travel of every actuator `(n,)` [m] or [rad]."""
    return np.asarray(platform.maximum_coordinates - platform.minimum_coordinates)


def reachable_poses(
    platform: MachineModel, coordinates: FloatArray, guess: FloatArray | None = None
) -> FloatArray:
    """Return the poses `(k, 7)` of coordinates `(k, n)` from a guess (default home); NaN: none."""
    first = platform.home if guess is None else guess
    found, failed = found_poses(platform, coordinates, np.tile(first, (len(coordinates), 1)))
    found[failed, :7] = np.nan
    return found[:, :7].copy()
