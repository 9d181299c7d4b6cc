"""The batched plant in PyBullet: its clients and its memory."""

import numpy as np
import pytest
from batch_rig import PERIOD, heavier, machine, resident
from refusals import refused

from twin.simulation.batched import make_batched_plant

pybullet = pytest.importorskip("pybullet")


def clients():
    """Return how many physics clients are open."""
    return sum(pybullet.isConnected(client) for client in range(64))


def test_closing_disconnects_every_client():
    before = clients()
    batch = make_batched_plant("bullet", machine("srspm"), 3, PERIOD)
    assert clients() == before + 3
    batch.reset(np.arange(3), platforms=[heavier(machine("srspm"))] * 3)
    assert clients() == before + 3
    batch.close()
    assert clients() == before


def test_more_rows_than_memory_are_refused():
    for rows, fidelity in ((257, "fast"), (86, "accurate")):
        with refused("size"):
            make_batched_plant("bullet", machine("srspm"), rows, PERIOD, fidelity=fidelity)


@pytest.mark.slow
def test_resets_with_new_machines_do_not_grow():
    """Bullet itself leaks some 8 kB with every world that is made and closed: twice that is met."""
    platform = machine("stewart")
    variants = [heavier(platform, 1.0 + 0.01 * k) for k in range(7)]
    batch = make_batched_plant("bullet", platform, 2, PERIOD)
    batch.reset(np.arange(2))
    sizes = []
    for count in range(230):
        batch.reset(np.array([count % 2]), platforms=[variants[count % 7]])
        if count in (50, 110, 170, 229):
            sizes.append(resident())
    # Others in this process may ask for memory once; what leaks grows all the time.
    assert np.diff(sizes).min() < 60 * 15.5e3
    batch.close()
