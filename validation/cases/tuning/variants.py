"""Step responses over one gain at a time, as the Stewart thesis draws them before its search."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from twin.analysis.platform import Platform
from twin.analysis.tuning.specification import StepFigures, step_figures
from twin.analysis.tuning.steps import VelocityStudy
from twin.control.cascade import Cascade
from twin.simulation.simulate import simulate
from twin.validation.published.papers import THESIS
from twin.validation.results import Curve, Panel, Plot, Statement

GAINS = (5, 10, 15, 20, 25, 30)
"""[N per mm/s] Adopted: the range that the thesis gives to its search; the values it draws are not
printed."""

FIXED_GAIN = 15
"""[N per mm/s] Gain while the integral time is varied."""

FIXED_TIME = 3
"""[ms] Integral time while the gain is varied."""

TIMES = (1, 2, 3, 4, 5, 6, 7, 8)
"""[ms] Adopted in the same way."""

NOISY_GAINS = (15, 30)
"""[N per mm/s] Gain of figure 4.14, and the largest gain that the thesis allows for noise."""

STANDSTILL_TIME = 1.0
"""[s] Duration of a run at home; its second half is evaluated."""

ENGINE_STEP = 5e-4
"""[s] Time step of the engine."""


def variants(platform: Platform) -> tuple[Plot, tuple[Statement, ...]]:
    """Return the thesis' figures 4.13 and 4.14, and what it reads off them beside ours."""
    gains, first = _responses(platform, [(gain, FIXED_TIME) for gain in GAINS], "Kp {0:g}")
    times, second = _responses(platform, [(FIXED_GAIN, time) for time in TIMES], "Ti {1:g} ms")
    plot = Plot(
        "Velocity step over gain and integral time",
        "time [ms]",
        Panel(f"speed per step, Ti {FIXED_TIME:g} ms", *gains),
        Panel(f"speed per step, Kp {FIXED_GAIN:g} N per mm/s", *times),
        caption="Thesis figures 4.13 and 4.14; the values it draws are not printed.",
    )
    return plot, (_by_gain(first), _by_time(second))


def _responses(
    platform: Platform, pairs: list[tuple[int, int]], name: str
) -> tuple[tuple[Curve, ...], list[StepFigures]]:
    curves, figures = [], []
    for gain, time in pairs:
        instants, response = VelocityStudy().response(platform, 1e3 * gain, 1e-3 * time)
        curves.append(Curve(name.format(gain, time), 1e3 * instants, response))
        figures.append(step_figures(instants, response))
    return tuple(curves), figures


def _by_gain(figures: list[StepFigures]) -> Statement:
    rises, overshoots = [one.rise_time for one in figures], [one.overshoot for one in figures]
    return THESIS["higher_gain"].judged(
        f"From {GAINS[0]} to {GAINS[-1]} N per mm/s the rise time falls from "
        f"{1e3 * rises[0]:.1f} to {1e3 * rises[-1]:.1f} ms and the overshoot from "
        f"{100.0 * overshoots[0]:.0f} to {100.0 * overshoots[-1]:.1f} percent.",
        _growing(rises[::-1]) and _growing(overshoots[::-1]),
    )


def _by_time(figures: list[StepFigures]) -> Statement:
    rises, overshoots = [one.rise_time for one in figures], [one.overshoot for one in figures]
    settled = [one.settling_time for one in figures]
    each = ", ".join(f"{1e3 * one:.1f}" for one in settled)
    return THESIS["longer_integral_time"].judged(
        f"From {TIMES[0]} to {TIMES[-1]} ms with Kp = {FIXED_GAIN} the overshoot falls from "
        f"{100.0 * overshoots[0]:.0f} to {100.0 * overshoots[-1]:.1f} percent and the rise time "
        f"grows from {1e3 * rises[0]:.1f} to {1e3 * rises[-1]:.1f} ms; settled after {each} ms.",
        _growing(overshoots[::-1]) and _growing(rises) and _growing(settled),
        "overshoot and rise time do as they say, settling time does not grow throughout: it ends "
        "where the last swing enters the band of 0.5 percent, and another swing is the last one "
        "for other gains",
    )


def noise_statement(hardware: Platform) -> Statement:
    """Return the statement about noise at standstill, for a machine with its drives."""
    speeds = []
    for gain in NOISY_GAINS:
        controller = Cascade(hardware, velocity_gain=1e3 * gain)
        run = simulate(
            hardware,
            STANDSTILL_TIME,
            controller=controller,
            timestep=ENGINE_STEP,
            fidelity="fast",
            progress=False,
        )
        rates = run.rates[run.time >= 0.5 * STANDSTILL_TIME]
        speeds.append(1e3 * float(np.sqrt(np.mean(rates**2))))
    low, high = NOISY_GAINS
    return THESIS["noise_at_standstill"].judged(
        f"The rms speed of the actuators at standstill is {speeds[1]:.2f} mm/s with {high} N per "
        f"mm/s, and {speeds[0]:.2f} mm/s with {low} N per mm/s.",
        speeds[1] > speeds[0],
        "here encoders and converters are quantised, and the legs move within their backlash; the "
        "speed that a drive takes from its resolver is exact, since the thesis prints neither "
        "resolution nor noise of it",
    )


def _growing(values: list[float]) -> bool:
    return all(before < after for before, after in pairwise(values))
