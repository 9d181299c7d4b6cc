"""Motion cueing: classical, adaptive and predictive."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.kernels.tasks.motion_cueing.cues import GRAVITY
from twin.motion import MultiSineMotion, axis_names
from twin.motion.cueing import (
    ClassicalWashout,
    Manoeuvre,
    Outcome,
    PredictiveCueing,
    compare,
    make_manoeuvre,
    perceived,
    workspace_use,
)
from twin.motion.cueing.algorithm import machine_ranges
from twin.motion.cueing.perception import CANAL_MODEL, OTOLITH_MODEL, SPECIFIC_FORCE_THRESHOLD
from twin.motion.cueing.predictive import Problem, QuadraticProgram
from twin.motion.cueing.run import default_head
from twin.motion.cueing.workspace_use import sensed_manoeuvre
from twin.validation.case import CaseResult, Entry, Measure, validation_case
from twin.validation.measures.sampling import largest, rotation_of

MAX_FREQUENCY = 5.0
"""[Hz] Highest frequency at which filters are compared."""

FADE_RATE = 0.5
"""[1/s] Rate at which both compared responses are faded, so that slow ones die away."""

PROGRAM_STEP = 45
"""Control step of the braking manoeuvre whose program is solved twice: the platform is at its
limits there."""

SMALL_FORCE = 1e-4
"""[m/s2] Amplitude of forces for which the washout filter is linear."""

FORCE_FREQUENCY = 0.5
"""[Hz] Frequency of the small forces."""

FORCE_DURATION = 3.0
"""[s] Duration of the small forces."""

TILT_FREQUENCY = 3.0
"""[rad/s] Corner frequency of tilt coordination. Engineering choice."""

RETURN_FREQUENCY = 0.2
"""[rad/s] Corner frequency of the return from steady forces. Engineering choice."""

STEP_FORCE = (4.0, 4.0, 2.0)
"""[m/s2] Steps of specific force along x, y and z from which the travel of the washout is laid out.
Engineering choice."""

HEAD_POSITION = (0.15, -0.2, 0.9)
"""[m] Head of a driver off all axes of rotation, from the reference point, platform axes."""

HEAD_PERIOD = 2.5e-3
"""[s] Time between samples of the head's path."""

HEAD_DURATION = 0.5
"""[s] Part of the motion in which the head's path is differentiated."""

SPLINE_DEGREE = 7
"""Degree of the splines through the head's path."""

END_SAMPLES = 12
"""Samples at either end that are not compared, where a spline is less exact."""


CUED_DURATIONS = {"braking": 4.0, "double_lane_change": 4.0, "coordinated_turn": 7.0}
"""[s] Cued part of each manoeuvre, from its beginning."""

STEADY_INTERVAL = (5.0, 7.0)
"""[s] Part of the coordinated turn in which bank and turn rate are constant."""


def active_set_solution(problem: Problem) -> FloatArray:
    """Return the solution of a program whose Hessian is the identity.

    With z = x + q it is the point z nearest to zero with G z >= h.

    Reference:
        Lawson and Hanson, Solving least squares problems (1974), chapter 23: least distance
        programming by non-negative least squares.
    """
    from scipy.optimize import nnls

    g = np.vstack([problem.rows, -problem.rows])
    h = np.concatenate([problem.lower, -problem.upper]) + g @ problem.gradient
    target = np.append(np.zeros(len(problem.gradient)), 1.0)
    augmented = np.vstack([g.T, h])
    weights = nnls(augmented, target, maxiter=50 * len(h))[0]
    residual = augmented @ weights - target
    return np.asarray(-residual[:-1] / residual[-1] - problem.gradient)


def perception_measures(platform: Platform) -> Iterator[Entry]:
    """Yield the errors of the models of perception over frequency."""
    period, count = ClassicalWashout(platform).period, 1 << 12
    frequency = 2.0 * np.pi * np.fft.rfftfreq(count, period)
    is_compared = (frequency > 0.0) & (frequency <= 2.0 * np.pi * MAX_FREQUENCY)
    pulses = np.zeros((count, 3))
    pulses[0] = 1.0
    perceived_pulse = perceived(pulses + np.array([0.0, 0.0, GRAVITY]), pulses, period)
    for name, response, model in (
        # The pulse acts along and about x.
        ("otoliths", perceived_pulse.force[:, 0], OTOLITH_MODEL),
        ("canals", perceived_pulse.rate[:, 0], CANAL_MODEL),
    ):
        # The response has not died away at the end, so its sum is taken with a fading window.
        # A first sample of one is a pulse whose time is one period.
        fade = np.exp(-FADE_RATE * period * np.arange(count))
        spectrum = np.fft.rfft(response * fade)[is_compared]
        exact = model.at(frequency[is_compared] - 1j * FADE_RATE)
        yield Measure(
            f"discrete {name} against its transfer function, to {MAX_FREQUENCY:g} Hz",
            largest(spectrum / exact - 1.0),
            (MAX_FREQUENCY * 2.0 * np.pi * period) ** 2 / 10.0,
            "both integrals of a linear acceleration, and the first-order hold, are off by (w T)^2 "
            "/ 12; damping ratio 1 makes at most 1.2 times that of it",
        )


