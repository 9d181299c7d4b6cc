"""The batched plant in PyBullet: each row equals a single engine, bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from batch_rig import PERIOD, check_again, check_alone, check_rows, heavier, machine

import twin
from twin.errors import InputError
from twin.simulation.batched import make_batched_plant

pybullet = pytest.importorskip("pybullet")

CASES = [
    ("stewart", None),
    ("stewart", "hardware"),
    ("rss", "hardware"),
    ("driving_simulator", "hardware"),
    ("compliant_stewart", None),
    ("micro_hexapod", None),
]


@pytest.mark.parametrize("mode", ["velocity", "force"])
@pytest.mark.parametrize(("name", "configuration"), CASES)
def test_rows_are_engines_with_plants(name: str, configuration: str | None, mode: str) -> None:
    check_rows("bullet", machine(name, configuration), mode)


def test_the_validation_fidelity_is_the_engines() -> None:
    check_rows("bullet", machine("srspm"), "force", fidelity="accurate")


@pytest.mark.parametrize("name", ["compliant_stewart", "driving_simulator"])
def test_shaken_rows_are_shaken_engines(name: str) -> None:
    check_rows("bullet", machine(name), "force", shaken=True)


@pytest.mark.parametrize("name", ["stewart", "driving_simulator"])
def test_rows_do_not_know_of_each_other(name: str) -> None:
    check_alone("bullet", machine(name), 3)


@pytest.mark.parametrize("name", ["stewart", "driving_simulator"])
def test_a_reset_forgets_everything(name: str) -> None:
    check_again("bullet", machine(name))


def clients() -> int:
    """Return how many physics clients are open."""
    return sum(pybullet.isConnected(client) for client in range(64))


def test_closing_disconnects_every_client() -> None:
    before = clients()
    batch = make_batched_plant("bullet", machine("srspm"), 3, PERIOD)
    assert clients() == before + 3
    batch.reset(np.arange(3), platforms=[heavier(machine("srspm"))] * 3)
    assert clients() == before + 3
    batch.close()
    assert clients() == before


def test_more_rows_than_memory_are_refused() -> None:
    with pytest.raises(InputError, match="size"):
        make_batched_plant("bullet", machine("srspm"), 257, PERIOD)
    with pytest.raises(InputError, match="size"):
        make_batched_plant("bullet", machine("srspm"), 86, PERIOD, fidelity="accurate")


def test_a_ball_needs_a_fleet_that_has_one() -> None:
    batch = make_batched_plant("bullet", machine("stewart"), 1, PERIOD)
    with pytest.raises(InputError, match="ball"):
        batch.reset(np.array([0]), ball=np.zeros((1, 4)))
    batch.close()


def test_the_ball_is_the_engines() -> None:
    platform = machine("stewart")
    batch = make_batched_plant("bullet", platform, 2, PERIOD, mode="force", ball=True)
    starts = np.array([[0.05, -0.02, 0.1, 0.05], [0.0, 0.0, 3.0, 0.0]])
    batch.reset(np.arange(2), ball=starts)
    held = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
    engine = twin.make_engine("bullet", platform, batch.timestep, "fast", ball=True)
    engine.reset(ball=starts[0])
    np.testing.assert_array_equal(batch.ball[0], engine.ball)
    for _ in range(30):
        batch.advance(np.tile(held, (2, 1)))
        for _ in range(batch.ratio):
            engine.step(held)
        np.testing.assert_array_equal(batch.ball[0], engine.ball)
    np.testing.assert_array_equal(batch.ball_lost, [False, True])
    batch.reset(np.array([1]))
    assert not batch.ball_lost.any()
    engine.close()
    batch.close()


@pytest.mark.slow
def test_resets_with_new_machines_do_not_grow() -> None:
    """Bullet itself leaks some 8 kB with every world that is made and closed: twice that is met."""
    platform = machine("stewart")
    variants = [heavier(platform, 1.0 + 0.01 * k) for k in range(7)]
    batch = make_batched_plant("bullet", platform, 2, PERIOD)
    batch.reset(np.arange(2))
    sizes = []
    for count in range(230):
        batch.reset(np.array([count % 2]), platforms=[variants[count % 7]])
        if count in (50, 229):
            sizes.append(resident())
    assert sizes[1] - sizes[0] < 180 * 15.5e3
    batch.close()


def resident() -> int:
    """Return the memory [B] that this process has."""
    return 4096 * int(Path("/proc/self/statm").read_text().split()[1])
