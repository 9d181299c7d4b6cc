"""The linear stage: known truths come back from forces of the inverse dynamics."""

from dataclasses import replace

import numpy as np
import pytest
from recorded_motion import drive_forces
from refusals import refused
from tolerance import max_abs

import twin
from twin.identification.linear import (
    ForceSamples,
    linear_estimate,
    linear_model,
    linear_part,
    samples_of_log,
)
from twin.identification.parameters import gravity_field, select, with_parameters
from twin.logs import Channel, Log
from twin.motion import MultiSineMotion

pytestmark = pytest.mark.quick

COUNT = 40


def other_values(parameters):
    """Return values within the spreads that a body can have: moments differ by little."""
    found = []
    for number, each in enumerate(parameters):
        # A thin plate has the largest moment about its normal that a body can have.
        sign = -1.0 if number % 2 or each.path.endswith("inertia.2.2") else 1.0
        share = 0.02 if "inertia" in each.path else 0.5
        found.append(each.nominal + sign * share * each.prior_std)
    return np.array(found)


def samples_of(platform, states):
    """Return states of a machine with the forces of its inverse dynamics."""
    pose, twist, acceleration, inside = (
        part[:COUNT] for part in (states.pose, states.twist, states.acceleration, states.deflection)
    )
    forces = platform.inverse_dynamics(pose, twist, acceleration, deflection=inside)
    return ForceSamples(pose, twist, acceleration, forces, deflection=inside)


@pytest.mark.slow
def test_forces_are_linear_and_the_truth_comes_back(platform, states):
    # The rods of one machine are so slender that hardly another tensor is possible.
    groups = "payload" if platform.name == "tripod" else "payload, legs"
    chosen = linear_part(platform, select(platform, groups))
    truth = other_values(chosen)
    samples = samples_of(with_parameters(platform, chosen, truth), states)
    found = linear_estimate(platform, chosen, samples)
    size = max_abs(samples.forces)
    assert max_abs(found.model.predicted(truth) - found.model.measured) < 1e-10 * size
    assert found.residual.max() < 1e-8 * size
    assert found.nominal_residual.max() > 1e-4 * size
    with_parameters(platform, chosen, found.values)
    spreads = np.array([each.prior_std for each in chosen])
    hidden = found.visibility.unobservable_directions
    assert hidden or max_abs((found.values - truth) / spreads) < 1e-8


@pytest.mark.every_kind
def test_the_payload_alone_comes_back(platform, states):
    chosen = select(platform, "payload")
    truth = other_values(chosen)
    samples = samples_of(with_parameters(platform, chosen, truth), states)
    found = linear_estimate(platform, chosen, samples, choice="refuse")
    spreads = np.array([each.prior_std for each in chosen])
    # Springs of 20 N/um have forces beside which those of a payload are small: rounding counts.
    allowed = 1e-7 if platform.leg.has_axial_spring else 1e-8
    assert max_abs((found.values - truth) / spreads) < allowed
    assert found.decision.fixed == ()


@pytest.fixture(scope="module")
def motion():
    size = {"x": 0.02, "y": 0.02, "z": 0.015, "yaw": 0.04, "pitch": 0.04, "roll": 0.04}
    return MultiSineMotion(
        twin.load("stewart").home,
        frequencies=[0.4, 0.9, 1.4],
        amplitude=size,
        duration=6.0,
        seed=1,
        phases="random",
        fade_in=1.0,
        fade_out=1.0,
    )


def test_tilt_friction_and_scale_come_back_from_forces_of_motors(motion):
    machine = twin.load("stewart", "hardware")
    names = "payload, gravity, friction, leg.drive.armature_inertia, signal.forces.scale"
    chosen = linear_part(machine, select(machine, names), "motors")
    # Speeds over which friction falls belong to the nonlinear stage.
    assert {each.path for each in select(machine, names)} - {each.path for each in chosen} == {
        "leg.drive.breakaway",
        "leg.drive.stribeck_speed",
    }
    truth = other_values(chosen)
    other = with_parameters(machine, chosen, truth)
    sample = motion(np.arange(0.0, 6.0, 0.02))
    state = sample[:3]
    field = gravity_field(machine, chosen, truth)
    field[2] += machine.parameters.gravity
    slopes = other.inverse_dynamics_derivatives(*state).gravity
    forces = other.inverse_dynamics(*state) + slopes @ field + drive_forces(other, *state)
    scale = truth[[each.path for each in chosen].index("signal.forces.scale")]
    found = linear_estimate(machine, chosen, ForceSamples(*state, scale * forces, "motors"))
    spreads = np.array([each.prior_std for each in chosen])
    assert max_abs((found.values - truth) / spreads) < 1e-6


def random_state(machine, generator):
    """Return poses about home, twists and accelerations, one row each."""
    coordinates = machine.home_coordinates + 0.1 * generator.uniform(-1.0, 1.0, (COUNT, 6))
    return machine.forward_kinematics(coordinates), *generator.normal(size=(2, COUNT, 6))


@pytest.mark.seconds
def test_estimates_are_bodies_that_can_exist():
    machine = twin.load("rss")
    chosen = select(machine, "payload")
    generator = np.random.default_rng(2)
    state = random_state(machine, generator)
    forces = machine.inverse_dynamics(*state)
    forces = forces + generator.normal(scale=20.0, size=forces.shape)
    found = linear_estimate(machine, chosen, ForceSamples(*state, forces))
    tensor = with_parameters(machine, chosen, found.values).parameters.platform.body.inertia_tensor
    moments = np.linalg.eigvalsh(tensor)
    assert moments[0] + moments[1] > moments[2]
    # Free of the border it would be no body.
    model = found.model
    mass, *moment, xx, _, _, yy, _, zz = np.linalg.lstsq(
        model.matrix[:, :10], model.measured - model.matrix[:, 10], None
    )[0]
    center = np.array(moment) / mass
    assert xx + yy - zz < 2.0 * mass * center[2] ** 2


def test_a_plate_without_thickness_has_a_regressor():
    machine = twin.load("sg90_servo")
    chosen = select(machine, "platform.body.mass, platform.body.center_of_mass.*")
    truth = other_values(chosen)
    state = random_state(machine, np.random.default_rng(2))
    forces = with_parameters(machine, chosen, truth).inverse_dynamics(*state)
    found = linear_estimate(machine, chosen, ForceSamples(*state, forces))
    spreads = np.array([each.prior_std for each in chosen])
    assert max_abs((found.values - truth) / spreads) < 1e-8


def test_wrong_input_is_refused(motion):
    machine = twin.load("stewart", "hardware")
    sample = motion(np.linspace(0.0, 6.0, 20))
    forces = machine.inverse_dynamics(*sample)
    samples = ForceSamples(*sample, forces)
    with refused(r"leg.drive.delay from forces of legs"):
        linear_model(machine, select(machine, "leg.drive.delay, payload"), samples)
    with refused("cannot estimate nothing"):
        linear_estimate(machine, select(machine, "leg.drive.delay"), samples)
    with refused("6 columns"):
        linear_estimate(machine, select(machine, "payload"), replace(samples, forces=forces[:, :5]))
    with refused("needs one of coordinates"):
        samples_of_log(machine, Log((Channel("forces", [0.0, 1.0], forces[:2], "N"),)))
