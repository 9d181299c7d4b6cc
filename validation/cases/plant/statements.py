"""Statements of the Stewart thesis about its motors, limit switches and brakes, beside ours."""

from __future__ import annotations

from math import pi

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.kernels.plant import columns as column
from twin.kernels.plant.columns import VELOCITY
from twin.machine.hardware.drive import ScrewDrive
from twin.plant.drives import drive_constants, equivalent_inertia
from twin.validation.cases.plant.bench import BenchRecord, DriveBench
from twin.validation.cases.plant.trials import ENGINE_STEP
from twin.validation.published.compared import PrintedValue
from twin.validation.published.papers import THESIS
from twin.validation.results import Statement

INCH = 0.0254
"""[m]"""

POUND_FORCE = 4.4482216152605
"""[N]"""

THOUSAND_RPM = 1000.0 * 2.0 * pi / 60.0
"""[rad/s]"""

MOTOR_FIGURE = f"{THESIS}, figure B.2"

ARMATURE = PrintedValue(f"{THESIS}, figure B.1", "armature inertia", "0.00047", "kg m2")
FRICTION = PrintedValue(MOTOR_FIGURE, "friction torque", "0.23", "N m")
VISCOUS = PrintedValue(MOTOR_FIGURE, "damping constant", "0.14", "N m/krpm")
BRAKE = PrintedValue(MOTOR_FIGURE, "brake torque, dry", "8.81", "N m")

IMPERIAL_VALUES = (0.00416, 2.00, 1.23, 78.0)
"""[lbf in s2], [lbf in], [lbf in/krpm], [lbf in] These four in imperial units, as printed."""

TOP_SPEED = PrintedValue(f"{THESIS}, figure B.1", "largest speed", "254", "mm/s")

BUS_SPEED = 3000.0
"""[rpm] Motor speed at bus voltage; figure B.2."""

THRUST = PrintedValue(f"{THESIS}, section 4.2", "thrust", "3073", "N")

TORQUE_CONSTANT = PrintedValue(MOTOR_FIGURE, "torque constant, rms", "4.4", "lbf in/A")

PRINTED_LEAD = 0.2
"""[in] Screw lead; figure B.1."""

RATED_CURRENT = 5.0
"""[A rms] Rated current of the servo driver ARS-310/5; figure B.3."""

PEAK_CURRENT = 10.0
"""[A rms] Peak current of the same driver."""

RATED_TORQUE = 3.03
"""[N m] Continuous torque of the motor with two stacks; figure B.1."""

RATED_FORCE = PrintedValue(f"{THESIS}, figure B.1", "force rating, two stacks", "2998", "N")

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
    """Return the thesis' statements about motors, limit switches and brakes, beside ours.

    They are judged on the machine's first actuator; all six are alike.
    """
    leg, row = machine.parameters.legs[0], drive_constants(machine, ENGINE_STEP)[0]
    drive, thrust = leg.drive, leg.actuator.effort
    assert isinstance(drive, ScrewDrive) and thrust is not None
    mass = float(equivalent_inertia(machine)[0] - row[column.INERTIA])
    return (
        _motor_data(drive, row),
        _motor_speed(drive, row),
        _motor_force(row, thrust),
        _force_rating(drive),
        THESIS["pure_delay"].not_given(
            f"The drives delay a command by {1e3 * drive.delay:g} ms. The time in which the effort "
            "rises to the breakaway friction comes on top.",
            "the thesis does not separate electronics from stiction, and prints no friction at "
            "rest",
        ),
        _limit_switches(row, mass),
        _brakes(row, mass),
    )


def _motor_data(drive: ScrewDrive, row: FloatArray) -> Statement:
    ours = (
        drive.armature_inertia,
        drive.friction_torque,
        drive.viscous_torque * THOUSAND_RPM,
        drive.brake_torque,
    )
    printed = (ARMATURE, FRICTION, VISCOUS, BRAKE)
    found = ", ".join(
        f"{one.quantity} {value:.4g} {one.unit} ({value / (pounds * POUND_FORCE * INCH):.3f} times "
        "the imperial value)"
        for one, value, pounds in zip(printed, ours, IMPERIAL_VALUES, strict=True)
    )
    return THESIS["motor_data"].judged(
        f"The machine's file has {found}. At the leg these are {row[column.INERTIA]:.1f} kg, "
        f"{row[column.FRICTION]:.1f} N and {row[column.VISCOUS]:.1f} N s/m.",
        all(one.holds(value) for one, value in zip(printed, ours, strict=True)),
    )


