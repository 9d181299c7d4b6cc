"""Electronics of a machine's drives: delay, current loop, converter, integral, thermal limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import asin, exp, inf, isfinite, log, pi

import numpy as np

from twin.analysis.platform import Platform, load
from twin.basics.arrays import FloatArray
from twin.control.cascade import Cascade
from twin.engines import make_engine
from twin.kernels.plant import actuation
from twin.kernels.plant import columns as column
from twin.kernels.plant.actuation import read_actuators
from twin.kernels.plant.columns import OUT_OF_STEP, POSITION_MODE, VELOCITY_MODE
from twin.machine.machine import MachineParameters
from twin.model.engine import State
from twin.plant.drives import drive_constants
from twin.plant.encoder import machine_encoders
from twin.plant.plant import Plant
from twin.plant.signals import Command
from twin.validation.case import Entry, Measure
from twin.validation.cases.plant.trials import (
    ENGINE_STEP,
    BenchRecord,
    DriveBench,
    DriveNumbers,
    effort_of,
    isolated_drive,
)
from twin.validation.measures.equilibrium import rest
from twin.validation.measures.sampling import largest

ENGINE_STEPS = (2.5e-4, 5e-4)
"""[s] Time steps of the engine for drives without delay."""

HEATING_STEP = 5e-4
"""[s] Time step of the engine while a motor heats."""

BLOCKING_FRICTION = 1e9
"""[N, N m] Friction of a motor that is blocked."""

FEEDFORWARD_FRACTION = 0.1
"""Feedforward that is switched on and off, relative to the peak effort."""

INTEGRAL_FRACTION = 0.016
"""Growth of the integral in one step of the wind-up test, relative to the peak effort."""

READING_COUNT = 400
"""Number of motor positions at which its encoder is read."""

SAMPLE_TIME = 1e-3
"""[s] Time between two readings."""

HALF_COUNT = 0.5 + 1e-6
"""[counts] Half a count, plus the rounding of coordinates of more than a million counts."""

POSITIONING_STEP = 2.5e-4
"""[s] Time step of the engine in the tests of the servo and the stepper."""

SERVO_MACHINE = "sg90_servo"
"""Machine of the gallery with the servo that is tested."""

STALL_TORQUE = 1.8 * 0.0980665
"""[N m] TowerPro SG90 data sheet: 1.8 kgf cm at 4.8 V."""

NO_LOAD_SPEED = pi / 3.0 / 0.1
"""[rad/s] SG90 data sheet: 0.1 s over 60 deg at 4.8 V."""

HALF_DEAD_BAND = np.radians(0.55)
"""[rad] Engineering choice: a dead band of 10 us, where 400 us are 45 deg, is 1.1 deg wide."""

PULSE_ANGLE = np.radians(0.11)
"""[rad] Engineering choice: pulse widths in steps of 1 us, rounded to 0.11 deg."""

PULSE_INTERVAL = 0.02
"""[s] SG90 data sheet: a pulse every 20 ms."""

STALL_ERROR = NO_LOAD_SPEED * 0.02
"""[rad] Position error at stall torque. Engineering choice: no-load speed times the start time of
20 ms."""

COMMANDED_ANGLE = 0.0301
"""[rad] Command between two pulse widths."""

HOLDING_TORQUE = 0.4
"""[N m] Engineering choice: the holding torque of a small two-phase stepper motor."""

TOP_SPEED = 60.0
"""[rad/s] Engineering choice: the speed at which the stepper's pull-out torque is zero."""

STEPPER_TABLE = {
    "source": "Adopted: numbers of a small two-phase motor",
    "kind": "stepper",
    "holding_torque": HOLDING_TORQUE,
    "top_speed": TOP_SPEED,
    "armature_inertia": 5.4e-6,
}
"""Drive table of the stepper in SI units; the other entries have their defaults."""

FULL_STEP = pi / 100.0
"""[rad] Full step of 1.8 deg."""

POSITION_INTERVAL = 1e-3
"""[s] Time between the positions that a stepper is commanded to, 1000 a second."""

CRANK_INERTIA = 1e-5
"""[kg m2] Inertia on the motor's shaft."""

SERVO_SETTLING = 0.4
"""[s] Time for a servo to settle under a load."""

STEPPER_SETTLING = 0.6
"""[s] Time for a stepper to settle under a load."""

LOAD_FRACTIONS = (-0.5, 0.3, 0.8)
"""Loads relative to the stall torque of the servo, and to the pull-out torque of the stepper."""


