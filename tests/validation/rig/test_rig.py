"""The second plant obeys the laws of mechanics, agrees with the product, and shows its switches."""

import numpy as np
import pytest
from refusals import refused
from tolerance import assert_within, max_abs

import twin
from twin.identification.parameters import nominal_array, select
from twin.identification.prediction.problem import PredictionProblem
from twin.identification.prediction.recording import recording_of
from twin.motion.profiles import MultiSineMotion
from twin.validation.rig import FORCE_PER_CURRENT, Conditions, Fault, record

SECONDS = 2.0


@pytest.fixture(scope="module")
def machine():
    return twin.load("stewart", configuration="hardware")


@pytest.fixture(scope="module")
def motion(machine):
    size = {"x": 4e-3, "y": 4e-3, "z": 2e-3, "roll": 0.01, "pitch": 0.01}
    return MultiSineMotion(
        machine.home,
        frequencies=[1.0, 2.5],
        amplitude=size,
        duration=SECONDS,
        phases="random",
        fade_in=0.3,
        fade_out=0.3,
    )


@pytest.fixture(scope="module")
def clean(machine, motion):
    return record(machine, motion, forces="motor")


@pytest.mark.parametrize("mode", ["force", "velocity"])
def test_the_product_predicts_a_clean_machine(machine, motion, mode):
    """Two codes of drives that share nothing agree to a few counts of the encoders."""
    log = record(machine, motion, mode=mode)
    parameters = select(machine, "platform.body.mass, leg.drive.friction_torque")
    problem = PredictionProblem(machine, recording_of(log, machine), parameters)
    values = np.vstack([nominal_array(parameters), 1.2 * nominal_array(parameters)])
    right, wrong = np.sqrt((problem.errors(values) ** 2).mean(axis=(1, 2)))
    assert right < (5.0 if mode == "force" else 20.0)
    assert wrong > 1.2 * right


def test_the_motors_carry_the_weight(machine, clean):
    """The first forces, at rest, balance gravity."""
    expected = machine.inverse_dynamics(machine.home, np.zeros(6), np.zeros(6))
    assert np.allclose(clean["motor_forces"].values[0], expected, rtol=1e-9)


@pytest.mark.parametrize(
    "conditions",
    [
        Conditions(friction_law="linear"),
        Conditions(friction_law="lugre"),
        Conditions(load_friction=0.1),
        Conditions(warming_drop=0.3, warming_time=1.0),
        Conditions(cable_force=(30.0, 0.0, 0.0)),
        Conditions(cable_stiffness=2000.0),
        Conditions(swinging_mass=15.0),
        Conditions(base_frequency=15.0),
        Conditions(lead_errors=(1e-3, 0.0, 0.0, 0.0, 0.0, 0.0)),
        Conditions(motor_constants=(0.9, 1.0, 1.0, 1.0, 1.0, 1.0)),
        Conditions(encoder_noise=1e-6),
        Conditions(faults=(Fault("friction", 0.5, 2.0, leg=-1),)),
        Conditions(faults=(Fault("slip", 0.5, 2e-4),)),
        Conditions(faults=(Fault("lost_mass", 0.5, 20.0),)),
        Conditions(faults=(Fault("weak_motor", 0.5, 0.8),)),
        Conditions(faults=(Fault("frozen_encoder", 0.5),)),
    ],
    ids=repr,
)
def test_each_switch_changes_the_motion(machine, motion, clean, conditions):
    log = record(machine, motion, conditions)
    change = np.abs(log["command_forces"].values - clean["command_forces"].values)
    begin = max((fault.begin for fault in conditions.faults), default=0.0)
    assert (change[log["measured"].time < begin] == 0.0).all()
    assert change.max() > 5.0


def test_a_smaller_step_gives_the_same_motion(machine, motion, clean):
    log = record(machine, motion, step=2.5e-5)
    assert_within(log["measured"].values, clean["measured"].values, 5e-6)


def test_currents_have_bias_and_steps(machine, motion):
    bias = (10.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    exact = record(machine, motion, forces="motor")["motor_forces"].values
    log = record(
        machine, motion, Conditions(current_bias=bias, current_resolution=3.0), forces="current"
    )
    forces = FORCE_PER_CURRENT * log["currents"].values
    assert np.allclose(forces / 3.0, np.round(forces / 3.0), atol=1e-6)
    assert max_abs(forces - exact - bias) <= 1.5 + 1e-6


def test_clock_gaps_and_tracker(machine, motion, clean):
    conditions = Conditions(jitter=1e-4, gaps=((0.5, 0.2),), tracker_rate=60.0, tracker_delay=12e-3)
    log = record(machine, motion, conditions)
    time, pose = log["measured"].time, log["pose"]
    assert (np.diff(time) >= 0.0).all() and np.diff(time).max() > 0.19
    assert len(time) == len(clean["measured"].time) - 200
    assert np.allclose(np.diff(pose.time), 1.0 / 60.0)
    seen = pose.time - 12e-3
    coordinates = machine.inverse_kinematics(pose.values)
    play = clean["measured"].values[0] - coordinates[0]
    expected = clean["measured"].at(np.maximum(seen, 0.0)) - play
    # The backlash of 0.1 mm is between motor and platform.
    assert_within(coordinates, expected, 3e-4)


def test_a_machine_without_drives_is_refused(motion):
    with refused("needs drives"):
        record(twin.load("stewart"), motion)


def test_a_list_of_another_length_is_refused(machine, motion):
    with refused("6 entries"):
        record(machine, motion, Conditions(lead_errors=(1e-3,)))
