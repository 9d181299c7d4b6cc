"""Environments against independent simulations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, pairwise

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, as_instance
from twin.envs.pose_tracking.environment import PoseTrackingEnv
from twin.envs.pose_tracking.task import PoseTracking
from twin.model.machine_base import ZERO_VECTOR
from twin.motion import MultiSineMotion
from twin.validation.case import CaseResult, Entry, Measure, validation_case
from twin.validation.cases.environments.ball import ball_measures
from twin.validation.cases.environments.cueing import (
    EPISODE_SEED,
    Instant,
    car_measures,
    closeness,
    column,
    cueing_measures,
    observation_error,
    observation_measure,
    reward_error,
    reward_measure,
    run_episode,
    smooth_step,
    smoothness,
)
from twin.validation.cases.environments.shaking import shaking_measures
from twin.validation.measures.sampling import largest, rotation_of

CONTROL_PERIOD = 0.01
"""[s] Control period."""

PERIOD_COUNT = 40
"""Number of control periods of the motion."""

SETTLING_TIME = 6e-3
"""[s] Time in which velocity loops reach their command; Stewart thesis, section 4.3.1.1."""

PREVIEW_PERIODS = 3
"""Number of control periods of preview in the observation, the default."""

FADE_TIME = 0.25 * CONTROL_PERIOD * PERIOD_COUNT
"""[s] Time in which a random motion fades in, and out: a quarter of so short a duration."""

MAX_FREQUENCY = 6.0
"""[Hz] Highest frequency of the motion, high enough for some periods within its short duration."""

ACTION_AMPLITUDE = 0.1
"""Amplitude of the random actions."""

FORCE_PERIODS = 10
"""Number of control periods under commanded forces."""

SAMPLES_PER_PART = 100
"""Number of samples in each part of the motion: fade-in, middle, fade-out."""

SPLINE_DEGREE = 7
"""Degree of the splines through the samples."""

END_SAMPLES = 10
"""Samples at either end that are not compared, where a spline is less exact."""

REWARD_WEIGHTS = {"position": 0.5, "orientation": 0.5, "smoothness": 0.02, "economy": 0.0}
"""Weights of the reward's terms in the documentation."""


def reference_poses(motion: MultiSineMotion, time: FloatArray) -> FloatArray:
    """Return the poses `(k, 7)` of a random motion: sines about home, faded in and out.

    Displacements along the base axes, then angles about fixed x, y and z.
    """
    angle = 2.0 * np.pi * time[:, None] * motion.frequencies
    sine_sums = np.cos(angle) @ motion.cosines + np.sin(angle) @ motion.sines
    window = smooth_step(time / FADE_TIME) * smooth_step((motion.duration - time) / FADE_TIME)
    axis_values = window[:, None] * sine_sums
    attitude = Rotation.from_euler("xyz", axis_values[:, 3:]) * rotation_of(motion.center)
    return np.hstack([motion.center[:3] + axis_values[:, :3], attitude.as_quat(scalar_first=True)])


def tracking_measures(platform: Platform) -> Iterator[Measure]:
    """Yield the measures of motion, commands, observations and rewards on one machine."""
    env = PoseTrackingEnv(
        platform, duration=CONTROL_PERIOD * PERIOD_COUNT, highest_frequency=MAX_FREQUENCY
    )
    actions = ACTION_AMPLITUDE * np.random.default_rng(EPISODE_SEED).uniform(
        -1.0, 1.0, (PERIOD_COUNT, env.task.actions[0].size)
    )
    commands: list[FloatArray] = []
    instants = run_episode(
        env, actions, after_step=lambda: commands.append(env.task.drive_commands[0].copy())
    )
    task = as_instance(env.task, "task", PoseTracking)
    motion = as_instance(task.motions[0], "motion", MultiSineMotion)
    time = CONTROL_PERIOD * np.arange(PERIOD_COUNT + PREVIEW_PERIODS + 2)
    poses = reference_poses(motion, np.minimum(time, motion.duration))
    twist = motion.sample(np.minimum(time, motion.duration)).twist
    if platform.dof < 6:
        poses, twist, _ = platform.constrain(poses, twist)
    reference_coordinates = platform.inverse_kinematics(poses)
    reference_rates = (platform.jacobian(poses) @ twist[..., None])[..., 0]
    yield Measure(
        "PoseTracking: reference poses against the sum of the motion's sines",
        largest(column(instants, "reference_pose") - poses[: PERIOD_COUNT + 1]),
        1e-12,
        "rounding",
    )
    yield from _derivatives(motion)
    yield from _command_measures(
        platform, task, instants, np.array(commands), reference_coordinates
    )
    yield observation_measure(
        "PoseTracking",
        "poses of platform and reference",
        _observation_error(platform, env, instants, reference_coordinates, reference_rates),
    )
    yield reward_measure("PoseTracking", _reward_error(platform, instants, poses, env))
    env.close()
    yield from _force_measures(platform)


