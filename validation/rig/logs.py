"""Logs of the second plant under a controller that knows the file alone.

The conditions of the plant, and its faults, are what the file does not describe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, quaternion_product
from twin.control.gains import suitable_position_loop, suitable_velocity_loop
from twin.errors import InputError
from twin.kernels.dynamics.assembly import BODY_CENTER, BODY_MASS, BODY_TENSOR
from twin.logs import Channel, Log
from twin.logs.log import POSE_UNITS
from twin.motion import Motion
from twin.motion.motion import MotionSample
from twin.plant.plant import encoder_resolution
from twin.validation.rig.kernels import (
    FORCE_MODE,
    LINEAR_LAW,
    LUGRE_LAW,
    SPEED_MODE,
    SQUARE_LAW,
    Control,
    Drives,
    Faults,
    Records,
    State,
    Surroundings,
    Times,
    run,
)

DEFAULT_STEP = 1e-4
"""[s] Step of the plant: its errors fall with the square."""

CONTROL_BANDWIDTH = 45.0
"""[rad/s] Engineering choice: natural frequency of the position loops of force commands."""

CONTROL_DAMPING = 0.8
"""Engineering choice: damping ratio of these loops."""

INTEGRAL_RATE = 3.0
"""[1/s] Engineering choice: integral gain over gain of these loops."""

FILTER_FRACTION = 0.3
"""Engineering choice: weight of a new rate in the filtered rate of an encoder."""

FRICTION_SPEED = 2e-3
"""[m/s] Engineering choice: speed over which the feedforward of friction changes its sign."""

BRISTLE_STIFFNESS = 3e7
"""[N/m] of LuGre's bristles: 10 um before a leg of 300 N slides."""

BRISTLE_DAMPING = 3e4
"""[N s/m] of LuGre's bristles."""

VERTICAL_FREQUENCY = 15.0
"""[Hz] of a swinging mass along the platform's z axis, where its rod holds it."""

CABLE_POINT = np.array([0.3, 0.0, 0.0])
"""[m] Point of the platform at which the cable pulls, platform axes."""

SWINGING_DAMPING = 0.03
"""Damping ratio of the swing."""

TRACKER_NOISE = 2e-5
"""[m, rad] Standard deviations of the tracker's poses."""

BASE_MASS_RATIO = 8.0
"""Mass of a base on springs, relative to the mass that moves on it."""

BASE_DAMPING = 0.03
"""Damping ratio of a base on springs."""

FORCE_PER_CURRENT = 300.0
"""[N/A] Engineering choice: force of a motor per current."""

NO_FAULT_TIME = 1e12
"""[s] Time of a fault that never begins."""

FRICTION_LAWS = {"square": SQUARE_LAW, "linear": LINEAR_LAW, "lugre": LUGRE_LAW}

Mode = Literal["force", "velocity"]

Forces = Literal["none", "motor", "current"]


@dataclass(frozen=True)
class Fault:
    """A fault that begins at a time."""

    kind: Literal["friction", "slip", "lost_mass", "weak_motor", "frozen_encoder"]
    begin: float
    """[s] time at which it begins"""
    size: float = 0.0
    """friction: factor at the end of the rise; slip [m]; lost mass [kg]; weak motor: factor"""
    leg: int = 0
    """index of the leg; a lost mass has none, and friction with -1 is that of all legs"""
    rise: float = 1e-3
    """[s] time over which friction rises"""


