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
from twin.validation.cases.plant.trials import STEP
from twin.validation.published.compared import PrintedValue
from twin.validation.published.papers import THESIS
from twin.validation.results import Statement

INCH, POUND = 0.0254, 4.4482216152605
"""[m], [N]"""

THOUSAND_TURNS = 1000.0 * 2.0 * pi / 60.0
"""[rad/s] 1000 rpm."""

FIGURE = f"{THESIS}, figure B.2"

ARMATURE = PrintedValue(f"{THESIS}, figure B.1", "armature inertia", "0.00047", "kg m2")
FRICTION = PrintedValue(FIGURE, "friction torque", "0.23", "N m")
VISCOUS = PrintedValue(FIGURE, "damping constant", "0.14", "N m/krpm")
BRAKE = PrintedValue(FIGURE, "brake torque, dry", "8.81", "N m")

IMPERIAL = (0.00416, 2.00, 1.23, 78.0)
"""[lbf in s2], [lbf in], [lbf in/krpm], [lbf in] The same four as printed beside the SI values."""

TOP_SPEED = PrintedValue(f"{THESIS}, figure B.1", "largest speed", "254", "mm/s")

BUS_SPEED = 3000.0
"""[rpm] Speed at bus voltage; figure B.2."""

THRUST = PrintedValue(f"{THESIS}, section 4.2", "thrust", "3073", "N")

TORQUE_CONSTANT = PrintedValue(FIGURE, "torque constant, rms", "4.4", "lbf in/A")

PRINTED_LEAD = 0.2
"""[in] Screw lead; figure B.1."""

RATED_CURRENT, PEAK_CURRENT = 5.0, 10.0
"""[A rms] Of the driver ARS-310/5; figure B.3."""

RATED_TORQUE = 3.03
"""[N m] Two stacks; figure B.1."""

RATED_FORCE = PrintedValue(f"{THESIS}, figure B.1", "force rating, two stacks", "2998", "N")

GAIN, TIME = 20e3, 3e-3
"""[N s/m], [s] Velocity controller; section 4.3.1.1.2."""

COMMAND = 0.02
"""[m/s] Velocity step; section 4.3.2.1."""

APPROACH = 2e-3
"""[m] From where an actuator is driven to its upper limit switch."""

TRIAL_TIME = 0.3
"""[s] The brake has closed after 0.25 s; at 20 mm/s the switch is reached after 0.1 s."""


def thesis_statements(machine: Platform) -> tuple[Statement, ...]:
    """Return the thesis' statements about motors and their safety, for a machine with its drives.

    The first actuator stands for all six.
    """
    leg, row = machine.parameters.legs[0], drive_constants(machine, STEP)[0]
    drive, thrust = leg.drive, leg.actuator.effort
    assert isinstance(drive, ScrewDrive) and thrust is not None
    mass = float(equivalent_inertia(machine)[0] - row[column.INERTIA])
    return (
        _motor_data(drive, row),
        _motor_speed(drive, row),
        _motor_force(row, thrust),
        _force_rating(drive),
        THESIS["pure_delay"].not_given(
            f"All {1e3 * drive.delay:g} ms are a delay of the electronics here; stiction comes on "
            "top as the time an effort needs to reach what breaks the motor away.",
            "the thesis does not separate the two, and prints no numbers of stiction",
        ),
        _limit_switches(row, mass),
        _brakes(row, mass),
    )


def _motor_data(drive: ScrewDrive, row: FloatArray) -> Statement:
    ours = (
        drive.armature_inertia,
        drive.friction_torque,
        drive.viscous_torque * THOUSAND_TURNS,
        drive.brake_torque,
    )
    printed = (ARMATURE, FRICTION, VISCOUS, BRAKE)
    found = ", ".join(
        f"{one.quantity} {value:.4g} {one.unit} ({value / (pounds * POUND * INCH):.3f} times the "
        "imperial value)"
        for one, value, pounds in zip(printed, ours, IMPERIAL, strict=True)
    )
    return THESIS["motor_data"].judged(
        f"The machine's file has {found}: at the leg {row[column.INERTIA]:.1f} kg, "
        f"{row[column.FRICTION]:.1f} N and {row[column.VISCOUS]:.1f} N s/m.",
        all(one.holds(value) for one, value in zip(printed, ours, strict=True)),
    )


def _motor_speed(drive: ScrewDrive, row: FloatArray) -> Statement:
    speeds = BUS_SPEED / 60.0 * drive.lead, float(row[column.FASTEST])
    return THESIS["motor_speed"].judged(
        f"{BUS_SPEED:g} rpm on the lead of the machine's file make {1e3 * speeds[0]:.1f} mm/s; its "
        f"drives are limited to {1e3 * speeds[1]:.1f} mm/s.",
        all(TOP_SPEED.holds(1e3 * speed) for speed in speeds),
    )


