"""Homing the thesis' machine with its drives, brakes, encoders and switches."""

import numpy as np
import pytest
from refusals import refused
from tolerance import assert_within

import twin
from twin.control.homing import HomingController
from twin.errors import ControlError
from twin.plant.encoder import machine_encoders
from twin.plant.plant import Plant
from twin.plant.signals import Measurement

SEED = 5
COUNT = 5.08e-3 / 4096


@pytest.fixture(scope="module")
def hardware():
    return twin.load("stewart", "hardware")


def retracted(machine):
    """Return a pose near the lower switches, every leg at another length."""
    return machine.forward_kinematics(
        machine.minimum_coordinates + np.array([3, 1, 5, 2, 4, 3]) * 1e-3
    )


def homing(machine, **options):
    """Return the controller that knows where this plant's index pulses lie."""
    return HomingController(machine, machine_encoders(machine, SEED).index_coordinates, **options)


def test_the_machine_comes_home(hardware):
    controller = homing(hardware)
    run = twin.simulate(
        hardware, 3.6, retracted(hardware), timestep=5e-4, fidelity="fast",
        controller=controller, plant=Plant(hardware, seed=SEED),
    )  # fmt: skip
    assert run.stopped == ""
    assert controller.ready
    homed, measured = run.signals["homed_coordinates"][-1], run.signals["measured"][-1]
    # Both are of the motor: one from counts since the index, one a rounded true coordinate.
    assert_within(homed, measured, 1.001 * COUNT)
    assert_within(run.pose[-1], hardware.home, 3e-4)
    assert run.lengths.min() > hardware.minimum_coordinates.min() - 1e-3
    phases = run.signals["homing_phase"]
    assert (np.diff(phases, axis=0) >= 0.0).all()
    assert (phases[0] == 0.0).all()
    assert (phases[-1] == 5.0).all()


def test_a_lost_reference_ends_in_a_safe_stop(hardware):
    controller = homing(hardware, stall_time=1e-2, release_time=1e-2)
    run = twin.simulate(
        hardware, 1.0, retracted(hardware), timestep=5e-4, fidelity="fast",
        controller=controller, plant=Plant(hardware, seed=SEED),
    )  # fmt: skip
    # Within 10 ms, behind a delay of 2 ms, nothing has moved a quarter of its way.
    assert "does not move" in run.stopped
    assert run.time[-1] < 1.0
    assert np.isfinite(run.pose).all()


def test_machines_that_cannot_be_homed_are_refused(hardware):
    with refused("encoder"):
        HomingController(twin.load("stewart"))
    with refused("options"):
        HomingController(hardware, stall=1.0)
    blind = Measurement(0.0, np.zeros(6), np.zeros(6), np.zeros(6))
    with pytest.raises(ControlError, match="raw counts"):
        homing(hardware).update(0, blind)
