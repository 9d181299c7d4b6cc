"""Servos and steppers in a file: what they come to at crank and screw, and refusals."""

from math import pi, radians

import pytest
from hobby import SERVO, content
from shipped import shipped_content
from tolerance import max_abs

from twin.analysis.platform import Platform
from twin.control.cascade import Cascade
from twin.machine.file.read import parameters_from
from twin.machine.hardware.drive import CrankServo, ScrewStepper

pytestmark = pytest.mark.quick

STEPPER = {
    "source": "Test",
    "kind": "stepper",
    "lead": "8 mm",
    "holding_torque": "1.9 N m",
    "top_speed": "1200 rpm",
    "armature_inertia": "460 g cm2",
}


def on_screws(**others):
    """Return a shipped machine with a stepper on every screw."""
    file = shipped_content("srspm")
    file["leg"]["drive"] = STEPPER | others
    return Platform(parameters_from(file, "platform.toml"))


def test_a_servo_at_its_crank():
    drive = parameters_from(content(drive=SERVO | {"gear": 2.0}), "platform.toml").legs[0].drive
    assert isinstance(drive, CrankServo)
    seen, how = drive.reflected(), drive.positioning()
    stall, speed = 9.4 * 0.0980665, radians(352.9)
    assert seen.peak == pytest.approx(2.0 * stall)
    assert seen.viscous == pytest.approx(4.0 * stall / speed)
    assert seen.inertia == pytest.approx(0.02 * 4.0 * stall / speed)
    assert seen.peak / seen.viscous == pytest.approx(how.top_speed) == pytest.approx(0.5 * speed)
    assert how.half_dead_band == pytest.approx(radians(0.45) / 4.0)
    assert drive.travel_per_turn == pytest.approx(pi)


def test_a_stepper_on_a_screw_holds_and_moves_a_machine():
    platform = on_screws()
    drive = platform.parameters.legs[0].drive
    assert isinstance(drive, ScrewStepper)
    turns = 2.0 * pi / 8e-3
    assert drive.reflected().peak == pytest.approx(1.9 * turns)
    assert drive.reflected().inertia == pytest.approx(4.6e-5 * turns**2)
    assert drive.positioning().span == pytest.approx(8e-3 / 200.0)
    run = platform.simulate(0.1, controller=Cascade(platform), timestep=1e-4, fidelity="fast")
    assert not run.stopped and not run.saturation
    assert max_abs(run.lengths - platform.home_coordinates) < 8e-3 / 200.0
