"""The regressor of the inverse dynamics: forces by coordinates of bodies and single numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.identification.linear.samples import ForceSamples
from twin.identification.linear.unknowns import (
    Body,
    coordinate_slopes,
    coordinate_words,
    coordinates,
    pseudo_inertia,
)
from twin.identification.parameters.words import in_words
from twin.kernels.dynamics.assembly import GRAVITY
from twin.machine.randomisation.paths import nominal_value, with_values
from twin.model.derivatives import slope_width
from twin.model.evaluation import check_results, run_checked
from twin.model.machine_model import MachineModel
from twin.model.parameter_slopes import constants_and_slopes

DIAGONAL = [4, 7, 9]
"""Moments of inertia among the numbers of a body."""

THIN = 1e-6
"""Part of the sum of second moments below which a body counts as a plate."""

WIDER = 0.1
"""Part of their sum by which moments are made larger."""

STILL = 3.0
"""Stribeck speeds below which a drive may stick, so that its friction is unknown."""


class Regressor(NamedTuple):
    """Forces of k states on n legs: matrix @ unknowns + rest, exactly."""

    matrix: FloatArray
    """`(k, n, q)`"""
    rest: FloatArray
    """`(k, n)` forces of all that is known [N] or [N m]"""
    moving: Any
    """`(k, n)` whether the drive of a leg moves fast enough for its friction to be known"""
    words: tuple[str, ...]
    """what the q unknowns are"""


def regressor(
    platform: MachineModel,
    bodies: Sequence[Body],
    single: Sequence[str],
    samples: ForceSamples,
    field: FloatArray,
) -> Regressor:
    """Return the regressor in ten coordinates of each body, then in single numbers.

    Args:
        platform: the machine.
        bodies: of it.
        single: paths of numbers in which forces are linear.
        samples: states, and where their forces act.
        field: `(3,)` [m/s2] by which gravity differs from the machine's.

    Raises:
        UnreachablePoseError: a leg cannot reach a pose.
        SingularPoseError: a state without a solution.
    """
    platform, bodies = _wider(platform, tuple(bodies))
    of_motors = [path for path in single if ".drive." in path]
    of_legs = [path for path in single if path not in of_motors]
    paths = [path for body in bodies for path in body.paths] + of_legs
    total, slopes = _forces_and_slopes(platform, paths, samples, field)
    parts, unknowns = [], []
    for number, body in enumerate(bodies):
        own = slopes[..., 10 * number : 10 * number + 10]
        parts.append(own @ np.linalg.inv(coordinate_slopes(body.nominal)))
        unknowns.append(coordinates(body.nominal))
    columns = dict(zip(of_legs, np.moveaxis(slopes[..., 10 * len(bodies) :], -1, 0), strict=True))
    moving = np.ones(total.shape, dtype=bool)
    if samples.where == "motors":
        added, found, moving = _of_motors(platform, of_motors, samples)
        total = total + added
        columns |= found
    parts += [columns[path][..., None] for path in single]
    unknowns.append(np.array([nominal_value(platform.parameters, path) for path in single]))
    # Scales and biases of signals alone have no such columns.
    matrix = np.concatenate([np.empty((*total.shape, 0)), *parts], axis=-1)
    words = [word for body in bodies for word in coordinate_words(body.table)]
    return Regressor(
        matrix,
        total - matrix @ np.concatenate(unknowns),
        moving,
        (*words, *map(in_words, single)),
    )


def _forces_and_slopes(
    platform: MachineModel, paths: Sequence[str], samples: ForceSamples, field: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return forces `(k, n)` on the legs and their derivatives `(k, n, p)` under another field."""
    from twin.kernels.derivatives import States
    from twin.kernels.dynamics.inverse import inverse_dynamics_batch
    from twin.kernels.parameter_derivatives import Slopes, inverse_dynamics_by_parameters

    _, arrays = platform.checked_states(
        samples.pose,
        samples.twist,
        samples.inside(platform),
        acceleration=samples.acceleration,
        wrench=np.zeros(6),
    )
    body, legs, _ = platform.constants
    tilted = body.copy()
    tilted[GRAVITY : GRAVITY + 3] += field
    count, n = len(arrays[0]), platform.n_actuators
    total = np.empty((count, n))
    run_checked(inverse_dynamics_batch, (tilted, legs), (*arrays, total), legs)
    slopes = np.empty((count, n, len(paths)))
    if paths:
        body_slopes, leg_slopes = _constants(platform.parameters, tuple(paths))
        constants = Slopes(body_slopes.copy(), leg_slopes)
        constants.body[0, GRAVITY : GRAVITY + 3] += field
        states = States(*arrays)
        failed = inverse_dynamics_by_parameters(legs, constants, slope_width(), states, slopes)
        check_results(failed, slopes, legs, arrays[0])
    return total, slopes


