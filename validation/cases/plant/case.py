"""Drives, sensors, limits and homing of the plant."""

from __future__ import annotations

from collections.abc import Iterator
from math import asin, exp, isfinite, pi, sqrt

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.control.cascade import Cascade
from twin.engines import make_engine
from twin.kernels.plant import actuation
from twin.kernels.plant import columns as column
from twin.kernels.plant.actuation import read_actuators
from twin.kernels.plant.columns import VELOCITY_MODE
from twin.machine.hardware.drive import ScrewDrive
from twin.model.machine_base import ZERO_VECTOR
from twin.plant.drives import drive_constants, equivalent_inertia
from twin.plant.plant import Plant
from twin.validation.case import (
    CaseResult,
    Entry,
    Measure,
    Statement,
    validation_case,
)
from twin.validation.cases.closed_loop import with_drives
from twin.validation.cases.plant.electronics import (
    converter_measures,
    encoder_measures,
    handover_measure,
    impulse_measure,
    position_drive_measures,
    step_measure,
    thermal_measures,
    velocity_loop_measures,
)
from twin.validation.cases.plant.trials import (
    ENGINE_STEP,
    BenchRecord,
    DriveBench,
    DriveNumbers,
    backlash_measures,
    drive_numbers,
    effort_of,
    friction_measures,
    isolated_drive,
    transmission_measures,
)
from twin.validation.measures.equilibrium import rest
from twin.validation.measures.sampling import largest
from twin.validation.published.printed import STEWART_THESIS, PrintedValue

BISECTION_STEPS = 45
"""Number of bisections for the breakaway effort."""

IMPACT_DAMPING = 0.3
"""Damping ratio of the leg on its end stop, from which the leg's mass in the test follows."""

IMPACT_STEPS = 2000
"""Number of engine steps during the contact of leg and end stop."""

IMPACT_TOLERANCE = 1e-3
"""Largest relative error of an impact."""

SWITCH_DISTANCE = 1e-6
"""[m, rad] Distance from a limit, to both sides, at which its switch is read."""


def breakaway_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield errors of the breakaway effort in both directions, with the brake open and closed."""
    if numbers.friction == 0.0:
        return
    # Name, closure of the brake (0 to 1), expected effort.
    cases = [("open", 0.0, numbers.breakaway)]
    if numbers.brake:
        cases.append(("closed", 1.0, numbers.breakaway + numbers.brake))
    for name, brake, expected in cases:
        efforts = [_breakaway(drive, brake, factor * expected) for factor in (-3.0, 3.0)]
        yield Measure(
            f"breakaway effort, brake {name}: relative error",
            largest(np.divide(efforts, [-expected, expected]) - 1.0),
            1e-12,
            "breakaway friction" + (" and brake torque" if brake else "")
            + "; 45 bisections leave 3 / 2^45 = 9e-14",
        )  # fmt: skip


def _breakaway(drive: FloatArray, brake: float, limit: float) -> float:
    """Return the smallest effort between zero and `limit` that moves a motor at rest."""
    # The effort between the last two bounds is found by bisection.
    holding_effort, moving_effort = 0.0, limit
    for _ in range(BISECTION_STEPS):
        middle = 0.5 * (holding_effort + moving_effort)
        bench = DriveBench(isolated_drive(drive, without_leg=True), ENGINE_STEP)
        bench.set_column(column.BRAKE_HOLDS, brake)
        bench.set_column(column.BRAKE_CLOSURE, brake)
        bench.force(middle, 0.0, 0.0, brake=brake)
        if bench.states[0, column.SPEED]:
            moving_effort = middle
        else:
            holding_effort = middle
    return middle


def brake_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield errors of the times that a commanded brake takes to engage and to release."""
    engage_time, release_time = numbers.brake_times
    if not numbers.brake or not engage_time or not release_time:
        return
    bench = DriveBench(isolated_drive(drive, without_leg=True), ENGINE_STEP)
    # The motor is slow enough to stop within a fifth of the time that the brake takes to engage.
    effort = numbers.breakaway + 0.05 * numbers.brake
    closing_record = bench.run(1.2 * engage_time, effort, brake=1.0)
    opening_record = bench.run(1.2 * release_time, effort)
    fastest_index = int(np.argmax(closing_record.state(column.SPEED)))
    moving_samples = np.flatnonzero(opening_record.state(column.SPEED))
    measured_times = (
        closing_record.time[fastest_index],
        opening_record.time[moving_samples[0]] if len(moving_samples) else np.inf,
    )
    for name, time, expected in zip(
        ("engage", "release"), measured_times, numbers.brake_times, strict=True
    ):
        yield Measure(
            f"time to {name} the brake, error",
            abs(time - expected),
            2.0 * ENGINE_STEP,
            f"expected {1e3 * expected:g} ms; the brake changes at the end of a step, and rounding "
            "in the sum of all steps may add one",
            "s",
        )


