"""The motion, the commands and the errors of twin/PoseTracking-v0 against their formulae."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, as_instance
from twin.envs.pose_tracking.environment import PoseTrackingEnv
from twin.envs.pose_tracking.task import PoseTracking
from twin.motion import MultiSineMotion
from twin.validation.cases.environments.cueing import (
    EPISODE_SEED,
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
from twin.validation.measures.sampling import largest
from twin.validation.results import Measure

CONTROL_PERIOD = 0.01
"""[s] Control period."""

PERIOD_COUNT = 40
"""Control periods of the motion."""

SETTLING_TIME = 6e-3
"""[s] Time in which velocity loops reach their command; Stewart thesis, section 4.3.1.1."""

PREVIEW_PERIODS = 3
"""Control periods of preview in the observation, the default."""

FADE_TIME = 0.25 * CONTROL_PERIOD * PERIOD_COUNT
"""[s] Time in which a random motion rises and returns: a quarter of so short a time."""

MAX_FREQUENCY = 6.0
"""[Hz] Highest frequency of the motion, so that it moves within its short time."""

ACTION_AMPLITUDE = 0.1
"""Amplitude of the random actions."""

FORCE_PERIODS = 10
"""Control periods under commanded forces."""

SAMPLES_PER_PART = 100
"""Samples in each part of the motion."""

SPLINE_DEGREE = 7
"""Degree of the splines through the samples."""

END_SAMPLES = 10
"""Samples at either end that are not compared, where a spline is less exact."""

REWARD_WEIGHTS = {"position": 0.5, "orientation": 0.5, "smoothness": 0.02, "economy": 0.0}
"""Weights of the reward's terms in the documentation."""


def smooth_step(part: FloatArray) -> FloatArray:
    """Return 6 u^5 - 15 u^4 + 10 u^3, with 0 before it and 1 after it."""
    u = np.clip(part, 0.0, 1.0)
    return np.asarray(6.0 * u**5 - 15.0 * u**4 + 10.0 * u**3)


def reference_poses(motion: MultiSineMotion, time: FloatArray) -> FloatArray:
    """Return the poses `(k, 7)` of a random motion: sines about home, faded in and out.

    Displacements along the base axes, then angles about fixed x, y and z.
    """
    angle = 2.0 * np.pi * time[:, None] * motion.frequencies
    sines = np.cos(angle) @ motion.cosines + np.sin(angle) @ motion.sines
    end = motion.duration
    window = smooth_step(time / FADE_TIME) * smooth_step((end - time) / FADE_TIME)
    axes = window[:, None] * sines
    home = Rotation.from_quat(motion.center[3:], scalar_first=True)
    turn = Rotation.from_euler("xyz", axes[:, 3:]) * home
    return np.hstack([motion.center[:3] + axes[:, :3], turn.as_quat(scalar_first=True)])


def tracking_measures(platform: Platform) -> Iterator[Measure]:
    """Yield the measures of motion, commands, observations and rewards on one machine."""
    env = PoseTrackingEnv(
        platform, duration=CONTROL_PERIOD * PERIOD_COUNT, highest_frequency=MAX_FREQUENCY
    )
    size = env.task.actions[0].size
    actions = ACTION_AMPLITUDE * np.random.default_rng(EPISODE_SEED).uniform(
        -1.0, 1.0, (PERIOD_COUNT, size)
    )
    commands: list[FloatArray] = []
    instants = run_episode(
        env, actions, each=lambda: commands.append(env.task.drive_commands[0].copy())
    )
    task = as_instance(env.task, "task", PoseTracking)
    motion = as_instance(task.motions[0], "motion", MultiSineMotion)
    time = CONTROL_PERIOD * np.arange(PERIOD_COUNT + PREVIEW_PERIODS + 2)
    poses = reference_poses(motion, np.minimum(time, motion.duration))
    twist = motion.sample(np.minimum(time, motion.duration)).twist
    if platform.dof < 6:
        poses, twist, _ = platform.constrain(poses, twist)
    table = platform.inverse_kinematics(poses)
    rates = (platform.jacobian(poses) @ twist[..., None])[..., 0]
    yield Measure(
        "PoseTracking: reference poses against the sum of the motion's sines",
        largest(column(instants, "reference_pose") - poses[: PERIOD_COUNT + 1]),
        1e-12,
        "rounding",
    )
    yield from _derivatives(motion)
    yield from _commanded(platform, task, instants, np.array(commands), table)
    yield observation_measure(
        "PoseTracking",
        "poses of platform and reference",
        _observed(platform, env, instants, table, rates),
    )
    yield reward_measure("PoseTracking", _rewarded(platform, instants, poses, env))
    env.close()
    yield from _pushed(platform)


