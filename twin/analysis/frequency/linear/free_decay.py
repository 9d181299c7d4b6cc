"""Frequencies and damping ratios of a motion that dies away, from its samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import as_floats, positive
from twin.control.linear.machine import LinearMachine
from twin.errors import InputError


def decay_poles(values: Any, period: Any, order: int) -> NDArray[np.complex128]:
    """Return the poles `(order,)` [1/s] whose exponentials make up samples `(k,)`, largest first.

    Matrix pencil: the shift of the signal's Hankel matrix, on its `order` strongest directions.
    Sorted by the amplitude that each has in the samples.

    Args:
        values: of one quantity that decays to zero.
        period: between samples [s].
        order: how many exponentials, a swinging one counts twice.

    Raises:
        InputError: too few samples for the order, not finite, or all zero.

    Reference:
        Hua and Sarkar, Matrix pencil method, IEEE TASSP 38 (1990).
    """
    samples, step = as_floats(values, "values"), positive(period, "period")
    if type(order) is not int or order < 1 or samples.ndim != 1 or len(samples) < 4 * order:
        raise InputError("order", "must be a whole number, with four samples or more for each")
    size = float(np.abs(samples).max())
    if size == 0.0:
        raise InputError("values", "must not all be zero")
    width = min(len(samples) // 2, 8 * order)
    hankel = np.lib.stride_tricks.sliding_window_view(samples / size, width)
    right = np.linalg.svd(hankel, full_matrices=False)[2][:order].T
    roots = np.linalg.eigvals(np.linalg.lstsq(right[:-1], right[1:], rcond=None)[0])
    powers = roots.astype(complex)[None] ** np.arange(len(samples))[:, None]
    amplitudes = np.abs(np.linalg.lstsq(powers, samples / size, rcond=None)[0])
    roots = roots[np.argsort(-amplitudes)].astype(complex)
    return np.asarray(np.log(np.where(roots == 0.0, 1e-300, roots)) / step)


def slowest_shape(linear: LinearMachine) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the slowest undamped mode: displacement `(6,)`, and the row that picks it out.

    With actuators locked where springs are in series with them. The row `(6,)` times the shape is
    one, and times the shapes of the other modes zero.

    Raises:
        InputError: not a machine of six degrees of freedom.
    """
    held = linear.locked() if linear.platform.n_deflections else linear
    if held.size != 6:
        raise InputError("linear", "must have six degrees of freedom")
    from scipy.linalg import eigh

    stiffness = 0.5 * (held.stiffness + held.stiffness.T)
    shape = eigh(stiffness, held.mass)[1][:, 0]
    moved = held.free @ shape
    return moved, np.asarray(held.mass @ shape @ np.linalg.inv(held.free))
