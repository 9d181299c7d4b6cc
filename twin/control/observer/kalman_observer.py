"""Speed and disturbance of every leg from its position and force: a Kalman filter per leg.

The covariances do not depend on what is measured, so that the gains are known beforehand. They are
computed for coordinates in which every leg is alike but for one number: positions in standard
deviations r of the measurement, speeds in r/T, forces in r m/T^2; in SI units the entries of one
covariance differ by twenty decades.

There are three sets of noise covariances: the thesis' two, and one from the hardware.

A leg is modelled as a mass under a disturbance force, with the state (x, v, F_d): actuator
coordinate, its rate, and the force that acts against the actuator.

    x' = v,    m v' = F_m - F_d,    F_d' = noise

For cranks read angle, angular rate, torque and moment of inertia.
"""

from __future__ import annotations

from math import factorial
from typing import Any, Literal, NamedTuple

import numpy as np

from twin.basics.arrays import (
    FloatArray,
    as_floats,
    as_vector,
    one_of,
    one_or_each,
    outer,
    positive,
    whole_number,
)
from twin.control.gains import drive_model
from twin.errors import InputError, StateError
from twin.kernels.control.controllers import LegModels, observe
from twin.model.machine_model import MachineModel, as_model
from twin.plant.drives import equivalent_inertia

EXACT_TERMS = 16
"""Terms of the exponential series. A^3 = 0 would end it at the third term, but the printed A has
-T/m = 1e-4 where the others have zero."""

MILLIMETRE = 1e-3
"""[m] Length of a millimetre, the code's unit of position."""

TEXT_VARIANCE = (0.0, 1e7)
"""Diagonal of Q: actuator force [N2], and disturbance relative to the largest force."""

TEXT_MEASUREMENT = 1e-4
"""R, measurement variance of the text, taken as [m2], the unit of x in (4.4)."""

CODE_MASS = 18.8
"""[kg]; the code gives no source, and the text's rule gives 27.9 kg."""

CODE_PERIOD = 1e-3
"""[s] Control period of the code."""

CODE_DISTURBANCE = 1000.0
"""[N/s] Third entry of the code's disturbance input Da = (0, 0, 1000) T, with the period T."""

CODE_VARIANCE = 1e9
"""Rw, the code's variance of the process noise."""

CODE_MEASUREMENT = 1e-5
"""Rv [mm2], measurement variance of the code, which measures in millimetres, C = (1000, 0, 0)."""

GAIN_TOLERANCE = 1e-12
"""Relative change of the gains per period at which the recursion has settled."""

MAX_PERIODS = 20_000
"""Periods after which a recursion that has not settled is cut."""

MAX_ERROR_POLE = 1.0 - 1e-9
"""Largest discrete-time pole of the estimation error that still counts as decaying."""


Method = Literal["exact", "first_order", "tustin"]
DISCRETISATION_METHODS: tuple[Method, ...] = ("exact", "first_order", "tustin")


class DisturbanceModel(NamedTuple):
    """Continuous state equations of n legs: x' = A x + B F_m + Gamma noise, position = C x."""

    dynamics: FloatArray
    """`(n, 3, 3)` A"""
    input: FloatArray
    """`(n, 3)` B"""
    noise: FloatArray
    """`(n, 3, 2)` Gamma: noise of the actuator force [N], and of the disturbance relative to the
    largest force"""
    output: FloatArray
    """`(n, 3)` C"""


class SampledModel(NamedTuple):
    """Sampled state equations of n legs under a force that is held over each period."""

    period: float
    """[s] sampling period"""
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


def discretise(model: DisturbanceModel, period: Any, method: str = "exact") -> SampledModel:
    """Return the model sampled every `period` [s].

    Args:
        model: of n legs.
        period: [s] sampling period.
        method: "exact", for a force held over the period; "first_order", the series cut after its
            first term; "tustin", the trapezoidal rule, whose state is not the one at the sample
            (it is half a period late: its speed is the mean over the past period) and whose
            position contains the force of the same instant.

    Raises:
        InputError: a period that is not above zero, or no such method.

    Reference:
        Stewart thesis, equations (4.10) and (4.11), and appendix A.3 (tustin).
    """
    sample_time = positive(period, "period")
    one_of(method, "method", DISCRETISATION_METHODS)
    identity = np.broadcast_to(np.eye(3), model.dynamics.shape)
    if method == "tustin":
        half_step = 0.5 * sample_time * model.dynamics
        implicit_inverse = np.linalg.inv(identity - half_step)
        force = sample_time * np.einsum("nij,nj->ni", implicit_inverse, model.input)
        output = np.einsum("nj,nji->ni", model.output, implicit_inverse)
        return SampledModel(
            sample_time,
            implicit_inverse @ (identity + half_step),
            force,
            sample_time * implicit_inverse @ model.noise,
            output,
            0.5 * np.einsum("ni,ni->n", model.output, force),
        )
    terms = 1 if method == "first_order" else EXACT_TERMS
    power, series = identity, np.zeros_like(model.dynamics)
    for k in range(1, terms + 1):
        series = series + power * (sample_time**k / factorial(k))
        power = power @ model.dynamics
    return SampledModel(
        sample_time,
        identity + model.dynamics @ series,
        np.einsum("nij,nj->ni", series, model.input),
        series @ model.noise,
        model.output,
        np.zeros(len(model.dynamics)),
    )


