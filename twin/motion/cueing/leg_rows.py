"""Actuator limits as rows of a quadratic program: leg kinematics linearised along a plan."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.model.machine_model import MachineModel
from twin.motion.cueing.cued_motion import Columns
from twin.motion.cueing.plan import Plan, spread
from twin.motion.cueing.platform_axes import leg_slopes, motion_of_axes
from twin.motion.cueing.prediction import Prediction
from twin.motion.cueing.workspace_use import leg_motion

NODES = (1, 2, 3, 4, 6, 8, 10, 13, 16, 20, 24, 28, 32, 36, 40)
"""Periods of the horizon at whose ends limits apply; those beyond it are left out."""


class LegRows:
    """Rows for lengths, speeds and accelerations of the actuators, as shares of their limits.

    At every node, with the plan's coordinates p as they were found before (the first lies at the
    present pose), l(q) is replaced by l(p) + J(p) (q - p), its derivatives likewise, J from
    `Platform.jacobian`; q is linear in the jerks.
    """

    def __init__(
        self, platform: MachineModel, columns: Columns, prediction: Prediction, margin: float
    ) -> None:
        self.platform, self.columns = platform, columns
        steps = len(prediction.free)
        self.nodes = np.array([node for node in NODES if node <= steps])
        self.free = prediction.free[self.nodes - 1, :3, :3]
        self.forced = prediction.forced[self.nodes - 1, :3]
        actuator = platform.parameters.leg.actuator
        low, high = platform.minimum_coordinates, platform.maximum_coordinates
        self.middle, half = 0.5 * (low + high), 0.5 * (high - low)
        share = 1.0 - margin
        limits = (half, actuator.speed, getattr(actuator, "acceleration", None))
        # Shares of the limits, so that all rows have the same size.
        self.kinds = [
            (k, share * np.broadcast_to(limit, half.shape))
            for k, limit in enumerate(limits)
            if limit is not None
        ]

    def rows(self, plan: Plan, start: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return A `(k, d b)` and its bounds for jerks of the coordinates' blocks.

        Args:
            plan: to linearise along.
            start: `(d, 3)` state of the coordinates now.
        """
        states = plan.states[self.nodes]
        axes = spread(states, self.columns)
        exact = leg_motion(self.platform, *motion_of_axes(self.platform, axes))
        slopes = leg_slopes(self.platform, axes.values, self.columns)
        coast = np.einsum("nsk,dk->nds", self.free, start)
        matrices, lower, upper = [], [], []
        for kind, limit in self.kinds:
            scaled = slopes / limit[:, None]
            matrix = np.einsum("nld,nb->nldb", scaled, self.forced[:, kind])
            away = coast[:, :, kind] - states[:, :, kind]
            value = exact[kind] - (self.middle if kind == 0 else 0.0)
            constant = value / limit + np.einsum("nld,nd->nl", scaled, away)
            matrices.append(matrix.reshape(constant.size, -1))
            lower.append(-1.0 - constant.ravel())
            upper.append(1.0 - constant.ravel())
        return np.concatenate(matrices), np.concatenate(lower), np.concatenate(upper)
