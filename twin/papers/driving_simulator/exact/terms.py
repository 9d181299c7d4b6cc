"""Numbers of the exact equations of motion: those of a machine, and the functions derived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.papers.driving_simulator.derived import function_of
from twin.papers.driving_simulator.exact.derivation import Terms, pillar_terms, plate_terms
from twin.papers.driving_simulator.plate import CORNERS, FIXED, PlateModel


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
    """[m/s2]"""

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
        count = len(CORNERS)
        joints = np.hstack([plate.corners, np.zeros((count, 1))])
        return cls(
            joints=joints,
            fixed=FIXED,
            foot=joints[FIXED],
            mass=plate.plate_mass,
            center_of_mass=np.zeros(3),
            inertia=np.diag([plate.roll_inertia, plate.pitch_inertia, plate.yaw_inertia]),
            upper_masses=np.full(count, plate.upper_mass),
            foot_masses=np.full(count, plate.foot_mass),
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
    """`(k, 3, 3)`"""
    bias: FloatArray
    """`(k, 3)`"""
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
    """`(k, n, 3)`"""
    length_bias: FloatArray
    """`(k, n)`"""
    feet: FloatArray
    """`(k, n, 3)` [m]"""
    foot_jacobian: FloatArray
    """`(k, n, 3, 3)` velocity of a foot = foot_jacobian @ rates"""


def exact_terms(pillars: Pillars, coordinates: FloatArray, rates: FloatArray) -> ExactTerms:
    """Return the terms at coordinates `(k, 3)` with rates `(k, 3)`.

    Raises:
        MissingDependencyError: sympy is not installed.
    """
    state, shared = [*coordinates.T, *rates.T], pillars.shared_arguments
    states = (len(coordinates),)
    plate = _evaluate(plate_terms(), [*state, *shared, *pillars.plate_arguments], states)
    columns = [column[:, None] for column in state]
    arguments = [*columns, *shared, *pillars.pillar_arguments]
    each = _evaluate(pillar_terms(), arguments, (*states, len(pillars.joints)))
    total = {
        name: plate[name] + each[name].sum(axis=1)
        for name in ("mass", "bias", "kinetic", "potential")
    }
    return ExactTerms(
        total["mass"],
        total["bias"][..., 0],
        total["kinetic"][..., 0, 0],
        total["potential"][..., 0, 0],
        plate["place"][..., 0],
        plate["twist_map"],
        plate["twist_bias"][..., 0],
        each["length"][..., 0, 0],
        each["length_jacobian"][..., 0, :],
        each["length_bias"][..., 0, 0],
        each["foot"][..., 0],
        each["foot_jacobian"],
    )


def _evaluate(terms: Terms, arguments: list[Any], batch: tuple[int, ...]) -> dict[str, FloatArray]:
    entries = function_of(terms.code)(*arguments)
    flat = np.stack([np.broadcast_to(entry, batch) for entry in entries], axis=-1)
    parts, start = {}, 0
    for name, shape in terms.shapes.items():
        stop = start + int(np.prod(shape))
        parts[name] = flat[..., start:stop].reshape((*batch, *shape))
        start = stop
    return parts
