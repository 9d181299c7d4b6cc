"""Linear responses of a platform coordinate, and of the driver's perception, to given jerks.

From them follows the cost of predictive cueing, which is quadratic in errors of perception,
displacement and effort.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.motion.cueing.perception import (
    CANAL_ADAPTATION,
    CANAL_LONG,
    FORCE_THRESHOLD,
    OTOLITH_GAIN,
    OTOLITH_LEAD,
    OTOLITH_LONG,
    OTOLITH_SHORT,
    RATE_THRESHOLD,
)
from twin.motion.cueing.predictive_settings import PredictiveSettings

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

    def with_input(self) -> FloatArray:
        """Return the dynamics `(4, 4)` with the input as third state and its slope as fourth."""
        whole = np.zeros((4, 4))
        whole[:2, :2], whole[:2, 2], whole[2, 3] = self.dynamics, self.drive, 1.0
        return whole


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
            whole = model.with_input()
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
        self.states = self._carried(self.updates)
        self.input = new

    def outlook(self) -> FloatArray:
        """Return force and rate `(2, 3, K)` perceived after 1 .. K periods."""
        return self._carried(self.ahead)

    def _carried(self, matrices: list[FloatArray]) -> FloatArray:
        """States, inputs and slopes of both organs, each through its matrix."""
        parts = [self.states, self.input[..., None], self.slope[..., None]]
        columns = np.concatenate(parts, axis=2)
        return np.stack([c @ m.T for c, m in zip(columns, matrices, strict=True)])


class PerceptionCost:
    """Sum over the horizon of weighted squares, as x P x / 2 + q x in the jerks x.

    To first order in the attitude, the head at h feels along x, y, z

        f = r'' + cross(angular acceleration, h) + g (-pitch, roll, 0)

    so that its perception is linear in the otoliths' responses to accelerations and to values.

    Attributes:
        hessian: P `(d b, d b)`.
    """

    def __init__(
        self,
        prediction: Prediction,
        columns: IndexArray,
        head: FloatArray,
        travel: FloatArray,
        settings: PredictiveSettings,
    ) -> None:
        s, size = settings, len(columns)
        blocks = np.array(s.blocks)
        straight, level, turning = felt_slopes(head)
        shares = 1.0 / travel[columns]
        own = np.diag(shares)
        pieces = [
            (np.sqrt(s.force_weight) / FORCE_THRESHOLD, {3: straight, 4: level}),
            (np.sqrt(s.rate_weight) / RATE_THRESHOLD, {5: turning}),
        ]
        pieces = [
            (weight, {k: matrix[:, columns] for k, matrix in parts.items()})
            for weight, parts in pieces
        ]
        for k, weight in enumerate((s.place_weight, s.speed_weight, s.acceleration_weight)):
            pieces.append((np.full(size, np.sqrt(weight)), {k: own}))
        self.forced, self.free = [], []
        self.hessian: FloatArray = np.asarray(
            np.kron(np.diag(s.jerk_weight * shares**2), np.diag(blocks)), dtype=np.float64
        )
        for weight, parts in pieces:
            forced = sum(
                np.einsum("md,kb->mkdb", weight[:, None] * matrix, prediction.forced[:, k])
                for k, matrix in parts.items()
            ).reshape(len(weight) * blocks.sum(), -1)
            free = sum(
                np.einsum("md,ks->mkds", weight[:, None] * matrix, prediction.free[:, k])
                for k, matrix in parts.items()
            ).reshape(len(forced), -1)
            self.hessian = self.hessian + forced.T @ forced
            self.forced.append(forced)
            self.free.append(free)
        self.weights = [pieces[k][0][:, None] for k in range(2)]
        # q is linear in the state now and in the reference: both maps are made once.
        self.of_state = sum(a.T @ b for a, b in zip(self.forced, self.free, strict=True))

    def gradient(self, states: FloatArray, reference: FloatArray) -> FloatArray:
        """Return q `(d b,)`.

        Args:
            states: `(d, 9)` of the coordinates and their perception now.
            reference: `(2, 3, K)` force [m/s2] and rate [rad/s] that should be perceived.
        """
        result = self.of_state @ states.ravel()
        for forced, weight, values in zip(self.forced, self.weights, reference, strict=False):
            result = result - forced.T @ (weight * values).ravel()
        return np.asarray(result)


def felt_slopes(head: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what is felt per acceleration, per value and per rate of the six axes, `(3, 6)` each.

    Force along x, y, z per acceleration and per value of x, y, z, yaw, pitch, roll; rate about
    x, y, z per rate of them.
    """
    x, y, z = head
    straight = np.hstack([np.eye(3), [[-y, z, 0.0], [x, 0.0, -z], [0.0, -x, y]]])
    level, turning = np.zeros((2, 3, 6))
    level[0, 4], level[1, 5] = -GRAVITY, GRAVITY
    turning[[0, 1, 2], [5, 4, 3]] = 1.0
    return straight, level, turning
