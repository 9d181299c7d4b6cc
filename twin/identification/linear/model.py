"""Forces as linear functions of coordinates of bodies, springs, friction, and gravity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError, listed
from twin.identification.linear.samples import ForceSamples, low_passed
from twin.identification.parameters import (
    SIGNAL_PREFIX,
    TILT_PREFIX,
    Parameter,
    SignalErrors,
    gravity_field,
    select,
    signal_errors,
    values_by_path,
)
from twin.identification.prediction.bodies import second_moments
from twin.identification.prediction.terms import MOTOR_TERM_PREFIX, motor_constants
from twin.kernels.dynamics.assembly import BODY_GRAVITY
from twin.machine.body import parallel_axis
from twin.machine.machine import MachineParameters
from twin.machine.randomisation.sampler import nominal_value, numeric_paths, with_values
from twin.model.derivatives import constants_and_slopes, slope_width
from twin.model.machine_base import check_results, run_checked
from twin.model.machine_model import MachineModel, as_model

BODY_ENTRIES = (
    *("mass", "center_of_mass.0", "center_of_mass.1", "center_of_mass.2"),
    *("inertia.0.0", "inertia.0.1", "inertia.0.2", "inertia.1.1", "inertia.1.2", "inertia.2.2"),
)
"""Numbers of a rigid body, in the order of its coordinates."""

UPPER_TRIANGLE = np.triu_indices(3)
"""Indices of the independent entries of a tensor, in the same order."""

LINEAR_FIELDS = frozenset(
    {
        *("density", "foot_mass", "upper_mass", "spring_mass", "housing_mass", "follower_mass"),
        *("stiffness", "damping", "viscous", "coulomb"),
    }
)
"""Fields of legs, other than those of rigid bodies, in which forces are linear."""

MOTOR_FIELDS = frozenset(
    {
        *("armature_inertia", "moving_mass", "friction", "friction_torque"),
        *("viscous", "viscous_torque"),
    }
)
"""Fields of drives in which the forces of motors are linear."""

FORCE_ERROR_PREFIX = f"{SIGNAL_PREFIX}forces."

DIAGONAL_ENTRIES = [4, 7, 9]
"""Indices of the moments of inertia among the numbers of a body."""

PLATE_FRACTION = 1e-6
"""Fraction of the sum of second moments below which the smallest of them makes the body a plate."""

MOMENT_INCREASE = 0.1
"""Fraction of their sum by which moments are made larger."""

STICKING_SPEED_RATIO = 3.0
"""Speed, over the Stribeck speed, below which a drive may stick, so that its friction is unknown.
"""

FORCE_DELAY_PATH = f"{SIGNAL_PREFIX}forces.delay"

LOG_GAP = 10.0
"""[s] Time between the end of one log and the beginning of the next one."""

MIN_MOVING_FRACTION = 0.9
"""Fraction of the filter's memory over which a drive must move for a row to count."""


