"""Motion cueing: classical, adaptive and predictive.

Three manoeuvres (braking, double lane change, coordinated turn; their first 4 to 7 s) are cued by
classical washout, adaptive washout and predictive cueing. The case compares the motion that the
platform's driver perceives with the one that the vehicle's driver perceives, and the actuators with
their limits. It checks the tilt rate, and the turn that must not be cued as a side force. The
discrete filters are compared with their transfer functions, the force at a moving head with its
path, and the quadratic program with an active-set solution. The coordinated turn has no chart, as
nothing is to be felt along surge and sway there.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.motion.cueing import (
    ALGORITHMS,
    ClassicalWashout,
    Manoeuvre,
    Outcome,
    PredictiveCueing,
    compare,
    make_manoeuvre,
    standstill_error,
    workspace_use,
)
from twin.motion.cueing.perception import FORCE_THRESHOLD
from twin.motion.cueing.run import default_head
from twin.validation.case import Case
from twin.validation.cases.motion_cueing.parts import (
    filter_measures,
    head_measures,
    program_measures,
    washout_measures,
)
from twin.validation.measures.metrics import largest
from twin.validation.results import CaseResult, Curve, Entry, Measure, Panel, Plot, Quantity

CASE = Case(
    "motion_cueing",
    __doc__,
    machines=("stewart", "driving_simulator"),
    because="the two machines that are motion simulators; the others have no driver",
    cost=3.5,
)

SECONDS = {"braking": 4.0, "double_lane_change": 4.0, "coordinated_turn": 7.0}
"""Manoeuvre -> [s] from its beginning that are cued."""

STEADY = (5.0, 7.0)
"""[s] of the coordinated turn in which bank and turn rate are constant."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    manoeuvres = {name: first_seconds(make_manoeuvre(name), last) for name, last in SECONDS.items()}
    outcomes = {name: compare(platform, manoeuvre) for name, manoeuvre in manoeuvres.items()}
    measures = [
        *_limits(platform, outcomes),
        *_tilt(platform, manoeuvres),
        *_turn(outcomes["coordinated_turn"]),
        *filter_measures(platform),
        *washout_measures(platform),
        *head_measures(platform),
        *program_measures(platform, manoeuvres["braking"]),
        *_errors(manoeuvres, outcomes),
    ]
    plots = [_plot(platform, name, outcomes[name]) for name in tuple(SECONDS)[:2]]
    return CASE.result(platform, measures, plots)


def first_seconds(manoeuvre: Manoeuvre, seconds: float) -> Manoeuvre:
    """Return the beginning of a manoeuvre."""
    kept = manoeuvre.time <= seconds + 1e-9
    return Manoeuvre(
        manoeuvre.name,
        manoeuvre.time[kept],
        manoeuvre.specific_force[kept],
        manoeuvre.angular_rate[kept],
    )


def _limits(platform: Platform, outcomes: dict[str, dict[str, Outcome]]) -> Iterator[Entry]:
    uses = [
        workspace_use(platform, each["predictive"].cue.motion, 1e-3) for each in outcomes.values()
    ]
    reason = "a hard limit of the exact kinematics, looked at every millisecond; 1 is the limit"
    for name in ("length", "speed", "acceleration"):
        share = max(getattr(use, name) for use in uses)
        if share > 0.0:
            text = f"predictive: largest share of the actuators' {name} limit"
            yield Measure(text, share, 1.0, reason, at_bound=True)
    algorithms = [each["predictive"].cue.algorithm for each in outcomes.values()]
    shares = np.concatenate([a.shares for a in algorithms if isinstance(a, PredictiveCueing)])
    yield Quantity(
        "predictive: steps in which the last plan went on",
        (shares == 0.0).sum(),
        note=f"of {len(shares)}; {int((shares < 1.0).sum())} followed the new plan in part",
    )
    times = np.concatenate([each["predictive"].cue.step_time for each in outcomes.values()])
    period = algorithms[0].period
    yield Quantity(
        "predictive: median time of a step over its period",
        float(np.median(times)) / period,
        note=f"{1e3 * np.median(times):.1f} ms of {1e3 * period:g} ms on this computer; below "
        "1 it runs in real time",
    )


