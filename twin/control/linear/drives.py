"""Drives of a linearised machine: armature, viscous friction, current lag, delay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import comb, factorial, prod
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, one_or_each, positive, whole_number
from twin.control.linear.machine import LinearMachine
from twin.control.linear.state_space import StateSpace, series
from twin.control.positions import takes_positions
from twin.errors import InputError


def with_drives(linear: LinearMachine) -> LinearMachine:
    """Return the machine with what its `[leg.drive]` reflects onto the actuators.

    Inertia of motor and transmission adds S^T diag(m) S to M, their viscous friction
    S^T diag(b) S to C, with the actuators' coordinates S q. Transmissions are taken as rigid and
    without play; dry friction, limits and quantisation have no linear part. Lag and delay are kept
    as `lag` and `delay` for `driven_system`.

    Raises:
        InputError: drives of different delays, or drives that take positions in place of forces.
    """
    legs = linear.platform.parameters.legs
    drives = [getattr(leg, "drive", None) for leg in legs]
    if takes_positions(linear.platform):
        raise InputError(
            "platform",
            "its servos or steppers take positions and no forces; `twin frequency` measures them",
        )
    reflected = [drive.reflected() if drive else None for drive in drives]
    inertia = np.array([one.inertia if one else 0.0 for one in reflected])
    viscous = np.array([one.viscous if one else 0.0 for one in reflected])
    delays = {drive.delay if drive else 0.0 for drive in drives}
    if len(delays) > 1:
        raise InputError("platform", "its drives must all have the same delay")
    lag = np.array([drive.current_lag if drive else 0.0 for drive in drives])
    across = linear.force_input
    return replace(
        linear,
        mass=linear.mass + across @ (inertia[:, None] * across.T),
        damping=linear.damping + across @ (viscous[:, None] * across.T),
        lag=lag if lag.any() else np.zeros(0),
        delay=delays.pop(),
    )


def driven_system(
    linear: LinearMachine, outputs: str | Sequence[str], *, order: int = 3
) -> StateSpace:
    """Return the state space from commanded forces to outputs, through lag and delay of the drives.

    Args:
        linear: what `with_drives` returns.
        outputs: see `LinearMachine`.
        order: of the Pade approximation of the delay.

    Raises:
        InputError: no such output, or an order not from 1 to 6.
    """
    system = linear.system("forces", outputs)
    if linear.lag.size:
        if not (linear.lag > 0.0).all():
            raise InputError("platform", "all of its drives must have a current lag, or none")
        system = with_lag(system, linear.lag)
    return with_delay(system, linear.delay, order) if linear.delay else system


def with_lag(system: StateSpace, time_constant: Any) -> StateSpace:
    """Return a continuous system whose inputs pass first-order lags 1 / (1 + T s).

    Args:
        system: continuous.
        time_constant: one number or one per input [s], above zero.

    Raises:
        InputError: a sampled system, or a time constant that is not above zero.
    """
    inputs = system.B.shape[1]
    rate = np.diag(1.0 / one_or_each(time_constant, "time_constant", inputs))
    lag = StateSpace(-rate, rate, np.eye(inputs), np.zeros((inputs, inputs)))
    return series(lag, system)


def with_delay(system: StateSpace, delay: Any, order: int = 3) -> StateSpace:
    """Return a continuous system with a delay [s] at its inputs, as a Pade approximation.

    Sampled systems need none: `sampled` holds the delay exactly.

    Raises:
        InputError: a sampled system, a delay not above zero, an order not from 1 to 6.
    """
    whole_number(order, "order", 1, 6)
    numerator, denominator = _pade(positive(delay, "delay"), order)
    inputs = system.B.shape[1]
    top = np.eye(order, k=1)
    top[-1] = -denominator[:-1] / denominator[-1]
    feedthrough = numerator[-1] / denominator[-1]
    row = (numerator[:-1] - feedthrough * denominator[:-1]) / denominator[-1]
    one = np.eye(inputs)
    late = StateSpace(
        np.asarray(np.kron(one, top)),
        np.asarray(np.kron(one, np.eye(order)[:, -1:])),
        np.kron(one, row[None]),
        feedthrough * one,
    )
    return series(late, system)


def _pade(delay: float, order: int) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients `(order + 1,)` of exp(-s delay), lowest power first."""
    terms = [
        comb(order, j) * prod(range(order + 1, 2 * order - j + 1)) / factorial(order) * delay**j
        for j in range(order + 1)
    ]
    # Scaled so that the highest power has a coefficient of about one.
    values = np.array(terms) / delay**order
    signs = (-1.0) ** np.arange(order + 1)
    return signs * values, values