class Body(NamedTuple):
    """A rigid body of which a parameter is unknown, by the ten numbers of its table."""

    table: str
    """path of the table, such as "leg.rod" """
    numbers: tuple[float, ...]
    """the ten numbers in the file"""

    @property
    def nominal(self) -> FloatArray:
        """The numbers in the file `(10,)`."""
        return np.array(self.numbers)

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the ten numbers."""
        return tuple(f"{self.table}.{entry}" for entry in BODY_ENTRIES)

    def values(self, given: Mapping[str, float]) -> FloatArray:
        """Return the ten numbers `(10,)` with those that are given by path."""
        pairs = zip(self.paths, self.numbers, strict=True)
        return np.array([given.get(path, value) for path, value in pairs])


def body_coordinates(numbers: FloatArray) -> FloatArray:
    """Return mass, mass times centre and tensor about the origin `(10,)` of a body's numbers.

    Forces are linear in these. Units: kg, kg m, kg m2.
    """
    mass, center = float(numbers[0]), numbers[1:4]
    point_mass_tensor = parallel_axis(mass, center)[UPPER_TRIANGLE]
    return np.concatenate([[mass], mass * center, numbers[4:] + point_mass_tensor])


def coordinate_slopes(numbers: FloatArray) -> FloatArray:
    """Return the derivatives `(10, 10)` of `body_coordinates` by the numbers of a body."""
    mass, center = float(numbers[0]), numbers[1:4]
    slopes = np.eye(10)
    slopes[1:4, 0] = center
    slopes[1:4, 1:4] = mass * np.eye(3)
    slopes[4:, 0] = parallel_axis(1.0, center)[UPPER_TRIANGLE]
    for axis in range(3):
        unit_vector = np.eye(3)[axis]
        tensor_slope = (
            2.0 * center[axis] * np.eye(3)
            - np.outer(unit_vector, center)
            - np.outer(center, unit_vector)
        )
        slopes[4:, 1 + axis] = mass * tensor_slope[UPPER_TRIANGLE]
    return slopes


def linear_part(
    platform: MachineModel, parameters: Sequence[Parameter], where: str = "legs"
) -> tuple[Parameter, ...]:
    """Return those of the parameters that the linear stage can estimate.

    Args:
        platform: the machine.
        parameters: any.
        where: whether forces are measured on the "legs" or in the "motors".
    """
    return tuple(
        parameter for parameter in parameters if _is_linear(platform, parameter.path, where)
    )


def of_drives(
    platform: MachineModel, parameters: Sequence[Parameter], where: str
) -> tuple[Parameter, ...]:
    """Return friction and inertia of all drives, except what is among the parameters.

    Motor forces depend on them: treated as exact, they would make the other standard errors too
    small.

    Args:
        platform: the machine.
        parameters: those that are estimated anyway.
        where: whether forces are measured on the "legs" or in the "motors".
    """
    if where != "motors":
        return ()
    known = {path.removeprefix("leg.1.drive.") for path in numeric_paths(platform.parameters)}
    selected = {
        parameter.path.rpartition(".")[2] for parameter in parameters if ".drive." in parameter.path
    }
    names = [f"leg.*.drive.{name}" for name in sorted(known & MOTOR_FIELDS - selected)]
    return select(platform, names) if names else ()


def _is_linear(platform: MachineModel, path: str, where: str) -> bool:
    """Return whether the measured forces are linear in a parameter."""
    if path.startswith(SIGNAL_PREFIX):
        return path.startswith(FORCE_ERROR_PREFIX)
    if path.startswith(MOTOR_TERM_PREFIX):
        return where == "motors"
    if path.startswith(TILT_PREFIX) or table_of(platform.parameters, path):
        return True
    keys = path.split(".")
    if "drive" in keys:
        return where == "motors" and keys[-1] in MOTOR_FIELDS
    # A spring in series with its actuator passes the force on, whatever its stiffness.
    series = platform.leg.has_series_spring and keys[-1] in ("stiffness", "damping")
    return keys[0] == "leg" and keys[-1] in LINEAR_FIELDS and not series


@lru_cache(maxsize=1024)
def table_of(machine: MachineParameters, path: str) -> str:
    """Return the table of the rigid body that a path is a number of; empty for none."""
    for entry in BODY_ENTRIES:
        table = path.removesuffix(f".{entry}")
        if table != path and not table.startswith(("base", "home", "imu")):
            try:
                for table_entry in BODY_ENTRIES:
                    nominal_value(machine, f"{table}.{table_entry}")
            except ValueError:
                return ""
            return table
    return ""


class Regressor(NamedTuple):
    """Forces of k states on n legs: matrix @ unknowns + rest, exactly."""

    matrix: FloatArray
    """matrix `(k, n, q)` of the unknowns"""
    rest: FloatArray
    """`(k, n)` forces that do not depend on the unknowns [N] or [N m]"""
    moving: Any
    """`(k, n)` whether the drive of a leg moves fast enough for its friction to be known"""


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
    platform, bodies = _thickened(platform, tuple(bodies))
    of_motors = [path for path in single if ".drive." in path]
    of_legs = [path for path in single if path not in of_motors]
    paths = [path for body in bodies for path in body.paths] + of_legs
    forces, slopes = _forces_and_slopes(platform, paths, samples, field)
    column_blocks, unknowns = [], []
    for number, body in enumerate(bodies):
        body_slopes = slopes[..., 10 * number : 10 * number + 10]
        column_blocks.append(body_slopes @ np.linalg.inv(coordinate_slopes(body.nominal)))
        unknowns.append(body_coordinates(body.nominal))
    columns = dict(zip(of_legs, np.moveaxis(slopes[..., 10 * len(bodies) :], -1, 0), strict=True))
    is_moving = np.ones(forces.shape, dtype=bool)
    if samples.where == "motors":
        motor_forces, motor_columns, is_moving = _of_motors(platform, of_motors, samples)
        forces = forces + motor_forces
        columns |= motor_columns
    column_blocks += [columns[path][..., None] for path in single]
    unknowns.append(np.array([nominal_value(platform.parameters, path) for path in single]))
    # Scales and biases of signals alone have no such columns.
    matrix = np.concatenate([np.empty((*forces.shape, 0)), *column_blocks], axis=-1)
    return Regressor(matrix, forces - matrix @ np.concatenate(unknowns), is_moving)


_constants_and_slopes = lru_cache(maxsize=16)(constants_and_slopes)


def _forces_and_slopes(
    platform: MachineModel, paths: Sequence[str], samples: ForceSamples, field: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return forces `(k, n)` on the legs and their derivatives `(k, n, p)` under another field."""
    from twin.kernels.derivatives import (
        DifferentiatedConstants,
        States,
        inverse_dynamics_by_parameters,
    )
    from twin.kernels.dynamics.forward import inverse_dynamics_batch

    _, arrays = platform.checked_states(
        samples.pose,
        samples.twist,
        samples.series_deflection(platform),
        acceleration=samples.acceleration,
        wrench=np.zeros(6),
    )
    body, legs, _ = platform.constants
    tilted = body.copy()
    tilted[BODY_GRAVITY : BODY_GRAVITY + 3] += field
    count, n = len(arrays[0]), platform.n_actuators
    forces = np.empty((count, n))
    run_checked(inverse_dynamics_batch, (tilted, legs), (*arrays, forces), legs)
    slopes = np.empty((count, n, len(paths)))
    if paths:
        body_slopes, leg_slopes = _constants_and_slopes(platform.parameters, tuple(paths))
        constants = DifferentiatedConstants(body_slopes.copy(), leg_slopes)
        constants.body[0, BODY_GRAVITY : BODY_GRAVITY + 3] += field
        states = States(*arrays)
        failed = inverse_dynamics_by_parameters(legs, constants, slope_width(), states, slopes)
        check_results(failed, slopes, legs, arrays[0])
    return forces, slopes


