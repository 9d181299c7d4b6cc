"""The shaking base of twin/VibrationIsolation-v0 against its sines, and the platform in the room.

The platform is integrated in the room, where nothing shakes but the base joints: a rigid body under
six constant forces whose lines of action follow the base.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium.utils.seeding import np_random
from scipy.integrate import quad, solve_ivp
from scipy.spatial.transform import Rotation

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.envs.channels import channel_slices
from twin.envs.random_motion import random_lines
from twin.envs.vibration_isolation import VibrationIsolationEnv
from twin.errors import MissingDependencyError
from twin.machine import MachineParameters
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
from twin.validation.measures.comparison import ENGINE_LABELS, missing
from twin.validation.measures.sampling import largest
from twin.validation.results import Entry, Measure

GRAVITY = 9.81
"""[m/s2] Gravity."""

CONTROL_PERIOD = 5e-3
"""[s] Control period."""

PERIOD_COUNT = 40
"""Control periods of the shaking."""

BASE_ACCELERATION = 2.0
"""[m/s2] RMS acceleration of the base along each axis."""

FREQUENCY_BAND = (3.0, 10.0)
"""[Hz] Lowest and highest frequency of the base's motion."""

LINES_PER_AXIS = 4
"""Sines along each axis."""

FADE_TIME = 0.25 * CONTROL_PERIOD * PERIOD_COUNT
"""[s] Time in which shaking begins and ends: a quarter of so short a time."""

LEG_MASS_FRACTIONS = {"ups": 1e-3, "viscoelastic": 1e-2}
"""Masses of the legs in the comparison in the room, relative to their own masses."""


def options(**changes: Any) -> dict[str, Any]:
    """Return options of the environment: a short, strong shaking and sensors without noise."""
    return {
        "acceleration": BASE_ACCELERATION,
        "lowest_frequency": FREQUENCY_BAND[0],
        "highest_frequency": FREQUENCY_BAND[1],
        "lines": LINES_PER_AXIS,
        "duration": CONTROL_PERIOD * PERIOD_COUNT,
        "accelerometer_noise": 0.0,
        "gyroscope_noise": 0.0,
        **changes,
    }


def smooth_step(part: Any) -> Any:
    """Return 6 u^5 - 15 u^4 + 10 u^3, with 0 before it and 1 after it."""
    u = np.where(np.real(part) < 0.0, 0.0, np.where(np.real(part) > 1.0, 1.0, part))
    return 6.0 * u**5 - 15.0 * u**4 + 10.0 * u**3


def displacement(lines: FloatArray, time: Any) -> Any:
    """Return the displacement `(k, 3)` [m] of a base at times `(k,)`, which may be complex.

    The sum of -a / w^2 sin(w t + phase), faded in and out by a polynomial of degree five.
    """
    omega, size, phase = 2.0 * np.pi * lines[..., 0], lines[..., 1], lines[..., 2]
    angle = omega * time[:, None, None] + phase
    sines = -(size / omega**2 * np.sin(angle)).sum(axis=2)
    fade = smooth_step(time / FADE_TIME) * smooth_step(
        (CONTROL_PERIOD * PERIOD_COUNT - time) / FADE_TIME
    )
    return fade[:, None] * sines


def velocity(lines: FloatArray, time: Any) -> FloatArray:
    """Return the velocity `(k, 3)` [m/s] of a base: the complex-step derivative."""
    tiny = 1e-30
    return np.asarray(displacement(lines, time + 1j * tiny).imag / tiny)


def with_light_legs(platform: Platform) -> Platform:
    """Return the machine with legs of a small part of their mass."""
    content = platform.parameters.model_dump()
    part = LEG_MASS_FRACTIONS[platform.kind]
    for name, entry in content["leg"].items():
        if name.endswith("_mass"):
            content["leg"][name] = part * entry
        elif name in ("rod", "housing"):
            entry["mass"] *= part
            entry["inertia"] = (part * np.array(entry["inertia"])).tolist()
    return Platform(MachineParameters.model_validate(content))


