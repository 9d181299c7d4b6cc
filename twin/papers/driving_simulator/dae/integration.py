"""Integration of the differential-algebraic equations, with lengths or forces as inputs.

With lengths as inputs the index-1 system is integrated as ordinary differential equations. The
multipliers, explicit after two differentiations, are put into Lagrange's equations. Nothing
then holds the state on the constraints but the accuracy of the integrator: the drift is reported.
The driven system has no freedom left, so the solution is also known without integrating.

Reference: driving simulator paper, section "System Response Analysis".

With actuator forces as inputs there are three degrees of freedom. Of the constraints only the four
remain that tie the lengths to the plate. Actuator forces Q act on the lengths. Two differentiations
give accelerations and multipliers together:

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
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector
from twin.basics.optional import optional
from twin.errors import IntegrationError
from twin.papers.driving_simulator.dae.index_reduction import multipliers_of_motion
from twin.papers.driving_simulator.dae.lagrange import (
    COORDINATE_NAMES,
    DRIVEN_PILLARS,
    symbolic_dae,
)
from twin.papers.driving_simulator.exact import (
    DrivenLengths,
    InputSample,
)
from twin.papers.driving_simulator.kinematics import CORNERS, PlateModel

OUTPUT_SAMPLES = 501
"""Number of output times, first and last included."""

INTEGRATION_TOLERANCE = 1e-11
"""Relative, and absolute in [m], [rad] and per second."""

COORDINATE_COUNT = 7

PLATE_COORDINATES = 3
"""Coordinates of the plate; the lengths follow."""

LENGTH_INDICES = tuple(
    COORDINATE_NAMES.index("hmp_" + "".join(part[0] for part in name.split("_")))
    for name in CORNERS
)
"""Indices of the lengths among the coordinates, in the order of `CORNERS`."""


class NumericDae(NamedTuple):
    """The equations as functions of numbers; states are single vectors `(7,)`."""

    jacobian: FloatArray
    """`(7, 7)` derivative of the constraints by the coordinates"""
    driving: FloatArray
    """`(7, 3)` derivative of the constraints by the inputs"""
    mass: Callable[..., Any]
    """function of the coordinates"""
    bias: Callable[..., Any]
    """function of coordinates and rates"""
    motion_multipliers: Callable[..., Any]
    """function of coordinates, rates and accelerations of the inputs"""

    def position_error(self, coordinates: FloatArray, lengths: FloatArray) -> FloatArray:
        """Return the constraints `(..., 7)` [m] of coordinates `(..., 7)`, inputs `(..., 3)`."""
        return coordinates @ self.jacobian.T + lengths @ self.driving.T

    def consistent(self, lengths: FloatArray) -> FloatArray:
        """Return the coordinates `(..., 7)` of inputs `(..., 3)`; or rates of rates, and so on."""
        return np.asarray(-np.linalg.solve(self.jacobian, self.driving @ lengths.T).T)

    def multipliers(
        self, coordinates: FloatArray, rates: FloatArray, inputs: InputSample
    ) -> FloatArray:
        """Return the multipliers `(7,)`."""
        return np.ravel(self.motion_multipliers(*coordinates, *rates, *inputs.acceleration))

    def accelerations(
        self, coordinates: FloatArray, rates: FloatArray, multipliers: FloatArray
    ) -> FloatArray:
        """Return the accelerations `(7,)` from Lagrange's equations."""
        bias = np.array(self.bias(*coordinates, *rates), dtype=float).ravel()
        mass = np.array(self.mass(*coordinates), dtype=float)
        return np.linalg.solve(mass, -bias - self.jacobian.T @ multipliers)