@dataclass(frozen=True)
class Conditions:
    """A machine's friction, surroundings, sensors and faults. The defaults are a clean machine."""

    friction_law: Literal["square", "linear", "lugre"] = "square"
    """Stribeck's law with exponent 2 (as in files) or 1, or the bristles of LuGre"""
    load_friction: float = 0.0
    """dry friction per force of the leg"""
    warming_drop: float = 0.0
    """fraction of all friction that is gone once the machine is warm"""
    warming_time: float = 60.0
    """[s] time constant of warming"""
    cable_force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[N] in base axes, on the platform at home"""
    cable_stiffness: float = 0.0
    """[N/m] of a spring from the platform at home"""
    swinging_mass: float = 0.0
    """[kg] part of the payload that swings"""
    swinging_frequency: float = 1.0
    """[Hz] frequency of the swing along x and y"""
    base_frequency: float = 0.0
    """[Hz] natural frequency of a base on springs; zero for a rigid base"""
    lead_errors: tuple[float, ...] = ()
    """relative errors of the screws' leads, one for each leg"""
    motor_constants: tuple[float, ...] = ()
    """force of a motor relative to the force that its drive assumes, one for each leg"""
    encoder_noise: float = 0.0
    """[m] standard deviation, before rounding to counts"""
    current_bias: tuple[float, ...] = ()
    """[N] biases of currents and motor forces, as forces"""
    current_resolution: float = 0.0
    """[N] resolution of currents and motor forces, as a force"""
    force_noise: float = 0.0
    """[N] standard deviation of all measured forces"""
    jitter: float = 0.0
    """[s] standard deviation of time stamps"""
    gaps: tuple[tuple[float, float], ...] = ()
    """[s] begin and length of times without samples"""
    tracker_rate: float = 0.0
    """[Hz] sample rate of a pose tracker; zero for no tracker"""
    tracker_delay: float = 0.0
    """[s] age of the tracker's poses at their time stamps"""
    faults: tuple[Fault, ...] = ()

    def for_legs(self, name: str, count: int, default: float) -> list[float]:
        """Return a field that has one entry for each leg; `default` where it is empty.

        Raises:
            InputError: another number of entries.
        """
        values = getattr(self, name)
        if values and len(values) != count:
            raise InputError(name, f"must have {count} entries, one for each leg")
        return list(values) or [default] * count


class Run(NamedTuple):
    """Samples of a run without errors of clocks; first axis time."""

    time: FloatArray
    records: Records


def record(
    machine: Platform,
    motion: Motion,
    conditions: Conditions | None = None,
    *,
    model: Platform | None = None,
    mode: Mode = "force",
    forces: Forces = "none",
    period: float = 1e-3,
    step: float = DEFAULT_STEP,
    seed: int = 0,
) -> Log:
    """Return the log of a machine that follows a motion, in signals of the machine.

    Args:
        machine: the true machine: six legs with screws or other drives that have an inertia.
        motion: reference, from rest to rest.
        conditions: conditions that the machine's file does not describe; default: a clean machine.
        model: the machine as the controller knows it; default: the true machine.
        mode: mode of the commands.
        forces: whether forces of the motors, or currents are recorded as well.
        period: period of the samples [s].
        step: step of the plant [s]; the period is a multiple of it.
        seed: seed of all noise.

    Raises:
        InputError: a machine without drives, or a run that fails.
    """
    conditions = conditions or Conditions()
    rng = np.random.default_rng(seed)
    grid = _grid(machine, period, step)
    true_run = simulate_run(machine, motion, conditions, model or machine, mode, grid, rng)
    return log_of_run(true_run, conditions, mode, forces, rng)


def simulate_run(
    machine: Platform,
    motion: Motion,
    conditions: Conditions,
    model: Platform,
    mode: Mode,
    grid: Times,
    rng: np.random.Generator,
) -> Run:
    """Return the samples of a machine that follows a motion; see `record`.

    Raises:
        InputError: a machine without drives, or a run that fails.
    """
    period = grid.step * grid.steps_per_sample
    times = np.arange(round(motion.duration / period) + 1.0) * period
    sample = motion.sample(times)
    world = _surroundings(machine, conditions)
    wrench = np.concatenate([world.cable_force, np.cross(CABLE_POINT, world.cable_force)])
    start_pose = sample.pose[0]
    forces = machine.inverse_dynamics(start_pose, np.zeros(6), np.zeros(6), wrench)
    coordinates, drives = machine.inverse_kinematics(start_pose), _drives(machine, conditions)
    play = 0.5 * drives.backlash * np.sign(forces)
    state = _state(
        start_pose,
        coordinates + play + forces / drives.stiffness,
        forces,
        world,
        machine.parameters.gravity,
    )
    state.effort[:] = state.integral[:] = forces / drives.motor_constant
    body = _without_point_mass(machine.constants.body, world.swinging_mass, _pivot(machine))
    lost_mass = sum(fault.size for fault in conditions.faults if fault.kind == "lost_mass")
    lighter = _without_point_mass(body, lost_mass, body[BODY_CENTER : BODY_CENTER + 3])
    shape = len(times), machine.n_actuators
    records = Records(
        measured=np.zeros(shape),
        command=np.zeros(shape),
        motor_force=np.zeros(shape),
        pose=np.zeros((len(times), 7)),
    )
    failed = run(
        np.array([body, lighter]),
        machine.constants.legs,
        drives,
        world,
        _faults(conditions, machine.n_actuators),
        _control(model, sample, mode, period, conditions, rng),
        state,
        grid,
        records,
    )
    if failed >= 0:
        raise InputError("motion", f"the machine runs away at {times[failed]:.3g} s")
    return Run(times, records)