def in_the_room(platform: Platform, lines: FloatArray) -> FloatArray:
    """Return displacement [m] and rotation vector [rad] `(k, 6)` of a platform at all periods.

    Newton's and Euler's equations of one rigid body, in a room that is at rest, under constant
    forces along lines from the base joints, which move with the base, to the platform's. At the
    start these forces carry its weight.
    """
    body = platform.parameters.platform.body
    inertia, mass = np.array(body.inertia), body.mass
    home = Rotation.from_quat(platform.home[3:], scalar_first=True)
    center = home.apply(body.center_of_mass)
    tips = platform.platform_joints @ home.as_matrix().T
    legs = platform.home[:3] + tips - platform.base_joints
    lines_of_action = legs / np.linalg.norm(legs, axis=1)[:, None]
    balance = np.vstack([lines_of_action.T, np.cross(tips - center, lines_of_action).T])
    forces = np.linalg.solve(balance, [0.0, 0.0, mass * GRAVITY, 0.0, 0.0, 0.0])

    def rate(now: float, state: FloatArray) -> FloatArray:
        turn = Rotation.from_rotvec(state[3:6])
        matrix = (turn * home).as_matrix()
        moved = displacement(lines, np.array([now]))[0]
        arms = platform.platform_joints @ matrix.T
        legs = platform.home[:3] + state[:3] + arms - (platform.base_joints + moved)
        pushes = forces[:, None] * legs / np.linalg.norm(legs, axis=1)[:, None]
        spin, rotated = state[9:], matrix @ inertia @ matrix.T
        moment = np.cross(arms - turn.apply(center), pushes).sum(axis=0)
        alpha = np.linalg.solve(rotated, moment - np.cross(spin, rotated @ spin))
        linear = pushes.sum(axis=0) / mass - [0.0, 0.0, GRAVITY]
        arm = -turn.apply(center)
        linear += np.cross(alpha, arm) + np.cross(spin, np.cross(spin, arm))
        # The rate of a rotation vector for small rotations: to second order in them.
        vector = state[3:6]
        turned = spin - 0.5 * np.cross(vector, spin) + np.cross(vector, np.cross(vector, spin)) / 12
        return np.concatenate([state[6:9], turned, linear, alpha])

    time = CONTROL_PERIOD * np.arange(PERIOD_COUNT + 1)
    span = (0.0, time[-1])
    found = solve_ivp(rate, span, np.zeros(12), "RK45", time, rtol=1e-8, atol=1e-10)
    return np.asarray(found.y[:6].T)


def shaking_measures(platform: Platform) -> Iterator[Entry]:
    """Yield the measures of base, platform, observations and rewards on one machine."""
    env = VibrationIsolationEnv(platform, **options())
    size = env.task.actions[0].size
    actions = 0.1 * np.random.default_rng(EPISODE_SEED).uniform(-1.0, 1.0, (PERIOD_COUNT, size))
    given: list[FloatArray] = []
    instants = run_episode(env, actions, each=lambda: given.append(np.array(env.task.shaking)[0]))
    lines = random_lines(
        np_random(EPISODE_SEED)[0], BASE_ACCELERATION, *FREQUENCY_BAND, LINES_PER_AXIS
    )
    yield from _base(env, instants, np.array(given), lines)
    yield observation_measure(
        "VibrationIsolation",
        "readings of pose and twist, and the base's sines",
        _observed(platform, env, instants, lines),
    )
    yield reward_measure("VibrationIsolation", _rewarded(platform, env, instants, lines))
    env.close()
    yield from _in_engines(platform, lines)


def _base(
    env: VibrationIsolationEnv, instants: list[Instant], given: FloatArray, lines: FloatArray
) -> Iterator[Measure]:
    """Yield the lines, and the differences of the base from them.

    `given` `(p, ratio, 3)` [m/s2] are the accelerations that the engine was given.
    """
    root = np.sqrt(0.5 * (lines[..., 1] ** 2).sum(axis=1))
    edges = FREQUENCY_BAND[0] * (FREQUENCY_BAND[1] / FREQUENCY_BAND[0]) ** (
        np.arange(LINES_PER_AXIS + 1) / LINES_PER_AXIS
    )
    outside = np.maximum(edges[:-1] - lines[..., 0], lines[..., 0] - edges[1:]).max()
    yield Measure(
        "VibrationIsolation, base: RMS acceleration of the sines against the requested one",
        largest([*(root / BASE_ACCELERATION - 1.0), max(0.0, float(outside))]),
        1e-12,
        "rounding; one line in each equal part of the logarithm of the band",
    )
    time = CONTROL_PERIOD * np.arange(PERIOD_COUNT + 1)
    pose, moved = column(instants, "pose"), column(instants, "absolute_displacement")
    found = moved - (pose[:, :3] - pose[0, :3])
    scale = largest(displacement(lines, time))
    yield Measure(
        "VibrationIsolation, base: displacement against the sum of its sines, per largest",
        largest(found - displacement(lines, time)) / scale,
        1e-12,
        "rounding",
    )
    step = CONTROL_PERIOD / given.shape[1]
    fine = step * np.arange(given.shape[0] * given.shape[1] + 1)
    mean = np.diff(velocity(lines, fine), axis=0) / step
    yield Measure(
        "VibrationIsolation, base: acceleration given to the engine against the sines' velocity",
        largest(given.reshape(-1, 3) - mean) / largest(mean),
        1e-10,
        "rounding of velocities of 0.1 m/s, divided by a step of 1 ms",
    )


