"""The rolling ball against Newton's and Euler's laws, solved in the base frame with the constraint.

The equations here hold the laws themselves: nine unknowns, acceleration, angular acceleration and
the force of the plate. No term of Coriolis or of the centrifugal force is written down, and no
factor 5/7: they are to come out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, cross_matrix
from twin.engines import make_engine
from twin.envs.ball_balance import BallBalanceEnv
from twin.errors import MissingDependencyError
from twin.model.ball import Ball, ball_for, rolling
from twin.validation.case import Entry, Measure
from twin.validation.cases.environments.cueing import (
    Instant,
    closeness,
    column,
    observation_error,
    observation_measure,
    reward_error,
    reward_measure,
    run_episode,
    smoothness,
)
from twin.validation.measures.comparison import ENGINE_LABELS, missing
from twin.validation.measures.sampling import largest, rotation_of

GRAVITY = np.array([0.0, 0.0, -9.81])
"""[m/s2] Gravity in the base frame."""

ROLLING_RESISTANCE = 0.02
"""Coefficient of rolling resistance: large, so that an error of half of it would be noticed."""

MOTION_COUNT = 10
"""Number of random motions of plate and ball."""

SLOWEST_SPIN = 20.0
"""[rad/s] Smallest spin of the ball along the plate in the random motions."""

SMOOTH_SPEED = 1e-3
"""[m/s] Speed below which rolling resistance is smoothed; docs/theory.md."""

ENGINE_TIMESTEP = 1e-3
"""[s] Time step of the engines."""

STEP_COUNT = 40
"""Number of steps of the engines."""

PLATE_TWIST = (0.1, -0.05, 0.0, 0.3, -0.2, 0.8)
"""[m/s], [rad/s] Initial twist of the platform, projected onto the machine's freedom of motion."""

START_STATE = (0.3, -0.2, 0.1, 0.4)
"""Initial position and velocity of the ball on the plate, in plate radii (per second)."""

SPLINE_DEGREE = 5
"""Degree of the splines through the engines' record of the platform."""

START_TILT = (0.08, -0.06, 0.0)
"""[rad] Initial rotation vector of the platform, projected onto the machine's freedom of motion."""

RUN_DURATION = ENGINE_TIMESTEP * STEP_COUNT
"""[s] Duration of the engines' runs."""

SLOWEST_ROLL = 0.03
"""[m/s] Smallest speed of the ball relative to the plate in the engines' runs."""

CONTACT_TIME = 2.0 * ENGINE_TIMESTEP
"""[s] Time constant of contacts in MuJoCo, that of its loops."""

MAX_PENETRATION = 1e-5
"""[m] Largest distance that a ball may sink into the plate in the engines."""

TILT_ACTIONS = (1.0, -0.5)
"""Actions that tilt the plate of the environment."""

TILT_PERIODS = 5
"""Number of control periods in which these actions are applied."""

STEADY_PERIOD = 20
"""Control period from which on the plate counts as being at rest."""

EPISODE_PERIODS = 36
"""Number of control periods of the episode."""

EPISODE_DURATION = 0.01 * EPISODE_PERIODS
"""[s] Duration of the episode, with the default control period of 10 ms."""

SETTLING_TIME = 6e-3
"""[s] Time in which velocity loops reach their command; Stewart thesis, section 4.3.1.1."""

ROLLING_START = (0.2, -0.2, -1.0, 1.5)
"""Initial position and velocity of the ball in the environment, in plate radii (per second)."""


class Plate(NamedTuple):
    """Motion of the plate: rotation matrix, twist and acceleration of the reference point."""

    rotation: FloatArray
    """`(3, 3)` rotation from plate axes to base axes"""
    twist: FloatArray
    """`(6,)` [m/s], [rad/s]"""
    acceleration: FloatArray
    """`(6,)` [m/s2], [rad/s2]"""


