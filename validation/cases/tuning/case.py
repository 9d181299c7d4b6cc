"""Step responses and tuning of the Stewart thesis.

All actuators are commanded to 20 mm/s at once, so that the platform rises. The velocity loops are
closed by Kp (1 + 1/(Ti s)). The response shall reach 99.5 percent in 6 ms, stay within 0.5 percent
from 20 ms on, and overshoot by 10 percent at most. The search starts where that of the thesis does.
Then the platform steps up by 50 mm under the thesis' cascade. Both steps are repeated on the
machine with its drives, the first seen at its motors. Armature and gain are scanned for the
response that the thesis measured.
"""

from __future__ import annotations

from collections.abc import Iterator

from twin.analysis.platform import Platform, load
from twin.analysis.tuning.specification import VELOCITY_STEP, step_figures
from twin.analysis.tuning.steps import PositionStudy, VelocityStudy
from twin.analysis.tuning.tuning import Tuning
from twin.basics.arrays import FloatArray
from twin.papers.stewart_thesis.velocity_step import heave_leg, velocity_step_response
from twin.validation.case import Case
from twin.validation.cases.tuning.closed_form import carried_weight, closed_form
from twin.validation.cases.tuning.hardware import (
    hardware_plots,
    hardware_statements,
    hardware_steps,
    hardware_table,
)
from twin.validation.cases.tuning.variants import noise_statement, variants
from twin.validation.published.papers import THESIS
from twin.validation.results import (
    CaseResult,
    Curve,
    Entry,
    Panel,
    Plot,
    Statement,
    entry_of,
)

CASE = Case(
    "tuning",
    __doc__,
    machines=("stewart",),
    because="specification, gains and results are those of the thesis' machine",
    cost=2.5,
)

FOUND = (21.6e3, 3e-3)
"""[N s/m], [s] Section 4.3.1.1.2: Kp about 21.6, Ti about 0.003."""

ADOPTED = (20e3, 3e-3)
"""[N s/m], [s]"""

ITERATIONS = 3
"""Of the thesis."""


SEARCH = f"{THESIS}, section 4.3.1.1.2"


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    study, carried = VelocityStudy(), VelocityStudy(carried=True)
    tuning = study.tune(platform)
    responses = {
        "ours": tuning.search.best.response,
        "thesis: 21.6, 3 ms": study.response(platform, *FOUND)[1],
        "adopted: 20, 3 ms": study.response(platform, *ADOPTED)[1],
        "adopted, weight carried": carried.response(platform, *ADOPTED)[1],
    }
    moved = PositionStudy().response(platform)
    simulated = tuning.time, responses["adopted: 20, 3 ms"]
    hardware = load("stewart", "hardware")
    steps = hardware_steps(platform, hardware, simulated)
    varied, trends = variants(platform)
    measures = [
        *_velocity(tuning, responses),
        closed_form(platform, FOUND),
        carried_weight(platform, tuning.time),
    ]
    plots = (
        varied,
        _plot(tuning, responses),
        *hardware_plots(steps, simulated),
        _position_plot(moved, steps.position),
    )
    statements = (
        *trends,
        noise_statement(hardware),
        *_statements(platform, tuning, responses),
        *hardware_statements(steps, moved),
    )
    return CASE.result(platform, measures, plots, statements, (hardware_table(steps),))


def _velocity(tuning: Tuning, responses: dict[str, FloatArray]) -> Iterator[Entry]:
    gain, time = tuning.values
    for name, bound, reason in (
        (
            "ours",
            0.0,
            f"Kp {1e-3 * gain:.2f} N per mm/s, Ti {1e3 * time:.2f} ms after "
            f"{len(tuning.search.trials) - 1} iterations; zero or less: the specification is met",
        ),
        ("thesis: 21.6, 3 ms", 0.0, "the thesis' answer on this machine; zero or less: met"),
        ("adopted: 20, 3 ms", 0.0, "the thesis' rounded gains; zero or less: met"),
        ("adopted, weight carried", None, "per step; the integral already holds the platform"),
    ):
        figures = step_figures(tuning.time, responses[name])
        yield entry_of(
            f"velocity step, {name}: largest violation of the bounds",
            VELOCITY_STEP.violation(tuning.time, responses[name]),
            bound,
            f"{reason}; rise {1e3 * figures.rise_time:.2f} ms, settled "
            f"after {1e3 * figures.settling_time:.2f} ms, overshoot "
            f"{100.0 * figures.overshoot:.2f} percent",
        )


def _plot(tuning: Tuning, responses: dict[str, FloatArray]) -> Plot:
    milliseconds = 1e3 * tuning.time
    ways = [
        Curve(f"iteration {k}", milliseconds, trial.response)
        for k, trial in enumerate(tuning.search.trials)
    ]
    named = [Curve(name, milliseconds, one) for name, one in responses.items()]
    bounds = [
        Curve("lower bound", milliseconds, VELOCITY_STEP.lower(tuning.time), "dot"),
        Curve("upper bound", milliseconds, VELOCITY_STEP.upper(tuning.time), "dot"),
    ]
    return Plot(
        "Velocity step of all actuators",
        "time [ms]",
        Panel("speed per step, search", *ways, *bounds),
        Panel("speed per step", *named, *bounds),
        caption="Thesis figure 4.17.",
    )


def _position_plot(
    without: tuple[FloatArray, FloatArray], hardware: tuple[FloatArray, FloatArray]
) -> Plot:
    courses = {"without drives": without, "hardware": hardware}
    curves = tuple(Curve(name, time[::4], way[::4]) for name, (time, way) in courses.items())
    return Plot(
        "Position step of 50 mm",
        "time [s]",
        Panel("displacement of the actuators per step", *curves),
        caption="Thesis figures 4.21 and 4.29.",
    )


def _statements(
    platform: Platform, tuning: Tuning, responses: dict[str, FloatArray]
) -> tuple[Statement, ...]:
    gain, time = tuning.values
    count = len(tuning.search.trials) - 1
    leg = heave_leg(platform)
    per_metre = velocity_step_response(
        tuning.time, leg.mass, 1e-3 * ADOPTED[0], ADOPTED[1], weight=leg.weight
    )
    violation = VELOCITY_STEP.violation(tuning.time, responses["thesis: 21.6, 3 ms"])
    carried = step_figures(tuning.time, responses["adopted, weight carried"])
    return (
        THESIS["velocity_specification"].judged(
            f"These gains keep all bounds on this machine (by {-100.0 * violation:.2f} percent of "
            f"the step); so do ours, {1e-3 * gain:.1f} and {time:.4f}: every point inside is an "
            "answer. It holds for a loop whose integral does not carry the weight at the step, "
            "which the thesis does not say: with the weight carried the adopted gains overshoot "
            f"by {100.0 * carried.overshoot:.0f} percent, and no gains within its bounds meet the "
            "specification.",
            violation <= 0.0 and tuning.search.met,
        ),
        THESIS["search_iterations"].judged(
            f"Ours ends after {count}, {tuning.search.best.responses} responses in all.",
            count == ITERATIONS,
            "neither the thesis' algorithm nor its settings are printed, and the count depends on "
            "them: docs/tuning.md compares others, which need 3 to more than 7 and of which those "
            "with 3 or 4 end at the upper bound of 30, which the thesis' answer does not",
        ),
        THESIS["gain_without_unit"].judged(
            "N per mm/s: per m/s the same number would leave the platform falling at "
            f"{abs(per_metre[-1]):.0f} times the commanded speed after 50 ms.",
            bool(per_metre[-1] < 0.0),
        ),
    )
