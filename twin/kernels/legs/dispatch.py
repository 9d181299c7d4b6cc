"""Kinematics and dynamics of a leg, by its kind: each function stands for that of the kind.

The functions without a body are replaced, when a kernel is compiled, by the functions of the same
name in the modules of the kind, which `LEG_MODULES` lists.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

from twin.basics.arrays import FloatArray
from twin.kernels.jit import by_kind
from twin.kernels.legs import pillar, rps, rrs, rss, strut, ups, upu, viscoelastic
from twin.kernels.legs.interface import Acceleration, LegResponse, Legs, PlatformState
from twin.kernels.linear_algebra import Matrix, Vector

P = ParamSpec("P")
R = TypeVar("R")

LEG_MODULES: dict[type, tuple[ModuleType, ModuleType]] = {
    ups.UpsLegs: (ups, ups),
    strut.StrutLegs: (strut, ups),
    rss.RssLegs: (rss, rss),
    viscoelastic.ViscoelasticLegs: (viscoelastic, ups),
    pillar.PillarLegs: (pillar, pillar),
    rps.RpsLegs: (rps, ups),
    rrs.RrsLegs: (rrs, rss),
    upu.UpuLegs: (upu, ups),
}
"""Type of the constants -> modules of the kind; a name in the first hides that in the second."""


def attribute(kind: type, name: str, otherwise: Any = None) -> Any:
    """Return the attribute `name` of a kind of leg; `otherwise` where its modules have none."""
    for module in LEG_MODULES[kind]:
        if hasattr(module, name):
            return getattr(module, name)
    return otherwise


def joint_count(kind: type) -> int:
    """Return the number of joint coordinates of one leg."""
    return int(attribute(kind, "JOINT_COUNT"))


def constant(name: str, otherwise: float) -> Callable[[Callable[[Legs], R]], Callable[[Legs], R]]:
    """Return the decorator of a function whose value is a number `name` of the kind."""

    def decorate(stub: Callable[[Legs], R]) -> Callable[[Legs], R]:
        @by_kind(stub)
        def choose(legs: Any) -> Callable[..., Any]:
            value = attribute(legs.instance_class, name, otherwise)
            return lambda legs: value

        return stub

    return decorate


def replaced(stub: Callable[P, R]) -> Callable[P, R]:
    """Replace a function without a body, in compiled code, by that of the kind.

    A kind without one does nothing; such a function returns None or zero.
    """
    name = stub.__name__

    @by_kind(stub)
    def choose(legs: Any, *arguments: Any) -> Callable[..., Any]:
        kernel = attribute(legs.instance_class, name)
        if kernel is None:
            return lambda legs, *arguments: 0.0
        return lambda legs, *arguments: kernel(legs.rows, *arguments)

    return stub


@replaced
def actuation(legs: Legs, i: int, position: Vector, matrix: Matrix) -> tuple[Vector, Vector, float]:
    """Return force w, moment m and actuator coordinate of leg i.

    A unit of actuator force acts on the platform as the force w and the moment m about the
    reference point. So the row of the Jacobian is (w, m), and the actuator's rate is
    w . v + m . omega.

    Args:
        legs: constants of the legs.
        i: leg.
        position: reference point.
        matrix: rotation platform to base.
    """
    raise NotImplementedError


@replaced
def actuation_rate(legs: Legs, i: int, state: PlatformState) -> tuple[Vector, Vector]:
    """Return the time derivatives of w and m."""
    raise NotImplementedError


@replaced
def fill_joints(
    legs: Legs,
    home: FloatArray,
    i: int,
    state: PlatformState,
    acceleration: Acceleration,
    out: FloatArray,
) -> bool:
    """Fill `out` (joints, 3): value (zero at home), rate and acceleration of each joint of leg i.

    Args:
        legs: constants of the legs.
        home: `(n, HOME_SIZE)` leg frames and actuator coordinates at home.
        i: leg.
        state: of the platform.
        acceleration: of the platform.
        out: `(joints, 3)`, overwritten; a spring in series, whose motion the platform does not
            determine, is filled with zeros, and its actuator with the motion of the whole leg.

    Returns:
        False at a singular pose of the leg: along its first axis, without length, or stretched.
    """
    raise NotImplementedError


@constant("CONSTRAINT_COUNT", 0)
def constraint_count(legs: Legs) -> int:
    """Return the number of constraints C twist = 0 that the legs put on the platform."""
    raise NotImplementedError


@replaced
def fill_constraints(legs: Legs, state: PlatformState, rows: FloatArray) -> None:
    """Fill `rows` (constraints, 8): C, drift c' with C a + c' = 0, and the error of the pose."""
    raise NotImplementedError


@replaced
def project_onto_constraints(legs: Legs, y: FloatArray) -> None:
    """Move a state `y` (13 or more) onto the constraints; unchanged where there are none."""
    raise NotImplementedError


@constant("SMALLEST_SCALE", 0.0)
def smallest_scale(legs: Legs) -> float:
    """Return the smallest actuator coordinate scale [m, rad] for rounding errors."""
    raise NotImplementedError


@replaced
def response(
    legs: Legs, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> LegResponse:
    """Return effective masses and bias force of leg i at its end; see `LegResponse`.

    Args:
        legs: constants of the legs.
        i: leg.
        state: of the platform.
        gravity: acceleration that every body feels, base axes [m/s2].
        deflection: `(2k,)` of the springs in series, then their rates; empty for most kinds.
    """
    raise NotImplementedError


@replaced
def add_rod_spin(
    legs: Legs, i: int, state: PlatformState, mass_matrix: FloatArray, bias: FloatArray
) -> None:
    """Add to mass matrix and bias what the rod of leg i takes to turn about its own axis.

    Nothing where it turns with the housing. Of the mass matrix, the lower triangle is filled.
    """
    raise NotImplementedError


@replaced
def leg_energy(
    legs: Legs, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> tuple[float, float, float]:
    """Return kinetic and potential energy [J] and dissipated power [W] of leg i.

    Potential energy is zero at the base's origin and for springs at rest length.
    """
    raise NotImplementedError


@constant("DEFLECTION_COUNT", 0)
def deflections_per_leg(legs: Legs) -> int:
    """Return the number of springs in series in one leg: 0 or 1."""
    raise NotImplementedError


@replaced
def deflection_acceleration(
    legs: Legs,
    i: int,
    state: PlatformState,
    gravity: Vector,
    deflection: FloatArray,
    actuator_force: float,
) -> float:
    """Return the second rate of the deflection of leg i under the force of its actuator [m/s2]."""
    raise NotImplementedError
