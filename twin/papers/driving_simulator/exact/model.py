"""The exact model of a plate on pillars: three degrees of freedom, no small angles.

Everything comes from the functions that `derivation` derives with sympy from the energies.
Coordinates are heave [m] of the reference point, roll and pitch [rad], R = Rx(roll) Ry(pitch).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, flatten_batch
from twin.errors import InputError, SingularPoseError
from twin.papers.driving_simulator.exact.terms import ExactTerms, Pillars, exact_terms
from twin.papers.driving_simulator.kinematics import checked_coordinates


@dataclass(frozen=True)
class SlidingFriction:
    """Force on a foot: -(viscous + coulomb / sqrt(v^2 + transition_speed^2)) v.

    The second part is dry friction, made smooth: below the transition speed it is viscous with
    coulomb / transition_speed. It does not depend on the load of the foot.
    """

    viscous: float
    """[N s/m]"""
    coulomb: float = 0.0
    """[N]"""
    transition_speed: float = 1e-3
    """[m/s]"""

    @classmethod
    def from_legs(cls, legs: Any) -> SlidingFriction | None:
        """Return the friction that legs of kind "pillar" have, None if they have none.

        Raises:
            InputError: not the same friction under all feet.
        """
        tables = [leg.friction for leg in legs]
        if tables.count(tables[0]) != len(tables):
            raise InputError("leg.friction", "must be the same under all feet")
        table = tables[0]
        return table and cls(table.viscous, table.coulomb, table.transition_speed)

    def force(self, velocity: FloatArray) -> FloatArray:
        """Return the force `(..., 2)` [N] on feet that slide with `velocity` `(..., 2)` [m/s]."""
        speed = np.hypot(velocity[..., 0], velocity[..., 1])
        drag = self.viscous + self.coulomb / np.hypot(speed, self.transition_speed)
        return np.asarray(-drag[..., None] * velocity)


LARGEST_CONDITION = 1e10
"""Of the rows of pillars that hold three dof; beyond it they are a rounded singular set."""

SIZES = {"rates": 3, "accelerations": 3, "wrench": 6}


@dataclass(frozen=True, eq=False)
class ExactModel:
    """Dynamics of a machine on pillars; arguments take leading batch axes.

    Coordinates, rates and accelerations are `(..., 3)`, forces `(..., n)` [N] of the actuators push
    foot and plate apart, wrenches `(..., 6)` are force [N] and moment [N m] about the reference
    point in base axes, on the plate.

    Raises:
        InputError: from every method: wrong shapes, not finite, angles of a right angle and more.
        MissingDependencyError: from every method: sympy is not installed.
    """

    pillars: Pillars
    friction: SlidingFriction | None = None

    @classmethod
    def from_parameters(cls, parameters: Any) -> ExactModel:
        """Return the model of a machine with legs of kind "pillar", with their friction.

        Raises:
            InputError: other legs, or feet of different friction.
        """
        pillars = Pillars.from_parameters(parameters)
        return cls(pillars, SlidingFriction.from_legs(parameters.legs))

    def acceleration(self, coordinates: Any, rates: Any, accelerations: Any) -> FloatArray:
        """Return the time derivatives `(..., 6)` of the plate's twists."""
        shape, (q, v, a) = self._together(coordinates, rates=rates, accelerations=accelerations)
        terms = exact_terms(self.pillars, q, v)
        return (_times(terms.twist_map, a) + terms.twist_bias).reshape((*shape, 6))

    def length_jacobian(self, coordinates: Any) -> FloatArray:
        """Return the derivatives `(..., n, 3)` of the lengths by the coordinates."""
        shape, (q,) = self._together(coordinates)
        jacobian = exact_terms(self.pillars, q, np.zeros_like(q)).length_jacobian
        return jacobian.reshape((*shape, *jacobian.shape[1:]))

    def energy(self, coordinates: Any, rates: Any) -> tuple[FloatArray, FloatArray]:
        """Return kinetic and potential energies `(...)` [J], the latter zero at z = 0."""
        shape, (q, v) = self._together(coordinates, rates=rates)
        terms = exact_terms(self.pillars, q, v)
        return terms.kinetic.reshape(shape), terms.potential.reshape(shape)

    def feet(self, coordinates: Any, rates: Any) -> tuple[FloatArray, FloatArray]:
        """Return velocities [m/s] of the feet and the floor's friction [N], `(..., n, 2)` each."""
        shape, (q, v) = self._together(coordinates, rates=rates)
        terms = exact_terms(self.pillars, q, v)
        velocity = _times(terms.foot_jacobian[..., :2, :], v[:, None])
        full = (*shape, *velocity.shape[1:])
        return velocity.reshape(full), self._drag(velocity).reshape(full)

    def accelerations(
        self, coordinates: Any, rates: Any, forces: Any, wrench: Any = None
    ) -> FloatArray:
        """Return the accelerations `(..., 3)` of heave, roll and pitch: forward dynamics."""
        count = len(self.pillars.joints)
        given = {"forces": as_floats(forces, "forces", count)}
        shape, (q, v, w, f) = self._together(coordinates, rates=rates, wrench=wrench, **given)
        terms = exact_terms(self.pillars, q, v)
        pushed = np.einsum("kni,kn->ki", terms.length_jacobian, f)
        pushed += self._applied(terms, v, w) - terms.bias
        return np.linalg.solve(terms.mass, pushed[..., None]).reshape((*shape, 3))

    def required(
        self, coordinates: Any, rates: Any, accelerations: Any, wrench: Any = None
    ) -> FloatArray:
        """Return the generalised forces `(..., 3)` that the actuators must bring for a motion."""
        shape, (q, v, a, w) = self._together(
            coordinates, rates=rates, accelerations=accelerations, wrench=wrench
        )
        terms = exact_terms(self.pillars, q, v)
        needed = _times(terms.mass, a) + terms.bias - self._applied(terms, v, w)
        return needed.reshape((*shape, 3))

    def forces(
        self,
        coordinates: Any,
        rates: Any,
        accelerations: Any,
        wrench: Any = None,
        *,
        pushing: Sequence[int] | None = None,
    ) -> FloatArray:
        """Return the smallest actuator forces `(..., n)` [N] for a motion: inverse dynamics.

        Args:
            coordinates: `(..., 3)` heave, roll, pitch.
            rates: `(..., 3)`.
            accelerations: `(..., 3)`.
            wrench: `(..., 6)` on the plate, default none.
            pushing: numbers from 0 of the actuators that bring a force, default all.

        Raises:
            InputError: see the class.
            SingularPoseError: the actuators that push do not hold the plate; `data` holds the
                coordinates.
        """
        needed = self.required(coordinates, rates, accelerations, wrench)
        chosen = list(range(len(self.pillars.joints)) if pushing is None else pushing)
        jacobian = self.length_jacobian(coordinates)
        rows = np.broadcast_to(jacobian, (*needed.shape[:-1], *jacobian.shape[-2:]))[..., chosen, :]
        if rows.size and np.linalg.cond(rows).max() > LARGEST_CONDITION:
            raise SingularPoseError(
                "the actuators that push do not hold heave, roll and pitch; let others push",
                {"coordinates": np.asarray(coordinates)},
            )
        # The pseudo-inverse of the transpose gives the smallest f with J^T f = needed.
        shares = np.asarray(np.linalg.pinv(np.swapaxes(rows, -1, -2)), dtype=np.float64)
        forces = np.zeros((*needed.shape[:-1], len(self.pillars.joints)))
        forces[..., chosen] = _times(shares, needed)
        return forces

    def _together(self, coordinates: Any, **given: Any) -> tuple[tuple[int, ...], list[FloatArray]]:
        """Return the batch shape, and coordinates and all others checked and flattened."""
        fields = {"coordinates": checked_coordinates(coordinates)}
        for name, value in given.items():
            missing = np.zeros(6) if name == "wrench" and value is None else value
            fields[name] = as_floats(missing, name, SIZES.get(name))
        return flatten_batch(**fields)

    def _applied(self, terms: ExactTerms, rates: FloatArray, wrench: FloatArray) -> FloatArray:
        """Return the generalised forces `(k, 3)` of friction and wrench."""
        sliding = terms.foot_jacobian[..., :2, :]
        drag = self._drag(_times(sliding, rates[:, None]))
        load = np.einsum("kji,kj->ki", terms.twist_map, wrench)
        return np.asarray(load + np.einsum("knji,knj->ki", sliding, drag))

    def _drag(self, velocity: FloatArray) -> FloatArray:
        return self.friction.force(velocity) if self.friction else np.zeros_like(velocity)


def _times(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Return the products of matrices `(..., i, j)` and vectors `(..., j)`."""
    return np.asarray(np.einsum("...ij,...j->...i", matrix, vector))