@lru_cache(maxsize=16)
def _thickened(
    platform: MachineModel, bodies: tuple[Body, ...]
) -> tuple[MachineModel, tuple[Body, ...]]:
    """Return a machine with thicker bodies in place of plates without thickness, and all bodies.

    The regressor is the same for all bodies, but derivatives need room to both sides.
    """
    thick_bodies = tuple(map(_thick, bodies))
    if thick_bodies == bodies:
        return platform, bodies
    values = {
        path: x for body in thick_bodies for path, x in zip(body.paths, body.numbers, strict=True)
    }
    changed_parameters = with_values(platform.parameters, values)
    return MachineModel(changed_parameters, limits=platform.limits, like=platform), thick_bodies


def _thick(body: Body) -> Body:
    """Return a body, with larger moments of inertia if it is a plate."""
    numbers = body.nominal
    moments = np.linalg.eigvalsh(second_moments(numbers[4:]))
    if moments[0] > PLATE_FRACTION * moments.sum():
        return body
    numbers[DIAGONAL_ENTRIES] += MOMENT_INCREASE * numbers[DIAGONAL_ENTRIES].sum()
    return Body(body.table, tuple(numbers.tolist()))


def _of_motors(
    platform: MachineModel, paths: Sequence[str], samples: ForceSamples
) -> tuple[FloatArray, dict[str, FloatArray], Any]:
    """Return the motors' forces beyond those on the legs, their slopes by path, and what moves.

    `paths` are numbers of the drives; the last result `(k, n)` says which drives move.
    """
    if samples.motors is not None:
        rates, accelerations = np.split(samples.motors, 2, axis=1)
    else:
        jacobian = platform.jacobian(samples.pose)
        rates = np.einsum("kij,kj->ki", jacobian, samples.twist)
        jacobian_rate = platform.jacobian_derivative(samples.pose, samples.twist)
        accelerations = np.einsum("kij,kj->ki", jacobian, samples.acceleration)
        accelerations += np.einsum("kij,kj->ki", jacobian_rate, samples.twist)
    nominal = _reflected(platform.parameters)
    # Columns: inertia, friction, viscous friction, Stribeck speed.
    stribeck_speeds = np.maximum(nominal[:, 3], 1e-12)
    factors = np.stack([accelerations, np.sign(rates), rates], axis=-1)
    columns = {}
    for path in paths:
        value = nominal_value(platform.parameters, path)
        # Any step is exact, as the reflected numbers are linear in the value.
        step = value or 1e-3
        changed_drives = _reflected(with_values(platform.parameters, {path: value + step}))
        columns[path] = (factors * (changed_drives - nominal)[:, :3] / step).sum(axis=-1)
    has_friction = nominal[:, 1] > 0.0
    is_moving = (np.abs(rates) > STICKING_SPEED_RATIO * stribeck_speeds) | ~has_friction
    return (factors * nominal[:, :3]).sum(axis=-1), columns, is_moving


