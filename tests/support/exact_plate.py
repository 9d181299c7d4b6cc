"""Reference of the tests: any plate on pillars, its dynamics derived with sympy from its energies.

Coordinates are heave, roll and pitch. Kinetic and potential energy are sums over the plate and the
pillars, and so are the mass matrix and the other forces: each is derived once, for any joints,
masses and tensor, and turned into a function of numbers.

    M = d2T / dv2,   h = d/dt (dT/dv) at zero acceleration - dT/dq + dV/dq

The model takes all numbers from these functions. It has three degrees of freedom and no small
angles. Coordinates are heave [m] of the reference point, roll and pitch [rad]; the rotation is
R = Rx(roll) Ry(pitch).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, flatten_batch
from twin.basics.optional import optional
from twin.errors import InputError, SingularPoseError
from twin.papers.driving_simulator.exact import (
    SlidingFriction,
    cached_derivation,
    code_of,
    function_of,
)
from twin.papers.driving_simulator.kinematics import (
    CORNERS,
    FIXED_CORNER,
    PlateModel,
    checked_coordinates,
)
from twin.rotations import pose_from_angles

LARGEST_CONDITION = 1e10
"""Largest condition number of the Jacobian rows of the pushing pillars; beyond it they are singular
within rounding."""

FIELD_SIZES = {"rates": 3, "accelerations": 3, "wrench": 6}


class Terms(NamedTuple):
    """A function of numbers, and what it returns: entries row by row, in the order of `shapes`."""

    shapes: dict[str, tuple[int, int]]
    code: str
    """code for `function_of`"""


class Frame(NamedTuple):
    """Symbols of the coordinates and rates, and terms that depend on them."""

    coordinates: Any
    rates: Any
    rotation: Any
    fixed_joint: Any
    fixed_foot: Any
    gravity: Any

    def rate(self, expression: Any) -> Any:
        """Return the time derivative without the part that accelerations bring."""
        return expression.jacobian(self.coordinates) * self.rates

    @property
    def normal(self) -> Any:
        """Normal of the plate in base axes."""
        return self.rotation[:, 2]

    def length(self, joint: Any) -> Any:
        """Return the length of the pillar below a joint whose foot is as high as the fixed one."""
        height = self.coordinates[0] + (self.rotation * joint)[2] - self.fixed_foot[2]
        return height / self.normal[2]

    def point(self, joint: Any) -> Any:
        """Return the place in the base of a point of the plate."""
        on_pillar = self.fixed_foot + self.length(self.fixed_joint) * self.normal
        return on_pillar + self.rotation * (joint - self.fixed_joint)


def frame() -> Frame:
    """Return the symbols, with R = Rx(roll) Ry(pitch) from platform to base."""
    sympy = optional("sympy")
    roll, pitch = sympy.symbols("roll pitch", real=True)
    about_x = sympy.rot_axis1(-roll)
    about_y = sympy.rot_axis2(-pitch)
    return Frame(
        sympy.Matrix([sympy.Symbol("heave", real=True), roll, pitch]),
        sympy.Matrix(sympy.symbols("heave_rate roll_rate pitch_rate", real=True)),
        about_x * about_y,
        vector("joint"),
        vector("foot"),
        sympy.Symbol("gravity", real=True),
    )


def vector(name: str) -> Any:
    """Return a vector of three symbols."""
    sympy = optional("sympy")
    return sympy.Matrix(sympy.symbols(f"{name}_x {name}_y {name}_z", real=True))


def lagrange_terms(at: Frame, kinetic: Any, potential: Any) -> dict[str, Any]:
    """Return mass matrix, remaining forces and energies of a part of the machine."""
    sympy = optional("sympy")
    q, v = at.coordinates, at.rates
    momentum = sympy.Matrix([kinetic]).jacobian(v).T
    potential_forces = sympy.Matrix([potential]).jacobian(q).T
    bias = at.rate(momentum) - sympy.Matrix([kinetic]).jacobian(q).T + potential_forces
    energies = {"kinetic": sympy.Matrix([kinetic]), "potential": sympy.Matrix([potential])}
    return {"mass": momentum.jacobian(v), "bias": bias, **energies}


@cached_derivation()
def plate_terms() -> Terms:
    """Return the terms of the plate.

    Arguments: coordinates, rates, fixed joint and foot, gravity, then mass, centre of mass and the
    six entries xx, yy, zz, xy, xz, yz of the tensor about it. Beside the Lagrangian terms it
    returns the place of the reference point, the map from rates to twist, and the twist's
    derivative at zero accelerations.
    """
    sympy = optional("sympy")
    at, center = frame(), vector("center")
    mass = sympy.Symbol("mass", positive=True)
    xx, yy, zz, xy, xz, yz = moments = sympy.symbols("xx yy zz xy xz yz", real=True)
    tensor = sympy.Matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    pitching = sympy.Matrix([0, 1, 0])
    _, roll, pitch = at.coordinates
    _, roll_rate, pitch_rate = at.rates
    axis_rates = sympy.Matrix([roll_rate * sympy.cos(pitch), 0, roll_rate * sympy.sin(pitch)])
    axis_rates += pitch_rate * pitching
    velocity = at.rate(at.point(center))
    kinetic = (mass * velocity.dot(velocity) + axis_rates.dot(tensor * axis_rates)) / 2
    potential = mass * at.gravity * at.point(center)[2]
    center_position = at.point(sympy.zeros(3, 1))
    plate_omega = sympy.Matrix(
        [roll_rate, pitch_rate * sympy.cos(roll), pitch_rate * sympy.sin(roll)]
    )
    twist = sympy.Matrix([*at.rate(center_position), *plate_omega])
    terms = lagrange_terms(at, kinetic, potential)
    terms |= {
        "place": center_position,
        "twist_map": twist.jacobian(at.rates),
        "twist_bias": at.rate(twist),
    }
    return _written(at, terms, [mass, *center, *moments])


@cached_derivation()
def pillar_terms() -> Terms:
    """Return the terms of one pillar.

    Arguments: coordinates, rates, fixed joint and foot, gravity, then the pillar's joint on the
    plate, the mass there and the mass of the foot. Beside the Lagrangian terms it returns the
    length, its derivative by the coordinates, its second time derivative at zero accelerations, the
    place of the foot and its derivative by the coordinates.
    """
    sympy = optional("sympy")
    at, joint = frame(), vector("corner")
    upper_mass, foot_mass = sympy.symbols("upper_mass foot_mass", nonnegative=True)
    length = sympy.Matrix([at.length(joint)])
    corner_position = at.point(joint)
    foot = corner_position - length[0] * at.normal
    rates = [at.rate(corner_position), at.rate(foot)]
    kinetic = (upper_mass * rates[0].dot(rates[0]) + foot_mass * rates[1].dot(rates[1])) / 2
    potential = at.gravity * (upper_mass * corner_position[2] + foot_mass * foot[2])
    terms = lagrange_terms(at, kinetic, potential)
    terms |= {
        "length": length,
        "length_jacobian": length.jacobian(at.coordinates),
        "length_bias": at.rate(at.rate(length)),
        "foot": foot,
        "foot_jacobian": foot.jacobian(at.coordinates),
    }
    return _written(at, terms, [*joint, upper_mass, foot_mass])


def _written(at: Frame, terms: dict[str, Any], parameters: list[Any]) -> Terms:
    arguments = [*at.coordinates, *at.rates, *at.fixed_joint, *at.fixed_foot, at.gravity]
    entries = [entry for term in terms.values() for entry in term]
    shapes = {name: term.shape for name, term in terms.items()}
    return Terms(shapes, code_of(arguments + parameters, entries))


@dataclass(frozen=True, eq=False)
class Pillars:
    """A plate on `n` pillars; each stands at a right angle to the plate, one foot is fixed."""

    joints: FloatArray
    """`(n, 3)` [m] upper ends of the pillars in the platform frame"""
    fixed: int
    """number, from 0, of the pillar whose foot is fixed"""
    foot: FloatArray
    """`(3,)` [m] where that foot is in the base; the other feet stand as high"""
    mass: float
    """[kg] of the plate"""
    center_of_mass: FloatArray
    """`(3,)` [m] of the plate in the platform frame"""
    inertia: FloatArray
    """`(3, 3)` [kg m2] of the plate about its centre of mass, platform axes"""
    upper_masses: FloatArray
    """`(n,)` [kg] at the joints"""
    foot_masses: FloatArray
    """`(n,)` [kg] at the feet"""
    gravity: float
    """[m/s2] gravity along -z of the base"""

    @property
    def shared_arguments(self) -> list[Any]:
        """Arguments that all terms of `derivation` take after the state."""
        return [*self.joints[self.fixed].tolist(), *self.foot.tolist(), self.gravity]

    @property
    def plate_arguments(self) -> list[Any]:
        """Arguments of the plate's terms after the shared ones."""
        tensor = self.inertia
        products = [tensor[0, 1], tensor[0, 2], tensor[1, 2]]
        return [self.mass, *self.center_of_mass.tolist(), *np.diag(tensor), *products]

    @property
    def pillar_arguments(self) -> list[FloatArray]:
        """Arguments `(n,)` of the pillars' terms after the shared ones."""
        return [*self.joints.T, self.upper_masses, self.foot_masses]

    @classmethod
    def from_plate(cls, plate: PlateModel) -> Pillars:
        """Return the pillars of a rectangular plate."""
        n_pillars = len(CORNERS)
        joints = np.hstack([plate.corners, np.zeros((n_pillars, 1))])
        return cls(
            joints=joints,
            fixed=FIXED_CORNER,
            foot=joints[FIXED_CORNER],
            mass=plate.plate_mass,
            center_of_mass=np.zeros(3),
            inertia=np.diag([plate.roll_inertia, plate.pitch_inertia, plate.yaw_inertia]),
            upper_masses=np.full(n_pillars, plate.upper_mass),
            foot_masses=np.full(n_pillars, plate.foot_mass),
            gravity=plate.gravity,
        )

    @classmethod
    def from_parameters(cls, parameters: Any) -> Pillars:
        """Return the pillars of a machine.

        Args:
            parameters: `twin.machine.MachineParameters` with legs of kind "pillar".

        Raises:
            InputError: other legs.
        """
        legs, body = parameters.legs, parameters.platform.body
        if not all(leg.has_foot for leg in legs):
            raise InputError("parameters", "must describe legs of kind 'pillar'")
        fixed = legs[0].fixed_foot - 1
        return cls(
            joints=parameters.platform.joints.points,
            fixed=fixed,
            foot=parameters.base.joints.points[fixed],
            mass=body.mass,
            center_of_mass=body.center_of_mass_vector,
            inertia=body.inertia_tensor,
            upper_masses=np.array([leg.upper_mass for leg in legs]),
            foot_masses=np.array([leg.foot_mass for leg in legs]),
            gravity=parameters.gravity,
        )


