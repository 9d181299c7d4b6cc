"""Free fall from rest: engines against the reference, and the published benchmark."""

from __future__ import annotations

import numpy as np

from twin.arrays import FloatArray
from twin.dynamics.integrate import integrate
from twin.dynamics.solution import Solution
from twin.platform import Platform
from twin.validation.case import Case
from twin.validation.comparison import log_curve, trajectory_comparison
from twin.validation.published import free_fall_measures, free_fall_statements
from twin.validation.results import CaseResult, Curve, Measure, Panel, Plot

CASE = Case(
    key="free_fall",
    title="Free fall from rest",
    description=(
        "The machine falls from home without actuator forces. Both engines are compared with the "
        "reference over the first 0.3 s. The reference alone goes on to 1 s, through the base and "
        "through the singular pose in its plane, which task-space equations pass unharmed: its "
        "energy has to stay constant, and on srspm the end pose is the published benchmark."
    ),
)

ENGINE_TIME = 0.3
FALL_TIME = 1.0
"""[s]"""

SAMPLES = 2001


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    measures, plots = trajectory_comparison(platform, ENGINE_TIME, "Free fall")
    fall = integrate(platform, FALL_TIME)
    time = np.linspace(0.0, FALL_TIME, SAMPLES)
    pose, twist = fall(time)
    conditions = platform.condition_number(pose)
    crossing = singular_time(platform, fall)
    kinetic, potential = platform.energy(fall.pose, fall.twist)
    total = kinetic + potential
    drift = np.abs(total - total[0]) / kinetic.max()
    measures += [
        Measure(
            f"reference: energy drift in {FALL_TIME:g} s, per largest kinetic energy",
            float(drift.max()),
            "1",
            1e-10,
            "bar of the reference integrator (Dormand-Prince, 1e-12 per step)",
        ),
        Measure(
            "time of the worst conditioned pose",
            float(time[conditions.argmax()]),
            "s",
            reason=f"condition number {conditions.max():.3g} there, {conditions[0]:.3g} at home",
        ),
        *([] if np.isnan(crossing) else [_crossing(crossing)]),
        *free_fall_measures(platform, pose[-1]),
    ]
    plots.append(
        Plot(
            "Free fall of the reference through the singular pose",
            "time [s]",
            (
                Panel("height z [m]", (Curve("z", time, pose[:, 2]),)),
                Panel("condition number", (Curve("condition", time, conditions),), log_y=True),
                Panel(
                    "energy drift / largest kinetic energy",
                    (log_curve("drift", fall.time[1:], drift[1:]),),
                    log_y=True,
                ),
            ),
            caption="Condition of the Jacobian, moments scaled by the platform joints' radius.",
        )
    )
    statements = free_fall_statements(platform, pose[-1], crossing, float(drift.max()))
    return CASE.result(platform, measures, plots, statements)


def singular_time(platform: Platform, fall: Solution) -> float:
    """Return when the determinant of the Jacobian first changes sign [s], NaN if it never does."""
    from scipy.optimize import brentq

    def determinant(time: FloatArray) -> FloatArray:
        return np.linalg.det(platform.jacobian(fall(time)[0]))

    time = np.linspace(0.0, FALL_TIME, SAMPLES)
    signs = np.sign(determinant(time))
    changes = np.flatnonzero(signs[1:] * signs[:-1] < 0.0)
    if not changes.size:
        return float("nan")
    return float(brentq(determinant, time[changes[0]], time[changes[0] + 1], xtol=1e-9))


def _crossing(time: float) -> Measure:
    return Measure(
        "singular pose (determinant of the Jacobian changes sign)",
        time,
        "s",
        reason="actuator-space equations end here",
    )
