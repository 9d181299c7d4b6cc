"""A plant in place of another is that of its own machine."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import refused

import twin
from twin.analysis.platform import Platform
from twin.control.cascade import Cascade
from twin.engines import make_engine
from twin.machine.randomisation import with_values
from twin.plant.drives import drive_timestep
from twin.plant.plant import Plant
from twin.plant.signals import Command
from twin.simulation.batched.batched_plant import same_drives, varied_plant

pytestmark = pytest.mark.quick

STEP = 2e-4


@pytest.mark.parametrize(
    ("path", "value", "same"),
    [("platform.body.mass", 500.0, True), ("leg.drive.friction_torque", 0.5, False)],
)
def test_a_varied_plant_is_that_of_its_own_machine(path, value, same):
    """Nothing of the first machine or its run goes along."""
    mine = twin.load("stewart", "hardware")
    engine, first = make_engine("analytic", mine, STEP), Plant(mine, inertial=False)
    state = engine.reset(None, [0.0, 0.0, 0.05, 0.0, 0.0, 0.0])
    engine.close()
    first.prepare(STEP)
    first.start(state, Cascade(mine).loop_gains)
    varied = Platform(with_values(mine.parameters, {path: value}), like=mine)
    assert same_drives(mine, varied) == same
    found, made = varied_plant(first, varied, STEP, True), Plant(varied, inertial=False)
    made.prepare(STEP)
    kept = first.states, first.leg_forces
    for plant in (found, made):
        plant.start(state, Cascade(varied).loop_gains)
        plant.command(Command(np.full(6, 0.01)))
        plant.forces(state)
        plant.observe(state)
    assert_array_equal(found.drives.constants, made.drives.constants)
    assert_array_equal(found.states, made.states)
    assert_array_equal(found.leg_forces, made.leg_forces)
    for one, other in zip(found.measure(state)[1:], made.measure(state)[1:], strict=True):
        assert_array_equal(one, other)
    for before, now in zip(kept, (first.states, first.leg_forces), strict=True):
        assert_array_equal(before, now)
    assert np.abs(found.leg_forces - first.leg_forces).max() > 1e-5


def test_a_step_too_long_for_the_varied_machine_is_refused():
    mine = twin.load("stewart", "hardware")
    light = Platform(with_values(mine.parameters, {"platform.body.mass": 50.0}), like=mine)
    step = 0.5 * (drive_timestep(mine) + drive_timestep(light))
    plant = Plant(mine, inertial=False)
    plant.prepare(step)
    with refused("too long for the drives"):
        varied_plant(plant, light, step, True)
