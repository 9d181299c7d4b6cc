"""The drivers of twin/MotionCueing-v0 against scipy's simulation along the environment's record."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.signal import StateSpace, TransferFunction, lsim
from scipy.spatial.transform import Rotation

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.envs.motion_cueing.environment import MotionCueingEnv
from twin.motion.cueing import Manoeuvre
from twin.validation.cases.environments.course import (
    Instant,
    column,
    course,
    observation_error,
    observation_measure,
    reward_error,
    reward_measure,
    smoothness,
)
from twin.validation.measures.metrics import largest
from twin.validation.results import Measure

GRAVITY = 9.81
"""[m/s2]"""

PERIOD = 0.01
"""[s] of control."""

PERIODS = 40
"""Control periods of the episode."""

HEAD = (0.15, -0.2, 0.9)
"""[m] of the driver from the reference point, platform axes: off all axes of rotation."""

THRESHOLDS = np.array([0.17, 0.17, 0.28, *np.radians([3.0, 3.6, 2.6])])
"""[m/s2], [rad/s] docs/motion_cueing.md, after Reid and Nahon, UTIAS report 296."""

STRENGTH = 0.08
"""Amplitude of the actions, which keep all limits."""

FREQUENCY = 2.5
"""[Hz] of the actions."""

STEP = 1e-3
"""[s] of the engine, in which the drives' velocity loops act."""

WEIGHTS = {
    "force": 1.0,
    "rotation": 1.0,
    "false_cue": 0.5,
    "neutral": 0.02,
    "smoothness": 0.05,
    "end": 100.0,
}
"""Of the reward's terms in the documentation."""


def models() -> tuple[StateSpace, StateSpace]:
    """Return otoliths and canals of docs/motion_cueing.md, after NASA/CR-2005-213747."""
    otoliths = TransferFunction([4.0, 0.4], np.polymul([5.0, 1.0], [0.016, 1.0]))
    canals = TransferFunction([5.73 * 80.0, 0.0, 0.0], np.polymul([5.73, 1.0], [80.0, 1.0]))
    return otoliths.to_ss(), canals.to_ss()


