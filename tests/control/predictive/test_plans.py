"""Predictive controllers: no change where nothing limits the machine, and limits that they keep."""

import numpy as np
import pytest
from closed_loops import angles, heave, run
from tolerance import assert_within, max_abs

import twin
from twin.control import make_controller
from twin.control.controller import still_reference
from twin.control.predictive import RETURN_BANDWIDTH, Ilqr
from twin.model.machine_base import ZERO_VECTOR
from twin.motion import SineMotion
from twin.plant.drives import actuator_limit
from twin.rotations import displaced

pytestmark = pytest.mark.quick


def too_fast(platform):
    """Return a motion whose legs would have to move at one and a half times their speed."""
    return SineMotion(
        platform.home,
        amplitude={"z": 0.05, "pitch": 0.05},
        frequency=1.2,
        duration=1.0,
        fade_in=0.3,
        fade_out=0.3,
    )


@pytest.fixture
def stewart():
    return twin.load("stewart")


@pytest.mark.seconds
def test_without_limits_in_reach_it_is_computed_torque(stewart):
    motion = heave(stewart, 2.0)
    plain = run(stewart, make_controller("computed_torque", stewart, motion), 0.2)
    planned = run(stewart, Ilqr(stewart, motion), 0.2)
    assert_within(planned.lengths, plain.lengths, 1e-9)


def test_limits_are_kept(stewart):
    """Computed torque ends this motion with overspeed, the cascade is at its limits half of it."""
    platform = stewart
    limited = run(platform, Ilqr(platform, too_fast(platform)), 1.0)
    assert limited.stopped == ""
    rates = np.gradient(limited.lengths, limited.time, axis=0)
    reference = limited.signals["setpoint"]
    fastest = actuator_limit(platform, "speed")
    wanted = max_abs(np.gradient(reference, limited.signals["time"], axis=0))
    assert wanted > 1.4 * fastest.max()
    assert (np.abs(rates) <= fastest).all()
    assert (limited.lengths >= platform.minimum_coordinates).all()
    assert (limited.lengths <= platform.maximum_coordinates).all()
    assert not limited.signals["limited"].any()
    error = limited.signals["setpoint"] - limited.signals["measured"]
    assert max_abs(error) < 0.35 * np.ptp(reference)


def test_forces_are_kept(stewart):
    """The weight of a load, which legs with a tenth of their force just hold."""
    weak = stewart.with_(parameters={"leg.actuator.force": "420 N"})
    found = run(weak, Ilqr(weak, too_fast(weak)), 0.5)
    assert found.stopped == ""
    assert max_abs(found.forces) <= 420.0
    assert max_abs(found.signals["planned_deviation"]) > 1e-3


OTHERS = ("srspm", "rss", "driving_simulator")


@pytest.mark.slow
@pytest.mark.parametrize("machine", OTHERS)
def test_limits_of_other_machines_are_kept(machine):
    """A heave that takes a quarter more than their largest speed, and more than their forces."""
    free = twin.load(machine)
    up, half = free.jacobian(free.home)[0, 2], free.maximum_coordinates - free.home_coordinates
    motion = SineMotion(
        free.home,
        amplitude={"z": 0.6 * half[0] / up},
        frequency=1.2,
        duration=1.0,
        convention=angles(free),
        fade_in=0.3,
        fade_out=0.3,
    )
    fastest = 2.0 * np.pi * 1.2 * 0.6 * half[0]
    held = max_abs(free.inverse_dynamics(free.home, ZERO_VECTOR, ZERO_VECTOR))
    effort = "torque" if free.coordinate_unit == "rad" else "force"
    limits = {"leg.actuator.speed": fastest / 1.25, f"leg.actuator.{effort}": 1.1 * held}
    weak = free.with_(parameters=limits)
    found = run(weak, Ilqr(weak, motion), 0.5)
    assert found.stopped == ""
    rates = np.gradient(found.lengths, found.time, axis=0)
    assert 0.5 * fastest < max_abs(rates) <= fastest / 1.25
    assert max_abs(found.forces) <= 1.1 * held
    assert max_abs(found.signals["planned_deviation"]) > 1e-3


@pytest.mark.parametrize(
    "machine", ("stewart", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS))
)
def test_stroke_is_kept(machine):
    """Legs that run towards their end brake harder than the way back to the reference asks for."""
    platform = twin.load(machine)
    most, up = platform.maximum_coordinates[0], platform.jacobian(platform.home)[0, 2]
    gap, high = 0.05 * (most - platform.home_coordinates[0]), platform.home
    for _ in range(4):
        short = most - gap - platform.inverse_kinematics(high)[0]
        high = displaced(high, [0.0, 0.0, short / up, 0.0, 0.0, 0.0])
    controller = Ilqr(platform, still_reference(platform, high))
    # One span is decided; then a critically damped way back goes on by rate / (e RETURN).
    alone = 0.01 + 1.0 / RETURN_BANDWIDTH / np.e
    begin = np.zeros(12)
    begin[8] = 1.02 * gap / alone / platform.jacobian(high)[0, 2]
    paths = [controller.plan_from(0, begin)]
    for step in (10, 20):
        assert paths[-1] is not None
        paths.append(controller.plan_from(step, paths[-1][1]))
    poses = [platform.constrain(displaced(high, path[:, :6])).pose for path in paths[1:]]
    legs = platform.inverse_kinematics(np.array(poses))
    assert most - gap < legs.max() < most


def test_plans_fit_other_control_periods(stewart):
    for period, span in ((0.003, 0.009), (0.02, 0.02)):
        assert Ilqr(stewart, period=period).span == pytest.approx(span)
