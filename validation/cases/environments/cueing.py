"""Drivers and car of twin/MotionCueing-v0 against scipy's simulations.

What the drivers perceive is simulated along the environment's record. The car's equations are those
in the road's frame, without centripetal terms: the path of the driver's head is differentiated
twice, and the loads of the axles follow from equilibrium.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.signal import StateSpace, TransferFunction, lsim
from scipy.spatial.transform import Rotation

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.envs.channels import channel_slices
from twin.envs.environment import PlatformEnv
from twin.envs.motion_cueing.manoeuvres import wheel_angle
from twin.envs.motion_cueing.task import MotionCueingEnv
from twin.motion.cueing import Car, Manoeuvre
from twin.motion.cueing.manoeuvre import TIME_STEP, Tyre
from twin.validation.case import Entry, Measure
from twin.validation.measures.sampling import largest, rms, rotation_of

OBSERVATION_CLIP = 10.0
"""Value at which observations are clipped, relative to their scales."""

OBSERVATION_TOLERANCE = 1e-6
"""Rounding of an observation: single precision of numbers up to 10."""

EPISODE_SEED = 5
"""Seed of all episodes."""

GRAVITY = 9.81
"""[m/s2] Gravity."""

INITIAL_SPEED = 25.0
"""[m/s] Speed of the car at the start."""

BEND_DURATION = 1.0
"""[s] Duration of the bend."""

MAX_STEERING = 0.05
"""[rad] Largest steering angle in the bend."""

MAX_DECELERATION = 4.0
"""[m/s2] Largest deceleration in the bend."""

RISE_TIME = 0.4
"""[s] Time in which the steering angle reaches its value on the way into the circle."""

SPLINE_DEGREE = 7
"""Degree of the splines that are differentiated."""

END_SAMPLES = 8
"""Samples at either end that are not compared, where a spline is less exact."""

CIRCLE_DURATION = 3.0
"""[s] Duration of the drive into a steady circle."""

SIDE_ACCELERATION = 1.0
"""[m/s2] Side acceleration in the circle."""

MAX_SIDE_ACCELERATION = 50.0
"""[m/s2] Search bound of the side acceleration."""

SETTLING_TIME = 0.5
"""[s] Longest time in which roll and yaw of the car settle at this speed."""

CONTROL_PERIOD = 0.01
"""[s] Control period."""

PERIOD_COUNT = 40
"""Number of control periods of the episode."""

HEAD_POSITION = (0.15, -0.2, 0.9)
"""[m] Head of the driver from the reference point, platform axes: off all axes of rotation."""

PERCEPTION_THRESHOLDS = np.array([0.17, 0.17, 0.28, *np.radians([3.0, 3.6, 2.6])])
"""[m/s2], [rad/s] Thresholds of perception; docs/motion_cueing.md, after Reid and Nahon, UTIAS
report 296."""

ACTION_AMPLITUDE = 0.08
"""Amplitude of the actions, small enough that no limit is reached."""

ACTION_FREQUENCY = 2.5
"""[Hz] Frequency of the actions."""

ENGINE_STEP = 1e-3
"""[s] Time step of the engine, in which the drives' velocity loops act."""

REWARD_WEIGHTS = {
    "force": 1.0,
    "rotation": 1.0,
    "false_cue": 0.5,
    "neutral": 0.02,
    "smoothness": 0.05,
    "end": 100.0,
}
"""Weights of the reward's terms in the documentation."""


class Instant(NamedTuple):
    """An environment at the end of a control period."""

    observation: FloatArray
    reward: float
    info: dict[str, Any]
    action: FloatArray
    """action of the period; zeros after a reset"""


def run_episode(
    environment: PlatformEnv,
    actions: FloatArray,
    options: Mapping[str, Any] | None = None,
    after_step: Callable[[], Any] | None = None,
) -> list[Instant]:
    """Return the k + 1 instants of an episode under actions `(k, a)`, calling `after_step`."""
    observation, info = environment.reset(seed=EPISODE_SEED, options=dict(options or {}))
    instants = [Instant(observation, 0.0, info, np.zeros(actions.shape[1]))]
    for action in actions:
        observation, reward, _, _, info = environment.step(action)
        instants.append(Instant(observation, reward, info, action))
        if after_step is not None:
            after_step()
    return instants


