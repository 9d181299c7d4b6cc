"""Local laws: closed forms of one leg, stability for all gains, linear against nonlinear."""

import numpy as np
import pytest
from refusals import refused
from tolerance import assert_within

import twin
from twin.analysis.stiffness import with_gravity
from twin.control.active_damping import (
    DirectVelocityFeedback,
    HacLac,
    IntegralForceFeedback,
    best_gain,
    closed_loop,
    smallest_damping,
)
from twin.control.active_damping.closed_loop import (
    continuous_force_feedback,
    continuous_velocity_feedback,
    force_feedback,
    velocity_feedback,
)
from twin.control.active_damping.local import ForceSensor
from twin.control.linear import linearise, rest_at
from twin.control.linear.machine import spring_constants
from twin.model.machine_base import ZERO_VECTOR
from twin.plant.signals import Measurement

SPRUNG = ("compliant_stewart", "micro_hexapod")

LAWS = {"iff": IntegralForceFeedback, "dvf": DirectVelocityFeedback}


@pytest.fixture(scope="module")
def hexapod():
    return linearise(with_gravity(twin.load("micro_hexapod"), 0.0))


def test_one_mode_of_the_hexapod_is_the_closed_form(hexapod):
    """Without gravity, leak and damper all modes are s^2 + g s + w^2: critical at g = 2 w."""
    content = hexapod.platform.parameters.model_dump()
    content["leg"]["axial"]["damping"] = 0.0
    platform = twin.Platform(type(hexapod.platform.parameters).model_validate(content))
    linear = linearise(platform)
    omega = np.unique(np.round(np.abs(linear.system("forces", "rates").poles), 6))
    gain = 0.7 * omega[0]
    found = closed_loop(linear, continuous_force_feedback(platform, gain)).poles
    swinging = found[found.imag > 1.0]
    for pole in swinging:
        size = np.abs(omega - np.abs(pole)).min()
        assert size < 1e-3 * np.abs(pole)
        assert -pole.real / np.abs(pole) == pytest.approx(0.5 * gain / np.abs(pole), rel=1e-5)


def test_sampled_feedback_tends_to_the_continuous(subtests, hexapod):
    platform = hexapod.platform
    laws = {
        "force": (
            continuous_force_feedback(platform, 800.0, leak=40.0),
            lambda period: force_feedback(platform, 800.0, period, leak=40.0),
        ),
        "velocity": (
            continuous_velocity_feedback(platform, 3e4, stiffness=5e6),
            lambda period: velocity_feedback(platform, 3e4, period, stiffness=5e6),
        ),
    }
    for name, (continuous, sampled) in laws.items():
        wanted = smallest_damping(closed_loop(hexapod, continuous).rates)
        errors = [
            abs(smallest_damping(closed_loop(hexapod, sampled(period)).rates) - wanted)
            for period in (2e-5, 1e-5)
        ]
        with subtests.test(name):
            assert errors[1] < 0.6 * errors[0] < 0.06 * wanted


def test_best_gain_is_a_maximum(hexapod):
    platform = hexapod.platform

    def law_of(gain):
        return velocity_feedback(platform, gain, 1e-4)

    best = best_gain(hexapod, law_of, 100.0, 1e6)
    for factor in (0.95, 1.05):
        beside = smallest_damping(closed_loop(hexapod, law_of(factor * best.gain)).rates)
        assert beside < best.ratio
    with refused():
        best_gain(hexapod, law_of, 10.0, 1.0)


@pytest.mark.parametrize("name", SPRUNG)
def test_load_cells_read_what_moves_the_platform(name):
    """At rest: struts' cells and actuators of viscoelastic legs bear the weight."""
    platform = twin.load(name)
    rest = rest_at(platform)
    coordinates = platform.inverse_kinematics(rest.pose)
    read = ForceSensor(platform).read(Measurement(0.0, coordinates, np.zeros(6), rest.forces))
    pushed = platform.jacobian(rest.pose).T @ read
    mass = platform.parameters.platform.body.mass
    assert pushed[2] > mass * platform.parameters.gravity
    wanted = platform.inverse_dynamics(
        platform.home, ZERO_VECTOR, ZERO_VECTOR, deflection=rest.deflection
    )
    assert_within(read, wanted, 1e-6)


def test_bad_input():
    stewart, hexapod = twin.load("stewart"), twin.load("micro_hexapod")
    for kind in (*LAWS.values(), HacLac):
        with refused():
            kind(stewart)
    with refused():
        force_feedback(stewart, 1.0, 1e-3)
    with refused():
        force_feedback(hexapod, -1.0, 1e-3)
    with refused():
        force_feedback(hexapod, 1.0, 1e-3, leak=-1.0)
    with refused():
        velocity_feedback(hexapod, [1.0, 2.0], 1e-3)
    with refused():
        HacLac(hexapod, inner="pid")
    with refused():
        HacLac(twin.load("compliant_stewart"), inner=DirectVelocityFeedback(hexapod, gain=1.0))
    assert (spring_constants(stewart)[0] == 0.0).all()
