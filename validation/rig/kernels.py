"""The second plant: rigid forward dynamics, with drives, friction and integrator of its own.

Each step is a leapfrog: half a step of positions, a step of speeds, half a step of positions.
Speeds take the forces of the middle position twice: the second time at the mean of old and new.
Dry friction stops a motor within a step or slows it down, and never turns it back.

Reference:
    Canudas de Wit et al., A new model for control of systems with friction (1995): LuGre.
"""

from __future__ import annotations

from math import copysign, cos, exp, sin, sqrt
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.assembly import BODY_GRAVITY, Work, make_work
from twin.kernels.dynamics.forward import forward_dynamics
from twin.kernels.jit import allocating, compiled
from twin.kernels.kinematics import coordinates_and_rates
from twin.kernels.legs.interface import Legs, platform_state

SQUARE_LAW, LINEAR_LAW, LUGRE_LAW = range(3)
"""Laws of dry friction: Stribeck's with exponent 2, with exponent 1, and LuGre's bristles."""

FORCE_MODE, SPEED_MODE = range(2)
"""Modes of the commands."""


MAX_SPEED = 1e3
"""[m/s, rad/s] Speed of the platform that ends a run."""


class Drives(NamedTuple):
    """Motors with their transmissions, reflected to the legs; arrays `(n,)` in SI."""

    inertia: FloatArray
    coulomb: FloatArray
    viscous: FloatArray
    breakaway: FloatArray
    """friction at rest, relative to friction while sliding"""
    stribeck: FloatArray
    load_friction: FloatArray
    """dry friction per force of the leg"""
    stiffness: FloatArray
    damping: FloatArray
    backlash: FloatArray
    lead_error: FloatArray
    """relative error of the coordinate per motion of the motor"""
    motor_constant: FloatArray
    """force of the motor, relative to the force that its drive assumes"""
    lag: FloatArray
    peak: FloatArray
    effort_resolution: FloatArray
    speed_resolution: FloatArray
    gain: FloatArray
    """force per error of the speed, of the drive's velocity loop"""
    integral_gain: FloatArray


class Surroundings(NamedTuple):
    """Surroundings of a machine that its file does not know."""

    friction_law: int
    bristle_stiffness: float
    bristle_damping: float
    warming_drop: float
    """fraction of the friction that warming takes"""
    warming_time: float
    cable_force: FloatArray
    """`(3,)` [N] in base axes, with the platform at home"""
    cable_stiffness: float
    cable_point: FloatArray
    """`(3,)` in platform axes"""
    cable_anchor: FloatArray
    """`(3,)` place of the cable's point with the platform at home"""
    swinging_mass: float
    swinging_stiffness: FloatArray
    """`(3,)` in platform axes"""
    swinging_damping: FloatArray
    swinging_point: FloatArray
    base_mass: float
    """[kg] zero for a rigid base"""
    base_stiffness: float
    base_damping: float
    moving_mass: float
    """[kg] of platform and upper legs, which push the base"""


class Faults(NamedTuple):
    """Faults with the times [s] at which they begin; arrays `(n,)`."""

    friction_begin: FloatArray
    friction_rise: FloatArray
    friction_factor: FloatArray
    weak_begin: FloatArray
    weak_factor: FloatArray
    slip_begin: FloatArray
    slip: FloatArray
    frozen_begin: FloatArray
    lost_begin: float


class Control(NamedTuple):
    """Reference, feedforward and noise `(T, n)` of the controller, and its gains `(n,)`."""

    mode: int
    reference: FloatArray
    reference_rate: FloatArray
    feedforward: FloatArray
    gain: FloatArray
    rate_gain: FloatArray
    integral_gain: FloatArray
    filter_fraction: float
    """weight of a new rate in the filtered one"""
    resolution: float
    noise: FloatArray


class Records(NamedTuple):
    """Records of every sample; arrays `(T, n)`, poses `(T, 7)`."""

    measured: FloatArray
    command: FloatArray
    motor_force: FloatArray
    """as the drive assumes it, without the error of `motor_constant`"""
    pose: FloatArray


class Times(NamedTuple):
    """Grid of the simulation."""

    step: float
    steps_per_sample: int
    delay_steps: int


class State(NamedTuple):
    """State of the plant, written to."""

    pose: FloatArray
    twist: FloatArray
    motor: FloatArray
    speed: FloatArray
    last_speed: FloatArray
    """speed one step earlier, from which the velocity loop extrapolates to mid-step"""
    effort: FloatArray
    mean_effort: FloatArray
    """mean over the present step"""
    integral: FloatArray
    bristle: FloatArray
    swing: FloatArray
    """`(6,)` place and velocity of the swinging mass, base axes"""
    base: FloatArray
    """`(9,)` displacement, velocity and acceleration of the base"""
    acceleration: FloatArray
    leg_force: FloatArray
    coordinates: FloatArray
    rates: FloatArray
    wrench: FloatArray