class ExactTerms(NamedTuple):
    """Terms of the equations of motion at `k` states.

    mass @ accelerations + bias = generalised forces, with bias for gravity and velocities, and
    length accelerations = length_jacobian @ accelerations + length_bias.
    """

    mass: FloatArray
    """`(k, 3, 3)` mass matrix of heave, roll and pitch"""
    bias: FloatArray
    """`(k, 3)` gravity and velocity terms"""
    kinetic: FloatArray
    """`(k,)` [J]"""
    potential: FloatArray
    """`(k,)` [J], zero at z = 0 of the base"""
    place: FloatArray
    """`(k, 3)` [m] of the reference point"""
    twist_map: FloatArray
    """`(k, 6, 3)` twist = twist_map @ rates"""
    twist_bias: FloatArray
    """`(k, 6)` acceleration = twist_map @ accelerations + twist_bias"""
    lengths: FloatArray
    """`(k, n)` [m]"""
    length_jacobian: FloatArray
    """`(k, n, 3)` lengths by heave, roll and pitch"""
    length_bias: FloatArray
    """`(k, n)` length accelerations at zero accelerations"""
    feet: FloatArray
    """`(k, n, 3)` [m]"""
    foot_jacobian: FloatArray
    """`(k, n, 3, 3)` velocity of a foot = foot_jacobian @ rates"""


