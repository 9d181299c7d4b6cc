"""The linear quadratic regulator: its cost is the Riccati equation's."""

import numpy as np
import pytest
from refusals import refused
from tolerance import assert_within, max_abs

import twin
from twin.control.linear import linearise
from twin.control.linear.lqr import (
    Lqr,
    RegulatorWeights,
    accumulated_cost,
    regulator,
)
from twin.model.machine_base import ZERO_VECTOR
from twin.motion import SineMotion
from twin.rotations import displaced, displacement

START = np.array([1.0, -2.0, 1.5, 1.0, 2.0, -1.0])


def test_integral_removes_the_error_of_a_load(stewart):
    errors = []
    for integral in (False, True):
        controller = Lqr(stewart, integral=integral)
        design = controller.design
        loop = design.model._replace(A=design.model.A - design.model.B @ design.gain)
        assert loop.stable
        load = np.array([0.0, 0.0, -100.0, 0.0, 0.0, 0.0])
        run = twin.simulate(
            stewart, 2.0, controller=controller, wrench=load, timestep=1e-3, fidelity="fast"
        )
        errors.append(float(max_abs(displacement(run.pose[-1], stewart.home))))
    assert errors[1] < 1e-3 * errors[0]


@pytest.mark.quick
@pytest.mark.every_kind
@pytest.mark.parametrize("name", ["stewart", "tripod", "balancer"])
def test_a_tilting_motion_is_followed(name):
    platform = twin.load(name)
    motion = SineMotion(
        platform.home,
        amplitude={"z": 0.001, "roll": 0.02, "pitch": 0.015},
        frequency=1.0,
        duration=0.6,
        convention="roll_pitch",
    )
    first = platform.constrain(*motion.sample(np.zeros(1)))
    controller = Lqr(platform, motion, integral=True)
    run = twin.simulate(
        platform, 0.6, first.pose[0], first.twist[0], controller=controller, timestep=5e-4
    )
    assert not run.stopped
    reference = platform.constrain(motion(run.time[::2]).pose).pose
    errors = displacement(run.pose[::2], reference)
    # Forces are held over 1 ms, half a period late: 2 pi 0.5 ms of the amplitude at 1 Hz at most.
    assert max_abs(errors[:, 3:]) < 0.025 * np.pi * 1e-3


def test_first_force_does_not_jump(stewart):
    controller = Lqr(stewart, integral=True)
    pose = displaced(stewart.home, 1e-3 * START)
    run = twin.simulate(stewart, 1e-3, pose, controller=controller, fidelity="fast")
    held = stewart.inverse_dynamics(stewart.home, ZERO_VECTOR, ZERO_VECTOR)
    assert_within(run.signals["command"][0], held, 1e-6)


def test_bad_input():
    linear = linearise(twin.load("stewart"))
    with refused():
        regulator(linear, weights=RegulatorWeights(force=0.0))
    with refused():
        regulator(linear, 0.0)
    with refused("period"):
        Lqr(twin.load("stewart"), period=2e-3, design=regulator(linear))
    design = regulator(linear)
    with refused("design"):
        Lqr(twin.load("tripod"), design=design)
    with refused():
        accumulated_cost(design, np.zeros((3, 12)), np.zeros((2, 6)))
