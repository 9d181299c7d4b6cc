"""A linearised machine: its matrices, and state spaces from named inputs to named outputs.

An operating point: the state that it is linearised about. At rest: the actuator forces and spring
deflections that hold the machine there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import comb, factorial, prod
from typing import Any, NamedTuple

import numpy as np

from twin.basics import canonical
from twin.basics.arrays import (
    ComplexArray,
    FloatArray,
    as_floats,
    as_vector,
    not_negative,
    one_of,
    one_or_each,
    one_pose,
    positive,
    whole_number,
)
from twin.basics.optional import optional
from twin.control.cascade import takes_positions
from twin.errors import InputError, SingularPoseError, StateError
from twin.model.machine_base import ZERO_VECTOR
from twin.model.machine_model import MachineModel, as_model

MAX_DELAY_PERIODS = 1000
"""Largest delay in control periods; each period adds one state per input."""

MAX_ITERATIONS = 60
"""Largest number of iterations for the static deflection. Each reduces the error a hundredfold."""

DEFLECTION_TOLERANCE = 1e-15
"""Change of a deflection [m] below which the iteration ends: rounding error."""

INPUT_NAMES = (
    "forces",
    "wrench",
    "base_acceleration",
    "base_heave_acceleration",
    "gravity",
    "rest_length",
    "parameters",
)

OUTPUT_NAMES = (
    "displacement",
    "twist",
    "acceleration",
    "absolute_acceleration",
    "coordinates",
    "rates",
    "deflection",
    "leg_forces",
)


class StateSpace(NamedTuple):
    """x' = A x + B u, y = C x + D u; sampled: x[k+1] = A x[k] + B u[k]."""

    A: FloatArray
    """`(s, s)` state matrix"""
    B: FloatArray
    """`(s, i)` input matrix"""
    C: FloatArray
    """`(o, s)` output matrix"""
    D: FloatArray
    """`(o, i)` feedthrough"""
    period: float = 0.0
    """[s] of sampling, zero: continuous"""

    @property
    def poles(self) -> ComplexArray:
        """Eigenvalues of A `(s,)`: [1/s], or of the z-plane."""
        return np.linalg.eigvals(self.A).astype(np.complex128)

    @property
    def rates(self) -> ComplexArray:
        """Poles of the s-plane `(s,)` [1/s]; log(z) / period of sampled systems."""
        poles = self.poles
        if not self.period:
            return poles
        return np.asarray(np.log(np.where(np.abs(poles) < 1e-300, 1e-300, poles)) / self.period)

    @property
    def stable(self) -> bool:
        """Whether all poles are inside the stable region."""
        poles = self.poles
        return bool((np.abs(poles) < 1.0).all() if self.period else (poles.real < 0.0).all())

    def response(self, frequencies: Any) -> ComplexArray:
        """Return the complex frequency response `(k, o, i)` at frequencies `(k,)` [Hz].

        Raises:
            InputError: not finite, or below zero.
        """
        values = as_floats(frequencies, "frequencies")
        if values.ndim != 1 or (values < 0.0).any():
            raise InputError("frequencies", "must be a list of frequencies [Hz] from zero on")
        laplace = 2j * np.pi * values
        if self.period:
            laplace = np.exp(laplace * self.period)
        resolvent = laplace[:, None, None] * np.eye(len(self.A)) - self.A
        right = np.broadcast_to(self.B, (len(values), *self.B.shape))
        state_response = np.linalg.solve(resolvent, right)
        return np.asarray(self.C @ state_response + self.D)

    def to_control(self) -> Any:
        """Return the system as `control.StateSpace`.

        Raises:
            MissingDependencyError: python-control is not installed.
        """
        library = optional("control", "State spaces of python-control")
        matrices = (self.A, self.B, self.C, self.D)
        return library.ss(*matrices, self.period) if self.period else library.ss(*matrices)


def lower_triangle(upper: FloatArray, coupling: FloatArray, lower: FloatArray) -> FloatArray:
    """Return the matrix `[[upper, 0], [coupling, lower]]` of two systems, one after the other."""
    return np.block([[upper, np.zeros((len(upper), len(lower)))], [coupling, lower]])