def exact_terms(pillars: Pillars, coordinates: FloatArray, rates: FloatArray) -> ExactTerms:
    """Return the terms at coordinates `(k, 3)` with rates `(k, 3)`.

    Raises:
        MissingDependencyError: sympy is not installed.
    """
    state, shared_arguments = [*coordinates.T, *rates.T], pillars.shared_arguments
    states = (len(coordinates),)
    plate = _evaluate(plate_terms(), [*state, *shared_arguments, *pillars.plate_arguments], states)
    columns = [column[:, None] for column in state]
    arguments = [*columns, *shared_arguments, *pillars.pillar_arguments]
    pillar_values = _evaluate(pillar_terms(), arguments, (*states, len(pillars.joints)))
    sums = {
        name: plate[name] + pillar_values[name].sum(axis=1)
        for name in ("mass", "bias", "kinetic", "potential")
    }
    return ExactTerms(
        sums["mass"],
        sums["bias"][..., 0],
        sums["kinetic"][..., 0, 0],
        sums["potential"][..., 0, 0],
        plate["place"][..., 0],
        plate["twist_map"],
        plate["twist_bias"][..., 0],
        pillar_values["length"][..., 0, 0],
        pillar_values["length_jacobian"][..., 0, :],
        pillar_values["length_bias"][..., 0, 0],
        pillar_values["foot"][..., 0],
        pillar_values["foot_jacobian"],
    )