class Laws(NamedTuple):
    """Motion of a ball and the force on it by the laws of mechanics, base axes."""

    acceleration: FloatArray
    """`(3,)` acceleration of the centre [m/s2]"""
    angular_acceleration: FloatArray
    """`(3,)` angular acceleration [rad/s2]"""
    force: FloatArray
    """`(3,)` force of the plate on the ball [N]"""


def laws(ball: Ball, plate: Plate, arm: FloatArray, motion: FloatArray) -> Laws:
    """Return what Newton, Euler and rolling without slip give for a ball on a moving plate.

    m a - F = m g;  k m r^2 dW/dt + r n x F = M;  and the velocity of the ball's lowest point less
    that of the plate there, v - r W x n - V - w x (arm - r n), stays zero: its derivative is zero.

    Args:
        ball: its numbers; M is rolling resistance, -b N r along the spin against the plate, with N
            the weight across the plate.
        plate: its motion.
        arm: `(3,)` [m] from the platform's reference point to the ball's centre, base axes.
        motion: `(6,)` velocity of the centre [m/s] and angular velocity [rad/s], base axes.
    """
    # Column 2 of the rotation matrix is the plate's normal in base axes.
    normal, radius, mass = plate.rotation[:, 2], ball.radius, ball.mass
    omega, alpha = plate.twist[3:], plate.acceleration[3:]
    contact_arm = -radius * normal
    relative = motion[3:] - omega
    rolling_spin = relative - (relative @ normal) * normal
    rolling_rate = np.linalg.norm(rolling_spin)
    moment = np.zeros(3)
    if rolling_rate > 0.0:
        normal_force = -mass * GRAVITY @ normal
        moment = -ball.rolling_resistance * normal_force * radius * rolling_spin / rolling_rate
    matrix, right_side, identity = np.zeros((9, 9)), np.zeros(9), np.eye(3)
    matrix[:3, :3], matrix[:3, 6:], right_side[:3] = mass * identity, -identity, mass * GRAVITY
    matrix[3:6, 3:6] = ball.inertia_factor * mass * radius**2 * identity
    matrix[3:6, 6:], right_side[3:6] = -cross_matrix(contact_arm), moment
    # d/dt of W x c, c the contact arm: dW/dt x c + W x (w x c).
    matrix[6:, :3], matrix[6:, 3:6] = identity, -cross_matrix(contact_arm)
    contact_arm_rate = np.cross(omega, contact_arm)
    contact_rate = motion[:3] + contact_arm_rate - plate.twist[:3]
    right_side[6:] = (
        plate.acceleration[:3]
        + np.cross(alpha, arm + contact_arm)
        + np.cross(omega, contact_rate)
        - np.cross(motion[3:], contact_arm_rate)
    )
    solution = np.asarray(np.linalg.solve(matrix, right_side), dtype=np.float64)
    return Laws(solution[:3], solution[3:6], solution[6:])


def at_rest(rotation: FloatArray, rate: float = 0.0) -> Plate:
    """Return a plate that is still, or turns about the vertical at a rate [rad/s]."""
    return Plate(rotation, np.array([0.0, 0.0, 0.0, 0.0, 0.0, rate]), np.zeros(6))


def by_equations(
    ball: Ball, plate: Plate, ball_position: FloatArray, spin: FloatArray
) -> tuple[Any, FloatArray]:
    """Return what the equations of docs/theory.md give, and the arm `(3,)` to the ball's centre.

    The platform's reference point is at the origin; the position is on the plate, the spin in base
    axes.
    """
    quaternion = Rotation.from_matrix(plate.rotation).as_quat(scalar_first=True)
    pose = np.concatenate([np.zeros(3), quaternion])
    # After place and spin: the quaternion of the ball, and zeros, as it does not fly.
    state = np.concatenate([ball_position, spin, [1.0, 0.0, 0.0, 0.0], np.zeros(8)])
    arm = plate.rotation @ [*ball_position, ball.plate_height + ball.radius]
    return rolling(ball, state, pose, plate.twist, plate.acceleration, GRAVITY), arm


