"""The cost of predictive cueing: errors of perception, displacement and effort, quadratic."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.motion.cueing.cued_motion import Columns
from twin.motion.cueing.perception import FORCE_THRESHOLD, RATE_THRESHOLD
from twin.motion.cueing.prediction import Prediction
from twin.motion.cueing.predictive_settings import PredictiveSettings


class PerceptionCost:
    """Sum over the horizon of weighted squares, as x P x / 2 + q x in the jerks x.

    To first order in the attitude, the head at h feels along x, y, z

        f = r'' + angular acceleration x h + g (-pitch, roll, 0)

    so that its perception is linear in the otoliths' responses to accelerations and to values.

    Attributes:
        hessian: P `(d b, d b)`.
    """

    def __init__(
        self,
        prediction: Prediction,
        columns: Columns,
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
