"""Limits of force and speed: they hold for ideal actuators too, and reaching them is said."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from console import console
from numpy.testing import assert_array_equal
from shipped import shipped_content
from tolerance import assert_within, max_abs

import twin
from twin.analysis.platform import Platform
from twin.control import make_controller
from twin.control.controller import Controller
from twin.kernels.plant.columns import AT_EFFORT, AT_SPEED, OUT_OF_STEP
from twin.machine.file.read import parameters_from
from twin.motion import SineMotion
from twin.plant.drives import at_limits, saturation
from twin.plant.plant import Plant
from twin.plant.signals import Command
from twin.simulation.batched import make_batched_plant
from twin.simulation.simulate import Trajectory

pytestmark = pytest.mark.quick

REST = np.zeros(6)


def stewart(**actuator):
    """Return the thesis' machine with other limits."""
    content = shipped_content("stewart")
    content["leg"]["actuator"] |= actuator
    return Platform(parameters_from(content, "platform.toml"))


def heave(platform, amplitude):
    """Return a sine of 1 Hz in height."""
    return SineMotion(
        platform.home, amplitude={"z": amplitude}, frequency=1.0, duration=1.0, fade_in=0.2
    )


class Pushing(Controller):
    """Gives constant forces."""

    name = "pushing"
    force: Any = 0.0

    def start(self, measurement):
        """Nothing to begin."""

    def update(self, step, measurement):
        """Return the forces."""
        return Command(np.zeros(6) + self.force, "force")


def pushed(platform, force, duration=0.05, **options):
    """Return the motion under constant commanded forces."""
    controller = Pushing(platform)
    controller.force = force
    return platform.simulate(duration, controller=controller, timestep=1e-3, **options)


def test_a_force_beyond_the_limit_saturates():
    """The limit and nothing more is given; without limits the command itself."""
    held = twin.load("stewart").inverse_dynamics(twin.load("stewart").home, REST, REST)
    machine = stewart(force=320.0)
    run = pushed(machine, held + np.array([0.0, 400.0, 0.0, 0.0, 0.0, 0.0]))
    assert run.forces.max() == 320.0
    assert_array_equal(run.forces[:, 0], held[0])
    limited = run.signals["limited"]
    assert (limited[1:, 1] == AT_EFFORT).all()
    assert not limited[:, [0, 2, 3, 4, 5]].any()
    assert run.saturation.sentences() == ["leg 2 at its force limit 98 % of the time"]
    free = pushed(machine, 400.0, plant=Plant(machine, limits=False))
    assert_array_equal(free.forces, 400.0)
    assert run.limits and not free.limits
    assert not free.saturation


def test_a_machine_too_weak_to_hold_itself_is_stopped_and_said():
    """Just enough holds still; a tenth less falls."""
    platform = twin.load("stewart")
    held = float(max_abs(platform.inverse_dynamics(platform.home, REST, REST)))
    weak, enough = stewart(force=0.9 * held), stewart(force=1.01 * held)
    fallen = weak.simulate(1.0, controller=make_controller("cascade", weak), timestep=5e-4)
    assert "following error" in fallen.stopped
    assert "all legs at their force limit" in fallen.stopped
    assert fallen.saturation.any_drive[0] > 0.9
    assert max_abs(fallen.forces) == 0.9 * held
    still = enough.simulate(0.3, controller=make_controller("cascade", enough), timestep=5e-4)
    assert not still.stopped and not still.saturation
    assert_within(still.pose[-1], enough.home, 1e-6)


def test_no_force_accelerates_beyond_the_largest_speed():
    """Up to the speed a force works, beyond it none does; without limits there is no end."""
    machine = stewart(speed=0.05, force=1e4)
    held = machine.inverse_dynamics(machine.home, REST, REST)
    run = pushed(machine, held + 200.0, 0.1)
    gained = max_abs(np.diff(run.rates, axis=0))
    assert 0.05 - gained < run.rates[-1].max() < 0.05 + gained
    assert (run.signals["limited"] == AT_SPEED).any()
    assert "all legs at their speed limit" in run.saturation.sentences()[0]
    free = pushed(Platform(machine.parameters, limits=False), held + 200.0, 0.1)
    assert free.rates.max() > 0.2


def test_limits_that_are_not_reached_change_nothing(subtests):
    for controller in ["cascade", "computed_torque", "lqr"]:
        with subtests.test(f"{controller}"):
            platform, free = twin.load("stewart"), twin.load("stewart", limits=False)
            runs = [
                one.simulate(
                    0.2,
                    controller=make_controller(controller, one, heave(one, 0.01)),
                    timestep=5e-4,
                )
                for one in (platform, free)
            ]
            assert not runs[0].stopped and not runs[0].saturation
            assert_array_equal(runs[0].pose, runs[1].pose)


def test_without_limits_controllers_have_none_either():
    """A motion that needs 0.4 m/s of legs with 0.254 m/s."""
    errors = []
    for limits in (True, False):
        platform = twin.load("stewart", limits=limits)
        controller = make_controller("cascade", platform, heave(platform, 0.1))
        run = platform.simulate(1.0, controller=controller, timestep=5e-4)
        errors.append(max_abs(run.signals["setpoint"] - run.signals["measured"]))
        assert run.limits == limits
        assert bool(run.saturation.any_drive[1] > 0.5) == limits
    assert errors[0] > 2.0 * errors[1]
    assert pickle.loads(pickle.dumps(twin.load("stewart", limits=False))).limits is False
    assert twin.load("stewart").hash == twin.load("stewart", limits=False).hash


def test_batched_plants_have_the_same_limits():
    machine = stewart(force=300.0, speed=0.05)
    forces = {}
    for limits in (True, False):
        batch = make_batched_plant("analytic", machine, 1, 0.01, mode="force", limits=limits)
        batch.reset(np.array([0]))
        for _ in range(5):
            batch.advance(np.full((1, 6), 400.0))
        forces[limits] = float(batch.forces.max())
    assert forces == {True: 300.0, False: 400.0}


def test_sentences_name_legs_and_limits():
    limited = np.zeros((8, 6))
    limited[:2, 1], limited[1:3, 4], limited[7, 2] = AT_EFFORT, AT_EFFORT, AT_SPEED
    found = saturation(limited)
    assert_array_equal(found.force, [0, 0.25, 0, 0, 0.25, 0])
    assert found.sentences(rotary=True) == [
        "legs 2, 5 at their torque limit 38 % of the time",
        "leg 3 at its speed limit 12 % of the time",
    ]
    assert at_limits(limited[1], False) == ["legs 2, 5 at their force limit"]
    assert at_limits(np.full(2, OUT_OF_STEP), False) == ["all legs out of step"]
    assert not saturation(np.zeros((0, 6)))


def test_a_saved_run_keeps_its_limits(tmp_path):
    run = pushed(stewart(force=300.0), 400.0)
    again = Trajectory.load(run.save(tmp_path / "run.npz"))
    assert again.limits
    assert again.saturation.any_drive[0] == run.saturation.any_drive[0] > 0.9


def test_track_says_what_saturates():
    fast = ("track", "stewart", "--amplitude", "0.1", "--duration", "1")
    shown = console(*fast)
    assert "at their speed limit" in shown.output
    free = console(*fast, "--no-limits")
    assert "limits of force and speed were left out" in free.output
    assert "speed limit" not in free.output
