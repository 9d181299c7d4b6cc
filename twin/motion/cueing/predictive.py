"""Model-predictive cueing: least perceived error within the actuators' limits, always."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.basics.optional import optional
from twin.errors import InputError, brief
from twin.model.machine_model import MachineModel
from twin.motion.cueing.algorithm import REST, CueingAlgorithm, saturated
from twin.motion.cueing.manoeuvre import Manoeuvre
from twin.motion.cueing.perception import perceived
from twin.motion.cueing.plan import LegRows, LimitCheck, Plan, plan_from
from twin.motion.cueing.platform_axes import machine_ranges
from twin.motion.cueing.prediction import (
    STATES,
    Expectation,
    PerceptionCost,
    prediction,
    resting_basis,
)
from twin.motion.cueing.predictive_settings import PredictiveSettings


class Problem(NamedTuple):
    """Minimise x P x / 2 + q x subject to lower <= A x <= upper."""

    hessian: FloatArray
    """P `(m, m)`, symmetric, positive semidefinite"""
    gradient: FloatArray
    """q `(m,)`"""
    rows: FloatArray
    """A `(k, m)`"""
    lower: FloatArray
    """`(k,)`"""
    upper: FloatArray
    """`(k,)`"""


class Solution(NamedTuple):
    """Solution of a quadratic program, and whether it is one."""

    solution: FloatArray
    """x `(m,)`"""
    solved: bool
    """whether the solver's tolerances are met"""
    iterations: int


