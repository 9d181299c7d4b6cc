"""The differential-algebraic equations with actuator forces as inputs: three degrees of freedom.

Of the constraints only the four remain that tie the lengths to the plate. Actuator forces Q act on
the lengths. Two differentiations give accelerations and multipliers together:

    [ M      Phi_q^T ] [ q''    ]   [ Q - h ]
    [ Phi_q     0    ] [ lambda ] = [   0   ]

Prescribed lengths determine the motion whatever the masses are. Prescribed forces do not: here the
energies decide.

Reference: driving simulator paper, section "Dynamic Modeling": "if the actuators had been
controlled by force [...] the system would have had three degrees of freedom".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_vector
from twin.errors import IntegrationError
from twin.papers.driving_simulator.dae.integration import COUNT, NumericDae, numeric_dae
from twin.papers.driving_simulator.dae.lagrange import COORDINATES, DRIVEN
from twin.papers.driving_simulator.plate import CORNERS, PlateModel

PLATE = 3
"""Coordinates of the plate; the lengths follow."""

LENGTHS = tuple(
    COORDINATES.index("hmp_" + "".join(part[0] for part in name.split("_"))) for name in CORNERS
)
"""Indices of the lengths among the coordinates, in the order of `CORNERS`."""

ForcesOverTime = Callable[[float], FloatArray]
"""Forces `(4,)` [N] of the actuators in the order of `CORNERS`, from the time [s]"""


@dataclass(frozen=True, eq=False)
class ForcedRun:
    """Motion of the plate under actuator forces at `k` times, in the paper's seven coordinates."""

    time: FloatArray
    """`(k,)` [s]"""
    coordinates: FloatArray
    """`(k, 7)`"""
    rates: FloatArray
    """`(k, 7)`"""
    drift: float
    """[m] largest entry of the constraints"""

    @property
    def plate(self) -> FloatArray:
        """Heave [m], roll and pitch [rad] `(k, 3)`."""
        return self.coordinates[:, :PLATE]


def integrate_forced(
    plate: PlateModel,
    forces: ForcesOverTime,
    duration: float,
    start: Any,
    rates: Any,
    *,
    complete: bool = False,
    tolerance: float = 1e-11,
    samples: int = 101,
) -> ForcedRun:
    """Return the motion of a plate under actuator forces.

    Args:
        plate: `plate.lumped()` gives the paper's masses.
        forces: of the actuators; smooth.
        duration: [s] from time 0.
        start: `(3,)` heave [m], roll, pitch [rad]; the lengths follow from the constraints.
        rates: `(3,)`.
        complete: with what the printed energies leave out, see `kinetic_energy`.
        tolerance: relative, and absolute in [m], [rad] and per second.
        samples: number of output times.

    Raises:
        InputError: start or rates of the wrong shape or not finite.
        IntegrationError: the integrator stopped; `data` holds reason and time.
        MissingDependencyError: sympy is not installed.
    """
    from scipy.integrate import solve_ivp

    dae = numeric_dae(plate, complete)
    state = [_consistent(dae, value, name) for value, name in ((start, "start"), (rates, "rates"))]
    time = np.linspace(0.0, duration, samples)

    def derivative(now: float, state: FloatArray) -> FloatArray:
        coordinates, rates = state[:COUNT], state[COUNT:]
        return np.concatenate([rates, _accelerations(dae, coordinates, rates, forces(now))])

    solution = solve_ivp(
        derivative,
        (0.0, duration),
        np.concatenate(state),
        method="DOP853",
        t_eval=time,
        rtol=tolerance,
        atol=tolerance,
    )
    if not solution.success:
        now = float(solution.t[-1]) if solution.t.size else 0.0
        message = f"the integrator stopped at {now:.6g} s: {solution.message}"
        raise IntegrationError(message, {"reason": solution.message, "time": now})
    states = np.asarray(solution.y.T)
    coordinates = states[:, :COUNT]
    drift = float(np.abs(coordinates @ _tied(dae).T).max())
    return ForcedRun(time, coordinates, states[:, COUNT:], drift)


def _accelerations(
    dae: NumericDae, coordinates: FloatArray, rates: FloatArray, forces: FloatArray
) -> FloatArray:
    tied = _tied(dae)
    system = np.zeros((COUNT + len(tied), COUNT + len(tied)))
    system[:COUNT, :COUNT] = dae.mass(*coordinates)
    system[:COUNT, COUNT:], system[COUNT:, :COUNT] = tied.T, tied
    given = np.zeros(len(system))
    given[:COUNT] = -np.ravel(dae.bias(*coordinates, *rates))
    given[list(LENGTHS)] += forces
    return np.asarray(np.linalg.solve(system, given)[:COUNT])


def _tied(dae: NumericDae) -> FloatArray:
    """Return the rows `(4, 7)` of the constraints that tie the lengths to the plate."""
    return dae.jacobian[: COUNT - len(DRIVEN)]


def _consistent(dae: NumericDae, value: Any, name: str) -> FloatArray:
    """Return the seven coordinates, or rates, of the plate's three."""
    own = as_vector(value, name, PLATE)
    tied = _tied(dae)
    return np.concatenate([own, -np.linalg.solve(tied[:, PLATE:], tied[:, :PLATE] @ own)])