class ObserverDesign(NamedTuple):
    """A sampled model of n legs with the covariances of its noises, all in SI units."""

    model: SampledModel
    process: FloatArray
    """`(n, 3, 3)` Gamma_k Q Gamma_k^T: covariance of the process noise per period"""
    measurement: FloatArray
    """`(n,)` R [m2] or [rad2]: variance of the measured coordinate"""


def thesis_text(
    mass: Any, largest_force: Any, period: float = 1e-3, method: str = "exact"
) -> ObserverDesign:
    """Return the design of the thesis' text: Q = diag(0, 1e7), R = 1e-4.

    Args:
        mass: `(n,)` equivalent masses [kg].
        largest_force: F_m^max [N].
        period: [s].
        method: of sampling, see `discretise`; the thesis prints "first_order".

    Raises:
        InputError: not finite or not above zero.

    Reference:
        Stewart thesis, section 4.4.2. The unit of R is not printed; [m2] is that of the x of
        (4.4), a standard deviation of 10 mm.
    """
    model = discretise(disturbance_model(mass, largest_force), period, method)
    process = _process(model, np.diag(TEXT_VARIANCE))
    return ObserverDesign(model, process, np.full(len(process), TEXT_MEASUREMENT))


def thesis_code(count: int = 6) -> ObserverDesign:
    """Return the design of the thesis' program for `count` legs, in SI units.

    There, actuator forces enter in thousandths of a newton (B = 0.001/m) and positions leave in
    millimetres; in SI units both factors go away, and R = 1e-5 mm2 is 1e-11 m2. The disturbance is
    in newtons there, too. Its input Da T is added to the sampled system as it is, so that the noise
    acts on the disturbance alone.

    Raises:
        InputError: less than one leg.

    Reference:
        Stewart thesis, appendix A.3.
    """
    whole_number(count, "count", 1)
    model = discretise(disturbance_model(np.full(count, CODE_MASS)), CODE_PERIOD, "tustin")
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
        InputError: not finite, negative, or a resolution or disturbance_step of zero.
    """
    model = discretise(disturbance_model(mass), period)
    n = len(model.input)
    encoder_step, disturbance_change, noise = (
        one_or_each(value, name, n, zero=True)
        for value, name in (
            (resolution, "resolution"),
            (disturbance_step, "disturbance_step"),
            (force_noise, "force_noise"),
        )
    )
    if not ((encoder_step > 0.0) & (disturbance_change > 0.0)).all():
        raise InputError("resolution, disturbance_step", "must be above zero")
    # The noise is the disturbance's rate, held over each period: step over period, so that the
    # disturbance changes by one step.
    covariance = np.zeros((n, 2, 2))
    covariance[:, 0, 0] = noise**2
    covariance[:, 1, 1] = (disturbance_change / period) ** 2
    # Quantisation in steps q has the variance q^2 / 12 of a uniform distribution.
    return ObserverDesign(model, _process(model, covariance), encoder_step**2 / 12.0)


def _process(model: SampledModel, covariance: FloatArray) -> FloatArray:
    """Return Gamma_k Q Gamma_k^T `(n, 3, 3)`."""
    return model.noise @ covariance @ np.swapaxes(model.noise, -1, -2)


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
    platform_share = platform.parameters.platform.body.mass / platform.n_actuators
    masses = np.array(rods, dtype=np.float64) + platform_share
    return masses + drive_model(platform).inertia if drives else masses


def observed_mass(platform: MachineModel) -> FloatArray:
    """Return the lumped masses `(n,)` where there are any, else those that all actuators move.

    In [kg], for cranks in [kg m2], drives included.

    Raises:
        InputError: not a machine.
    """
    try:
        return lumped_mass(platform)
    except InputError:
        return equivalent_inertia(as_model(platform))


class CovarianceError(StateError):
    """The covariance recursion does not settle (`data`: periods, change)."""


class Gains(NamedTuple):
    """Gains of the first periods; the last row holds from there on."""

    gain: FloatArray
    """`(k, n, 3)` G_k"""
    covariance: FloatArray
    """`(k, n, 3, 3)` P_k,k after each correction"""


def recursive_gains(
    design: ObserverDesign, start: FloatArray, max_periods: int = MAX_PERIODS
) -> Gains:
    """Return the gains from a start covariance `(n, 3, 3)` until they settle.

    The first row corrects the start itself, at the first measurement.

    Raises:
        CovarianceError: they do not settle within `max_periods` periods.

    Reference:
        Stewart thesis, equations (4.12).
    """
    scale, scaled = _scaled(design)
    predicted = start / outer(scale, scale)
    gains, covariances = [], []
    for _ in range(max_periods):
        gain, corrected = _corrected(scaled, predicted)
        gains.append(gain)
        covariances.append(corrected)
        if len(gains) > 1:
            change = float(np.abs(gains[-1] - gains[-2]).max() / np.abs(gain).max())
            if change <= GAIN_TOLERANCE:
                break
        predicted = _predicted(scaled, corrected)
    else:
        raise CovarianceError(
            f"the gains still change by {change:.3g} per period after {max_periods} periods; give "
            "the disturbance a larger step or the measurement a smaller variance",
            {"periods": max_periods, "change": change},
        )
    return _unscaled(np.array(gains), np.array(covariances), scale)


def steady_gains(design: ObserverDesign) -> Gains:
    """Return the steady-state gains (one row) from the algebraic Riccati equation.

    Raises:
        CovarianceError: there are none: a state that noise does not reach, or no noise at all.

    Reference:
        Discrete algebraic Riccati equation of (4.12), `scipy.linalg.solve_discrete_are`.
    """
    from scipy.linalg import solve_discrete_are

    scale, scaled = _scaled(design)
    predicted = np.empty_like(scaled.process)
    for k in range(len(predicted)):
        try:
            predicted[k] = solve_discrete_are(
                scaled.model.transition[k].T,
                scaled.model.output[k][:, None],
                scaled.process[k],
                scaled.measurement[k : k + 1, None],
            )
        except np.linalg.LinAlgError as error:
            raise CovarianceError(f"leg {k + 1} has no steady gains: {error}") from None
    gain, corrected = _corrected(scaled, predicted)
    slowest_pole = np.abs(np.linalg.eigvals(_error_transition(scaled, gain))).max(axis=-1)
    if not (slowest_pole < MAX_ERROR_POLE).all():
        leg = int(np.argmax(~(slowest_pole < MAX_ERROR_POLE))) + 1
        raise CovarianceError(
            f"leg {leg}: the observer's errors do not decay (factor {slowest_pole.max():.9g} per "
            "period); give the disturbance a noise",
            {"leg": leg, "factor": float(slowest_pole.max())},
        )
    return _unscaled(gain[None], corrected[None], scale)


def observer_poles(design: ObserverDesign) -> FloatArray:
    """Return the decay rates of the steady observer's errors `(n, 3)`: complex, [1/s], s-plane.

    Raises:
        CovarianceError: there are no steady gains.
    """
    roots = np.linalg.eigvals(_error_transition(design, steady_gains(design).gain[0]))
    return np.asarray(np.log(roots.astype(complex)) / design.model.period)


def _error_transition(design: ObserverDesign, gain: FloatArray) -> FloatArray:
    """Return the transition of the estimate's errors over one period `(n, 3, 3)`."""
    correction = np.eye(3) - outer(gain, design.model.output)
    return correction @ design.model.transition