def _motor_speed(drive: ScrewDrive, row: FloatArray) -> Statement:
    speeds = BUS_SPEED / 60.0 * drive.lead, float(row[column.FASTEST])
    return THESIS["motor_speed"].judged(
        f"{BUS_SPEED:g} rpm and the lead of the machine's file give {1e3 * speeds[0]:.1f} mm/s; "
        f"its drives are limited to {1e3 * speeds[1]:.1f} mm/s.",
        all(TOP_SPEED.holds(1e3 * speed) for speed in speeds),
    )


def _motor_force(row: FloatArray, thrust: float) -> Statement:
    per_ampere = POUND_FORCE * 2.0 * pi / PRINTED_LEAD
    rated = RATED_CURRENT * TORQUE_CONSTANT.value * per_ampere
    spread = RATED_CURRENT * TORQUE_CONSTANT.tolerance * per_ampere
    peak = thrust * PEAK_CURRENT / RATED_CURRENT
    same = abs(rated - THRUST.value) <= spread and THRUST.holds(thrust)
    return THESIS["motor_force"].judged(
        f"{RATED_CURRENT:g} A rms times {TORQUE_CONSTANT.text} lbf in/A times 2 pi / "
        f"{PRINTED_LEAD:g} in give {rated:.1f} N (within {spread:.0f} N, by the digits of the "
        f"constant), or {rated * 3.14 / pi:.0f} N with 3.14 for pi. The printed thrust therefore "
        f"contains no losses of motor and screw. The driver's {PEAK_CURRENT:g} A rms correspond to "
        f"{peak:.0f} N; the drives' peak is {row[column.PEAK]:.0f} N.",
        same and abs(row[column.PEAK] - peak) <= 0.5,
    )


def _force_rating(drive: ScrewDrive) -> Statement:
    lossless = RATED_TORQUE * drive.ratio
    return THESIS["force_rating"].judged(
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
        RUN_TIME, speed, mass=mass, mode=VELOCITY, leg=start, rate=speed, brake=brake
    )
    return bench, record


def _limit_switches(row: FloatArray, mass: float) -> Statement:
    upper, stop = row[column.UPPER], row[column.UPPER_STOP]
    bench, outwards = _commanded(row, mass, upper - APPROACH_DISTANCE, COMMANDED_SPEED)
    beyond = float(outwards.state(column.POSITION).max() - upper)
    at_rest = outwards.state(column.SPEED)[-1]
    leg, rate = float(outwards.leg[-1]), float(outwards.rate[-1])
    inwards = bench.run(RUN_TIME, -COMMANDED_SPEED, mass=mass, mode=VELOCITY, leg=leg, rate=rate)
    back = float(inwards.state(column.SPEED)[-1])
    stopped = 0.0 <= beyond < stop - upper and abs(at_rest) < 0.01 * COMMANDED_SPEED
    return THESIS["limit_switches"].judged(
        f"Commanded outwards at {1e3 * COMMANDED_SPEED:g} mm/s, an actuator stops "
        f"{1e3 * beyond:.2f} mm beyond its upper limit (its end stop is at "
        f"{1e3 * (stop - upper):g} mm), with {1e3 * at_rest:.2f} mm/s left. The opposite command "
        f"moves it back at {1e3 * back:.1f} mm/s.",
        stopped and abs(back + COMMANDED_SPEED) < 0.05 * COMMANDED_SPEED,
    )


def _brakes(row: FloatArray, mass: float) -> Statement:
    middle = 0.5 * float(row[column.LOWER] + row[column.UPPER])
    _, braked = _commanded(row, mass, middle, COMMANDED_SPEED, brake=1.0)
    moving = np.flatnonzero(braked.state(column.SPEED))
    stop_time = float(braked.time[moving[-1]])
    effort = float(braked.state(column.EFFORT)[-1])
    return THESIS["brakes"].judged(
        f"With the brake switched on, an actuator commanded to {1e3 * COMMANDED_SPEED:g} mm/s is "
        f"at rest after {1e3 * stop_time:.0f} ms, although its motor exerts {effort:.0f} N. The "
        f"brake holds {row[column.BRAKE]:.0f} N, {row[column.BRAKE] / row[column.PEAK]:.1f} times "
        "the drive's peak.",
        bool(moving[-1] < len(braked.time) - 1 and effort > 0.0)
        and row[column.BRAKE] > row[column.PEAK],
    )
