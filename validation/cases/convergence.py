"""Error over time step, and the order at which each engine converges to the reference."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.arrays import FloatArray
from twin.errors import MissingDependencyError
from twin.platform import Platform
from twin.simulation import simulate
from twin.trajectory import Trajectory
from twin.validation.case import Case
from twin.validation.comparison import LABELS, log_curve, missing
from twin.validation.excitation import constant_forces
from twin.validation.metrics import fitted_order, position_error, rotation_error
from twin.validation.results import CaseResult, Measure, Panel, Plot

CASE = Case(
    key="convergence",
    title="Convergence in the time step",
    description=(
        "Motion under constant actuator forces, from rest at home, with time steps from 4 ms to "
        "0.25 ms. The largest error against the reference has to fall with the step at the order "
        "that belongs to the method. Orders are fitted above the floor, where a smaller step still "
        "reduces the error."
    ),
)

DURATION = 0.2
STEPS = np.array([4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4])
"""[s]"""


class Method(NamedTuple):
    """One way to run an engine, and the order it has to show."""

    label: str
    engine: str
    options: dict[str, Any]
    order: float
    reason: str


METHODS = (
    Method(
        "Runge-Kutta 4",
        "mujoco",
        {"preset": "validation"},
        1.8,
        "second order: the integrator's fourth is hidden by the constraint springs, which stiffen "
        "with the step squared; 0.2 left for the fit",
    ),
    Method(
        "implicitfast",
        "mujoco",
        {"preset": "fast"},
        0.9,
        "first order: semi-implicit Euler; 0.1 left for the fit",
    ),
    Method(
        "plain steps",
        "bullet",
        {"preset": "fast"},
        0.9,
        "first order: semi-implicit Euler; 0.1 left for the fit",
    ),
    Method(
        "extrapolated",
        "bullet",
        {"preset": "validation"},
        2.7,
        "third order: extrapolation removes the errors of first and second order; 0.3 left for "
        "the fit",
    ),
)


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    forces = constant_forces(platform)
    reference = simulate(platform, DURATION, forces=forces, timestep=STEPS[0], progress=False)
    measures, curves = [], []
    for method in METHODS:
        name = f"{LABELS[method.engine]}, {method.label}"
        try:
            errors = np.array([_error(platform, method, step, forces, reference) for step in STEPS])
        except MissingDependencyError as error:
            measures.append(missing(name, error))
            continue
        fit = fitted_order(STEPS, errors)
        used = f"{method.reason}; fitted over {fit.used} steps from {1e3 * STEPS[0]:g} ms down"
        measures += [
            Measure(f"{name}: order of convergence", fit.order, "1", method.order, used, True),
            Measure(f"{name}: error at 1 ms", float(errors[2]), "m or rad"),
            Measure(f"{name}: smallest error", float(errors.min()), "m or rad"),
        ]
        curves.append(log_curve(name, STEPS, errors, "line+markers"))
    plot = Plot(
        "Error over time step",
        "time step [s]",
        (Panel("largest error [m or rad]", tuple(curves), log_y=True),),
        log_x=True,
        caption="The larger of position error [m] and rotation error [rad] over the motion.",
    )
    return CASE.result(platform, measures, (plot,))


def _error(
    platform: Platform, method: Method, step: float, forces: FloatArray, reference: Trajectory
) -> float:
    trajectory = simulate(
        platform,
        DURATION,
        forces=forces,
        engine=method.engine,
        timestep=step,
        every=round(STEPS[0] / step),
        progress=False,
        **method.options,
    )
    position = position_error(trajectory.pose, reference.pose).max()
    return float(max(position, rotation_error(trajectory.pose, reference.pose).max()))
