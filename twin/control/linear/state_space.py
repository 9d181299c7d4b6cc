"""State spaces as plain arrays, with the names of python-control: response, exact sampling."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import ComplexArray, FloatArray, as_floats, not_negative, positive
from twin.basics.optional import optional
from twin.errors import InputError


class StateSpace(NamedTuple):
    """x' = A x + B u, y = C x + D u; sampled: x[k+1] = A x[k] + B u[k]."""

    A: FloatArray
    """`(s, s)`"""
    B: FloatArray
    """`(s, i)`"""
    C: FloatArray
    """`(o, s)`"""
    D: FloatArray
    """`(o, i)`"""
    period: float = 0.0
    """[s] of sampling, zero: continuous"""

    @property
    def poles(self) -> ComplexArray:
        """Eigenvalues of A `(s,)`: [1/s], or of the z-plane."""
        return np.linalg.eigvals(self.A).astype(np.complex128)

    @property
    def rates(self) -> ComplexArray:
        """Poles of the s-plane `(s,)` [1/s]; log(z) / period of sampled systems."""
        poles = self.poles
        if not self.period:
            return poles
        return np.asarray(np.log(np.where(np.abs(poles) < 1e-300, 1e-300, poles)) / self.period)

    @property
    def stable(self) -> bool:
        """Whether all poles are inside the stable region."""
        poles = self.poles
        return bool((np.abs(poles) < 1.0).all() if self.period else (poles.real < 0.0).all())

    def response(self, frequencies: Any) -> ComplexArray:
        """Return the complex frequency response `(k, o, i)` at frequencies `(k,)` [Hz].

        Raises:
            InputError: not finite, or below zero.
        """
        values = as_floats(frequencies, "frequencies")
        if values.ndim != 1 or (values < 0.0).any():
            raise InputError("frequencies", "must be a list of frequencies [Hz] from zero on")
        where = 2j * np.pi * values
        if self.period:
            where = np.exp(where * self.period)
        left = where[:, None, None] * np.eye(len(self.A)) - self.A
        right = np.broadcast_to(self.B, (len(values), *self.B.shape))
        inner = np.linalg.solve(left, right)
        return np.asarray(self.C @ inner + self.D)

    def to_control(self) -> Any:
        """Return the system as `control.StateSpace`.

        Raises:
            MissingDependencyError: python-control is not installed.
        """
        library = optional("control", "State spaces of python-control")
        matrices = (self.A, self.B, self.C, self.D)
        return library.ss(*matrices, self.period) if self.period else library.ss(*matrices)


def series(first: StateSpace, second: StateSpace) -> StateSpace:
    """Return the system whose input passes `first`, then `second`.

    Raises:
        InputError: other periods, or sizes that do not fit.
    """
    if first.period != second.period or len(first.C) != second.B.shape[1]:
        raise InputError("second", "must have the first's period, and its outputs as inputs")
    a, b = len(first.A), len(second.A)
    dynamics = np.zeros((a + b, a + b))
    dynamics[:a, :a], dynamics[a:, a:] = first.A, second.A
    dynamics[a:, :a] = second.B @ first.C
    return StateSpace(
        dynamics,
        np.vstack([first.B, second.B @ first.D]),
        np.hstack([second.D @ first.C, second.C]),
        second.D @ first.D,
        first.period,
    )


def feedback_poles(plant: StateSpace, controller: StateSpace) -> ComplexArray:
    """Return the poles of plant and controller in a loop u = r + K y, positive feedback.

    Raises:
        InputError: other periods or sizes, or an algebraic loop without a solution.
        MissingDependencyError: python-control is not installed.
    """
    first, second = plant.to_control(), controller.to_control()
    try:
        return np.asarray(first.feedback(second, 1).poles(), dtype=np.complex128)
    except ValueError as error:
        raise InputError("controller", f"cannot close the loop of this plant ({error})") from None


LONGEST_DELAY = 1000
"""Control periods; each becomes a state per input."""


def sampled(system: StateSpace, period: Any, delay: float = 0.0) -> StateSpace:
    """Return the exact sampling of a system whose inputs are held over each period [s].

    A pure delay [s] of the inputs is exact too: what was commanded in past periods becomes state.

    Raises:
        InputError: a sampled system, a period not above zero or so long that the system grows
            beyond all numbers, a delay below zero or beyond `LONGEST_DELAY` periods.
    """
    from scipy.linalg import expm

    step, late = positive(period, "period"), not_negative(delay, "delay")
    if system.period:
        raise InputError("system", "must be continuous")
    if late > LONGEST_DELAY * step:
        raise InputError("delay", f"must be at most {LONGEST_DELAY} periods, got {late:g} s")
    s, i = system.B.shape
    whole = int(np.ceil(late / step - 1e-9))
    rest = min(max(whole * step - late, 0.0), step)

    def held(span: float) -> tuple[FloatArray, FloatArray]:
        block = np.zeros((s + i, s + i))
        block[:s, :s], block[:s, s:] = system.A * span, system.B * span
        with np.errstate(all="ignore"):
            found = as_floats(expm(block), "period")
        return found[:s, :s], found[:s, s:]

    transition, input_matrix = held(step)
    if not whole:
        return StateSpace(transition, input_matrix, system.C, system.D, step)
    # In a period the older command acts for step - rest, then the next one for rest.
    newer = held(rest)[1]
    after = held(rest)[0]
    older = after @ held(step - rest)[1]
    size = s + whole * i
    dynamics, inputs = np.zeros((size, size)), np.zeros((size, i))
    dynamics[:s, :s], dynamics[:s, s : s + i] = transition, older
    second = slice(s + i, s + 2 * i)
    if whole > 1:
        dynamics[:s, second] = newer
    else:
        inputs[:s] = newer
    dynamics[s : size - i, s + i :] = np.eye(size - s - i)
    inputs[size - i :] = np.eye(i)
    output = np.zeros((len(system.C), size))
    output[:, :s], output[:, s : s + i] = system.C, system.D
    return StateSpace(dynamics, inputs, output, np.zeros_like(system.D), step)