def _motor_force(row: FloatArray, thrust: float) -> Statement:
    per_ampere = POUND * 2.0 * pi / PRINTED_LEAD
    rated = RATED_CURRENT * TORQUE_CONSTANT.value * per_ampere
    spread = RATED_CURRENT * TORQUE_CONSTANT.tolerance * per_ampere
    peak = thrust * PEAK_CURRENT / RATED_CURRENT
    same = abs(rated - THRUST.value) <= spread and THRUST.holds(thrust)
    return THESIS["motor_force"].judged(
        f"{RATED_CURRENT:g} A rms times {TORQUE_CONSTANT.text} lbf in/A times 2 pi / "
        f"{PRINTED_LEAD:g} in make {rated:.1f} N, {spread:.0f} N more or less by the digits of the "
        f"constant, and {rated * 3.14 / pi:.0f} N with 3.14 for pi. The figure holds no losses of "
        f"motor and screw. The driver's {PEAK_CURRENT:g} A rms then give {peak:.0f} N; the drives' "
        f"peak is {row[column.PEAK]:.0f} N.",
        same and abs(row[column.PEAK] - peak) <= 0.5,
    )


def _force_rating(drive: ScrewDrive) -> Statement:
    lossless = RATED_TORQUE * drive.ratio
    return THESIS["force_rating"].judged(
        f"Without losses {lossless:.0f} N: the rating leaves {RATED_FORCE.value / lossless:.2f} of "
        "it.",
        RATED_FORCE.holds(lossless),
        "the rating holds an efficiency that the data sheet does not state; the drives have dry "
        "and viscous friction instead, and no loss in proportion to the load",
    )


def _commanded(
    row: FloatArray, mass: float, start: float, speed: float, brake: float = 0.0
) -> tuple[DriveBench, BenchRecord]:
    """Return a drive that moves at `speed` [m/s] by command, from a coordinate `start` [m]."""
    bench = DriveBench(row[None], STEP, gain=GAIN, rate=GAIN / TIME)
    bench.put(column.POSITION, start)
    bench.put(column.SPEED, speed)
    record = bench.run(
        TRIAL_TIME, speed, mass=mass, mode=VELOCITY, leg=start, rate=speed, brake=brake
    )
    return bench, record


def _limit_switches(row: FloatArray, mass: float) -> Statement:
    upper, stop = row[column.UPPER], row[column.UPPER_STOP]
    bench, outwards = _commanded(row, mass, upper - APPROACH, COMMAND)
    beyond = float(outwards.state(column.POSITION).max() - upper)
    at_rest = outwards.state(column.SPEED)[-1]
    leg, rate = float(outwards.leg[-1]), float(outwards.rate[-1])
    inwards = bench.run(TRIAL_TIME, -COMMAND, mass=mass, mode=VELOCITY, leg=leg, rate=rate)
    back = float(inwards.state(column.SPEED)[-1])
    stopped = 0.0 <= beyond < stop - upper and abs(at_rest) < 0.01 * COMMAND
    return THESIS["limit_switches"].judged(
        f"Commanded outwards at {1e3 * COMMAND:g} mm/s, an actuator stops {1e3 * beyond:.2f} mm "
        f"behind its upper limit, before its end stop at {1e3 * (stop - upper):g} mm, at "
        f"{1e3 * at_rest:.2f} mm/s. The opposite command moves it at {1e3 * back:.1f} mm/s.",
        stopped and abs(back + COMMAND) < 0.05 * COMMAND,
    )


def _brakes(row: FloatArray, mass: float) -> Statement:
    middle = 0.5 * float(row[column.LOWER] + row[column.UPPER])
    _, braked = _commanded(row, mass, middle, COMMAND, brake=1.0)
    moving = np.flatnonzero(braked.state(column.SPEED))
    end = float(braked.time[moving[-1]])
    push = float(braked.state(column.EFFORT)[-1])
    return THESIS["brakes"].judged(
        f"With the brake switched on, an actuator commanded to {1e3 * COMMAND:g} mm/s stands after "
        f"{1e3 * end:.0f} ms, while its motor pushes with {push:.0f} N. The brake holds "
        f"{row[column.BRAKE]:.0f} N, {row[column.BRAKE] / row[column.PEAK]:.1f} times the drive's "
        "peak.",
        bool(moving[-1] < len(braked.time) - 1 and push > 0.0)
        and row[column.BRAKE] > row[column.PEAK],
    )
