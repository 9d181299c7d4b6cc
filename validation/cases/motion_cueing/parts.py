"""Parts of motion cueing against independent solutions: discrete filters, quadratic programs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.motion import MultiSineMotion, axis_names
from twin.motion.cueing import ClassicalWashout, Manoeuvre, PredictiveCueing, perceived
from twin.motion.cueing.algorithm import Channel
from twin.motion.cueing.perception import CANALS, OTOLITH
from twin.motion.cueing.platform_axes import machine_ranges
from twin.motion.cueing.predictive import Problem, QuadraticProgram
from twin.motion.cueing.run import default_head
from twin.motion.cueing.workspace_use import felt_manoeuvre
from twin.validation.measures.metrics import largest
from twin.validation.results import Entry, Measure, Quantity

HIGHEST = 5.0
"""[Hz] up to which filters are compared."""

FADING = 0.5
"""[1/s] by which slow responses are faded, in both compared."""

PROGRAM_STEP = 45
"""Step of braking whose program is solved twice: the platform is at its limits there."""

SMALL_FORCE = 1e-4
"""[m/s2] Amplitude of forces for which the washout filter is linear."""

FORCE_FREQUENCY = 0.5
"""[Hz] of these forces."""

FORCE_DURATION = 3.0
"""[s] of these forces."""

TILT_FREQUENCY = 3.0
"""[rad/s] Adopted corner of tilt coordination."""

RETURN_FREQUENCY = 0.2
"""[rad/s] Adopted corner of the return from steady forces."""

STEP_FORCE = (4.0, 4.0, 2.0)
"""[m/s2] Adopted steps of force along x, y and z that translations are laid out for."""

HEAD = (0.15, -0.2, 0.9)
"""[m] of a driver off all axes of rotation, from the reference point, platform axes."""

HEAD_PERIOD = 2.5e-3
"""[s] between samples of the head's path."""

HEAD_DURATION = 0.5
"""[s] of the motion in which the head's path is differentiated."""

SPLINE_DEGREE = 7
"""Of splines through the head's path."""

ENDS = 12
"""Samples at either end that are not compared, where a spline is less exact."""


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
    whole = np.vstack([g.T, h])
    weights = nnls(whole, target, maxiter=50 * len(h))[0]
    rest = whole @ weights - target
    return np.asarray(-rest[:-1] / rest[-1] - problem.gradient)


def filter_measures(platform: Platform) -> Iterator[Entry]:
    """Yield the errors of filters and models of perception over frequency."""
    washout = ClassicalWashout(platform)
    period, count = washout.period, 1 << 12
    frequency = 2.0 * np.pi * np.fft.rfftfreq(count, period)
    shown = (frequency > 0.0) & (frequency <= 2.0 * np.pi * HIGHEST)
    w, s = float(washout.settings.translation_frequency[2]), 1j * frequency[shown]
    high, low = Channel(1, period), Channel(1, period)
    tilt = washout.settings.tilt_frequency
    answers = np.empty((2, count))
    for k in range(count):
        pulse = float(k == 0)
        high.step(pulse, 2.0 * w, w * w)
        answers[0, k] = high.acceleration[0]
        answers[1, k] = low.step(tilt**2 * pulse, 2.0 * tilt, tilt**2)[0]
    # A first sample of one is a pulse whose time is one period.
    found = np.fft.rfft(answers, axis=1)[:, shown]
    exact = np.stack([s**2 / (s + w) ** 2, tilt**2 / (s + tilt) ** 2])
    pulses = np.zeros((count, 3))
    pulses[0] = 1.0
    sensed = perceived(pulses + np.array([0.0, 0.0, GRAVITY]), pulses, period)
    names = ["high-pass of translation", "low-pass of tilt"]
    for name, answer, model in (
        ("otoliths", sensed.force[:, 0], OTOLITH),
        ("canals", sensed.rate[:, 0], CANALS),
    ):
        # The response has not died away at the end, so its sum is taken with a fading window.
        names.append(name)
        fade = np.exp(-FADING * period * np.arange(count))
        found = np.vstack([found, np.fft.rfft(answer * fade)[shown]])
        exact = np.vstack([exact, model.at(frequency[shown] - 1j * FADING)])
    size = (HIGHEST * 2.0 * np.pi * period) ** 2
    for name, one, other in zip(names, found, exact, strict=True):
        yield Measure(
            f"discrete {name} against its transfer function, to {HIGHEST:g} Hz",
            largest(one / other - 1.0),
            size / 10.0,
            "both integrals of a linear acceleration, and the first-order hold, are off by (w T)^2 "
            "/ 12; damping ratio 1 makes at most 1.2 times that of it",
        )


