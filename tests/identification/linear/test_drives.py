"""Drives between motors and legs: what the linear stage makes of numbers that nobody asked for."""

from dataclasses import replace

import numpy as np
import pytest
from recorded_motion import AXES, drive_forces, emulated, nominal, part, sines
from tolerance import assert_within

import twin
from twin.control import make_controller
from twin.identification.linear import (
    ForceSamples,
    linear_estimate,
    of_drives,
    samples_of_log,
)
from twin.identification.parameters import select
from twin.identification.result.identify import identify
from twin.logs import log_of
from twin.machine.randomisation.sampler import nominal_value

pytestmark = pytest.mark.quick


FREQUENCIES = np.array([0.4, 0.9, 1.7, 2.9])
EARLY = 2.5e-4
"""[s] by which simulated forces are early: they are those of the next step."""

UNKNOWN = (
    "leg.*.drive.friction_torque, leg.*.drive.viscous_torque, leg.*.drive.armature_inertia, "
    "leg.*.drive.backlash, leg.*.drive.stiffness"
)


def shaken(machine, speed, duration, seed):
    """Return a motion with sines of this speed [m/s, rad/s] on all axes."""
    speeds = dict.fromkeys(AXES, speed)
    return sines(machine, speeds, duration, frequencies=FREQUENCIES, fade_in=0.5, seed=seed)


@pytest.mark.slow
def test_intervals_of_the_payload_hold_with_unknown_drives():
    """Friction, inertia, play and stiffness of each drive are away from the file by their spreads.

    The inertia of a motor is seen 719 kg at its leg, so 10 % of it outweigh the payload. Forces
    have an unknown bias at each leg, so that the mass follows from accelerations alone, and unknown
    constants, without which the mass would be known to 0.6 kg.
    """
    file, inside, scores = nominal(), [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        drawn = {
            each.path: each.nominal
            + each.prior_std * float(np.clip(rng.standard_normal(), -1.5, 1.5))
            for each in select(file, UNKNOWN)
        }
        truth = {"platform.body.mass": 103.0, "platform.body.center_of_mass.2": 0.01}
        hidden = file.with_(parameters=drawn | truth)
        log = emulated(file, hidden, shaken(file, 0.08, 6.0, seed), seed)
        given = part(log, "coordinates", "motor_forces")
        found = identify(file, [given], "payload", if_unobservable="prior")
        assert [each.path for each in found.parameters] == [
            each.path for each in select(file, "payload")
        ]
        known = [nominal_value(hidden.parameters, each.path) for each in found.parameters]
        error = found.values - known
        inside.append(np.abs(error) < found.margins * found.standard_errors)
        scores.append(error / found.standard_errors)
        assert abs(error[0]) < 1.0
        assert found.standard_errors[0] < 0.8
    assert np.mean(inside) >= 0.9
    assert np.sqrt(np.mean(np.square(scores)[:, :4])) < 2.0


def test_drives_that_are_asked_for_are_not_added_again():
    machine = nominal()
    assert of_drives(machine, (), "legs") == ()
    fields = {each.path.rpartition(".")[2] for each in of_drives(machine, (), "motors")}
    assert fields == {"friction_torque", "viscous_torque", "armature_inertia"}
    asked = select(machine, "payload, leg.drive.friction_torque")
    found = of_drives(machine, asked, "motors")
    assert len(found) == 12
    assert not any(each.path.endswith("friction_torque") for each in found)


def test_constants_and_biases_of_motors_come_back_with_the_payload():
    """Forces that drives believe in are those of their motors over the constants, and biased."""
    machine, random = nominal(), np.random.default_rng(3)
    hidden = machine.with_(parameters={"platform.body.mass": 103.0})
    pose = machine.home + np.hstack([random.normal(size=(60, 3)) * 0.02, np.zeros((60, 4))])
    twist, acceleration = random.normal(size=(2, 60, 6))
    state = (pose, twist, acceleration)
    forces = hidden.inverse_dynamics(*state) + drive_forces(machine, *state)
    constants, bias = np.array([1.03, 0.97, 1.0, 0.98, 1.02, 1.0]), 5.0 * random.normal(size=6)
    samples = ForceSamples(*state, forces / constants + bias, "motors")
    names = "platform.body.mass, motor_constants, signal.forces.bias.*"
    weak = [replace(each, prior_std=1e4 * each.prior_std) for each in select(machine, names)]
    found = linear_estimate(machine, weak, samples)
    expected = [103.0, *constants[:5], *bias]
    assert_within(found.values, expected, 1e-4)
    others = select(machine, "platform.body.mass, signal.forces.bias.*")
    assert abs(linear_estimate(machine, others, samples).values[0] - 103.0) > 0.2


@pytest.mark.slow
def test_springy_transmissions_with_dampers_are_no_delay_of_the_forces():
    """Their deflection is 8 ms behind the force in the cranks of `rss`."""
    machine = twin.load("rss", "hardware")
    law = make_controller("computed_torque", machine, shaken(machine, 0.05, 3.0, 0))
    run = machine.simulate(3.0, controller=law, timestep=5e-4)
    log = log_of(run)
    kept = part(log, "measured", "forces")
    parameters = select(machine, "platform.body.mass, signal.forces.delay")
    found = linear_estimate(machine, parameters, samples_of_log(machine, kept))
    assert abs(found.values[0] - parameters[0].nominal) < 1e-3 * parameters[0].nominal
    assert abs(found.values[1] + EARLY) < 2e-4
