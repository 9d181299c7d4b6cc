"""Drives that take positions: the servo of a data sheet and a stepper motor, on a test bench."""

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
from twin.validation.cases.plant.bench import DriveBench
from twin.validation.cases.plant.trials import isolated
from twin.validation.results import Entry, Measure

STEP = 2.5e-4
"""[s] of the engine."""

SERVO_MACHINE = "sg90_servo"
"""Machine of the gallery whose servos are tried."""

STALL_TORQUE = 1.8 * 0.0980665
"""[N m] TowerPro SG90 data sheet: 1.8 kgf cm at 4.8 V."""

NO_LOAD_SPEED = pi / 3.0 / 0.1
"""[rad/s] SG90 data sheet: 0.1 s over 60 deg at 4.8 V."""

HALF_DEAD_BAND = np.radians(0.55)
"""[rad] Adopted: 10 us of 400 us over 45 deg are 1.1 deg."""

PULSE_ANGLE = np.radians(0.11)
"""[rad] Adopted: steps of 1 us, rounded to 0.11 deg."""

PULSE_INTERVAL = 0.02
"""[s] SG90 data sheet: a pulse every 20 ms."""

STALL_ERROR = NO_LOAD_SPEED * 0.02
"""[rad] Adopted: no-load speed times the start time of 20 ms, a damping ratio of one half."""

HOLDING_TORQUE, TOP_SPEED = 0.4, 60.0
"""[N m], [rad/s] Adopted: those of a small two-phase stepper motor."""

STEPPER = {
    "source": "Adopted: numbers of a small two-phase motor",
    "kind": "stepper",
    "holding_torque": HOLDING_TORQUE,
    "top_speed": TOP_SPEED,
    "armature_inertia": 5.4e-6,
}
"""SI units; full steps of 1.8 deg."""

FULL_STEP = pi / 100.0
"""[rad]"""

POSITION_INTERVAL = 1e-3
"""[s] A stepper takes 1000 positions a second."""

CRANK = 1e-5
"""[kg m2] What the shaft turns."""

SETTLED = (0.4, 0.6)
"""[s] for a servo and a stepper to settle under a load."""

SHARES = (-0.5, 0.3, 0.8)
"""Loads per stall torque, and per pull-out torque."""


def position_drive_measures(machine: Platform) -> Iterator[Entry]:
    """Yield the measures of a servo and a stepper motor, on a machine with cranks."""
    if machine.coordinate_unit == "rad":
        servo_machine = load(SERVO_MACHINE, "hardware")
        content = servo_machine.parameters.model_dump()
        content["leg"]["drive"] = STEPPER
        stepper_machine = Platform(MachineParameters.model_validate(content))
        yield from _servo(drive_constants(servo_machine, STEP)[0])
        yield from _stepper(drive_constants(stepper_machine, STEP)[0])


def _servo(drive: FloatArray) -> Iterator[Entry]:
    row = isolated(drive, column.HALF_PLAY, kept=(column.PEAK,))
    speeds, places = [], []
    for share in SHARES:
        load_torque = share * STALL_TORQUE
        far = DriveBench(row, STEP).run(SETTLED[0], 100.0, mode=PLACE, mass=CRANK, load=load_torque)
        speeds.append(far.rate[-1] / NO_LOAD_SPEED - (1.0 + share))
        held = DriveBench(row, STEP).run(SETTLED[0], 0.0, mode=PLACE, mass=CRANK, load=load_torque)
        expected = np.sign(share) * HALF_DEAD_BAND + share * STALL_ERROR
        places.append((held.state(column.POSITION)[-1] - expected) / STALL_ERROR)
    yield Measure(
        "servo far from its target, speed under three loads against the line from stall torque to "
        "no-load speed",
        np.abs(speeds).max(),
        1e-6,
        "per no-load speed; 20 start times of 20 ms leave exp(-20)",
    )
    yield Measure(
        "servo at its target, error under three loads against dead band and stall error",
        np.abs(places).max(),
        1e-3,
        "half the band, and the stall error times load per stall torque; oscillations decay as "
        "exp(-t / 40 ms), so exp(-10) is left",
    )
    bench = DriveBench(row, STEP)
    field = bench.run(0.05, lambda time: 0.0301 * (time > 1e-3), mode=PLACE, mass=CRANK)
    taken = field.state(column.FIELD)
    code = PULSE_ANGLE * np.rint(0.0301 / PULSE_ANGLE)
    late = field.time[np.argmax(taken > 0.0)] - PULSE_INTERVAL
    yield Measure(
        "servo's position after a command, against the nearest pulse",
        abs(taken[-1] - code) / PULSE_ANGLE,
        1e-9,
        "whole steps of 0.11 deg; rounding",
    )
    yield Measure(
        "servo takes a command at its next pulse, time error",
        abs(late),
        1.5 * STEP,
        "a pulse every 20 ms, seen at the end of a step of the engine; half a step for rounding",
        unit="s",
    )


def _stepper(drive: FloatArray) -> Iterator[Entry]:
    row = isolated(drive, column.HALF_PLAY, kept=(column.PEAK,))
    lags = []
    for share in SHARES:
        for speed in (0.0, 0.5 * TOP_SPEED):
            pull_out = HOLDING_TORQUE * (1.0 - speed / TOP_SPEED)
            found = _lag(row, speed, share * pull_out)
            lags.append(found - 2.0 / pi * asin(share))
    yield Measure(
        "stepper's lag under three loads, at rest and at half its top speed, in full steps",
        np.abs(lags).max(),
        0.05,
        "arc sine of load per pull-out torque, which is half the holding torque at half the top "
        "speed; a motor's own steps of 62.5 us see the rotor half of one late, 0.03 full steps",
    )
    slipped = []
    for share in (0.95, 1.05):
        bench = DriveBench(row, STEP)
        record = bench.run(
            SETTLED[1], 0.0, mode=PLACE, mass=CRANK, load=_load(0.0, share * HOLDING_TORQUE)
        )
        slipped.append(record.state(column.LIMITED)[-1] == OUT_OF_STEP)
    yield Measure(
        "stepper held or out of step wrongly, 5 percent below and above its holding torque",
        float(slipped[0]) + float(not slipped[1]),
        0.0,
        "it slips beyond the holding torque, not below",
    )


def _lag(row: FloatArray, speed: float, load_torque: float) -> float:
    """Return how far a rotor is ahead of its field at `speed` under a load, in full steps."""
    bench = DriveBench(row, STEP)
    bench.put(column.SPEED, speed)
    record = bench.run(
        SETTLED[1],
        lambda time: speed * (time + POSITION_INTERVAL),
        mode=PLACE,
        mass=CRANK,
        rate=speed,
        load=_load(speed, load_torque),
    )
    ahead = record.state(column.POSITION) - record.state(column.FIELD)
    return float(np.mean(ahead[-len(ahead) // 4 :])) / FULL_STEP


def _load(speed: float, torque: float) -> Callable[[float], float]:
    """Return a load that is `torque` at `speed`, with a damping that lets the rotor settle."""
    return lambda rate: torque - 0.05 * (rate - speed)