def _observed(
    platform: Platform, env: VibrationIsolationEnv, instants: list[Instant], lines: FloatArray
) -> float:
    """Return the largest error of the sensors' readings at all instants, relative to the scales."""
    fade = np.exp(-CONTROL_PERIOD / 1.0)
    speed = velocity(lines, CONTROL_PERIOD * np.arange(PERIOD_COUNT + 1))
    integrals, errors = np.zeros((2, 3)), []
    for k in range(1, len(instants)):
        now, before = instants[k].info, instants[k - 1].info
        turn = Rotation.from_quat(now["pose"][3:], scalar_first=True).inv()
        last = Rotation.from_quat(before["pose"][3:], scalar_first=True).inv()
        base = (speed[k] - speed[k - 1]) / CONTROL_PERIOD
        absolute = (now["twist"][:3] - before["twist"][:3]) / CONTROL_PERIOD + base
        sensed = turn.apply(absolute + np.array([0.0, 0.0, GRAVITY])) - [0.0, 0.0, GRAVITY]
        spin = turn.apply(now["twist"][3:])
        change = (spin - last.apply(before["twist"][3:])) / CONTROL_PERIOD
        integrals = fade * integrals + CONTROL_PERIOD * np.array([sensed, base])
        expected = {
            "platform acceleration": sensed,
            "platform angular rate": spin,
            "platform angular acceleration": change,
            "base acceleration": base,
            "platform velocity": integrals[0],
            "base velocity": integrals[1],
            "last action": instants[k].action,
        }
        if not platform.n_deflections:
            way = platform.inverse_kinematics(now["pose"]) - platform.home_coordinates
            expected["coordinate"] = way
        errors.append(observation_error(env, instants[k], expected))
    return largest(errors)


def _rewarded(
    platform: Platform, env: VibrationIsolationEnv, instants: list[Instant], lines: FloatArray
) -> float:
    """Return the largest error of rewards and of the transmissibility from their formulae."""
    weights = {
        "acceleration": 0.6,
        "displacement": 0.2,
        "rotation": 0.2,
        "stroke": 0.05,
        "smoothness": 0.01,
    }

    def root_mean_square(order: int) -> float:
        """Return the RMS of the sines' integral of an order: even over the band's logarithm."""
        low, high = np.log(FREQUENCY_BAND)
        power = quad(lambda x: (2.0 * np.pi * np.exp(x)) ** (-2 * order), low, high)[0]
        return float(BASE_ACCELERATION * np.sqrt(power / (high - low)))

    radius = float(np.linalg.norm(platform.platform_joints, axis=1).mean())
    levels = np.sqrt(3.0) * np.array(
        [BASE_ACCELERATION, root_mean_square(2), 0.1 * root_mean_square(1) / radius]
    )
    half = 0.5 * (platform.maximum_coordinates - platform.minimum_coordinates)
    coordinate = next(c for c in env.task.observations if c.name == "coordinate")
    place = channel_slices(env.task.observations)["coordinate"]
    speed, errors = velocity(lines, CONTROL_PERIOD * np.arange(PERIOD_COUNT + 1)), []
    squares = np.zeros(2)
    for k in range(1, len(instants)):
        now, before = instants[k], instants[k - 1]
        base = (speed[k] - speed[k - 1]) / CONTROL_PERIOD
        relative = now.info["twist"] - before.info["twist"]
        moves = (
            relative[:3] / CONTROL_PERIOD + base,
            now.info["absolute_displacement"],
            now.info["twist"][3:],
        )
        sizes = np.array([np.linalg.norm(move) for move in moves]) / levels
        way = now.observation[place] * coordinate.scale / half
        still = [closeness(size, 0.1, 10.0) for size in sizes]
        terms = np.array([*still, -np.mean(way**2), smoothness(now.action, before.action)])
        errors.append(reward_error(env, now, weights, terms))
        squares += [moves[0] @ moves[0], base @ base]
        ratio = np.sqrt(squares[0] / squares[1])
        errors.append(abs(float(now.info["transmissibility"]) - float(ratio)))
    return largest(errors)


def _in_engines(platform: Platform, lines: FloatArray) -> Iterator[Entry]:
    """Yield the difference of the platform from a rigid body in the room, in every engine."""
    light = with_light_legs(platform)
    body, leg = light.parameters.platform.body, light.parameters.leg
    fraction = light.n_actuators * leg.mass / body.mass
    time = CONTROL_PERIOD * np.arange(PERIOD_COUNT + 1)
    exact, size = in_the_room(light, lines), largest(displacement(lines, time))
    for name, label in (("analytic", "reference"), *ENGINE_LABELS.items()):
        try:
            env = VibrationIsolationEnv(light, engine=name, **options(action="forces"))
        except MissingDependencyError as error:
            yield missing(f"VibrationIsolation, {label}", error)
            continue
        half_step_error = 0.0
        if name == "bullet":
            half_step_error = 0.5 * env.task.batch.timestep * largest(velocity(lines, time)) / size
        instants = run_episode(env, np.zeros((PERIOD_COUNT, light.n_actuators)))
        env.close()
        found = column(instants, "absolute_displacement")
        reason = f"the legs keep {100.0 * fraction:.2g} percent of the platform's mass"
        yield Measure(
            f"VibrationIsolation, {label}: platform in the room against a rigid body under "
            "constant forces, per displacement of the base",
            largest(found - exact[:, :3]) / size,
            fraction + half_step_error,
            f"{reason}; steps of first order are half a step late" if half_step_error else reason,
        )