@lru_cache(maxsize=16)
def _wider(
    platform: MachineModel, bodies: tuple[Body, ...]
) -> tuple[MachineModel, tuple[Body, ...]]:
    """Return a machine with thicker bodies in place of plates without thickness, and all bodies.

    The regressor is the same for all bodies, but derivatives need room to both sides.
    """
    found = tuple(body if _has_room(body) else _thicker(body) for body in bodies)
    if found == bodies:
        return platform, bodies
    values = {path: x for body in found for path, x in zip(body.paths, body.numbers, strict=True)}
    changed = with_values(platform.parameters, values)
    return MachineModel(changed, limits=platform.limits, like=platform), found


def _has_room(body: Body) -> bool:
    moments = np.linalg.eigvalsh(pseudo_inertia(body.nominal))
    return bool(moments[0] > THIN * moments.sum())


def _thicker(body: Body) -> Body:
    numbers = body.nominal
    numbers[DIAGONAL] += WIDER * numbers[DIAGONAL].sum()
    return Body(body.table, tuple(numbers.tolist()))


@lru_cache(maxsize=16)
def _constants(parameters: Any, paths: tuple[str, ...]) -> tuple[FloatArray, FloatArray]:
    return constants_and_slopes(parameters, paths)


def _of_motors(
    platform: MachineModel, paths: Sequence[str], samples: ForceSamples
) -> tuple[FloatArray, dict[str, FloatArray], Any]:
    """Return what motors give beside the forces on the legs, by numbers of drives, and moving."""
    if samples.motors is not None:
        rates, accelerations = np.split(samples.motors, 2, axis=1)
    else:
        slopes = platform.jacobian(samples.pose)
        rates = np.einsum("kij,kj->ki", slopes, samples.twist)
        changing = platform.jacobian_derivative(samples.pose, samples.twist)
        accelerations = np.einsum("kij,kj->ki", slopes, samples.acceleration)
        accelerations += np.einsum("kij,kj->ki", changing, samples.twist)
    nominal = _reflected(platform.parameters)
    speeds = np.maximum(nominal[:, 3], 1e-12)
    effects = np.stack([accelerations, np.sign(rates), rates], axis=-1)
    found = {}
    for path in paths:
        # The reflected numbers are proportional to those of the file.
        value = nominal_value(platform.parameters, path)
        step = value or 1e-3
        other = _reflected(with_values(platform.parameters, {path: value + step}))
        found[path] = (effects * (other - nominal)[:, :3] / step).sum(axis=-1)
    rubbing = nominal[:, 1] > 0.0
    moving = (np.abs(rates) > STILL * speeds) | ~rubbing
    return (effects * nominal[:, :3]).sum(axis=-1), found, moving


def _reflected(parameters: Any) -> FloatArray:
    """Return inertia, friction, viscous friction and Stribeck speed `(n, 4)` of all drives."""
    rows = []
    for leg in parameters.legs:
        seen = None if leg.drive is None else leg.drive.reflected()
        rows.append([0.0] * 4 if seen is None else list(seen[:4]))
    return np.array(rows)