def equations(platform: Platform) -> Iterator[Measure]:
    """Yield closed forms of the incline and the turntable, and the laws in random motion."""
    ball = replace(ball_for(platform.parameters), rolling_resistance=ROLLING_RESISTANCE)
    tilt, speed = 0.1, 0.5
    plate_motion = at_rest(Rotation.from_rotvec([0.0, tilt, 0.0]).as_matrix())
    spin = speed / ball.radius * plate_motion.rotation[:, 1]
    motion, _ = by_equations(ball, plate_motion, np.zeros(2), spin)
    downhill_acceleration = plate_motion.rotation[:, 0] @ (motion.force / ball.mass + GRAVITY)
    expected = 5.0 / 7.0 * 9.81 * (np.sin(tilt) - ROLLING_RESISTANCE * np.cos(tilt))
    missing_fraction = 0.5 * (SMOOTH_SPEED / speed) ** 2
    yield Measure(
        "ball on an incline: acceleration against 5/7 g (sin - b cos)",
        abs(downhill_acceleration / expected - 1.0),
        2.0 * missing_fraction * ROLLING_RESISTANCE / (np.tan(tilt) - ROLLING_RESISTANCE),
        "solid sphere, coefficient b of rolling resistance, which is smoothed below 1 mm/s: at "
        "0.5 m/s it lacks 2e-6",
    )
    frictionless = replace(ball, rolling_resistance=0.0)
    table_rate, velocity = 3.0, np.array([0.2, -0.3, 0.0])
    plate_motion = at_rest(np.eye(3), table_rate)
    position = np.array([0.1, 0.05])
    relative = velocity - np.cross(plate_motion.twist[3:], [*position, 0.0])
    spin = np.array([-relative[1], relative[0], 0.0]) / ball.radius + plate_motion.twist[3:]
    motion, _ = by_equations(frictionless, plate_motion, position, spin)
    centripetal = 2.0 / 7.0 * np.cross(plate_motion.twist[3:], velocity)
    yield Measure(
        "ball on a turntable: acceleration against 2/7 of its rate times the velocity",
        largest(motion.force / ball.mass + GRAVITY - centripetal)
        / float(np.linalg.norm(centripetal)),
        1e-12,
        "circles in the base frame at 2/7 of the rate of the turntable; rounding",
    )
    yield Measure(
        f"ball on a plate in {MOTION_COUNT} random motions: accelerations against Newton and Euler",
        largest([_law_error(ball, np.random.default_rng(seed)) for seed in range(MOTION_COUNT)]),
        (SMOOTH_SPEED / (SLOWEST_SPIN * ball.radius)) ** 2 * ROLLING_RESISTANCE,
        "force and angular acceleration, per weight; the smoothing of rolling resistance below "
        "1 mm/s",
    )


def _law_error(ball: Ball, generator: np.random.Generator) -> float:
    """Return the largest difference from the laws in one random motion, per weight of the ball."""
    plate = Plate(
        Rotation.from_rotvec(generator.uniform(-0.3, 0.3, 3)).as_matrix(),
        generator.uniform(-1.0, 1.0, 6),
        generator.uniform(-2.0, 2.0, 6),
    )
    angle, normal_spin = generator.uniform(0.0, 2.0 * np.pi), generator.uniform(-5.0, 5.0)
    rolling_rate = generator.uniform(SLOWEST_SPIN, 2.0 * SLOWEST_SPIN)
    relative = plate.rotation @ [
        rolling_rate * np.cos(angle),
        rolling_rate * np.sin(angle),
        normal_spin,
    ]
    spin = relative + plate.twist[3:]
    motion, arm = by_equations(ball, plate, generator.uniform(-0.1, 0.1, 2), spin)
    contact_arm = -ball.radius * plate.rotation[:, 2]
    plate_velocity = plate.twist[:3] + np.cross(plate.twist[3:], arm + contact_arm)
    velocity = plate_velocity - np.cross(spin, contact_arm)
    exact = laws(ball, plate, arm, np.concatenate([velocity, spin]))
    gravity = -float(GRAVITY[2])
    angular_error = (
        ball.radius
        * ball.inertia_factor
        * (motion.rate[2:5] - exact.angular_acceleration)
        / gravity
    )
    return largest([*(motion.force - exact.force) / (ball.mass * gravity), *angular_error])


