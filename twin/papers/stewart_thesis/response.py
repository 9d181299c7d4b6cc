"""Effects of the real machine that may explain the measured response of the Stewart thesis.

The thesis moved its platform with sines in pitch, up to 300 Hz, and divided measured by desired
displacement of one actuator: a peak of 7 dB about 150 Hz, -3 dB about 220 Hz, 4 dB at 70 Hz. Here
each effect is put into the linear loop by itself. A lag or delay that no data sheet gives is set
for the height of the peak; its frequency, the bandwidth and the value at 70 Hz are predictions.

Reference:
    Albayrak, thesis, METU 2005, section 4.3.2.3 and figure 4.30.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from twin.analysis.frequency.excitation import axis_path
from twin.analysis.frequency.response import FrequencyResponse, response_figures
from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.control.observer.design import lumped_mass
from twin.errors import InputError
from twin.model.machine_base import changed
from twin.papers.stewart_thesis.actuator_modes import machine_loop, path_mass
from twin.papers.stewart_thesis.loop_model import LoopModel
from twin.papers.stewart_thesis.velocity_step import heave_leg

FREQUENCIES = np.concatenate([np.arange(1.0, 60.0), np.arange(60.0, 400.0, 2.0)])
"""[Hz]"""

LATE = 2e-3
"""[s] The pure delay that the thesis saw, section 4.3.2.1."""

UNSTABLE = 100.0
"""Distance of a loop that has no response."""

SHORTEST_LAG, LONGEST_LAG = 1e-5, 5e-3
"""[s]"""


class Points(NamedTuple):
    """Points read off the figure of the thesis, or off ours in the same way."""

    peak: float
    """[dB]"""
    peak_frequency: float
    """[Hz]"""
    at_70: float
    """[dB] at 70 Hz"""
    bandwidth: float
    """[Hz]"""


PRINTED = Points(7.0, 150.0, 4.0, 220.0)

SCALES = Points(1.0, 10.0, 1.0, 10.0)
"""One of these counts as much as the others in a fit: "about" in the thesis' words."""


class Candidate(NamedTuple):
    """An explanation."""

    name: str
    loop: LoopModel
    points: Points

    @property
    def distance(self) -> float:
        """Root mean square of the differences to the thesis, in `SCALES`."""
        return float(np.sqrt(np.mean(_differences(self.points) ** 2)))


def points_of(response: FrequencyResponse) -> Points:
    """Return the thesis' points of a response.

    Raises:
        InputError: points that do not reach from below to above 70 Hz.
    """
    figures = response_figures(response)
    kept = response.trusted
    top = int(kept.magnitude.argmax())
    peak, place = figures.peak, figures.peak_frequency
    if 0 < top < len(kept.frequency) - 1:
        # The top of the parabola through three points.
        around = slice(top - 1, top + 2)
        shift = kept.frequency[around] - place
        a, b, c = np.polyfit(shift, kept.magnitude[around], 2)
        if a < 0.0:
            peak, place = float(c - 0.25 * b * b / a), float(place - 0.5 * b / a)
    return Points(peak, place, float(kept.magnitude_at(70.0)), figures.bandwidth)


def candidate(name: str, loop: LoopModel) -> Candidate:
    """Return an explanation with its points."""
    return Candidate(name, loop, points_of(loop.response(FREQUENCIES)))


def with_peak(loop: LoopModel, field: str, peak: float = PRINTED.peak) -> LoopModel:
    """Return the loop whose lag or delay gives a peak of that height [dB].

    Args:
        loop: everything else.
        field: "current_lag" or "inner_delay".
        peak: [dB], more than the loop has without.

    Raises:
        InputError: no lag up to `LONGEST_LAG` gives that peak with a stable loop.
    """
    from scipy.optimize import brentq

    def excess(exponent: float) -> float:
        tried = loop.changed(**{field: float(np.exp(exponent))})
        return points_of(tried.response(FREQUENCIES)).peak - peak if tried.stable else UNSTABLE

    low, high = np.log(SHORTEST_LAG), np.log(LONGEST_LAG)
    if not excess(low) < 0.0 < excess(high):
        raise InputError(
            "peak", f"of {peak:g} dB is not that of any {field} up to {LONGEST_LAG:g} s"
        )
    return loop.changed(**{field: float(np.exp(brentq(excess, low, high, xtol=1e-9)))})