def series(first: StateSpace, second: StateSpace) -> StateSpace:
    """Return the system whose input passes `first`, then `second`.

    Raises:
        InputError: other periods, or sizes that do not fit.
    """
    if first.period != second.period or len(first.C) != second.B.shape[1]:
        raise InputError("second", "must have the first's period, and its outputs as inputs")
    return StateSpace(
        lower_triangle(first.A, second.B @ first.C, second.A),
        np.vstack([first.B, second.B @ first.D]),
        np.hstack([second.D @ first.C, second.C]),
        second.D @ first.D,
        first.period,
    )


def feedback_poles(plant: StateSpace, controller: StateSpace) -> ComplexArray:
    """Return the poles of plant and controller in a loop u = r + K y, positive feedback.

    Raises:
        InputError: other periods or sizes, or an algebraic loop without a solution.
        MissingDependencyError: python-control is not installed.
    """
    plant_system, controller_system = plant.to_control(), controller.to_control()
    try:
        return np.asarray(plant_system.feedback(controller_system, 1).poles(), dtype=np.complex128)
    except ValueError as error:
        raise InputError("controller", f"cannot close the loop of this plant ({error})") from None


def discretise(system: StateSpace, period: Any, delay: float = 0.0) -> StateSpace:
    """Return the exact sampling of a system whose inputs are held over each period [s].

    A pure delay [s] of the inputs is exact too: what was commanded in past periods becomes state.

    Raises:
        InputError: a sampled system, a period not above zero or so long that the system grows
            beyond all numbers, a delay below zero or beyond `MAX_DELAY_PERIODS` periods.
    """
    from scipy.linalg import expm

    sample_time, delay_time = positive(period, "period"), not_negative(delay, "delay")
    _check_continuous(system)
    if delay_time > MAX_DELAY_PERIODS * sample_time:
        raise InputError(
            "delay", f"must be at most {MAX_DELAY_PERIODS} periods, got {delay_time:g} s"
        )
    s, i = system.B.shape
    delay_periods = int(np.ceil(delay_time / sample_time - 1e-9))
    remainder = min(max(delay_periods * sample_time - delay_time, 0.0), sample_time)

    def zero_order_hold(duration: float) -> tuple[FloatArray, FloatArray]:
        block = np.zeros((s + i, s + i))
        block[:s, :s], block[:s, s:] = system.A * duration, system.B * duration
        with np.errstate(all="ignore"):
            exponential = as_floats(expm(block), "period")
        return exponential[:s, :s], exponential[:s, s:]

    transition, input_matrix = zero_order_hold(sample_time)
    if not delay_periods:
        return StateSpace(transition, input_matrix, system.C, system.D, sample_time)
    # In a period the older command acts until the remainder, in which the next one acts.
    input_now = zero_order_hold(remainder)[1]
    transition_after = zero_order_hold(remainder)[0]
    input_before = transition_after @ zero_order_hold(sample_time - remainder)[1]
    size = s + delay_periods * i
    dynamics, inputs = np.zeros((size, size)), np.zeros((size, i))
    dynamics[:s, :s], dynamics[:s, s : s + i] = transition, input_before
    oldest_input = slice(s + i, s + 2 * i)
    if delay_periods > 1:
        dynamics[:s, oldest_input] = input_now
    else:
        inputs[:s] = input_now
    dynamics[s : size - i, s + i :] = np.eye(size - s - i)
    inputs[size - i :] = np.eye(i)
    output = np.zeros((len(system.C), size))
    output[:, :s], output[:, s : s + i] = system.C, system.D
    return StateSpace(dynamics, inputs, output, np.zeros_like(system.D), sample_time)


class OperatingPoint(NamedTuple):
    """State of a machine, with the forces that act on it."""

    pose: FloatArray
    """`(7,)` of the platform in the base: position [m], unit quaternion (scalar first)"""
    twist: FloatArray
    """`(6,)` [m/s, rad/s]"""
    forces: FloatArray
    """`(n,)` of the actuators [N] or [N m]"""
    wrench: FloatArray
    """`(6,)` that acts on the platform meanwhile, base axes"""
    deflection: FloatArray
    """`(2k,)` deflections of springs [m], then their rates, zero"""