def _derivatives(motion: MultiSineMotion) -> Iterator[Measure]:
    """Yield twist and acceleration of the motion against derivatives of its path."""
    errors, sizes = np.zeros((2, 2))
    for begin, end in pairwise((0.0, FADE_TIME, motion.duration - FADE_TIME, motion.duration)):
        time = np.linspace(begin, end, SAMPLES_PER_PART)
        sample, poses = motion.sample(time), reference_poses(motion, time)
        turn = Rotation.from_quat(poses[:, 3:], scalar_first=True).as_matrix()
        turning = make_interp_spline(time, turn, SPLINE_DEGREE).derivative()(time)
        spin = (turning @ np.swapaxes(turn, 1, 2))[:, [2, 0, 1], [1, 2, 0]]
        path = make_interp_spline(time, poses[:, :3], SPLINE_DEGREE)
        twist = np.hstack([path.derivative()(time), spin])
        acceleration = make_interp_spline(time, sample.twist, SPLINE_DEGREE).derivative()(time)
        pairs = ((sample.twist, twist), (sample.acceleration, acceleration))
        for k, (found, exact) in enumerate(pairs):
            errors[k] = np.maximum(errors[k], largest((found - exact)[END_SAMPLES:-END_SAMPLES]))
            sizes[k] = np.maximum(sizes[k], largest(exact))
    for name, error, size in zip(("velocity", "acceleration"), errors, sizes, strict=True):
        yield Measure(
            f"PoseTracking: {name} of the motion against the derivative of its "
            f"{'path' if name == 'velocity' else 'velocity'}, per largest",
            error / size,
            1e-7,
            "splines of degree 7 through samples 2 ms apart of motions of at most 70 rad/s, the "
            "fade's: (w T)^7 / 7 is 1e-7",
        )


def _commanded(
    platform: Platform,
    task: PoseTracking,
    instants: list[Instant],
    commands: FloatArray,
    table: FloatArray,
) -> Iterator[Measure]:
    """Yield commanded speeds against their formula, and the actuators' speeds against them.

    `commands` `(k, n)` [m/s] are those of the periods, `table` the reference's coordinates.
    """
    coordinates = platform.inverse_kinematics(column(instants, "pose"))
    actions = np.array([instant.action for instant in instants[1:]])
    reference = table[: PERIOD_COUNT + 1]
    expected = np.diff(reference, axis=0) / CONTROL_PERIOD + task.actions[0].scale * actions
    expected += task.acting.law.gain * (reference[:-1] - coordinates[:-1])
    scale = largest(expected)
    yield Measure(
        "PoseTracking: commanded speeds against feedforward, position loop and actions",
        largest(commands - expected) / scale,
        1e-9,
        "rounding of coordinates of 1 m, divided by a period of 10 ms",
    )
    off = np.diff(coordinates, axis=0) / CONTROL_PERIOD - expected
    yield Measure(
        "PoseTracking: mean speeds of the actuators against the commanded ones, per largest change",
        largest(off) / largest(np.diff(expected, axis=0)),
        0.5 * SETTLING_TIME / CONTROL_PERIOD,
        "velocity loops that settle within 6 ms, as the thesis specifies, lose half of that time "
        "in each period of 10 ms",
    )


def _observed(
    platform: Platform,
    env: PoseTrackingEnv,
    instants: list[Instant],
    table: FloatArray,
    rates: FloatArray,
) -> float:
    """Return the largest error of observations, relative to their scales.

    `table` `(k, n)` and `rates` are the reference's coordinates and their rates.
    """
    middle = 0.5 * (platform.minimum_coordinates + platform.maximum_coordinates)
    speeds = np.diff(table, axis=0) / CONTROL_PERIOD
    changes = np.diff(speeds, axis=0)
    fade, total, errors = np.exp(-CONTROL_PERIOD / 1.0), np.zeros(platform.n_actuators), []
    for k, instant in enumerate(instants):
        pose, twist = instant.info["pose"], instant.info["twist"]
        coordinate = platform.inverse_kinematics(pose)
        off = table[k] - coordinate
        total = fade * total + CONTROL_PERIOD * off if k else total
        expected = {
            "coordinate error": off,
            "accumulated error": total,
            "coordinate": coordinate - middle,
            "rate error": rates[k] - platform.jacobian(pose) @ twist,
            "rate": platform.jacobian(pose) @ twist,
            "reference rate": speeds[k],
            "last action": instant.action,
        }
        for ahead in range(1, PREVIEW_PERIODS + 1):
            expected[f"reference change {ahead}"] = changes[k + ahead - 1]
        errors.append(observation_error(env, instant, expected))
    return largest(errors)