class Record(NamedTuple):
    """Motion of platform and ball in an engine, one row per step."""

    pose: FloatArray
    """`(k, 7)`"""
    twist: FloatArray
    """`(k, 6)`"""
    ball: FloatArray
    """`(k, 13)` pose and twist"""


def engine_record(platform: Platform, ball: Ball, name: str) -> Record:
    """Return a short run of ball and platform, which turns and tilts under constant forces."""
    engine = make_engine(
        name, platform, ENGINE_TIMESTEP, "fast" if name == "analytic" else "accurate", ball=ball
    )
    attitude = Rotation.from_rotvec(START_TILT) * rotation_of(platform.home)
    tilted_pose = np.concatenate([platform.home[:3], attitude.as_quat(scalar_first=True)])
    home, twist, _ = platform.constrain(tilted_pose, PLATE_TWIST)
    ball_state = ball.plate_radius * np.array(START_STATE)
    weight = ball.mass * GRAVITY
    rotation = rotation_of(home).as_matrix()
    ball_position = rotation @ [*ball_state[:2], ball.plate_height]
    wrench = np.concatenate([weight, np.cross(ball_position, weight)])
    forces = platform.inverse_dynamics(home, np.zeros(6), np.zeros(6), wrench)
    states = [engine.reset(home, twist, ball=ball_state)]
    ball_states = [np.array(engine.ball)]
    for _ in range(STEP_COUNT):
        states.append(engine.step(forces))
        ball_states.append(np.array(engine.ball))
    engine.close()
    return Record(
        np.array([state.pose for state in states]),
        np.array([state.twist for state in states]),
        np.array(ball_states),
    )


def integrated(ball: Ball, record: Record) -> tuple[FloatArray, float]:
    """Return the final position `(3,)` [m] of a ball that the laws move along a recorded plate.

    The second value is the friction per mass [m/s2] that it needs at the start.
    """
    time = ENGINE_TIMESTEP * np.arange(len(record.pose))
    rotations = rotation_of(record.pose)
    rotation_vectors = (rotations * rotations[0].inv()).as_rotvec()
    position = make_interp_spline(time, record.pose[:, :3], SPLINE_DEGREE)
    attitude = make_interp_spline(time, rotation_vectors, SPLINE_DEGREE)
    twist = make_interp_spline(time, record.twist, SPLINE_DEGREE)
    acceleration = twist.derivative()

    def rate(time: float, state: FloatArray) -> FloatArray:
        rotation = (Rotation.from_rotvec(attitude(time)) * rotations[0]).as_matrix()
        plate = Plate(rotation, twist(time), acceleration(time))
        motion = laws(ball, plate, state[:3] - position(time), state[3:])
        return np.concatenate([state[3:6], motion.acceleration, motion.angular_acceleration])

    initial = np.concatenate([record.ball[0, :3], record.ball[0, 7:]])
    final_position = solve_ivp(rate, (0.0, time[-1]), initial, rtol=1e-9, atol=1e-11).y[:3, -1]
    plate = Plate(rotations[0].as_matrix(), record.twist[0], acceleration(0.0))
    force = laws(ball, plate, initial[:3] - record.pose[0, :3], initial[3:]).force
    normal = plate.rotation[:, 2]
    friction = float(np.linalg.norm(force - (force @ normal) * normal))
    return np.asarray(final_position), friction / ball.mass