def column(instants: Sequence[Instant], name: str) -> FloatArray:
    """Return an entry of `info` over the instants `(k, ...)`."""
    return np.array([instant.info[name] for instant in instants])


def observation_error(
    environment: PlatformEnv, instant: Instant, expected: Mapping[str, Any]
) -> float:
    """Return the largest difference of observed channels from `expected` physical values."""
    channels = {channel.name: channel for channel in environment.task.observations}
    slices = channel_slices(environment.task.observations)
    errors = [
        instant.observation[slices[name]]
        - np.clip(np.asarray(value) / channels[name].scale, -OBSERVATION_CLIP, OBSERVATION_CLIP)
        for name, value in expected.items()
    ]
    return largest(np.concatenate(errors))


def reward_error(
    environment: PlatformEnv, instant: Instant, weights: Mapping[str, float], terms: FloatArray
) -> float:
    """Return the difference of a reward, and of its terms, from those of the docstring."""
    reported = np.array([instant.info["reward_terms"][name] for name in weights])
    total = float(np.array(list(weights.values())) @ terms)
    return largest([*(reported - terms), instant.reward - total])


def closeness(error: float, scale: float, max_error: float) -> float:
    """Return 1 without error, 0 at `max_error`; it falls with log(1 + error / scale)."""
    return max(0.0, 1.0 - float(np.log(1.0 + error / scale) / np.log(1.0 + max_error / scale)))


def smoothness(action: FloatArray, previous_action: FloatArray) -> float:
    """Return minus the mean square change of an action."""
    return -float(np.mean((action - previous_action) ** 2))


def smooth_step(fraction: Any) -> Any:
    """Return 6 u^5 - 15 u^4 + 10 u^3, with u the fraction limited to 0 to 1; it may be complex."""
    u = np.where(np.real(fraction) < 0.0, 0.0, np.where(np.real(fraction) > 1.0, 1.0, fraction))
    return 6.0 * u**5 - 15.0 * u**4 + 10.0 * u**3


def observation_measure(name: str, expectation: str, error: float) -> Measure:
    """Return the measure of all observations of an environment."""
    return Measure(
        f"{name}: observations against {expectation}",
        error,
        OBSERVATION_TOLERANCE,
        "in parts of the scales: single precision of numbers up to 10",
    )


def reward_measure(name: str, error: float) -> Measure:
    """Return the measure of rewards and their terms."""
    return Measure(
        f"{name}: reward and its terms against the formulae of the documentation",
        error,
        1e-9,
        "rounding of errors that are differences of coordinates, in parts of their scales",
    )


def bend_inputs(time: Any) -> tuple[Any, Any]:
    """Return steering angle [rad] and commanded acceleration [m/s2] of a bend under braking."""
    ramp = np.sin(0.5 * np.pi * np.asarray(time) / BEND_DURATION) ** 2
    return MAX_STEERING * ramp, -MAX_DECELERATION * ramp


def axle_loads(car: Car, drive_acceleration: float) -> tuple[float, float]:
    """Return the loads [N] of the front and rear axle.

    They follow from the equilibrium in heave, and in pitch about the centre of mass, while engine
    or brakes cause an acceleration `drive_acceleration` [m/s2].
    """
    equilibrium = np.array([[1.0, 1.0], [car.front, -car.rear]])
    front, rear = np.linalg.solve(
        equilibrium, [car.mass * GRAVITY, -car.height * car.mass * drive_acceleration]
    )
    return float(front), float(rear)


def tyre_force(tyre: Tyre, slip: float, load: float) -> float:
    """Return the side force [N] of an axle by the formula of `Tyre`, to the left."""
    if tyre.linear:
        return -tyre.stiffness * slip
    peak = tyre.friction * load
    factor = tyre.stiffness / (tyre.shape * peak)
    return float(-peak * np.sin(tyre.shape * np.arctan(factor * slip)))


