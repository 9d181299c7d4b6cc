"""The neutral description of machines: complete, named, closed at home, and true to the legs."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tolerance import assert_within

from twin.engines.mechanism import make_mechanism
from twin.machine.mechanism import BASE_NAME, PART_COLORS


@pytest.fixture
def mechanism(any_platform):
    """Every machine's mechanism."""
    return make_mechanism(any_platform.parameters)


def test_parents_come_first_and_names_are_unique(mechanism):
    known = {BASE_NAME}
    for body in mechanism.bodies:
        assert body.parent in known
        assert body.name not in known
        known.add(body.name)
    shapes = [*mechanism.base_shapes, *(s for body in mechanism.bodies for s in body.shapes)]
    for named in (mechanism.points, mechanism.loops, mechanism.actuators, shapes):
        names = [thing.name for thing in named]
        assert len(set(names)) == len(names)
    assert len(set(mechanism.joint_names)) == len(mechanism.joint_names)
    assert mechanism.colors <= set(PART_COLORS)
    assert {point.body for point in mechanism.points} <= known


def test_joints_are_those_of_the_leg_coordinates(mechanism, any_platform):
    values = any_platform.leg_coordinates(any_platform.home).values
    assert_within(values, 0.0, 1e-14)
    assert [len(leg) for leg in mechanism.leg_joints] == [values.shape[1]] * len(values)
    assert not mechanism.carried
    assert len(mechanism.deflection) == any_platform.n_deflections
    assert len(mechanism.actuators) == any_platform.n_actuators
    for joint in mechanism.joints:
        assert np.linalg.norm(joint.axis) == pytest.approx(1.0, abs=1e-14)


def test_loops_leave_the_freedoms_of_the_machine(mechanism, any_platform):
    """Three constraints for each loop, none of them redundant."""
    free = 6 * mechanism.floats + len(mechanism.joint_names) - 3 * len(mechanism.loops)
    assert free == any_platform.dof + any_platform.n_deflections
    assert mechanism.floats == (any_platform.kind != "pillar")
    assert len(mechanism.carriers()) == (0 if mechanism.floats else any_platform.dof)


def test_measured_joints_give_the_actuator_coordinates(
    mechanism, any_platform, random_motion, random_internal
):
    for seed in range(3):
        pose, twist, _ = random_motion(any_platform, seed)
        inside = random_internal(any_platform, seed)
        legs = any_platform.leg_coordinates(pose, twist, deflection=inside)
        gains = mechanism.measured_gains
        found = (gains * legs.values.ravel()[mechanism.measured]).sum(axis=0)
        wanted = any_platform.inverse_kinematics(pose) - any_platform.home_coordinates
        assert_within(found, wanted, 1e-13)
        rates = (gains * legs.rates.ravel()[mechanism.measured]).sum(axis=0)
        assert_within(rates, any_platform.jacobian(pose) @ twist, 1e-12)
        springs = legs.values.ravel()[mechanism.indices(mechanism.deflection)]
        assert_array_equal(springs, inside[: any_platform.n_deflections])
