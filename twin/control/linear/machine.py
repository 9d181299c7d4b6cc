"""A linearised machine: its matrices, and state spaces from named inputs to named outputs.

An operating point: the state that it is linearised about. At rest: the actuator forces and spring
deflections that hold the machine there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from twin.basics import canonical
from twin.basics.arrays import FloatArray, as_floats, as_vector, one_of, one_pose
from twin.control.linear.state_space import StateSpace
from twin.errors import InputError, SingularPoseError, StateError
from twin.model.machine_model import MachineModel, as_model
from twin.model.motions import REST

ITERATIONS = 60
"""Deflections move the legs' masses a little: each step shrinks the error a hundredfold."""

SETTLED = 1e-15
"""Change of a deflection [m] that is rounding."""


class OperatingPoint(NamedTuple):
    """State of a machine, and what acts on it."""

    pose: FloatArray
    """`(7,)`"""
    twist: FloatArray
    """`(6,)` [m/s, rad/s]"""
    forces: FloatArray
    """`(n,)` of the actuators [N] or [N m]"""
    wrench: FloatArray
    """`(6,)` that acts on the platform meanwhile, base axes"""
    deflection: FloatArray
    """`(2k,)` deflections of springs [m], then their rates, zero"""


def rest_at(platform: MachineModel, pose: Any = None, wrench: Any = None) -> OperatingPoint:
    """Return what holds a machine still at a pose `(7,)`, default home, against a wrench `(6,)`.

    Where there are more actuators than degrees of freedom, the forces of smallest norm. Springs in
    series with the actuators deflect as those forces and the legs' weights ask.

    Raises:
        InputError: wrong shape, not finite, a pose the machine cannot have.
        SingularPoseError: the pose is singular.
        StateError: the springs do not settle (`data`: pose, change).
    """
    machine = as_model(platform)
    place = one_pose(machine.home if pose is None else pose)
    load = as_vector(REST if wrench is None else wrench, "wrench", 6)
    k = machine.n_deflections
    deflection = np.zeros(2 * k)
    forces = machine.inverse_dynamics(place, REST, REST, load, deflection=deflection)
    if not k:
        return OperatingPoint(place, REST, forces, load, deflection)
    softness = internal_mass(machine) / spring_constants(machine)[0]
    for _ in range(ITERATIONS):
        found = machine.forward_dynamics(place, REST, forces, load, deflection=deflection)
        change = softness * found[6:]
        deflection[:k] += change
        forces = machine.inverse_dynamics(place, REST, REST, load, deflection=deflection)
        if np.abs(change).max() <= SETTLED:
            return OperatingPoint(place, REST, forces, load, deflection)
    raise StateError(
        f"the springs of {machine.name} do not settle at this pose: they are too soft for the "
        "load. Stiffen them or choose another pose.",
        {"pose": place, "change": change},
    )


def internal_mass(platform: MachineModel) -> FloatArray:
    """Return the mass `(k,)` [kg] that a spring in series moves when only it deflects.

    Raises:
        InputError: not a machine.

    Reference:
        Compliant-legs paper, sections 1.6 to 1.11: m_1/4 + m_2; see docs/compliant_legs.md.
    """
    if not as_model(platform).n_deflections:
        return np.empty(0)
    legs: Any = platform.parameters.legs
    return np.array([0.25 * leg.spring_mass + leg.housing_mass for leg in legs])


def spring_constants(platform: MachineModel) -> tuple[FloatArray, FloatArray]:
    """Return stiffness [N/m] and damping [N s/m] `(n,)` along the legs; zero where there is none.

    Of the spring in series with the actuator (viscoelastic legs) or beside it (struts).

    Raises:
        InputError: not a machine.
    """
    springs = as_model(platform).leg_springs
    return springs.stiffness, springs.damping


