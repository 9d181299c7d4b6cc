"""Derivatives of a step of time, against differences, and the step against a simulation."""

import numpy as np
import pytest
from refusals import refused
from tolerance import assert_within, max_abs

import twin
from twin.rotations import displaced, displacement

STEP = {"stewart": 0.01, "driving_simulator": 0.01, "compliant_stewart": 1e-3}
SMALL = 1e-5
"""Of the differences, which are of second order."""


def assert_derivatives(platform):
    """Assert the step and its derivatives along a random direction that constraints allow."""
    random, k = np.random.default_rng(1), 2 * platform.n_deflections
    step = STEP[platform.name]
    start = platform.constrain(platform.home, 0.2 * random.normal(size=6), np.zeros(6))
    forces = 1.1 * platform.inverse_dynamics(start.pose, start.twist, start.acceleration)
    inner = 1e-4 * random.normal(size=k)
    push, swing, load = random.normal(size=(3, 6))
    more, stretch = random.normal(size=len(forces)), random.normal(size=k)

    def moved(share):
        pose = displaced(start.pose, share * push)
        begin = platform.constrain(pose, start.twist + share * swing, np.zeros(6))
        found = platform.step_derivatives(
            begin.pose,
            begin.twist,
            forces + 100.0 * share * more,
            step,
            wrench=10.0 * share * load,
            deflection=inner + share * stretch,
        )
        return begin, found

    (after, high), (before, low) = moved(SMALL), moved(-SMALL)
    given = [displacement(after.pose, before.pose), after.twist - before.twist]
    rate = np.concatenate([*given, 2.0 * SMALL * stretch]) / (2.0 * SMALL)
    change = [displacement(high.pose, low.pose), high.twist - low.twist]
    change.append(high.deflection - low.deflection)
    found = moved(0.0)[1]
    expected = found.state @ rate + found.forces @ (100.0 * more) + found.wrench @ (10.0 * load)
    size = max_abs(expected)
    assert_within(np.concatenate(change) / (2.0 * SMALL), expected, 1e-7 * size)
    run = platform.simulate(
        step,
        start.pose,
        start.twist,
        forces,
        timestep=step / 10.0,
        deflection=inner,
        progress=False,
    )
    assert max_abs(displacement(run.pose[-1], found.pose)) < 1e-8
    assert_within(run.twist[-1], found.twist, 1e-5)


@pytest.mark.quick
def test_stewart():
    assert_derivatives(twin.load("stewart"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["driving_simulator", "compliant_stewart"])
def test_constraints_and_springs(name):
    assert_derivatives(twin.load(name))


@pytest.mark.quick
def test_bad_steps_are_refused():
    machine = twin.load("stewart")
    with refused("time_step"):
        machine.step_derivatives(machine.home, np.zeros(6), np.zeros(6), 0.0)