def _derivatives(motion: MultiSineMotion) -> Iterator[Measure]:
    """Yield twist and acceleration of the motion against derivatives of its path."""
    errors, sizes = np.zeros((2, 2))
    for begin, end in pairwise((0.0, FADE_TIME, motion.duration - FADE_TIME, motion.duration)):
        time = np.linspace(begin, end, SAMPLES_PER_PART)
        sample, poses = motion.sample(time), reference_poses(motion, time)
        rotation = rotation_of(poses).as_matrix()
        rotation_rate = make_interp_spline(time, rotation, SPLINE_DEGREE).derivative()(time)
        # dR/dt R^T is the skew matrix of omega: its entries (z, y), (x, z), (y, x).
        angular_velocity = (rotation_rate @ np.swapaxes(rotation, 1, 2))[:, [2, 0, 1], [1, 2, 0]]
        position_spline = make_interp_spline(time, poses[:, :3], SPLINE_DEGREE)
        twist = np.hstack([position_spline.derivative()(time), angular_velocity])
        acceleration = make_interp_spline(time, sample.twist, SPLINE_DEGREE).derivative()(time)
        pairs = ((sample.twist, twist), (sample.acceleration, acceleration))
        for k, (computed, exact) in enumerate(pairs):
            errors[k] = np.maximum(errors[k], largest((computed - exact)[END_SAMPLES:-END_SAMPLES]))
            sizes[k] = np.maximum(sizes[k], largest(exact))
    for name, error, size in zip(("velocity", "acceleration"), errors, sizes, strict=True):
        yield Measure(
            f"PoseTracking: {name} of the motion against the derivative of its "
            f"{'path' if name == 'velocity' else 'velocity'}, per largest",
            error / size,
            3e-9,
            "splines of degree 7 through samples 2 ms apart of sines of at most 38 rad/s, and 1 ms "
            "apart where fading adds 32 rad/s: (w T)^7 / 7 is 2e-9",
        )


