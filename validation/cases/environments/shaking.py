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
from twin.validation.case import Entry, Measure
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
    smooth_step,
    smoothness,
)
from twin.validation.measures.comparison import ENGINE_LABELS, missing
from twin.validation.measures.sampling import largest, rotation_of

GRAVITY = 9.81
"""[m/s2] Gravity."""

CONTROL_PERIOD = 5e-3
"""[s] Control period."""

PERIOD_COUNT = 40
"""Number of control periods of the shaking."""

BASE_ACCELERATION = 2.0
"""[m/s2] RMS acceleration of the base along each axis."""

FREQUENCY_BAND = (3.0, 10.0)
"""[Hz] Lowest and highest frequency of the base's motion."""

LINES_PER_AXIS = 4
"""Number of sines along each axis."""

CONTROL_TIMES = CONTROL_PERIOD * np.arange(PERIOD_COUNT + 1)
"""[s] Ends of the control periods, and the start of the first."""

FADE_TIME = 0.25 * CONTROL_PERIOD * PERIOD_COUNT
"""[s] Time in which the shaking fades in, and out: a quarter of so short a duration."""

LEG_MASS_FRACTIONS = {"ups": 1e-3, "viscoelastic": 1e-2}
"""Masses of the legs in the comparison in the inertial frame, relative to their real masses."""


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


def displacement(lines: FloatArray, time: Any) -> Any:
    """Return the displacement `(k, 3)` [m] of a base at times `(k,)`, which may be complex.

    The sum of -a / w^2 sin(w t + phase), faded in and out by a polynomial of degree five.
    """
    omega, amplitude, phase = 2.0 * np.pi * lines[..., 0], lines[..., 1], lines[..., 2]
    angle = omega * time[:, None, None] + phase
    sines = -(amplitude / omega**2 * np.sin(angle)).sum(axis=2)
    fade = smooth_step(time / FADE_TIME) * smooth_step(
        (CONTROL_PERIOD * PERIOD_COUNT - time) / FADE_TIME
    )
    return fade[:, None] * sines


def velocity(lines: FloatArray, time: Any) -> FloatArray:
    """Return the velocity `(k, 3)` [m/s] of a base: the complex-step derivative."""
    # A complex step has no cancellation, so its size only has to be far below rounding.
    tiny = 1e-30
    return np.asarray(displacement(lines, time + 1j * tiny).imag / tiny)


def with_light_legs(platform: Platform) -> Platform:
    """Return the machine with legs of a small part of their mass."""
    content = platform.parameters.model_dump()
    mass_fraction = LEG_MASS_FRACTIONS[platform.kind]
    for name, entry in content["leg"].items():
        if name.endswith("_mass"):
            content["leg"][name] = mass_fraction * entry
        elif name in ("rod", "housing"):
            entry["mass"] *= mass_fraction
            entry["inertia"] = (mass_fraction * np.array(entry["inertia"])).tolist()
    return Platform(MachineParameters.model_validate(content))


def in_the_room(platform: Platform, lines: FloatArray) -> FloatArray:
    """Return displacement [m] and rotation vector [rad] `(k, 6)` of a platform at all periods.

    Newton's and Euler's equations of one rigid body, in a room that is at rest, under constant
    forces along lines from the base joints, which move with the base, to the platform's. At the
    start these forces carry its weight.
    """
    body = platform.parameters.platform.body
    inertia, mass = np.array(body.inertia), body.mass
    home = rotation_of(platform.home)
    center = home.apply(body.center_of_mass)
    tips = platform.platform_joints @ home.as_matrix().T
    legs = platform.home[:3] + tips - platform.base_joints
    lines_of_action = legs / np.linalg.norm(legs, axis=1)[:, None]
    balance = np.vstack([lines_of_action.T, np.cross(tips - center, lines_of_action).T])
    forces = np.linalg.solve(balance, [0.0, 0.0, mass * GRAVITY, 0.0, 0.0, 0.0])

    def rate(time: float, state: FloatArray) -> FloatArray:
        vector, angular_velocity = state[3:6], state[9:]
        rotation = Rotation.from_rotvec(vector)
        center_to_reference = -rotation.apply(center)
        matrix = (rotation * home).as_matrix()
        base_displacement = displacement(lines, np.array([time]))[0]
        joint_offsets = platform.platform_joints @ matrix.T
        leg_vectors = (
            platform.home[:3]
            + state[:3]
            + joint_offsets
            - (platform.base_joints + base_displacement)
        )
        leg_forces = forces[:, None] * leg_vectors / np.linalg.norm(leg_vectors, axis=1)[:, None]
        base_frame_inertia = matrix @ inertia @ matrix.T
        moment = np.cross(joint_offsets + center_to_reference, leg_forces).sum(axis=0)
        alpha = np.linalg.solve(
            base_frame_inertia,
            moment - np.cross(angular_velocity, base_frame_inertia @ angular_velocity),
        )
        acceleration = leg_forces.sum(axis=0) / mass - [0.0, 0.0, GRAVITY]
        acceleration += np.cross(alpha, center_to_reference) + np.cross(
            angular_velocity, np.cross(angular_velocity, center_to_reference)
        )
        # The rate of a rotation vector for small rotations: to second order in them.
        vector_rate = (
            angular_velocity
            - 0.5 * np.cross(vector, angular_velocity)
            + np.cross(vector, np.cross(vector, angular_velocity)) / 12
        )
        return np.concatenate([state[6:9], vector_rate, acceleration, alpha])

    time_span = (0.0, CONTROL_TIMES[-1])
    solution = solve_ivp(rate, time_span, np.zeros(12), t_eval=CONTROL_TIMES, rtol=1e-8, atol=1e-10)
    return np.asarray(solution.y[:6].T)


