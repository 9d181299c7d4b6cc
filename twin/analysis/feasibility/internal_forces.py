"""Internal forces of redundant machines: other than the smallest ones, where these break limits."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.load_sharing import internal_forces
from twin.model.machine_model import MachineModel


def shared_loads(
    platform: MachineModel, poses: FloatArray, forces: FloatArray, limits: FloatArray
) -> tuple[FloatArray, bool]:
    """Return forces `(k, n)` with the smallest shares of the limits, and whether others were taken.

    The forces f + N x act alike on the platform, with N the forces that hold each other without
    moving it. Only rows in which forces of smallest norm exceed a limit are changed:
    the linear program min t, |f + N x| <= t limits, gives the smallest share t of each.

    Args:
        platform: the machine.
        poses: `(k, 7)`.
        forces: `(k, n)` of smallest norm [N] or [N m].
        limits: `(k, n)`, infinite where there is none.
    """
    free = platform.n_actuators - platform.dof
    shares = (np.abs(forces) / limits).max(axis=1)
    rows = np.flatnonzero(shares > 1.0)
    if not free or not len(rows):
        return forces, False
    changed = forces.copy()
    for row, internal in zip(rows, internal_forces(platform, poses[rows]), strict=True):
        changed[row] += internal @ _best(forces[row], internal, limits[row])
    return changed, True


def _best(forces: FloatArray, internal: FloatArray, limits: FloatArray) -> FloatArray:
    """Return the parts `(n - dof,)` of the internal forces that leave the smallest share."""
    from scipy.optimize import linprog

    bounded = np.isfinite(limits)
    scaled = internal[bounded] / limits[bounded, None]
    held = forces[bounded] / limits[bounded]
    column = -np.ones((len(held), 1))
    matrix = np.block([[scaled, column], [-scaled, column]])
    right = np.concatenate([-held, held])
    cost = np.zeros(internal.shape[1] + 1)
    cost[-1] = 1.0
    found = linprog(cost, matrix, right, bounds=[(None, None)] * len(cost), method="highs")
    return np.asarray(found.x[:-1]) if found.success else np.zeros(internal.shape[1])
