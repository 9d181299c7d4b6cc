"""Mass matrix, holding forces and free motion that follow from the typed bodies of a machine.

Energies are sums over bodies, and forces their derivatives by complex steps: no equation of motion
of a leg is used, so that nothing is shared with the reference but the laws of mechanics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Z = np.array([0.0, 0.0, 1.0])

COMPLEX_STEP = 1e-30
"""Imaginary part of a complex step, whose derivatives are exact."""

SECOND_STEP = 1e-5
"""[m], [rad] Step of the differences between two gradients."""

DEFLECTION_ROUNDS = 6
"""Iterations of the static deflection, each of which reduces the error a thousandfold."""


Array = NDArray[Any]
"""Real or complex array: all functions here are differentiated by complex steps."""


class Piece(NamedTuple):
    """One rigid body of a machine, with its placement."""

    name: str
    mass: float
    """[kg] mass of the body"""
    center: Array
    """`(3,)` centre of mass [m] in the base frame"""
    frame: Array
    """`(3, 3)` rotation from body to base"""
    tensor: Array
    """`(3, 3)` inertia [kg m2] about the centre, body frame"""


class Legs(NamedTuple):
    """The bodies and coordinates of all legs, for given positions of their tips."""

    pieces: list[Piece]
    coordinates: list[Any]
    """length [m] or crank angle [rad] of each leg"""


Typed = dict[str, Any]
Assembly = Callable[[Typed, Array, Array, Array], Legs]
"""Function that returns the legs for typed numbers, base joints and tips `(n, 3)` [m], and series
deflections."""


def unit(vector: Array) -> Array:
    """Return a vector of length one."""
    return np.asarray(vector / np.sqrt(vector @ vector))


def joints(typed: Typed) -> Array:
    """Return joint points `(n, 3)` [m] of a table with points, or with angles on a circle."""
    if "points" in typed:
        return np.array(typed["points"])
    angles = np.radians(typed["angles"] if "angles" in typed else typed["middles"])
    angles = angles + np.array(typed.get("radians_beside", 0.0))
    height = np.full(len(angles), typed["height"])
    return np.column_stack(
        [typed["radius"] * np.cos(angles), typed["radius"] * np.sin(angles), height]
    )


def solid(mass: float, radius: float, length: float) -> Array:
    """Return the tensor `(3, 3)` [kg m2] of a solid cylinder along z about its centre."""
    transverse = mass * radius**2 / 4.0 + mass * length**2 / 12.0
    return np.diag([transverse, transverse, mass * radius**2 / 2.0])


def tube(typed: dict[str, float]) -> tuple[float, Array]:
    """Return mass [kg] and tensor `(3, 3)` of a tube: an outer cylinder less an inner one."""
    outer, inner, length = typed["outer"], typed["inner"], typed["length"]
    if "mass" in typed:
        mass_per_radius_squared = typed["mass"] / (outer**2 - inner**2)
    else:
        mass_per_radius_squared = typed["density"] * np.pi * length
    outer_mass, inner_mass = mass_per_radius_squared * outer**2, mass_per_radius_squared * inner**2
    return outer_mass - inner_mass, solid(outer_mass, outer, length) - solid(
        inner_mass, inner, length
    )


def body(typed: Typed) -> tuple[float, Array]:
    """Return mass [kg] and tensor `(3, 3)` of a table with numbers, a tube or a disc."""
    if "tube" in typed:
        return tube(typed["tube"])
    if "disc" in typed:
        disc = typed["disc"]
        return disc["mass"], solid(disc["mass"], disc["radius"], disc["thickness"])
    return typed["mass"], np.array(typed.get("inertia", np.zeros((3, 3))))


def universal(typed: Typed, base: Array, tips: Array, deflection: Array) -> Legs:
    """Return legs of a housing on the base joint and a rod on the tip, frame (rev1, rev2, leg)."""
    pieces, lengths = [], []
    axes = _first_axes(typed, base)
    for leg, (foot, tip, axis) in enumerate(zip(base, tips, axes, strict=True), start=1):
        leg_axis = unit(tip - foot)
        rev2 = unit(np.cross(leg_axis, axis))
        frame = np.column_stack([np.cross(rev2, leg_axis), rev2, leg_axis])
        lengths.append((tip - foot) @ leg_axis)
        for name, joint, direction in (("housing", foot, 1.0), ("rod", tip, -1.0)):
            table = typed[name]
            mass, tensor = body(table)
            if "tube" in table:
                center = direction * table["tube"]["length"] / 2.0 * Z
            else:
                center = np.array(table["center" if name == "housing" else "center_from_tip"])
            mirror = np.array([-1.0 if leg in table.get("reflected", ()) else 1.0, 1.0, 1.0])
            tensor = np.outer(mirror, mirror) * tensor
            pieces.append(
                Piece(_name(leg, name), mass, joint + frame @ (mirror * center), frame, tensor)
            )
    return Legs(pieces, lengths)


def series_spring(typed: Typed, base: Array, tips: Array, deflection: Array) -> Legs:
    """Return legs of three point masses: middle of the spring, beyond the spring, below the tip."""
    pieces, lengths = [], []
    for leg, (foot, tip, spring_deflection) in enumerate(
        zip(base, tips, deflection, strict=True), start=1
    ):
        leg_axis = unit(tip - foot)
        length = (tip - foot) @ leg_axis
        spring_length = typed["spring_mass"]["length"] + spring_deflection
        distances = {
            "spring": 0.5 * spring_length,
            "housing": spring_length + typed["housing"]["beyond_spring"],
            "rod": length - typed["rod"]["below_tip"],
        }
        for name, distance in distances.items():
            mass = typed["spring_mass" if name == "spring" else name]["mass"]
            pieces.append(_point(leg, name, mass, foot + distance * leg_axis))
        lengths.append(length)
    return Legs(pieces, lengths)


def crank(typed: Typed, base: Array, tips: Array, deflection: Array) -> Legs:
    """Return legs of a crank in the vertical plane through the base joint's radius, and a rod."""
    pieces, angles = [], []
    (crank_mass, crank_tensor), (rod_mass, rod_tensor) = body(typed["crank"]), body(typed["rod"])
    rod_moment = rod_tensor[0, 0] - rod_tensor[2, 2] / 2.0
    crank_length, rod_length = typed["crank"]["tube"]["length"], typed["rod"]["tube"]["length"]
    for leg, (foot, tip) in enumerate(zip(base, tips, strict=True), start=1):
        outward, foot_to_tip = unit(foot * [1.0, 1.0, 0.0]), tip - foot
        # |foot_to_tip - crank| = rod_length; of both angles, the one that leans further outwards.
        rise, outward_distance = foot_to_tip @ Z, foot_to_tip @ outward
        projection = (foot_to_tip @ foot_to_tip + crank_length**2 - rod_length**2) / (
            2.0 * crank_length
        )
        angle = np.arctan(outward_distance / rise) + np.arccos(
            projection / np.sqrt(rise**2 + outward_distance**2)
        )
        crank_axis = np.cos(angle) * Z + np.sin(angle) * outward
        rod_axis = unit(foot_to_tip - crank_length * crank_axis)
        hinge_axis = np.cross(Z, outward)
        crank_frame = np.column_stack([hinge_axis, np.cross(crank_axis, hinge_axis), crank_axis])
        rod_side = unit(np.cross(hinge_axis, rod_axis))
        frame = np.column_stack([rod_side, np.cross(rod_axis, rod_side), rod_axis])
        elbow = foot + crank_length * crank_axis
        tensor = np.diag([rod_moment, rod_moment, 0.0])
        pieces += [
            Piece(
                _name(leg, "crank"),
                crank_mass,
                foot + 0.5 * crank_length * crank_axis,
                crank_frame,
                crank_tensor,
            ),
            Piece(_name(leg, "rod"), rod_mass, elbow + 0.5 * rod_length * rod_axis, frame, tensor),
        ]
        angles.append(angle)
    return Legs(pieces, angles)


