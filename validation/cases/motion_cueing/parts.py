"""Parts of motion cueing against independent solutions: discrete filters, quadratic programs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.motion.cueing import ClassicalWashout, Manoeuvre, PredictiveCueing, perceived
from twin.motion.cueing.algorithm import Channel
from twin.motion.cueing.perception import CANALS, OTOLITH
from twin.motion.cueing.predictive import Problem, QuadraticProgram
from twin.motion.cueing.run import default_head
from twin.validation.measures.metrics import largest
from twin.validation.results import Entry, Measure, Quantity

HIGHEST = 5.0
"""[Hz] up to which filters are compared."""

FADING = 0.5
"""[1/s] by which slow responses are faded, in both compared."""

PROGRAM_STEP = 45
"""Step of braking whose program is solved twice: the platform is at its limits there."""


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