def _grid(machine: Platform, period: float, step: float) -> Times:
    """Return steps and samples, with the mean delay of the drives in whole steps."""
    delays = [leg.drive.delay for leg in machine.parameters.legs if leg.drive is not None]
    steps = round(float(np.mean(delays or [0.0])) / step)
    return Times(step, max(1, round(period / step)), steps)


def _drives(machine: Platform, conditions: Conditions) -> Drives:
    """Return the drives of a machine with the errors of its conditions.

    Raises:
        InputError: a leg without a motor that has an inertia.
    """
    rows = []
    gains, loop_times = suitable_velocity_loop(machine, 1e-3)
    count = machine.n_actuators
    lead_errors = conditions.for_legs("lead_errors", count, 0.0)
    constants = conditions.for_legs("motor_constants", count, 1.0)
    for n, leg in enumerate(machine.parameters.legs):
        drive = leg.drive
        reflected = None if drive is None else drive.reflected()
        if drive is None or reflected is None or not reflected.inertia > 0.0:
            raise InputError("machine", "needs drives whose motors have an inertia")
        peak_force = reflected.peak or leg.actuator.effort or np.inf
        resolutions = np.zeros(2)
        if drive.analogue_bits is not None:
            speed = leg.actuator.speed or np.inf
            resolutions = np.array([peak_force, speed]) / 2.0 ** (drive.analogue_bits - 1)
        rows.append(
            (
                *(reflected.inertia, reflected.friction, reflected.viscous, drive.breakaway),
                *(reflected.stribeck_speed, conditions.load_friction, reflected.stiffness),
                *(reflected.damping, reflected.backlash, lead_errors[n], constants[n]),
                *(drive.current_lag, peak_force, *resolutions),
                *(gains[n], gains[n] / loop_times[n]),
            )
        )
    return Drives(*(np.array(column) for column in zip(*rows, strict=True)))


def _surroundings(machine: Platform, conditions: Conditions) -> Surroundings:
    """Return what acts on the machine beside its drives."""
    mass = conditions.swinging_mass
    horizontal = conditions.swinging_frequency
    swing_frequencies = 2.0 * np.pi * np.array([horizontal, horizontal, VERTICAL_FREQUENCY])
    body = machine.parameters.platform.body
    parts = [getattr(leg, "rod", None) for leg in machine.parameters.legs]
    moving_mass = body.mass + sum(part.mass for part in parts if part is not None)
    base_mass = BASE_MASS_RATIO * moving_mass if conditions.base_frequency > 0.0 else 0.0
    base_speed = 2.0 * np.pi * conditions.base_frequency
    # The pivot is above the centre of mass by what the mass hangs lower than the pivot.
    sag = np.array([0.0, 0.0, machine.parameters.gravity / swing_frequencies[2] ** 2])
    return Surroundings(
        FRICTION_LAWS[conditions.friction_law],
        BRISTLE_STIFFNESS,
        BRISTLE_DAMPING,
        conditions.warming_drop,
        conditions.warming_time if conditions.warming_drop else 0.0,
        np.array(conditions.cable_force),
        conditions.cable_stiffness,
        CABLE_POINT,
        machine.home[:3] + CABLE_POINT,
        mass,
        mass * swing_frequencies**2,
        2.0 * SWINGING_DAMPING * mass * swing_frequencies,
        _pivot(machine) + sag,
        base_mass,
        base_mass * base_speed**2,
        2.0 * BASE_DAMPING * base_mass * base_speed,
        moving_mass,
    )