def step_measure(machine: Platform, numbers: DriveNumbers) -> Measure:
    """Return the error of the first motor's response to a step of the commanded force."""
    state, delay, lag = _state_at_rest(machine), numbers.delay, numbers.current_lag
    # An unlimited drive has no peak to refer to: 80 N or N m is of the size of a leg's load.
    error, force_step = 0.0, 0.1 * numbers.peak if isfinite(numbers.peak) else 80.0
    for step in (delay / 4.0, delay / 8.0) if delay else ENGINE_STEPS:
        plant = Plant(machine)
        plant.prepare(step)
        plant.start(state, Cascade(machine).loop_gains)
        initial_effort = plant.efforts[0]
        plant.command(Command(np.full(machine.n_actuators, initial_effort + force_step), "force"))
        steps = round((delay + 5.0 * lag) / step) + 4
        time, effort = np.arange(1.0, steps + 1.0) * step, np.empty(steps)
        for k in range(steps):
            plant.forces(state)
            effort[k] = plant.efforts[0]
        lag_time = np.maximum(time - delay, 0.0)
        target = initial_effort + force_step
        if numbers.full_scale_code:
            code_effort = numbers.peak / numbers.full_scale_code
            target = code_effort * float(numbers.nearest_code(np.array(target), numbers.peak))
        response = 1.0 - np.exp(-lag_time / lag) if lag else 1.0 * (lag_time > 0.0)
        expected = initial_effort + (target - initial_effort) * response
        error = max(error, largest(effort - expected) / force_step)
    return Measure(
        "effort after a step of the commanded force, against delay and first-order lag, per step",
        error,
        1e-9,
        "the closed form holds exactly at the ends of steps; rounding",
    )