INPUTS = (
    "forces",
    "wrench",
    "base_acceleration",
    "base_heave_acceleration",
    "gravity",
    "rest_length",
    "parameters",
)
OUTPUTS = (
    "displacement",
    "twist",
    "acceleration",
    "absolute_acceleration",
    "coordinates",
    "rates",
    "deflection",
    "leg_forces",
)


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
    | leg_forces | n | what a load cell beside the actuator reads: see `leg_forces` |
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
    free: FloatArray
    """`(6, m)` displacement of the platform per coordinate"""
    parameter_input: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    """`(m, p)` E_p"""
    turning: FloatArray | None = None
    """`(m, m)` W; None: zero"""
    lag: FloatArray = field(default_factory=lambda: np.zeros(0))
    """`(n,)` time constants [s] of the current loops, empty: none"""
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
        turning = np.zeros((m, m)) if self.turning is None else self.turning
        return np.block([[turning, np.eye(m)], [*self._slopes]])

    def system(self, inputs: str | Sequence[str], outputs: str | Sequence[str]) -> StateSpace:
        """Return the state space from inputs to outputs; several names are put in a row.

        Lag and delay of the drives are left out; see `driven_system`.

        Raises:
            InputError: no such input or output.
        """
        sources = [self._source(name) for name in _names(inputs)]
        names = _names(outputs)
        pushes = np.hstack([push for push, _, _ in sources])
        shake = np.hstack([shake for _, shake, _ in sources])
        feedthrough = np.hstack([force for _, _, force in sources])
        m = self.size
        dynamics = self.state_matrix
        input_matrix = np.vstack([np.zeros_like(pushes), np.linalg.solve(self.mass, pushes)])
        rows = [self._read(name, input_matrix[m:], shake, feedthrough) for name in names]
        return StateSpace(
            dynamics,
            input_matrix,
            np.vstack([row for row, _ in rows]),
            np.vstack([through for _, through in rows]),
        )

    def reduced(self, directions: Any) -> LinearMachine:
        """Return the machine that moves only along q = directions z, `(m, r)`.

        Raises:
            InputError: wrong shape, not finite, a point that moves.
        """
        if self.turning is not None:
            raise InputError("directions", "only a machine at rest is reduced")
        shape = as_floats(directions, "directions")
        if shape.ndim != 2 or len(shape) != self.size:
            raise InputError("directions", f"must have {self.size} rows")
        return replace(
            self,
            mass=shape.T @ self.mass @ shape,
            damping=shape.T @ self.damping @ shape,
            stiffness=shape.T @ self.stiffness @ shape,
            force_input=shape.T @ self.force_input,
            wrench_input=shape.T @ self.wrench_input,
            base_input=shape.T @ self.base_input,
            parameter_input=shape.T @ self.parameter_input,
            free=self.free @ shape,
        )

    def locked(self) -> LinearMachine:
        """Return the machine with its actuators blocked: what moves is what the springs allow.

        Raises:
            SingularPoseError: the blocked machine cannot move at all.
        """
        left, sizes, _ = np.linalg.svd(self.force_input, full_matrices=True)
        rank = int((sizes > 1e-12 * sizes.max()).sum())
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
        return self.reduced(canonical.basis(left[:, rank:]))

    @property
    def _slopes(self) -> tuple[FloatArray, FloatArray]:
        slopes = np.linalg.solve(self.mass, np.hstack([-self.stiffness, -self.damping]))
        return np.asarray(slopes[:, : self.size]), np.asarray(slopes[:, self.size :])

    def _source(self, name: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return generalised forces `(m, i)`, base accelerations `(6, i)`, actuator forces."""
        one_of(name, "input", INPUTS)
        n = self.platform.n_actuators
        if name == "wrench":
            return self.wrench_input, np.zeros((6, 6)), np.zeros((n, 6))
        if name == "gravity":
            return -self.base_input, np.zeros((6, 3)), np.zeros((n, 3))
        if name == "parameters":
            count = self.parameter_input.shape[1]
            return self.parameter_input, np.zeros((6, count)), np.zeros((n, count))
        if name == "base_heave_acceleration":
            return self.base_input[:, 2:], np.eye(6)[:, 2:3], np.zeros((n, 1))
        if name == "base_acceleration":
            if self.platform.dof < 6:
                raise InputError("input", "on pillars, only base_heave_acceleration is modelled")
            return self.base_input, np.eye(6, 3), np.zeros((n, 3))
        gain = np.eye(n)
        if name == "rest_length":
            if not self.platform.leg.has_axial_spring:
                raise InputError("input", f"{self.platform.name} has no struts")
            gain = np.diag(spring_constants(self.platform)[0])
        return self.force_input @ gain, np.zeros((6, n)), gain

    def _read(
        self, name: str, input_matrix: FloatArray, shake: FloatArray, feedthrough: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return rows `(o, 2m)` and feedthrough parts `(o, i)` of an output."""
        one_of(name, "output", OUTPUTS)
        m, k = self.size, self.platform.n_deflections
        through = np.zeros((6, input_matrix.shape[1]))
        still = np.zeros((6, m))
        if name == "displacement":
            return np.hstack([self.free, still]), through
        if name == "twist":
            return np.hstack([still, self.free]), through
        if name.endswith("acceleration"):
            through = self.free @ input_matrix + (shake if name.startswith("absolute") else 0.0)
            return np.hstack([self.free @ slope for slope in self._slopes]), through
        if name == "deflection":
            return np.eye(2 * m)[m - k : m], np.zeros((k, input_matrix.shape[1]))
        own = self.force_input.T
        coordinates = np.hstack([own, np.zeros_like(own)])
        rates = own @ self.state_matrix[:m] + self._turning_of_legs
        if name == "leg_forces":
            rows = np.zeros((len(own), 2 * m))
            if self.platform.leg.has_axial_spring:
                k_axial, c_axial = spring_constants(self.platform)
                rows = -(k_axial[:, None] * coordinates + c_axial[:, None] * rates)
            return rows, feedthrough
        read = coordinates if name == "coordinates" else rates
        return read, np.zeros((len(own), input_matrix.shape[1]))

    @property
    def _turning_of_legs(self) -> FloatArray:
        """Change of the actuators' rates `(n, 2m)` because the legs turn with the point."""
        rows = np.zeros((self.platform.n_actuators, 2 * self.size))
        if self.turning is not None:
            rows[:, :6] = self.platform.jacobian_derivative(self.point.pose, self.point.twist)
        return rows


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
