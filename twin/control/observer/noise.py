"""Noise covariances of a Kalman observer: the thesis' two sets, and one from the hardware."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats
from twin.control.observer.disturbance_model import SampledModel, disturbance_model, sampled
from twin.errors import InputError

MILLIMETRE = 1e-3
"""[m]"""

TEXT_VARIANCE = (0.0, 1e7)
"""Diagonal of Q: actuator force [N2], and disturbance in parts of the largest force."""
TEXT_MEASUREMENT = 1e-4
"""R, taken as [m2], the unit of x in (4.4)."""

CODE_MASS = 18.8
"""[kg]; the code gives no source, and the text's rule gives 27.9 kg."""
CODE_PERIOD = 1e-3
"""[s]"""
CODE_DISTURBANCE = 1000.0
"""Da = (0, 0, 1000) T"""
CODE_VARIANCE = 1e9
"""Rw"""
CODE_MEASUREMENT = 1e-5
"""Rv [mm2]: the code measures in millimetres, C = (1000, 0, 0)."""


class ObserverDesign(NamedTuple):
    """A sampled model of n legs with the covariances of its noises, all in SI units."""

    model: SampledModel
    process: FloatArray
    """`(n, 3, 3)` Gamma_k Q Gamma_k^T: of the state per period"""
    measurement: FloatArray
    """`(n,)` R [m2] or [rad2]"""


def thesis_text(
    mass: Any, largest_force: Any, period: float = 1e-3, method: str = "exact"
) -> ObserverDesign:
    """Return the design of the thesis' text: Q = diag(0, 1e7), R = 1e-4.

    Args:
        mass: `(n,)` equivalent masses [kg].
        largest_force: F_m^max [N].
        period: [s].
        method: of sampling, see `sampled`; the thesis prints "first_order".

    Raises:
        InputError: not finite or not above zero.

    Reference:
        Stewart thesis, section 4.4.2. The unit of R is not printed; [m2] is that of the x of
        (4.4), a standard deviation of 10 mm.
    """
    model = sampled(disturbance_model(mass, largest_force), period, method)
    process = _process(model, np.diag(TEXT_VARIANCE))
    return ObserverDesign(model, process, np.full(len(process), TEXT_MEASUREMENT))


def thesis_code(count: int = 6) -> ObserverDesign:
    """Return the design of the thesis' program for `count` legs, in SI units.

    There, forces enter in thousandths of a newton (B = 0.001/m) and positions leave in
    millimetres; in SI units both factors go away, and R = 1e-5 mm2 is 1e-11 m2.

    Raises:
        InputError: less than one leg.

    Reference:
        Stewart thesis, appendix A.3.
    """
    if type(count) is not int or count < 1:
        raise InputError("count", "must be a whole number above zero")
    model = sampled(disturbance_model(np.full(count, CODE_MASS)), CODE_PERIOD, "tustin")
    process = np.zeros((count, 3, 3))
    process[:, 2, 2] = CODE_VARIANCE * (CODE_DISTURBANCE * CODE_PERIOD) ** 2
    return ObserverDesign(model, process, np.full(count, CODE_MEASUREMENT * MILLIMETRE**2))


def hardware(
    mass: Any,
    resolution: Any,
    disturbance_step: Any,
    period: float = 1e-3,
    force_noise: Any = 0.0,
) -> ObserverDesign:
    """Return the design that follows from encoder and expected disturbances.

    Args:
        mass: `(n,)` equivalent masses [kg] or inertias [kg m2].
        resolution: smallest step q of the encoder [m] or [rad]: the measurement has the variance
            q^2 / 12.
        disturbance_step: standard deviation `(n,)` of the disturbance's change over one period
            [N] or [N m].
        period: [s].
        force_noise: standard deviation `(n,)` of the force that acts against the one that is
            known [N] or [N m], held over each period.

    Raises:
        InputError: not finite, negative, or disturbance and resolution both zero.
    """
    model = sampled(disturbance_model(mass), period)
    n = len(model.input)
    step, change, noise = (
        _sizes(value, name, n)
        for value, name in (
            (resolution, "resolution"),
            (disturbance_step, "disturbance_step"),
            (force_noise, "force_noise"),
        )
    )
    if not ((step > 0.0) & (change > 0.0)).all():
        raise InputError("resolution, disturbance_step", "must be above zero")
    # The disturbance is held over a period here, but does not add up over it: the random walk
    # moves by one step per period.
    covariance = np.zeros((n, 2, 2))
    covariance[:, 0, 0] = noise**2
    covariance[:, 1, 1] = (change / period) ** 2
    return ObserverDesign(model, _process(model, covariance), step**2 / 12.0)


def _sizes(value: Any, field: str, n: int) -> FloatArray:
    sizes = as_floats(value, field)
    if sizes.shape not in ((), (n,)) or not (sizes >= 0.0).all():
        raise InputError(field, f"must be one number or {n}, none below zero")
    return np.broadcast_to(sizes, n)


def _process(model: SampledModel, covariance: FloatArray) -> FloatArray:
    """Return Gamma_k Q Gamma_k^T `(n, 3, 3)`."""
    return np.asarray(model.noise @ covariance @ np.swapaxes(model.noise, -1, -2))
