"""Motion of the driver's head: printed small-angle expressions and exact kinematics."""

import numpy as np
import pytest
import sympy
from numpy.testing import assert_array_equal
from paper_plate import PLATE
from refusals import refused
from scipy.spatial.transform import Rotation
from tolerance import assert_within

from twin.papers.driving_simulator.exact import exact_head_motion
from twin.papers.driving_simulator.kinematics import ExactKinematics
from twin.papers.driving_simulator.studies import (
    small_angle_head_motion,
)

HEAD = np.array([0.2, -0.1, 1.1])


def states(count=40):
    """Return heave, roll and pitch with rates and accelerations."""
    random = np.random.default_rng(21)
    q = random.uniform(-1.0, 1.0, (count, 3)) * [0.05, 0.3, 0.2] + [0.35, 0.0, 0.0]
    return q, random.normal(size=(count, 3)), random.normal(size=(count, 3))


def printed():
    """Return the paper's expressions as functions of time, by sympy."""
    t = sympy.Symbol("t")
    z, phi, theta, x, y = (sympy.Function(name)(t) for name in ("z", "phi", "theta", "x", "y"))
    xp, yp, zp = sympy.symbols("xp yp zp")
    d, dd = (lambda f: f.diff(t)), (lambda f: f.diff(t, 2))
    return {
        "time": t,
        "functions": (z, phi, theta, x, y),
        "head": (xp, yp, zp),
        "position": [
            xp + x + zp * theta,
            yp + y - zp * phi + xp * phi * theta,
            zp + z + yp * phi - xp * theta,
        ],
        "velocity": [
            zp * d(theta) + d(x),
            d(y) - zp * d(phi) + xp * phi * d(theta) + xp * theta * d(phi),
            yp * d(phi) - xp * d(theta) + d(z),
        ],
        "acceleration": [
            zp * dd(theta) + dd(x),
            dd(y)
            - zp * dd(phi)
            + 2 * xp * d(theta) * d(phi)
            + xp * phi * dd(theta)
            + xp * theta * dd(phi),
            yp * dd(phi) - xp * dd(theta) + dd(z),
        ],
        "angular_velocity": [
            d(phi),
            d(theta) - phi * theta * d(phi),
            theta * d(phi),
        ],
        "angular_acceleration": [
            theta**2 * dd(phi) + dd(phi) + 2 * theta * d(theta) * d(phi),
            dd(theta) - theta * d(phi) ** 2 - phi * theta * dd(phi) - phi * d(theta) * d(phi),
            -theta * phi**2 * dd(phi)
            + phi * dd(theta)
            - 2 * theta * phi * d(phi) ** 2
            - d(theta) * phi**2 * d(phi)
            + d(theta) * d(phi),
        ],
    }


@pytest.mark.parametrize(
    "field", ["position", "velocity", "acceleration", "angular_velocity", "angular_acceleration"]
)
def test_small_angle_motion_as_printed(field):
    """The printed expressions along a motion whose z, phi and theta are polynomials of time."""
    terms, (q, v, a) = printed(), states(1)
    t = terms["time"]
    z, phi, theta = (q[0, i] + v[0, i] * t + a[0, i] * t**2 / 2 for i in range(3))
    center = theta * (80 * theta - 41 * phi + 100 * z) / 100, 41 * phi**2 / 100 - z * phi
    values = dict(zip(terms["functions"], (z, phi, theta, *center), strict=True))
    values |= dict(zip(terms["head"], HEAD, strict=True))
    expected = [
        float(entry.subs(values).doit().subs(t, 0)) for entry in map(sympy.sympify, terms[field])
    ]
    found = getattr(small_angle_head_motion(PLATE, HEAD, q, v, a), field)
    assert_within(found[0], expected, 1e-13)


def test_exact_motion_against_differences(derivative):
    q, v, a = states()
    motion = exact_head_motion(PLATE, HEAD, q, v, a)

    def coordinates(time):
        return q + v * time + 0.5 * a * time**2

    def turn(time):
        return Rotation.from_euler("XY", coordinates(time)[:, 1:])

    def place(time):
        center = ExactKinematics(PLATE).inverse(coordinates(time)).center
        return center + turn(time).apply(HEAD)

    def turned(time):
        return (turn(time) * turn(0.0).inv()).as_rotvec()

    def at(time):
        return exact_head_motion(PLATE, HEAD, coordinates(time), v + a * time, a)

    assert_within(motion.position, place(0.0), 1e-14)
    # Rounding of numbers of size one over the step.
    assert_within(derivative(place, 1e-3), motion.velocity, 1e-11)
    assert_within(derivative(turned, 1e-3), motion.angular_velocity, 1e-11)
    for lower, higher in (
        ("velocity", "acceleration"),
        ("angular_velocity", "angular_acceleration"),
    ):
        slope = derivative(lambda t, lower=lower: getattr(at(t), lower), 1e-3)
        assert_within(slope, getattr(motion, higher), 1e-11)


@pytest.mark.parametrize("head", [[0.0, 0.0, 1.1], HEAD])
def test_specific_force_is_acceleration_minus_gravity(head):
    for motion in (exact_head_motion, small_angle_head_motion):
        found = motion(PLATE, head, *states())
        felt = found.acceleration - [0.0, 0.0, -9.81]
        assert_array_equal(found.specific_force, felt)


def test_refused_head():
    for motion in (exact_head_motion, small_angle_head_motion):
        with refused("head"):
            motion(PLATE, [0.0, 1.0], *states())