def engines(platform: Platform) -> Iterator[Entry]:
    """Yield the distance of every engine's ball from one that the laws move on the same plate."""
    ball = replace(ball_for(platform.parameters), rolling_resistance=ROLLING_RESISTANCE)
    for name, label in (("analytic", "reference"), *ENGINE_LABELS.items()):
        try:
            record = engine_record(platform, ball, name)
        except MissingDependencyError as error:
            yield missing(f"ball, {label}", error)
            continue
        final_position, friction = integrated(ball, record)
        speed = float(np.linalg.norm(record.ball[0, 7:9]))
        if name == "analytic":
            # Half the acceleration that lacks, over T^2 / 2, with a factor of 2 to spare.
            tolerance = (
                0.5
                * ROLLING_RESISTANCE
                * 9.81
                * (SMOOTH_SPEED / SLOWEST_ROLL) ** 2
                * RUN_DURATION**2
            )
            reason = "rolling resistance is smoothed below 1 mm/s: at 30 mm/s it lacks 6e-4"
        else:
            tolerance = (
                friction * CONTACT_TIME * RUN_DURATION
                + MAX_PENETRATION / ball.radius * speed * RUN_DURATION
            )
            reason = (
                "the ball begins at no depth, and the contact, as stiff as the loops with 2 ms, "
                f"sets in as much late, and with it a friction of {friction:.2g} N/kg; and the "
                "ball sinks in by up to 1e-5 m, which makes its radius so much smaller"
            )
        position_error = final_position - record.ball[-1, :3]
        normal = rotation_of(record.pose[-1]).apply([0.0, 0.0, 1.0])
        yield Measure(
            f"ball, {label}: distance from the laws' ball after {1e3 * RUN_DURATION:g} ms on a "
            "turning plate",
            float(np.linalg.norm(position_error - (position_error @ normal) * normal)),
            tolerance,
            reason,
            "m",
        )


def environment(platform: Platform) -> Iterator[Measure]:
    """Yield observations, rewards and the ball's acceleration in twin/BallBalance-v0."""
    ball = replace(ball_for(platform.parameters), rolling_resistance=ROLLING_RESISTANCE)
    env = BallBalanceEnv(platform, ball=ball, target="circle")
    actions = np.zeros((EPISODE_PERIODS, 2))
    actions[:TILT_PERIODS] = TILT_ACTIONS
    instants = run_episode(env, actions, {"ball": ball.plate_radius * np.array(ROLLING_START)})
    yield observation_measure(
        "BallBalance",
        "poses of ball and platform in the base frame",
        _observation_error(platform, ball, env, instants, np.array(env.task.batch.ball[0])),
    )
    yield reward_measure("BallBalance", _reward_error(ball, env, instants[1:]))
    yield _tilt_measure(env, instants[-1])
    yield _held_plate(ball, instants)
    env.close()


def _observation_error(
    platform: Platform,
    ball: Ball,
    env: BallBalanceEnv,
    instants: list[Instant],
    ball_state: FloatArray,
) -> float:
    """Return the largest error of the observation at the last instant, relative to the scales.

    `ball_state` `(13,)` is pose and twist of the ball in the base frame at that instant.
    """
    final, previous = instants[-1], instants[-2]
    info = final.info
    attitude = rotation_of(info["pose"])
    arm = ball_state[:3] - info["pose"][:3]
    velocity = ball_state[7:10] - info["twist"][:3] - np.cross(info["twist"][3:], arm)
    position = attitude.inv().apply(arm)[:2]
    expected = {
        "target error": info["target"] - position,
        "ball position": position,
        "ball velocity": attitude.inv().apply(velocity)[:2],
        "slope": -attitude.as_matrix()[2, :2],
        "tilt rate": attitude.inv().apply(info["twist"][3:])[:2],
        "coordinate": platform.inverse_kinematics(info["pose"])
        - 0.5 * (platform.minimum_coordinates + platform.maximum_coordinates),
        "rate": platform.jacobian(info["pose"]) @ info["twist"],
        "displacement": env.task.actions[0].scale * TILT_PERIODS * np.array(TILT_ACTIONS),
        "last action": final.action,
        "target velocity": _target_velocity(env, previous, final),
    }
    return observation_error(env, final, expected)


