"""A prescribed motion of a machine: leg lengths, thrusts, work, and engines driven along it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.arrays import FloatArray
from twin.motion import Motion
from twin.platform import Platform
from twin.validation.comparison import TIMESTEP, trajectory_comparison
from twin.validation.durations import duration_for
from twin.validation.projection import projection_errors
from twin.validation.results import Curve, Measure, Panel, Plot

WORK_REASON = (
    "the motion returns to where it began, so that its energy does; the trapezoidal sum over the "
    "steps is exact for a sine and leaves 1e-9 with fades; a wrong velocity term shows at 1e-3"
)

DRAWN = 2500
"""Points of a curve at most; 8 s of 70 Hz still have four a period."""

PROJECTED = 50
"""States along the motion at which the engines' models are projected."""


class DrivenMotion(NamedTuple):
    """A machine carried through a motion, sampled at every time step."""

    time: FloatArray
    """`(k,)` [s]"""
    pose: FloatArray
    twist: FloatArray
    acceleration: FloatArray
    lengths: FloatArray
    """`(k, n)` [m]"""
    rates: FloatArray
    """`(k, n)` [m/s]"""
    thrusts: FloatArray
    """`(k, n)` [N]"""


def driven(platform: Platform, motion: Motion) -> DrivenMotion:
    """Return legs and thrusts of a machine along a motion, by the reference."""
    time = np.arange(round(motion.duration / TIMESTEP) + 1.0) * TIMESTEP
    sample = motion(time)
    rates = np.einsum("kij,kj->ki", platform.jacobian(sample.pose), sample.twist)
    return DrivenMotion(
        time,
        *sample,
        platform.inverse_kinematics(sample.pose),
        rates,
        platform.inverse_dynamics(*sample),
    )


def work_measure(ride: DrivenMotion, tolerance: float) -> Measure:
    """Return the work of the thrusts over a motion that ends as it began, per work exchanged."""
    power = np.einsum("ki,ki->k", ride.thrusts, ride.rates)
    net, exchanged = np.trapezoid(power, ride.time), np.trapezoid(np.abs(power), ride.time)
    name = "work of the thrusts over the motion, per work exchanged"
    return Measure(name, float(abs(net) / exchanged), "1", tolerance, WORK_REASON)


def projection_along(platform: Platform, ride: DrivenMotion) -> tuple[list[Measure], list[Curve]]:
    """Return the engines' projection errors at states spread over the motion."""
    at = np.linspace(0, len(ride.time) - 1, PROJECTED).astype(int)
    return projection_errors(
        platform, ride.pose[at], ride.twist[at], ride.acceleration[at], x=ride.time[at]
    )


def follow(
    platform: Platform, ride: DrivenMotion, begin: float, duration: float, title: str
) -> tuple[list[Measure], list[Plot]]:
    """Return engines against reference, both driven by the held thrusts of a part of the motion.

    It begins at `begin` [s] and lasts `duration` [s], less in a small machine.
    """
    duration = duration_for(platform, duration)
    first, steps = round(begin / TIMESTEP), round(duration / TIMESTEP)
    return trajectory_comparison(
        platform,
        duration,
        title,
        ride.thrusts[first : first + steps],
        ride.pose[first],
        ride.twist[first],
    )


def legs_plot(
    platform: Platform, ride: DrivenMotion, title: str, projection: list[Curve], caption: str
) -> Plot:
    """Return leg displacements, thrusts, and the projection errors below."""
    extension = ride.lengths - platform.minimum_lengths
    kept = slice(None, None, 1 + len(ride.time) // DRAWN)
    panels = (
        Panel("extension from retracted [m]", leg_curves(ride.time[kept], extension[kept])),
        Panel("thrust [N]", leg_curves(ride.time[kept], ride.thrusts[kept])),
        Panel("projection error / largest force", tuple(projection), log_y=True),
    )
    return Plot(title, "time [s]", panels, caption=caption)


def leg_curves(time: FloatArray, values: FloatArray) -> tuple[Curve, ...]:
    """Return one curve per leg of values `(k, n)`."""
    return tuple(Curve(f"leg {i + 1}", time, column) for i, column in enumerate(values.T))