def _command_measures(
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
    yield Measure(
        "PoseTracking: commanded speeds against feedforward, position loop and actions",
        largest(commands - expected) / largest(expected),
        1e-9,
        "rounding of coordinates of 1 m, divided by a period of 10 ms",
    )
    speed_error = np.diff(coordinates, axis=0) / CONTROL_PERIOD - expected
    yield Measure(
        "PoseTracking: mean speeds of the actuators against the commanded ones, per largest change",
        largest(speed_error) / largest(np.diff(expected, axis=0)),
        0.5 * SETTLING_TIME / CONTROL_PERIOD,
        "velocity loops that settle within 6 ms, as the thesis specifies, lose half of that time "
        "in each period of 10 ms",
    )


def _observation_error(
    platform: Platform,
    env: PoseTrackingEnv,
    instants: list[Instant],
    table: FloatArray,
    rates: FloatArray,
) -> float:
    """Return the largest error of observations, relative to their scales.

    `table` `(k, n)` and `rates` are the reference's coordinates and their rates.
    """
    middle_coordinates = 0.5 * (platform.minimum_coordinates + platform.maximum_coordinates)
    reference_rates = np.diff(table, axis=0) / CONTROL_PERIOD
    rate_changes = np.diff(reference_rates, axis=0)
    # The accumulated error is a leaky integral with a time constant of 1 s.
    decay, accumulated, errors = np.exp(-CONTROL_PERIOD / 1.0), np.zeros(platform.n_actuators), []
    for k, instant in enumerate(instants):
        pose, twist = instant.info["pose"], instant.info["twist"]
        coordinate = platform.inverse_kinematics(pose)
        coordinate_error = table[k] - coordinate
        accumulated = decay * accumulated + CONTROL_PERIOD * coordinate_error if k else accumulated
        expected = {
            "coordinate error": coordinate_error,
            "accumulated error": accumulated,
            "coordinate": coordinate - middle_coordinates,
            "rate error": rates[k] - platform.jacobian(pose) @ twist,
            "rate": platform.jacobian(pose) @ twist,
            "reference rate": reference_rates[k],
            "last action": instant.action,
        }
        for preview in range(1, PREVIEW_PERIODS + 1):
            expected[f"reference change {preview}"] = rate_changes[k + preview - 1]
        errors.append(observation_error(env, instant, expected))
    return largest(errors)


def _reward_error(
    platform: Platform, instants: list[Instant], poses: FloatArray, env: PoseTrackingEnv
) -> float:
    """Return the largest error of rewards and of the errors in `info`."""
    half_stroke = float(0.5 * platform.stroke.max())
    radius, errors = platform.joint_radius, []
    limit = getattr(platform.parameters.leg.actuator, "force", None)
    if limit is None:
        limit = 2.0 * largest(platform.inverse_dynamics(platform.home, ZERO_VECTOR, ZERO_VECTOR))
    for k in range(1, len(instants)):
        info = instants[k].info
        position_error = poses[k, :3] - info["pose"][:3]
        orientation_error = (rotation_of(poses[k]) * rotation_of(info["pose"]).inv()).as_rotvec()
        terms = np.array(
            [
                closeness(
                    float(np.linalg.norm(position_error)), 1e-3 * half_stroke, 0.5 * half_stroke
                ),
                closeness(
                    float(np.linalg.norm(orientation_error)), 1e-3 * half_stroke / radius, 0.3
                ),
                smoothness(instants[k].action, instants[k - 1].action),
                -float(np.mean((info["forces"] / limit) ** 2)),
            ]
        )
        errors.append(reward_error(env, instants[k], REWARD_WEIGHTS, terms))
        errors += [*(info["position_error"] - position_error)]
        errors += [*(info["orientation_error"] - orientation_error)]
    return largest(errors)


def _force_measures(platform: Platform) -> Iterator[Measure]:
    """Yield the work of commanded forces in the environment."""
    env = PoseTrackingEnv(platform, action="forces", duration=CONTROL_PERIOD * PERIOD_COUNT)
    actions = ACTION_AMPLITUDE * np.random.default_rng(EPISODE_SEED).uniform(
        -1.0, 1.0, (FORCE_PERIODS, platform.n_actuators)
    )
    instants = run_episode(env, actions)
    env.close()
    holding_forces = platform.inverse_dynamics(platform.home, ZERO_VECTOR, ZERO_VECTOR)
    forces = holding_forces + env.task.actions[0].scale * actions
    pose, twist = column(instants, "pose"), column(instants, "twist")
    work = forces * np.diff(platform.inverse_kinematics(pose), axis=0)
    kinetic, potential = platform.energy(pose, twist)
    energy_gain = kinetic[-1] + potential[-1] - kinetic[0] - potential[0]
    yield Measure(
        "PoseTracking: work of the commanded forces against the energy that the machine gains",
        abs(work.sum() - energy_gain) / np.abs(work).sum(),
        1e-10,
        "forces are constant within a period; Runge-Kutta steps of 1 ms keep energy to 1e-10",
    )


MACHINE_TASKS: dict[str, tuple[Callable[[Platform], Iterator[Entry]], ...]] = {
    "stewart": (car_measures, tracking_measures, cueing_measures, ball_measures, shaking_measures),
    "compliant_stewart": (shaking_measures,),
    "driving_simulator": (tracking_measures, cueing_measures, ball_measures),
}
"""Parts of the case by machine."""


@validation_case(
    machines=tuple(MACHINE_TASKS),
    because="the machines of the shipped environments and policies",
)
def check_environments(platform: Platform) -> CaseResult:
    """Physics of the environments.

    Each of the four environments runs short episodes, and equations that know nothing of its code
    are solved along them. A car in the frame of the road gives what its driver feels. Newton's and
    Euler's laws with rolling as a constraint move the ball, in the environment and in three
    engines. A rigid body in a room at rest shows what a shaking base does. Simulations of the inner
    ear, sums of sines and work balances check the rest. Observations and rewards are computed again
    from the poses and the formulae of the documentation.
    """
    parts = [part(platform) for part in MACHINE_TASKS[platform.name]]
    return check_environments.result(platform, chain(*parts))
