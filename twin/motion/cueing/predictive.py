"""Model-predictive cueing: least perceived error within the actuators' limits.

The responses of a platform coordinate, and of the driver's perception, to a sequence of jerks are
linear. From them follows the cost, which is quadratic in errors of perception, displacement and
effort. The actuators' limits are rows of the quadratic program: leg kinematics linearised along a
plan. Every plan ends at rest, and is checked against the exact limits before it is followed.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import (
    FloatArray,
    IndexArray,
    as_floats,
    as_instance,
    bounded,
    read_only,
)
from twin.basics.optional import optional
from twin.errors import InputError, TwinError
from twin.kernels.tasks.motion_cueing.cues import GRAVITY
from twin.model.machine_model import MachineModel
from twin.motion.cueing.algorithm import (
    REST_FORCE,
    CueingAlgorithm,
    cubic_steps,
    leg_slopes,
    machine_ranges,
    motion_of_axes,
    saturated,
)
from twin.motion.cueing.manoeuvre import Manoeuvre
from twin.motion.cueing.perception import (
    CANAL_ADAPTATION,
    CANAL_LONG,
    OTOLITH_GAIN,
    OTOLITH_LEAD,
    OTOLITH_LONG,
    OTOLITH_SHORT,
    RATE_THRESHOLD,
    SPECIFIC_FORCE_THRESHOLD,
    perceived,
)
from twin.motion.cueing.workspace_use import leg_motion
from twin.motion.motion import AxisSample

SETTING_BOUNDS = {
    "jerk_weight": (1e-12, 1e3),
    "memory": (1e-2, 1e6),
    "margin": (0.0, 0.5),
    "tolerance": (1e-9, 1e-2),
}
"""Lower and upper bounds of settings that are narrower than 0 to 1e6."""

STATE_COUNT = 9
"""Number of states of an axis: value, rate, acceleration; otoliths of the acceleration, of the
value; canals of the rate.
"""

OUTPUT_COUNT = 6
"""Number of outputs of an axis: value, rate, acceleration; acceleration and value as otoliths sense
them, rate as canals do.
"""

LIMIT_NODES = (1, 2, 3, 4, 6, 8, 10, 13, 16, 20, 24, 28, 32, 36, 40)
"""Periods of the horizon at whose ends limits apply; those beyond it are left out."""

DEFAULT_PERIOD = 0.04
"""[s] Default period of the algorithm: 25 Hz."""

BLEND_FRACTIONS = (1.0, 0.5, 0.25, 0.125)
"""Fractions of a new plan in the blend with the last one, in the order in which they are tried."""

CHECKS_PER_PERIOD = 4
"""Number of instants in each period at which a plan is checked against the exact limits."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictiveSettings:
    """Weights of predictive cueing (engineering choices); errors are in perception thresholds."""

    blocks: tuple[int, ...] = (1, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 7)
    """periods over which the jerk is constant; their sum is the horizon"""
    force_weight: FloatArray = (1.0, 1.0, 1.0)  # type: ignore[assignment]
    """`(3,)` weights of squared errors of sensed specific force"""
    rate_weight: FloatArray = (2.0, 2.0, 2.0)  # type: ignore[assignment]
    """`(3,)` weights of squared errors of sensed angular rate"""
    memory: float = 0.5
    """[s] time constant with which the present input is expected to fade, critically damped"""
    place_weight: float = 8.0
    """weight of the squared displacement, relative to the machine's travel along the axis"""
    speed_weight: float = 0.2
    """weight of the squared rate, relative to the travel per second"""
    acceleration_weight: float = 0.01
    """weight of the squared acceleration, relative to the travel per second squared"""
    jerk_weight: float = 1e-5
    """weight of the squared jerk, relative to the travel per second cubed"""
    force_scale: float = 1.0
    """scale of specific force, less gravity"""
    rate_scale: float = 1.0
    """scale of angular rate"""
    force_limit: float = 10.0
    """[m/s2] limit after scaling"""
    rate_limit: float = 1.5
    """[rad/s] limit after scaling"""
    margin: float = 0.02
    """fraction of the limits that the program leaves to the kinematics' curvature"""
    tolerance: float = 1e-4
    """tolerance of the solver"""
    iterations: int = 300
    """maximum number of iterations of the solver"""

    def __post_init__(self) -> None:
        """Check the numbers; raises InputError."""
        blocks = as_floats(self.blocks, "blocks")
        is_valid_blocks = (
            blocks.ndim == 1 and (blocks == np.round(blocks)).all() and (blocks >= 1).all()
        )
        if not is_valid_blocks or len(blocks) < 4 or blocks.sum() > 200 or blocks[0] != 1:
            raise InputError("blocks", "must be four or more whole numbers from 1, sum up to 200")
        object.__setattr__(self, "blocks", tuple(int(block) for block in blocks))
        for setting in fields(self):
            value = getattr(self, setting.name)
            if setting.name in ("force_weight", "rate_weight"):
                weights = as_floats(value, setting.name, 3)
                if weights.ndim != 1 or weights.min() < 0.0 or weights.max() > 1e6:
                    raise InputError(setting.name, "must be three weights from 0 to 1e6")
                object.__setattr__(self, setting.name, read_only(weights))
            elif setting.name == "iterations":
                object.__setattr__(self, setting.name, int(bounded(value, setting.name, 1, 1e5)))
            elif setting.name != "blocks":
                low, high = SETTING_BOUNDS.get(setting.name, (0.0, 1e6))
                object.__setattr__(self, setting.name, bounded(value, setting.name, low, high))


