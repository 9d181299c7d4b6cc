"""Linear responses of a platform coordinate, and of the driver's perception, to given jerks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.motion.cueing.perception import (
    CANAL_ADAPTATION,
    CANAL_LONG,
    OTOLITH_GAIN,
    OTOLITH_LEAD,
    OTOLITH_LONG,
    OTOLITH_SHORT,
)

STATES = 9
"""Value, rate, acceleration; otoliths of the acceleration, of the value; canals of the rate."""

OUTPUTS = 6
"""Value, rate, acceleration; acceleration and value as otoliths sense them, rate as canals do."""


class Perceiver(NamedTuple):
    """A model of perception of second order, x' = A x + B u, y = C x + D u."""

    dynamics: FloatArray
    """`(2, 2)`"""
    drive: FloatArray
    """`(2,)`"""
    output: FloatArray
    """`(2,)`"""
    through: float


def _perceiver(long: float, short: float, output: FloatArray, through: float) -> Perceiver:
    both = long * short
    dynamics = np.array([[0.0, 1.0], [-1.0 / both, -(long + short) / both]])
    return Perceiver(dynamics, np.array([0.0, 1.0 / both]), output, through)


OTOLITHS = _perceiver(
    OTOLITH_LONG, OTOLITH_SHORT, OTOLITH_GAIN * np.array([1.0, OTOLITH_LEAD]), 0.0
)
CANALS = _perceiver(
    CANAL_LONG, CANAL_ADAPTATION, -np.array([1.0, CANAL_LONG + CANAL_ADAPTATION]), 1.0
)


class Prediction(NamedTuple):
    """Responses of one coordinate over a horizon of equal periods."""

    transition: FloatArray
    """`(9, 9)` of the state over one period"""
    push: FloatArray
    """`(9,)` state after one period per jerk held in it"""
    free: FloatArray
    """`(K, 6, 9)` outputs after 1 .. K periods per state now"""
    forced: FloatArray
    """`(K, 6, b)` the same per jerk of each block"""


def prediction(period: float, blocks: tuple[int, ...]) -> Prediction:
    """Return exact responses to jerks that are constant over blocks of so many periods."""
    from scipy.linalg import expm

    dynamics, drive = np.zeros((STATES, STATES)), np.zeros(STATES)
    dynamics[0, 1] = dynamics[1, 2] = drive[2] = 1.0
    outputs = np.zeros((OUTPUTS, STATES))
    outputs[:3, :3] = np.eye(3)
    for k, (model, source) in enumerate(((OTOLITHS, 2), (OTOLITHS, 0), (CANALS, 1))):
        own = slice(3 + 2 * k, 5 + 2 * k)
        dynamics[own, own] = model.dynamics
        dynamics[own, source] = model.drive
        outputs[3 + k, own] = model.output
        outputs[3 + k, source] = model.through
    whole = np.zeros((STATES + 1, STATES + 1))
    whole[:STATES, :STATES], whole[:STATES, STATES] = dynamics, drive
    exact = expm(period * whole)
    transition, push = exact[:STATES, :STATES], exact[:STATES, STATES]
    steps = sum(blocks)
    member = np.repeat(np.arange(len(blocks)), blocks)
    free, forced = np.eye(STATES), np.zeros((STATES, len(blocks)))
    rows: list[tuple[FloatArray, FloatArray]] = []
    for k in range(steps):
        free, forced = transition @ free, transition @ forced
        forced[:, member[k]] += push
        rows.append((outputs @ free, outputs @ forced))
    return Prediction(
        transition, push, np.stack([row[0] for row in rows]), np.stack([row[1] for row in rows])
    )


def resting_basis(
    model: Prediction, hessian: FloatArray, size: int
) -> tuple[FloatArray, FloatArray]:
    """Return the jerks that end at rest as x = basis y + to_rest s, in which the cost is y y / 2.

    With few jerks of very different effect the plain cost is badly conditioned; in y its Hessian
    is the identity, and no row is needed for the rest at the end.

    Args:
        model: of one coordinate.
        hessian: P `(d b, d b)` of the cost x P x / 2.
        size: d, the number of coordinates.

    Returns:
        basis `(d b, d (b - 2))` and to_rest `(d b, 3 d)` for states s of value, rate and
        acceleration: the least jerks that bring each coordinate to rest.
    """
    from scipy.linalg import cholesky, null_space, solve_triangular

    ending = model.forced[-1, 1:3]
    stop = -np.linalg.pinv(ending) @ model.free[-1, 1:3, :3]
    kept = np.kron(np.eye(size), null_space(ending))
    root = cholesky(kept.T @ hessian @ kept, lower=True)
    basis = np.asarray(solve_triangular(root, kept.T, lower=True).T, dtype=np.float64)
    return basis, np.asarray(np.kron(np.eye(size), stop), dtype=np.float64)


class Expectation:
    """Perception of the vehicle's driver, now and over the expected course of the present input.

    The input is taken for the output of a critically damped system of second order that nothing
    drives any more: u'' = -2 u' / memory - u / memory^2, from its present value and slope.

    Attributes:
        states: `(2, 3, 2)` of the otoliths along and the canals about x, y, z.
        input: `(2, 3)` force less rest [m/s2], rate [rad/s].
        slope: `(2, 3)` of the input over the last period.
    """

    def __init__(self, period: float, steps: int, memory: float) -> None:
        """Prepare the models at rest; `memory` [s] is the time constant of the fading."""
        from scipy.linalg import expm

        self.period = period
        self.states = np.zeros((2, 3, 2))
        self.input, self.slope = np.zeros((2, 2, 3))
        self.updates, self.ahead = [], []
        for model in (OTOLITHS, CANALS):
            # The third state is the input, the fourth its slope.
            whole = np.zeros((4, 4))
            whole[:2, :2], whole[:2, 2], whole[2, 3] = model.dynamics, model.drive, 1.0
            self.updates.append(expm(period * whole)[:2])
            whole[3, 2:] = -1.0 / memory**2, -2.0 / memory
            fading, now = expm(period * whole), np.eye(4)
            output, rows = np.array([*model.output, model.through, 0.0]), []
            for _ in range(steps):
                now = fading @ now
                rows.append(output @ now)
            self.ahead.append(np.array(rows))

    def step(self, force: FloatArray, rate: FloatArray) -> None:
        """Advance by one period to the inputs `(3,)` (force less rest), linear since the last."""
        new = np.stack([force, rate])
        self.slope = (new - self.input) / self.period
        columns = np.concatenate(
            [self.states, self.input[..., None], self.slope[..., None]], axis=2
        )
        self.states = np.stack([c @ u.T for c, u in zip(columns, self.updates, strict=True)])
        self.input = new

    def outlook(self) -> FloatArray:
        """Return force and rate `(2, 3, K)` perceived after 1 .. K periods."""
        columns = np.concatenate(
            [self.states, self.input[..., None], self.slope[..., None]], axis=2
        )
        return np.stack([c @ a.T for c, a in zip(columns, self.ahead, strict=True)])