def shaking_measures(platform: Platform) -> Iterator[Entry]:
    """Yield the measures of base, platform, observations and rewards on one machine."""
    env = VibrationIsolationEnv(platform, **options())
    size = env.task.actions[0].size
    actions = 0.1 * np.random.default_rng(EPISODE_SEED).uniform(-1.0, 1.0, (PERIOD_COUNT, size))
    recorded_accelerations: list[FloatArray] = []
    instants = run_episode(
        env,
        actions,
        after_step=lambda: recorded_accelerations.append(np.array(env.task.shaking)[0]),
    )
    lines = random_lines(
        np_random(EPISODE_SEED)[0], BASE_ACCELERATION, *FREQUENCY_BAND, LINES_PER_AXIS
    )
    base_accelerations = np.diff(velocity(lines, CONTROL_TIMES), axis=0) / CONTROL_PERIOD
    yield from _base(instants, np.array(recorded_accelerations), lines)
    yield observation_measure(
        "VibrationIsolation",
        "readings of pose and twist, and the base's sines",
        _largest_observation_error(platform, env, instants, base_accelerations),
    )
    yield reward_measure(
        "VibrationIsolation", _largest_reward_error(platform, env, instants, base_accelerations)
    )
    env.close()
    yield from _in_engines(platform, lines)


def _base(
    instants: list[Instant],
    engine_accelerations: FloatArray,
    lines: FloatArray,
) -> Iterator[Measure]:
    """Yield the errors of the drawn sines and of the base's motion from them.

    `engine_accelerations` `(p, ratio, 3)` [m/s2] are the accelerations that the engine was given.
    """
    # Column 1 is the amplitude of the acceleration [m/s2] of each sine.
    rms_acceleration = np.sqrt(0.5 * (lines[..., 1] ** 2).sum(axis=1))
    edges = FREQUENCY_BAND[0] * (FREQUENCY_BAND[1] / FREQUENCY_BAND[0]) ** (
        np.arange(LINES_PER_AXIS + 1) / LINES_PER_AXIS
    )
    outside_band = np.maximum(edges[:-1] - lines[..., 0], lines[..., 0] - edges[1:]).max()
    yield Measure(
        "VibrationIsolation, base: RMS acceleration of the sines against the requested one",
        largest([*(rms_acceleration / BASE_ACCELERATION - 1.0), max(0.0, float(outside_band))]),
        1e-12,
        "rounding; one line in each equal part of the logarithm of the band",
    )
    position = column(instants, "pose")[:, :3]
    base_displacement = column(instants, "absolute_displacement") - (position - position[0])
    expected = displacement(lines, CONTROL_TIMES)
    yield Measure(
        "VibrationIsolation, base: displacement against the sum of its sines, per largest",
        largest(base_displacement - expected) / largest(expected),
        1e-12,
        "rounding",
    )
    periods, ratio, _ = engine_accelerations.shape
    step = CONTROL_PERIOD / ratio
    step_times = step * np.arange(periods * ratio + 1)
    mean_acceleration = np.diff(velocity(lines, step_times), axis=0) / step
    yield Measure(
        "VibrationIsolation, base: acceleration given to the engine against the sines' velocity",
        largest(engine_accelerations.reshape(-1, 3) - mean_acceleration)
        / largest(mean_acceleration),
        1e-10,
        "rounding of velocities of 0.1 m/s, divided by a step of 1 ms",
    )