def _pivot(machine: Platform) -> FloatArray:
    """Return where a swinging mass hangs at rest `(3,)`: in the centre of mass of the platform."""
    return np.array(machine.parameters.platform.body.center_of_mass)


def _without_point_mass(body: FloatArray, mass: float, position: FloatArray) -> FloatArray:
    """Return the constants of a body `(BODY_SIZE,)` without a point mass at a place `(3,)`."""
    reduced = np.array(body)
    reduced[BODY_MASS] = body[BODY_MASS] - mass
    center = body[BODY_CENTER : BODY_CENTER + 3]
    moment = body[BODY_MASS] * center - mass * position
    reduced[BODY_CENTER : BODY_CENTER + 3] = moment / reduced[BODY_MASS]
    tensor = mass * (position @ position * np.eye(3) - np.outer(position, position))
    entries = tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    reduced[BODY_TENSOR : BODY_TENSOR + 6] -= entries
    return reduced


def _state(
    pose: FloatArray, motor: FloatArray, forces: FloatArray, world: Surroundings, gravity: float
) -> State:
    """Return the state of a machine at rest."""
    count = len(motor)
    sag = np.zeros(3)
    if world.swinging_mass > 0.0:
        sag[2] = world.swinging_mass * gravity / world.swinging_stiffness[2]
    swing = np.concatenate([pose[:3] + world.swinging_point - sag, np.zeros(3)])
    return State(
        pose=np.array(pose),
        twist=np.zeros(6),
        motor=np.array(motor),
        speed=np.zeros(count),
        last_speed=np.zeros(count),
        effort=np.zeros(count),
        mean_effort=np.zeros(count),
        integral=np.zeros(count),
        bristle=np.zeros(count),
        swing=swing,
        base=np.zeros(9),
        acceleration=np.zeros(6),
        leg_force=np.array(forces),
        coordinates=np.zeros(count),
        rates=np.zeros(count),
        wrench=np.zeros(6),
    )


def _control(
    model: Platform,
    sample: MotionSample,
    mode: Mode,
    period: float,
    conditions: Conditions,
    rng: np.random.Generator,
) -> Control:
    """Return reference and gains of a controller that knows the file."""
    pose, twist, acceleration = sample
    coordinates, count = model.inverse_kinematics(pose), model.n_actuators
    rates = np.einsum("kij,kj->ki", model.jacobian(pose), twist)
    drives = _drives(model, Conditions())
    noise = conditions.encoder_noise * rng.standard_normal(coordinates.shape)
    resolution = encoder_resolution(model.parameters.legs[0])
    ones = np.ones(count)
    if mode == "velocity":
        position_gain, integral_gain = suitable_position_loop(model, period)
        # Gains of position, speed and integral.
        gains = position_gain * ones, 0.0 * ones, integral_gain * ones
        return Control(
            SPEED_MODE, coordinates, rates, rates.copy(), *gains, FILTER_FRACTION, resolution, noise
        )
    forces = model.inverse_dynamics(pose, twist, acceleration)
    forces = forces + drives.inertia * np.gradient(rates, period, axis=0)
    forces += drives.coulomb * np.tanh(rates / FRICTION_SPEED) + drives.viscous * rates
    # Each leg moves an equal part of the platform.
    inertia = drives.inertia + model.parameters.platform.body.mass / count
    gain = inertia * CONTROL_BANDWIDTH**2
    gains = gain, 2.0 * CONTROL_DAMPING * inertia * CONTROL_BANDWIDTH, INTEGRAL_RATE * gain
    return Control(
        FORCE_MODE, coordinates, rates, forces, *gains, FILTER_FRACTION, resolution, noise
    )


