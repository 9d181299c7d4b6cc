"""LQR along a reference: inverse dynamics forward, state feedback on the error.

The regulator of a linearised machine is sampled at the control period. It minimises, over the
sampled motions x[k+1] = A x[k] + B u[k] of the machine about its pose,

    J = sum x'Q x + u'R u,    u = -K x,    J_min = x_0' P x_0,

with P of the discrete Riccati equation. With integral action the state is extended by
z[k+1] = z[k] + T d[k], the platform's displacement summed up.

Errors along the reference are in task space, by Jacobians that are computed once.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from twin.basics.arrays import (
    LARGEST_NUMBER,
    SMALLEST_NUMBER,
    FloatArray,
    as_flag,
    as_floats,
    as_instance,
    as_vector,
)
from twin.basics.optional import optional
from twin.control.controller import DEFAULT_PERIOD, Controller, Reference
from twin.control.feedforward import feedforward_table
from twin.control.gains import drive_model
from twin.control.linear.linearise import linearise
from twin.control.linear.machine import LinearMachine, StateSpace, sampled, with_drives
from twin.errors import InputError
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.drives import actuator_limit
from twin.plant.signals import Command, Measurement

FORCE_FRACTION = 0.1
"""Tolerated force in the cost, as a fraction of the actuator's largest force."""


class RegulatorWeights(NamedTuple):
    """Largest tolerated values: each counts as one in the cost (Bryson's rule)."""

    displacement: float = 1e-3
    """[m] and [rad]"""
    rate: float = 5e-2
    """[m/s] and [rad/s]"""
    force: float | None = None
    """[N] or [N m]; default a tenth of the actuators' limits; without limits, of the largest
    holding force"""
    integral: float = 1e-4
    """[m s] and [rad s]"""


class Regulator(NamedTuple):
    """A regulator with the data of its design."""

    gain: FloatArray
    """`(n, s)` K"""
    cost: FloatArray
    """`(s, s)` P: the least cost from x_0 is x_0' P x_0"""
    model: StateSpace
    """sampled: forces to state; s is 12, or 18 with integral action"""
    state_weight: FloatArray
    """`(s, s)` Q"""
    force_weight: FloatArray
    """`(n, n)` R"""
    integral: bool

    @property
    def closed_loop(self) -> StateSpace:
        """The sampled machine under u = r - K x, from r to the state."""
        model = self.model
        return model._replace(A=model.A - model.B @ self.gain)

    @property
    def loop(self) -> StateSpace:
        """The open loop L = K x from forces to forces; the return difference is 1 + L."""
        feedthrough = np.zeros((len(self.gain), len(self.gain)))
        return self.model._replace(C=self.gain, D=feedthrough)


def regulator(
    linear: LinearMachine,
    period: float = DEFAULT_PERIOD,
    *,
    weights: RegulatorWeights | None = None,
    integral: bool = False,
) -> Regulator:
    """Return the regulator of a rigid machine with six degrees of freedom.

    Args:
        linear: the machine, with or without its drives' inertia.
        period: control period [s].
        weights: what an error and a force cost.
        integral: sum up displacements, so that constant forces leave no error.

    Raises:
        InputError: a machine whose state does not follow from its actuators' coordinates and rates.
        MissingDependencyError: python-control is not installed.
    """
    library = optional("control", "The linear quadratic regulator")
    if linear.size != 6 or linear.platform.n_actuators != 6 or linear.platform.n_deflections:
        raise InputError(
            "linear", "must have six degrees of freedom, six actuators and none inside the legs"
        )
    chosen_weights = RegulatorWeights() if weights is None else weights
    as_instance(chosen_weights, "weights", RegulatorWeights)
    values = as_floats(
        [
            chosen_weights.displacement,
            chosen_weights.rate,
            chosen_weights.integral,
            _force(linear, chosen_weights),
        ],
        "weights",
    )
    if not ((values >= SMALLEST_NUMBER) & (values <= LARGEST_NUMBER)).all():
        raise InputError(
            "weights", f"must be above zero, from {SMALLEST_NUMBER:g} to {LARGEST_NUMBER:g}"
        )
    model = sampled(linear.system("forces", ("displacement", "twist")), period)
    tolerances = np.repeat(values[:2], 6)
    if as_flag(integral, "integral"):
        model = _with_integral(model)
        tolerances = np.repeat(values[:3], 6)
    state_weight = np.diag(1.0 / tolerances**2)
    force_weight = np.eye(6) / values[3] ** 2
    try:
        with np.errstate(all="ignore"):
            gain, cost, _ = library.dlqr(model.A, model.B, state_weight, force_weight)
    except (ValueError, np.linalg.LinAlgError) as error:
        raise InputError("weights", f"no regulator has them at this period ({error})") from None
    arrays = (as_floats(gain, "weights"), as_floats(cost, "weights"))
    return Regulator(*arrays, model, state_weight, force_weight, integral)


def predicted_cost(design: Regulator, start: Any) -> float:
    """Return the least cost x_0' P x_0 from a state of displacement, twist (and their sums).

    Raises:
        InputError: wrong shape, not finite.
    """
    initial_state = as_vector(start, "start", len(design.cost))
    return float(initial_state @ design.cost @ initial_state)