def _tilt(platform: Platform, manoeuvres: dict[str, Manoeuvre]) -> Iterator[Entry]:
    fastest, lean = 0.0, 0.0
    for name, manoeuvre in manoeuvres.items():
        washout = ClassicalWashout(platform, default_head(platform))
        count = int(manoeuvre.duration / washout.period)
        force, rate = manoeuvre.at(washout.period * np.arange(count + 1))
        for sample in zip(force[1:], rate[1:], strict=True):
            washout.step(*sample)
            fastest = max(fastest, largest(washout.tilt.rate))
            if name == "coordinated_turn":
                lean = max(lean, largest(washout.tilt.value))
    limit = washout.settings.tilt_rate
    yield Measure(
        "classical: largest rate of tilt coordination",
        fastest,
        limit * (1.0 + 1e-12),
        "its limit, 3 deg/s, and rounding",
        unit="rad/s",
        at_bound=True,
    )
    yield Measure(
        "classical: largest tilt coordination in the coordinated turn",
        lean,
        1e-12,
        "the specific force has no part across the body's z axis: rounding",
        unit="rad",
    )


def _turn(outcomes: dict[str, Outcome]) -> Iterator[Entry]:
    threshold = float(FORCE_THRESHOLD[1])
    for name, one in outcomes.items():
        time = one.error.time
        steady = (time >= STEADY[0]) & (time <= STEADY[1])
        side = largest(one.error.platform.force[steady, 1])
        yield Measure(
            f"{name}: sensed side force while the coordinated turn is steady",
            side,
            threshold,
            "the threshold of the otoliths: no false cue",
            unit="m/s2",
        )
    manoeuvre = next(iter(outcomes.values())).cue.manoeuvre
    across = GRAVITY * np.tan(np.arccos(GRAVITY / manoeuvre.specific_force[:, 2].max()))
    yield Quantity(
        "side force of the same turn to a filter that is given accelerations",
        across,
        note="what would be cued if gravity were taken off in the road's axes",
        unit="m/s2",
    )


def _errors(
    manoeuvres: dict[str, Manoeuvre], outcomes: dict[str, dict[str, Outcome]]
) -> Iterator[Entry]:
    for name, manoeuvre in manoeuvres.items():
        still = standstill_error(manoeuvre).total
        for algorithm in ALGORITHMS:
            one = outcomes[name][algorithm]
            error = one.error
            yield Quantity(
                f"{name}, {algorithm}: perceived error",
                error.total,
                note=f"at rest {still:.2f}; correlation {error.total_correlation:.2f}, false "
                f"cues {error.total_false_cue:.2f} thresholds; largest share of limits "
                f"{one.use.largest:.2f}, motion shrunk to {one.cue.shrink:.2f}",
                unit="thresholds",
            )


def _plot(platform: Platform, name: str, outcomes: dict[str, Outcome]) -> Plot:
    column = 0 if name == "braking" else 1
    sense = ("surge", "sway")[column]
    first = next(iter(outcomes.values())).error
    felt = [Curve("vehicle", first.time, first.vehicle.force[:, column], "dash")]
    used = []
    low, high = platform.minimum_coordinates, platform.maximum_coordinates
    for key, one in outcomes.items():
        felt.append(Curve(key, one.error.time, one.error.platform.force[:, column]))
        share = np.abs(2.0 * one.use.coordinates - low - high) / (high - low)
        used.append(Curve(key, one.use.time, share.max(axis=1)))
    return Plot(
        f"Cueing: {name.replace('_', ' ')}",
        "time [s]",
        Panel(f"perceived {sense} [m/s²]", *felt),
        Panel("share of actuator range", *used),
        caption="Sensed by the otoliths in vehicle and platform; below, the actuator that is "
        "farthest from mid-range: 1 is its limit.",
    )
