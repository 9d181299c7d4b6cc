"""Closed loops of a linearised machine with local laws: poles over the gain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import as_floats
from twin.control.active_damping.driven_plant import driven_plant
from twin.control.active_damping.laws import LocalLaw
from twin.control.linear.machine import LinearMachine
from twin.control.linear.state_space import StateSpace, sampled
from twin.errors import InputError

MEASURED = ("coordinates", "rates")

Law = LocalLaw | StateSpace
"""A sampled law, or a state space from (q, q', added forces) to forces."""


def closed_loop(
    linear: LinearMachine,
    law: Law,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = MEASURED,
) -> StateSpace:
    """Return machine and local law in a loop: from added forces and `inputs` to `outputs`.

    A sampled law acts on the exactly sampled machine through the drives and sensors that its
    platform has, see `driven_plant`: commands, and the inputs, are held over the period. Names
    as in `LinearMachine`; the added forces come first. Continuous laws act on the machine itself.

    Raises:
        InputError: a law of other sizes, no such input or output, or drives that cannot be
            modelled.
    """
    local = law.system() if isinstance(law, LocalLaw) else law
    n = linear.platform.n_actuators
    read = 3 * n if isinstance(law, LocalLaw) else 2 * n
    if local.D.shape != (n, read + n):
        raise InputError("law", f"must have {read + n} inputs and {n} outputs")
    plant = _plant(linear, local.period, read > 2 * n, tuple(inputs), tuple(outputs))
    measured, controlled = plant.C[:read], plant.C[read:]
    force, other = plant.B[:, :n], plant.B[:, n:]
    feedthrough = plant.D[read:]
    command = np.hstack([local.D[:, :read] @ measured, local.C])
    s, own = len(plant.A), len(local.A)
    dynamics = np.zeros((s + own, s + own))
    dynamics[:s, :s], dynamics[s:, s:] = plant.A, local.A
    dynamics[:s] += force @ command
    dynamics[s:, :s] = local.B[:, :read] @ measured
    added = np.hstack([force @ local.D[:, read:], other])
    taken = np.hstack([local.B[:, read:], np.zeros((own, other.shape[1]))])
    return StateSpace(
        dynamics,
        np.vstack([added, taken]),
        np.hstack([controlled, np.zeros((len(controlled), own))]) + feedthrough[:, :n] @ command,
        np.hstack([feedthrough[:, :n] @ local.D[:, read:], feedthrough[:, n:]]),
        plant.period,
    )


@lru_cache(maxsize=16)
def _plant(
    linear: LinearMachine,
    period: float,
    driven: bool,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
) -> StateSpace:
    """Return the machine, sampled if the period is not zero: the same for every gain."""
    if driven:
        return driven_plant(linear, period, inputs, outputs)
    plant = linear.system(("forces", *inputs), (*MEASURED, *outputs))
    return sampled(plant, period) if period else plant


def root_locus(
    linear: LinearMachine, law_of: Callable[[float], Law], gains: Any
) -> NDArray[np.complex128]:
    """Return the closed loop's poles `(k, s)` [1/s] over gains `(k,)`, each row by frequency.

    Raises:
        InputError: no gains, or gains that are no numbers.
    """
    values = as_floats(gains, "gains")
    if values.ndim != 1 or not values.size:
        raise InputError("gains", "must be a list of numbers")
    rows = [closed_loop(linear, law_of(float(gain))).rates for gain in values]
    return np.array([row[np.lexsort((row.imag, np.abs(row)))] for row in rows])


def damping_ratios(poles: NDArray[np.complex128]) -> NDArray[np.float64]:
    """Return the damping ratios of poles [1/s]: one for real ones, below zero if unstable."""
    sizes = np.abs(poles)
    return np.asarray(-poles.real / np.where(sizes > 0.0, sizes, 1.0))


def smallest_damping(poles: NDArray[np.complex128]) -> float:
    """Return the smallest damping ratio of poles `(s,)` [1/s]; below zero: unstable."""
    return float(damping_ratios(poles).min())
