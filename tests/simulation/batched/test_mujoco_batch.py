"""The batched plant in MuJoCo: what its rows do beside what those of every engine do."""

import numpy as np
import pytest
from batch_rig import (
    PERIOD,
    advanced,
    check_rows,
    heavier,
    machine,
    orders,
    resident,
)
from numpy.testing import assert_allclose, assert_array_equal

import twin
from twin.machine.randomisation import with_values
from twin.simulation.batched import make_batched_plant


def test_forces_held_over_a_period_are_those_of_every_step():
    """Under shaking, even by nothing, inputs may change at every step."""
    batch = make_batched_plant("mujoco", machine("stewart"), 2, PERIOD, mode="force")
    given, told = orders(batch, 4), []
    for shaking in (None, np.zeros((2, 4, batch.ratio, 3))):
        batch.reset(np.arange(2))
        told.append(advanced(batch, given._replace(shaking=shaking)))
    for one, other in zip(*told, strict=True):
        assert_array_equal(one, other)
    batch.close()


def test_a_period_of_one_step():
    batch = make_batched_plant("mujoco", machine("driving_simulator"), 1, 1e-3, 1e-3, mode="force")
    batch.reset(np.array([0]))
    given = orders(batch, 3)
    found = advanced(batch, given)
    change = np.diff(found.twist[0], axis=0, prepend=np.zeros((1, 6))) / 1e-3
    assert_allclose(found.acceleration[0], change, rtol=1e-12, atol=1e-12)
    batch.close()


def test_an_open_loop_fails_its_row():
    """A blow of 1e9 N m opens loops by more than the guard of engines allows."""
    batch = make_batched_plant("mujoco", machine("stewart"), 2, PERIOD, mode="force")
    batch.reset(np.arange(2))
    given = orders(batch, 1)
    given.wrench[1, :, 3] = 1e9
    advanced(batch, given)
    assert_array_equal(batch.failed, [False, True])
    assert batch.gap[0] < 1e-4
    batch.close()


def test_rough_feet_rub_as_in_the_engine():
    platform = machine("driving_simulator", "hardware")
    rough = with_values(platform.parameters, {"leg.friction.coulomb": 60.0})
    check_rows("mujoco", twin.Platform(rough), "force")


@pytest.mark.slow
def test_resets_with_new_machines_do_not_grow():
    """300 compiled models of 50 kB each would be 15 MB."""
    platform = machine("stewart")
    variants = [heavier(platform, 1.0 + 0.01 * k) for k in range(8)]
    batch = make_batched_plant("mujoco", platform, 4, PERIOD, fidelity="fast")
    batch.reset(np.arange(4))
    sizes = []
    for count in range(400):
        batch.reset(np.array([count % 4]), platforms=[variants[count % 7]])
        if count % 20 == 0:
            batch.advance(np.zeros((4, 6)))
        if count in (100, 399):
            sizes.append(resident())
    assert sizes[1] - sizes[0] < 1.8e6
    batch.close()