def rest_at(platform: MachineModel, pose: Any = None, wrench: Any = None) -> OperatingPoint:
    """Return the operating point at rest at a pose `(7,)`, default home, under a wrench `(6,)`.

    Where there are more actuators than degrees of freedom, the forces of smallest norm. Springs in
    series with the actuators deflect as those forces and the legs' weights ask.

    Raises:
        InputError: wrong shape, not finite, a pose the machine cannot have.
        SingularPoseError: the pose is singular.
        StateError: the springs do not settle (`data`: pose, change).
    """
    machine = as_model(platform)
    rest_pose = one_pose(machine.home if pose is None else pose)
    platform_wrench = as_vector(ZERO_VECTOR if wrench is None else wrench, "wrench", 6)
    k = machine.n_deflections
    deflection = np.zeros(2 * k)
    forces = machine.inverse_dynamics(
        rest_pose, ZERO_VECTOR, ZERO_VECTOR, platform_wrench, deflection=deflection
    )
    if not k:
        return OperatingPoint(rest_pose, ZERO_VECTOR, forces, platform_wrench, deflection)
    deflection_per_acceleration = masses_on_springs(machine) / spring_constants(machine)[0]
    for _ in range(MAX_ITERATIONS):
        accelerations = machine.forward_dynamics(
            rest_pose, ZERO_VECTOR, forces, platform_wrench, deflection=deflection
        )
        deflection_change = deflection_per_acceleration * accelerations[6:]
        deflection[:k] += deflection_change
        forces = machine.inverse_dynamics(
            rest_pose, ZERO_VECTOR, ZERO_VECTOR, platform_wrench, deflection=deflection
        )
        if np.abs(deflection_change).max() <= DEFLECTION_TOLERANCE:
            return OperatingPoint(rest_pose, ZERO_VECTOR, forces, platform_wrench, deflection)
    raise StateError(
        f"the springs of {machine.name} do not settle at this pose: they are too soft for the "
        "load. Stiffen them or choose another pose.",
        {"pose": rest_pose, "change": deflection_change},
    )


def masses_on_springs(platform: MachineModel) -> FloatArray:
    """Return the mass `(k,)` [kg] that a spring in series moves when only it deflects.

    Raises:
        InputError: not a machine.

    Reference:
        Compliant-legs paper, sections 1.6 to 1.11: m_1/4 + m_2; see docs/reproductions.md.
    """
    if not as_model(platform).n_deflections:
        return np.empty(0)
    legs: Any = platform.parameters.legs
    return np.array([0.25 * leg.spring_mass + leg.housing_mass for leg in legs])


def spring_constants(platform: MachineModel) -> tuple[FloatArray, FloatArray]:
    """Return stiffness [N/m] and damping [N s/m] `(n,)` along the legs; zero where there is none.

    Of the spring in series with the actuator (viscoelastic legs) or in parallel with it (struts).

    Raises:
        InputError: not a machine.
    """
    springs = as_model(platform).leg_springs
    return springs.stiffness, springs.damping