def road_rate(car: Car, state: FloatArray, steer: float, drive_acceleration: float) -> FloatArray:
    """Return rates `(10,)` of x, y, yaw, their rates, roll, roll rate, pitch and pitch rate.

    Newton's and Euler's equations in the frame of the road. The sprung mass is an inverted pendulum
    on a spring and a damper about each axis, for small angles.
    """
    yaw, velocity, yaw_rate = state[2], state[3:5], state[5]
    road_to_body = np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])
    body_velocity = road_to_body @ velocity
    force, moment = np.array([car.mass * drive_acceleration, 0.0]), 0.0
    wheels = (
        (car.front, steer, car.front_tyre),
        (-car.rear, 0.0, car.rear_tyre),
    )
    loads = axle_loads(car, drive_acceleration)
    for (axle_position, angle, tyre), load in zip(wheels, loads, strict=True):
        slip = np.arctan2(body_velocity[1] + yaw_rate * axle_position, body_velocity[0]) - angle
        wheel_force = tyre_force(tyre, slip, load) * np.array([-np.sin(angle), np.cos(angle)])
        force = force + wheel_force
        moment += axle_position * wheel_force[1]
    acceleration = force / car.mass
    lever = car.sprung_mass * car.arm
    roll_moment = lever * (acceleration[1] + GRAVITY * state[6]) - car.roll_stiffness * state[6]
    pitch_moment = lever * (GRAVITY * state[8] - acceleration[0]) - car.pitch_stiffness * state[8]
    return np.array(
        [
            *velocity,
            yaw_rate,
            *(road_to_body.T @ acceleration),
            moment / car.yaw_inertia,
            state[7],
            (roll_moment - car.roll_damping * state[7]) / car.roll_inertia,
            state[9],
            (pitch_moment - car.pitch_damping * state[9]) / car.pitch_inertia,
        ]
    )


def head_motion(car: Car, time: Any) -> FloatArray:
    """Return specific force and angular rate `(k, 6)` at the head in the bend, body axes.

    The second derivative of the head's path and the turn of its attitude, both by splines.
    """
    from scipy.integrate import solve_ivp
    from scipy.interpolate import make_interp_spline

    def rate(time: float, state: FloatArray) -> FloatArray:
        steer, longitudinal = bend_inputs(time)
        return road_rate(car, state, float(steer), float(longitudinal))

    initial = np.zeros(10)
    initial[3] = INITIAL_SPEED
    time_span = (time[0], time[-1])
    states = solve_ivp(
        rate, time_span, initial, "DOP853", time, rtol=1e-11, atol=1e-12, max_step=TIME_STEP
    ).y
    attitude = Rotation.from_euler("ZYX", states[[2, 8, 6]].T)
    path = attitude.apply(car.head)
    path[:, :2] += states[:2].T
    head_acceleration = make_interp_spline(time, path, SPLINE_DEGREE).derivative(2)(time)
    rotation = attitude.as_matrix()
    matrix_rate = make_interp_spline(time, rotation, SPLINE_DEGREE).derivative()(time)
    angular_rate_matrix = np.swapaxes(rotation, 1, 2) @ matrix_rate
    force = attitude.inv().apply(head_acceleration + np.array([0.0, 0.0, GRAVITY]))
    return np.hstack([force, angular_rate_matrix[:, [2, 0, 1], [1, 2, 0]]])


def car_measures(platform: Platform) -> Iterator[Entry]:
    """Yield the differences of the car from its equations and from its steady circle.

    It is the same for every `platform`.
    """
    del platform
    car = Car()
    # The car takes its inputs at the ends and in the middle of every Runge-Kutta step.
    half_steps = 0.5 * TIME_STEP * np.arange(2 * round(BEND_DURATION / TIME_STEP) + 1)
    head_values = car.sensed(INITIAL_SPEED, *bend_inputs(half_steps))
    errors = (head_values - head_motion(car, half_steps[::2]))[END_SAMPLES:-END_SAMPLES]
    reason = (
        "the car's Runge-Kutta steps of 5 ms: (w T)^4 / 120 of a motion of at most 15 rad/s is "
        "3e-7, of a size of 10"
    )
    yield Measure(
        "car braking in a bend: specific force at the head against differences of its path",
        largest(errors[:, :3]),
        3e-6,
        reason,
        "m/s2",
    )
    yield Measure(
        "car braking in a bend: angular rate against the derivative of the attitude",
        largest(errors[:, 3:]),
        3e-6,
        reason,
        "rad/s",
    )
    yield _steady_circle(car)