class Perceiver(NamedTuple):
    """A model of perception of second order, x' = A x + B u, y = C x + D u."""

    dynamics: FloatArray
    """A `(2, 2)`"""
    input_gain: FloatArray
    """B `(2,)`"""
    output: FloatArray
    """C `(2,)`"""
    feedthrough: float

    def with_input(self) -> FloatArray:
        """Return the dynamics `(4, 4)` with the input as third state and its slope as fourth."""
        augmented = np.zeros((4, 4))
        augmented[:2, :2], augmented[:2, 2], augmented[2, 3] = self.dynamics, self.input_gain, 1.0
        return augmented


def _perceiver(
    long_time: float, short_time: float, output: FloatArray, feedthrough: float
) -> Perceiver:
    product_of_times = long_time * short_time
    dynamics = np.array(
        [[0.0, 1.0], [-1.0 / product_of_times, -(long_time + short_time) / product_of_times]]
    )
    return Perceiver(dynamics, np.array([0.0, 1.0 / product_of_times]), output, feedthrough)


OTOLITH_PERCEIVER = _perceiver(
    OTOLITH_LONG, OTOLITH_SHORT, OTOLITH_GAIN * np.array([1.0, OTOLITH_LEAD]), 0.0
)
CANAL_PERCEIVER = _perceiver(
    CANAL_LONG, CANAL_ADAPTATION, -np.array([1.0, CANAL_LONG + CANAL_ADAPTATION]), 1.0
)


class Prediction(NamedTuple):
    """Responses of one coordinate over a horizon of equal periods."""

    transition: FloatArray
    """`(9, 9)` transition of the state over one period"""
    jerk_response: FloatArray
    """`(9,)` state after one period, per jerk that is constant over the period"""
    free: FloatArray
    """`(K, 6, 9)` outputs after 1 .. K periods, per present state"""
    forced: FloatArray
    """`(K, 6, b)` outputs after 1 .. K periods, per jerk of each block"""


