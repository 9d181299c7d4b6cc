"""What kinematics asks of a leg, answered by the file of its kind.

`drive` gives the arm of the point where the leg acts on the platform, and the vector w with which
its actuator's rate follows from that point's velocity: rate = w . (v + omega x arm). So the row of
the Jacobian is (w, arm x w), and a unit of actuator force acts on the platform as the force w at
that point.
"""

from __future__ import annotations

from typing import Any

from twin.kernels.jit import by_kind
from twin.kernels.legs.kinds import PillarLegs, RssLegs, StrutLegs, UpsLegs, ViscoelasticLegs
from twin.kernels.legs.pillar import kinematics as pillar
from twin.kernels.legs.rss import kinematics as rss
from twin.kernels.legs.ups import kinematics as ups
from twin.kernels.legs.viscoelastic import kinematics as viscoelastic

KINDS: dict[type, Any] = {
    UpsLegs: ups,
    StrutLegs: ups,
    RssLegs: rss,
    ViscoelasticLegs: viscoelastic,
    PillarLegs: pillar,
}

JOINTS = {UpsLegs: 3, StrutLegs: 3, RssLegs: 3, ViscoelasticLegs: 4, PillarLegs: 3}
"""Joint coordinates of one leg."""

CONSTRAINTS = {PillarLegs: 3}
"""Conditions that the legs of a kind put on the platform's motion; none where not listed."""


def drive(legs, i, position, matrix):
    """Return arm, drive w and actuator coordinate of leg i.

    Args:
        legs: constants of the legs, one of `twin.kernels.legs.kinds`.
        i: leg.
        position: reference point.
        matrix: rotation platform to base.
    """
    raise NotImplementedError


@by_kind(drive)
def _drive(legs, i, position, matrix):
    kernel = KINDS[legs.instance_class].drive
    return lambda legs, i, position, matrix: kernel(legs.rows, i, position, matrix)


def drive_rate(legs, i, position, matrix, velocity, omega):
    """Return the time derivatives of w and arm x w under the given twist."""
    raise NotImplementedError


@by_kind(drive_rate)
def _drive_rate(legs, i, position, matrix, velocity, omega):
    kernel = KINDS[legs.instance_class].drive_rate

    def rate(legs, i, position, matrix, velocity, omega):
        return kernel(legs.rows, i, position, matrix, velocity, omega)

    return rate


def leg_joints(legs, home, i, position, matrix, velocity, omega, linear, angular, out):
    """Fill `out` (joints, 3): value (zero at home), rate and acceleration of each joint of leg i.

    Args:
        legs: constants of the legs.
        home: `(n, HOME_SIZE)` leg frames and actuator coordinates at home.
        i: leg.
        position: reference point.
        matrix: rotation platform to base.
        velocity: of the reference point.
        omega: angular velocity.
        linear: acceleration of the reference point.
        angular: angular acceleration.
        out: `(joints, 3)`, overwritten; a joint that moves apart from the platform is filled with
            zeros.

    Returns:
        False where the leg has no such coordinates.
    """
    raise NotImplementedError


@by_kind(leg_joints)
def _leg_joints(legs, home, i, position, matrix, velocity, omega, linear, angular, out):
    kernel = KINDS[legs.instance_class].joints

    def joints(legs, home, i, position, matrix, velocity, omega, linear, angular, out):
        return kernel(legs.rows, home, i, position, matrix, velocity, omega, linear, angular, out)

    return joints


def constraint_count(legs):
    """Return how many constraints the legs put on the platform's twist: C twist = 0."""
    raise NotImplementedError


@by_kind(constraint_count)
def _condition_count(legs):
    count = CONSTRAINTS.get(legs.instance_class, 0)
    return lambda legs: count


def fill_constraints(legs, position, matrix, velocity, omega, rows):
    """Fill `rows` (constraints, 8): C, drift c' with C a + c' = 0, and how far off the pose is."""
    raise NotImplementedError


@by_kind(fill_constraints)
def _fill_conditions(legs, position, matrix, velocity, omega, rows):
    if legs.instance_class not in CONSTRAINTS:
        return lambda legs, position, matrix, velocity, omega, rows: None
    kernel = KINDS[legs.instance_class].constraints

    def fill(legs, position, matrix, velocity, omega, rows):
        kernel(legs.rows, position, matrix, velocity, omega, rows)

    return fill


def settle(legs, y):
    """Move a state `y` (13 or more) onto the constraints; unchanged where there are none."""
    raise NotImplementedError


@by_kind(settle)
def _settle(legs, y):
    if legs.instance_class not in CONSTRAINTS:
        return lambda legs, y: None
    return lambda legs, y: pillar.settle(legs.rows, y)


def smallest_scale(legs):
    """Return the size of an actuator coordinate below which its rounding errors do not fall."""
    raise NotImplementedError


@by_kind(smallest_scale)
def _smallest_scale(legs):
    size = getattr(KINDS[legs.instance_class], "SMALLEST_SCALE", 0.0)
    return lambda legs: size