@allocating
def drift(state: State, h: float) -> None:
    """Move all positions by their speeds over a time `h` [s]."""
    pose, twist = state.pose, state.twist
    for k in range(3):
        pose[k] += h * twist[k]
        state.swing[k] += h * state.swing[3 + k]
        state.base[k] += h * state.base[3 + k]
    x, y, z = twist[3], twist[4], twist[5]
    rate = sqrt(x * x + y * y + z * z)
    angle = 0.5 * h * rate
    a = cos(angle)
    b = 0.5 * h if angle < 1e-9 else sin(angle) / rate
    x, y, z = b * x, b * y, b * z
    w, i, j, k = pose[3], pose[4], pose[5], pose[6]
    pose[3] = a * w - x * i - y * j - z * k
    pose[4] = a * i + x * w + y * k - z * j
    pose[5] = a * j + y * w + z * i - x * k
    pose[6] = a * k + z * w + x * j - y * i
    length = sqrt(pose[3] ** 2 + pose[4] ** 2 + pose[5] ** 2 + pose[6] ** 2)
    for m in range(3, 7):
        pose[m] /= length
    for n in range(state.motor.shape[0]):
        state.motor[n] += h * state.speed[n]


@allocating
def transmission_force(drives: Drives, n: int, stretch: float, rate: float) -> float:
    """Return the force on leg `n` of a transmission that is stretched; none inside its play."""
    half_play = 0.5 * drives.backlash[n]
    if abs(stretch) <= half_play:
        return 0.0
    deformation = stretch - copysign(half_play, stretch)
    force = drives.stiffness[n] * deformation + drives.damping[n] * rate
    return float(force) if force * deformation > 0.0 else 0.0


@allocating
def friction_level(drives: Drives, law: int, n: int, speed: float, load: float) -> float:
    """Return the largest dry friction of motor `n` [N] at a speed and a force of its leg."""
    ratio = abs(speed) / drives.stribeck[n]
    excess = exp(-ratio) if law == LINEAR_LAW else exp(-ratio * ratio)
    sliding = drives.coulomb[n] + drives.load_friction[n] * abs(load)
    return float(sliding * (1.0 + (drives.breakaway[n] - 1.0) * excess))


@allocating
def motor_speed(
    drives: Drives, world: Surroundings, state: State, n: int, mean: float, h: float, factor: float
) -> float:
    """Return the speed of motor `n` after a step, with the mean speed over it."""
    inertia = drives.inertia[n]
    level = factor * friction_level(drives, world.friction_law, n, mean, state.leg_force[n])
    viscous = factor * drives.viscous[n] * mean
    net_force = drives.motor_constant[n] * state.mean_effort[n] - state.leg_force[n] - viscous
    if world.friction_law == LUGRE_LAW:
        rate = abs(mean) * world.bristle_stiffness / level
        bristle = (state.bristle[n] + h * mean) / (1.0 + h * rate)
        force = world.bristle_stiffness * bristle
        force += world.bristle_damping * (mean - rate * bristle)
        return float(state.speed[n] + h * (net_force - force) / inertia)
    return speed_with_friction(state.speed[n], net_force / inertia, level / inertia, h)


@allocating
def speed_with_friction(
    speed: float, acceleration: float, max_deceleration: float, h: float
) -> float:
    """Return a speed after a step `h` [s] under an acceleration, braked by friction.

    A motor that stops within the step stays, or starts in the other direction at that moment.
    """
    remaining_time = h
    if speed != 0.0:
        net_acceleration = acceleration - copysign(max_deceleration, speed)
        new_speed = speed + h * net_acceleration
        if new_speed * speed >= 0.0:
            return float(new_speed)
        remaining_time = h + speed / net_acceleration
    if abs(acceleration) <= max_deceleration:
        return 0.0
    return float(remaining_time * (acceleration - copysign(max_deceleration, acceleration)))


@allocating
def add_swing(world: Surroundings, state: State, matrix: FloatArray, h: float) -> FloatArray:
    """Add the force of the swinging mass to the wrench; return the mass's new velocity `(3,)`."""
    pose, twist, wrench = state.pose, state.twist, state.wrench
    arm = matrix @ world.swinging_point
    omega = twist[3:]
    pivot = pose[:3] + arm
    velocity = twist[:3] + np.cross(omega, arm)
    offset = matrix.T @ (state.swing[:3] - pivot)
    rate = matrix.T @ (state.swing[3:] - velocity - np.cross(omega, state.swing[:3] - pivot))
    force = matrix @ (world.swinging_stiffness * offset + world.swinging_damping * rate)
    wrench[:3] += force
    wrench[3:] += np.cross(state.swing[:3] - pose[:3], force)
    return -force / world.swinging_mass