@cache
def numeric_dae(plate: PlateModel, complete: bool) -> NumericDae:
    """Return the equations of `symbolic_dae(plate, complete)` as functions.

    Raises:
        MissingDependencyError: sympy is not installed.
    """
    dae = symbolic_dae(plate, complete)
    symbols, lambdify = dae.symbols, optional("sympy").lambdify
    state_symbols = (*symbols.coordinates, *symbols.rates)
    functions = (
        lambdify(arguments, expressions, modules="numpy", cse=True)
        for arguments, expressions in (
            (symbols.coordinates, dae.mass),
            (state_symbols, dae.bias),
            ((*state_symbols, *symbols.input_accelerations), multipliers_of_motion(dae)),
        )
    )
    return NumericDae(
        np.array(dae.jacobian, dtype=float),
        np.array(dae.constraints.jacobian(symbols.inputs), dtype=float),
        *functions,
    )


@dataclass(frozen=True, eq=False)
class DaeRun:
    """Motion of the driven plate at `k` times, in the paper's seven coordinates."""

    time: FloatArray
    """`(k,)` [s]"""
    coordinates: FloatArray
    """`(k, 7)` heave [m], roll, pitch [rad], lengths [m] rear right, rear left, front left, front
    right"""
    rates: FloatArray
    """`(k, 7)`"""
    multipliers: FloatArray
    """`(k, 7)`; the last three are minus the forces [N] of the driven pillars"""
    position_drift: FloatArray
    """`(k,)` [m] largest entry of the constraints"""
    velocity_drift: FloatArray
    """`(k,)` [m/s] largest entry of their derivatives"""
    known_coordinates: FloatArray
    """`(k, 7)` that the constraints alone give"""

    @property
    def error(self) -> float:
        """Largest difference [m] or [rad] from the known coordinates."""
        return float(np.abs(self.coordinates - self.known_coordinates).max())

    @property
    def forces(self) -> FloatArray:
        """Forces `(k, 3)` [N] of the driven pillars front right, rear left, front left."""
        return -self.multipliers[:, -3:]


def integrate_dae(
    plate: PlateModel,
    inputs: DrivenLengths,
    duration: float,
    *,
    complete: bool = False,
) -> DaeRun:
    """Return the motion of a plate whose three driven lengths follow the inputs.

    It starts in the only state that satisfies the constraints and their derivatives.

    Args:
        plate: `plate.lumped()` gives the paper's masses.
        inputs: the driven lengths.
        duration: [s] from time 0.
        complete: with what the printed energies leave out, see `kinetic_energy` in lagrange.py;
            it changes the multipliers, not the motion.

    Raises:
        IntegrationError: the integrator stopped; `data` holds reason and time.
        MissingDependencyError: sympy is not installed.
    """
    dae = numeric_dae(plate, complete)
    time = np.linspace(0.0, duration, OUTPUT_SAMPLES)
    first_sample = inputs.sample(0.0)
    state = np.concatenate([dae.consistent(first_sample.value), dae.consistent(first_sample.rate)])

    def derivative(now: float, state: FloatArray) -> FloatArray:
        coordinates, rates = state[:COORDINATE_COUNT], state[COORDINATE_COUNT:]
        multipliers = dae.multipliers(coordinates, rates, inputs.sample(now))
        return np.concatenate([rates, dae.accelerations(coordinates, rates, multipliers)])

    return _run(dae, inputs, time, _integrated(derivative, state, time))


def _integrated(
    derivative: Callable[[float, FloatArray], FloatArray],
    state: FloatArray,
    time: FloatArray,
) -> FloatArray:
    """Return the states `(k, 14)` at times `(k,)` [s].

    Raises:
        IntegrationError: the integrator stopped; `data` holds reason and time.
    """
    from scipy.integrate import solve_ivp

    span, tolerance = (time[0], time[-1]), INTEGRATION_TOLERANCE
    solution = solve_ivp(
        derivative, span, state, "DOP853", t_eval=time, rtol=tolerance, atol=tolerance
    )
    if not solution.success:
        now = float(solution.t[-1]) if solution.t.size else time[0]
        message = f"the integrator stopped at {now:.6g} s: {solution.message}"
        raise IntegrationError(message, {"reason": solution.message, "time": now})
    return np.asarray(solution.y.T)


