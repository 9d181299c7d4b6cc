"""Sharing of the load: internal forces decay, and the motion does not feel the law."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from random_machines import random_machine
from redundant import redundant_machine
from tolerance import assert_within

import twin
from twin.control import make_controller
from twin.control.cascade import (
    INTERNAL_FORCE_DROOP,
    LoadSharing,
    internal_forces,
    needs_load_sharing,
)
from twin.motion import SineMotion, StepMotion
from twin.plant.signals import Measurement

pytestmark = pytest.mark.quick


def redundant(name):
    return redundant_machine(8) if name == "eight legs" else twin.load(name)


@pytest.mark.parametrize("name", ["driving_simulator", "eight legs"])
def test_internal_forces_move_nothing(name):
    machine = redundant(name)
    rest = np.zeros(6)
    pose = machine.constrain(np.add(machine.home, [0.0, 0.0, 0.02, 0.0, 0.0, 0.0, 0.0])).pose
    held = machine.inverse_dynamics(pose, rest, rest)
    [internal] = internal_forces(machine, pose[None])
    assert internal.shape == (machine.n_actuators, machine.n_actuators - machine.dof)
    assert_within(internal.T @ internal, np.eye(internal.shape[1]), 1e-12)
    for column in internal.T:
        moved = machine.forward_dynamics(pose, rest, held + 100.0 * column)
        assert_within(moved, 0.0, 1e-9)
    # The forces of the inverse dynamics are the smallest: they have no internal part.
    assert_within(internal.T @ held, 0.0, 1e-9)


def test_law_takes_out_what_no_motion_can_mend_and_nothing_else():
    machine = redundant("driving_simulator")
    reference = make_controller("cascade", machine).reference
    gain = np.full(4, 2e4)
    law = LoadSharing(machine, reference, gain)
    [internal] = internal_forces(machine, reference.pose[:1])
    twist = machine.constrain(machine.home, [0.0, 0.0, 0.01, 0.02, -0.03, 0.0]).twist
    change = machine.jacobian(machine.home) @ twist
    assert_within(law.consistent(0, change + internal[:, 0]), change, 1e-12)
    speeds = law.yielding_speeds(0, 300.0 * internal[:, 0])
    assert_allclose(speeds, -INTERNAL_FORCE_DROOP / gain * 300.0 * internal[:, 0], rtol=1e-12)


def test_legs_at_rest_carry_the_same_in_mujoco(subtests):
    for name in ["cascade", "observer", "feedforward"]:
        with subtests.test(f"{name}"):
            machine = redundant("driving_simulator")
            run = machine.simulate(
                1.0, controller=make_controller(name, machine), engine="mujoco", timestep=1e-3
            )
            assert np.ptp(run.forces[-200:]) < 1.0


def test_wrong_readings_let_no_integral_grow():
    machine = redundant("driving_simulator")
    controller = make_controller("cascade", machine)
    [internal] = internal_forces(machine, machine.home[None])
    coordinates = machine.inverse_kinematics(machine.home) + 1e-4 * internal[:, 0]
    reading = Measurement(0.0, coordinates, np.zeros(4), np.full(4, 642.6))
    controller.start(reading)
    speeds = [controller.update(step, reading).values for step in range(500)]
    assert_within(speeds, 0.0, 1e-12)


def test_a_pose_out_of_reach_ends_in_a_safe_stop(subtests):
    """Cranks have no Jacobian there, and so no internal forces."""
    for name in ["cascade", "observer", "feedforward"]:
        with subtests.test(f"{name}"):
            machine = random_machine(7)
            assert machine.n_actuators == 8
            far = 3.0 * float(machine.home_reaches.max())
            leap = StepMotion(
                machine.home, displacement={"z": far}, start=0.05, rise=0.0, duration=0.3
            )
            run = machine.simulate(0.3, controller=make_controller(name, machine, leap))
            assert "unreachable pose" in run.stopped
            assert np.isfinite(run.pose).all()


@pytest.mark.parametrize("name", ["stewart", "compliant_stewart", "micro_hexapod", "rss"])
def test_other_machines_have_no_law(name):
    assert not needs_load_sharing(twin.load(name))


def test_motion_does_not_feel_the_law(monkeypatch):
    machine = redundant("driving_simulator")
    size = {"z": 0.02, "roll": 0.02, "pitch": 0.02}
    course = SineMotion(machine.home, amplitude=size, frequency=1.0, duration=1.0)

    def poses():
        return machine.simulate(1.0, controller=make_controller("cascade", machine, course)).pose

    shared = poses()
    # No option switches it off.
    monkeypatch.setattr("twin.control.cascade.needs_load_sharing", lambda _: False)
    assert_within(shared, poses(), 2e-6)