def accumulated_cost(design: Regulator, states: Any, forces: Any) -> float:
    """Return the cost of states `(k, s)` under forces `(k, n)` beyond those of rest.

    Raises:
        InputError: wrong shapes, not finite.
    """
    x = as_floats(states, "states", len(design.cost))
    u = as_floats(forces, "forces", len(design.force_weight))
    if x.ndim != 2 or len(x) != len(u):
        raise InputError("states, forces", "must have one row per control period each")
    effort_cost = np.einsum("ki,ij,kj->", u, design.force_weight, u)
    return float(np.einsum("ki,ij,kj->", x, design.state_weight, x) + effort_cost)


def _force(linear: LinearMachine, weights: RegulatorWeights) -> float:
    """Return the force [N] that costs as much as the largest errors."""
    if weights.force is not None:
        return weights.force
    effort = linear.platform.parameters.leg.actuator.effort
    if effort is not None:
        return FORCE_FRACTION * effort
    holding_force = float(np.abs(linear.point.forces).max())
    return max(FORCE_FRACTION * holding_force, 1.0)


def _with_integral(model: StateSpace) -> StateSpace:
    s, i = model.B.shape
    dynamics = np.zeros((s + 6, s + 6))
    dynamics[:s, :s], dynamics[s:, s:] = model.A, np.eye(6)
    dynamics[s:, :6] = model.period * np.eye(6)
    input_matrix = np.vstack([model.B, np.zeros((6, i))])
    return StateSpace(dynamics, input_matrix, np.eye(s + 6), np.zeros((s + 6, i)), model.period)


class TaskErrors:
    """Small displacements from the reference by the inverse Jacobian at its pose.

    d = J^-1 (q - q_ref), v = J^-1 (q' - q'_ref): exact to second order in the error. Springs in
    series with the actuators are not seen.
    """

    def __init__(self, platform: MachineModel, reference: Reference) -> None:
        """Compute the Jacobians of all rows.

        Rows that cannot be reached, at which the loop stops, take the last one before them.

        Raises:
            InputError: a machine whose pose does not follow from its actuators.
        """
        if platform.dof != 6 or platform.n_actuators != 6:
            raise InputError(
                "platform", f"{platform.name} must have six degrees of freedom and actuators"
            )
        self._reference = reference
        reachable = reference.reachable > 0.0
        last_reachable = np.maximum.accumulate(np.where(reachable, np.arange(len(reachable)), -1))
        poses = np.where(
            (last_reachable >= 0)[:, None], reference.pose[last_reachable], platform.home
        )
        self._jacobian = platform.jacobian(poses)

    def of(self, row: int, measurement: Measurement) -> tuple[FloatArray, FloatArray]:
        """Return displacement and twist `(6,)` from row `row` of the reference, base axes."""
        reference, inverse = self._reference, np.linalg.inv(self._jacobian[row])
        return (
            inverse @ (measurement.coordinates - reference.coordinates[row]),
            inverse @ (measurement.rates - reference.rates[row]),
        )


class Lqr(Controller):
    """Linear quadratic regulator of a rigid machine with six degrees of freedom; commands forces.

        f = ID(reference) - K (d, v, z),   d = J^-1 (q - q_ref),  v = J^-1 (q' - q'_ref)

    K is designed at one pose, on the machine with the inertia of its drives. The sums z are held
    while the command of an actuator exceeds its limit.

    Attributes:
        design: the regulator.
    """

    name: ClassVar[str] = "lqr"

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        period: float = DEFAULT_PERIOD,
        weights: RegulatorWeights | None = None,
        integral: bool = False,
        design: Regulator | None = None,
    ) -> None:
        """Design the regulator and compute the forces of the reference.

        Args:
            platform: the machine.
            motion: reference motion; default: stay at home.
            period: control period [s].
            weights: what an error and a force cost.
            integral: sum up displacements, so that constant forces leave no error.
            design: a regulator of the same period instead of one for home.

        Raises:
            InputError: not such a machine, or a design of another period.
            SingularPoseError: the reference passes a singular pose.
            MissingDependencyError: python-control is not installed.
        """
        super().__init__(platform, motion, period=period)
        if design is None:
            machine = with_drives(linearise(platform))
            design = regulator(machine, self.period, weights=weights, integral=integral)
        if as_instance(design, "design", Regulator).model.period != self.period:
            raise InputError("design", "must have the controller's period")
        self.design = design
        self._drives = drive_model(platform)
        self._prepare(self.reference)
        self._largest = actuator_limit(platform, "effort")
        self._state = np.zeros(design.gain.shape[1])

    def _prepare(self, reference: Reference) -> None:
        errors = TaskErrors(self.platform, reference)
        self._forward = feedforward_table(self.platform, reference, self._drives).forces
        self._errors = errors
        super()._prepare(reference)

    def start(self, measurement: Measurement) -> None:
        """Start at `measurement`; with integral action the first force is the feedforward alone."""
        self._state = np.zeros_like(self._state)
        self._state[:6], self._state[6:12] = self._errors.of(
            self.reference.row(self.first), measurement
        )
        if self.design.integral:
            gain = self.design.gain
            self._state[12:] = np.linalg.solve(gain[:, 12:], -gain[:, :12] @ self._state[:12])

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return the forces of control period `step`."""
        row_index = self.reference.row(step)
        error_state = self._state
        error_state[:6], error_state[6:12] = self._errors.of(row_index, measurement)
        force = self._forward[row_index] - self.design.gain @ error_state
        if self.design.integral and (np.abs(force) <= self._largest).all():
            error_state[12:] += self.period * error_state[:6]
        return Command(force, "force")

    def signals(self) -> dict[str, FloatArray]:
        """Return the state that is fed back."""
        return {"error": self._state.copy()}