def pillar(typed: Typed, base: Array, tips: Array, deflection: Array) -> Legs:
    """Return legs with a mass in each corner of the plate, and a foot below it along the normal."""
    normal = unit(np.cross(tips[1] - tips[0], tips[2] - tips[1]))
    pieces, heights = [], []
    for leg, tip in enumerate(tips, start=1):
        height = tip[2] / normal[2]
        heights.append(height)
        pieces.append(_point(leg, "upper", typed["upper"]["mass"], tip))
        pieces.append(_point(leg, "foot", typed["foot"]["mass"], tip - height * normal))
    return Legs(pieces, heights)


def _first_axes(typed: Typed, base: Array) -> Iterator[Array]:
    """Yield the axis of each universal joint that is fixed in the base."""
    direction = typed["first_axis"]["direction"]
    horizontal_legs = joints(typed["platform_joints"]) * [1.0, 1.0, 0.0] - base * [1.0, 1.0, 0.0]
    for horizontal in horizontal_legs:
        yield unit(np.cross(horizontal, Z)) if direction == "across" else np.array(direction)


def _name(leg: int, part: str) -> str:
    return f"leg_{leg}_{part}"


def _point(leg: int, part: str, mass: float, position: Array) -> Piece:
    return Piece(_name(leg, part), mass, position, np.eye(3), np.zeros((3, 3)))