def fitted(loop: LoopModel, free: Sequence[str]) -> LoopModel:
    """Return the stable loop nearest to the thesis' points, over the fields in `free`.

    Args:
        loop: everything else, and the fields' first values (above zero).
        free: names of fields.

    Raises:
        InputError: a field that starts at zero.
    """
    from scipy.optimize import least_squares

    first = np.array([getattr(loop, name) for name in free])
    if not (first > 0.0).all():
        raise InputError("free", "must start above zero")

    def loop_at(exponents: FloatArray) -> LoopModel:
        values = (first * np.exp(exponents)).tolist()
        return loop.changed(**dict(zip(free, values, strict=True)))

    def residuals(exponents: FloatArray) -> FloatArray:
        tried = loop_at(exponents)
        if not tried.stable:
            return np.full(4, UNSTABLE)
        return _differences(points_of(tried.response(FREQUENCIES)))

    found = least_squares(residuals, np.zeros(len(free)), diff_step=1e-3, bounds=(-2.5, 2.5))
    return loop_at(found.x)


def lagging_machine(platform: Platform, lag: float, delay: float = 0.0) -> Platform:
    """Return a machine whose drives add a lag and a delay [s] and nothing else.

    Raises:
        InputError: legs that already have drives, or that turn cranks.
    """
    content = platform.parameters.model_dump()
    if content["leg"].get("drive") is not None or platform.coordinate_unit != "m":
        raise InputError("platform", "must have prismatic legs with ideal drives")
    content["leg"]["drive"] = {
        "source": "adopted",
        "kind": "direct",
        "current_lag": lag,
        "delay": delay,
    }
    return changed(platform, content)


def explanations(platform: Platform, hardware: Platform) -> dict[str, Candidate]:
    """Return the effects one after the other, then what fits, for the Stewart machine, by keys.

    Args:
        platform: the machine with ideal drives.
        hardware: the same with its drives.

    Raises:
        InputError: a machine without the drives' data.
    """
    drive = hardware.parameters.legs[0].drive
    if drive is None:
        raise InputError("hardware", "must have drives, those of twin.load(name, 'hardware')")
    motor, heave = drive.reflected(), heave_leg(platform).mass
    ideal = machine_loop(platform, path_mass(platform, axis_path(platform, "pitch")))
    lumped = ideal.changed(mass=float(lumped_mass(platform, drives=False)[0]))
    slow, slow_lumped = (with_peak(loop, "current_lag") for loop in (ideal, lumped))
    late = with_peak(lumped, "inner_delay")
    by_difference = ideal.changed(feedforward="difference")
    differing = with_peak(by_difference, "current_lag")
    damped = with_peak(ideal.changed(friction=motor.viscous), "current_lag")
    heavy = ideal.mass + motor.inertia
    free = fitted(slow.changed(mass=20.0), ["mass", "current_lag"])
    effects = {
        "lumped": (f"rod and a sixth of the platform, {lumped.mass:.1f} kg", lumped),
        "heave": (f"machine in heave, {heave:.1f} kg", ideal.changed(mass=heave)),
        "pitch": (f"machine in pitch, {ideal.mass:.1f} kg", ideal),
        "difference": ("pitch, feedforward by difference", by_difference),
        "late": (f"pitch, {1e3 * LATE:g} ms before the drive", ideal.changed(delay=LATE)),
        "viscous": (
            f"pitch, viscous friction of the motor, {motor.viscous:.0f} N s/m",
            ideal.changed(friction=motor.viscous),
        ),
        "current": (
            f"pitch, current loop of {1e3 * drive.current_lag:g} ms",
            ideal.changed(current_lag=drive.current_lag),
        ),
        "armature": (
            f"pitch with armature, {heavy:.0f} kg, gains as they are",
            ideal.changed(mass=heavy),
        ),
        "lag": (f"pitch, lag of {1e3 * slow.current_lag:.2f} ms in the velocity loop", slow),
        "lag, difference": (
            f"pitch, feedforward by difference, lag of {1e3 * differing.current_lag:.2f} ms",
            differing,
        ),
        "lag, viscous": (
            f"pitch, viscous friction of the motor, lag of {1e3 * damped.current_lag:.2f} ms",
            damped,
        ),
        "lumped lag": (
            f"{lumped.mass:.1f} kg, lag of {1e3 * slow_lumped.current_lag:.2f} ms in the loop",
            slow_lumped,
        ),
        "lumped delay": (
            f"{lumped.mass:.1f} kg, delay of {1e3 * late.inner_delay:.2f} ms in the loop",
            late,
        ),
        "free": (f"both fitted: {free.mass:.1f} kg, lag {1e3 * free.current_lag:.2f} ms", free),
    }
    return {key: candidate(name, loop) for key, (name, loop) in effects.items()}


def _differences(points: Points) -> FloatArray:
    found = np.array([value if isfinite(value) else FREQUENCIES[-1] for value in points])
    return np.asarray((found - np.array(PRINTED)) / np.array(SCALES))
