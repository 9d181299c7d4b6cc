"""The configuration `hardware` of files that have none: generic drives, sized and said as such."""

import math

import numpy as np
import pytest
from console import console
from hobby import SERVO, content
from shipped import shipped_content

import twin
from twin.analysis.platform import Platform
from twin.control import make_controller
from twin.engines.base import dividing_step
from twin.machine.file.read import (
    DAMPING_RATIO,
    FRICTION_FRACTION,
    GENERIC_SOURCE,
    HOLDING_FORCE_FACTOR,
    START_TIME,
    parameters_from,
)
from twin.machine.machine import gallery_names
from twin.motion.specification import MotionSpecification

pytestmark = pytest.mark.quick


def plain(name, **actuator):
    """Return a shipped file without configurations."""
    file = {key: value for key, value in shipped_content(name).items() if key != "configuration"}
    file["leg"]["actuator"] |= actuator
    return file


def hardware(file):
    """Return the machine of a file with its configuration hardware."""
    return Platform(parameters_from(file, "platform.toml", "hardware"))


def test_drives_are_sized_from_force_speed_and_stroke():
    platform = hardware(plain("stewart"))
    leg = platform.parameters.legs[0]
    seen = leg.drive.reflected()
    assert seen.peak == 3073.0
    assert seen.friction == pytest.approx(FRICTION_FRACTION * 3073.0)
    assert seen.inertia == pytest.approx(START_TIME * 3073.0 / 0.254)
    assert leg.drive.lead == pytest.approx(0.254 / 50.0)
    assert leg.encoder.resolution(leg.drive.travel_per_turn) == pytest.approx(0.254 / 50.0 / 4096)
    twice = hardware(plain("stewart", force=6146.0)).parameters.legs[0].drive.reflected()
    assert twice.inertia == pytest.approx(2.0 * seen.inertia)
    assert leg.drive.source.startswith(
        f"{GENERIC_SOURCE}, sized from force 3073 N, speed 0.254 m/s"
    )
    assert "adopted" not in leg.drive.source


def test_numbers_that_are_missing_are_adopted_and_said():
    platform = hardware(plain("rss"))
    drive = platform.parameters.legs[0].drive
    held = np.abs(platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))).max()
    assert HOLDING_FORCE_FACTOR * held < drive.peak < 2.0 * HOLDING_FORCE_FACTOR * held
    assert "adopted: 4 times the torque that holds the machine at home" in drive.source
    assert "one stroke a second" in drive.source
    stroke = platform.maximum_coordinates[0] - platform.minimum_coordinates[0]
    assert 2.0 * math.pi * 50.0 / drive.ratio == pytest.approx(stroke)


def test_drives_fit_a_body_off_the_reference_point_at_a_turned_home():
    file, half = plain("stewart"), math.radians(5.0)
    del file["leg"]["actuator"]["force"]
    file["home"]["orientation"] = [math.cos(half), 0.0, 0.0, math.sin(half)]
    # So heavy that the legs do not count.
    body = {"mass": 1e5, "center_of_mass": [0.3, 0.0, 0.5], "inertia": [1e4, 2e4, 2.5e4]}
    file["platform"]["body"] |= body
    platform = hardware(file)
    drive = platform.parameters.legs[0].drive
    held = np.abs(platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))).max()
    assert drive.peak == pytest.approx(HOLDING_FORCE_FACTOR * held, rel=0.01)
    ideal = Platform(parameters_from(file, "platform.toml"))
    jacobian = ideal.jacobian(ideal.home)
    response = jacobian @ np.linalg.inv(ideal.mass_matrix(ideal.home)) @ jacobian.T
    mass = 1.0 / np.linalg.eigvalsh(response)[-1]
    expected_damping = 2.0 * DAMPING_RATIO * math.sqrt(drive.stiffness * mass)
    # Legs count by less than a thousandth; the centre on the other side by 0.6 %.
    assert drive.damping == pytest.approx(expected_damping, rel=2e-3)


def test_a_file_keeps_its_own_drives_and_configurations():
    own = hardware(content(drive=SERVO))
    assert own.parameters.legs[0].drive.kind == "servo"
    assert own.parameters.configuration.known == ("hardware",)
    for name in twin.machine_names():
        source = twin.load(name, "hardware").parameters.configuration.source
        assert not source.startswith(GENERIC_SOURCE)


def test_the_gallery_has_hardware(subtests):
    for name in gallery_names():
        with subtests.test(f"{name}"):
            platform = twin.load(name, "hardware")
            assert all(leg.drive is not None for leg in platform.parameters.legs)
            ideal = twin.load(name)
            assert ideal.parameters.configuration.known == ("hardware",)
            assert ideal.hash != platform.hash


@pytest.mark.parametrize("name", ["stewart", "rss"])
def test_the_cascade_moves_a_machine_with_generic_drives(name):
    platform = hardware(plain(name))
    motion = MotionSpecification("sine", "z", None, 1.0, 0.5).motion_of(platform)
    controller = make_controller("cascade", platform, motion)
    step = dividing_step(platform, controller.period)
    run = platform.simulate(0.5, controller=controller, timestep=step, fidelity="fast")
    assert not run.stopped
    assert np.ptp(run.pose[:, 2]) > 0.01


def test_track_says_that_drives_are_generic():
    name = "cubic_isolator"
    short = ("track", name, "--configuration", "hardware", "--duration", "0.05")
    shown = console(*short)
    assert f"hardware: {GENERIC_SOURCE}, sized from" in " ".join(shown.output.split())
