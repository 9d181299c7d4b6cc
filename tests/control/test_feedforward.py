"""Feedforward of inverse dynamics: exact where the model is, advanced by the delay, bumpless."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from short_runs import actuator_error, driven, sine
from tolerance import assert_within, max_abs

import twin
from twin.control.computed_torque import InverseDynamicsFeedforward, advanced, feedforward_table
from twin.control.controller import sample_reference
from twin.control.gains import drive_model
from twin.motion import StepMotion


def test_table_is_what_the_model_says():
    platform = twin.load("stewart", "hardware")
    reference = sample_reference(platform, sine(platform))
    drives = drive_model(platform)
    table = feedforward_table(platform, reference, drives, preview=False, friction=False)
    motion = (reference.pose, reference.twist, reference.acceleration)
    legs = platform.inverse_dynamics(*motion)
    assert_array_equal(table.leg_forces, legs)
    # Legs lag their motors by play and wind-up; all legs carry weight here.
    lead = table.coordinates - reference.coordinates
    assert_within(lead, 5e-5 + legs / 20e6, 1e-9)
    # The motor's acceleration differs from the leg's by the wind-up's.
    difference = table.forces - legs - drives.inertia * reference.accelerations
    wound = drives.inertia * np.gradient(np.gradient(legs / 20e6, 1e-3, axis=0), 1e-3, axis=0)
    assert_within(difference, wound, 1e-6)


def test_friction_of_the_model_opposes_motion_and_grows_with_speed():
    drives = drive_model(twin.load("stewart", "hardware"))
    rates = np.linspace(-0.2, 0.2, 401)[:, None] * np.ones(6)
    force = drives.friction_force(rates)
    assert_within(force, -force[::-1], 1e-9)
    assert (force * rates >= 0.0).all()
    fast = drives.friction_force(np.full(6, 0.1))
    assert_allclose(fast, drives.friction + 0.1 * drives.viscous, rtol=1e-9)
    slow = drives.friction_force(np.full(6, 5e-4))
    assert (slow > fast - 0.1 * drives.viscous).all(), "Stribeck"
    ideal = drive_model(twin.load("stewart"))
    assert not ideal.friction_force(rates).any()
    assert not ideal.wind_up(np.full(6, 1e3)).any()


def test_looking_ahead_is_exact_for_parabolas_and_holds_the_end(subtests):
    for lead in [0.0, 0.25, 1.0, 2.5]:
        with subtests.test(f"{lead}"):
            time = np.arange(50.0)
            rows = np.column_stack([0.3 * time**2 - time, time, np.ones(50)])
            later = time + lead
            exact = np.column_stack([0.3 * later**2 - later, later, np.ones(50)])
            found = advanced(rows, lead)
            assert_within(found[1:46], exact[1:46], 1e-10)
            assert_array_equal(found[-1], rows[-1])


def test_looking_ahead_is_what_the_delay_needs():
    platform = twin.load("stewart", "hardware")
    motion = sine(platform)
    errors = []
    for preview in (True, False):
        controller = InverseDynamicsFeedforward(platform, motion, preview=preview)
        errors.append(actuator_error(driven(platform, controller), controller))
    assert errors[0] < 0.1 * errors[1]


def test_nothing_jumps_at_the_start_with_drives():
    platform = twin.load("stewart", "hardware")
    run = driven(platform, InverseDynamicsFeedforward(platform), 0.05)
    assert max_abs(run.lengths - platform.home_coordinates) < 2e-6
    assert max_abs(run.signals["feedforward"]) < 1e-6


def test_prior_and_true_parameters_are_kept_apart():
    platform, model = twin.load("stewart", "hardware"), twin.load("stewart")
    motion = sine(platform)
    controller = InverseDynamicsFeedforward(platform, motion, model=model)
    ours = InverseDynamicsFeedforward(platform, motion)
    assert controller.model is model
    assert controller.platform is platform
    assert max_abs(controller.table.forces) < 0.5 * max_abs(ours.table.forces)


def test_machines_with_springs_inside_their_legs_are_refused(stewart):
    with refused("springs"):
        InverseDynamicsFeedforward(twin.load("compliant_stewart"))
    for options in ({"preview": 1}, {"friction": None}, {"velocity_gain": -1.0}):
        with refused():
            InverseDynamicsFeedforward(stewart, **options)
    with refused("same kind"):
        InverseDynamicsFeedforward(stewart, model=twin.load("rss"))


@pytest.mark.parametrize("name", ["stewart", "rss"])
def test_a_motion_wholly_out_of_reach_is_stopped_at_once(name):
    platform = twin.load(name)
    center = platform.home.copy()
    center[2] += 3.0 * float(platform.home_reaches.max())
    motion = StepMotion(center, displacement={"z": 0.01}, rise=0.1, duration=0.2)
    run = platform.simulate(0.05, controller=InverseDynamicsFeedforward(platform, motion))
    assert run.stopped.startswith("unreachable pose: the reference at 0 s")