def switch_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield errors of the effort at and off the limit switches, of their reading, and at speed."""
    gain, speed = 2.0, 0.1
    kept_columns = (column.LOWER_SWITCH, column.UPPER_SWITCH, column.MAX_SPEED)
    constants = isolated_drive(drive, column.INERTIA, column.VISCOUS, kept_columns=kept_columns)
    minimum, maximum = numbers.limits
    errors, misread = [], 0
    for position, at_minimum, at_maximum in (
        (minimum - SWITCH_DISTANCE, True, False),
        (minimum + SWITCH_DISTANCE, False, False),
        (maximum - SWITCH_DISTANCE, False, False),
        (maximum + SWITCH_DISTANCE, False, True),
    ):
        for command in (-speed, speed):
            blocked = (at_minimum and command < 0.0) or (at_maximum and command > 0.0)
            effort = effort_of(constants, command, position, mode=VELOCITY_MODE, gain=gain)
            errors.append(effort / (gain * speed) - (0.0 if blocked else np.sign(command)))
        for force in (-1.0, 1.0):
            for rate in (-speed, 0.0, speed):
                expected = force
                if at_minimum:
                    expected = max(force, -gain * rate)
                if at_maximum:
                    expected = min(force, -gain * rate)
                errors.append(effort_of(constants, force, position, rate, gain=gain) - expected)
        leg = 0.5 * (minimum + maximum) if numbers.inertia else position
        misread += _misread_switches(drive, position, leg, (at_minimum, at_maximum))
    yield Measure(
        "motor effort just inside and outside the limit switches, against the permitted effort",
        largest(errors),
        1e-12,
        "Stewart thesis, 4.3.2: a pressed switch permits every command away from it, no speed "
        "towards it, and towards it no force beyond the one that brakes the motor; rounding",
    )
    yield Measure(
        "limit switches misread just inside and outside the limits",
        misread,
        0.0,
        "a switch is pressed from its limit outwards; it is read 1e-6 m or rad to both sides",
    )
    if isfinite(numbers.speed):
        yield _speed_limit(constants, numbers, gain)


def _speed_limit(row: FloatArray, numbers: DriveNumbers, gain: float) -> Measure:
    """Return the error of the motor effort at commands beyond the speed limit."""
    mid_position, speed_limit = 0.5 * sum(numbers.limits), numbers.speed
    errors = []
    for sign in (-1.0, 1.0):
        effort = effort_of(
            row, 1.2 * sign * speed_limit, mid_position, mode=VELOCITY_MODE, gain=gain
        )
        errors.append(effort / (gain * sign * speed_limit) - 1.0)
        for force in (-1.0, 1.0):
            expected = 0.0 if force * sign > 0.0 else force
            rate = 1.01 * sign * speed_limit
            errors.append(effort_of(row, force, mid_position, rate, gain=gain) - expected)
    return Measure(
        "motor effort at commands beyond the speed limit, against the permitted effort",
        largest(errors),
        1e-12,
        "a commanded speed is cut to the limit; above the limit a force that slows the motor is "
        "permitted, one that accelerates it is not; rounding",
    )


def impact_of_leg(omega: float, ratio: float, speed: float) -> tuple[float, float, float]:
    """Return penetration [m], contact time [s] and rebound speed [m/s] of a leg's impact on a stop.

    A mass m meets a spring k with a damper c, which push and never pull. With w = sqrt(k / m) and
    the damping ratio z = c / (2 m w) = sin(a) below one, the contact force falls to zero after
    (pi - 2 a) / (w cos(a)).

    Args:
        omega: w [rad/s].
        ratio: z.
        speed: approach speed of the leg [m/s] or [rad/s].
    """
    angle, cosine = asin(ratio), sqrt(1.0 - ratio**2)
    return (
        speed / omega * exp(-ratio * (0.5 * pi - angle) / cosine),
        (pi - 2.0 * angle) / (omega * cosine),
        speed * exp(-ratio * (pi - 2.0 * angle) / cosine),
    )


def impact_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield the largest errors of impacts on both end stops."""
    if numbers.end_stops is None:
        return
    mass = (numbers.damping / (2.0 * IMPACT_DAMPING)) ** 2 / numbers.stiffness
    omega = sqrt(numbers.stiffness / mass)
    speed = 0.1 * omega * (numbers.end_stops[1] - numbers.limits[1])
    expected = impact_of_leg(omega, IMPACT_DAMPING, speed)
    step = expected[1] / IMPACT_STEPS
    kept_columns = (column.LOWER_STOP, column.UPPER_STOP)
    constants = isolated_drive(drive, column.INERTIA, column.VISCOUS, kept_columns=kept_columns)
    errors = np.empty((2, 3))
    for error, stop, outward in zip(errors, numbers.end_stops, (-1.0, 1.0), strict=True):
        record = DriveBench(constants, step).run(
            1.1 * expected[1], mass=mass, leg=stop - outward * speed * step, rate=outward * speed
        )
        penetration = outward * (record.leg - stop)
        contact_time = step * np.count_nonzero(record.force)
        measured = np.array([penetration.max(), contact_time, -outward * record.rate[-1]])
        error[:] = measured / expected - 1.0
    names = ("penetration", "contact time", "rebound speed")
    for name, largest_error in zip(names, np.abs(errors).max(axis=0), strict=True):
        yield Measure(
            f"impact of a leg on its end stops, {name}: relative error",
            largest_error,
            IMPACT_TOLERANCE,
            "first order: the damping force uses the rate at the start of a step h, one of "
            f"{IMPACT_STEPS} in the impact; z w h = 4e-4",
        )


