"""Projected actuator forces of both engines against the reference, along any set of states."""

from __future__ import annotations

import numpy as np

from twin.arrays import FloatArray
from twin.engines.projection import projected_forces
from twin.errors import MissingDependencyError
from twin.platform import Platform
from twin.validation.comparison import LABELS, log_curve, missing
from twin.validation.metrics import relative_error
from twin.validation.results import Curve, Measure

TOLERANCE = 1e-9
REASON = (
    "bar; no solver takes part, so only rounding and the digits of the model files remain (1e-13); "
    "a wrong mass, point or axis shows at 1e-3"
)


def projection_errors(
    platform: Platform,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    *,
    x: FloatArray,
) -> tuple[list[Measure], list[Curve]]:
    """Return each engine's largest relative error over `(m,)` states, and the errors over `x`."""
    expected = platform.inverse_dynamics(pose, twist, acceleration)
    measures, curves = [], []
    for engine, label in LABELS.items():
        try:
            rows = [
                projected_forces(engine, platform, *state)
                for state in zip(pose, twist, acceleration, strict=True)
            ]
        except MissingDependencyError as error:
            measures.append(missing(label, error))
            continue
        errors = relative_error(np.array(rows), expected)
        name = f"{label}: largest relative error of projected forces, {len(rows)} states"
        measures.append(Measure(name, float(errors.max()), "1", TOLERANCE, REASON))
        curves.append(log_curve(label, x, errors))
    return measures, curves