def _reflected(parameters: Any) -> FloatArray:
    """Return inertia, friction, viscous friction and Stribeck speed `(n, 4)` of all drives."""
    rows = []
    for leg in parameters.legs:
        reflected = None if leg.drive is None else leg.drive.reflected()
        rows.append([0.0] * 4 if reflected is None else list(reflected[:4]))
    return np.array(rows)


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Linear model: the forces of each leg = matrix @ its features, with a precomputed matrix.

    Features are products of coordinates of bodies, field of gravity, scale, delay and biases, so
    that estimates need no kernels any more. Those of legs differ by the constants of their motors.
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
    """`(rows,)` [s] times of the rows; None of states in no order"""

    @cached_property
    def _known(self) -> dict[str, float]:
        machine = self.platform.parameters
        return {path: nominal_value(machine, path) for path in self.single}

    @cached_property
    def _has_errors(self) -> bool:
        return any(not parameter.is_of_machine for parameter in self.parameters)

    def features(self, values: Any) -> FloatArray:
        """Return the features `(n, c)` of all legs, of values `(p,)`."""
        pairs = zip(self.parameters, values, strict=True)
        given_values = {parameter.path: value for parameter, value in pairs}
        coordinates_of_bodies = [
            body_coordinates(body.values(given_values)) for body in self.bodies
        ]
        single_values = [given_values.get(path, default) for path, default in self._known.items()]
        block = np.concatenate([*coordinates_of_bodies, single_values])
        weights, bias = self.weights(values)
        shared = np.outer(weights, [*block, 1.0]).ravel()
        return np.hstack([np.outer(self.scales(values), shared), np.tile(bias, (len(bias), 1))])

    def scales(self, values: Any) -> FloatArray:
        """Return the forces `(n,)` that drives believe in, over those of their motors."""
        terms = values_by_path(self.parameters, values)
        return 1.0 / motor_constants(terms, self.platform.n_actuators)

    def weights(self, values: Any) -> tuple[FloatArray, FloatArray]:
        """Return the weights of the blocks of columns, and the biases `(n,)`, of values `(p,)`."""
        weights, n = np.ones(1), self.platform.n_actuators
        if not self._has_errors:
            return weights, np.zeros(n)
        if len(self.fields):
            field_change = gravity_field(self.platform, self.parameters, values)
            field_change[2] += self.platform.parameters.gravity
            weights = np.concatenate([weights, self.fields @ field_change])
        error_of_signal = signal_errors(self.platform, self.parameters, values)
        errors = error_of_signal.get("forces", SignalErrors(1.0, np.zeros(n), 0.0))
        if self.delayed:
            weights = np.append(weights, [-errors.delay, 0.5 * errors.delay**2])
        return errors.scale * weights, errors.bias

    def predicted(self, values: Any) -> FloatArray:
        """Return the forces `(rows,)` of values `(p,)`."""
        return self._of_rows(self.features(values))

    def _of_rows(self, features: FloatArray) -> FloatArray:
        """Return the products of all rows with the features `(n, c, ...)` of their leg."""
        result = np.empty((len(self.matrix), *features.shape[2:]))
        for leg, of_leg in enumerate(features):
            result[self.legs == leg] = self.matrix[self.legs == leg] @ of_leg
        return result

    def slopes(self, values: Any) -> FloatArray:
        """Return the derivatives `(n, c, p)` of the features by central differences."""
        center = np.array(values, dtype=float)
        slopes = np.empty((self.platform.n_actuators, self.matrix.shape[1], len(center)))
        for column, parameter in enumerate(self.parameters):
            step = np.zeros(len(center))
            step[column] = 1e-3 * parameter.prior_std
            feature_change = self.features(center + step) - self.features(center - step)
            slopes[..., column] = feature_change / (2.0 * step[column])
        return slopes

    def jacobian(self, values: Any) -> FloatArray:
        """Return the derivatives `(rows, p)` of the predicted forces."""
        return self._of_rows(self.slopes(values))


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
    machine, selected = as_model(platform), tuple(parameters)
    n = machine.n_actuators
    if samples.forces.shape[1] != n:
        raise InputError("forces", f"must have {n} columns, not {samples.forces.shape[1]}")
    linear_parameters = linear_part(machine, selected, samples.where)
    nonlinear_paths = [
        parameter.path for parameter in selected if parameter not in linear_parameters
    ]
    if nonlinear_paths or not linear_parameters:
        message = f"the linear stage cannot estimate {listed(nonlinear_paths) or 'nothing'}"
        raise InputError("parameters", f"{message} from forces of {samples.where}")
    tables = [
        table_of(machine.parameters, parameter.path)
        for parameter in selected
        if parameter.is_of_machine
    ]
    bodies = tuple(
        Body(table, tuple(nominal_value(machine.parameters, path) for path in paths))
        for table in dict.fromkeys(filter(None, tables))
        for paths in [Body(table, ()).paths]
    )
    inside = {path for body in bodies for path in body.paths}
    single = tuple(
        parameter.path
        for parameter in selected
        if parameter.is_of_machine and parameter.path not in inside
    )
    has_tilt = any(parameter.path.startswith(TILT_PREFIX) for parameter in selected)
    fields = np.eye(3 if has_tilt else 0, 3)
    regressors = [
        regressor(machine, bodies, single, samples, field) for field in (np.zeros(3), *fields)
    ]
    first, *tilted = [np.dstack([regressor.matrix, regressor.rest]) for regressor in regressors]
    blocks = [first, *(block - first for block in tilted)]
    delayed = FORCE_DELAY_PATH in (parameter.path for parameter in selected)
    if delayed:
        slope = _rates(first, samples.rate)
        blocks += [slope, _rates(slope, samples.rate)]
    columns = np.concatenate(
        [*blocks, np.broadcast_to(np.eye(n), (len(samples.pose), n, n))], axis=-1
    )
    rows = _rows(regressors[0], samples, columns)
    return LinearModel(machine, selected, bodies, single, fields, delayed, *rows)


