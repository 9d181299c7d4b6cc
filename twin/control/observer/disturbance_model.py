"""A leg seen as a mass with a disturbance force: its state equations, continuous and sampled.

State (x, v, F_d): actuator coordinate, its rate, and the force that acts against the actuator.

    x' = v,    m v' = F_m - F_d,    F_d' = noise

For cranks read angle, angular rate, torque and moment of inertia.
"""

from __future__ import annotations

from math import factorial
from typing import Any, Literal, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, one_of, positive
from twin.errors import InputError

Method = Literal["exact", "first_order", "tustin"]
METHODS: tuple[Method, ...] = ("exact", "first_order", "tustin")

EXACT_TERMS = 16
"""Terms of the exponential series: A^3 = 0 ends it at the third, and the printed A has -T/m = 1e-4
where the others have zero."""


class DisturbanceModel(NamedTuple):
    """Continuous state equations of n legs: x' = A x + B F_m + Gamma noise, position = C x."""

    dynamics: FloatArray
    """`(n, 3, 3)` A"""
    input: FloatArray
    """`(n, 3)` B"""
    noise: FloatArray
    """`(n, 3, 2)` Gamma: noise of the actuator force [N], and of the disturbance in parts of the
    largest force"""
    output: FloatArray
    """`(n, 3)` C"""


class SampledModel(NamedTuple):
    """Sampled state equations of n legs under a force that is held over each period."""

    period: float
    """[s]"""
    transition: FloatArray
    """`(n, 3, 3)` A_k"""
    input: FloatArray
    """`(n, 3)` B_k"""
    noise: FloatArray
    """`(n, 3, 2)` Gamma_k: noise that is held over each period"""
    output: FloatArray
    """`(n, 3)` C_k"""
    feedthrough: FloatArray
    """`(n,)` what the force adds to the position at once; zero but for Tustin's rule"""


def disturbance_model(
    mass: Any, largest_force: Any = 1.0, *, printed: bool = False
) -> DisturbanceModel:
    """Return the state equations of legs with equivalent masses `(n,)` [kg] or inertias [kg m2].

    Args:
        mass: `(n,)` or one number for one leg.
        largest_force: `(n,)` or one number, F_m^max [N] or [N m], the scale of the disturbance's
            noise.
        printed: with the entry -1/m in the second place of the diagonal as printed in (4.5); it
            has no source in (4.1) and acts as a viscous friction of 1 N s/m.

    Raises:
        InputError: not finite, or not above zero.

    Reference:
        Stewart thesis, equations (4.1) to (4.7).
    """
    masses = np.atleast_1d(as_floats(mass, "mass"))
    if masses.ndim != 1 or not (masses > 0.0).all():
        raise InputError("mass", "must be numbers above zero, one per leg")
    forces = as_floats(largest_force, "largest_force")
    if forces.shape not in ((), masses.shape) or not (forces > 0.0).all():
        raise InputError("largest_force", "must be above zero, one number or one per leg")
    n = len(masses)
    dynamics, noise = np.zeros((n, 3, 3)), np.zeros((n, 3, 2))
    dynamics[:, 0, 1] = 1.0
    dynamics[:, 1, 2] = -1.0 / masses
    if printed:
        dynamics[:, 1, 1] = -1.0 / masses
    noise[:, 1, 0] = 1.0 / masses
    noise[:, 2, 1] = forces
    force, position = np.zeros((n, 3)), np.zeros((n, 3))
    force[:, 1] = 1.0 / masses
    position[:, 0] = 1.0
    return DisturbanceModel(dynamics, force, noise, position)


def sampled(model: DisturbanceModel, period: Any, method: str = "exact") -> SampledModel:
    """Return the model sampled every `period` [s].

    Args:
        model: of n legs.
        period: [s].
        method: "exact", for a force held over the period; "first_order", the series cut after its
            first term; "tustin", the trapezoidal rule, whose state is not the one at the sample
            (its speed is the mean over the past half period) and whose position contains the
            force of the same instant.

    Raises:
        InputError: not above zero, or no such method.

    Reference:
        Stewart thesis, equations (4.10) and (4.11), and appendix A.3 (tustin).
    """
    step = positive(period, "period")
    one_of(method, "method", METHODS)
    identity = np.broadcast_to(np.eye(3), model.dynamics.shape)
    if method == "tustin":
        half = 0.5 * step * model.dynamics
        left = np.linalg.inv(identity - half)
        force = step * np.einsum("nij,nj->ni", left, model.input)
        output = np.einsum("nj,nji->ni", model.output, left)
        return SampledModel(
            step,
            left @ (identity + half),
            force,
            step * left @ model.noise,
            output,
            0.5 * np.einsum("ni,ni->n", model.output, force),
        )
    terms = 1 if method == "first_order" else EXACT_TERMS
    power, series = identity, np.zeros_like(model.dynamics)
    for k in range(1, terms + 1):
        series = series + power * (step**k / factorial(k))
        power = power @ model.dynamics
    return SampledModel(
        step,
        identity + model.dynamics @ series,
        np.einsum("nij,nj->ni", series, model.input),
        series @ model.noise,
        model.output,
        np.zeros(len(model.dynamics)),
    )