def _misread_switches(
    drive: FloatArray, motor: float, leg: float, pressed: tuple[bool, bool]
) -> int:
    """Return how many of the two switches, which sit on the motor, are not read as `pressed`."""
    states, sample, zero = (
        np.zeros((1, column.STATE_COUNT)),
        np.empty((actuation.READING_ROW_COUNT, 1)),
        np.zeros(1),
    )
    states[0, column.POSITION] = motor
    read_actuators(drive[None], states, zero, zero.copy(), 0.0, np.array([leg]), zero, sample)
    return int((sample[[actuation.AT_MINIMUM_ROW, actuation.AT_MAXIMUM_ROW], 0] != pressed).sum())


INCH = 0.0254
"""[m] One inch."""

POUND_FORCE = 4.4482216152605
"""[N] One pound of force."""

THOUSAND_RPM = 1000.0 * 2.0 * pi / 60.0
"""[rad/s] A thousand revolutions per minute."""

MOTOR_FIGURE = f"{STEWART_THESIS}, figure B.2"

ARMATURE_INERTIA = PrintedValue(
    f"{STEWART_THESIS}, figure B.1", "armature inertia", "0.00047", "kg m2"
)

FRICTION_TORQUE = PrintedValue(MOTOR_FIGURE, "friction torque", "0.23", "N m")

DAMPING_CONSTANT = PrintedValue(MOTOR_FIGURE, "damping constant", "0.14", "N m/krpm")

BRAKE_TORQUE = PrintedValue(MOTOR_FIGURE, "brake torque, dry", "8.81", "N m")

IMPERIAL_VALUES = (0.00416, 2.00, 1.23, 78.0)
"""[lbf in s2], [lbf in], [lbf in/krpm], [lbf in] The four values above in imperial units, as
printed."""

TOP_SPEED = PrintedValue(f"{STEWART_THESIS}, figure B.1", "largest speed", "254", "mm/s")

BUS_SPEED = 3000.0
"""[rpm] Motor speed at bus voltage; figure B.2."""

