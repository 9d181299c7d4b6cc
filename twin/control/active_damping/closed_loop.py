"""Closed loops of a linearised machine with local laws: poles, and the gain that damps most.

The plant of a sampled law is the linearised machine between its drives and its sensors.

For one leg with one mass there are closed forms of the most damping that a local loop can give. Two
laws lead to the same polynomial. One is integral force feedback of a mass with the resonance p,

    f = -(g / s) F,

where z is the zero of its force sensor: what is left of the resonance while the sensor's force is
held at zero. The other is velocity feedback across an actuator in series with a spring. The poles s
of both are roots of

    s (s^2 + p^2) + gamma (s^2 + z^2) = 0.

A real root and a mode of frequency w and damping ratio xi are

    s (s^2 + p^2) + gamma (s^2 + z^2) = (s + b) (s^2 + 2 xi w s + w^2),
    b = 2 xi w z^2 / (w^2 - z^2),
    4 xi^2 = (p^2 - w^2) (w^2 - z^2) / (w^2 z^2).

The ratio is largest at

    w^2 = p z,   xi = (p - z) / (2 z),   gamma = p sqrt(p / z),   p <= 3 z.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import BoolArray, ComplexArray, FloatArray, as_floats, as_instance, positive
from twin.control.active_damping.laws import LocalLaw
from twin.control.gains import DriveModel, drive_model
from twin.control.linear.machine import LinearMachine, StateSpace, sampled, with_lag
from twin.errors import InputError

SENSED_OUTPUTS = ("coordinates", "rates")
"""Outputs that the sensors of the legs measure."""

DELAY_TOLERANCE = 1e-9
"""Rounding error of a delay, as a fraction of the control period."""

DEFAULT_OUTPUTS = ("coordinates", "rates")

GRID_POINTS = 48
"""Frequencies of the first, coarse scan for a peak."""

TRANSMISSION_MODE_FRACTION = 0.5
"""Modes above this fraction of sqrt(stiffness / motor's inertia) are those of the transmissions."""

FAST_WEIGHT = 2.0
"""Adopted: what the damping of such modes counts. Their own dampers end them in milliseconds, and
the platform hardly moves; a law shall not be held back by them, nor make them ring."""


def driven_plant(
    linear: LinearMachine, period: Any, inputs: Sequence[str] = (), outputs: Sequence[str] = ()
) -> StateSpace:
    """Return the sampled machine from commanded forces and `inputs` to readings and `outputs`.

    Readings are the actuators' coordinates, their rates and the forces on the legs `(3n)`, as a
    controller sees them: coordinates of the motors where these have an inertia of their own,
    differences of coordinates over the period where encoders count, forces of the past period.
    Commands pass delay and current lag, and motor and transmission where the motor has an inertia.
    Dry friction, backlash, limits and quantisation have no linear part. Without drives this is the
    exactly sampled machine with the past command.

    Args:
        linear: as `linearise` returns it; drives are those of its platform.
        period: of the controller [s].
        inputs: names as in `LinearMachine`, held over the period; "forces" are those that disturb
            the motors, without delay or lag.
        outputs: likewise; leg forces are those of ideal drives.

    Raises:
        InputError: no such input or output, drives of different delays, some with current lag and
            some without, or drives that are part of `linear` already.
    """
    step, n = positive(period, "period"), linear.platform.n_actuators
    if linear.delay or linear.lag.size:
        raise InputError("linear", "must be the machine without its drives")
    legs: Any = linear.platform.parameters.legs
    drives = drive_model(linear.platform)
    delays = {leg.drive.delay if leg.drive else 0.0 for leg in legs}
    lag = np.array([leg.drive.current_lag if leg.drive else 0.0 for leg in legs])
    if len(delays) > 1 or (lag.any() and not (lag > 0.0).all()):
        raise InputError("platform", "its drives must all have the same delay, and a lag or none")
    moving, pressed = with_motors(linear, drives)
    whole = moving.system(("forces", *inputs), (*SENSED_OUTPUTS, *outputs))
    through = np.zeros((n, whole.D.shape[1]))
    through[:, :n] = np.diag((drives.inertia == 0.0).astype(float))
    whole = whole._replace(
        C=np.vstack([whole.C[: 2 * n], pressed, whole.C[2 * n :]]),
        D=np.vstack([whole.D[: 2 * n], through, whole.D[2 * n :]]),
    )
    commanded = whole._replace(B=whole.B[:, :n], D=whole.D[:, :n])
    input_matrix = whole.B[:, n:]
    if lag.any():
        commanded = with_lag(commanded, lag)
        input_matrix = np.vstack([np.zeros((n, input_matrix.shape[1])), input_matrix])
    other = commanded._replace(B=input_matrix, D=whole.D[:, n:])
    late, forces = delays.pop(), slice(2 * n, 3 * n)
    plant = _with_past_force(commanded, sampled(commanded, step, late), late, forces)
    held = sampled(other, step)
    rest = np.zeros((len(plant.A) - len(held.A), held.B.shape[1]))
    plant = plant._replace(
        B=np.hstack([plant.B, np.vstack([held.B, rest])]),
        D=np.hstack([plant.D, held.D]),
    )
    return _with_differences(plant, np.array([bool(leg.encoder) for leg in legs]))


def with_motors(linear: LinearMachine, drives: DriveModel) -> tuple[LinearMachine, FloatArray]:
    """Return the machine with its motors as coordinates, and the forces that load its legs.

    Motors with inertia come first among the coordinates, each on its transmission; "forces" push
    them, "coordinates" and "rates" are theirs. Viscous friction is that of the motors.

    Returns:
        The machine, and rows `(n, 2m)` of the transmissions' forces per state. Rows of drives
        without inertia are what friction takes from the command.
    """
    own = np.flatnonzero(drives.inertia > 0.0)
    m, r, n = linear.size, len(own), linear.platform.n_actuators

    def behind(matrix: FloatArray) -> FloatArray:
        return np.vstack([np.zeros((r, matrix.shape[1])), matrix])

    pushed = behind(linear.force_input)
    pushed[:, own] = np.eye(r + m, r)
    ahead = np.hstack([np.eye(r), -linear.force_input[:, own].T])
    stiff = np.zeros(r) if not r else 1.0 / drives.compliance[own]
    legs: Any = linear.platform.parameters.legs
    losses = np.array([leg.drive.reflected().damping if leg.drive else 0.0 for leg in legs])[own]
    mass, damping, stiffness = (np.zeros((r + m, r + m)) for _ in range(3))
    mass[r:, r:], damping[r:, r:], stiffness[r:, r:] = linear.mass, linear.damping, linear.stiffness
    mass[:r, :r] = np.diag(drives.inertia[own])
    damping += pushed @ (drives.viscous[:, None] * pushed.T) + ahead.T @ (losses[:, None] * ahead)
    stiffness += ahead.T @ (stiff[:, None] * ahead)
    pressed = np.hstack([np.zeros((n, r + m)), -drives.viscous[:, None] * pushed.T])
    pressed[own] = np.hstack([stiff[:, None] * ahead, losses[:, None] * ahead])
    machine = replace(
        linear,
        mass=mass,
        damping=damping,
        stiffness=stiffness,
        force_input=pushed,
        wrench_input=behind(linear.wrench_input),
        base_input=behind(linear.base_input),
        free=np.hstack([np.zeros((6, r)), linear.free]),
    )
    return machine, pressed


def _with_past_force(
    continuous: StateSpace, plant: StateSpace, delay: float, rows: slice
) -> StateSpace:
    """Return the plant with forces that pass a drive at once read one period later.

    A reading is of the force up to its instant, the command acts after it.
    """
    through = continuous.D[rows]
    if not through.any():
        return plant
    s, size, n = len(continuous.A), len(plant.A), len(through)
    # The command that acts at the end of a period: the present one, or one of those that wait.
    present, last = np.zeros((n, n)), np.zeros((n, size))
    past = int(delay / plant.period + DELAY_TOLERANCE)
    if past:
        last[:, size - past * n : size - past * n + n] = through
    else:
        present = through
    dynamics = np.zeros((size + n, size + n))
    dynamics[:size, :size], dynamics[size:, :size] = plant.A, last
    output = np.hstack([plant.C, np.zeros((len(plant.C), n))])
    output[rows, s:size] = 0.0
    output[rows, size:] = np.eye(n)
    feedthrough = plant.D.copy()
    feedthrough[rows] = 0.0
    return StateSpace(dynamics, np.vstack([plant.B, present]), output, feedthrough, plant.period)


def _with_differences(plant: StateSpace, counted: BoolArray) -> StateSpace:
    """Return the plant with rates that are differences of coordinates where they are counted."""
    if not counted.any():
        return plant
    n, size = len(counted), len(plant.A)
    dynamics = np.zeros((size + n, size + n))
    dynamics[:size, :size], dynamics[size:, :size] = plant.A, plant.C[:n]
    output = np.hstack([plant.C, np.zeros((len(plant.C), n))])
    difference = np.hstack([plant.C[:n], -np.eye(n)]) / plant.period
    output[n : 2 * n][counted] = difference[counted]
    input_matrix = np.vstack([plant.B, plant.D[:n]])
    return StateSpace(dynamics, input_matrix, output, plant.D, plant.period)


Law = LocalLaw | StateSpace
"""A sampled law, or a state space from (q, q', added forces) to forces."""


def closed_loop(
    linear: LinearMachine,
    law: Law,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = DEFAULT_OUTPUTS,
) -> StateSpace:
    """Return machine and local law in a loop: from added forces and `inputs` to `outputs`.

    A sampled law acts on the exactly sampled machine through the drives and sensors that its
    platform has, see `driven_plant`: commands, and the inputs, are held over the period. Names
    as in `LinearMachine`; the added forces come first. Continuous laws act on the machine itself.

    Raises:
        InputError: a law of other sizes, no such input or output, or drives that cannot be
            modelled.
    """
    local = law.system() if isinstance(law, LocalLaw) else as_instance(law, "law", StateSpace)
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
    plant = linear.system(("forces", *inputs), (*DEFAULT_OUTPUTS, *outputs))
    return sampled(plant, period) if period else plant


def root_locus(linear: LinearMachine, law_of: Callable[[float], Law], gains: Any) -> ComplexArray:
    """Return the closed loop's poles `(k, s)` [1/s] over gains `(k,)`, each row by frequency.

    Raises:
        InputError: no gains, or gains that are no numbers.
    """
    values = as_floats(gains, "gains")
    if values.ndim != 1 or not values.size:
        raise InputError("gains", "must be a list of numbers")
    rows = [closed_loop(linear, law_of(float(gain))).rates for gain in values]
    return np.array([row[np.lexsort((row.imag, np.abs(row)))] for row in rows])


def damping_ratios(poles: ComplexArray) -> FloatArray:
    """Return the damping ratios of poles [1/s]: one for real ones, below zero if unstable."""
    sizes = np.abs(poles)
    return np.asarray(-poles.real / np.where(sizes > 0.0, sizes, 1.0))


def smallest_damping(poles: ComplexArray) -> float:
    """Return the smallest damping ratio of poles `(s,)` [1/s]; below zero: unstable."""
    return float(damping_ratios(poles).min())


class BestGain(NamedTuple):
    """Gain at which the smallest damping ratio is largest, and the poles with it."""

    gain: float
    ratio: float
    """smallest damping ratio there, of the modes below those of the transmissions"""
    poles: ComplexArray
    """[1/s] of the closed loop there"""


def best_gain(
    linear: LinearMachine, law_of: Callable[[float], Law], lowest: Any, highest: Any
) -> BestGain:
    """Return the gain between two bounds whose worst mode is damped best.

    A grid finds the right stretch, golden sections the top. Sampled laws act through the drives of
    the machine's platform; motors that swing on their transmissions count `FAST_WEIGHT`.

    Raises:
        InputError: bounds out of order or not above zero.
    """
    from scipy.optimize import minimize_scalar

    low, high = positive(lowest, "lowest"), positive(highest, "highest")
    if not low < high:
        raise InputError("highest", "must be above the lowest gain")

    limit = transmission_limit(linear)

    def worst(logarithm: float) -> float:
        poles = closed_loop(linear, law_of(float(np.exp(logarithm)))).rates
        fast = np.abs(poles) > limit
        ratios = damping_ratios(poles)
        return -float(np.where(fast & (ratios > 0.0), FAST_WEIGHT * ratios, ratios).min())

    grid = np.linspace(np.log(low), np.log(high), GRID_POINTS)
    values = [worst(place) for place in grid]
    middle = int(np.argmin(values))
    bracket = (grid[max(middle - 1, 0)], grid[min(middle + 1, GRID_POINTS - 1)])
    found = minimize_scalar(worst, bounds=bracket, method="bounded", options={"xatol": 1e-5})
    gain = float(np.exp(found.x if found.fun < values[middle] else grid[middle]))
    poles = closed_loop(linear, law_of(gain)).rates
    return BestGain(gain, structural_damping(linear, poles), poles)


def transmission_limit(linear: LinearMachine) -> float:
    """Return from where on modes are those of motors on transmissions [rad/s]; infinite without."""
    drives = drive_model(linear.platform)
    moving = (drives.inertia > 0.0) & (drives.compliance > 0.0)
    if not moving.any():
        return np.inf
    slowest = 1.0 / np.sqrt(float((drives.inertia * drives.compliance)[moving].max()))
    return float(TRANSMISSION_MODE_FRACTION * slowest)


def structural_damping(linear: LinearMachine, poles: ComplexArray) -> float:
    """Return the smallest damping ratio below the transmissions', of all if one is unstable."""
    ratios = damping_ratios(poles)
    slow = np.abs(poles) <= transmission_limit(linear)
    return float((ratios if ratios.min() < 0.0 or not slow.any() else ratios[slow]).min())


class LargestDamping(NamedTuple):
    """The best that a local loop can do for one mode."""

    ratio: float
    """damping ratio; one where the mode can be damped critically"""
    gain: float
    """gamma [rad/s]: where the ratio is reached"""
    frequency: float
    """|s| [rad/s] of the damped mode there"""


def largest_damping(pole: float, zero: float) -> LargestDamping:
    """Return the most damping on the locus from a pole to a zero on the imaginary axis.

    For force feedback of a leg of stiffness k under a mass m, in parallel with a spring k_p that
    the sensor does not measure:

        p^2 = (k + k_p) / m,   z^2 = k_p / m,   gamma = g

    For velocity feedback in series with a spring k, p with a locked actuator, z at gain zero:

        f = -g q' - k_p q
        p^2 = k / m,   z^2 = k k_p / ((k + k_p) m),   gamma = (k + k_p) / g

    Above p = 3 z critical damping is reached; the smallest gain that does is returned. With a zero
    at the origin, where there is no parallel spring, the damping is critical at gamma = 2 p.

    Args:
        pole: p [rad/s], above the zero.
        zero: z [rad/s], from zero on.

    Raises:
        InputError: not finite, or a pole that is not above the zero.

    Reference:
        Preumont, Vibration Control of Active Structures, chapter 6 (xi_max and its gain, equations
        of section 6.3.1); derived above.
    """
    upper = positive(pole, "pole")
    lower = float(zero)
    if not 0.0 <= lower < upper:
        raise InputError("zero", "must be from zero on and below the pole")
    if lower == 0.0:
        return LargestDamping(1.0, 2.0 * upper, upper)
    if upper <= 3.0 * lower:
        frequency = np.sqrt(upper * lower)
        return LargestDamping(
            (upper - lower) / (2.0 * lower), float(upper * np.sqrt(upper / lower)), frequency
        )
    # xi = 1: w^4 - (p^2 - 3 z^2) w^2 + p^2 z^2 = 0, the larger root first on the way from p.
    half = 0.5 * (upper**2 - 3.0 * lower**2)
    square = half + np.sqrt(half**2 - (upper * lower) ** 2)
    frequency = float(np.sqrt(square))
    gain = 2.0 * frequency + 2.0 * frequency * lower**2 / (square - lower**2)
    return LargestDamping(1.0, gain, frequency)


def damping_polynomial(pole: float, zero: float, gain: float) -> list[float]:
    """Return the coefficients of s (s^2 + p^2) + gain (s^2 + z^2), highest power first."""
    return [1.0, gain, pole**2, gain * zero**2]
