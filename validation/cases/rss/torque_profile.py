"""Torque profile of the 6-RSS manipulator's heave task."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.motion.profiles import LAWS
from twin.validation.case import validation_case
from twin.validation.cases.rss.free_fall import PEAK_ACCELERATION, stroke
from twin.validation.cases.rss.tasks import (
    PublishedHeave,
    crank_accelerations,
    printed_crank_accelerations,
    published_heave,
    torques,
    vertical,
)
from twin.validation.measures.sampling import largest
from twin.validation.published.printed import EXTENDED_SPACE_PAPER
from twin.validation.results import CaseResult, Curve, Measure, Panel, Plot, Statement

STROKE_POINTS = 28
"""Number of points of a stroke, 10 ms apart, both ends included."""

DIGIT_TOLERANCE = 1e-10
"""Relative tolerance of the points, which are stored with twelve digits."""


class Profiles:
    """Torques of the published upward stroke: correct, and by the figure's crank acceleration."""

    def __init__(self, platform: Platform, law: str, gravity: float, time: FloatArray) -> None:
        heave = vertical(*stroke(LAWS[law], time, gravity))
        accelerations = crank_accelerations(platform, heave)
        self.printed_cranks = printed_crank_accelerations(platform, heave)
        self.right = torques(platform, heave, accelerations)
        self.printed = torques(platform, heave, self.printed_cranks)
        self.ordinary = platform.inverse_dynamics(*heave).mean(axis=1)


@validation_case(
    machines=("rss",), because="the figure is about the paper's 6-RSS manipulator"
)
def check_rss_torque_profile(platform: Platform) -> CaseResult:
    """Torque profile of the 6-RSS manipulator's heave task.

    The points of figure 16 of the paper are in the published notebook. They show three strokes
    between 0.3 and 0.4 m: the height, the acceleration of a crank and the mean torque of the
    motors. The law of motion is identified from the height, and the torque is computed by the
    extended-to-actuator-space formulation.
    """
    points = PublishedHeave(*(column[:STROKE_POINTS] for column in published_heave()))
    gravity = platform.parameters.gravity
    profiles = Profiles(platform, "cubic", gravity, points.time)
    return check_rss_torque_profile.result(
        platform,
        _measures(points, profiles, gravity),
        (_plot(points, profiles),),
        _statements(points, profiles),
    )


def _measures(points: PublishedHeave, profiles: Profiles, gravity: float) -> Iterator[Measure]:
    height, rate, _ = stroke(LAWS["cubic"], points.time, gravity)
    for name, unit, computed, published in (
        ("height", "m", height, points.height),
        ("rate", "m/s", rate, points.rate),
    ):
        yield Measure(
            f"{name} of the figure against a cubic of peak {PEAK_ACCELERATION:g} g",
            largest(computed - published),
            DIGIT_TOLERANCE,
            "digits of the points: this is the law of motion",
            unit=unit,
        )
    yield Measure(
        "crank acceleration of the figure against J a + J' a",
        largest(profiles.printed_cranks[:, 0] - points.crank_acceleration),
        1e-4,
        "joint angles with five digits in platform.toml move it by 3e-5; the right J a + J' v is "
        "off by 6 rad/s2",
        unit="rad/s2",
    )
    yield Measure(
        "torque of the figure against that of these crank accelerations",
        largest(profiles.printed - points.torque),
        0.2,
        "0.05 % of the peak; the rest is in proportion to the crank's acceleration, see below",
        unit="N m",
    )
    inertia, remainder = excess(points, profiles)
    yield Measure(
        f"difference to the figure's torque that is left with {inertia:.4f} kg m2 more per crank",
        remainder,
        0.02,
        "the published mass matrix is not ours, see the errata; a tenth of the line above",
        unit="N m",
    )
    yield Measure(
        "extended-to-actuator-space against the reference's inverse dynamics",
        largest(profiles.right - profiles.ordinary) / largest(profiles.right),
        1e-11,
        "two derivations of one equation",
    )
    yield Measure(
        "torque of the figure off that of the stated task, root mean square",
        rms(profiles.right - points.torque),
        100.0,
        "at least: the figure is not the torque of the motion that it is drawn for",
        unit="N m",
        at_least=True,
    )


def excess(points: PublishedHeave, profiles: Profiles) -> tuple[float, float]:
    """Return the inertia [kg m2] per crank that fits the rest best, and the remainder [N m]."""
    torque_difference, crank_acceleration = (
        points.torque - profiles.printed,
        profiles.printed_cranks[:, 0],
    )
    inertia = float(
        torque_difference @ crank_acceleration / (crank_acceleration @ crank_acceleration)
    )
    return inertia, largest(torque_difference - inertia * crank_acceleration)


def rms(values: FloatArray) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(values**2)))


def landmarks(torque: FloatArray) -> tuple[float, float, float, float]:
    """Return start, first local minimum, local maximum after it, and end of a stroke [N m].

    Without a local minimum the second and third are those of the end.
    """
    rising_steps = np.flatnonzero(np.diff(torque) > 0.0)
    minimum_index = int(rising_steps[0]) if len(rising_steps) else len(torque) - 1
    return (
        float(torque[0]),
        float(torque[minimum_index]),
        float(torque[minimum_index:].max()),
        float(torque[-1]),
    )


def _plot(points: PublishedHeave, profiles: Profiles) -> Plot:
    time = points.time
    torque_panel = Panel(
        "mean torque of the motors [N m]",
        Curve("figure 16", time, points.torque, "markers"),
        Curve("crank acceleration of the figure", time, profiles.printed),
        Curve("right crank acceleration", time, profiles.right, "dash"),
    )
    difference_panel = Panel(
        "figure less ours [N m]", Curve("figure", time, points.torque - profiles.printed)
    )
    return Plot("Figure 16: one of its three strokes", "time [s]", torque_panel, difference_panel)


def _statements(points: PublishedHeave, profiles: Profiles) -> tuple[Statement, ...]:
    published_landmarks, correct_landmarks = landmarks(points.torque), landmarks(profiles.right)
    figure_landmarks = landmarks(profiles.printed)
    figure_text = ", ".join(f"{value:.2f}" for value in figure_landmarks)
    return (
        EXTENDED_SPACE_PAPER["torque_profile"].judged(
            f"{correct_landmarks[0]:.2f} N m, falling all the way to {correct_landmarks[3]:.2f} N "
            f"m. With the figure's crank accelerations: {figure_text} N m.",
            rms(profiles.right - points.torque) < 0.005,
            "the published notebook multiplies the rate of the Jacobian by the acceleration "
            "instead of the velocity: it takes J a + J' a for the cranks' accelerations, whose "
            "two terms have different units; see the errata",
        ),
        EXTENDED_SPACE_PAPER["torque_bound"].judged(
            f"{correct_landmarks[0]:.2f} N m at the start, the largest of the stroke.",
            profiles.right.max() == correct_landmarks[0]
            and 0.999 * published_landmarks[0] < correct_landmarks[0] <= published_landmarks[0],
        ),
        EXTENDED_SPACE_PAPER["torque_peaks"].judged(
            f"At the lower pose, where a stroke downwards is braked, the torque is largest: "
            f"{correct_landmarks[0]:.2f} N m. At the upper pose gravity brakes, and it is lowest: "
            f"{correct_landmarks[3]:.2f} N m.",
            bool(profiles.right.argmax() == 0 and profiles.right.argmin() == STROKE_POINTS - 1),
        ),
    )