def _rates(values: FloatArray, rate: float | None) -> FloatArray:
    """Return time derivatives `(k, ...)` by central differences; zeros without a sample rate."""
    return np.zeros_like(values) if rate is None else rate * np.gradient(values, axis=0)


def joined(models: Sequence[LinearModel]) -> LinearModel:
    """Return the model of all rows of models of the same machine with the same parameters.

    Each model starts `LOG_GAP` after the end of the one before, so that windows never span two
    logs.
    """
    rows = zip(*((model.matrix, model.measured, model.legs) for model in models), strict=True)
    matrix, measured, legs = map(np.concatenate, rows)
    times = None
    if all(model.times is not None for model in models):
        durations = [float(np.max(model.times, initial=0.0)) + LOG_GAP for model in models]
        start_times = np.cumsum([0.0, *durations[:-1]])
        pairs = zip(models, start_times, strict=True)
        times = np.concatenate([model.times + start_time for model, start_time in pairs])
    return replace(models[0], matrix=matrix, measured=measured, legs=legs, times=times)


def _rows(
    first: Regressor, samples: ForceSamples, whole: FloatArray
) -> tuple[FloatArray, FloatArray, Any, Any]:
    """Return matrix, forces, legs and times of the rows, low-passed and decimated."""
    count, n, width = whole.shape
    is_moving, forces, decimation = first.moving, samples.forces, 1
    if samples.rate is not None and samples.cutoff is not None:
        step = 1.0 / samples.rate
        whole, forces, moving_fraction = (
            low_passed(array.reshape(count, -1), step, samples.cutoff, "even").reshape(array.shape)
            for array in (whole, forces, is_moving.astype(float))
        )
        is_moving = moving_fraction > MIN_MOVING_FRACTION
        decimation = max(1, int(samples.rate / (2.0 * samples.cutoff)))
    # Leg after leg, so that what follows in time follows in rows.
    is_used = np.zeros((count, n), dtype=bool)
    is_used[::decimation] = is_moving[::decimation]
    legs = np.repeat(np.arange(n), is_used.sum(axis=0))
    rows = np.flatnonzero(is_used.T)
    times = None if samples.rate is None else rows % count / samples.rate
    return whole.transpose(1, 0, 2).reshape(-1, width)[rows], forces.T.ravel()[rows], legs, times