def _scaled(design: ObserverDesign) -> tuple[FloatArray, ObserverDesign]:
    """Return scales `(n, 3)` of the state and the design in these units."""
    model = design.model
    deviation = np.sqrt(design.measurement)
    speed_per_disturbance = -model.transition[:, 1, 2]
    scale = np.stack(
        [deviation, deviation / model.period, deviation / (model.period * speed_per_disturbance)], 1
    )
    transition = model.transition * (scale[:, None, :] / scale[:, :, None])
    output = model.output * scale / deviation[:, None]
    return scale, ObserverDesign(
        model._replace(transition=transition, output=output),
        design.process / outer(scale, scale),
        np.ones(len(deviation)),
    )


def _unscaled(gain: FloatArray, covariance: FloatArray, scale: FloatArray) -> Gains:
    deviation = scale[:, :1]
    return Gains(gain * (scale / deviation), covariance * outer(scale, scale))


def _predicted(design: ObserverDesign, corrected: FloatArray) -> FloatArray:
    """Return P_k+1,k `(n, 3, 3)`."""
    transition = design.model.transition
    return transition @ corrected @ np.swapaxes(transition, -1, -2) + design.process


def _corrected(design: ObserverDesign, predicted: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return G_k `(n, 3)` and P_k,k `(n, 3, 3)`, the latter symmetric to rounding."""
    output = design.model.output
    output_covariance = np.einsum("nij,nj->ni", predicted, output)
    variance = np.einsum("ni,ni->n", output, output_covariance) + design.measurement
    gain = output_covariance / variance[:, None]
    corrected = predicted - outer(gain, output_covariance)
    return gain, np.asarray(0.5 * (corrected + np.swapaxes(corrected, -1, -2)))


class KalmanObserver:
    """Kalman filters of n legs, stepped together once per control period.

    Attributes:
        state: `(n, 3)` estimated coordinate [m], rate [m/s] and disturbance [N] (or [rad],
            [rad/s], [N m]) after the last measurement; overwritten by `update`.
        innovation: `(n,)` what the last prediction of the coordinate missed [m] or [rad].
        gain: `(k, n, 3)` gains of the first k periods; the last holds from there on.
    """

    state: FloatArray
    innovation: FloatArray
    gain: FloatArray

    def __init__(self, design: ObserverDesign, start_covariance: Any = None) -> None:
        """Compute the gains.

        Args:
            design: model and noise of the legs.
            start_covariance: `(n, 3, 3)` of the start state: the gains follow the covariance
                from there; default None, the steady gains from the first period on.

        Raises:
            InputError: the covariance has another shape, or is not symmetric and non-negative.
            StateError: the gains do not settle (`CovarianceError`).
        """
        self.design = design
        n = len(design.measurement)
        if start_covariance is None:
            self.gain = steady_gains(design).gain
        else:
            initial_covariance = as_floats(start_covariance, "start_covariance")
            if initial_covariance.shape != (n, 3, 3) or not np.array_equal(
                initial_covariance, np.swapaxes(initial_covariance, 1, 2)
            ):
                raise InputError("start_covariance", f"must be symmetric, ({n}, 3, 3)")
            size = np.sqrt(np.einsum("nii->ni", np.maximum(initial_covariance, 0.0)))
            # A state without a variance has no size of its own: that of the design's units counts.
            size = np.where(size > 0.0, size, _scaled(design)[0])
            scaled = initial_covariance / outer(size, size)
            if not (np.linalg.eigvalsh(scaled) >= -1e-9).all():
                raise InputError("start_covariance", "must have no negative eigenvalue")
            self.gain = recursive_gains(design, initial_covariance).gain
        self.state, self.innovation = np.zeros((n, 3)), np.zeros(n)
        model = design.model
        self._model = LegModels(model.transition, model.input, model.output, model.feedthrough)
        self._gain_by_period = list(self.gain)
        self._zero_gain = np.zeros((n, 3))
        self._last = len(self._gain_by_period) - 1
        self._count = 0

    def start(self, position: Any, rate: Any = None, disturbance: Any = None) -> None:
        """Start from measured coordinates `(n,)`, rates and disturbances (default zero).

        At rest the disturbance is the force that holds the machine.

        Raises:
            InputError: wrong shape or not finite.
        """
        n = len(self.state)
        zero = np.zeros(n)
        self.state[:, 0] = as_vector(position, "position", n)
        self.state[:, 1] = zero if rate is None else as_vector(rate, "rate", n)
        self.state[:, 2] = zero if disturbance is None else as_vector(disturbance, "disturbance", n)
        self.innovation[:] = 0.0
        self._count = 0

    def update(self, position: FloatArray, force: FloatArray) -> FloatArray:
        """Return the state `(n, 3)` at a measurement of `position` `(n,)`; it is overwritten.

        `force` `(n,)` is what the actuators gave over the period before the measurement. Both
        come from the loop and are not checked again.

        Reference:
            Stewart thesis, equations (4.12).
        """
        period_gain = self._gain_by_period[min(self._count, self._last)]
        observe(self._model, period_gain, force, position, self.state, self.innovation)
        self._count += 1
        return self.state

    def predict(self, force: FloatArray) -> FloatArray:
        """Return the state `(n, 3)` a period later without a measurement; it is overwritten.

        The innovation keeps its last value: nothing was compared.
        """
        innovation = self.innovation.copy()
        observe(self._model, self._zero_gain, force, innovation, self.state, self.innovation)
        self.innovation[:] = innovation
        return self.state

    @property
    def position(self) -> FloatArray:
        """Estimated coordinates `(n,)`, a view."""
        return self.state[:, 0]

    @property
    def rate(self) -> FloatArray:
        """Estimated rates `(n,)`, a view."""
        return self.state[:, 1]

    @property
    def disturbance(self) -> FloatArray:
        """Estimated disturbance forces `(n,)`, a view."""
        return self.state[:, 2]
