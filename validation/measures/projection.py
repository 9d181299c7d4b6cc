"""Projected actuator forces of both engines against the reference, along any set of states."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.projection import projection
from twin.errors import MissingDependencyError
from twin.simulation.platform import Platform
from twin.validation.measures.comparison import LABELS, log_curve, missing
from twin.validation.measures.metrics import relative_error
from twin.validation.measures.sampling import RandomStates
from twin.validation.results import Curve, Entry, Measure

TOLERANCE = 1e-9
REASON = (
    "bar; no solver takes part, so only rounding and the digits of the model files remain (1e-13); "
    "a wrong mass, point or axis shows at 1e-3"
)


def projection_errors(
    platform: Platform, states: RandomStates, *, x: FloatArray
) -> tuple[list[Entry], list[Curve]]:
    """Return each engine's largest relative error over `(m,)` states, and the errors over `x`.

    Where legs have coordinates of their own, these move as the reference says, and what the
    engine's equations then leave in their rows counts as an error too.
    """
    pose, twist, acceleration, deflection = states
    expected = platform.inverse_dynamics(pose, twist, acceleration, deflection=deflection)
    inside = platform.forward_dynamics(pose, twist, expected, deflection=deflection)[:, 6:]
    measures: list[Entry] = []
    curves = []
    for engine, label in LABELS.items():
        try:
            found = [
                projection(engine, platform, *state)
                for state in zip(pose, twist, acceleration, deflection, inside, strict=True)
            ]
        except MissingDependencyError as error:
            measures.append(missing(label, error))
            continue
        errors = relative_error(np.array([each.forces for each in found]), expected)
        if platform.n_deflections:
            left = [each.residual(row) for each, row in zip(found, expected, strict=True)]
            rows = np.abs(np.array(left)[:, -platform.n_deflections :]).max(axis=1)
            errors = np.maximum(errors, rows / np.abs(expected).max(axis=1))
        name = f"{label}: largest relative error of projected forces, {len(found)} states"
        measures.append(Measure(name, errors.max(), TOLERANCE, REASON))
        curves.append(log_curve(label, x, errors))
    return measures, curves