def prediction(period: float, blocks: tuple[int, ...]) -> Prediction:
    """Return exact responses to jerks that are constant over blocks of `blocks` periods."""
    from scipy.linalg import expm

    dynamics, drive = np.zeros((STATE_COUNT, STATE_COUNT)), np.zeros(STATE_COUNT)
    dynamics[0, 1] = dynamics[1, 2] = drive[2] = 1.0
    outputs = np.zeros((OUTPUT_COUNT, STATE_COUNT))
    outputs[:3, :3] = np.eye(3)
    for k, (model, source) in enumerate(
        ((OTOLITH_PERCEIVER, 2), (OTOLITH_PERCEIVER, 0), (CANAL_PERCEIVER, 1))
    ):
        organ_states = slice(3 + 2 * k, 5 + 2 * k)
        dynamics[organ_states, organ_states] = model.dynamics
        dynamics[organ_states, source] = model.input_gain
        outputs[3 + k, organ_states] = model.output
        outputs[3 + k, source] = model.feedthrough
    augmented = np.zeros((STATE_COUNT + 1, STATE_COUNT + 1))
    augmented[:STATE_COUNT, :STATE_COUNT], augmented[:STATE_COUNT, STATE_COUNT] = dynamics, drive
    discretised = expm(period * augmented)
    transition = discretised[:STATE_COUNT, :STATE_COUNT]
    input_response = discretised[:STATE_COUNT, STATE_COUNT]
    n_periods = sum(blocks)
    block_of_period = np.repeat(np.arange(len(blocks)), blocks)
    free_response, forced_response = np.eye(STATE_COUNT), np.zeros((STATE_COUNT, len(blocks)))
    rows = []
    for k in range(n_periods):
        free_response, forced_response = transition @ free_response, transition @ forced_response
        forced_response[:, block_of_period[k]] += input_response
        rows.append((outputs @ free_response, outputs @ forced_response))
    return Prediction(transition, input_response, *map(np.stack, zip(*rows, strict=True)))


def resting_basis(
    model: Prediction, hessian: FloatArray, size: int
) -> tuple[FloatArray, FloatArray]:
    """Return basis and to_rest: jerks x = basis y + to_rest s end at rest, with the cost y y / 2.

    With few jerks of very different effect the cost in x is badly conditioned; in y its Hessian is
    the identity, and the program needs no row for the rest at the end.

    Args:
        model: responses of one coordinate.
        hessian: P `(d b, d b)` of the cost x P x / 2.
        size: d, the number of coordinates.

    Returns:
        basis `(d b, d (b - 2))` and to_rest `(d b, 3 d)` for states s of value, rate and
        acceleration: the least jerks that bring each coordinate to rest.
    """
    from scipy.linalg import cholesky, null_space, solve_triangular

    end_response = model.forced[-1, 1:3]
    stopping_jerks = -np.linalg.pinv(end_response) @ model.free[-1, 1:3, :3]
    null_basis = np.kron(np.eye(size), null_space(end_response))
    cholesky_factor = cholesky(null_basis.T @ hessian @ null_basis, lower=True)
    basis = np.asarray(
        solve_triangular(cholesky_factor, null_basis.T, lower=True).T, dtype=np.float64
    )
    return basis, np.asarray(np.kron(np.eye(size), stopping_jerks), dtype=np.float64)


class Expectation:
    """Perception of the vehicle's driver, now and over the horizon under the expected input.

    The input is expected to fade from its present value and slope like a critically damped system:
    u'' = -2 u' / memory - u / memory^2.

    Attributes:
        states: `(2, 3, 2)` states of the otoliths along and of the canals about x, y, z.
        input: `(2, 3)` force minus its value at rest [m/s2], rate [rad/s].
        slope: `(2, 3)` slope of the input over the last period.
    """

    def __init__(self, period: float, steps: int, memory: float) -> None:
        """Prepare the models at rest; `memory` [s] is the time constant of the fading."""
        from scipy.linalg import expm

        self.period = period
        self.states = np.zeros((2, 3, 2))
        self.input, self.slope = np.zeros((2, 2, 3))
        self.updates, self.horizon_outputs = [], []
        for model in (OTOLITH_PERCEIVER, CANAL_PERCEIVER):
            dynamics = model.with_input()
            self.updates.append(expm(period * dynamics)[:2])
            dynamics[3, 2:] = -1.0 / memory**2, -2.0 / memory
            period_transition, transition = expm(period * dynamics), np.eye(4)
            output, rows = np.array([*model.output, model.feedthrough, 0.0]), []
            for _ in range(steps):
                transition = period_transition @ transition
                rows.append(output @ transition)
            self.horizon_outputs.append(np.array(rows))

    def step(self, force: FloatArray, rate: FloatArray) -> None:
        """Advance by one period, in which the input goes linearly to force (less rest) and rate."""
        inputs = np.stack([force, rate])
        self.slope = (inputs - self.input) / self.period
        self.states = self._apply(self.updates)
        self.input = inputs

    def perceived_ahead(self) -> FloatArray:
        """Return force and rate `(2, 3, K)` perceived after 1 .. K periods."""
        return self._apply(self.horizon_outputs)

    def _apply(self, matrices: list[FloatArray]) -> FloatArray:
        """Return `matrix @ (states, input, slope)` for both organs, each with its own matrix."""
        column_groups = [self.states, self.input[..., None], self.slope[..., None]]
        columns = np.concatenate(column_groups, axis=2)
        return np.stack([c @ m.T for c, m in zip(columns, matrices, strict=True)])


