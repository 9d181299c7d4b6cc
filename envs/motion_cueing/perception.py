"""The models of perception of `twin.motion.cueing`, made discrete at a control period."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray, positive
from twin.kernels.tasks.motion_cueing.perception import MODEL_SIZE
from twin.motion.cueing.prediction import CANALS, OTOLITHS


def perception_models(period: float) -> FloatArray:
    """Return otoliths and canals `(2, MODEL_SIZE)` over one period, for `sense`.

    With an input u that runs in a straight line from u_0 to u_1 the state x' = A x + B u after
    the period T is exactly x_1 = E x + F u_0 + G (u_1 - u_0) / T, where (E, F, G) are the upper
    rows of the exponential of T (A, B, 0; 0, 0, 1; 0, 0, 0): the first-order hold that
    `twin.motion.cueing.perceived` uses.

    Args:
        period: [s].

    Raises:
        InputError: period not above zero.
    """
    from scipy.linalg import expm

    step = positive(period, "period")
    rows = np.empty((2, MODEL_SIZE))
    for row, model in zip(rows, (OTOLITHS, CANALS), strict=True):
        whole = np.zeros((4, 4))
        whole[:2, :2], whole[:2, 2], whole[2, 3] = model.dynamics, model.drive, 1.0
        exact = expm(step * whole)[:2]
        right = exact[:, 3] / step
        left = exact[:, 2] - right
        row[:] = [*exact[:, :2].ravel(), *left, *right, *model.output, model.through]
    return rows