def _evaluate(terms: Terms, arguments: list[Any], batch: tuple[int, ...]) -> dict[str, FloatArray]:
    entries = function_of(terms.code)(*arguments)
    flat_values = np.stack([np.broadcast_to(entry, batch) for entry in entries], axis=-1)
    parts, first_entry = {}, 0
    for name, shape in terms.shapes.items():
        end_entry = first_entry + int(np.prod(shape))
        parts[name] = flat_values[..., first_entry:end_entry].reshape((*batch, *shape))
        first_entry = end_entry
    return parts


@dataclass(frozen=True, eq=False)
class DerivedModel:
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
    def from_parameters(cls, parameters: Any) -> DerivedModel:
        """Return the model of a machine with legs of kind "pillar", with their friction.

        Raises:
            InputError: other legs, or feet of different friction.
        """
        pillars = Pillars.from_parameters(parameters)
        return cls(pillars, SlidingFriction.from_legs(parameters.legs))

    def acceleration(self, coordinates: Any, rates: Any, accelerations: Any) -> FloatArray:
        """Return the time derivatives `(..., 6)` of the plate's twists."""
        shape, (q, v, a) = self.together(coordinates, rates=rates, accelerations=accelerations)
        terms = exact_terms(self.pillars, q, v)
        return (_times(terms.twist_map, a) + terms.twist_bias).reshape((*shape, 6))

    def length_jacobian(self, coordinates: Any) -> FloatArray:
        """Return the derivatives `(..., n, 3)` of the lengths by the coordinates."""
        shape, (q,) = self.together(coordinates)
        jacobian = exact_terms(self.pillars, q, np.zeros_like(q)).length_jacobian
        return jacobian.reshape((*shape, *jacobian.shape[1:]))

    def energy(self, coordinates: Any, rates: Any) -> tuple[FloatArray, FloatArray]:
        """Return kinetic and potential energies `(...)` [J], the latter zero at z = 0."""
        shape, (q, v) = self.together(coordinates, rates=rates)
        terms = exact_terms(self.pillars, q, v)
        return terms.kinetic.reshape(shape), terms.potential.reshape(shape)

    def feet(self, coordinates: Any, rates: Any) -> tuple[FloatArray, FloatArray]:
        """Return velocities [m/s] of the feet and the floor's friction [N], `(..., n, 2)` each."""
        shape, (q, v) = self.together(coordinates, rates=rates)
        terms = exact_terms(self.pillars, q, v)
        velocity = _times(terms.foot_jacobian[..., :2, :], v[:, None])
        velocity_shape = (*shape, *velocity.shape[1:])
        return velocity.reshape(velocity_shape), self.viscous_drag(velocity).reshape(velocity_shape)

    def accelerations(
        self, coordinates: Any, rates: Any, forces: Any, wrench: Any = None
    ) -> FloatArray:
        """Return the accelerations `(..., 3)` of heave, roll and pitch: forward dynamics."""
        n_pillars = len(self.pillars.joints)
        force_fields = {"forces": as_floats(forces, "forces", n_pillars)}
        shape, (q, v, w, f) = self.together(coordinates, rates=rates, wrench=wrench, **force_fields)
        terms = exact_terms(self.pillars, q, v)
        generalised_forces = np.einsum("kni,kn->ki", terms.length_jacobian, f)
        generalised_forces += self.applied(terms, v, w) - terms.bias
        return np.linalg.solve(terms.mass, generalised_forces[..., None]).reshape((*shape, 3))

    def required(
        self, coordinates: Any, rates: Any, accelerations: Any, wrench: Any = None
    ) -> FloatArray:
        """Return the generalised forces `(..., 3)` that the actuators must bring for a motion."""
        shape, (q, v, a, w) = self.together(
            coordinates, rates=rates, accelerations=accelerations, wrench=wrench
        )
        terms = exact_terms(self.pillars, q, v)
        required_forces = _times(terms.mass, a) + terms.bias - self.applied(terms, v, w)
        return required_forces.reshape((*shape, 3))

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
        required_forces = self.required(coordinates, rates, accelerations, wrench)
        pushing_pillars = list(range(len(self.pillars.joints)) if pushing is None else pushing)
        jacobian = self.length_jacobian(coordinates)
        jacobian_rows = np.broadcast_to(
            jacobian, (*required_forces.shape[:-1], *jacobian.shape[-2:])
        )[..., pushing_pillars, :]
        if jacobian_rows.size and np.linalg.cond(jacobian_rows).max() > LARGEST_CONDITION:
            raise SingularPoseError(
                "the actuators that push do not hold heave, roll and pitch; let others push",
                {"coordinates": np.asarray(coordinates)},
            )
        # The pseudo-inverse of the transpose gives the smallest f with J^T f = needed.
        shares = np.asarray(np.linalg.pinv(np.swapaxes(jacobian_rows, -1, -2)), dtype=np.float64)
        forces = np.zeros((*required_forces.shape[:-1], len(self.pillars.joints)))
        forces[..., pushing_pillars] = _times(shares, required_forces)
        return forces

    def together(self, coordinates: Any, **given: Any) -> tuple[tuple[int, ...], list[FloatArray]]:
        """Return the batch shape, and coordinates and all others checked and flattened."""
        fields = {"coordinates": checked_coordinates(coordinates)}
        for name, value in given.items():
            filled_value = np.zeros(6) if name == "wrench" and value is None else value
            fields[name] = as_floats(filled_value, name, FIELD_SIZES.get(name))
        return flatten_batch(**fields)

    def applied(self, terms: ExactTerms, rates: FloatArray, wrench: FloatArray) -> FloatArray:
        """Return the generalised forces `(k, 3)` of friction and wrench."""
        foot_slide_jacobian = terms.foot_jacobian[..., :2, :]
        drag = self.viscous_drag(_times(foot_slide_jacobian, rates[:, None]))
        generalised_wrench = np.einsum("kji,kj->ki", terms.twist_map, wrench)
        return np.asarray(generalised_wrench + np.einsum("knji,knj->ki", foot_slide_jacobian, drag))

    def viscous_drag(self, velocity: FloatArray) -> FloatArray:
        """Return the friction [N] of feet that slide with a velocity."""
        return self.friction.force(velocity) if self.friction else np.zeros_like(velocity)