def program_measures(platform: Platform, manoeuvre: Manoeuvre) -> Iterator[Entry]:
    """Yield the difference between two solvers on one quadratic program of predictive cueing."""
    cueing = PredictiveCueing(platform, default_head(platform))
    force, rate = manoeuvre.at(cueing.period * np.arange(PROGRAM_STEP))
    for sample in zip(force, rate, strict=True):
        cueing.step(*sample)
    problem = cueing.problem
    exact = active_set_solution(problem)
    tight = QuadraticProgram(problem, 1e-9, 100_000).solve(problem)
    at_bound = np.minimum(
        problem.upper - problem.rows @ exact, problem.rows @ exact - problem.lower
    )
    yield Measure(
        "program solved by OSQP against an active-set method",
        largest(tight.solution - exact) / largest(exact),
        1e-6,
        f"both to rounding or 1e-9; {int((at_bound < 1e-9).sum())} of {len(at_bound)} rows are at "
        "their bounds",
    )


def washout_measures(platform: Platform) -> Iterator[Measure]:
    """Yield the classical washout of small forces against its transfer functions by scipy.

    Pitch is -f_x / g and roll f_y / g behind w_t^2 / (s + w_t)^2. Along an axis that the machine
    has, the platform moves by s / ((s + w)^2 (s + w_b)) of the force that its tilt leaves; in heave
    there is none. The frequency w gives half the axis' travel, or half its speed, to a step of
    `STEP_FORCE`.
    """
    from scipy.signal import lsim

    washout = ClassicalWashout(platform)
    time = washout.period * np.arange(round(FORCE_DURATION / washout.period) + 1)
    force = SMALL_FORCE * np.sin(2.0 * np.pi * FORCE_FREQUENCY * time)
    commands = [washout.values.copy()]
    for sample in force[1:]:
        washout.step(np.array([sample, sample, sample + GRAVITY]), np.zeros(3))
        commands.append(washout.values.copy())
    command, ranges = np.array(commands), machine_ranges(platform)
    denominator = np.polymul([1.0, TILT_FREQUENCY], [1.0, TILT_FREQUENCY])
    tilt = lsim(([TILT_FREQUENCY**2], denominator), force / GRAVITY, time)[1]
    errors, max_frequency = [], TILT_FREQUENCY
    for axis in range(3):
        if not ranges.free[axis]:
            continue
        travel, speed = 0.5 * ranges.travel[axis], 0.5 * ranges.speed[axis]
        step = STEP_FORCE[axis]
        w = max(np.sqrt(step / travel), step / (np.e * speed))
        axis_denominator = np.polymul(np.polymul([1.0, w], [1.0, w]), [1.0, RETURN_FREQUENCY])
        remaining_force = force - (GRAVITY * tilt if axis < 2 else 0.0)
        translation = lsim(([1.0, 0.0], axis_denominator), remaining_force, time)[1]
        errors.append(largest(command[:, axis] - translation) / largest(translation))
        max_frequency = max(max_frequency, float(w))
    for axis, sign in ((4, -1.0), (5, 1.0)):
        errors.append(largest(command[:, axis] - sign * tilt) / largest(tilt))
    yield Measure(
        "classical washout of a small force against its transfer functions, per largest",
        largest(errors),
        (max_frequency * washout.period) ** 2 / 10.0,
        "steps with a linear acceleration are off by (w T)^2 / 12 in the fastest filter; damping "
        "ratio 1 makes at most 1.2 times that of it",
    )


def head_measures(platform: Platform) -> Iterator[Measure]:
    """Yield the specific force of a moving head against the second derivative of its path."""
    from scipy.interpolate import make_interp_spline

    amplitudes = np.where(machine_ranges(platform).free, (0.02, 0.02, 0.02, 0.1, 0.08, 0.08), 0.0)
    motion = MultiSineMotion(
        platform.home,
        frequencies=[1.0, 2.0],
        amplitude=dict(zip(axis_names("yaw_pitch_roll"), amplitudes.tolist(), strict=True)),
        duration=HEAD_DURATION,
    )
    sensed = sensed_manoeuvre(platform, motion, HEAD_POSITION, HEAD_PERIOD)
    pose = platform.constrain(motion.sample(sensed.time).pose).pose
    rotation = rotation_of(pose)
    path = pose[:, :3] + rotation.apply(HEAD_POSITION)
    head_acceleration = make_interp_spline(sensed.time, path, SPLINE_DEGREE).derivative(2)(
        sensed.time
    )
    exact = rotation.inv().apply(head_acceleration + np.array([0.0, 0.0, GRAVITY]))
    # The third harmonic of the 2 Hz sine: squares and products of angles contain it.
    max_frequency = 4.0 * np.pi * 3.0
    yield Measure(
        "specific force at a moving head against the second derivative of its path",
        largest((sensed.specific_force - exact)[END_SAMPLES:-END_SAMPLES]),
        10.0 * (max_frequency * HEAD_PERIOD) ** 6,
        "splines of degree 7 leave (w T)^6 of accelerations of 10 m/s2; w of the third harmonic",
        "m/s2",
    )


