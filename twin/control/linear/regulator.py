"""Linear quadratic regulator of a linearised machine, sampled at the control period.

Minimises, over the sampled motions x[k+1] = A x[k] + B u[k] of the machine about its pose,

    J = sum x'Q x + u'R u,    u = -K x,    J_min = x_0' P x_0,

with P of the discrete Riccati equation. With integral action the state is extended by
z[k+1] = z[k] + T d[k], the platform's displacement summed up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_flag, as_floats, as_vector
from twin.basics.optional import optional
from twin.control.linear.machine import LinearMachine
from twin.control.linear.state_space import StateSpace, sampled
from twin.errors import InputError

PERIOD = 1e-3

FORCE_SHARE = 0.1
"""Share of an actuator's largest force that a tolerated error may cost."""


class RegulatorWeights(NamedTuple):
    """Largest tolerated values: each counts as one in the cost (Bryson's rule)."""

    displacement: float = 1e-3
    """[m] and [rad]"""
    rate: float = 5e-2
    """[m/s] and [rad/s]"""
    force: float | None = None
    """[N] or [N m]; default a tenth of the actuators' own, or of what holds the machine"""
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
        """The open loop K x from forces to forces, for margins: the loop is 1 + L."""
        feedthrough = np.zeros((len(self.gain), len(self.gain)))
        return self.model._replace(C=self.gain, D=feedthrough)


def regulator(
    linear: LinearMachine,
    period: float = PERIOD,
    *,
    weights: RegulatorWeights | None = None,
    integral: bool = False,
) -> Regulator:
    """Return the regulator of a rigid machine with six degrees of freedom.

    Args:
        linear: the machine, with or without its drives' inertia.
        period: of the controller [s].
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
    chosen = RegulatorWeights() if weights is None else weights
    values = as_floats(
        [chosen.displacement, chosen.rate, chosen.integral, _force(linear, chosen)], "weights"
    )
    if not (values > 0.0).all():
        raise InputError("weights", "must be above zero")
    model = sampled(linear.system("forces", ("displacement", "twist")), period)
    sizes = np.repeat(values[:2], 6)
    if as_flag(integral, "integral"):
        model = _with_integral(model)
        sizes = np.repeat(values[:3], 6)
    state_weight = np.diag(1.0 / sizes**2)
    force_weight = np.eye(6) / values[3] ** 2
    gain, cost, _ = library.dlqr(model.A, model.B, state_weight, force_weight)
    arrays = (np.asarray(gain), np.asarray(cost))
    return Regulator(*arrays, model, state_weight, force_weight, integral)


def predicted_cost(design: Regulator, start: Any) -> float:
    """Return the least cost x_0' P x_0 from a state of displacement, twist (and their sums).

    Raises:
        InputError: wrong shape, not finite.
    """
    state = as_vector(start, "start", len(design.cost))
    return float(state @ design.cost @ state)


def accumulated_cost(design: Regulator, states: Any, forces: Any) -> float:
    """Return the cost of states `(k, s)` under forces `(k, n)` beyond those of rest.

    Raises:
        InputError: wrong shapes, not finite.
    """
    x = as_floats(states, "states", len(design.cost))
    u = as_floats(forces, "forces", len(design.force_weight))
    if x.ndim != 2 or len(x) != len(u):
        raise InputError("states, forces", "must have one row per control period each")
    spent = np.einsum("ki,ij,kj->", u, design.force_weight, u)
    return float(np.einsum("ki,ij,kj->", x, design.state_weight, x) + spent)


def _force(linear: LinearMachine, weights: RegulatorWeights) -> float:
    if weights.force is not None:
        return weights.force
    effort = linear.platform.parameters.leg.actuator.effort
    if effort is not None:
        return FORCE_SHARE * effort
    held = float(np.abs(linear.rest.forces).max())
    return max(FORCE_SHARE * held, 1.0)


def _with_integral(model: StateSpace) -> StateSpace:
    s, i = model.B.shape
    dynamics = np.zeros((s + 6, s + 6))
    dynamics[:s, :s], dynamics[s:, s:] = model.A, np.eye(6)
    dynamics[s:, :6] = model.period * np.eye(6)
    input_matrix = np.vstack([model.B, np.zeros((6, i))])
    return StateSpace(dynamics, input_matrix, np.eye(s + 6), np.zeros((s + 6, i)), model.period)