LEG_ASSEMBLIES: dict[str, Assembly] = {
    "universal": universal,
    "series_spring": series_spring,
    "crank": crank,
    "pillar": pillar,
}


class CoordinateDerivatives(NamedTuple):
    """Derivatives of points, attitudes and lengths by the coordinates, one column each."""

    centers: Array
    """`(bodies, 3, k)` derivatives of the bodies' centres"""
    rotations: Array
    """`(bodies, 3, k)` rotations of the bodies, base axes"""
    coordinates: Array
    """`(n, k)` derivatives of the actuator coordinates"""


class Rest(NamedTuple):
    """Static equilibrium of a machine at its pose."""

    forces: Array
    """`(n,)` forces of the actuators"""
    deflection: Array
    """`(n,)` deflections [m] of springs in series, positive when stretched; zero without springs"""


class Composition:
    """A machine made of typed bodies about one pose.

    Its coordinates are zero at that pose: three translations and three rotations of the platform,
    or heave, roll and pitch on pillars; then, for springs in series, the changes of `deflection`.
    """

    def __init__(self, typed: Typed, shift: Array | None = None, tilt: Array | None = None) -> None:
        """Place the platform near home: displaced by `shift` [m], then rotated by `tilt` [rad]."""
        self.typed = typed
        self.gravity: float = typed["gravity"]["value"]
        self.base, self.corners = joints(typed["base_joints"]), joints(typed["platform_joints"])
        self.on_pillars = typed["legs"] == "pillar"
        self.dof = 3 if self.on_pillars else 6
        self.series = typed["legs"] == "series_spring"
        self.deflection = np.zeros(len(self.base))
        self._shift = self._tilt = np.zeros(3)
        self.home_coordinates = np.array(self.legs(self.origin).coordinates)
        self._shift = np.zeros(3) if shift is None else shift
        self._tilt = np.zeros(3) if tilt is None else tilt

    @property
    def pose(self) -> Array:
        """`(7,)` reference point and unit quaternion of the platform."""
        from scipy.spatial.transform import Rotation

        position, rotation = self.placement(self.origin)
        return np.array([*position, *Rotation.from_matrix(rotation).as_quat(scalar_first=True)])

    @property
    def origin(self) -> Array:
        """Return the vector of coordinates of the pose: all are zero."""
        return np.zeros(self.dof + (len(self.base) if self.series else 0))

    def placement(self, q: Array) -> tuple[Array, Array]:
        """Return reference point `(3,)` and rotation `(3, 3)` of the platform."""
        height = self.typed["home"]["height"] + self._shift[2]
        if self.on_pillars:
            return self._on_pillars(height + q[0], self._tilt[0] + q[1], self._tilt[1] + q[2])
        position = np.array([*self._shift[:2], height]) + q[:3]
        return position, _small_rotation(q[3:6]) @ _rotation(self._tilt)

    def _on_pillars(self, height: float, roll: float, pitch: float) -> tuple[Array, Array]:
        """Return the paper's roto-translation matrix of a pose; the fixed foot does not move."""
        c, s, cp, sp = np.cos(roll), np.sin(roll), np.cos(pitch), np.sin(pitch)
        matrix = np.array([[cp, 0.0 * s, sp], [s * sp, c, -cp * s], [-c * sp, s, c * cp]])
        fixed_leg = self.typed["foot"]["fixed"] - 1
        corner = matrix @ self.corners[fixed_leg]
        length = (height + corner[2]) / matrix[2, 2]
        return self.base[fixed_leg] + length * matrix[:, 2] - corner, matrix

    def legs(self, q: Array) -> Legs:
        """Return the legs at coordinates `(k,)`."""
        position, rotation = self.placement(q)
        tips = position + self.corners @ rotation.T
        deflection = self.deflection + q[6:] if self.series else self.deflection
        return LEG_ASSEMBLIES[self.typed["legs"]](self.typed, self.base, tips, deflection)

    def pieces(self, q: Array) -> list[Piece]:
        """Return all bodies, the platform first."""
        position, rotation = self.placement(q)
        table = self.typed["platform"]
        mass, tensor = body(table)
        center = position + rotation @ np.array(table["center"])
        return [Piece("platform", mass, center, rotation, tensor), *self.legs(q).pieces]

    def derivatives(self, q: Array) -> CoordinateDerivatives:
        """Return the derivatives at coordinates `(k,)`, by complex steps."""
        frames = np.array([piece.frame for piece in self.pieces(q)])
        centers, rotations, coordinates = [], [], []
        for direction in np.eye(len(q)):
            perturbed = q + 1j * COMPLEX_STEP * direction
            pieces = self.pieces(perturbed)
            centers.append(np.array([piece.center for piece in pieces]).imag / COMPLEX_STEP)
            frame_rates = np.array([piece.frame for piece in pieces]).imag / COMPLEX_STEP
            # dR/dt R^T is the skew matrix of the angular velocity.
            rotation_rates = frame_rates @ np.swapaxes(frames, 1, 2)
            rotations.append(
                np.stack(
                    [rotation_rates[:, 2, 1], rotation_rates[:, 0, 2], rotation_rates[:, 1, 0]],
                    axis=1,
                )
            )
            coordinates.append(np.array(self.legs(perturbed).coordinates).imag / COMPLEX_STEP)
        return CoordinateDerivatives(
            *(np.stack(columns, axis=-1) for columns in (centers, rotations, coordinates))
        )

    def twists(self) -> Array:
        """Return the platform's twists `(6, k)` per unit rates of the coordinates."""
        derivatives = self.derivatives(self.origin)
        arm = self.placement(self.origin)[1] @ np.array(self.typed["platform"]["center"])
        return np.vstack(
            [
                derivatives.centers[0] - np.cross(derivatives.rotations[0].T, arm).T,
                derivatives.rotations[0],
            ]
        )

    def mass_matrix(self) -> Array:
        """Return the mass matrix `(k, k)`: the kinetic energy is rates' M rates / 2."""
        derivatives = self.derivatives(self.origin)
        mass_matrix = np.zeros((len(self.origin),) * 2)
        for piece, translation, rotation in zip(
            self.pieces(self.origin), derivatives.centers, derivatives.rotations, strict=True
        ):
            tensor = piece.frame @ piece.tensor @ piece.frame.T
            mass_matrix += piece.mass * translation.T @ translation + rotation.T @ tensor @ rotation
        return mass_matrix

    def balancing_forces(self) -> Array:
        """Return the forces `(n,)` of smallest norm that hold the platform at this deflection."""
        length_jacobian = self.derivatives(self.origin).coordinates[:, : self.dof]
        gradient = self._gradient(self.origin, np.zeros(len(self.base)))
        return np.asarray(np.linalg.lstsq(length_jacobian.T, gradient[: self.dof], rcond=None)[0])

    def holding(self) -> Rest:
        """Return forces and deflections at static equilibrium; the deflection is stored."""
        for _ in range(DEFLECTION_ROUNDS if self.series else 0):
            residual = self._gradient(self.origin, self.balancing_forces())[6:]
            self.deflection = self.deflection - residual / self.typed["spring"]["stiffness"]
        return Rest(self.balancing_forces(), self.deflection)

    def free_rates(self) -> Array:
        """Return the magnitudes [1/s] of the eigenvalues of the motion about rest, ascending."""
        spring, forces = self.typed["spring"], self.holding().forces
        stiffness_rows = [
            (self._gradient(step, forces) - self._gradient(-step, forces)) / (2.0 * SECOND_STEP)
            for step in SECOND_STEP * np.eye(len(self.origin))
        ]
        stretch_jacobian = self._stretch_jacobian(self.derivatives(self.origin))
        state_forces = np.hstack(
            [np.array(stiffness_rows), spring["damping"] * stretch_jacobian.T @ stretch_jacobian]
        )
        rates = np.eye(len(self.origin))
        acceleration_rows = -np.linalg.solve(self.mass_matrix(), state_forces)
        matrix = np.vstack([np.hstack([0.0 * rates, rates]), acceleration_rows])
        return np.sort(np.abs(np.linalg.eigvals(matrix)))

    def _stretch_jacobian(self, derivatives: CoordinateDerivatives) -> Array:
        """Return the derivatives `(n, k)` of the springs' stretch by the coordinates."""
        k = len(self.base)
        return np.eye(6 + k)[6:] if self.series else derivatives.coordinates

    def _gradient(self, q: Array, forces: Array) -> Array:
        """Return the derivative `(k,)` of the potential energy under constant actuator forces."""
        derivatives, pieces = self.derivatives(q), self.pieces(q)
        stretch_jacobian = self._stretch_jacobian(derivatives)
        actuator_jacobian = derivatives.coordinates
        if self.series:
            actuator_jacobian = actuator_jacobian - stretch_jacobian
        masses = np.array([piece.mass for piece in pieces])
        gradient = self.gravity * masses @ derivatives.centers[:, 2] - forces @ actuator_jacobian
        if "spring" not in self.typed:
            return np.asarray(gradient)
        elongation = np.array(self.legs(q).coordinates) - self.home_coordinates
        if self.series:
            elongation = self.deflection + q[6:]
        return np.asarray(
            gradient + self.typed["spring"]["stiffness"] * elongation @ stretch_jacobian
        )


def _cross_matrix(vector: Array) -> Array:
    x, y, z = vector
    zero = 0.0 * x
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])


def _small_rotation(vector: Array) -> Array:
    """Return the rotation `(3, 3)` of a rotation vector below 1e-4, right to its third power."""
    skew = _cross_matrix(vector)
    return np.asarray(np.eye(3) + skew + skew @ skew / 2.0)


def _rotation(vector: Array) -> Array:
    """Return the rotation `(3, 3)` of a rotation vector."""
    from scipy.linalg import expm

    return np.asarray(expm(_cross_matrix(vector)))
