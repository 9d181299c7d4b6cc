"""Gravity in any direction: a machine that leans, one in another field, a base that falls."""

import numpy as np
import pytest
from fields import LEANING, in_field, turned, turned_pose, turned_vectors
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation
from tolerance import assert_within

from twin.analysis.stiffness import with_gravity
from twin.papers.formulations import Formulation, formulation_names

LEAN = Rotation.from_rotvec([0.4, -0.9, 0.3])

ROUNDING = 1e-11
"""Relative to the largest entry: turning costs a few roundings more."""


def close(found, expected):
    scale = np.abs(expected).max(initial=0.0)
    assert_within(found, expected, ROUNDING * scale)


def test_a_machine_that_leans_feels_gravity_lean(platform, states):
    """Turned with its base, all it does is turned, if gravity is turned as well."""
    if platform.kind == "pillar":
        pytest.skip("the floor of the pillars is horizontal")
    pose, twist, acceleration, forces, wrench, deflection = states
    machine = in_field(turned(platform, LEAN), LEAN.apply(np.array(LEANING)))
    straight = in_field(platform, LEANING)
    place = turned_pose(pose, LEAN)
    moving, pushing, gaining = (turned_vectors(x, LEAN) for x in (twist, wrench, acceleration))
    found = machine.forward_dynamics(place, moving, forces, pushing, deflection=deflection)
    wanted = straight.forward_dynamics(pose, twist, forces, wrench, deflection=deflection)
    close(found[:, :6], turned_vectors(wanted[:, :6], LEAN))
    close(found[:, 6:], wanted[:, 6:])
    close(
        machine.inverse_dynamics(place, moving, gaining, pushing, deflection=deflection),
        straight.inverse_dynamics(pose, twist, acceleration, wrench, deflection=deflection),
    )
    for one, other in zip(
        machine.energy(place, moving, deflection=deflection),
        straight.energy(pose, twist, deflection=deflection),
        strict=True,
    ):
        close(one, other)


def test_a_field_along_z_is_gravity(platform, states):
    heavier, other = with_gravity(platform, 12.5), in_field(platform, (0.0, 0.0, -12.5))
    pose, twist, _, forces, wrench, deflection = states
    assert_array_equal(
        heavier.forward_dynamics(pose, twist, forces, wrench, deflection=deflection),
        other.forward_dynamics(pose, twist, forces, wrench, deflection=deflection),
    )
    assert_array_equal(
        heavier.energy(pose, twist, deflection=deflection),
        other.energy(pose, twist, deflection=deflection),
    )


def test_a_falling_machine_is_weightless(platform, states):
    weightless, pose = in_field(platform, (0.0, 0.0, 0.0)), states.pose
    pillars = platform.kind == "pillar"
    rest, still = np.zeros_like(states.twist), np.zeros_like(states.deflection)
    idle = np.zeros_like(states.forces)
    found = weightless.forward_dynamics(pose, rest, idle, deflection=still)
    if platform.kind == "strut":
        assert (weightless.energy(pose, rest)[1] >= 0.0).all(), "springs alone"
    else:
        assert_array_equal(found, 0.0 * found)
        assert not np.abs(weightless.energy(pose, rest, deflection=still)).any()
    assert (
        pillars or np.abs(platform.forward_dynamics(pose, rest, idle, deflection=still)).max() > 1
    )


@pytest.mark.slow
def test_every_formulation_feels_the_field(subtests, stewart):
    for name in formulation_names():
        with subtests.test(f"{name}"):
            machine = in_field(stewart, LEANING)
            formulation = Formulation(machine, name)
            pose, twist = machine.home, np.array([0.05, -0.04, 0.1, 0.2, -0.15, 0.1])
            forces = np.linspace(-200.0, 300.0, 6)
            wanted = machine.forward_dynamics(pose, twist, forces)
            y = formulation.state_from(pose, twist)
            dy = formulation.derivative(y, forces, guess=pose)
            if not name.endswith("task"):
                legs = machine.leg_coordinates(pose, twist, wanted).accelerations
                wanted = legs.reshape(18) if name == "configuration" else legs[:, 2]
                assert_allclose(dy[-len(wanted) :], wanted, rtol=1e-9, atol=1e-9)
            else:
                assert_allclose(dy[7:], wanted, rtol=1e-9, atol=1e-9)
