"""Convergence in the time step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.errors import MissingDependencyError
from twin.simulation.simulate import simulate
from twin.simulation.trajectory import Trajectory
from twin.validation.case import validation_case
from twin.validation.cases.general.constant_forces import constant_forces
from twin.validation.measures.comparison import (
    ENGINE_BARS,
    ENGINE_LABELS,
    log_curve,
    missing,
    motion_fraction,
)
from twin.validation.measures.equilibrium import duration_for, followed_duration, rest, stiff_scale
from twin.validation.measures.sampling import fitted_order, position_error, rotation_error
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

MAX_DURATION = 0.2
"""[s] Longest duration of a run."""

TIME_STEPS = np.array([4e-3, 2e-3, 1e-3, 5e-4])
"""[s] Time steps. A further half of the last one would cost as much as all of them and change an
order by 0.01."""

SMALL_ERROR_FRACTION = 1e-2
"""Fraction of an engine's bar below which errors may show another order, that of the remaining
errors."""


class Method(NamedTuple):
    """Engine with settings, and the order of convergence that it has to show."""

    label: str
    engine: str
    options: dict[str, Any]
    order: float
    reason: str
    style: CurveStyle = "line+markers"


class Errors(NamedTuple):
    """Largest errors over the motion, one entry for each time step."""

    position: FloatArray
    """[m]"""
    rotation: FloatArray
    """[rad]"""


COMPARED_METHODS = (
    Method(
        "accurate fidelity",
        "mujoco",
        {"fidelity": "accurate"},
        1.8,
        "second order: the integrator's fourth is hidden by the constraint springs, which stiffen "
        "with the step squared; 0.2 left for the fit",
    ),
    Method(
        "fast fidelity",
        "mujoco",
        {"fidelity": "fast"},
        0.9,
        "first order: semi-implicit Euler; 0.1 left for the fit",
    ),
    Method(
        "plain steps",
        "bullet",
        {"fidelity": "fast"},
        0.9,
        "first order: semi-implicit Euler; 0.1 left for the fit",
        "dash",
    ),
    Method(
        "extrapolated",
        "bullet",
        {"fidelity": "accurate"},
        2.7,
        "third order: extrapolation removes the errors of first and second order; 0.3 left for "
        "the fit",
    ),
)


@validation_case(cost=2.5)
def check_convergence(platform: Platform) -> CaseResult:
    """Convergence in the time step.

    Motion under constant actuator forces, from rest at home, with time steps from 4 ms to 0.5 ms
    (all shorter in a stiff machine). The largest position error against the reference has to fall
    with the step at the order that belongs to the method. Orders are fitted above the floor, where
    a smaller step still reduces the error.
    """
    forces = constant_forces(platform)
    duration = followed_duration(platform, duration_for(platform, MAX_DURATION), forces)
    steps = TIME_STEPS * stiff_scale(platform)
    options: dict[str, Any] = {"deflection": rest(platform).deflection, "progress": False}
    reference = simulate(platform, duration, forces=forces, timestep=steps[0], **options)
    fraction = motion_fraction(platform, reference)
    small_errors = {
        bar.engine: SMALL_ERROR_FRACTION * bar.tolerance * fraction for bar in ENGINE_BARS
    }
    measures: list[Entry] = []
    positions: list[Curve] = []
    rotations: list[Curve] = []
    for method in COMPARED_METHODS:
        name = f"{ENGINE_LABELS[method.engine]}, {method.label}"
        try:
            name += _integrator(method)
            errors = _errors(platform, method, forces, reference, steps)
        except MissingDependencyError as error:
            measures.append(missing(name, error))
            continue
        # The third step is that of 1 ms.
        measures.append(_order(name, method, steps, errors.position, small_errors[method.engine]))
        positions.append(log_curve(name, steps, errors.position, method.style))
        rotations.append(log_curve(name, steps, errors.rotation, method.style))
    plot = Plot(
        "Error over time step",
        "time step [s]",
        Panel("position error [m]", *positions, log_y=True),
        Panel("rotation error [rad]", *rotations, log_y=True),
        log_x=True,
        caption="Largest errors over the motion. The two first-order methods lie on each other.",
    )
    return check_convergence.result(platform, measures, (plot,))


def _integrator(method: Method) -> str:
    """Return the integrator of a fidelity of MuJoCo, as it is set there."""
    if method.engine != "mujoco":
        return ""
    from twin.engines.mujoco import FIDELITY_INTEGRATORS

    return f" ({FIDELITY_INTEGRATORS[method.options['fidelity']]})"


def _order(name: str, method: Method, steps: FloatArray, errors: FloatArray, tiny: float) -> Entry:
    fit = fitted_order(steps, errors)
    reason = f"{method.reason}; fitted over {fit.used} steps from {1e3 * steps[0]:g} ms down"
    shows_order = fit.order >= method.order or errors[2] > tiny
    if not shows_order:
        reason = f"not judged: errors of {errors[2]:.1e} m are too small to show the method's order"
    name_and_order = f"{name}: order of convergence", fit.order
    if not shows_order:
        return Quantity(*name_and_order, reason)
    return Measure(*name_and_order, method.order, reason, at_least=True, at_bound=True)


def _errors(
    platform: Platform, method: Method, forces: FloatArray, reference: Trajectory, steps: FloatArray
) -> Errors:
    largest_errors = []
    for step in steps:
        trajectory = simulate(
            platform,
            reference.time[-1],
            forces=forces,
            engine=method.engine,
            timestep=step,
            every=round(steps[0] / step),
            deflection=rest(platform).deflection,
            progress=False,
            **method.options,
        )
        largest_errors.append(
            (
                position_error(trajectory.pose, reference.pose).max(),
                rotation_error(trajectory.pose, reference.pose).max(),
            )
        )
    return Errors(*np.array(largest_errors).T)
