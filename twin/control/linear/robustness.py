"""Stability margins of multivariable loops, and the perturbations that they tolerate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import ComplexArray, FloatArray, as_floats
from twin.basics.optional import optional
from twin.control.linear.loop_shaping import LoopShapingDesign
from twin.control.linear.state_space import StateSpace, feedback_poles
from twin.errors import InputError


class Margins(NamedTuple):
    """Of the loops at the actuators, broken one at a time with the others closed."""

    gain: FloatArray
    """`(n,)` factor by which the gain may rise or fall, the smaller one; infinite: any"""
    phase: FloatArray
    """`(n,)` [deg]"""
    sensitivity: float
    """largest singular value of the sensitivity over the frequencies"""


def margins(plant: StateSpace, controller: StateSpace, frequencies: FloatArray) -> Margins:
    """Return the margins of a loop with positive feedback, u = K y, on a grid [Hz].

    The loop that python-control is given is -L_i, for its convention of negative feedback.

    Raises:
        InputError: frequencies that are not above zero.
        MissingDependencyError: python-control is not installed.
    """
    library = optional("control", "Stability margins")
    grid = as_floats(frequencies, "frequencies")
    if grid.ndim != 1 or len(grid) < 2 or not (grid > 0.0).all():
        raise InputError("frequencies", "must be two or more above zero")
    loop = controller.response(grid) @ plant.response(grid)
    one = np.eye(loop.shape[1])
    sensitivity = np.linalg.inv(one - loop)
    gains, phases = [], []
    for i in range(loop.shape[1]):
        # S_ii = 1 / (1 - L_i) of the loop broken at input i.
        single = 1.0 / sensitivity[:, i, i] - 1.0
        data = library.FRD(single, 2.0 * np.pi * grid, smooth=True)
        gain, phase = library.stability_margins(data)[:2]
        gains.append(max(gain, 1.0 / gain))
        phases.append(phase)
    largest = float(np.linalg.svd(sensitivity, compute_uv=False).max())
    return Margins(np.array(gains, dtype=float), np.array(phases, dtype=float), largest)


def achieved_gamma(design: LoopShapingDesign, frequencies: FloatArray) -> float:
    """Return the largest singular value of [K; I] (I - G_s K)^-1 M^-1 over frequencies [Hz].

    M^-1 is of norm-preserving factors, so that this is the same as with [I G_s] instead.
    """
    plant, robust = design.shaped.response(frequencies), design.robust.response(frequencies)
    one = np.broadcast_to(np.eye(plant.shape[1]), plant.shape)
    loop = np.linalg.inv(one - plant @ robust)
    upper = np.concatenate([robust, one], axis=1) @ loop
    whole = upper @ np.concatenate([one, plant], axis=2)
    return float(np.linalg.svd(whole, compute_uv=False).max())


def perturbed_poles(design: LoopShapingDesign, change: FloatArray) -> ComplexArray:
    """Return the closed loop's poles with coprime factors changed by [dN, -dM] `(n, 2n)`.

    The changed plant is x' = A x + B u - H w, y = C x + w with w = change (u, y).

    Raises:
        InputError: wrong shape, not finite.
    """
    shaped, robust = design.shaped, design.robust
    n = len(shaped.C)
    delta = as_floats(change, "change", 2 * n)
    if delta.shape != (n, 2 * n):
        raise InputError("change", f"must have shape {(n, 2 * n)}")
    # Inputs (u, w), outputs (y, u, y).
    plant = StateSpace(
        shaped.A,
        np.hstack([shaped.B, -design.observer]),
        np.vstack([shaped.C, np.zeros_like(shaped.C), shaped.C]),
        np.block(
            [
                [np.zeros((n, n)), np.eye(n)],
                [np.eye(n), np.zeros((n, n))],
                [np.zeros((n, n)), np.eye(n)],
            ]
        ),
    )
    size = len(robust.A)
    around = StateSpace(
        robust.A,
        np.hstack([robust.B, np.zeros((size, 2 * n))]),
        np.vstack([robust.C, np.zeros((n, size))]),
        np.block([[np.zeros((n, 3 * n))], [np.zeros((n, n)), delta]]),
    )
    return feedback_poles(plant, around)


def random_change(n: int, size: float, random: np.random.Generator) -> FloatArray:
    """Return a change `(n, 2n)` of coprime factors whose largest singular value is `size`."""
    draw = random.normal(size=(n, 2 * n))
    return np.asarray(size * draw / np.linalg.norm(draw, 2))


def chordal_distance(first: StateSpace, second: StateSpace, frequencies: FloatArray) -> float:
    """Return the largest chordal distance of two plants over frequencies [Hz], from 0 to 1.

    The nu-gap where both have the same number of unstable poles and one can be turned into the
    other continuously. Plants nearer than epsilon are stabilised by the same controller.

    Reference:
        Vinnicombe, Frequency domain uncertainty and the graph topology, IEEE TAC 38 (1993).
    """
    one, two = first.response(frequencies), second.response(frequencies)
    left = _root(np.eye(one.shape[1]) + two @ _adjoint(two))
    right = _root(np.eye(one.shape[2]) + _adjoint(one) @ one)
    distance = left @ (two - one) @ right
    return float(np.linalg.svd(distance, compute_uv=False).max())


def _adjoint(values: ComplexArray) -> ComplexArray:
    return np.asarray(np.conj(np.swapaxes(values, -1, -2)))


def _root(values: ComplexArray) -> ComplexArray:
    """Return the inverse square roots of Hermitian matrices `(k, m, m)`."""
    sizes, vectors = np.linalg.eigh(values)
    return np.asarray((vectors / np.sqrt(sizes)[:, None, :]) @ _adjoint(vectors))
