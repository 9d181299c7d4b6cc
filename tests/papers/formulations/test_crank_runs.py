"""The 6-RSS machine by every formulation: inverse dynamics, and the published program's fall."""

import numpy as np
import pytest
from paths import poses_within_limits
from refusals import refused
from tolerance import assert_within, max_abs
from unsymmetric import machine_without_symmetry

import twin
from twin.analysis.platform import Platform
from twin.errors import SingularPoseError
from twin.papers.formulations import Formulation
from twin.papers.formulations.model import extended_joints

TOP = np.array([0.0, 0.0, 1.1, 1.0, 0.0, 0.0, 0.0])
"""Level at the height from which the published program lets the machine fall."""


@pytest.fixture(scope="module", params=["rss", "lopsided"])
def machine(request):
    """The 6-RSS machine, and one without symmetry."""
    if request.param == "lopsided":
        return Platform(machine_without_symmetry("rss"))
    return twin.load("rss")


@pytest.mark.slow
def test_inverse_dynamics_is_that_of_the_reference(machine):
    random = np.random.default_rng(3)
    poses = poses_within_limits(machine, 20, 4)
    twists, seconds = random.normal(size=(2, 20, 6))
    forces = machine.inverse_dynamics(poses, twists, seconds)
    joints = extended_joints(machine, machine.leg_coordinates(poses, twists, seconds).accelerations)
    by_actuators = Formulation(machine, "extended_to_actuator")
    found = by_actuators.generalised_forces(poses, twists, joints[..., 2])
    assert_within(found, forces, 1e-11 * max_abs(forces))
    wrench = Formulation(machine, "extended_to_task").generalised_forces(poses, twists, seconds)
    expected = np.einsum("kij,ki->kj", machine.jacobian(poses), forces)
    assert_within(wrench, expected, 1e-11 * max_abs(expected))


def test_inverse_dynamics_refuses():
    machine = twin.load("rss")
    rest = np.zeros((1, 6))
    with refused("formulation"):
        Formulation(machine, "task").generalised_forces(TOP, rest, rest)
    formulation = Formulation(machine, "extended_to_actuator")
    with refused("twist"):
        formulation.generalised_forces(TOP, rest[0], rest)
    beyond = [0.0, 0.0, 3.0, *TOP[3:]]
    with pytest.raises(SingularPoseError) as caught:
        formulation.generalised_forces([TOP, beyond], [*rest, *rest], [*rest, *rest])
    assert caught.value.data["index"] == 1
