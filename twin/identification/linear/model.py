"""Forces as linear functions of coordinates of bodies, springs, friction, and gravity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError, listed
from twin.identification.linear.regressor import Regressor, regressor
from twin.identification.linear.samples import ForceSamples, low_passed
from twin.identification.linear.unknowns import (
    Body,
    coordinates,
    linear_part,
    table_of,
)
from twin.identification.parameters.parameter import SIGNAL, TILT, Parameter
from twin.identification.parameters.values import SignalErrors, gravity_field, signal_errors
from twin.machine.randomisation.paths import nominal_value, unit_at
from twin.model.machine_model import MachineModel, as_model

DELAY = f"{SIGNAL}forces.delay"

APART = 10.0
"""[s] Between the end of one log and the beginning of the next one."""

MOSTLY = 0.9
"""Share of the filter's memory over which a drive must move for a row to count."""


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Measured forces = matrix @ features(values): all that does not depend on the values is done.

    Features are products of coordinates of bodies, field of gravity, scale, delay and biases, so
    that estimates need no kernels any more.
    """

    platform: MachineModel
    parameters: tuple[Parameter, ...]
    bodies: tuple[Body, ...]
    single: tuple[str, ...]
    """paths of the columns that are no coordinates of bodies"""
    fields: FloatArray
    """`(f, 3)` differences from the field of gravity that blocks of columns stand for"""
    delayed: bool
    """whether two more blocks are derivatives of the first in time, for a small delay"""
    matrix: FloatArray
    """`(rows, c)`: for each block the coordinates and the rest, then one column for each leg"""
    measured: FloatArray
    """`(rows,)` forces [N] or [N m]"""
    legs: Any
    """`(rows,)` leg of each row, from 0"""
    times: Any
    """`(rows,)` [s] of the rows; None of states in no order"""
    words: tuple[str, ...]
    """what the columns of the first block are, without the rest"""

    @cached_property
    def _known(self) -> dict[str, float]:
        machine = self.platform.parameters
        return {path: nominal_value(machine, path) for path in self.single}

    @property
    def single_units(self) -> tuple[str, ...]:
        """Units of the columns that are no coordinates of bodies."""
        return tuple(unit_at(self.platform.parameters, path) for path in self.single)

    @cached_property
    def _has_errors(self) -> bool:
        return any(not parameter.is_of_machine for parameter in self.parameters)

    def features(self, values: Any) -> FloatArray:
        """Return the features `(c,)` of values `(p,)`."""
        pairs = zip(self.parameters, values, strict=True)
        given = {parameter.path: value for parameter, value in pairs}
        parts = [coordinates(body.values(given)) for body in self.bodies]
        single = [given.get(path, known) for path, known in self._known.items()]
        block = np.concatenate([*parts, single])
        weights, bias = self.weights(values)
        return np.concatenate([np.outer(weights, [*block, 1.0]).ravel(), bias])

    def weights(self, values: Any) -> tuple[FloatArray, FloatArray]:
        """Return the weights of the blocks of columns, and the biases `(n,)`, of values `(p,)`."""
        weights, n = np.ones(1), self.platform.n_actuators
        if not self._has_errors:
            return weights, np.zeros(n)
        if len(self.fields):
            change = gravity_field(self.platform, self.parameters, values)
            change[2] += self.platform.parameters.gravity
            weights = np.concatenate([weights, self.fields @ change])
        known = signal_errors(self.platform, self.parameters, values)
        errors = known.get("forces", SignalErrors(1.0, np.zeros(n), 0.0))
        if self.delayed:
            weights = np.append(weights, [-errors.delay, 0.5 * errors.delay**2])
        return errors.scale * weights, errors.bias

    def predicted(self, values: Any) -> FloatArray:
        """Return the forces `(rows,)` of values `(p,)`."""
        return np.asarray(self.matrix @ self.features(values))

    def slopes(self, values: Any) -> FloatArray:
        """Return the derivatives `(c, p)` of the features; they are products, so differences do."""
        at = np.array(values, dtype=float)
        found = np.empty((self.matrix.shape[1], len(at)))
        for column, parameter in enumerate(self.parameters):
            step = np.zeros(len(at))
            step[column] = 1e-3 * parameter.spread
            change = self.features(at + step) - self.features(at - step)
            found[:, column] = change / (2.0 * step[column])
        return found

    def jacobian(self, values: Any) -> FloatArray:
        """Return the derivatives `(rows, p)` of the predicted forces."""
        return np.asarray(self.matrix @ self.slopes(values))


def linear_model(
    platform: MachineModel, parameters: Sequence[Parameter], samples: ForceSamples
) -> LinearModel:
    """Return the model of the forces of samples in some parameters.

    Args:
        platform: the machine with its nominal values.
        parameters: that the linear stage can estimate; see `linear_part`.
        samples: states of motion with the forces measured in them.

    Raises:
        InputError: a parameter in which forces are not linear, or wrong shapes.
        UnreachablePoseError: a leg cannot reach a pose.
        SingularPoseError: a state without a solution.
    """
    machine, chosen = as_model(platform), tuple(parameters)
    n = machine.n_actuators
    if samples.forces.shape[1] != n:
        raise InputError("forces", f"must have {n} columns, not {samples.forces.shape[1]}")
    known = linear_part(machine, chosen, samples.where)
    others = [each.path for each in chosen if each not in known]
    if others or not known:
        message = f"the linear stage cannot estimate {listed(others) or 'nothing'}"
        raise InputError("parameters", f"{message} from forces of {samples.where}")
    tables = [table_of(machine.parameters, each.path) for each in chosen if each.is_of_machine]
    bodies = tuple(
        Body(table, tuple(nominal_value(machine.parameters, path) for path in paths))
        for table in dict.fromkeys(filter(None, tables))
        for paths in [Body(table, ()).paths]
    )
    inside = {path for body in bodies for path in body.paths}
    single = tuple(each.path for each in chosen if each.is_of_machine and each.path not in inside)
    tilted = any(each.path.startswith(TILT) for each in chosen)
    fields = np.eye(3) if tilted else np.empty((0, 3))
    first = regressor(machine, bodies, single, samples, np.zeros(3))
    blocks = [np.concatenate([first.matrix, first.rest[..., None]], axis=-1)]
    for field in fields:
        other = regressor(machine, bodies, single, samples, field)
        both = np.concatenate([other.matrix, other.rest[..., None]], axis=-1)
        blocks.append(both - blocks[0])
    delayed = DELAY in (each.path for each in chosen)
    if delayed:
        slope = _rates(blocks[0], samples.rate)
        blocks += [slope, _rates(slope, samples.rate)]
    whole = np.concatenate(
        [*blocks, np.broadcast_to(np.eye(n), (len(samples.pose), n, n))], axis=-1
    )
    rows = _rows(first, samples, whole)
    return LinearModel(machine, chosen, bodies, single, fields, delayed, *rows, first.words)


def _rates(values: FloatArray, rate: float | None) -> FloatArray:
    """Return derivatives in time; none of states in no order."""
    return np.zeros_like(values) if rate is None else rate * np.gradient(values, axis=0)


def joined(models: Sequence[LinearModel]) -> LinearModel:
    """Return the model of all rows of models of the same machine with the same parameters.

    Each begins when those before it are long over.
    """
    rows = zip(*((each.matrix, each.measured, each.legs) for each in models), strict=True)
    matrix, measured, legs = map(np.concatenate, rows)
    times = None
    if all(each.times is not None for each in models):
        spans = [float(np.max(each.times, initial=0.0)) + APART for each in models]
        begins = np.cumsum([0.0, *spans[:-1]])
        pairs = zip(models, begins, strict=True)
        times = np.concatenate([each.times + begin for each, begin in pairs])
    return replace(models[0], matrix=matrix, measured=measured, legs=legs, times=times)


def _rows(
    first: Regressor, samples: ForceSamples, whole: FloatArray
) -> tuple[FloatArray, FloatArray, Any, Any]:
    """Return matrix, forces, legs and times of rows: both sides low-passed, as many as needed."""
    count, n, width = whole.shape
    moving, forces, every = first.moving, samples.forces, 1
    if samples.rate is not None and samples.cutoff is not None:
        step = 1.0 / samples.rate
        whole, forces, share = (
            low_passed(each.reshape(count, -1), step, samples.cutoff, "even").reshape(each.shape)
            for each in (whole, forces, moving.astype(float))
        )
        moving = share > MOSTLY
        every = max(1, int(samples.rate / (2.0 * samples.cutoff)))
    # Leg after leg, so that what follows in time follows in rows.
    chosen = np.zeros((count, n), dtype=bool)
    chosen[::every] = moving[::every]
    legs = np.repeat(np.arange(n), chosen.sum(axis=0))
    rows = np.flatnonzero(chosen.T)
    times = None if samples.rate is None else rows % count / samples.rate
    return whole.transpose(1, 0, 2).reshape(-1, width)[rows], forces.T.ravel()[rows], legs, times