PRINTED_THRUST = PrintedValue(f"{STEWART_THESIS}, section 4.2", "thrust", "3073", "N")

TORQUE_CONSTANT = PrintedValue(MOTOR_FIGURE, "torque constant, rms", "4.4", "lbf in/A")

PRINTED_LEAD = 0.2
"""[in] Screw lead; figure B.1."""

RATED_CURRENT = 5.0
"""[A rms] Rated current of the servo driver ARS-310/5; figure B.3."""

PEAK_CURRENT = 10.0
"""[A rms] Peak current of the same driver."""

RATED_TORQUE = 3.03
"""[N m] Continuous torque of the motor with two stacks; figure B.1."""

RATED_FORCE = PrintedValue(f"{STEWART_THESIS}, figure B.1", "force rating, two stacks", "2998", "N")

VELOCITY_GAIN = 20e3
"""[N s/m] Gain of the velocity controller; section 4.3.1.1.2."""

INTEGRAL_TIME = 3e-3
"""[s] Integral time of the velocity controller; section 4.3.1.1.2."""

COMMANDED_SPEED = 0.02
"""[m/s] The velocity step of section 4.3.2.1."""

APPROACH_DISTANCE = 2e-3
"""[m] Distance from the upper limit switch at which an actuator starts."""

RUN_TIME = 0.3
"""[s] Duration of a run: the brake engages within 0.25 s, the limit is reached within 0.1 s."""


def thesis_statements(machine: Platform) -> tuple[Statement, ...]:
    """Return the thesis' statements about motors, limit switches and brakes with our results.

    They are judged on the machine's first actuator; all six are alike.
    """
    leg, constants = machine.parameters.legs[0], drive_constants(machine, ENGINE_STEP)[0]
    drive, thrust = leg.drive, leg.actuator.effort
    assert isinstance(drive, ScrewDrive) and thrust is not None
    load_mass = float(equivalent_inertia(machine)[0] - constants[column.INERTIA])
    return (
        _motor_data(drive, constants),
        _motor_speed(drive, constants),
        _motor_force(constants, thrust),
        _force_rating(drive),
        STEWART_THESIS["pure_delay"].not_given(
            f"The drives delay a command by {1e3 * drive.delay:g} ms. The time in which the effort "
            "rises to the breakaway friction comes on top.",
            "the thesis does not separate electronics from stiction, and prints no friction at "
            "rest",
        ),
        _limit_switches(constants, load_mass),
        _brakes(constants, load_mass),
    )


def _motor_data(drive: ScrewDrive, row: FloatArray) -> Statement:
    file_values = (
        drive.armature_inertia,
        drive.friction_torque,
        drive.viscous_torque * THOUSAND_RPM,
        drive.brake_torque,
    )
    printed = (ARMATURE_INERTIA, FRICTION_TORQUE, DAMPING_CONSTANT, BRAKE_TORQUE)
    description = ", ".join(
        f"{printed_value.quantity} {value:.4g} {printed_value.unit} "
        f"({value / (imperial_value * POUND_FORCE * INCH):.3f} times the imperial value)"
        for printed_value, value, imperial_value in zip(
            printed, file_values, IMPERIAL_VALUES, strict=True
        )
    )
    return STEWART_THESIS["motor_data"].judged(
        f"The machine's file has {description}. At the leg these are {row[column.INERTIA]:.1f} kg, "
        f"{row[column.FRICTION]:.1f} N and {row[column.VISCOUS]:.1f} N s/m.",
        all(map(PrintedValue.holds, printed, file_values)),
    )


def _motor_speed(drive: ScrewDrive, row: FloatArray) -> Statement:
    speeds = BUS_SPEED / 60.0 * drive.lead, float(row[column.MAX_SPEED])
    return STEWART_THESIS["motor_speed"].judged(
        f"{BUS_SPEED:g} rpm and the lead of the machine's file give {1e3 * speeds[0]:.1f} mm/s; "
        f"its drives are limited to {1e3 * speeds[1]:.1f} mm/s.",
        all(TOP_SPEED.holds(1e3 * speed) for speed in speeds),
    )