def _rewarded(
    platform: Platform, instants: list[Instant], poses: FloatArray, env: PoseTrackingEnv
) -> float:
    """Return the largest error of rewards and of the errors in `info`."""
    half = float(0.5 * (platform.maximum_coordinates - platform.minimum_coordinates).max())
    radius = float(np.linalg.norm(platform.platform_joints, axis=1).mean())
    rest, limit, errors = np.zeros(6), getattr(platform.parameters.leg.actuator, "force", None), []
    if limit is None:
        limit = 2.0 * largest(platform.inverse_dynamics(platform.home, rest, rest))
    for k in range(1, len(instants)):
        info = instants[k].info
        away = poses[k, :3] - info["pose"][:3]
        platform_turn, turn = (
            Rotation.from_quat(quaternion, scalar_first=True)
            for quaternion in (info["pose"][3:], poses[k, 3:])
        )
        turned = (turn * platform_turn.inv()).as_rotvec()
        terms = np.array(
            [
                closeness(float(np.linalg.norm(away)), 1e-3 * half, 0.5 * half),
                closeness(float(np.linalg.norm(turned)), 1e-3 * half / radius, 0.3),
                smoothness(instants[k].action, instants[k - 1].action),
                -float(np.mean((info["forces"] / limit) ** 2)),
            ]
        )
        errors.append(reward_error(env, instants[k], REWARD_WEIGHTS, terms))
        errors.append(largest(info["position_error"] - away))
        errors.append(largest(info["orientation_error"] - turned))
    return largest(errors)


def _pushed(platform: Platform) -> Iterator[Measure]:
    """Yield work and motion under commanded forces in the environment."""
    env = PoseTrackingEnv(platform, action="forces", duration=CONTROL_PERIOD * PERIOD_COUNT)
    size, scale = platform.n_actuators, env.task.actions[0].scale
    actions = ACTION_AMPLITUDE * np.random.default_rng(EPISODE_SEED).uniform(
        -1.0, 1.0, (FORCE_PERIODS, size)
    )
    instants = run_episode(env, actions)
    env.close()
    rest = np.zeros(6)
    forces = platform.inverse_dynamics(platform.home, rest, rest) + scale * actions
    pose, twist = column(instants, "pose"), column(instants, "twist")
    way = np.diff(platform.inverse_kinematics(pose), axis=0)
    kinetic, potential = platform.energy(pose, twist)
    gained = float(kinetic[-1] + potential[-1] - kinetic[0] - potential[0])
    yield Measure(
        "PoseTracking: work of the commanded forces against the energy that the machine gains",
        abs(float((forces * way).sum()) - gained) / float(np.abs(forces * way).sum()),
        1e-10,
        "forces are constant within a period; Runge-Kutta steps of 1 ms keep energy to 1e-10",
    )

    def rate(_: float, state: FloatArray, push: FloatArray) -> FloatArray:
        place = np.concatenate([state[:3], state[3:7] / np.linalg.norm(state[3:7])])
        spin = state[10:13]
        w, u = state[3], state[4:7]
        turning = np.concatenate([[-spin @ u], w * spin + np.cross(spin, u)])
        closed = platform.constrain(place, state[7:13])
        found = platform.forward_dynamics(closed.pose, closed.twist, push)
        return np.concatenate([state[7:10], 0.5 * turning, found])

    state = np.concatenate([pose[0], twist[0]])
    for push in forces:
        state = solve_ivp(
            rate, (0.0, CONTROL_PERIOD), state, "DOP853", rtol=1e-10, atol=1e-12, args=(push,)
        ).y[:, -1]
    moved = largest(pose[-1, :3] - pose[0, :3])
    yield Measure(
        f"PoseTracking: path after {FORCE_PERIODS} periods of commanded forces against scipy's "
        "integration, relative to the distance",
        largest(state[:3] - pose[-1, :3]) / moved,
        1e-8,
        "Runge-Kutta steps of 1 ms of motions slower than 10 rad/s: (w T)^4",
    )