def _largest_observation_error(
    platform: Platform,
    env: VibrationIsolationEnv,
    instants: list[Instant],
    base_accelerations: FloatArray,
) -> float:
    """Return the largest error of the sensors' readings at all instants, relative to the scales."""
    # The observed velocities are leaky integrals with a time constant of 1 s.
    decay, gravity = np.exp(-CONTROL_PERIOD / 1.0), np.array([0.0, 0.0, GRAVITY])
    integrals, errors = np.zeros((2, 3)), []
    for before, instant, base_acceleration in zip(
        instants[:-1], instants[1:], base_accelerations, strict=True
    ):
        info, previous = instant.info, before.info
        to_platform = rotation_of(info["pose"]).inv()
        previous_to_platform = rotation_of(previous["pose"]).inv()
        absolute_acceleration = (
            info["twist"][:3] - previous["twist"][:3]
        ) / CONTROL_PERIOD + base_acceleration
        sensed = to_platform.apply(absolute_acceleration + gravity) - gravity
        angular_rate = to_platform.apply(info["twist"][3:])
        angular_acceleration = (
            angular_rate - previous_to_platform.apply(previous["twist"][3:])
        ) / CONTROL_PERIOD
        integrals = decay * integrals + CONTROL_PERIOD * np.array([sensed, base_acceleration])
        expected = {
            "platform acceleration": sensed,
            "platform angular rate": angular_rate,
            "platform angular acceleration": angular_acceleration,
            "base acceleration": base_acceleration,
            "platform velocity": integrals[0],
            "base velocity": integrals[1],
            "last action": instant.action,
        }
        if not platform.n_deflections:
            leg_travel = platform.inverse_kinematics(info["pose"]) - platform.home_coordinates
            expected["coordinate"] = leg_travel
        errors.append(observation_error(env, instant, expected))
    return largest(errors)


def _largest_reward_error(
    platform: Platform,
    env: VibrationIsolationEnv,
    instants: list[Instant],
    base_accelerations: FloatArray,
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
        """Return the RMS of the sines' `order`-th integral; power is even over log frequency."""
        low, high = np.log(FREQUENCY_BAND)
        power = quad(lambda x: (2.0 * np.pi * np.exp(x)) ** (-2 * order), low, high)[0]
        return float(BASE_ACCELERATION * np.sqrt(power / (high - low)))

    radius = platform.joint_radius
    # Norms of three equal axes; a rotation counts from a tenth of base velocity / joint radius on.
    levels = np.sqrt(3.0) * np.array(
        [BASE_ACCELERATION, root_mean_square(2), 0.1 * root_mean_square(1) / radius]
    )
    half_stroke = 0.5 * platform.stroke
    coordinate = next(c for c in env.task.observations if c.name == "coordinate")
    coordinate_slice = channel_slices(env.task.observations)["coordinate"]
    squares, errors = np.zeros(2), []
    for previous, instant, base_acceleration in zip(
        instants[:-1], instants[1:], base_accelerations, strict=True
    ):
        relative_change = instant.info["twist"] - previous.info["twist"]
        motions = (
            relative_change[:3] / CONTROL_PERIOD + base_acceleration,
            instant.info["absolute_displacement"],
            instant.info["twist"][3:],
        )
        sizes = np.array([np.linalg.norm(motion) for motion in motions]) / levels
        leg_travel = instant.observation[coordinate_slice] * coordinate.scale / half_stroke
        closeness_terms = [closeness(size, scale=0.1, max_error=10.0) for size in sizes]
        terms = np.array(
            [*closeness_terms, -np.mean(leg_travel**2), smoothness(instant.action, previous.action)]
        )
        errors.append(reward_error(env, instant, weights, terms))
        squares += [motions[0] @ motions[0], base_acceleration @ base_acceleration]
        ratio = np.sqrt(squares[0] / squares[1])
        errors.append(instant.info["transmissibility"] - ratio)
    return largest(errors)


def _in_engines(platform: Platform, lines: FloatArray) -> Iterator[Entry]:
    """Yield the difference of the platform from a rigid body in the room, in every engine."""
    light_machine = with_light_legs(platform)
    body, leg = light_machine.parameters.platform.body, light_machine.parameters.leg
    fraction = light_machine.n_actuators * leg.mass / body.mass
    exact = in_the_room(light_machine, lines)
    max_displacement = largest(displacement(lines, CONTROL_TIMES))
    for name, label in (("analytic", "reference"), *ENGINE_LABELS.items()):
        try:
            env = VibrationIsolationEnv(light_machine, engine=name, **options(action="forces"))
        except MissingDependencyError as error:
            yield missing(f"VibrationIsolation, {label}", error)
            continue
        half_step_error = 0.0
        if name == "bullet":
            half_step_error = (
                0.5
                * env.task.batch.timestep
                * largest(velocity(lines, CONTROL_TIMES))
                / max_displacement
            )
        instants = run_episode(env, np.zeros((PERIOD_COUNT, light_machine.n_actuators)))
        env.close()
        platform_displacement = column(instants, "absolute_displacement")
        reason = f"the legs keep {100.0 * fraction:.2g} percent of the platform's mass"
        yield Measure(
            f"VibrationIsolation, {label}: platform in the room against a rigid body under "
            "constant forces, per displacement of the base",
            largest(platform_displacement - exact[:, :3]) / max_displacement,
            fraction + half_step_error,
            f"{reason}; steps of first order are half a step late" if half_step_error else reason,
        )