def sensed(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return what six senses perceive `(k + 1, 6)` of inputs that are linear within a period.

    Args:
        first: `(k, 6)` at the begin of each period: specific force less rest, angular rate.
        second: `(k + 1, 6)` at the end of each, and before the first; at rest until then.
    """
    found = np.empty_like(second)
    for j in range(6):
        model = models()[j // 3]
        # Before the first period the input rises from rest within one period.
        state = lsim(model, [0.0, second[0, j]], [0.0, PERIOD])[2][-1]
        found[0, j] = (model.C @ state + model.D[0] * second[0, j])[0]
        for k in range(len(first)):
            output, states = lsim(model, [first[k, j], second[k + 1, j]], [0.0, PERIOD], state)[1:]
            found[k + 1, j], state = output[-1], states[-1]
    return found


def manoeuvre() -> Manoeuvre:
    """Return a manoeuvre in all six senses."""
    time = np.arange(PERIODS + 1, dtype=np.float64) * PERIOD
    angle: FloatArray = 2.0 * np.pi * np.outer(time, [1.0, 1.5, 2.0, 1.2, 0.7, 0.9]) + np.arange(6)
    felt = np.array([2.0, 1.5, 1.0, 0.2, 0.3, 0.25]) * np.sin(angle)
    felt[:, 2] += GRAVITY
    return Manoeuvre("sines", time, felt[:, :3], felt[:, 3:])


def felt_on_platform(head: FloatArray, instants: list[Instant]) -> tuple[FloatArray, FloatArray]:
    """Return what the platform's driver feels as each period begins and ends, less rest.

    The mean acceleration of the head over a period, and gravity, in the platform's axes then.
    """
    pose, twist = column(instants, "pose"), column(instants, "twist")
    turn = Rotation.from_quat(pose[:, 3:], scalar_first=True)
    velocity = twist[:, :3] + np.cross(twist[:, 3:], turn.apply(head))
    mean = np.diff(velocity, axis=0) / PERIOD
    upward, rest = np.array([0.0, 0.0, GRAVITY]), np.array([0.0, 0.0, GRAVITY])
    pushes = 0.5 * (turn[:-1].inv().apply(mean) + turn[1:].inv().apply(mean))
    lean = turn.inv().apply(np.tile(upward, (len(instants), 1))) - rest
    spin = turn.inv().apply(twist[:, 3:])
    still = np.hstack([lean, spin])
    first, second = still[:-1].copy(), still.copy()
    first[:, :3] += pushes
    second[1:, :3] += pushes
    return first, second


def cueing_measures(platform: Platform) -> Iterator[Measure]:
    """Yield the measures of perception, commands, observations and rewards on one machine."""
    drive = manoeuvre()
    env = MotionCueingEnv(platform, manoeuvre=drive, head=HEAD)
    size = env.task.actions[0].size
    time = PERIOD * np.arange(PERIODS)
    actions = STRENGTH * np.cos(2.0 * np.pi * FREQUENCY * time[:, None] + np.arange(size))
    instants = course(env, actions)
    given = np.hstack([drive.specific_force - [0.0, 0.0, GRAVITY], drive.angular_rate])
    vehicle, shown = sensed(given[:-1], given), sensed(*felt_on_platform(np.array(HEAD), instants))
    reason = "rounding of steps of both that are exact for inputs linear within a period"
    for name, exact in (("vehicle", vehicle), ("platform", shown)):
        yield Measure(
            f"MotionCueing: motion perceived by the {name}'s driver against scipy's simulation, in "
            "thresholds",
            largest((column(instants, f"perceived_{name}") - exact) / THRESHOLDS),
            1e-9,
            reason,
        )
    yield from _commanded(env, instants, actions)
    yield observation_measure(
        "MotionCueing",
        "the manoeuvre, the pose and the twist",
        _observed(platform, env, instants, (vehicle, shown, given)),
    )
    yield reward_measure("MotionCueing", _rewarded(env, instants, vehicle, shown))
    env.close()


def _commanded(
    env: MotionCueingEnv, instants: list[Instant], actions: FloatArray
) -> Iterator[Measure]:
    """Yield the command against the actions' integral, and the platform against the command."""
    free = env.task.axes.free
    steps = PERIOD * actions * env.task.actions[0].scale
    rates = np.vstack([np.zeros(len(free)), np.cumsum(steps, axis=0)])
    ways = np.cumsum(0.5 * PERIOD * (rates[1:] + rates[:-1]), axis=0)
    command = column(instants, "command")[:, free]
    yield Measure(
        "MotionCueing: command against the actions integrated twice",
        largest(command[1:] - ways) / largest(ways),
        1e-12,
        "rounding: accelerations are constant within a period",
    )
    late = np.abs(axes_about_home(env, instants)[:, free] - command).max(axis=0)
    yield Measure(
        "MotionCueing: time by which the platform lags its command",
        float((late / np.abs(rates).max(axis=0)).max()),
        STEP,
        "the drives' velocity loops settle within a step of the engine, 1 ms",
        unit="s",
    )


def axes_about_home(env: MotionCueingEnv, instants: list[Instant]) -> FloatArray:
    """Return x, y, z [m], yaw, pitch, roll [rad] `(k, 6)` of the platform from home."""
    pose, home = column(instants, "pose"), env.platform.home
    level = Rotation.from_quat(home[3:], scalar_first=True)
    turn = Rotation.from_quat(pose[:, 3:], scalar_first=True) * level.inv()
    return np.hstack([pose[:, :3] - home[:3], turn.as_euler("ZYX")])


def _observed(
    platform: Platform,
    env: MotionCueingEnv,
    instants: list[Instant],
    felt: tuple[FloatArray, FloatArray, FloatArray],
) -> float:
    """Return the largest error of observations, in parts of their scales."""
    free, axes = env.task.axes.free, axes_about_home(env, instants)
    # Twists have roll, pitch, yaw rates about x, y, z; the axes have yaw, pitch, roll.
    order = np.array([0, 1, 2, 5, 4, 3])[free]
    middle = 0.5 * (platform.minimum_coordinates + platform.maximum_coordinates)
    vehicle, shown, given = felt
    errors = []
    for k, instant in enumerate(instants):
        pose, twist = instant.info["pose"], instant.info["twist"]
        expected = {
            "force perceived in the vehicle": vehicle[k, :3],
            "rotation perceived in the vehicle": vehicle[k, 3:],
            "force perceived on the platform": shown[k, :3],
            "rotation perceived on the platform": shown[k, 3:],
            "specific force 0": given[k, :3],
            "angular rate 0": given[k, 3:],
            "displacement": axes[k, free],
            "velocity": twist[order],
            "commanded displacement": instant.info["command"][free],
            "coordinate": platform.inverse_kinematics(pose) - middle,
            "last action": instant.action,
        }
        errors.append(observation_error(env, instant, expected))
    return largest(errors)


def _rewarded(
    env: MotionCueingEnv, instants: list[Instant], vehicle: FloatArray, shown: FloatArray
) -> float:
    """Return the largest error of rewards, score and false cues from their formulae."""
    share = (shown - vehicle) / (10.0 * THRESHOLDS)
    known, cued = (
        np.sign(part) * np.maximum(np.abs(part) - THRESHOLDS, 0.0) for part in (vehicle, shown)
    )
    false = np.where(known * cued > 0.0, 0.0, cued) / (10.0 * THRESHOLDS)
    free, axes = env.task.axes.free, axes_about_home(env, instants)
    travel = next(c.scale for c in env.task.observations if c.name == "displacement")
    errors = []
    for k in range(1, len(instants)):
        terms = -np.array(
            [
                np.mean(share[k, :3] ** 2),
                np.mean(share[k, 3:] ** 2),
                np.mean(false[k] ** 2),
                np.mean((axes[k, free] / travel) ** 2),
                -0.25 * smoothness(instants[k].action, instants[k - 1].action),
                0.0,
            ]
        )
        errors.append(reward_error(env, instants[k], WEIGHTS, terms))
        score = float(np.sqrt(np.mean((10.0 * share[: k + 1]) ** 2)))
        cues = float(np.sqrt(np.mean((10.0 * false[: k + 1]) ** 2)))
        errors.append(abs(instants[k].info["score"] - score))
        errors.append(abs(instants[k].info["false_cues"] - cues))
    return largest(errors)