@allocating
def rotation_matrix(pose: FloatArray) -> FloatArray:
    """Return the rotation `(3, 3)` from platform to base axes."""
    return np.array(platform_state(pose, np.zeros(6)).matrix).reshape(3, 3)


@allocating
def friction_factor(world: Surroundings, faults: Faults, n: int, time: float) -> float:
    """Return the friction of motor `n` relative to that in a cold, healthy machine."""
    factor = 1.0
    if world.warming_time > 0.0:
        factor -= world.warming_drop * (1.0 - exp(-time / world.warming_time))
    if time > faults.friction_begin[n]:
        fraction = min((time - faults.friction_begin[n]) / faults.friction_rise[n], 1.0)
        factor *= 1.0 + (faults.friction_factor[n] - 1.0) * fraction
    return factor


@allocating
def update_bristles(
    drives: Drives,
    world: Surroundings,
    faults: Faults,
    state: State,
    new_speed: FloatArray,
    time: float,
    h: float,
) -> None:
    """Bend LuGre's bristles over a step that leads to new speeds `(n,)`."""
    for n in range(state.motor.shape[0]):
        mean = 0.5 * (state.speed[n] + new_speed[n])
        level = friction_level(drives, world.friction_law, n, mean, state.leg_force[n])
        level *= friction_factor(world, faults, n, time)
        rate = abs(mean) * world.bristle_stiffness / level
        state.bristle[n] = (state.bristle[n] + h * mean) / (1.0 + h * rate)


@allocating
def accelerate_base(world: Surroundings, state: State, h: float) -> None:
    """Accelerate the base over a step: its springs and the mass that moves on it push it."""
    for k in range(3):
        force = -world.moving_mass * (state.acceleration[k] + state.base[6 + k])
        force -= world.base_stiffness * state.base[k] + world.base_damping * state.base[3 + k]
        state.base[6 + k] = force / world.base_mass
        state.base[3 + k] += h * state.base[6 + k]


@allocating
def kick(
    body: FloatArray,
    legs: Legs,
    drives: Drives,
    world: Surroundings,
    faults: Faults,
    state: State,
    start: FloatArray,
    time: float,
    h: float,
    work: Work,
) -> None:
    """Change all speeds over a step, with the forces of the present positions."""
    count = state.motor.shape[0]
    old_twist, old_speed = state.twist.copy(), state.speed.copy()
    new_speed, mean_twist = old_speed.copy(), old_twist.copy()
    old_swing = state.swing[3:].copy()
    gravity = body[BODY_GRAVITY : BODY_GRAVITY + 3].copy()
    for axis in range(3):
        body[BODY_GRAVITY + axis] = gravity[axis] - state.base[6 + axis]
    matrix = rotation_matrix(state.pose)
    for _ in range(2):
        state.twist[:] = mean_twist
        coordinates_and_rates(legs, state.pose, state.twist, state.coordinates, state.rates)
        for n in range(count):
            mean = 0.5 * (old_speed[n] + new_speed[n])
            slip = faults.slip[n] if time > faults.slip_begin[n] else 0.0
            lead = 1.0 + drives.lead_error[n]
            stretch = start[n] + lead * (state.motor[n] - start[n]) - slip - state.coordinates[n]
            rate = lead * mean - state.rates[n]
            state.leg_force[n] = transmission_force(drives, n, stretch, rate)
            factor = friction_factor(world, faults, n, time)
            new_speed[n] = motor_speed(drives, world, state, n, mean, h, factor)
        state.wrench[:] = 0.0
        arm = matrix @ world.cable_point
        cable_offset = state.pose[:3] + arm - world.cable_anchor
        force = world.cable_force - world.cable_stiffness * cable_offset
        state.wrench[:3] += force
        state.wrench[3:] += np.cross(arm, force)
        if world.swinging_mass > 0.0:
            acceleration = add_swing(world, state, matrix, h)
            acceleration += body[BODY_GRAVITY : BODY_GRAVITY + 3]
            state.swing[3:] = old_swing + h * acceleration
        middle = platform_state(state.pose, state.twist)
        forward_dynamics(
            body, legs, middle, np.zeros(0), state.leg_force, state.wrench, state.acceleration, work
        )
        for k in range(6):
            mean_twist[k] = old_twist[k] + 0.5 * h * state.acceleration[k]
    if world.friction_law == LUGRE_LAW:
        update_bristles(drives, world, faults, state, new_speed, time, h)
    state.speed[:] = new_speed
    for k in range(6):
        state.twist[k] = old_twist[k] + h * state.acceleration[k]
    if world.base_mass > 0.0:
        accelerate_base(world, state, h)
    body[BODY_GRAVITY : BODY_GRAVITY + 3] = gravity


