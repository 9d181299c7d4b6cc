"""Machines that their own weight pushes away from home, and loops that hold them."""

import numpy as np
import pytest
from hobby import hobby
from shipped import shipped_content
from tolerance import assert_within

import twin
from twin.analysis.platform import Platform
from twin.control.cascade import Cascade
from twin.control.gains import (
    INTEGRAL_TIME_FACTOR,
    STIFFNESS_MARGIN,
    burden,
    derived_velocity_loop,
    falling_stiffness,
)
from twin.machine.file.read import parameters_from

pytestmark = pytest.mark.quick


def pushed(platform, **gains):
    """Return two seconds at home after a short push of 0.02 N to the side."""

    def push(time, state):
        return np.array([0.02, 0.01, 0.0, 0.0, 0.0, 2e-4]) * (time < 0.05)

    controller = Cascade(platform, **gains)
    return platform.simulate(2.0, controller=controller, timestep=5e-4, wrench=push)


def test_it_is_proportional_to_gravity():
    content = shipped_content("srspm")
    twice = content | {"gravity": 2.0 * content["gravity"]}
    found = [
        falling_stiffness(Platform(parameters_from(file, "platform.toml")))
        for file in (content, twice)
    ]
    assert found[0] > 0.0
    assert found[1] == pytest.approx(2.0 * found[0], rel=1e-4)


def test_a_light_machine_on_steep_rods_is_held():
    """Loops that only look at masses let it fall: their integral is slower than the fall."""
    steep = hobby(20.0, 0.128)
    gain, time = (float(values[0]) for values in derived_velocity_loop(steep, 1e-3))
    weight = falling_stiffness(steep)
    assert gain / time == pytest.approx(STIFFNESS_MARGIN * weight, rel=1e-9)
    held = pushed(steep)
    assert not held.stopped
    assert_within(held.lengths[-1], steep.home_coordinates, 2e-3)
    slow = INTEGRAL_TIME_FACTOR * burden(steep).heaviest / gain
    assert gain / slow < weight
    fallen = pushed(steep, velocity_time=slow)
    assert "following error" in fallen.stopped or "overspeed" in fallen.stopped


@pytest.mark.parametrize("configuration", [None, "hardware"])
@pytest.mark.parametrize("name", twin.machine_names())
def test_shipped_machines_are_stiff_enough_by_their_masses(name, configuration):
    platform = twin.load(name, configuration)
    gain, time = derived_velocity_loop(platform, 1e-3)
    assert (gain / time > 10.0 * falling_stiffness(platform)).all()