def program_measures(platform: Platform, manoeuvre: Manoeuvre) -> Iterator[Entry]:
    """Yield the difference between two solvers on one program of predictive cueing."""
    cueing = PredictiveCueing(platform, default_head(platform))
    force, rate = manoeuvre.at(cueing.period * np.arange(PROGRAM_STEP))
    for sample in zip(force, rate, strict=True):
        cueing.step(*sample)
    problem = cueing.problem
    exact = active_set_solution(problem)
    fine = QuadraticProgram(problem, 1e-9, 100_000).solve(problem)
    usual = QuadraticProgram(problem, cueing.settings.tolerance, 4000).solve(problem)
    scale = largest(exact)
    at_bound = np.minimum(
        problem.upper - problem.rows @ exact, problem.rows @ exact - problem.lower
    )
    yield Measure(
        "program solved by OSQP against an active-set method",
        largest(fine.solution - exact) / scale,
        1e-6,
        f"both to rounding or 1e-9; {int((at_bound < 1e-9).sum())} of {len(at_bound)} rows are at "
        "their bounds",
    )
    yield Quantity(
        "program solved by OSQP with its usual tolerance against an active-set method",
        largest(usual.solution - exact) / scale,
        note=f"{usual.iterations} iterations instead of {fine.iterations}; what it leaves is "
        "checked against the limits anyway",
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
    rows = [washout.values.copy()]
    for sample in force[1:]:
        washout.step(np.array([sample, sample, sample + GRAVITY]), np.zeros(3))
        rows.append(washout.values.copy())
    found, ranges = np.array(rows), machine_ranges(platform)
    low = np.polymul([1.0, TILT_FREQUENCY], [1.0, TILT_FREQUENCY])
    tilt = lsim(([TILT_FREQUENCY**2], low), force / GRAVITY, time)[1]
    off, fastest = [], TILT_FREQUENCY
    for axis in range(3):
        if not ranges.free[axis]:
            continue
        travel, speed = 0.5 * ranges.travel[axis], 0.5 * ranges.speed[axis]
        step = STEP_FORCE[axis]
        w = max(np.sqrt(step / travel), step / (np.e * speed))
        high = np.polymul(np.polymul([1.0, w], [1.0, w]), [1.0, RETURN_FREQUENCY])
        left = force - (GRAVITY * tilt if axis < 2 else 0.0)
        way = lsim(([1.0, 0.0], high), left, time)[1]
        off.append(largest(found[:, axis] - way) / largest(way))
        fastest = max(fastest, float(w))
    for axis, sign in ((4, -1.0), (5, 1.0)):
        off.append(largest(found[:, axis] - sign * tilt) / largest(tilt))
    yield Measure(
        "classical washout of a small force against its transfer functions, per largest",
        largest(off),
        (fastest * washout.period) ** 2 / 10.0,
        "steps with a linear acceleration are off by (w T)^2 / 12 in the fastest filter; damping "
        "ratio 1 makes at most 1.2 times that of it",
    )


def head_measures(platform: Platform) -> Iterator[Measure]:
    """Yield the specific force of a moving head against the second derivative of its path."""
    from scipy.interpolate import make_interp_spline
    from scipy.spatial.transform import Rotation

    sizes = np.where(machine_ranges(platform).free, (0.02, 0.02, 0.02, 0.1, 0.08, 0.08), 0.0)
    motion = MultiSineMotion(
        platform.home,
        frequencies=[1.0, 2.0],
        amplitude=dict(zip(axis_names("yaw_pitch_roll"), sizes.tolist(), strict=True)),
        duration=HEAD_DURATION,
    )
    felt = felt_manoeuvre(platform, motion, HEAD, HEAD_PERIOD)
    pose = platform.constrain(motion.sample(felt.time).pose).pose
    turn = Rotation.from_quat(pose[:, 3:], scalar_first=True)
    path = pose[:, :3] + turn.apply(HEAD)
    second = make_interp_spline(felt.time, path, SPLINE_DEGREE).derivative(2)(felt.time)
    exact = turn.inv().apply(second + np.array([0.0, 0.0, GRAVITY]))
    fastest = 4.0 * np.pi * 3.0
    yield Measure(
        "specific force at a moving head against the second derivative of its path",
        largest((felt.specific_force - exact)[ENDS:-ENDS]),
        10.0 * (fastest * HEAD_PERIOD) ** 6,
        "splines of degree 7 leave (w T)^6 of accelerations of 10 m/s2; w of the third harmonic",
        unit="m/s2",
    )