@allocating
def update_effort(
    drives: Drives, state: State, n: int, command: float, mode: int, h: float
) -> None:
    """Move the effort of motor `n` towards what the command and the drive's loop ask for."""
    resolution = drives.effort_resolution[n] if mode == FORCE_MODE else drives.speed_resolution[n]
    target_effort = resolution * round(command / resolution) if resolution > 0.0 else command
    if mode == SPEED_MODE:
        error = target_effort - 1.5 * state.speed[n] + 0.5 * state.last_speed[n]
        half = 0.5 * h * drives.integral_gain[n] * error
        target_effort = drives.gain[n] * error + state.integral[n] + half
        state.integral[n] += 2.0 * half
        state.last_speed[n] = state.speed[n]
    limit = drives.peak[n]
    target_effort = min(max(target_effort, -limit), limit)
    decay = exp(-h / drives.lag[n]) if drives.lag[n] > 0.0 else 0.0
    old_effort = state.effort[n]
    state.effort[n] = target_effort + decay * (old_effort - target_effort)
    mean_decay = (1.0 - decay) * drives.lag[n] / h
    state.mean_effort[n] = target_effort + mean_decay * (old_effort - target_effort)


@allocating
def control_command(
    control: Control, k: int, n: int, reading: float, rate: float, integral: float
) -> float:
    """Return the command of leg `n` at sample `k`, from its reading and its filtered rate."""
    error = control.reference[k, n] - reading
    rate_error = control.reference_rate[k, n] - rate
    command = control.gain[n] * error + control.rate_gain[n] * rate_error + integral
    return float(control.feedforward[k, n] + command)


@compiled
def run(
    bodies: FloatArray,
    legs: Legs,
    drives: Drives,
    world: Surroundings,
    faults: Faults,
    control: Control,
    state: State,
    times: Times,
    records: Records,
) -> int:
    """Move the plant under its controller; return the first sample that fails, or -1.

    Args:
        bodies: `(2, BODY_SIZE)` platform body before and after it loses a mass.
        legs: constants of the legs.
        drives: drives of the machine.
        world: surroundings that the machine's file does not describe.
        faults: faults that begin during the run.
        control: reference and gains.
        state: state of rest at the beginning; written to.
        times: step and samples.
        records: written to.
    """
    work = make_work(legs)
    samples, count = control.reference.shape
    h = times.step
    queue = np.zeros((times.delay_steps + 1, count))
    if control.mode == FORCE_MODE:
        queue[:] = state.effort
    start, integral = state.motor.copy(), np.zeros(count)
    last_reading, rate, constant = state.motor.copy(), np.zeros(count), drives.motor_constant.copy()
    period, slot = h * times.steps_per_sample, 0
    for k in range(samples):
        time = k * period
        for n in range(count):
            reading = state.motor[n] + control.noise[k, n]
            if control.resolution > 0.0:
                reading = control.resolution * round(reading / control.resolution)
            if time >= faults.frozen_begin[n] and k > 0:
                reading = last_reading[n]
            rate[n] += control.filter_fraction * ((reading - last_reading[n]) / period - rate[n])
            last_reading[n] = reading
            integral[n] += period * control.integral_gain[n] * (control.reference[k, n] - reading)
            records.measured[k, n] = reading
            records.command[k, n] = control_command(control, k, n, reading, rate[n], integral[n])
            records.motor_force[k, n] = state.effort[n]
            if time >= faults.weak_begin[n]:
                drives.motor_constant[n] = constant[n] * faults.weak_factor[n]
        records.pose[k] = state.pose
        body = bodies[1] if time >= faults.lost_begin else bodies[0]
        for substep in range(times.steps_per_sample):
            for n in range(count):
                queue[slot, n] = records.command[k, n]
            slot = (slot + 1) % queue.shape[0]
            for n in range(count):
                update_effort(drives, state, n, queue[slot, n], control.mode, h)
            drift(state, 0.5 * h)
            middle_time = time + (substep + 0.5) * h
            kick(body, legs, drives, world, faults, state, start, middle_time, h, work)
            drift(state, 0.5 * h)
        if not np.abs(state.twist).max() < MAX_SPEED:
            return k
    drives.motor_constant[:] = constant
    return -1