def impulse_measure(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield the error of the impulse that a current loop gives from rest."""
    lag = numbers.current_lag
    if not lag:
        return
    duration = ENGINE_STEP * round(max(10.0, 3.0 * lag / ENGINE_STEP))
    kept_columns = (column.LAG_FACTOR, column.MEAN_LAG_FACTOR)
    losses = (column.FRICTION, column.BREAKAWAY, column.VISCOUS)
    constants = isolated_drive(drive, *losses, without_leg=True, kept_columns=kept_columns)
    record = DriveBench(constants, ENGINE_STEP).run(duration, 1.0)
    impulse = numbers.inertia * record.state(column.SPEED)[-1] or ENGINE_STEP * record.force.sum()
    expected = duration - lag * (1.0 - exp(-duration / lag))
    yield Measure(
        "impulse of a motor while its current rises, against the closed form: relative error",
        abs(impulse / expected - 1.0),
        1e-12,
        "u (t - T (1 - exp(-t / T))) for effort u and lag T: each step applies its mean effort; "
        "rounding",
    )


def converter_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield the largest error of the converter's output within its range and beyond, in codes."""
    code = numbers.full_scale_code
    if not code:
        return
    rng = np.random.default_rng(4614)
    # Without friction and leg the motor's effort is the command, or the gain of one times it.
    for name, full_range, kept_columns, effort in (
        ("force", numbers.peak, (column.PEAK_EFFORT, column.EFFORT_RESOLUTION), effort_of),
        (
            "feedforward",
            numbers.peak,
            (column.PEAK_EFFORT, column.EFFORT_RESOLUTION),
            lambda row, force: effort_of(row, 0.0, mode=VELOCITY_MODE, feedforward=force),
        ),
        (
            "speed",
            numbers.speed,
            (column.MAX_SPEED, column.SPEED_RESOLUTION),
            lambda row, speed: effort_of(row, speed, mode=VELOCITY_MODE, gain=1.0),
        ),
    ):
        if not isfinite(full_range):
            continue
        row = isolated_drive(
            drive, column.INERTIA, column.VISCOUS, column.DAMPING, kept_columns=kept_columns
        )
        commands = rng.uniform(-1.2 * full_range, 1.2 * full_range, 200)
        codes = np.array([effort(row, command) for command in commands]) * code / full_range
        yield Measure(
            f"{name} command through the converter against the nearest code, in codes",
            largest(codes - numbers.nearest_code(commands, full_range)),
            1e-6,
            f"codes of full range / {code:.0f} from {-code:.0f} to {code - 1:.0f}; rounding. "
            "Rounding down in place of to the nearest code would leave up to 1",
        )


def velocity_loop_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield errors of the integral of a blocked motor's velocity loop: its growth, and its end."""
    if not isfinite(numbers.peak):
        return
    constants = isolated_drive(drive, kept_columns=(column.PEAK_EFFORT,))
    constants[0, [column.FRICTION, column.BREAKAWAY]] = BLOCKING_FRICTION
    gain, integral_gain = 0.25 * numbers.peak, INTEGRAL_FRACTION * numbers.peak / ENGINE_STEP
    growth_errors, reversal_errors = [], []
    for speed in (-1.0, 1.0):
        bench = DriveBench(constants, ENGINE_STEP, gain=gain, integral_gain=integral_gain)
        record = bench.run(200 * ENGINE_STEP, speed, mode=VELOCITY_MODE)
        # Eleven steps hold the proportional part and the integral: that in the middle of a step,
        # and of a motor without inertia that at its start.
        middle = 0.5 if constants[0, column.INERTIA] > 0.0 else 0.0
        efforts = speed * record.state(column.EFFORT)[1:12] / numbers.peak
        growth_errors.append(efforts - 0.25 - INTEGRAL_FRACTION * (np.arange(11.0) + middle))
        bench.run(ENGINE_STEP, -speed, mode=VELOCITY_MODE)
        reversal_errors.append(speed * bench.states[0, column.EFFORT] / numbers.peak - 0.5)
    yield Measure(
        "effort of a blocked motor's velocity loop over ten steps, against gain and integral, per "
        "peak",
        largest(growth_errors),
        1e-12,
        "a gain of 1/4 of the peak, and 0.016 of it more in each step, half of it in the first; "
        "rounding",
    )
    yield Measure(
        "effort of a blocked motor after its speed command reverses, less half its peak, per peak",
        largest(reversal_errors),
        INTEGRAL_FRACTION,
        "the gain gives 1/4 of the peak, so the integral stops within one step, 0.016, of 3/4; an "
        "integral that winds up gives the whole peak",
    )


def handover_measure(machine: Platform, numbers: DriveNumbers) -> Measure:
    """Return the largest change of effort from one command to the next, with motors at rest."""
    state, n = _state_at_rest(machine), machine.n_actuators
    plant, gains = Plant(machine), Cascade(machine).loop_gains
    plant.prepare(ENGINE_STEP)
    plant.start(state, gains)
    feedforward = np.full(n, FEEDFORWARD_FRACTION * numbers.peak)
    rest_command = Command(np.zeros(n))
    fed_forward = rest_command._replace(feedforward=feedforward)
    # An exact command has no codes: then 1e-9 of the peak counts as one.
    code_effort = numbers.peak / (numbers.full_scale_code or 1e9)
    settling_steps = round((numbers.delay + 20.0 * numbers.current_lag) / ENGINE_STEP) + 2
    jumps = []
    plant.hand_over(gains)
    for command in (fed_forward, rest_command, None, fed_forward):
        previous_efforts = plant.efforts
        plant.command(command or Command(previous_efforts, "force"))
        for _ in range(settling_steps):
            plant.forces(state)
        jumps.append(largest(plant.efforts - previous_efforts) / code_effort)
    return Measure(
        "change of effort where feedforward begins, ends or follows a force, in converter codes",
        max(jumps),
        1.0,
        "the integral makes up for the feedforward exactly; each command is rounded by half a code",
    )


def thermal_measures(machine: Platform, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield errors of the effort of a blocked motor that heats, commanded to its peak.

    They are those of the time until the thermal limit, and of the efforts before and after it.
    """
    if numbers.thermal_time is None or not numbers.continuous < numbers.peak:
        return
    drive = drive_constants(machine, HEATING_STEP)[0]
    constants = isolated_drive(drive, kept_columns=(column.PEAK_EFFORT, column.CONTINUOUS_EFFORT))
    constants[0, [column.FRICTION, column.BREAKAWAY]] = BLOCKING_FRICTION
    expected = -numbers.thermal_time * log(1.0 - (numbers.continuous / numbers.peak) ** 2)
    record = DriveBench(constants, HEATING_STEP).run(
        # The command is twice the peak, so that the drive limits it, and reverses every 0.1 s.
        1.5 * expected,
        lambda time: numbers.peak * (2.0 if time % 0.2 < 0.1 else -2.0),
    )
    effort = np.abs(record.state(column.EFFORT)[1:])
    reduced = np.flatnonzero(effort < numbers.peak)
    time_to_limit = float(record.time[reduced[0]]) if len(reduced) else inf
    yield Measure(
        "time until the thermal limit reduces peak to continuous effort, against the closed form",
        abs(time_to_limit - expected),
        2.0 * HEATING_STEP,
        f"-T ln(1 - (continuous / peak)^2) = {expected:.4g} s; two steps",
        "s",
    )
    yield Measure(
        "effort before and after the thermal limit, against peak and continuous effort",
        largest(effort[[0, -1]] / [numbers.peak, numbers.continuous] - 1.0),
        1e-9,
        "the drive limits the command to each exactly; rounding",
    )


def _state_at_rest(machine: Platform) -> State:
    engine = make_engine("analytic", machine, ENGINE_STEP)
    state = engine.reset(deflection=rest(machine).deflection)
    engine.close()
    return state


def encoder_measures(
    machine: Platform, drive: FloatArray, numbers: DriveNumbers
) -> Iterator[Entry]:
    """Yield errors of coordinates, rates and counters over the stroke, in counts."""
    if not numbers.resolution:
        return
    rng = np.random.default_rng(4096)
    plant = Plant(machine)
    plant.prepare(ENGINE_STEP)
    drives = np.tile(drive, (READING_COUNT, 1))
    states, last_reading = np.zeros((READING_COUNT, column.STATE_COUNT)), np.zeros(READING_COUNT)
    resolution = np.full(READING_COUNT, plant.drives.resolution[0])
    zero_rates = np.zeros(READING_COUNT)
    # Encoders sit on the motors, so that legs elsewhere change nothing.
    offset = 100.0 * numbers.resolution if numbers.inertia else 0.0
    samples, coordinates = [], rng.uniform(*numbers.limits, (2, READING_COUNT))
    for number, motor_position in enumerate(coordinates):
        states[:, column.POSITION] = motor_position
        sample = np.empty((actuation.READING_ROW_COUNT, READING_COUNT))
        read_actuators(
            drives,
            states,
            resolution,
            last_reading,
            SAMPLE_TIME * number,
            motor_position + offset,
            zero_rates,
            sample,
        )
        samples.append(sample)
    counts = np.array([sample[actuation.COORDINATE_ROW] for sample in samples]) / numbers.resolution
    yield Measure(
        "encoder coordinate against the motor's, in counts",
        largest(counts - coordinates / numbers.resolution),
        HALF_COUNT,
        "the encoder rounds to the nearest count; rounding down would leave up to one count",
        at_bound=True,
    )
    yield Measure(
        "encoder coordinate, distance from a whole count",
        largest(counts - np.rint(counts)),
        1e-6,
        "an encoder shows whole counts only; rounding of more than a million counts",
        "counts",
    )
    change = samples[1][actuation.RATE_ROW] * SAMPLE_TIME / numbers.resolution
    yield Measure(
        "encoder rate times the sample time against the change of the coordinate, in counts",
        largest(change - np.diff(counts, axis=0)[0]),
        1e-6,
        "the rate is the difference of two readings over the time between them; rounding",
    )
    yield _counters(machine, numbers, rng)


def _counters(machine: Platform, numbers: DriveNumbers, random: np.random.Generator) -> Measure:
    """Return the largest error of the counters as they move up and down over two index pulses."""
    encoders = machine_encoders(machine, seed=7)
    upward = np.sort(random.uniform(0.01, 1.4, READING_COUNT))
    downward = np.sort(random.uniform(-0.9, 1.4, READING_COUNT))[::-1]
    turns = np.concatenate([[-0.5], upward, downward])[:, None]
    readings = encoders.readings(
        encoders.index_coordinates + turns * numbers.counts_per_turn * numbers.resolution
    )
    whole_counts = np.rint(turns * numbers.counts_per_turn) / numbers.counts_per_turn
    # A pulse resets the counter where it is entered: from below on the way up, else from above.
    pulse = np.concatenate(
        [
            np.floor(whole_counts[: READING_COUNT + 1]),
            np.minimum(np.ceil(whole_counts[READING_COUNT + 1 :]), 1.0),
        ]
    )
    return Measure(
        "counter against the travel from the last index pulse, up and down over two, in counts",
        np.abs(readings - (turns - pulse) * numbers.counts_per_turn)[1:].max(),
        HALF_COUNT,
        "the pulse is one count wide, and the counter is zero in its middle",
        at_bound=True,
    )


def position_drive_measures(machine: Platform) -> Iterator[Entry]:
    """Yield the measures of a servo and a stepper motor, on a machine with cranks."""
    if machine.coordinate_unit == "rad":
        servo_machine = load(SERVO_MACHINE, "hardware")
        content = servo_machine.parameters.model_dump()
        content["leg"]["drive"] = STEPPER_TABLE
        stepper_machine = Platform(MachineParameters.model_validate(content))
        yield from _servo(drive_constants(servo_machine, POSITIONING_STEP)[0])
        yield from _stepper(drive_constants(stepper_machine, POSITIONING_STEP)[0])


def _servo(drive: FloatArray) -> Iterator[Entry]:
    constants = isolated_drive(drive, column.HALF_BACKLASH, kept_columns=(column.PEAK_EFFORT,))

    def run(
        duration: float, target: float | Callable[[float], float], torque: float
    ) -> BenchRecord:
        bench = DriveBench(constants, POSITIONING_STEP)
        return bench.run(duration, target, mode=POSITION_MODE, mass=CRANK_INERTIA, load=torque)

    speed_errors, hold_errors = [], []
    for fraction in LOAD_FRACTIONS:
        torque = fraction * STALL_TORQUE
        moving = run(SERVO_SETTLING, 100.0, torque)
        speed_errors.append(moving.rate[-1] / NO_LOAD_SPEED - (1.0 + fraction))
        resting = run(SERVO_SETTLING, 0.0, torque)
        expected = np.sign(fraction) * HALF_DEAD_BAND + fraction * STALL_ERROR
        hold_errors.append((resting.state(column.POSITION)[-1] - expected) / STALL_ERROR)
    yield Measure(
        "servo speed under three loads against the torque-speed line, per no-load speed",
        largest(speed_errors),
        1e-6,
        "the line runs from stall torque to no-load speed; 20 start times of 20 ms leave exp(-20)",
    )
    yield Measure(
        "servo position held under three loads against dead band and stall error, per stall error",
        largest(hold_errors),
        1e-3,
        "half the dead band, and the stall error times load per stall torque; oscillations decay "
        "with 40 ms, which leaves exp(-10)",
    )
    record = run(0.05, lambda time: COMMANDED_ANGLE * (time > 1e-3), 0.0)
    target = record.state(column.FIELD_POSITION)
    nearest = PULSE_ANGLE * np.rint(COMMANDED_ANGLE / PULSE_ANGLE)
    yield Measure(
        "servo target after a command against the nearest pulse width, per step of 0.11 deg",
        abs(target[-1] - nearest) / PULSE_ANGLE,
        1e-9,
        "pulse widths have whole steps of 1 us; rounding",
    )
    yield Measure(
        "time of the pulse with which a servo takes a command, error",
        abs(record.time[np.argmax(target > 0.0)] - PULSE_INTERVAL),
        1.5 * POSITIONING_STEP,
        "a pulse every 20 ms takes effect within a step of the engine; half a step for rounding",
        "s",
    )


def _stepper(drive: FloatArray) -> Iterator[Entry]:
    constants = isolated_drive(drive, column.HALF_BACKLASH, kept_columns=(column.PEAK_EFFORT,))
    errors = []
    for fraction in LOAD_FRACTIONS:
        for speed in (0.0, 0.5 * TOP_SPEED):
            pull_out = HOLDING_TORQUE * (1.0 - speed / TOP_SPEED)
            angle = _load_angle(_turn_stepper(constants, speed, fraction * pull_out))
            errors.append(angle - 2.0 / pi * asin(fraction))
    yield Measure(
        "stepper's load angle under three loads, at rest and at half its top speed, in full steps",
        largest(errors),
        0.05,
        "arc sine of load per pull-out torque, which is half the holding torque at half the top "
        "speed; motor steps of 62.5 us make the rotor's angle half a step old, 0.03 full steps",
    )
    loses_steps = [
        _turn_stepper(constants, 0.0, fraction * HOLDING_TORQUE).state(column.LIMITED)[-1]
        == OUT_OF_STEP
        for fraction in (0.95, 1.05)
    ]
    yield Measure(
        "stepper that loses synchronism at 95, or keeps it at 105 percent of its holding torque",
        float(loses_steps[0]) + float(not loses_steps[1]),
        0.0,
        "a stepper loses steps above its holding torque and not below",
    )


def _turn_stepper(row: FloatArray, speed: float, torque: float) -> BenchRecord:
    """Return the record of a stepper that is commanded to turn at `speed` [rad/s] under a load.

    The load is damped, so that the rotor settles.
    """
    bench = DriveBench(row, POSITIONING_STEP, speed=speed)
    return bench.run(
        STEPPER_SETTLING,
        lambda time: speed * (time + POSITION_INTERVAL),
        mode=POSITION_MODE,
        mass=CRANK_INERTIA,
        rate=speed,
        load=lambda rate: torque - 0.05 * (rate - speed),
    )


def _load_angle(record: BenchRecord) -> float:
    """Return the rotor's mean angle ahead of its field over the last quarter, in full steps."""
    load_angle = record.state(column.POSITION) - record.state(column.FIELD_POSITION)
    return float(np.mean(load_angle[-len(load_angle) // 4 :])) / FULL_STEP
