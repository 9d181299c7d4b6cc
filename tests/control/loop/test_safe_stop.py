"""Faults end in a safe stop with a reason, on every engine, and never in NaN.

The supervisor sees measurements and commands, not engines: one fault has all of them.
"""

import numpy as np
import pytest
from closed_loops import heave, lift, run
from refusals import refused
from tolerance import max_abs

import twin
from twin.control.cascade import Cascade
from twin.control.controller import Controller, Supervisor
from twin.errors import ControlError
from twin.motion import SineMotion
from twin.plant.plant import Plant
from twin.plant.signals import Command

AT_REST = {None: 1e-4, "hardware": 1e-6}
"""[m/s] of the actuators at the end: brakes hold still, loops nearly."""


def assert_stopped(motion, reason, fidelity):
    """Assert that a run ended at rest, early, finite, and for this reason."""
    assert reason in motion.stopped
    assert "(at " in motion.stopped
    for name in ("pose", "twist", "lengths", "rates", "forces"):
        assert np.isfinite(getattr(motion, name)).all()
    for values in motion.signals.values():
        assert np.isfinite(values).all()
    assert len({len(values) for values in motion.signals.values()}) == 1
    assert max_abs(motion.rates[-1]) < AT_REST[fidelity]


class Broken(Controller):
    """Fails after a while in one of several ways."""

    name = "broken"
    fault = "nan"

    def start(self, measurement):
        """Nothing to begin."""

    def update(self, step, measurement):
        """Return zero speeds, and after 20 periods the fault."""
        command = np.zeros(self.platform.n_actuators)
        if step < 20:
            return Command(command)
        if self.fault == "error":
            raise ControlError("the observer diverged")
        if self.fault == "feedforward":
            return Command(command, feedforward=np.full(len(command), np.inf))
        return Command(np.full(len(command), np.nan))


def test_a_short_dropout_is_bridged():
    platform = twin.load("stewart", "hardware")
    plant = Plant(platform, dropouts=[(0.1, 0.104)])
    motion = run(platform, Cascade(platform, heave(platform)), 0.3, plant=plant)
    assert motion.stopped == ""
    assert motion.time[-1] == pytest.approx(0.3)


@pytest.mark.parametrize("engine", ["analytic", "mujoco"])
def test_unreachable_pose(engine):
    platform = twin.load("stewart", "hardware")
    high = SineMotion(platform.home, amplitude={"z": 0.15}, frequency=0.2, duration=5.0)
    motion = run(platform, Cascade(platform, high), 2.0, engine=engine)
    assert_stopped(motion, "unreachable pose", "hardware")
    # Switches, end stops and brakes keep the legs where they belong.
    overtravel = 5e-3
    assert (motion.lengths < platform.maximum_coordinates + overtravel).all()


def test_unstable_gains(subtests):
    for configuration in [None, "hardware"]:
        for gain in [{"velocity_gain": 1e7}, {"position_gain": 3e3}]:
            with subtests.test(f"{configuration}, {gain}"):
                platform = twin.load("stewart", configuration)
                controller = Cascade(platform, lift(platform, 0.02), **gain)
                motion = run(platform, controller, 2.0)
                assert_stopped(motion, "", configuration)
                assert any(
                    word in motion.stopped
                    for word in ("unstable", "following error", "overspeed", "saturated")
                )


def test_saturated_command():
    """A load that the motors cannot hold: saturation, not NaN; brakes carry it."""
    platform = twin.load("stewart", "hardware")
    load = np.array([0.0, 0.0, -60_000.0, 0.0, 0.0, 0.0])
    motion = run(
        platform,
        Cascade(platform, heave(platform, 2.0)),
        2.0,
        wrench=lambda time, state: load * (0.1 < time < 0.75),
    )
    assert motion.stopped
    assert any(word in motion.stopped for word in ("saturated", "overspeed", "following error"))
    assert np.isfinite(motion.pose).all()


def test_broken_controllers(subtests, stewart):
    for fault, reason in [
        ("nan", "not finite"),
        ("feedforward", "feedforward"),
        ("error", "observer diverged"),
    ]:
        with subtests.test(f"{fault}"):
            controller = Broken(stewart)
            controller.fault = fault
            assert_stopped(run(stewart, controller, 1.0), reason, None)


def test_supervisor_takes_bounds(stewart):
    reference = Cascade(stewart).reference
    for wrong in ({"following": 0.0}, {"saturation": -1.0}, {"patience": np.nan}):
        options = wrong
        with refused():
            Supervisor(stewart, reference, 1e-3, **options)


def test_simulator_keeps_its_command_limits():
    """Driving simulator paper, conclusion: 0.8 m/s and 0.8 g; a step asks for more than both."""
    platform = twin.load("driving_simulator")
    controller = Cascade(platform, lift(platform, 0.02), position_gain=60.0)
    motion = run(platform, controller, 0.6)
    assert not motion.stopped
    command = motion.signals["command"]
    change = max_abs(np.diff(command, axis=0)) / controller.period
    assert max_abs(command) <= 0.8
    assert change <= 0.8 * 9.81 * (1 + 1e-9)
    assert change > 0.79 * 9.81, "the step must reach the limit"
    error = np.abs(motion.signals["setpoint"] - motion.signals["measured"])
    assert error[-1].max() < 1e-3
