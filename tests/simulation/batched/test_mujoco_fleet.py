"""The fleet in MuJoCo: rows that are single engines bit for bit, whatever the others do."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fleet_rig import (
    PERIOD,
    advanced,
    check_again,
    check_alone,
    check_rows,
    heavier,
    machine,
    orders,
)

import twin
from twin.errors import InputError
from twin.machine.randomisation import with_values
from twin.simulation.batched import make_fleet

CASES = [(name, preset) for name in twin.machine_names() for preset in (None, "hardware")]


@pytest.mark.parametrize("mode", ["velocity", "force"])
@pytest.mark.parametrize(("name", "plant"), CASES)
def test_rows_are_engines_with_plants(name: str, plant: str | None, mode: str) -> None:
    check_rows("mujoco", machine(name, plant), mode)


def test_the_fast_preset_is_the_engines() -> None:
    check_rows("mujoco", machine("stewart"), "force", preset="fast")


@pytest.mark.parametrize("name", ["compliant_stewart", "driving_simulator"])
def test_shaken_rows_are_shaken_engines(name: str) -> None:
    check_rows("mujoco", machine(name), "force", shaken=True)


def test_gravity_is_back_after_shaking() -> None:
    fleet = make_fleet("mujoco", machine("srspm"), 2, PERIOD, mode="force")
    fleet.reset(np.arange(2))
    calm = orders(fleet, 2)
    wanted = advanced(fleet, calm)
    advanced(fleet, orders(fleet, 2, shaken=True))
    fleet.reset(np.arange(2))
    np.testing.assert_array_equal(advanced(fleet, calm).pose, wanted.pose)
    fleet.close()


@pytest.mark.parametrize(("name", "plant"), [("stewart", "hardware"), ("driving_simulator", None)])
def test_rows_do_not_know_of_each_other(name: str, plant: str | None) -> None:
    check_alone("mujoco", machine(name, plant), 5)


@pytest.mark.parametrize("name", ["stewart", "driving_simulator"])
def test_a_reset_forgets_everything(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    check_again("mujoco", machine(name))
    assert not list(tmp_path.iterdir()), "MuJoCo logs what the fleet knows"


def test_forces_held_over_a_period_are_those_of_every_step(monkeypatch: Any) -> None:
    fleet = make_fleet("mujoco", machine("stewart"), 2, PERIOD, mode="force")
    given, told = orders(fleet, 4), []
    for runs in ([fleet.ratio - 1, 1], [1] * fleet.ratio):
        monkeypatch.setattr(type(fleet), "_runs", lambda _, runs=runs: runs)
        fleet.reset(np.arange(2))
        told.append(advanced(fleet, given))
    for one, other in zip(*told, strict=True):
        np.testing.assert_array_equal(one, other)
    fleet.close()


def test_a_period_of_one_step(monkeypatch: Any) -> None:
    fleet = make_fleet("mujoco", machine("driving_simulator"), 1, 1e-3, 1e-3, mode="force")
    fleet.reset(np.array([0]))
    given = orders(fleet, 3)
    found = advanced(fleet, given)
    change = np.diff(found.twist[0], axis=0, prepend=np.zeros((1, 6))) / 1e-3
    np.testing.assert_allclose(found.acceleration[0], change, rtol=1e-12, atol=1e-12)
    fleet.close()


def test_an_open_loop_fails_its_row() -> None:
    """A blow of 1e9 N m opens loops by more than the guard of engines allows."""
    fleet = make_fleet("mujoco", machine("stewart"), 2, PERIOD, mode="force")
    fleet.reset(np.arange(2))
    given = orders(fleet, 1)
    given.wrench[1, :, 3] = 1e9
    advanced(fleet, given)
    np.testing.assert_array_equal(fleet.failed, [False, True])
    assert fleet.gap[0] < 1e-4
    fleet.close()


def test_rough_feet_rub_as_in_the_engine() -> None:
    platform = machine("driving_simulator", "hardware")
    rough = with_values(platform.parameters, {"leg.friction.coulomb": 60.0})
    check_rows("mujoco", twin.Platform(rough), "force")


def test_machines_of_other_parts_are_refused(monkeypatch: Any) -> None:
    fleet = make_fleet("mujoco", machine("stewart"), 1, PERIOD)
    with pytest.raises(InputError, match="platforms"):
        fleet.reset(np.array([0]), platforms=[machine("rss")])
    with pytest.raises(InputError, match="platforms"):
        fleet.reset(np.array([0]), platforms=[machine("driving_simulator")])
    fleet.close()


def test_a_ball_needs_a_fleet_that_has_one() -> None:
    fleet = make_fleet("mujoco", machine("stewart"), 1, PERIOD)
    with pytest.raises(InputError, match="ball"):
        fleet.reset(np.array([0]), ball=np.zeros((1, 4)))
    fleet.close()


def test_the_ball_is_the_engines() -> None:
    platform = machine("stewart")
    fleet = make_fleet("mujoco", platform, 2, PERIOD, mode="force", ball=True)
    starts = np.array([[0.05, -0.02, 0.1, 0.05], [0.0, 0.0, 3.0, 0.0]])
    fleet.reset(np.arange(2), ball=starts)
    held = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
    engine = twin.make_engine("mujoco", platform, fleet.timestep, ball=True)
    engine.reset(ball=starts[0])
    np.testing.assert_array_equal(fleet.ball[0], engine.ball)
    for _ in range(30):
        fleet.advance(np.tile(held, (2, 1)))
        for _ in range(fleet.ratio):
            engine.step(held)
        np.testing.assert_allclose(fleet.ball[0], engine.ball, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(fleet.ball_lost, [False, True])
    fleet.reset(np.array([1]))
    assert not fleet.ball_lost.any()
    engine.close()
    fleet.close()


def test_closing_frees_the_batch() -> None:
    fleet = make_fleet("mujoco", machine("srspm"), 2, PERIOD)
    batch = weakref.ref(fleet._batch)
    fleet.close()
    gc.collect()
    assert batch() is None


@pytest.mark.slow
def test_resets_with_new_machines_do_not_grow() -> None:
    """1000 compiled models of 50 kB each would be 50 MB."""
    platform = machine("stewart")
    variants = [heavier(platform, 1.0 + 0.01 * k) for k in range(8)]
    fleet = make_fleet("mujoco", platform, 4, PERIOD, preset="fast")
    fleet.reset(np.arange(4))
    sizes = []
    for count in range(1000):
        fleet.reset(np.array([count % 4]), platforms=[variants[count % 7]])
        if count % 20 == 0:
            fleet.advance(np.zeros((4, 6)))
        if count in (200, 999):
            sizes.append(resident())
    assert sizes[1] - sizes[0] < 5e6
    fleet.close()


def resident() -> int:
    """Return the memory [B] that this process has."""
    return 4096 * int(Path("/proc/self/statm").read_text().split()[1])