class QuadraticProgram:
    """Problems of one shape, each started from the solution of the one before.

    Reference:
        Stellato, Banjac, Goulart, Bemporad and Boyd, OSQP: an operator splitting solver for
        quadratic programs, Math. Programming Computation 12 (2020).
    """

    def __init__(self, problem: Problem, tolerance: float, most: int) -> None:
        """Prepare the solver.

        Args:
            problem: the first; the Hessian is that of all.
            tolerance: absolute and relative, of the solver.
            most: iterations.

        Raises:
            MissingDependencyError: the solver is not installed.
        """
        from scipy.sparse import csc_matrix, triu

        library = optional("osqp")
        count, size = problem.rows.shape
        places = np.tile(np.arange(count), size)
        rows = csc_matrix(
            (_entries(problem.rows), places, count * np.arange(size + 1)), shape=(count, size)
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
            max_iter=most,
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
        solution = np.asarray(result.x, dtype=np.float64)
        fine = result.info.status == "solved" and bool(np.isfinite(solution).all())
        return Solution(solution, fine, int(result.info.iter))


def _entries(rows: FloatArray) -> FloatArray:
    """Return all entries, column by column."""
    return rows.ravel(order="F")


PERIOD = 0.04
"""[s]: 25 Hz."""

SHARES = (1.0, 0.5, 0.25, 0.125)
"""Of a new plan, tried in this order."""

PARTS = 4
"""Instants in each period at which a plan is held against the exact limits."""


class PredictiveCueing(CueingAlgorithm):
    """At every period, the jerks of the free coordinates over a horizon that cost least.

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
        shares: of the new plan in what was followed, per step; 0: the last plan went on.
        iterations: of the solver, per step.

    Reference:
        Dagdelen, Reymond, Kemeny, Bordier and Maizi, Model-based predictive motion cueing
        strategy for vehicle driving simulators, Control Eng. Practice 17 (2009): the idea; here
        with exact limits of the actuators.
    """

    name: ClassVar[str] = "predictive"
    latency: ClassVar[int] = 1
    keeps_limits: ClassVar[bool] = True

    def __init__(
        self,
        platform: MachineModel,
        head: Any = (0.0, 0.0, 0.0),
        *,
        settings: PredictiveSettings | None = None,
        preview: Manoeuvre | None = None,
        period: float = PERIOD,
    ) -> None:
        """Prepare the program, at rest at home.

        Args:
            platform: the machine.
            head: `(3,)` [m] driver's head from the reference point, platform axes.
            settings: default `PredictiveSettings()`.
            preview: the manoeuvre itself, where its future is known.
            period: [s].

        Raises:
            InputError: not a machine, no settings, no point, a home at the limits.
            MissingDependencyError: the solver is not installed.
        """
        super().__init__(platform, head, period)
        self.point = np.zeros(3)
        s = PredictiveSettings() if settings is None else settings
        if not isinstance(s, PredictiveSettings):
            raise InputError("settings", f"must be PredictiveSettings, not {brief(s)}")
        self.settings = s
        ranges = machine_ranges(self.platform)
        self.columns: IndexArray = np.flatnonzero(ranges.free & (ranges.travel > 0.0))
        size, steps = len(self.columns), sum(s.blocks)
        self.model = prediction(self.period, s.blocks)
        self.states = np.zeros((size, STATES))
        self.plan = Plan(np.zeros((steps + 1, size, 3)), np.zeros((steps, size)))
        self.check = LimitCheck(self.platform, self.columns, self.period, PARTS)
        if not size or not self.check.keeps(self.plan):
            raise InputError("platform", "must be able to move about its home, but home is a limit")
        self.cost = PerceptionCost(self.model, self.columns, self.head, ranges.travel, s)
        self.legs = LegRows(self.platform, self.columns, self.model, s.margin)
        self.basis, self.to_rest = resting_basis(self.model, self.cost.hessian, size)
        self.expectation = Expectation(self.period, steps, s.memory)
        self.outlook = None if preview is None else self._known(preview, steps)
        self.shares, self.iterations = list[float](), list[int]()
        self.problem = self._problem()
        self.program = QuadraticProgram(self.problem, s.tolerance, s.iterations)

    def step(self, specific_force: FloatArray, angular_rate: FloatArray) -> None:
        """Advance by one period from the sample `(3,)`, `(3,)` of a manoeuvre at its start."""
        s = self.settings
        force = saturated(specific_force - REST, s.force_scale, s.force_limit)
        rate = saturated(angular_rate, s.rate_scale, s.rate_limit)
        self.expectation.step(force, rate)
        self.problem = self._problem()
        found = self.program.solve(self.problem)
        self.iterations.append(found.iterations)
        self.shares.append(self._follow(found.solution))
        jerk = self.plan.jerks[0]
        self.states = self.states @ self.model.transition.T + np.outer(jerk, self.model.push)
        self.plan = self.plan.shifted()
        self.states[:, :3] = self.plan.states[0]
        for mine, values in zip(
            (self.values, self.rates, self.accelerations), self.plan.states[0].T, strict=True
        ):
            mine[self.columns] = values

    def _follow(self, solution: FloatArray) -> float:
        """Take over the largest share of a solution that keeps the limits; return this share.

        Both the last plan and the new one begin here and end at rest, so any blend of them does.
        """
        if not np.isfinite(solution).all():
            return 0.0
        now = self.states[:, :3]
        jerks = self.to_rest @ now.ravel() + self.basis @ solution
        blocks = jerks.reshape(len(self.columns), -1)
        new = np.repeat(blocks, self.settings.blocks, axis=1).T
        for share in SHARES:
            blend = self.plan.jerks + share * (new - self.plan.jerks)
            plan = plan_from(now, blend, self.period)
            if self.check.keeps(plan):
                self.plan = plan
                return share
        return 0.0

    def _problem(self) -> Problem:
        known = self.outlook
        reference = self.expectation.outlook() if known is None else self._previewed(known)
        now = self.states[:, :3]
        rows, lower, upper = self.legs.rows(self.plan, now)
        stop = self.to_rest @ now.ravel()
        gradient = self.cost.gradient(self.states, reference) + self.cost.hessian @ stop
        given = rows @ stop
        return Problem(
            np.eye(self.basis.shape[1]),
            self.basis.T @ gradient,
            rows @ self.basis,
            lower - given,
            upper - given,
        )

    def _known(self, preview: Any, steps: int) -> FloatArray:
        """Return force and rate `(2, 3, k)` that the vehicle's driver perceives, at all periods."""
        if not isinstance(preview, Manoeuvre):
            raise InputError("preview", f"must be a Manoeuvre, not {brief(preview)}")
        s, fine = self.settings, 8
        count = int(preview.duration / self.period) + steps + 2
        force, rate = preview.at(np.arange(fine * count) * (self.period / fine))
        cut = saturated(force - REST, s.force_scale, s.force_limit) + REST
        rate = saturated(rate, s.rate_scale, s.rate_limit)
        sensed = perceived(cut, rate, self.period / fine)
        return np.stack([part[::fine].T for part in sensed])

    def _previewed(self, outlook: FloatArray) -> FloatArray:
        """Return the part `(2, 3, K)` of what is known that lies in the horizon."""
        steps = np.arange(1, len(self.model.free) + 1) + len(self.iterations)
        return outlook[:, :, np.minimum(steps, outlook.shape[2] - 1)]