class PerceptionCost:
    """Sum over the horizon of weighted squares, as x P x / 2 + q x in the jerks x.

    To first order in the attitude, the head at h feels along x, y, z

        f = r'' + cross(angular acceleration, h) + g (-pitch, roll, 0)

    so that its perception is linear in the otoliths' responses to accelerations and to values.

    Attributes:
        hessian: P `(d b, d b)`.
    """

    def __init__(
        self,
        prediction: Prediction,
        columns: IndexArray,
        head: FloatArray,
        travel: FloatArray,
        settings: PredictiveSettings,
    ) -> None:
        s, size = settings, len(columns)
        blocks = np.array(s.blocks)
        acceleration_gradient, value_gradient, rate_gradient = sensed_gradients(head)
        inverse_travel = 1.0 / travel[columns]
        coordinate_scale = np.diag(inverse_travel)
        force_gradients = {3: acceleration_gradient[:, columns], 4: value_gradient[:, columns]}
        cost_terms = [
            (np.sqrt(s.force_weight) / SPECIFIC_FORCE_THRESHOLD, force_gradients),
            (np.sqrt(s.rate_weight) / RATE_THRESHOLD, {5: rate_gradient[:, columns]}),
        ]
        for k, weight in enumerate((s.place_weight, s.speed_weight, s.acceleration_weight)):
            cost_terms.append((np.full(size, np.sqrt(weight)), {k: coordinate_scale}))
        self.forced, self.free = [], []
        self.hessian: FloatArray = np.asarray(
            np.kron(np.diag(s.jerk_weight * inverse_travel**2), np.diag(blocks)), dtype=np.float64
        )
        for weight, gradients in cost_terms:
            forced = sum(
                np.einsum("md,kb->mkdb", weight[:, None] * matrix, prediction.forced[:, k])
                for k, matrix in gradients.items()
            ).reshape(len(weight) * blocks.sum(), -1)
            free = sum(
                np.einsum("md,ks->mkds", weight[:, None] * matrix, prediction.free[:, k])
                for k, matrix in gradients.items()
            ).reshape(len(forced), -1)
            self.hessian = self.hessian + forced.T @ forced
            self.forced.append(forced)
            self.free.append(free)
        self.weights = [cost_terms[k][0][:, None] for k in range(2)]
        # q is linear in the state now and in the reference: both maps are made once.
        self.state_gradient = sum(a.T @ b for a, b in zip(self.forced, self.free, strict=True))

    def gradient(self, states: FloatArray, reference: FloatArray) -> FloatArray:
        """Return the linear term q `(d b,)` of the cost.

        Args:
            states: `(d, 9)` present states of the coordinates and their perception.
            reference: `(2, 3, K)` force [m/s2] and rate [rad/s] that should be perceived.
        """
        result = self.state_gradient @ states.ravel()
        for forced, weight, values in zip(self.forced, self.weights, reference, strict=False):
            result = result - forced.T @ (weight * values).ravel()
        return np.asarray(result)