def _target_velocity(env: BallBalanceEnv, previous: Instant, instant: Instant) -> FloatArray:
    """Return the target's velocity `(2,)` [m/s] from its positions in two periods."""
    # The target goes round the middle of the plate: its rate is the angle between two of them.
    before, target = previous.info["target"], instant.info["target"]
    angle = np.arctan2(before[0] * target[1] - before[1] * target[0], before @ target)
    return np.asarray(angle / env.task.settings.period * np.array([-target[1], target[0]]))


def _reward_error(ball: Ball, env: BallBalanceEnv, instants: list[Instant]) -> float:
    """Return the largest error of rewards after the first period."""
    weights = {"closeness": 1.0, "calmness": 0.1, "smoothness": 0.02, "loss": 10.0}
    radius, errors = ball.plate_radius, []
    for previous, instant in pairwise(instants):
        info, velocity = instant.info, _target_velocity(env, previous, instant)
        distance = float(np.linalg.norm(info["target"] - info["ball_position"]))
        speed = float(np.linalg.norm(info["ball_velocity"] - velocity))
        terms = np.array(
            [
                closeness(distance, 0.02 * radius, 2.0 * radius),
                -min((speed / (0.5 * radius)) ** 2, 1.0),
                smoothness(instant.action, previous.action),
                0.0,
            ]
        )
        errors.append(reward_error(env, instant, weights, terms))
    return largest(errors)


def _tilt_measure(env: BallBalanceEnv, last: Instant) -> Measure:
    """Return how far the plate is from the tilt that the increments of the actions add up to."""
    tilt_steps = env.task.actions[0].scale * np.array(TILT_ACTIONS)
    rotation = rotation_of(last.info["pose"]) * rotation_of(env.platform.home).inv()
    return Measure(
        "BallBalance: tilt of the plate against the increments of the actions",
        largest(rotation.as_rotvec()[:2] - TILT_PERIODS * tilt_steps),
        0.5 * SETTLING_TIME * largest(tilt_steps) / env.task.settings.period,
        "the drives settle within 6 ms and lag half of it while the plate tilts",
        "rad",
    )


def _held_plate(ball: Ball, instants: list[Instant]) -> Measure:
    """Return the error of the ball's change of velocity on the tilted plate, 5/7 of g sin."""
    steady = instants[STEADY_PERIOD:]
    period = EPISODE_DURATION / len(instants[1:])
    velocity, slope = column(steady, "ball_velocity"), column(steady, "slope")
    normal_component = np.sqrt(1.0 - (slope**2).sum(axis=1))[:, None]
    direction = velocity / np.linalg.norm(velocity, axis=1)[:, None]
    acceleration = 5.0 / 7.0 * 9.81 * (slope - ROLLING_RESISTANCE * normal_component * direction)
    velocity_change = period * (acceleration[1:] + acceleration[:-1]).sum(axis=0) / 2.0
    plate_velocities = []
    for instant in (steady[0], steady[-1]):
        attitude = rotation_of(instant.info["pose"])
        twist = instant.info["twist"]
        arm = attitude.apply([*instant.info["ball_position"], ball.plate_height])
        plate_velocities.append(attitude.inv().apply(twist[:3] + np.cross(twist[3:], arm))[:2])
    velocity_change = velocity_change - 5.0 / 7.0 * (plate_velocities[1] - plate_velocities[0])
    return Measure(
        "BallBalance: velocity gained on the tilted plate against 5/7 g sin, less resistance",
        largest(velocity[-1] - velocity[0] - velocity_change) / largest(velocity_change),
        1e-3,
        "the drives still turn the plate by up to 1e-4 rad/s under the ball: 2 w v with 0.4 m/s is "
        "4e-4 of the 0.2 m/s2",
    )


def ball_measures(platform: Platform) -> Iterator[Entry]:
    """Yield the measures of equations, engines and environment with a ball on one machine."""
    yield from equations(platform)
    yield from engines(platform)
    yield from environment(platform)
