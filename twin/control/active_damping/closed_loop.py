"""Local laws and their closed loops with a linearised machine: poles, and the most damping gain.

With a local law each leg's actuator force follows from the measurements of that leg alone. All laws
are linear in the deviations from the reference: y = (dq, dq', df) of coordinate, rate and actuator
force, and the deviation df. Continuous laws serve the theory, sampled ones run.

The plant of a sampled law is the linearised machine between its drives and its sensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import (
    BoolArray,
    ComplexArray,
    FloatArray,
    as_instance,
    not_negative,
    one_or_each,
    positive,
)
from twin.control.gains import DriveModel, drive_model
from twin.control.linear.machine import (
    LinearMachine,
    StateSpace,
    discretise,
    lower_triangle,
    spring_constants,
    with_lag,
)
from twin.errors import InputError
from twin.model.machine_model import MachineModel


class LocalLaw(NamedTuple):
    """Per leg: z[k+1] = state_factor z + input_gains y, df = output_factor z + feedthrough y.

    z is the leg's state, y = (dq, dq', df).
    """

    state_factor: FloatArray
    """`(n,)` factor of a leg's state from period to period"""
    input_gains: FloatArray
    """`(n, 3)` gains from (dq, dq', df) to the next state"""
    output_factor: FloatArray
    """`(n,)` factor from the state to the force deviation"""
    feedthrough: FloatArray
    """`(n, 3)` gains from (dq, dq', df) to the force deviation"""
    period: float
    """[s] control period"""

    def system(self) -> StateSpace:
        """Return the law as a sampled state space from (q, q', F, added forces) to forces.

        F are the actuators' forces as read: those of the past period, what was added included.
        """
        n = len(self.state_factor)
        input_blocks = [np.diag(column) for column in self.input_gains.T]
        feedthrough = [np.diag(column) for column in self.feedthrough.T]
        return StateSpace(
            np.diag(self.state_factor),
            np.hstack([*input_blocks, np.zeros((n, n))]),
            np.diag(self.output_factor),
            np.hstack([*feedthrough, np.eye(n)]),
            self.period,
        )

    def update(
        self, state: FloatArray, coordinates: FloatArray, rates: FloatArray, forces: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return force deviations `(n,)` and the next state for measured deviations `(n,)`."""
        feedthrough, input_gains = self.feedthrough, self.input_gains
        force = (
            self.output_factor * state + feedthrough[:, 0] * coordinates + feedthrough[:, 1] * rates
        )
        next_state = (
            self.state_factor * state + input_gains[:, 0] * coordinates + input_gains[:, 1] * rates
        )
        return force + feedthrough[:, 2] * forces, next_state + input_gains[:, 2] * forces


def force_feedback(
    platform: MachineModel, gain: Any, period: float, *, leak: float = 0.0
) -> LocalLaw:
    """Return integral force feedback of struts, df = -g / (s + leak) dF with F = f + spring.

    Sampled as df[k] = exp(-leak T) df[k-1] - (1 - exp(-g T)) F[k]: exact for a spring force that
    is held over the period, so that its own state never grows, whatever the gain.

    Args:
        platform: with struts.
        gain: g [1/s], one number or one per leg, from zero on.
        period: T [s].
        leak: [1/s]; with it the legs keep the share leak / (leak + g) of their static stiffness.

    Raises:
        InputError: a machine without struts, or numbers that cannot be used.
    """
    sample_time, rates, leak_rates = _checked(platform, gain, period, leak)
    stiffness, damping = spring_constants(platform)
    n = platform.n_actuators
    gain_fraction = 1.0 - np.exp(-rates * sample_time)
    decay = np.full(n, np.exp(-leak_rates * sample_time))
    sensor_gains = np.column_stack([-stiffness, -damping, np.ones(n)])
    input_gains = -gain_fraction[:, None] * sensor_gains
    return LocalLaw(decay, input_gains, decay, input_gains, sample_time)


def velocity_feedback(
    platform: MachineModel, gain: Any, period: float, *, stiffness: Any = 0.0
) -> LocalLaw:
    """Return direct velocity feedback df = -g dq' - k_p dq.

    Args:
        platform: any.
        gain: g [N s/m], one number or one per leg, from zero on.
        period: [s].
        stiffness: k_p [N/m] that holds an actuator in series with a spring; one number or `(n,)`.

    Raises:
        InputError: numbers that cannot be used.
    """
    sample_time, damper, _ = _checked(platform, gain, period, 0.0, springs=False)
    n = platform.n_actuators
    spring = one_or_each(stiffness, "stiffness", n, zero=True)
    feedthrough = np.column_stack([-spring, -damper, np.zeros(n)])
    return LocalLaw(np.zeros(n), np.zeros((n, 3)), np.zeros(n), feedthrough, sample_time)


def position_force_feedback(
    platform: MachineModel,
    gain: Any,
    period: float,
    *,
    leak: float = 0.0,
    stiffness: Any,
    damping: Any,
) -> LocalLaw:
    """Return integral force feedback of actuators in series with springs.

    A force that the actuator itself exerts says nothing new to it; integral force feedback needs an
    actuator that commands its place u (Preumont's active strut). A stiff loop makes it one:

        u' = -leak u - (g / k) dF,    df = P (u - dq) - D dq',    F = f.

    With P and D large this is s^2 + g s + w^2 for a leg without losses: the actuator is a damper
    k / g in series with the spring.

    Args:
        platform: with viscoelastic legs.
        gain: g [1/s], one number or one per leg, from zero on.
        period: [s].
        leak: [1/s]; with it the actuator comes back to its reference.
        stiffness: P [N/m], one number or one per leg.
        damping: D [N s/m], likewise.

    Raises:
        InputError: a machine without springs in series, or numbers that cannot be used.

    Reference:
        Preumont, Vibration Control of Active Structures, section 6.3 (active strut).
    """
    if not platform.n_deflections:
        raise InputError("platform", f"{platform.name} has no springs in series")
    sample_time, rates, leak_rates = _checked(platform, gain, period, leak, springs=False)
    n = platform.n_actuators
    position_stiffness = one_or_each(stiffness, "stiffness", n, zero=True)
    damper = one_or_each(damping, "damping", n, zero=True)
    decay = np.full(n, np.exp(-leak_rates * sample_time))
    displacement_per_force = (1.0 - np.exp(-rates * sample_time)) / spring_constants(platform)[0]
    zeros = np.zeros(n)
    input_gains = np.column_stack([zeros, zeros, -displacement_per_force])
    feedthrough = np.column_stack(
        [-position_stiffness, -damper, -position_stiffness * displacement_per_force]
    )
    return LocalLaw(decay, input_gains, position_stiffness * decay, feedthrough, sample_time)


def continuous_force_feedback(
    platform: MachineModel, gain: Any, *, leak: float = 0.0
) -> StateSpace:
    """Return integral force feedback of struts from (q, q', added forces r), not sampled.

    f = x + r,   x' = -leak x - g (f - k dq - c dq').

    Raises:
        InputError: a machine without struts, or numbers that cannot be used.
    """
    _, rates, leak_rates = _checked(platform, gain, 1.0, leak)
    stiffness, damping = spring_constants(platform)
    identity = np.eye(platform.n_actuators)
    input_blocks = [np.diag(rates * stiffness), np.diag(rates * damping), -np.diag(rates)]
    feedthrough = np.hstack([0.0 * identity, 0.0 * identity, identity])
    return StateSpace(-np.diag(leak_rates + rates), np.hstack(input_blocks), identity, feedthrough)


def continuous_velocity_feedback(
    platform: MachineModel, gain: Any, *, stiffness: Any = 0.0
) -> StateSpace:
    """Return direct velocity feedback from (q, q', added forces) to forces, not sampled.

    Raises:
        InputError: numbers that cannot be used.
    """
    law = velocity_feedback(platform, gain, 1.0, stiffness=stiffness)
    n = platform.n_actuators
    feedthrough = np.hstack([*(np.diag(column) for column in law.feedthrough.T[:2]), np.eye(n)])
    return StateSpace(np.zeros((0, 0)), np.zeros((0, 3 * n)), np.zeros((n, 0)), feedthrough)


def _checked(
    platform: MachineModel, gain: Any, period: float, leak: float, springs: bool = True
) -> tuple[float, FloatArray, float]:
    if springs and not platform.leg.has_axial_spring:
        raise InputError("platform", f"{platform.name} has no struts")
    gains = one_or_each(gain, "gain", platform.n_actuators, zero=True)
    return positive(period, "period"), gains, not_negative(leak, "leak")


SENSED_OUTPUTS = ("coordinates", "rates")
"""Outputs that the sensors of the legs measure."""

DELAY_TOLERANCE = 1e-9
"""Rounding error of a delay, as a fraction of the control period."""

GRID_POINTS = 48
"""Frequencies of the first, coarse scan for a peak."""

TRANSMISSION_MODE_FRACTION = 0.5
"""A mode counts as one of a transmission above this fraction of sqrt(stiffness / motor inertia)."""

FAST_WEIGHT = 2.0
"""Engineering choice: weight of the damping ratio of transmission modes. Their own dampers end them
in milliseconds and the platform hardly moves: they must not limit the gain of a law, nor start to
ring."""


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
        period: control period [s].
        inputs: names as in `LinearMachine`, held over the period; "forces" are those that disturb
            the motors, without delay or lag.
        outputs: likewise; leg forces are those of ideal drives.

    Raises:
        InputError: no such input or output, drives of different delays, some with current lag and
            some without, or drives that are part of `linear` already.
    """
    sample_time, n = positive(period, "period"), linear.platform.n_actuators
    if linear.delay or linear.lag.size:
        raise InputError("linear", "must be the machine without its drives")
    legs: Any = linear.platform.parameters.legs
    drives = drive_model(linear.platform)
    delays = {leg.drive.delay if leg.drive else 0.0 for leg in legs}
    lag = np.array([leg.drive.current_lag if leg.drive else 0.0 for leg in legs])
    if len(delays) > 1 or (lag.any() and not (lag > 0.0).all()):
        raise InputError("platform", "its drives must all have the same delay, and a lag or none")
    motor_machine, transmission_rows = with_motors(linear, drives)
    motor_plant = motor_machine.system(("forces", *inputs), (*SENSED_OUTPUTS, *outputs))
    feedthrough = np.zeros((n, motor_plant.D.shape[1]))
    feedthrough[:, :n] = np.diag((drives.inertia == 0.0).astype(float))
    motor_plant = motor_plant._replace(
        C=np.vstack([motor_plant.C[: 2 * n], transmission_rows, motor_plant.C[2 * n :]]),
        D=np.vstack([motor_plant.D[: 2 * n], feedthrough, motor_plant.D[2 * n :]]),
    )
    from_commands = motor_plant._replace(B=motor_plant.B[:, :n], D=motor_plant.D[:, :n])
    input_matrix = motor_plant.B[:, n:]
    if lag.any():
        from_commands = with_lag(from_commands, lag)
        input_matrix = np.vstack([np.zeros((n, input_matrix.shape[1])), input_matrix])
    from_inputs = from_commands._replace(B=input_matrix, D=motor_plant.D[:, n:])
    delay_time, forces = delays.pop(), slice(2 * n, 3 * n)
    plant = _with_past_force(
        from_commands, discretise(from_commands, sample_time, delay_time), delay_time, forces
    )
    sampled_inputs = discretise(from_inputs, sample_time)
    delay_rows = np.zeros((len(plant.A) - len(sampled_inputs.A), sampled_inputs.B.shape[1]))
    plant = plant._replace(
        B=np.hstack([plant.B, np.vstack([sampled_inputs.B, delay_rows])]),
        D=np.hstack([plant.D, sampled_inputs.D]),
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
    motor_indices = np.flatnonzero(drives.inertia > 0.0)
    m, r, n = linear.size, len(motor_indices), linear.platform.n_actuators

    def with_motor_rows(matrix: FloatArray) -> FloatArray:
        return np.vstack([np.zeros((r, matrix.shape[1])), matrix])

    motor_input = with_motor_rows(linear.force_input)
    motor_input[:, motor_indices] = np.eye(r + m, r)
    wind_up_map = np.hstack([np.eye(r), -linear.force_input[:, motor_indices].T])
    transmission_stiffness = np.zeros(r) if not r else 1.0 / drives.compliance[motor_indices]
    all_drives = linear.platform.parameters.drives
    transmission_damping = np.array(
        [drive.reflected().damping if drive else 0.0 for drive in all_drives]
    )[motor_indices]
    mass, damping, stiffness = (np.zeros((r + m, r + m)) for _ in range(3))
    mass[r:, r:], damping[r:, r:], stiffness[r:, r:] = linear.mass, linear.damping, linear.stiffness
    mass[:r, :r] = np.diag(drives.inertia[motor_indices])
    damping += motor_input @ (drives.viscous[:, None] * motor_input.T) + wind_up_map.T @ (
        transmission_damping[:, None] * wind_up_map
    )
    stiffness += wind_up_map.T @ (transmission_stiffness[:, None] * wind_up_map)
    transmission_rows = np.hstack([np.zeros((n, r + m)), -drives.viscous[:, None] * motor_input.T])
    transmission_rows[motor_indices] = np.hstack(
        [transmission_stiffness[:, None] * wind_up_map, transmission_damping[:, None] * wind_up_map]
    )
    machine = replace(
        linear,
        mass=mass,
        damping=damping,
        stiffness=stiffness,
        force_input=motor_input,
        wrench_input=with_motor_rows(linear.wrench_input),
        base_input=with_motor_rows(linear.base_input),
        displacement_map=np.hstack([np.zeros((6, r)), linear.displacement_map]),
    )
    return machine, transmission_rows


def _with_past_force(
    continuous: StateSpace, plant: StateSpace, delay: float, rows: slice
) -> StateSpace:
    """Return the plant whose readings of directly transmitted forces come one period later.

    A reading is the force up to its instant; the command of that instant acts only afterwards.
    """
    reading_feedthrough = continuous.D[rows]
    if not reading_feedthrough.any():
        return plant
    s, size, n = len(continuous.A), len(plant.A), len(reading_feedthrough)
    # The command that acts at the end of a period: the present one, or one of those that wait.
    current_weights, previous_weights = np.zeros((n, n)), np.zeros((n, size))
    delay_periods = int(delay / plant.period + DELAY_TOLERANCE)
    if delay_periods:
        previous_weights[:, size - delay_periods * n : size - delay_periods * n + n] = (
            reading_feedthrough
        )
    else:
        current_weights = reading_feedthrough
    dynamics = lower_triangle(plant.A, previous_weights, np.zeros((n, n)))
    output = np.hstack([plant.C, np.zeros((len(plant.C), n))])
    output[rows, s:size] = 0.0
    output[rows, size:] = np.eye(n)
    feedthrough = plant.D.copy()
    feedthrough[rows] = 0.0
    return StateSpace(
        dynamics, np.vstack([plant.B, current_weights]), output, feedthrough, plant.period
    )


def _with_differences(plant: StateSpace, is_counted: BoolArray) -> StateSpace:
    """Return the plant whose encoder rates are differences of coordinates over one period."""
    if not is_counted.any():
        return plant
    n = len(is_counted)
    dynamics = lower_triangle(plant.A, plant.C[:n], np.zeros((n, n)))
    output = np.hstack([plant.C, np.zeros((len(plant.C), n))])
    difference = np.hstack([plant.C[:n], -np.eye(n)]) / plant.period
    output[n : 2 * n][is_counted] = difference[is_counted]
    input_matrix = np.vstack([plant.B, plant.D[:n]])
    return StateSpace(dynamics, input_matrix, output, plant.D, plant.period)


Law = LocalLaw | StateSpace
"""A sampled law, or a state space from (q, q', added forces) to forces."""


def closed_loop(
    linear: LinearMachine,
    law: Law,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = SENSED_OUTPUTS,
) -> StateSpace:
    """Return machine and local law in a loop: from added forces and `inputs` to `outputs`.

    A sampled law acts on the exactly sampled machine through the drives and sensors that its
    platform has, see `driven_plant`: commands, and the inputs, are held over the period. Names
    as in `LinearMachine`; the added forces come first. Continuous laws act on the machine itself.

    Raises:
        InputError: a law of other sizes, no such input or output, or drives that cannot be
            modelled.
    """
    law_system = law.system() if isinstance(law, LocalLaw) else as_instance(law, "law", StateSpace)
    n = linear.platform.n_actuators
    n_readings = 3 * n if isinstance(law, LocalLaw) else 2 * n
    if law_system.D.shape != (n, n_readings + n):
        raise InputError("law", f"must have {n_readings + n} inputs and {n} outputs")
    plant = _plant(linear, law_system.period, n_readings > 2 * n, tuple(inputs), tuple(outputs))
    measured_outputs, controlled_outputs = plant.C[:n_readings], plant.C[n_readings:]
    force_input, disturbance_input = plant.B[:, :n], plant.B[:, n:]
    feedthrough = plant.D[n_readings:]
    command = np.hstack([law_system.D[:, :n_readings] @ measured_outputs, law_system.C])
    s, law_states = len(plant.A), len(law_system.A)
    coupling = law_system.B[:, :n_readings] @ measured_outputs
    dynamics = lower_triangle(plant.A, coupling, law_system.A)
    dynamics[:s] += force_input @ command
    added_input = np.hstack([force_input @ law_system.D[:, n_readings:], disturbance_input])
    law_input = np.hstack(
        [law_system.B[:, n_readings:], np.zeros((law_states, disturbance_input.shape[1]))]
    )
    return StateSpace(
        dynamics,
        np.vstack([added_input, law_input]),
        np.hstack([controlled_outputs, np.zeros((len(controlled_outputs), law_states))])
        + feedthrough[:, :n] @ command,
        np.hstack([feedthrough[:, :n] @ law_system.D[:, n_readings:], feedthrough[:, n:]]),
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
    """Return the plant that a law closes a loop around, sampled if `period` is not zero."""
    if driven:
        return driven_plant(linear, period, inputs, outputs)
    plant = linear.system(("forces", *inputs), (*SENSED_OUTPUTS, *outputs))
    return discretise(plant, period) if period else plant


def damping_ratios(poles: ComplexArray) -> FloatArray:
    """Return the damping ratios of poles [1/s]: one for real ones, below zero if unstable."""
    frequencies = np.abs(poles)
    return -poles.real / np.where(frequencies > 0.0, frequencies, 1.0)


def smallest_damping(poles: ComplexArray) -> float:
    """Return the smallest damping ratio of poles `(s,)` [1/s]; below zero: unstable."""
    return float(damping_ratios(poles).min())


class BestGain(NamedTuple):
    """Gain that maximises the smallest damping ratio, with the poles of that closed loop."""

    gain: float
    ratio: float
    """smallest damping ratio at this gain, over the modes below those of the transmissions"""
    poles: ComplexArray
    """`(s,)` [1/s] poles of the closed loop at this gain"""


def best_gain(
    linear: LinearMachine, law_of: Callable[[float], Law], lowest: Any, highest: Any
) -> BestGain:
    """Return the gain between two bounds that maximises the smallest damping ratio.

    A grid brackets the maximum, golden sections refine it. Sampled laws act through the drives of
    the machine's platform; motors that swing on their transmissions count `FAST_WEIGHT`.

    Raises:
        InputError: bounds out of order or not above zero.
    """
    from scipy.optimize import minimize_scalar

    lower_gain, upper_gain = positive(lowest, "lowest"), positive(highest, "highest")
    if not lower_gain < upper_gain:
        raise InputError("highest", "must be above the lowest gain")

    limit = transmission_limit(linear)

    def minus_smallest_damping(logarithm: float) -> float:
        poles = closed_loop(linear, law_of(float(np.exp(logarithm)))).rates
        transmission_modes = np.abs(poles) > limit
        ratios = damping_ratios(poles)
        return -float(
            np.where(transmission_modes & (ratios > 0.0), FAST_WEIGHT * ratios, ratios).min()
        )

    grid = np.linspace(np.log(lower_gain), np.log(upper_gain), GRID_POINTS)
    values = [minus_smallest_damping(exponent) for exponent in grid]
    best_index = int(np.argmin(values))
    bracket = (grid[max(best_index - 1, 0)], grid[min(best_index + 1, GRID_POINTS - 1)])
    optimum = minimize_scalar(
        minus_smallest_damping, bounds=bracket, method="bounded", options={"xatol": 1e-5}
    )
    gain = float(np.exp(optimum.x if optimum.fun < values[best_index] else grid[best_index]))
    poles = closed_loop(linear, law_of(gain)).rates
    return BestGain(gain, structural_damping(linear, poles), poles)


def transmission_limit(linear: LinearMachine) -> float:
    """Return the frequency [rad/s] above which modes belong to transmissions; infinite if none."""
    drives = drive_model(linear.platform)
    has_transmission = (drives.inertia > 0.0) & (drives.compliance > 0.0)
    if not has_transmission.any():
        return np.inf
    lowest_frequency = 1.0 / np.sqrt(
        float((drives.inertia * drives.compliance)[has_transmission].max())
    )
    return float(TRANSMISSION_MODE_FRACTION * lowest_frequency)


def structural_damping(linear: LinearMachine, poles: ComplexArray) -> float:
    """Return the smallest damping ratio of structural modes; of all modes if one is unstable."""
    ratios = damping_ratios(poles)
    is_structural = np.abs(poles) <= transmission_limit(linear)
    return float(
        (ratios if ratios.min() < 0.0 or not is_structural.any() else ratios[is_structural]).min()
    )