def _steady_circle(car: Car) -> Measure:
    """Return how far the car is from the steady circle that random drives steer for.

    Roll and side force give the side acceleration, it and the yaw rate the speed, and they the
    steering angle: L r / u + K u r, with the understeer gradient K.
    """
    from scipy.optimize import brentq

    front, rear = (replace(tyre, linear=True) for tyre in (car.front_tyre, car.rear_tyre))
    linear = replace(car, front_tyre=front, rear_tyre=rear)
    half_steps = 0.5 * TIME_STEP * np.arange(2 * round(CIRCLE_DURATION / TIME_STEP) + 1)
    ramp = np.sin(0.5 * np.pi * np.minimum(half_steps / RISE_TIME, 1.0)) ** 2
    steer = wheel_angle(linear, np.full(len(half_steps), INITIAL_SPEED), SIDE_ACCELERATION * ramp)
    sensed = linear.sensed(INITIAL_SPEED, steer, np.zeros(len(half_steps)))[-1]
    lever, yaw_rate = car.sprung_mass * car.arm, float(np.linalg.norm(sensed[3:]))
    roll_per_acceleration = lever / (car.roll_stiffness - lever * GRAVITY)

    def excess(side_acceleration: float) -> float:
        roll = roll_per_acceleration * side_acceleration
        head_offset = car.head[1] * np.cos(roll) - car.head[2] * np.sin(roll)
        side_acceleration -= yaw_rate**2 * head_offset
        return float(side_acceleration * np.cos(roll) + GRAVITY * np.sin(roll) - sensed[1])

    side_acceleration = float(brentq(excess, -MAX_SIDE_ACCELERATION, MAX_SIDE_ACCELERATION))
    wheelbase, speed = car.front + car.rear, side_acceleration / yaw_rate
    compliance_difference = (
        car.rear / car.front_tyre.stiffness - car.front / car.rear_tyre.stiffness
    )
    gradient = car.mass / wheelbase * compliance_difference
    angle = SIDE_ACCELERATION * (wheelbase / INITIAL_SPEED**2 + gradient)
    slowing_rate = SIDE_ACCELERATION * car.rear / wheelbase * angle / INITIAL_SPEED
    return Measure(
        "car on a steady circle: steering angle against the understeer law",
        abs((wheelbase / speed + gradient * speed) * yaw_rate / angle - 1.0),
        3.0 * SETTLING_TIME * slowing_rate,
        f"the front wheels' drag slows the car by {1e2 * slowing_rate:.3f} percent a second; side "
        "acceleration, yaw and roll each follow the speed within half a second",
    )


def models() -> tuple[StateSpace, StateSpace]:
    """Return models of otoliths and canals; docs/motion_cueing.md, NASA/CR-2005-213747."""
    otoliths = TransferFunction([4.0, 0.4], np.polymul([5.0, 1.0], [0.016, 1.0]))
    canals = TransferFunction([5.73 * 80.0, 0.0, 0.0], np.polymul([5.73, 1.0], [80.0, 1.0]))
    return otoliths.to_ss(), canals.to_ss()