@validation_case(
    machines=("stewart", "driving_simulator"),
    because="the two machines that are motion simulators; the others have no driver",
    run_time=3.5,
)
def check_motion_cueing(platform: Platform) -> CaseResult:
    """Motion cueing: classical, adaptive and predictive.

    Three manoeuvres (braking, double lane change, coordinated turn; their first 4 to 7 s) are cued
    by classical washout, adaptive washout and predictive cueing. The case compares the actuators
    under predictive cueing with their limits, and the tilt rate of the classical washout with its
    own. In the steady part of the coordinated turn the platform's driver must not sense a side
    force. Perception and washout are compared with their transfer functions, the force at a moving
    head with its path, and the quadratic program with an active-set solution.
    """
    manoeuvres = {
        name: first_seconds(make_manoeuvre(name), duration)
        for name, duration in CUED_DURATIONS.items()
    }
    outcomes = {name: compare(platform, manoeuvre) for name, manoeuvre in manoeuvres.items()}
    measures = [
        *_limits(platform, outcomes),
        *_tilt(platform, manoeuvres),
        *_turn(outcomes["coordinated_turn"]),
        *perception_measures(platform),
        *washout_measures(platform),
        *head_measures(platform),
        *program_measures(platform, manoeuvres["braking"]),
    ]
    return check_motion_cueing.result(platform, measures)


def first_seconds(manoeuvre: Manoeuvre, seconds: float) -> Manoeuvre:
    """Return the beginning of a manoeuvre."""
    selected = manoeuvre.time <= seconds + 1e-9
    return Manoeuvre(
        manoeuvre.name,
        manoeuvre.time[selected],
        manoeuvre.specific_force[selected],
        manoeuvre.angular_rate[selected],
    )


def _limits(platform: Platform, outcomes: dict[str, dict[str, Outcome]]) -> Iterator[Entry]:
    limit_uses = [
        workspace_use(platform, outcome["predictive"].cue.motion, 1e-3)
        for outcome in outcomes.values()
    ]
    reason = "a hard limit of the exact kinematics, looked at every millisecond; 1 is the limit"
    for name in ("length", "speed", "acceleration"):
        fraction = max(getattr(limit_use, name) for limit_use in limit_uses)
        if fraction > 0.0:
            yield Measure(
                f"predictive: largest share of the actuators' {name} limit",
                fraction,
                1.0,
                reason,
                at_bound=True,
            )


def _tilt(platform: Platform, manoeuvres: dict[str, Manoeuvre]) -> Iterator[Entry]:
    max_rate, max_tilt = 0.0, 0.0
    for name, manoeuvre in manoeuvres.items():
        washout = ClassicalWashout(platform, default_head(platform))
        count = int(manoeuvre.duration / washout.period)
        force, rate = manoeuvre.at(washout.period * np.arange(count + 1))
        for sample in zip(force[1:], rate[1:], strict=True):
            washout.step(*sample)
            max_rate = max(max_rate, largest(washout.tilt.rate))
            if name == "coordinated_turn":
                max_tilt = max(max_tilt, largest(washout.tilt.value))
    yield Measure(
        "classical: largest rate of tilt coordination",
        max_rate,
        washout.settings.tilt_rate * (1.0 + 1e-12),
        "its limit, 3 deg/s, and rounding",
        "rad/s",
        at_bound=True,
    )
    yield Measure(
        "classical: largest tilt coordination in the coordinated turn",
        max_tilt,
        1e-12,
        "the specific force has no part across the body's z axis: rounding",
        "rad",
    )


def _turn(outcomes: dict[str, Outcome]) -> Iterator[Entry]:
    for name, outcome in outcomes.items():
        time = outcome.error.time
        steady = (time >= STEADY_INTERVAL[0]) & (time <= STEADY_INTERVAL[1])
        yield Measure(
            f"{name}: sensed side force while the coordinated turn is steady",
            largest(outcome.error.platform.force[steady, 1]),
            float(SPECIFIC_FORCE_THRESHOLD[1]),
            "the threshold of the otoliths: no false cue",
            "m/s2",
        )