def _motor_force(row: FloatArray, thrust: float) -> Statement:
    force_per_torque_constant = POUND_FORCE * 2.0 * pi / PRINTED_LEAD
    rated_force = RATED_CURRENT * TORQUE_CONSTANT.value * force_per_torque_constant
    tolerance = RATED_CURRENT * TORQUE_CONSTANT.tolerance * force_per_torque_constant
    peak = thrust * PEAK_CURRENT / RATED_CURRENT
    agrees = abs(rated_force - PRINTED_THRUST.value) <= tolerance and PRINTED_THRUST.holds(thrust)
    return STEWART_THESIS["motor_force"].judged(
        f"{RATED_CURRENT:g} A rms times {TORQUE_CONSTANT.text} lbf in/A times 2 pi / "
        f"{PRINTED_LEAD:g} in give {rated_force:.1f} N (within {tolerance:.0f} N, by the digits "
        f"of the constant), or {rated_force * 3.14 / pi:.0f} N with 3.14 for pi. The printed "
        f"thrust therefore contains no losses of motor and screw. The driver's {PEAK_CURRENT:g} A "
        f"rms correspond to {peak:.0f} N; the drives' peak is {row[column.PEAK_EFFORT]:.0f} N.",
        agrees and abs(row[column.PEAK_EFFORT] - peak) <= 0.5,
    )


def _force_rating(drive: ScrewDrive) -> Statement:
    lossless = RATED_TORQUE * drive.ratio
    return STEWART_THESIS["force_rating"].judged(
        f"Without losses this torque gives {lossless:.0f} N; the force rating is "
        f"{RATED_FORCE.value / lossless:.2f} of it.",
        RATED_FORCE.holds(lossless),
        "the rating contains an efficiency that the data sheet does not state; the drives here "
        "have Coulomb and viscous friction, but no loss in proportion to the load",
    )


def _commanded_run(
    row: FloatArray, mass: float, start: float, brake: float = 0.0
) -> tuple[DriveBench, BenchRecord]:
    """Return bench and record of a drive commanded to its speed from a coordinate [m]."""
    speed = COMMANDED_SPEED
    bench = DriveBench(
        row[None],
        ENGINE_STEP,
        gain=VELOCITY_GAIN,
        integral_gain=VELOCITY_GAIN / INTEGRAL_TIME,
        speed=speed,
    )
    bench.set_column(column.POSITION, start)
    record = bench.run(
        RUN_TIME, speed, mass=mass, mode=VELOCITY_MODE, leg=start, rate=speed, brake=brake
    )
    return bench, record


def _limit_switches(row: FloatArray, mass: float) -> Statement:
    upper, end_stop = row[column.UPPER_SWITCH], row[column.UPPER_STOP]
    bench, outwards = _commanded_run(row, mass, upper - APPROACH_DISTANCE)
    overshoot = float(outwards.state(column.POSITION).max() - upper)
    final_speed = outwards.state(column.SPEED)[-1]
    leg, rate = float(outwards.leg[-1]), float(outwards.rate[-1])
    inwards = bench.run(
        RUN_TIME, -COMMANDED_SPEED, mass=mass, mode=VELOCITY_MODE, leg=leg, rate=rate
    )
    return_speed = float(inwards.state(column.SPEED)[-1])
    stopped = 0.0 <= overshoot < end_stop - upper and abs(final_speed) < 0.01 * COMMANDED_SPEED
    return STEWART_THESIS["limit_switches"].judged(
        f"Commanded outwards at {1e3 * COMMANDED_SPEED:g} mm/s, an actuator stops "
        f"{1e3 * overshoot:.2f} mm beyond its upper limit (its end stop is at "
        f"{1e3 * (end_stop - upper):g} mm), with {1e3 * final_speed:.2f} mm/s left. The opposite "
        f"command moves it back at {1e3 * return_speed:.1f} mm/s.",
        stopped and abs(return_speed + COMMANDED_SPEED) < 0.05 * COMMANDED_SPEED,
    )