def _faults(conditions: Conditions, count: int) -> Faults:
    """Return the faults as arrays."""
    ones = np.ones(count)
    fault_arrays = Faults(
        friction_begin=NO_FAULT_TIME * ones,
        friction_rise=ones.copy(),
        friction_factor=ones.copy(),
        weak_begin=NO_FAULT_TIME * ones,
        weak_factor=ones.copy(),
        slip_begin=NO_FAULT_TIME * ones,
        slip=0.0 * ones,
        frozen_begin=NO_FAULT_TIME * ones,
        lost_begin=NO_FAULT_TIME,
    )
    for fault in conditions.faults:
        legs = slice(None) if fault.leg < 0 else slice(fault.leg, fault.leg + 1)
        if fault.kind == "friction":
            fault_arrays.friction_begin[legs] = fault.begin
            fault_arrays.friction_rise[legs] = fault.rise
            fault_arrays.friction_factor[legs] = fault.size
        elif fault.kind == "weak_motor":
            fault_arrays.weak_begin[legs], fault_arrays.weak_factor[legs] = fault.begin, fault.size
        elif fault.kind == "slip":
            fault_arrays.slip_begin[legs], fault_arrays.slip[legs] = fault.begin, fault.size
        elif fault.kind == "frozen_encoder":
            fault_arrays.frozen_begin[legs] = fault.begin
        else:
            fault_arrays = fault_arrays._replace(lost_begin=fault.begin)
    return fault_arrays


def log_of_run(
    true_run: Run, conditions: Conditions, mode: Mode, forces: Forces, rng: np.random.Generator
) -> Log:
    """Return the log of a run with the clock, the gaps and the sensors of its conditions."""
    times, records = true_run
    count = records.measured.shape[1]
    jitter = conditions.jitter * np.clip(rng.standard_normal(len(times)), -3.0, 3.0)
    stamps = np.sort(times + jitter)
    is_recorded = np.ones(len(times), bool)
    for begin, length in conditions.gaps:
        is_recorded &= (times < begin) | (times >= begin + length)
    signals = {"measured": (records.measured, "m")}
    name, unit = ("command_forces", "N") if mode == "force" else ("command_rates", "m/s")
    signals[name] = records.command, unit
    noise = conditions.force_noise * rng.standard_normal(records.measured.shape)
    if forces != "none":
        motor_forces = records.motor_force + noise
        motor_forces += np.array(conditions.for_legs("current_bias", count, 0.0))
        if conditions.current_resolution > 0.0:
            motor_forces = conditions.current_resolution * np.round(
                motor_forces / conditions.current_resolution
            )
        if forces == "current":
            signals["currents"] = motor_forces / FORCE_PER_CURRENT, "A"
        else:
            signals["motor_forces"] = motor_forces, "N"
    channels = [
        Channel(name, stamps[is_recorded], values[is_recorded], (unit,) * count)
        for name, (values, unit) in signals.items()
    ]
    if conditions.tracker_rate > 0.0:
        channels.append(_tracker(true_run, conditions, rng))
    return Log(tuple(channels), {"machine": "rig"})


def _tracker(true_run: Run, conditions: Conditions, rng: np.random.Generator) -> Channel:
    """Return the poses that a tracker measures, at times of its own."""
    stamps = np.arange(conditions.tracker_delay, true_run.time[-1], 1.0 / conditions.tracker_rate)
    measured_times = stamps - conditions.tracker_delay
    pose = np.column_stack(
        [np.interp(measured_times, true_run.time, values) for values in true_run.records.pose.T]
    )
    pose[:, :3] += TRACKER_NOISE * rng.standard_normal((len(pose), 3))
    turn = np.column_stack(
        [np.ones(len(pose)), 0.5 * TRACKER_NOISE * rng.standard_normal((len(pose), 3))]
    )
    pose[:, 3:] = quaternion_product(turn, pose[:, 3:])
    pose[:, 3:] /= np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
    return Channel("pose", stamps, pose, POSE_UNITS)