def _times(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Return the products of matrices `(..., i, j)` and vectors `(..., j)`."""
    return np.asarray(np.einsum("...ij,...j->...i", matrix, vector))


class WholeModel(DerivedModel):
    """Poses, twists, lengths and mass matrices beside forces and accelerations."""

    def pose(self, coordinates: Any) -> FloatArray:
        """Return the poses `(..., 7)` of coordinates."""
        shape, (q,) = self.together(coordinates)
        place = exact_terms(self.pillars, q, np.zeros_like(q)).place
        return pose_from_angles(place, q[:, 1:], "roll_pitch").reshape((*shape, 7))

    def twist(self, coordinates: Any, rates: Any) -> FloatArray:
        """Return the twists `(..., 6)` of the plate."""
        shape, (q, v) = self.together(coordinates, rates=rates)
        terms = exact_terms(self.pillars, q, v)
        return np.einsum("kij,kj->ki", terms.twist_map, v).reshape((*shape, 6))

    def lengths(self, coordinates: Any) -> FloatArray:
        """Return the lengths `(..., n)` [m] of the pillars."""
        shape, (q,) = self.together(coordinates)
        lengths = exact_terms(self.pillars, q, np.zeros_like(q)).lengths
        return lengths.reshape((*shape, *lengths.shape[1:]))

    def mass_matrix(self, coordinates: Any) -> FloatArray:
        """Return the mass matrices `(..., 3, 3)`."""
        shape, (q,) = self.together(coordinates)
        return exact_terms(self.pillars, q, np.zeros_like(q)).mass.reshape((*shape, 3, 3))
