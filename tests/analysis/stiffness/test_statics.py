"""Equilibria: balanced, least in energy, reached by the moving machine, refused where none is."""

import pickle

import numpy as np
import pytest
from net_wrench import net_wrench
from numpy.testing import assert_array_equal
from refusals import refused
from tolerance import assert_within, max_abs

import twin
from twin.analysis.payload.body import Payload, with_payload
from twin.analysis.stiffness import (
    EquilibriumError,
    characteristic_scale,
    commanded_coordinates,
    rest_length_forces,
    springs_of,
    static_pose,
    weight_wrench,
    with_gravity,
)
from twin.motion import StepMotion
from twin.rotations import displacement


def distance(sprung, pose, reference):
    """Return how far poses are from others, in parts of the platform's radius and [rad]."""
    scale = characteristic_scale(sprung.platform)
    return float(max_abs(displacement(pose, reference) / scale))


def test_without_gravity_the_commanded_pose_is_reached(sprung):
    machine = with_gravity(sprung.platform, 0.0)
    coordinates = machine.inverse_kinematics(sprung.pose)
    for guess in (None, machine.home):
        found = static_pose(machine, coordinates, guess=guess, **sprung.given)
        assert distance(sprung, found, sprung.pose) < 1e-12


def test_nothing_pushes_in_equilibrium(sprung):
    coordinates = sprung.platform.inverse_kinematics(sprung.pose)
    load = np.array([10.0, -20.0, 30.0, 1.0, 2.0, -1.0])
    forces = np.linspace(-10.0, 10.0, sprung.platform.n_actuators)
    found = static_pose(sprung.platform, coordinates, forces=forces, wrench=load, **sprung.given)
    left = net_wrench(
        sprung.platform, found, coordinates, forces=forces, wrench=load, **sprung.given
    )
    springs = springs_of(sprung.platform, sprung.stiffness)
    # Rounding of a coordinate times the stiffness of the legs together.
    rounding = 1e-14 * max_abs(coordinates) * springs.stiffness.sum()
    assert max_abs(left / characteristic_scale(sprung.platform)[[3, 3, 3, 0, 0, 0]]) < rounding
    assert distance(sprung, found, sprung.pose) > 1e-7


def test_batches_are_single_answers(sprung):
    coordinates = sprung.platform.inverse_kinematics(sprung.pose)[:4].reshape(2, 2, -1)
    found = static_pose(sprung.platform, coordinates, **sprung.given)
    assert found.shape == (2, 2, 7)
    one = static_pose(sprung.platform, coordinates[1, 0], **sprung.given)
    assert_array_equal(found[1, 0], one)


@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_the_moving_machine_settles_in_the_equilibrium(gravity):
    machine = with_gravity(twin.load("micro_hexapod"), gravity)
    motion = StepMotion(
        machine.home,
        displacement=[0.01, 0.02, 0.03, 0.1, 0.2, 0.05],
        rise=0.1,
        duration=1.0,
        convention="fixed_xyz",
    )
    pose = motion(np.arange(1000) * 1e-3 + 5e-4).pose
    forces = rest_length_forces(machine, machine.inverse_kinematics(pose))
    end = machine.simulate(1.0, forces=forces).pose[-1]
    expected = static_pose(machine, machine.inverse_kinematics(pose[-1]))
    assert_within(displacement(end, expected), 0.0, 1e-10)
    sagged = max_abs(displacement(end, pose[-1]))
    assert sagged < 1e-10 if gravity == 0.0 else sagged > 1e-6


def test_overload_is_an_error(stewart):
    with pytest.raises(EquilibriumError, match=r"no equilibrium|unstable") as error:
        static_pose(stewart, stiffness=500.0)
    assert set(error.value.data) == {"index", "pose", "net_wrench"}
    again = pickle.loads(pickle.dumps(error.value))
    assert str(again) == str(error.value)


def test_a_balanced_but_unstable_pose_is_refused(srspm):
    """A mass high above soft legs stands upright in balance, like a pendulum on its head."""
    top_heavy = with_payload(srspm, Payload(100.0, [0.0, 0.0, 5.0]))
    coordinates = commanded_coordinates(top_heavy, top_heavy.home, stiffness=5e3)
    assert np.abs(weight_wrench(top_heavy, top_heavy.home)[2]) > 900.0
    left = net_wrench(top_heavy, top_heavy.home, coordinates, stiffness=5e3)
    assert_within(left, 0.0, 1e-8)
    with pytest.raises(EquilibriumError, match="unstable"):
        static_pose(top_heavy, coordinates, stiffness=5e3, guess=top_heavy.home)
    stiff = commanded_coordinates(top_heavy, top_heavy.home, stiffness=5e5)
    static_pose(top_heavy, stiff, stiffness=5e5, guess=top_heavy.home)


def test_bad_arguments(stewart):
    for bad in ({"forces": [1.0]}, {"wrench": np.nan}, {"guess": [1.0]}, {"coordinates": "long"}):
        with refused():
            static_pose(stewart, stiffness=1e5, **bad)