@dataclass(frozen=True, eq=False)
class LinearMachine:
    """M v' + C v + K q = E_f f + E_w w + E_b a_b + E_p p, q' = v + W q, all from the point.

    The coordinates q `(m,)` are the displacement of the platform [m], [rad] in base axes (heave,
    roll and pitch where there are three degrees of freedom), then the deflections of springs
    [m]. v is the change of their rates. At rest W is zero; about a point that moves, small
    rotations turn with the platform: W q = omega x q.

    Inputs (for `system`):

    | name | size | meaning |
    | --- | --- | --- |
    | forces | n | actuator forces [N] or [N m] |
    | wrench | 6 | on the platform [N], [N m], base axes |
    | base_acceleration | 3 | of the base along its axes [m/s2]; not of pillars |
    | base_heave_acceleration | 1 | of the base along z alone [m/s2] |
    | gravity | 3 | change of the field [m/s2], base axes |
    | rest_length | n | commanded rest lengths of struts [m]: forces k r |
    | parameters | p | changes of the parameters that `linearise` was asked for, in SI |

    Outputs:

    | name | size | meaning |
    | --- | --- | --- |
    | displacement, twist, acceleration | 6 | of the platform relative to the base, base axes |
    | absolute_acceleration | 6 | the same plus that of the base |
    | coordinates, rates | n | of the actuators, springs in series excluded |
    | deflection | k | deflections of springs |
    | leg_forces | n | reading of a load cell at the actuator: see `ForceSensor` |
    """

    platform: MachineModel
    point: OperatingPoint
    mass: FloatArray
    """`(m, m)` M"""
    damping: FloatArray
    """`(m, m)` C"""
    stiffness: FloatArray
    """`(m, m)` K"""
    force_input: FloatArray
    """`(m, n)` E_f; its transpose gives the actuators' coordinates"""
    wrench_input: FloatArray
    """`(m, 6)` E_w"""
    base_input: FloatArray
    """`(m, 3)` E_b"""
    displacement_map: FloatArray
    """`(6, m)` displacement of the platform per coordinate"""
    parameter_input: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    """`(m, p)` E_p: generalised forces per change of a parameter, SI"""
    turning: FloatArray | None = None
    """`(m, m)` W [1/s], rotation of small displacements with the platform; None: zero"""
    lag: FloatArray = field(default_factory=lambda: np.zeros(0))
    """`(n,)` time constants [s] of the current loops; empty without drives"""
    delay: float = 0.0
    """[s] from command to force"""

    @property
    def size(self) -> int:
        """Number m of coordinates."""
        return len(self.mass)

    @property
    def state_matrix(self) -> FloatArray:
        """A `(2m, 2m)` of the state (q, v) without lags."""
        m = self.size
        rotation_rate = np.zeros((m, m)) if self.turning is None else self.turning
        return np.block([[rotation_rate, np.eye(m)], [*self._slopes]])

    def system(self, inputs: str | Sequence[str], outputs: str | Sequence[str]) -> StateSpace:
        """Return the state space from inputs to outputs; several names are put in a row.

        Lag and delay of the drives are left out; see `driven_system`.

        Raises:
            InputError: no such input or output.
        """
        sources = [self._source(name) for name in _names(inputs)]
        names = _names(outputs)
        force_matrix, base_accelerations, actuator_forces = (
            np.hstack(blocks) for blocks in zip(*sources, strict=True)
        )
        input_matrix = np.vstack(
            [np.zeros_like(force_matrix), np.linalg.solve(self.mass, force_matrix)]
        )
        output_rows = [
            self._read(name, input_matrix[self.size :], base_accelerations, actuator_forces)
            for name in names
        ]
        state_rows, feedthrough = (np.vstack(rows) for rows in zip(*output_rows, strict=True))
        return StateSpace(self.state_matrix, input_matrix, state_rows, feedthrough)

    def reduced(self, directions: Any) -> LinearMachine:
        """Return the machine that moves only along q = directions z, `(m, r)`.

        Raises:
            InputError: wrong shape, not finite, a point that moves.
        """
        if self.turning is not None:
            raise InputError("directions", "only a machine at rest is reduced")
        basis = as_floats(directions, "directions")
        if basis.ndim != 2 or len(basis) != self.size:
            raise InputError("directions", f"must have {self.size} rows")
        return replace(
            self,
            mass=basis.T @ self.mass @ basis,
            damping=basis.T @ self.damping @ basis,
            stiffness=basis.T @ self.stiffness @ basis,
            force_input=basis.T @ self.force_input,
            wrench_input=basis.T @ self.wrench_input,
            base_input=basis.T @ self.base_input,
            parameter_input=basis.T @ self.parameter_input,
            displacement_map=self.displacement_map @ basis,
        )

    @property
    def mobility(self) -> FloatArray:
        """E' M^-1 E `(n, n)`: accelerations of the actuators per force."""
        return self.force_input.T @ np.linalg.solve(self.mass, self.force_input)

    def locked(self) -> LinearMachine:
        """Return the machine with its actuators locked: only its springs let it move.

        Raises:
            SingularPoseError: the blocked machine cannot move at all.
        """
        left_vectors, singular_values, _ = np.linalg.svd(self.force_input, full_matrices=True)
        rank = int((singular_values > 1e-12 * singular_values.max()).sum())
        if rank == self.size:
            raise SingularPoseError(
                f"{self.platform.name} cannot move with blocked actuators: it has no springs in "
                "series with them",
                {"index": 0, "pose": self.point.pose},
            )
        if self.platform.n_deflections:
            # Deflections follow from the platform's displacement: delta = J d.
            d = self.size - self.platform.n_deflections
            return self.reduced(np.vstack([np.eye(d), self.force_input[:d].T]))
        return self.reduced(canonical.basis(left_vectors[:, rank:]))

    @property
    def _slopes(self) -> tuple[FloatArray, FloatArray]:
        slopes = np.linalg.solve(self.mass, np.hstack([-self.stiffness, -self.damping]))
        return np.asarray(slopes[:, : self.size]), np.asarray(slopes[:, self.size :])

    def _source(self, name: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return generalised forces `(m, i)`, base accelerations `(6, i)`, actuator forces."""
        one_of(name, "input", INPUT_NAMES)
        n = self.platform.n_actuators
        if name in ("forces", "rest_length"):
            gain = np.eye(n)
            if name == "rest_length":
                if not self.platform.leg.has_axial_spring:
                    raise InputError("input", f"{self.platform.name} has no struts")
                gain = np.diag(spring_constants(self.platform)[0])
            return self.force_input @ gain, np.zeros((6, n)), gain
        if name == "base_acceleration" and self.platform.dof < 6:
            raise InputError("input", "on pillars, only base_heave_acceleration is modelled")
        sources = {
            "wrench": self.wrench_input,
            "gravity": -self.base_input,
            "parameters": self.parameter_input,
            "base_heave_acceleration": self.base_input[:, 2:],
            "base_acceleration": self.base_input,
        }
        base = {"base_heave_acceleration": np.eye(6)[:, 2:3], "base_acceleration": np.eye(6, 3)}
        columns = sources[name].shape[1]
        return sources[name], base.get(name, np.zeros((6, columns))), np.zeros((n, columns))

    def _read(
        self,
        name: str,
        input_matrix: FloatArray,
        base_accelerations: FloatArray,
        actuator_forces: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return rows `(o, 2m)` and feedthrough parts `(o, i)` of an output."""
        one_of(name, "output", OUTPUT_NAMES)
        m, k = self.size, self.platform.n_deflections
        if name.endswith("acceleration"):
            rows = np.hstack([self.displacement_map @ slope for slope in self._slopes])
            feedthrough = self.displacement_map @ input_matrix
            return rows, feedthrough + (base_accelerations if name.startswith("absolute") else 0.0)
        zero_block, actuator_map = np.zeros((6, m)), self.force_input.T
        coordinates = np.hstack([actuator_map, np.zeros_like(actuator_map)])
        rates = actuator_map @ self.state_matrix[:m] + self._turning_of_legs
        if name == "leg_forces":
            rows = np.zeros((len(actuator_map), 2 * m))
            if self.platform.leg.has_axial_spring:
                k_axial, c_axial = spring_constants(self.platform)
                rows = -(k_axial[:, None] * coordinates + c_axial[:, None] * rates)
            return rows, actuator_forces
        rows = {
            "displacement": np.hstack([self.displacement_map, zero_block]),
            "twist": np.hstack([zero_block, self.displacement_map]),
            "deflection": np.eye(2 * m)[m - k : m],
            "coordinates": coordinates,
            "rates": rates,
        }[name]
        return rows, np.zeros((len(rows), input_matrix.shape[1]))

    @property
    def _turning_of_legs(self) -> FloatArray:
        """Return the change of actuator rates `(n, 2m)` by leg rotation about a moving point."""
        rate_rows = np.zeros((self.platform.n_actuators, 2 * self.size))
        if self.turning is not None:
            rate_rows[:, :6] = self.platform.jacobian_derivative(self.point.pose, self.point.twist)
        return rate_rows


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def with_drives(linear: LinearMachine) -> LinearMachine:
    """Return the machine with the inertia and friction of its drives at the actuators.

    Inertia of motor and transmission adds S^T diag(m) S to M, their viscous friction
    S^T diag(b) S to C, with the actuators' coordinates S q. Transmissions are taken as rigid and
    without backlash; dry friction, limits and quantisation have no linear part. Lag and delay are
    kept as `lag` and `delay` for `driven_system`. The machine must rest, held by its forces.

    Raises:
        InputError: a point that moves, drives that are part of `linear` already, that have
            different delays or that take positions.
    """
    if linear.turning is not None:
        raise InputError("linear", "drives are added to a machine at rest only")
    if linear.delay or linear.lag.size:
        raise InputError("linear", "must be the machine without its drives")
    drives = linear.platform.parameters.drives
    if takes_positions(linear.platform):
        raise InputError(
            "platform",
            "its servos or steppers take positions and no forces; `twin frequency` measures them",
        )
    reflected_drives = [drive.reflected() if drive else None for drive in drives]
    inertia = np.array([reflected.inertia if reflected else 0.0 for reflected in reflected_drives])
    viscous = np.array([reflected.viscous if reflected else 0.0 for reflected in reflected_drives])
    delays = {drive.delay if drive else 0.0 for drive in drives}
    if len(delays) > 1:
        raise InputError("platform", "its drives must all have the same delay")
    lag = np.array([drive.current_lag if drive else 0.0 for drive in drives])
    actuator_input = linear.force_input
    return replace(
        linear,
        mass=linear.mass + actuator_input @ (inertia[:, None] * actuator_input.T),
        damping=linear.damping + actuator_input @ (viscous[:, None] * actuator_input.T),
        lag=lag if lag.any() else np.zeros(0),
        delay=delays.pop(),
    )


def driven_system(linear: LinearMachine, outputs: str | Sequence[str]) -> StateSpace:
    """Return the state space from commanded forces to outputs, through lag and delay of the drives.

    Args:
        linear: what `with_drives` returns.
        outputs: see `LinearMachine`.

    Raises:
        InputError: no such output, or drives of which only some have a current lag.
    """
    system = linear.system("forces", outputs)
    if linear.lag.size:
        if not (linear.lag > 0.0).all():
            raise InputError("platform", "all of its drives must have a current lag, or none")
        system = with_lag(system, linear.lag)
    return with_delay(system, linear.delay) if linear.delay else system


def with_lag(system: StateSpace, time_constant: Any) -> StateSpace:
    """Return a continuous system whose inputs pass first-order lags 1 / (1 + T s).

    Args:
        system: continuous.
        time_constant: one number or one per input [s], above zero.

    Raises:
        InputError: a sampled system, or a time constant that is not above zero.
    """
    _check_continuous(system)
    n_inputs = system.B.shape[1]
    rate = np.diag(1.0 / one_or_each(time_constant, "time_constant", n_inputs))
    lag = StateSpace(-rate, rate, np.eye(n_inputs), np.zeros((n_inputs, n_inputs)))
    return series(lag, system)


def with_delay(system: StateSpace, delay: Any, order: int = 3) -> StateSpace:
    """Return a continuous system with a delay [s] at its inputs, as a Pade approximation.

    A sampled system needs no approximation: `discretise` takes the delay exactly.

    Raises:
        InputError: a sampled system, a delay not above zero, an order not from 1 to 6.
    """
    _check_continuous(system)
    whole_number(order, "order", 1, 6)
    numerator, denominator = _pade(positive(delay, "delay"), order)
    n_inputs = system.B.shape[1]
    companion = np.eye(order, k=1)
    companion[-1] = -denominator[:-1] / denominator[-1]
    feedthrough = numerator[-1] / denominator[-1]
    output_row = (numerator[:-1] - feedthrough * denominator[:-1]) / denominator[-1]
    identity = np.eye(n_inputs)
    delay_system = StateSpace(
        np.asarray(np.kron(identity, companion)),
        np.asarray(np.kron(identity, np.eye(order)[:, -1:])),
        np.kron(identity, output_row[None]),
        feedthrough * identity,
    )
    return series(delay_system, system)


def _check_continuous(system: StateSpace) -> None:
    if system.period:
        raise InputError("system", "must be continuous")


def _pade(delay: float, order: int) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients `(order + 1,)` of exp(-s delay), lowest power first."""
    terms = [
        comb(order, j) * prod(range(order + 1, 2 * order - j + 1)) / factorial(order) * delay**j
        for j in range(order + 1)
    ]
    # Scaled so that the highest power has a coefficient of about one.
    values = np.array(terms) / delay**order
    signs = (-1.0) ** np.arange(order + 1)
    return signs * values, values
