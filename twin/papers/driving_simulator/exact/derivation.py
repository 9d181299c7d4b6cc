"""The exact equations of motion of a plate on pillars, derived with sympy from its energies.

Coordinates are heave, roll and pitch. Kinetic and potential energy are sums over the plate and the
pillars, and so are the mass matrix and the other forces: each is derived once, for any joints,
masses and tensor, and turned into a function of numbers.

    M = d2T / dv2,   h = d/dt (dT/dv) at zero acceleration - dT/dq + dV/dq
"""

from __future__ import annotations

from typing import Any, NamedTuple

from twin.basics.optional import optional
from twin.papers.driving_simulator.derived import code_of, kept


class Terms(NamedTuple):
    """A function of numbers, and what it returns: entries row by row, in the order of `shapes`."""

    shapes: dict[str, tuple[int, int]]
    code: str
    """for `function_of`"""


class Frame(NamedTuple):
    """Symbols of the coordinates and rates, and what hangs on them."""

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


@kept()
def plate_terms() -> Terms:
    """Return the terms of the plate.

    Arguments: coordinates, rates, fixed joint and foot, gravity, then mass, centre of mass and the
    six entries xx, yy, zz, xy, xz, yz of the tensor about it. Beside the Lagrangian terms it
    returns the place of the reference point, the map from rates to twist and what is left of the
    twist's derivative at zero accelerations.
    """
    sympy = optional("sympy")
    at, center = frame(), vector("center")
    mass = sympy.Symbol("mass", positive=True)
    xx, yy, zz, xy, xz, yz = moments = sympy.symbols("xx yy zz xy xz yz", real=True)
    tensor = sympy.Matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    pitching = sympy.Matrix([0, 1, 0])
    _, roll, pitch = at.coordinates
    _, roll_rate, pitch_rate = at.rates
    turning = sympy.Matrix([roll_rate * sympy.cos(pitch), 0, roll_rate * sympy.sin(pitch)])
    turning += pitch_rate * pitching
    velocity = at.rate(at.point(center))
    kinetic = (mass * velocity.dot(velocity) + turning.dot(tensor * turning)) / 2
    potential = mass * at.gravity * at.point(center)[2]
    place = at.point(sympy.zeros(3, 1))
    spin = sympy.Matrix([roll_rate, pitch_rate * sympy.cos(roll), pitch_rate * sympy.sin(roll)])
    twist = sympy.Matrix([*at.rate(place), *spin])
    terms = lagrange_terms(at, kinetic, potential)
    terms |= {"place": place, "twist_map": twist.jacobian(at.rates), "twist_bias": at.rate(twist)}
    return _written(at, terms, [mass, *center, *moments])


@kept()
def pillar_terms() -> Terms:
    """Return the terms of one pillar.

    Arguments: coordinates, rates, fixed joint and foot, gravity, then the pillar's joint on the
    plate, the mass there and the mass of the foot. Beside the Lagrangian terms it returns the
    length, its derivative by the coordinates, what is left of its second time derivative at zero
    accelerations, the place of the foot and its derivative by the coordinates.
    """
    sympy = optional("sympy")
    at, joint = frame(), vector("corner")
    upper, lower = sympy.symbols("upper_mass foot_mass", nonnegative=True)
    length = sympy.Matrix([at.length(joint)])
    corner = at.point(joint)
    foot = corner - length[0] * at.normal
    rates = [at.rate(corner), at.rate(foot)]
    kinetic = (upper * rates[0].dot(rates[0]) + lower * rates[1].dot(rates[1])) / 2
    potential = at.gravity * (upper * corner[2] + lower * foot[2])
    terms = lagrange_terms(at, kinetic, potential)
    terms |= {
        "length": length,
        "length_jacobian": length.jacobian(at.coordinates),
        "length_bias": at.rate(at.rate(length)),
        "foot": foot,
        "foot_jacobian": foot.jacobian(at.coordinates),
    }
    return _written(at, terms, [*joint, upper, lower])


def _written(at: Frame, terms: dict[str, Any], parameters: list[Any]) -> Terms:
    arguments = [*at.coordinates, *at.rates, *at.fixed_joint, *at.fixed_foot, at.gravity]
    entries = [entry for term in terms.values() for entry in term]
    shapes = {name: term.shape for name, term in terms.items()}
    return Terms(shapes, code_of(arguments + parameters, entries))