def sensed(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return what six senses perceive `(k + 1, 6)`; their inputs are linear within a period.

    Args:
        first: `(k, 6)` at the begin of each period: specific force less rest, angular rate.
        second: `(k + 1, 6)` at the end of each, and before the first; at rest until then.
    """
    perceived = np.empty_like(second)
    for j in range(6):
        model = models()[j // 3]
        # Before the first period the input rises from rest within one period.
        state = lsim(model, [0.0, second[0, j]], [0.0, CONTROL_PERIOD])[2][-1]
        perceived[0, j] = (model.C @ state + model.D[0] * second[0, j])[0]
        for k in range(len(first)):
            output, states = lsim(
                model, [first[k, j], second[k + 1, j]], [0.0, CONTROL_PERIOD], state
            )[1:]
            perceived[k + 1, j], state = output[-1], states[-1]
    return perceived


def manoeuvre() -> Manoeuvre:
    """Return a manoeuvre in all six senses."""
    time = np.arange(PERIOD_COUNT + 1.0) * CONTROL_PERIOD
    angle: FloatArray = 2.0 * np.pi * np.outer(time, [1.0, 1.5, 2.0, 1.2, 0.7, 0.9]) + np.arange(6)
    readings = np.array([2.0, 1.5, 1.0, 0.2, 0.3, 0.25]) * np.sin(angle)
    # An accelerometer at rest senses +g along z.
    readings[:, 2] += GRAVITY
    return Manoeuvre("sines", time, readings[:, :3], readings[:, 3:])


def sensed_on_platform(head: FloatArray, instants: list[Instant]) -> tuple[FloatArray, FloatArray]:
    """Return what the platform's driver senses as each period begins and ends, less the rest value.

    That is the mean acceleration of the head over a period, and gravity, in the platform's axes at
    that time.
    """
    pose, twist = column(instants, "pose"), column(instants, "twist")
    attitude = rotation_of(pose)
    velocity = twist[:, :3] + np.cross(twist[:, 3:], attitude.apply(head))
    mean_acceleration = np.diff(velocity, axis=0) / CONTROL_PERIOD
    gravity = np.array([0.0, 0.0, GRAVITY])
    acceleration = 0.5 * (
        attitude[:-1].inv().apply(mean_acceleration) + attitude[1:].inv().apply(mean_acceleration)
    )
    tilt = attitude.inv().apply(gravity) - gravity
    at_end = np.hstack([tilt, attitude.inv().apply(twist[:, 3:])])
    at_start = at_end[:-1].copy()
    at_start[:, :3] += acceleration
    at_end[1:, :3] += acceleration
    return at_start, at_end


def cueing_measures(platform: Platform) -> Iterator[Measure]:
    """Yield the measures of perception, commands, observations and rewards on one machine."""
    drive = manoeuvre()
    env = MotionCueingEnv(platform, manoeuvre=drive, head=HEAD_POSITION)
    time = CONTROL_PERIOD * np.arange(PERIOD_COUNT)[:, None]
    phases = np.arange(env.task.actions[0].size)
    actions = ACTION_AMPLITUDE * np.cos(2.0 * np.pi * ACTION_FREQUENCY * time + phases)
    instants = run_episode(env, actions)
    vehicle_input = np.hstack([drive.specific_force - [0.0, 0.0, GRAVITY], drive.angular_rate])
    vehicle, on_platform = (
        sensed(vehicle_input[:-1], vehicle_input),
        sensed(*sensed_on_platform(np.array(HEAD_POSITION), instants)),
    )
    reason = "rounding of steps of both that are exact for inputs linear within a period"
    for name, exact in (("vehicle", vehicle), ("platform", on_platform)):
        yield Measure(
            f"MotionCueing: motion perceived by the {name}'s driver against scipy's simulation, in "
            "thresholds",
            largest((column(instants, f"perceived_{name}") - exact) / PERCEPTION_THRESHOLDS),
            1e-9,
            reason,
        )
    yield from _command_measures(env, instants, actions)
    yield observation_measure(
        "MotionCueing",
        "the manoeuvre, the pose and the twist",
        _largest_observation_error(platform, env, instants, (vehicle, on_platform, vehicle_input)),
    )
    yield reward_measure("MotionCueing", _largest_reward_error(env, instants, vehicle, on_platform))
    env.close()


def _command_measures(
    env: MotionCueingEnv, instants: list[Instant], actions: FloatArray
) -> Iterator[Measure]:
    """Yield the command against the actions' integral, and the platform against the command."""
    free = env.task.axes.free
    steps = CONTROL_PERIOD * actions * env.task.actions[0].scale
    rates = np.vstack([np.zeros(len(free)), np.cumsum(steps, axis=0)])
    integrated = np.cumsum(0.5 * CONTROL_PERIOD * (rates[1:] + rates[:-1]), axis=0)
    command = column(instants, "command")[:, free]
    yield Measure(
        "MotionCueing: command against the actions integrated twice",
        largest(command[1:] - integrated) / largest(integrated),
        1e-12,
        "rounding: accelerations are constant within a period",
    )
    lag = np.abs(axes_about_home(env, instants)[:, free] - command).max(axis=0)
    yield Measure(
        "MotionCueing: time by which the platform lags its command",
        float((lag / np.abs(rates).max(axis=0)).max()),
        ENGINE_STEP,
        "the drives' velocity loops settle within a step of the engine, 1 ms",
        "s",
    )


def axes_about_home(env: MotionCueingEnv, instants: list[Instant]) -> FloatArray:
    """Return x, y, z [m], yaw, pitch, roll [rad] `(k, 6)` of the platform from home."""
    pose, home = column(instants, "pose"), env.platform.home
    rotation = rotation_of(pose) * rotation_of(home).inv()
    return np.hstack([pose[:, :3] - home[:3], rotation.as_euler("ZYX")])


def _largest_observation_error(
    platform: Platform,
    env: MotionCueingEnv,
    instants: list[Instant],
    sensed: tuple[FloatArray, FloatArray, FloatArray],
) -> float:
    """Return the largest error of observations, relative to their scales."""
    free, axes = env.task.axes.free, axes_about_home(env, instants)
    # Twists have roll, pitch, yaw rates about x, y, z; the axes have yaw, pitch, roll.
    order = np.array([0, 1, 2, 5, 4, 3])[free]
    middle_coordinates = 0.5 * (platform.minimum_coordinates + platform.maximum_coordinates)
    vehicle, on_platform, vehicle_input = sensed
    errors = []
    for k, instant in enumerate(instants):
        pose, twist = instant.info["pose"], instant.info["twist"]
        expected = {
            "force perceived in the vehicle": vehicle[k, :3],
            "rotation perceived in the vehicle": vehicle[k, 3:],
            "force perceived on the platform": on_platform[k, :3],
            "rotation perceived on the platform": on_platform[k, 3:],
            "specific force 0": vehicle_input[k, :3],
            "angular rate 0": vehicle_input[k, 3:],
            "displacement": axes[k, free],
            "velocity": twist[order],
            "commanded displacement": instant.info["command"][free],
            "coordinate": platform.inverse_kinematics(pose) - middle_coordinates,
            "last action": instant.action,
        }
        errors.append(observation_error(env, instant, expected))
    return largest(errors)


def _largest_reward_error(
    env: MotionCueingEnv, instants: list[Instant], vehicle: FloatArray, shown: FloatArray
) -> float:
    """Return the largest error of rewards, score and false cues from their formulae."""
    scale = 10.0 * PERCEPTION_THRESHOLDS
    error = (shown - vehicle) / scale
    vehicle_cue, platform_cue = (
        np.sign(part) * np.maximum(np.abs(part) - PERCEPTION_THRESHOLDS, 0.0)
        for part in (vehicle, shown)
    )
    false_cue = np.where(vehicle_cue * platform_cue > 0.0, 0.0, platform_cue) / scale
    free, axes = env.task.axes.free, axes_about_home(env, instants)
    displacement_scale = next(c.scale for c in env.task.observations if c.name == "displacement")
    errors = []
    for k in range(1, len(instants)):
        terms = -np.array(
            [
                np.mean(error[k, :3] ** 2),
                np.mean(error[k, 3:] ** 2),
                np.mean(false_cue[k] ** 2),
                np.mean((axes[k, free] / displacement_scale) ** 2),
                -0.25 * smoothness(instants[k].action, instants[k - 1].action),
                0.0,
            ]
        )
        errors.append(reward_error(env, instants[k], REWARD_WEIGHTS, terms))
        errors.append(instants[k].info["score"] - rms(10.0 * error[: k + 1]))
        errors.append(instants[k].info["false_cues"] - rms(10.0 * false_cue[: k + 1]))
    return largest(errors)
