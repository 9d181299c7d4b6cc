"""Active damping: force feedback, velocity feedback, HAC-LAC.

Local loops in every leg damp the modes: integral force feedback and direct velocity feedback. Their
gains damp the worst mode best. The slowest mode's free decay is measured on the nonlinear machine,
in the analytic engine and in MuJoCo. It is compared with the poles of the sampled linear loop. An
outer loop on the pose then removes the displacement that the local loops allow. In configuration
hardware all of it runs through delay, lag, motors on transmissions, dry friction and encoders. The
case measures the damping that is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from twin.analysis.frequency.linear.response import linear_modes, slowest_shape
from twin.analysis.platform import Platform
from twin.analysis.stiffness.sag import with_gravity
from twin.basics.arrays import FloatArray
from twin.control.active_damping import (
    DirectVelocityFeedback,
    HacLac,
    IntegralForceFeedback,
    closed_loop,
    smallest_damping,
)
from twin.control.active_damping.laws import continuous_force_feedback, continuous_velocity_feedback
from twin.control.active_damping.local import LocalFeedback
from twin.control.active_damping.local_design import series_stiffness, suitable_leak
from twin.control.linear import LinearMachine, linearise
from twin.rotations import displaced, displacement
from twin.simulation.simulate import simulate
from twin.validation.case import Case
from twin.validation.cases.active_damping.drives import driven_measures, pole_error
from twin.validation.cases.active_damping.figures import NAMES, locus_plot, transmissibility_plot
from twin.validation.cases.closed_loop.case import with_drives
from twin.validation.measures.metrics import largest
from twin.validation.results import (
    CaseResult,
    Curve,
    CurveStyle,
    Entry,
    Measure,
    Panel,
    Plot,
    Quantity,
)

SIX = "the laws of active damping are those of six actuators"

CASE = Case(
    "active_damping",
    __doc__,
    kinds=("strut", "viscoelastic"),
    because="only legs with springs have modes to be damped",
    condition=lambda platform: "" if platform.n_actuators == 6 else SIX,
    cost=2.5,
)

ENGINES = (("analytic", "fast"), ("mujoco", "accurate"))
TESTED = {"iff": 0.15, "dvf": 0.15}
"""Gains at which struts' decays are measured, per best gain: at the best one nothing swings."""

LOAD = np.array([0.0, 0.0, -20.0, 0.0, 0.0, 0.0])
GAINS = np.geomspace(1e-1, 1e7, 17)


class Damped(NamedTuple):
    """One machine with both laws."""

    platform: Platform
    linear: LinearMachine
    controllers: dict[str, LocalFeedback]


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    linear = linearise(platform)
    controllers: dict[str, LocalFeedback] = {
        "iff": IntegralForceFeedback(platform),
        "dvf": DirectVelocityFeedback(platform),
    }
    damped = Damped(platform, linear, controllers)
    passive = linear.locked() if platform.n_deflections else linear
    own = linear_modes(passive).swinging
    measures: list[Entry] = [
        Quantity(
            "smallest damping ratio of the passive machine",
            own.damping_ratios.min(),
            note=f"modes from {own.frequencies[0]:.4g} to {own.frequencies[-1]:.4g} Hz"
            + ("; actuators blocked" if platform.n_deflections else ""),
        )
    ]
    for name, controller in controllers.items():
        ratio = smallest_damping(closed_loop(linear, controller.law).rates)
        measures.append(
            Quantity(
                f"{NAMES[name]}: smallest damping ratio at the best gain",
                ratio,
                note=f"sampled every {1e3 * controller.period:g} ms",
            )
        )
    measures.append(_all_gains(platform))
    decays, plot = _decays(damped)
    measures += [*decays, *_outer(damped)]
    figures = (linear, passive, controllers)
    plots = [locus_plot(linear, controllers["iff"].period), transmissibility_plot(*figures), plot]
    real = with_drives(platform)
    if real is not platform:
        found, plot = driven_measures(real)
        measures += found
        plots.append(plot)
    return CASE.result(platform, measures, plots)


