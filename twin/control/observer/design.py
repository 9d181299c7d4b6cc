"""Noise covariances of a Kalman observer: the thesis' two sets, and one from the hardware.

A leg seen as a mass with a disturbance force: its state equations, continuous and sampled.

State (x, v, F_d): actuator coordinate, its rate, and the force that acts against the actuator.

    x' = v,    m v' = F_m - F_d,    F_d' = noise

For cranks read angle, angular rate, torque and moment of inertia.
"""

from __future__ import annotations

from math import factorial
from typing import Any, Literal, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, one_of, one_or_each, positive, whole_number
from twin.control.drive_model import drive_model
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model
from twin.plant.drives import equivalent_inertia

Method = Literal["exact", "first_order", "tustin"]
METHODS: tuple[Method, ...] = ("exact", "first_order", "tustin")

EXACT_TERMS = 16
"""Terms of the exponential series: A^3 = 0 ends it at the third, but in the printed A minus T/m =
1e-4 stands where the others have zero."""


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
    forces = one_or_each(largest_force, "largest_force", len(masses))
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


MILLIMETRE = 1e-3
"""[m]"""

TEXT_VARIANCE = (0.0, 1e7)
"""Diagonal of Q: actuator force [N2], and disturbance in parts of the largest force."""
TEXT_MEASUREMENT = 1e-4
"""R, taken as [m2], the unit of x in (4.4)."""

CODE_MASS = 18.8
"""[kg]; the code gives no source, and the text's rule gives 27.9 kg."""
CODE_PERIOD = 1e-3
"""[s] Control period of the code."""
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
    whole_number(count, "count", 1)
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
        one_or_each(value, name, n, zero=True)
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


def _process(model: SampledModel, covariance: FloatArray) -> FloatArray:
    """Return Gamma_k Q Gamma_k^T `(n, 3, 3)`."""
    return np.asarray(model.noise @ covariance @ np.swapaxes(model.noise, -1, -2))


def lumped_mass(platform: MachineModel, *, drives: bool = True) -> FloatArray:
    """Return `(n,)` [kg] moving mass of each actuator plus its equal share of the platform.

    Args:
        platform: with prismatic actuators that are described by a housing and a rod.
        drives: with what the drives reflect onto the actuators.

    Raises:
        InputError: the legs have no rod.

    Reference:
        Stewart thesis, section 4.4.1: "the sum of the moving mass of the actuator in its
        actuator-axis and one-sixth of the upper platform and test equipment", 27.9 kg; the code of
        appendix A.3 has 18.8 kg without a source. Both leave out the drive's armature.
    """
    legs = as_model(platform).parameters.legs
    rods = [leg.sliding_mass for leg in legs]
    if None in rods:
        raise InputError(
            "platform",
            f"legs of kind {platform.kind!r} have no rod that their actuators push; use "
            "twin.plant.drives.equivalent_inertia",
        )
    share = platform.parameters.platform.body.mass / platform.n_actuators
    masses = np.array(rods, dtype=np.float64) + share
    return masses + drive_model(platform).inertia if drives else masses


def observed_mass(platform: MachineModel) -> FloatArray:
    """Return the lumped masses `(n,)` where there are any, else what moves with all actuators.

    In [kg], for cranks in [kg m2], drives included.

    Raises:
        InputError: not a machine.
    """
    try:
        return lumped_mass(platform)
    except InputError:
        return equivalent_inertia(as_model(platform))
