"""Drives of the hardware configuration on a test bench."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.control.cascade import Cascade
from twin.engines import make_engine
from twin.kernels.plant import columns as column
from twin.kernels.plant.columns import VELOCITY_MODE
from twin.machine.hardware.drive import ScrewDrive
from twin.model.machine_base import ZERO_VECTOR
from twin.plant.drives import drive_constants, equivalent_inertia
from twin.plant.plant import Plant
from twin.validation.case import validation_case
from twin.validation.cases.closed_loop import with_drives
from twin.validation.cases.plant.electronics import (
    converter_measures,
    encoder_measures,
    fold_back,
    fold_back_measures,
    handover_measure,
    impulse_measure,
    position_drive_measures,
    response_to_step,
    velocity_loop_measures,
)
from twin.validation.cases.plant.limits import (
    brake_measures,
    breakaway_measures,
    impact_measures,
    switch_measures,
)
from twin.validation.cases.plant.trials import (
    ENGINE_STEP,
    BenchRecord,
    DriveBench,
    backlash_measures,
    drive_numbers,
    friction_curve,
    friction_measures,
    hysteresis,
    transmission_measures,
)
from twin.validation.measures.equilibrium import rest
from twin.validation.measures.sampling import largest
from twin.validation.published.printed import STEWART_THESIS, PrintedValue
from twin.validation.results import (
    CaseResult,
    Entry,
    Measure,
    Statement,
)

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
    mass = float(equivalent_inertia(machine)[0] - constants[column.INERTIA])
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
        _limit_switches(constants, mass),
        _brakes(constants, mass),
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
        all(
            printed_value.holds(value)
            for printed_value, value in zip(printed, file_values, strict=True)
        ),
    )


def _motor_speed(drive: ScrewDrive, row: FloatArray) -> Statement:
    speeds = BUS_SPEED / 60.0 * drive.lead, float(row[column.FASTEST])
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
        f"rms correspond to {peak:.0f} N; the drives' peak is {row[column.PEAK]:.0f} N.",
        agrees and abs(row[column.PEAK] - peak) <= 0.5,
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


def _commanded(
    row: FloatArray, mass: float, start: float, speed: float, brake: float = 0.0
) -> tuple[DriveBench, BenchRecord]:
    """Return the bench and record of a drive commanded to `speed` [m/s] from a coordinate [m]."""
    bench = DriveBench(
        row[None], ENGINE_STEP, gain=VELOCITY_GAIN, rate=VELOCITY_GAIN / INTEGRAL_TIME
    )
    bench.put(column.POSITION, start)
    bench.put(column.SPEED, speed)
    record = bench.run(
        RUN_TIME, speed, mass=mass, mode=VELOCITY_MODE, leg=start, rate=speed, brake=brake
    )
    return bench, record


def _limit_switches(row: FloatArray, mass: float) -> Statement:
    upper, end_stop = row[column.UPPER], row[column.UPPER_STOP]
    bench, outwards = _commanded(row, mass, upper - APPROACH_DISTANCE, COMMANDED_SPEED)
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
    middle = 0.5 * float(row[column.LOWER] + row[column.UPPER])
    _, braked = _commanded(row, mass, middle, COMMANDED_SPEED, brake=1.0)
    moving = np.flatnonzero(braked.state(column.SPEED))
    stop_time = float(braked.time[moving[-1]])
    effort = float(braked.state(column.EFFORT)[-1])
    return STEWART_THESIS["brakes"].judged(
        f"With the brake switched on, an actuator commanded to {1e3 * COMMANDED_SPEED:g} mm/s is "
        f"at rest after {1e3 * stop_time:.0f} ms, although its motor exerts {effort:.0f} N. The "
        f"brake holds {row[column.BRAKE]:.0f} N, {row[column.BRAKE] / row[column.PEAK]:.1f} times "
        "the drive's peak.",
        bool(moving[-1] < len(braked.time) - 1 and effort > 0.0)
        and row[column.BRAKE] > row[column.PEAK],
    )


def missing_hardware(platform: Platform) -> str:
    """Return the reason why a machine has no drives to test; empty where it has."""
    if with_drives(platform) is platform:
        return "the catalogue has no configuration hardware of this machine"
    return ""


@validation_case(condition=missing_hardware, cost=0.6)
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
    drive, leg_drive = constants[0], machine.parameters.legs[0].drive
    assert leg_drive is not None
    numbers = drive_numbers(machine)
    mass = float(equivalent_inertia(machine)[0] - drive[column.INERTIA])
    measures: list[Entry] = [*_takeover(machine, constants)]
    if numbers.inertia:
        measures += transmission_measures(drive, numbers, mass)
    if numbers.friction:
        measures += friction_measures(drive, numbers, friction_curve(drive, numbers))
    if numbers.backlash:
        loop = hysteresis(drive, numbers, mass)
        measures += backlash_measures(loop, machine.coordinate_unit)
    response, _ = response_to_step(machine, numbers)
    measures += [
        response,
        *impulse_measure(drive, numbers, leg_drive.current_lag),
        *converter_measures(drive, numbers),
        *velocity_loop_measures(drive, numbers),
        handover_measure(machine, numbers),
        *breakaway_measures(drive, numbers),
        *brake_measures(drive, numbers),
        *switch_measures(drive, numbers),
        *impact_measures(drive, numbers),
        *encoder_measures(machine, drive, numbers),
        *position_drive_measures(machine),
    ]
    heating = fold_back(machine, numbers)
    if heating is not None:
        measures += fold_back_measures(heating, numbers)
    statements = thesis_statements(machine) if platform.name == "stewart" else ()
    return check_plant.result(platform, measures, statements=statements)


def _takeover(machine: Platform, constants: FloatArray) -> Iterator[Entry]:
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
    stroke = machine.maximum_coordinates - machine.minimum_coordinates
    yield Measure(
        "forces at takeover against the holding forces, per largest",
        largest(first_forces - expected) / largest(expected),
        1e-9,
        "motors start where their transmissions carry the legs; rounding of their coordinates",
    )
    yield Measure(
        "displacement of the actuators 10 ms after takeover, per stroke",
        (np.abs(state.lengths - initial_lengths) / stroke).max(),
        1e-12,
        "motors, springs and legs start in equilibrium, so that nothing moves; rounding",
    )