def _all_gains(platform: Platform) -> Measure:
    """Return the worst damping over all gains of the continuous collocated laws."""
    floating = with_gravity(platform, 0.0)
    linear, worst = linearise(floating), []
    for gain in GAINS:
        held = series_stiffness(linear)
        laws = [continuous_velocity_feedback(floating, gain, stiffness=held)]
        if not platform.n_deflections:
            laws.append(continuous_force_feedback(floating, gain, leak=suitable_leak(linear)))
        worst += [smallest_damping(closed_loop(linear, law).poles) for law in laws]
    return Measure(
        f"smallest damping ratio over gains from {GAINS[0]:g} to {GAINS[-1]:g}, not sampled",
        min(worst),
        0.0,
        "collocated laws dissipate: no gain makes a mode grow; gravity off",
        at_least=True,
    )


def _decays(damped: Damped) -> tuple[list[Entry], Plot]:
    measures: list[Entry] = []
    panels = []
    for name, controller in damped.controllers.items():
        tested = _tested(damped, name, controller)
        order = 5 if damped.platform.n_deflections else 3
        curves: list[Curve] = []
        for engine, fidelity in ENGINES:
            time, swing = _swing(tested, engine, fidelity)
            error, measured, predicted = pole_error(tested, damped.linear, swing, order)
            measures.append(
                Measure(
                    f"{NAMES[name]} in {NAMES[engine]}: pole of the slowest mode's decay against "
                    "the linear loop",
                    error,
                    2e-4,
                    f"{_gain_text(damped, name)}damping ratio {measured:.5f}, predicted "
                    f"{predicted:.5f}; loops of impedance 0.9999 are soft by 1e-4, and near "
                    "poles are resolved to 1e-4",
                )
            )
            # The engines' curves lie on each other.
            style: CurveStyle = "dash" if curves else "line"
            curves.append(Curve(NAMES[engine], time, swing / abs(swing[0]), style))
        panels.append(Panel(f"{NAMES[name]}: slowest mode", *curves))
    title = "Free decay of the slowest mode"
    return measures, Plot(title, "time [s]", *panels)


def _gain_text(damped: Damped, name: str) -> str:
    """Return at which part of the best gain a decay is measured; empty for the whole of it."""
    return "" if damped.platform.n_deflections else f"at {TESTED[name]:g} of the best gain; "


def _tested(damped: Damped, name: str, best: LocalFeedback) -> LocalFeedback:
    """Return a controller whose slowest mode still swings."""
    if damped.platform.n_deflections:
        return best
    fastest = -float(best.law.feedthrough[0, 1])
    if name == "dvf":
        return DirectVelocityFeedback(damped.platform, gain=TESTED[name] * fastest)
    share = -float(best.law.feedthrough[0, 2])
    gain = -np.log(1.0 - share) / best.period
    return IntegralForceFeedback(damped.platform, gain=TESTED[name] * gain)


def _swing(controller: LocalFeedback, engine: str, fidelity: str) -> tuple[FloatArray, FloatArray]:
    """Return times and amplitudes `(k,)` of the slowest mode, released from a small start."""
    platform = controller.platform
    shape, row = slowest_shape(controller.linear)
    shape = shape / np.abs(shape).max()
    soft = platform.n_deflections > 0
    start = displaced(platform.home, shape * (1e-4 if soft else 1e-7))
    course = simulate(
        platform,
        (500 if soft else 150) * controller.period,
        start,
        deflection=controller.linear.point.deflection,
        controller=controller,
        engine=engine,
        timestep=controller.period,
        fidelity=fidelity,
    )
    return course.time, displacement(course.pose, platform.home) @ row


def _outer(damped: Damped) -> Iterator[Entry]:
    platform, left = damped.platform, []
    outer = HacLac(platform, inner=damped.controllers["iff"])
    yield Quantity(
        "HAC-LAC: smallest damping ratio of the whole loop",
        smallest_damping(outer.outer.poles),
        note=f"force feedback inside, LQG with integral outside: {len(outer.outer.poles)} poles",
    )
    for controller in (damped.controllers["iff"], outer):
        course = simulate(
            platform,
            4000 * controller.period,
            deflection=damped.linear.point.deflection,
            controller=controller,
            wrench=LOAD,
            timestep=controller.period,
            fidelity="fast",
        )
        left.append(largest(displacement(course.pose[-1], platform.home)))
    yield Quantity(
        "displacement under 20 N with force feedback alone",
        left[0],
        note="the leak leaves a share of the static stiffness",
        unit="m",
    )
    yield Measure(
        "HAC-LAC: displacement under 20 N, per that with force feedback alone",
        left[1] / left[0],
        0.1,
        "integral action; four thousand periods are a few of its time constants",
    )