def _run(dae: NumericDae, inputs: DrivenLengths, time: FloatArray, states: FloatArray) -> DaeRun:
    """Return a run with its multipliers and the errors of its constraints."""
    sample = inputs.sample(time)
    coordinates, rates = states[:, :COORDINATE_COUNT], states[:, COORDINATE_COUNT:]
    multipliers = [
        dae.multipliers(q, v, inputs.sample(instant))
        for q, v, instant in zip(coordinates, rates, time.tolist(), strict=True)
    ]
    return DaeRun(
        time,
        coordinates,
        rates,
        np.array(multipliers),
        np.abs(dae.position_error(coordinates, sample.value)).max(axis=1),
        np.abs(dae.position_error(rates, sample.rate)).max(axis=1),
        dae.consistent(sample.value),
    )


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
        return self.coordinates[:, :PLATE_COORDINATES]


def integrate_forced(
    plate: PlateModel,
    forces: ForcesOverTime,
    duration: float,
    start: Any,
    rates: Any,
    *,
    complete: bool = False,
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
        samples: number of output times.

    Raises:
        InputError: start or rates of the wrong shape or not finite.
        IntegrationError: the integrator stopped; `data` holds reason and time.
        MissingDependencyError: sympy is not installed.
    """
    dae = numeric_dae(plate, complete)
    state = [_consistent(dae, value, name) for value, name in ((start, "start"), (rates, "rates"))]
    time = np.linspace(0.0, duration, samples)

    def derivative(now: float, state: FloatArray) -> FloatArray:
        coordinates, rates = state[:COORDINATE_COUNT], state[COORDINATE_COUNT:]
        return np.concatenate([rates, _accelerations(dae, coordinates, rates, forces(now))])

    states = _integrated(derivative, np.concatenate(state), time)
    coordinates = states[:, :COORDINATE_COUNT]
    constraint_drift = float(np.abs(coordinates @ _tied(dae).T).max())
    return ForcedRun(time, coordinates, states[:, COORDINATE_COUNT:], constraint_drift)


def _accelerations(
    dae: NumericDae, coordinates: FloatArray, rates: FloatArray, forces: FloatArray
) -> FloatArray:
    """Return accelerations `(7,)` under forces, with the tied coordinates held."""
    tied_rows = _tied(dae)
    system = np.zeros((COORDINATE_COUNT + len(tied_rows), COORDINATE_COUNT + len(tied_rows)))
    system[:COORDINATE_COUNT, :COORDINATE_COUNT] = dae.mass(*coordinates)
    system[:COORDINATE_COUNT, COORDINATE_COUNT:], system[COORDINATE_COUNT:, :COORDINATE_COUNT] = (
        tied_rows.T,
        tied_rows,
    )
    known_forces = np.zeros(len(system))
    known_forces[:COORDINATE_COUNT] = -np.ravel(dae.bias(*coordinates, *rates))
    known_forces[list(LENGTH_INDICES)] += forces
    return np.asarray(np.linalg.solve(system, known_forces)[:COORDINATE_COUNT])


def _tied(dae: NumericDae) -> FloatArray:
    """Return the rows `(4, 7)` of the constraints that tie the lengths to the plate."""
    return dae.jacobian[: COORDINATE_COUNT - len(DRIVEN_PILLARS)]


def _consistent(dae: NumericDae, value: Any, name: str) -> FloatArray:
    """Return the seven coordinates, or rates, of the plate's three."""
    plate_values = as_vector(value, name, PLATE_COORDINATES)
    tied_rows = _tied(dae)
    return np.concatenate(
        [
            plate_values,
            -np.linalg.solve(
                tied_rows[:, PLATE_COORDINATES:], tied_rows[:, :PLATE_COORDINATES] @ plate_values
            ),
        ]
    )