def sensed_gradients(head: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return derivatives `(3, 6)` of force, force and rate at the head by the six axes.

    They are those of the force by the axes' accelerations, of the force by their values, and of the
    rate by their rates. Rows are x, y, z; columns x, y, z, yaw, pitch, roll.
    """
    x, y, z = head
    acceleration_gradient = np.hstack([np.eye(3), [[-y, z, 0.0], [x, 0.0, -z], [0.0, -x, y]]])
    value_gradient, rate_gradient = np.zeros((2, 3, 6))
    value_gradient[0, 4], value_gradient[1, 5] = -GRAVITY, GRAVITY
    rate_gradient[[0, 1, 2], [5, 4, 3]] = 1.0
    return acceleration_gradient, value_gradient, rate_gradient


class Plan(NamedTuple):
    """Piecewise cubic coordinates; after the last period they rest."""

    states: FloatArray
    """`(K + 1, d, 3)` value, rate, acceleration at the start of every period and at the end"""
    jerks: FloatArray
    """`(K, d)` constant jerk of each period"""

    def shifted(self) -> Plan:
        """Return the plan one period later, at rest in the period that is added."""
        end_state = self.states[-1:].copy()
        end_state[:, :, 1:] = 0.0
        zero_jerk = np.zeros_like(self.jerks[:1])
        return Plan(
            np.concatenate([self.states[1:], end_state]),
            np.concatenate([self.jerks[1:], zero_jerk]),
        )

    def samples(self, period: float, samples_per_period: int) -> FloatArray:
        """Return states `(K samples_per_period + 1, d, 3)` at even times, the end included."""
        t = (np.arange(samples_per_period) * (period / samples_per_period))[None, :, None]
        x, v, a = (self.states[:-1, None, :, k] for k in range(3))
        j = self.jerks[:, None]
        states_between = np.stack(cubic_steps(x, v, a, j, t), axis=-1)
        return np.concatenate(
            [states_between.reshape(-1, *self.states.shape[1:]), self.states[-1:]]
        )


def plan_from(start: FloatArray, jerks: FloatArray, period: float) -> Plan:
    """Return the plan of jerks `(K, d)` from a state `(d, 3)`."""
    states = [start]
    for jerk in jerks:
        x, v, a = states[-1].T
        states.append(np.stack(cubic_steps(x, v, a, jerk, period), axis=-1))
    return Plan(np.stack(states), jerks)


def expanded_axes(states: FloatArray, columns: IndexArray) -> AxisSample:
    """Return samples of all six axes; d of them have states `(m, d, 3)`, the others are zero.

    Args:
        states: value, rate and acceleration.
        columns: `(d,)` indices of the axes that have states.
    """
    axes = np.zeros((3, len(states), 6))
    axes[:, :, columns] = states.transpose(2, 0, 1)
    return AxisSample(*axes)


class LimitCheck:
    """Checks whether a plan keeps the exact limits of the actuators, also between its samples.

    Between two samples a smooth curve leaves the chord by an eighth of its second difference; the
    largest such deviation is added to every value, so that the check errs on the safe side.
    """

    def __init__(
        self, platform: MachineModel, columns: IndexArray, period: float, samples_per_period: int
    ) -> None:
        self.platform, self.columns = platform, columns
        self.period, self.samples_per_period = period, samples_per_period
        actuator = platform.parameters.leg.actuator
        self.speed = actuator.speed
        self.acceleration = getattr(actuator, "acceleration", None)

    def keeps(self, plan: Plan) -> bool:
        """Return whether lengths, speeds and accelerations stay inside along the whole plan."""
        axes = expanded_axes(plan.samples(self.period, self.samples_per_period), self.columns)
        try:
            motion = motion_of_axes(self.platform, axes)
            length, rate, acceleration = leg_motion(self.platform, *motion)
        except TwinError:
            return False
        low, high = self.platform.minimum_coordinates, self.platform.maximum_coordinates
        chord_error = bulge(length)
        if not ((length >= low + chord_error) & (length <= high - chord_error)).all():
            return False
        for values, limit in ((rate, self.speed), (acceleration, self.acceleration)):
            if limit is not None and not np.abs(values).max() + bulge(values) <= limit:
                return False
        return True


def bulge(values: FloatArray) -> float:
    """Return how far curves may leave the chords between samples `(k, n)`.

    It is an eighth of the largest second difference.
    """
    return float(np.abs(np.diff(values, 2, axis=0)).max(initial=0.0)) / 8.0


class LegRows:
    """Rows for lengths, speeds and accelerations of the actuators, as fractions of their limits.

    At every node l(q) is replaced by l(p) + J(p) (q - p), with p of the last plan and J from
    `Platform.jacobian`; its derivatives likewise. The first node lies at the present pose, and q is
    linear in the jerks.
    """

    def __init__(
        self, platform: MachineModel, columns: IndexArray, prediction: Prediction, margin: float
    ) -> None:
        self.platform, self.columns = platform, columns
        steps = len(prediction.free)
        self.nodes = np.array([node for node in LIMIT_NODES if node <= steps])
        self.free = prediction.free[self.nodes - 1, :3, :3]
        self.forced = prediction.forced[self.nodes - 1, :3]
        actuator = platform.parameters.leg.actuator
        low, high = platform.minimum_coordinates, platform.maximum_coordinates
        self.middle, half_range = 0.5 * (low + high), 0.5 * (high - low)
        usable_fraction = 1.0 - margin
        limits = (half_range, actuator.speed, getattr(actuator, "acceleration", None))
        # Shares of the limits, so that all rows have the same size.
        self.kinds = [
            (k, usable_fraction * np.broadcast_to(limit, half_range.shape))
            for k, limit in enumerate(limits)
            if limit is not None
        ]

    def rows(self, plan: Plan, start: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return A `(k, d b)` and its bounds for jerks of the coordinates' blocks.

        Args:
            plan: plan along which the kinematics are linearised.
            start: `(d, 3)` present state of the coordinates.
        """
        states = plan.states[self.nodes]
        axes = expanded_axes(states, self.columns)
        leg_state = leg_motion(self.platform, *motion_of_axes(self.platform, axes))
        slopes = leg_slopes(self.platform, axes.values, self.columns)
        free_states = np.einsum("nsk,dk->nds", self.free, start)
        matrices, lower, upper = [], [], []
        for kind, limit in self.kinds:
            scaled_slopes = slopes / limit[:, None]
            matrix = np.einsum("nld,nb->nldb", scaled_slopes, self.forced[:, kind])
            deviation = free_states[:, :, kind] - states[:, :, kind]
            value = leg_state[kind] - (self.middle if kind == 0 else 0.0)
            constant = value / limit + np.einsum("nld,nd->nl", scaled_slopes, deviation)
            matrices.append(matrix.reshape(constant.size, -1))
            lower.append(-1.0 - constant.ravel())
            upper.append(1.0 - constant.ravel())
        return np.concatenate(matrices), np.concatenate(lower), np.concatenate(upper)


class Problem(NamedTuple):
    """Minimise x P x / 2 + q x subject to lower <= A x <= upper."""

    hessian: FloatArray
    """P `(m, m)`, symmetric, positive semidefinite"""
    gradient: FloatArray
    """q `(m,)`"""
    rows: FloatArray
    """A `(k, m)`"""
    lower: FloatArray
    """lower bounds of the rows `(k,)`"""
    upper: FloatArray
    """upper bounds of the rows `(k,)`"""


class Solution(NamedTuple):
    """Result of a quadratic program."""

    solution: FloatArray
    """x `(m,)`"""
    iterations: int


class QuadraticProgram:
    """Solver of quadratic programs of one shape, each warm-started from the last solution.

    Reference:
        Stellato, Banjac, Goulart, Bemporad and Boyd, OSQP: an operator splitting solver for
        quadratic programs, Math. Programming Computation 12 (2020).
    """

    def __init__(self, problem: Problem, tolerance: float, max_iterations: int) -> None:
        """Prepare the solver.

        Args:
            problem: first problem, whose Hessian all later ones share.
            tolerance: absolute and relative tolerance of the solver.
            max_iterations: maximum number of iterations.

        Raises:
            MissingDependencyError: the solver is not installed.
        """
        from scipy.sparse import csc_matrix, triu

        library = optional("osqp")
        count, size = problem.rows.shape
        row_indices = np.tile(np.arange(count), size)
        rows = csc_matrix(
            (_entries(problem.rows), row_indices, count * np.arange(size + 1)), shape=(count, size)
        )
        self.solver = library.OSQP()
        self.solver.setup(
            P=triu(csc_matrix(problem.hessian), format="csc"),
            q=problem.gradient,
            A=rows,
            l=problem.lower,
            u=problem.upper,
            verbose=False,
            warm_starting=True,
            eps_abs=tolerance,
            eps_rel=tolerance,
            max_iter=max_iterations,
            # Counted in iterations, not in time: the same input gives the same motion.
            adaptive_rho_interval=25,
        )

    def solve(self, problem: Problem) -> Solution:
        """Return the solution of a problem with the Hessian of the first."""
        self.solver.update(
            q=problem.gradient,
            l=problem.lower,
            u=problem.upper,
            Ax=_entries(problem.rows),
        )
        result = self.solver.solve(raise_error=False)
        return Solution(np.asarray(result.x, dtype=np.float64), int(result.info.iter))


def _entries(rows: FloatArray) -> FloatArray:
    """Return all entries of a matrix, zeros included, in the solver's sparse column format."""
    return rows.ravel(order="F")


class PredictiveCueing(CueingAlgorithm):
    """Cueing by model predictive control: at every period, the cheapest jerks over a horizon.

    Cost: squared errors of perceived specific force and angular rate in thresholds, with the
    models of `perceived` among the states, and of displacement, speed and effort, which bring the
    platform home. Subject to actuator lengths, speeds and, where the machine has a limit,
    accelerations, linearised anew along the plan from the present pose; and to rest at the end of
    the horizon. No slack: the program's rows have a margin, and a plan is followed only if the
    exact kinematics keeps the limits along all of it, up to where it rests. If not, a blend with
    the last plan that did is followed, or that plan itself; so every motion that the platform
    begins, it can end inside its limits.

    The vehicle's future is taken as its present input held, unless a manoeuvre is given as preview.

    Attributes:
        settings: see `PredictiveSettings`.
        plan: what is followed from now on.
        problem: the last program that was solved.
        followed_fractions: of the new plan in what was followed, per step; 0: the last plan went
            on.
        iterations: of the solver, per step.

    Reference:
        Dagdelen, Reymond, Kemeny, Bordier and Maizi, Model-based predictive motion cueing
        strategy for vehicle driving simulators, Control Eng. Practice 17 (2009): the idea; here
        with exact limits of the actuators.
    """

    name = "predictive"
    latency = 1
    keeps_limits = True

    def __init__(
        self,
        platform: MachineModel,
        head: Any = (0.0, 0.0, 0.0),
        *,
        settings: PredictiveSettings | None = None,
        preview: Manoeuvre | None = None,
        period: float = DEFAULT_PERIOD,
    ) -> None:
        """Prepare the program, at rest at home.

        Args:
            platform: the machine.
            head: `(3,)` [m] driver's head from the reference point, platform axes.
            settings: default `PredictiveSettings()`.
            preview: the manoeuvre, where its future is known; None where it is not.
            period: [s].

        Raises:
            InputError: not a machine, no settings, no point, a home at the limits.
            MissingDependencyError: the solver is not installed.
        """
        super().__init__(platform, head, period)
        self.point = np.zeros(3)
        s = PredictiveSettings() if settings is None else settings
        self.settings = as_instance(s, "settings", PredictiveSettings)
        ranges = machine_ranges(self.platform)
        self.columns: IndexArray = np.flatnonzero(ranges.free & (ranges.travel > 0.0))
        size, n_periods = len(self.columns), sum(s.blocks)
        self.model = prediction(self.period, s.blocks)
        self.states = np.zeros((size, STATE_COUNT))
        self.plan = Plan(np.zeros((n_periods + 1, size, 3)), np.zeros((n_periods, size)))
        self.check = LimitCheck(self.platform, self.columns, self.period, CHECKS_PER_PERIOD)
        if not size or not self.check.keeps(self.plan):
            raise InputError("platform", "must be able to move about its home, but home is a limit")
        self.cost = PerceptionCost(self.model, self.columns, self.head, ranges.travel, s)
        self.legs = LegRows(self.platform, self.columns, self.model, s.margin)
        self.basis, self.to_rest = resting_basis(self.model, self.cost.hessian, size)
        self.expectation = Expectation(self.period, n_periods, s.memory)
        self.preview = None if preview is None else self._perceived_preview(preview, n_periods)
        self.followed_fractions, self.iterations = list[float](), list[int]()
        self.problem = self._problem()
        self.program = QuadraticProgram(self.problem, s.tolerance, s.iterations)

    def step(self, specific_force: FloatArray, angular_rate: FloatArray) -> None:
        """Advance by one period from the sample `(3,)`, `(3,)` of a manoeuvre at its start."""
        s = self.settings
        force = saturated(specific_force - REST_FORCE, s.force_scale, s.force_limit)
        rate = saturated(angular_rate, s.rate_scale, s.rate_limit)
        self.expectation.step(force, rate)
        self.problem = self._problem()
        optimum = self.program.solve(self.problem)
        self.iterations.append(optimum.iterations)
        self.followed_fractions.append(self._follow(optimum.solution))
        jerk = self.plan.jerks[0]
        self.states = self.states @ self.model.transition.T + np.outer(
            jerk, self.model.jerk_response
        )
        self.plan = self.plan.shifted()
        self.states[:, :3] = self.plan.states[0]
        self.state[:, self.columns] = self.plan.states[0].T

    def _follow(self, solution: FloatArray) -> float:
        """Adopt the largest fraction of a solution that keeps the limits; return this fraction.

        The last plan and the new one both begin at the present state and end at rest; so does any
        blend of both.
        """
        if not np.isfinite(solution).all():
            return 0.0
        current_state = self.states[:, :3]
        jerks = self.to_rest @ current_state.ravel() + self.basis @ solution
        blocks = jerks.reshape(len(self.columns), -1)
        new_jerks = np.repeat(blocks, self.settings.blocks, axis=1).T
        for fraction in BLEND_FRACTIONS:
            blend = self.plan.jerks + fraction * (new_jerks - self.plan.jerks)
            plan = plan_from(current_state, blend, self.period)
            if self.check.keeps(plan):
                self.plan = plan
                return fraction
        return 0.0

    def _problem(self) -> Problem:
        """Return the quadratic program of the next plan."""
        if self.preview is None:
            reference = self.expectation.perceived_ahead()
        else:  # the part of the previewed perception that lies in the horizon
            periods = np.arange(1, len(self.model.free) + 1) + len(self.iterations)
            reference = self.preview[:, :, np.minimum(periods, self.preview.shape[2] - 1)]
        current_state = self.states[:, :3]
        rows, lower, upper = self.legs.rows(self.plan, current_state)
        stopping_jerks = self.to_rest @ current_state.ravel()
        gradient = self.cost.gradient(self.states, reference) + self.cost.hessian @ stopping_jerks
        row_offsets = rows @ stopping_jerks
        return Problem(
            np.eye(self.basis.shape[1]),
            self.basis.T @ gradient,
            rows @ self.basis,
            lower - row_offsets,
            upper - row_offsets,
        )

    def _perceived_preview(self, preview: Any, steps: int) -> FloatArray:
        """Return force and rate `(2, 3, k)` that the vehicle's driver perceives, at all periods."""
        as_instance(preview, "preview", Manoeuvre)
        s, samples_per_period = self.settings, 8
        count = int(preview.duration / self.period) + steps + 2
        force, rate = preview.at(
            np.arange(samples_per_period * count) * (self.period / samples_per_period)
        )
        limited_force = saturated(force - REST_FORCE, s.force_scale, s.force_limit) + REST_FORCE
        rate = saturated(rate, s.rate_scale, s.rate_limit)
        perceived_motion = perceived(limited_force, rate, self.period / samples_per_period)
        return np.stack([signal[::samples_per_period].T for signal in perceived_motion])