def _brakes(row: FloatArray, mass: float) -> Statement:
    middle = 0.5 * float(row[column.LOWER_SWITCH] + row[column.UPPER_SWITCH])
    _, braked = _commanded_run(row, mass, middle, brake=1.0)
    moving = np.flatnonzero(braked.state(column.SPEED))
    stop_time = float(braked.time[moving[-1]])
    effort = float(braked.state(column.EFFORT)[-1])
    return STEWART_THESIS["brakes"].judged(
        f"With the brake switched on, an actuator commanded to {1e3 * COMMANDED_SPEED:g} mm/s is "
        f"at rest after {1e3 * stop_time:.0f} ms, although its motor exerts {effort:.0f} N. The "
        f"brake holds {row[column.BRAKE_EFFORT]:.0f} N, "
        f"{row[column.BRAKE_EFFORT] / row[column.PEAK_EFFORT]:.1f} times the drive's peak.",
        bool(moving[-1] < len(braked.time) - 1 and effort > 0.0)
        and row[column.BRAKE_EFFORT] > row[column.PEAK_EFFORT],
    )


def missing_hardware(platform: Platform) -> str:
    """Return the reason why a machine has no drives to test; empty where it has."""
    return (
        "the catalogue has no configuration hardware of this machine"
        if with_drives(platform) is platform
        else ""
    )


@validation_case(condition=missing_hardware, run_time=0.6)
def check_plant(platform: Platform) -> CaseResult:
    """Drives of the hardware configuration on a test bench.

    The drive of the first leg in configuration hardware runs alone on a test bench. The expected
    values follow from the machine's file, for stewart also from the data sheet of its motor, and
    never from the code of the drives. The mechanics are tested for inertia, friction, backlash and
    the coupling of motor and leg. The electronics are tested for delay, current loop, converter,
    velocity loop and thermal limit. Limit switches, speed limit, brake, end stops and encoders
    follow, and the takeover of a machine at rest. Cranks have two more drives, a hobby servo and a
    stepper motor. What a drive does not have, such as backlash, is left out.
    """
    machine = with_drives(platform)
    constants = drive_constants(machine, ENGINE_STEP)
    drive, numbers = constants[0], drive_numbers(machine)
    mass = float(equivalent_inertia(machine)[0] - drive[column.INERTIA])
    measures = [
        *_takeover(machine),
        *transmission_measures(drive, numbers, mass),
        *friction_measures(drive, numbers),
        *backlash_measures(drive, numbers, mass, machine.coordinate_unit),
        step_measure(machine, numbers),
        *impulse_measure(drive, numbers),
        *converter_measures(drive, numbers),
        *velocity_loop_measures(drive, numbers),
        handover_measure(machine, numbers),
        *breakaway_measures(drive, numbers),
        *brake_measures(drive, numbers),
        *switch_measures(drive, numbers),
        *impact_measures(drive, numbers),
        *encoder_measures(machine, drive, numbers),
        *position_drive_measures(machine),
        *thermal_measures(machine, numbers),
    ]
    statements = thesis_statements(machine) if platform.name == "stewart" else ()
    return check_plant.result(platform, measures, statements=statements)


def _takeover(machine: Platform) -> Iterator[Entry]:
    """Yield the change of force and the motion when the drives take over the machine at home."""
    engine = make_engine("analytic", machine, ENGINE_STEP, "fast")
    try:
        state = engine.reset(deflection=rest(machine).deflection)
        plant = Plant(machine)
        plant.prepare(ENGINE_STEP)
        plant.start(state, Cascade(machine).loop_gains)
        expected = machine.inverse_dynamics(
            machine.home, ZERO_VECTOR, ZERO_VECTOR, deflection=state.deflection
        )
        first_forces, initial_lengths = plant.forces(state).copy(), state.lengths
        for _ in range(100):
            state = engine.step(plant.forces(state))
    finally:
        engine.close()
    yield Measure(
        "forces at takeover against the holding forces, per largest",
        largest(first_forces - expected) / largest(expected),
        1e-9,
        "motors start where their transmissions carry the legs; rounding of their coordinates",
    )
    yield Measure(
        "displacement of the actuators 10 ms after takeover, per stroke",
        (np.abs(state.lengths - initial_lengths) / machine.stroke).max(),
        1e-12,
        "motors, springs and legs start in equilibrium, so that nothing moves; rounding",
    )
