"""Position drives on a test bench: a hobby servo by its data sheet, and a stepper motor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import asin, pi

import numpy as np

from twin.analysis.platform import Platform, load
from twin.basics.arrays import FloatArray
from twin.kernels.plant import columns as column
from twin.kernels.plant.columns import OUT_OF_STEP, PLACE
from twin.machine.machine import MachineParameters
from twin.plant.drives import drive_constants
from twin.validation.cases.plant.bench import BenchRecord, DriveBench
from twin.validation.cases.plant.trials import isolated
from twin.validation.measures.metrics import largest
from twin.validation.results import Entry, Measure

ENGINE_STEP = 2.5e-4
"""[s] Time step of the engine."""

SERVO_MACHINE = "sg90_servo"
"""Machine of the gallery with the servo that is tested."""

STALL_TORQUE = 1.8 * 0.0980665
"""[N m] TowerPro SG90 data sheet: 1.8 kgf cm at 4.8 V."""

NO_LOAD_SPEED = pi / 3.0 / 0.1
"""[rad/s] SG90 data sheet: 0.1 s over 60 deg at 4.8 V."""

HALF_DEAD_BAND = np.radians(0.55)
"""[rad] Adopted: a dead band of 10 us, where 400 us are 45 deg, is 1.1 deg wide."""

PULSE_ANGLE = np.radians(0.11)
"""[rad] Adopted: pulse widths in steps of 1 us, rounded to 0.11 deg."""

PULSE_INTERVAL = 0.02
"""[s] SG90 data sheet: a pulse every 20 ms."""

STALL_ERROR = NO_LOAD_SPEED * 0.02
"""[rad] Position error at stall torque, adopted: no-load speed times the start time of 20 ms."""

COMMANDED_ANGLE = 0.0301
"""[rad] Command between two pulse widths."""

HOLDING_TORQUE = 0.4
"""[N m] Adopted: a small two-phase stepper motor."""

TOP_SPEED = 60.0
"""[rad/s] Adopted: speed at which the stepper's pull-out torque is zero."""

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
"""[s] A stepper takes 1000 positions a second."""

CRANK_INERTIA = 1e-5
"""[kg m2] Inertia on the motor's shaft."""

SERVO_SETTLING = 0.4
"""[s] Time for a servo to settle under a load."""

STEPPER_SETTLING = 0.6
"""[s] Time for a stepper to settle under a load."""

LOAD_SHARES = (-0.5, 0.3, 0.8)
"""Loads per stall torque of the servo, and per pull-out torque of the stepper."""


def position_drive_measures(machine: Platform) -> Iterator[Entry]:
    """Yield the measures of a servo and a stepper motor, on a machine with cranks."""
    if machine.coordinate_unit == "rad":
        servo_machine = load(SERVO_MACHINE, "hardware")
        content = servo_machine.parameters.model_dump()
        content["leg"]["drive"] = STEPPER_TABLE
        stepper_machine = Platform(MachineParameters.model_validate(content))
        yield from _servo(drive_constants(servo_machine, ENGINE_STEP)[0])
        yield from _stepper(drive_constants(stepper_machine, ENGINE_STEP)[0])


def _servo(drive: FloatArray) -> Iterator[Entry]:
    row = isolated(drive, column.HALF_PLAY, kept=(column.PEAK,))

    def run(
        duration: float, target: float | Callable[[float], float], torque: float
    ) -> BenchRecord:
        bench = DriveBench(row, ENGINE_STEP)
        return bench.run(duration, target, mode=PLACE, mass=CRANK_INERTIA, load=torque)

    speed_errors, hold_errors = [], []
    for share in LOAD_SHARES:
        torque = share * STALL_TORQUE
        moving = run(SERVO_SETTLING, 100.0, torque)
        speed_errors.append(moving.rate[-1] / NO_LOAD_SPEED - (1.0 + share))
        held = run(SERVO_SETTLING, 0.0, torque)
        expected = np.sign(share) * HALF_DEAD_BAND + share * STALL_ERROR
        hold_errors.append((held.state(column.POSITION)[-1] - expected) / STALL_ERROR)
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
    target = record.state(column.FIELD)
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
        1.5 * ENGINE_STEP,
        "a pulse every 20 ms takes effect within a step of the engine; half a step for rounding",
        unit="s",
    )


def _stepper(drive: FloatArray) -> Iterator[Entry]:
    row = isolated(drive, column.HALF_PLAY, kept=(column.PEAK,))
    errors = []
    for share in LOAD_SHARES:
        for speed in (0.0, 0.5 * TOP_SPEED):
            pull_out = HOLDING_TORQUE * (1.0 - speed / TOP_SPEED)
            angle = _load_angle(_turned(row, speed, share * pull_out))
            errors.append(angle - 2.0 / pi * asin(share))
    yield Measure(
        "stepper's load angle under three loads, at rest and at half its top speed, in full steps",
        largest(errors),
        0.05,
        "arc sine of load per pull-out torque, which is half the holding torque at half the top "
        "speed; motor steps of 62.5 us make the rotor's angle half a step old, 0.03 full steps",
    )
    loses_steps = [
        _turned(row, 0.0, share * HOLDING_TORQUE).state(column.LIMITED)[-1] == OUT_OF_STEP
        for share in (0.95, 1.05)
    ]
    yield Measure(
        "stepper at 95 and 105 percent of its holding torque, wrong losses of synchronism",
        float(loses_steps[0]) + float(not loses_steps[1]),
        0.0,
        "a stepper loses steps above its holding torque and not below",
    )


def _turned(row: FloatArray, speed: float, torque: float) -> BenchRecord:
    """Return the record of a stepper that is commanded to turn at `speed` [rad/s] under a load.

    The load is damped, so that the rotor settles.
    """
    bench = DriveBench(row, ENGINE_STEP)
    bench.put(column.SPEED, speed)
    return bench.run(
        STEPPER_SETTLING,
        lambda time: speed * (time + POSITION_INTERVAL),
        mode=PLACE,
        mass=CRANK_INERTIA,
        rate=speed,
        load=lambda rate: torque - 0.05 * (rate - speed),
    )


def _load_angle(record: BenchRecord) -> float:
    """Return the rotor's mean angle before its field in the last quarter, in full steps."""
    ahead = record.state(column.POSITION) - record.state(column.FIELD)
    return float(np.mean(ahead[-len(ahead) // 4 :])) / FULL_STEP
