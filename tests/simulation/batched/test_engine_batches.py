"""The batched plants of MuJoCo and PyBullet: each row equals a single engine, bit for bit."""

import numpy as np
import pytest
from batch_rig import PERIOD, check_again, check_alone, check_rows, machine
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused

import twin
from twin.simulation.batched import make_batched_plant

pytest.importorskip("pybullet")

CASES = [
    ("stewart", None),
    ("stewart", "hardware"),
    ("rss", "hardware"),
    ("driving_simulator", "hardware"),
    ("compliant_stewart", "hardware"),
    ("micro_hexapod", None),
]

both = pytest.mark.parametrize("engine", ["mujoco", "bullet"])


@pytest.mark.slow
@both
@pytest.mark.parametrize("mode", ["velocity", "force"])
@pytest.mark.parametrize(("name", "configuration"), CASES)
def test_rows_are_engines_with_plants(engine, name, configuration, mode):
    check_rows(engine, machine(name, configuration), mode)


@pytest.mark.parametrize(("engine", "fidelity"), [("mujoco", "fast"), ("bullet", "accurate")])
def test_the_other_fidelity_is_the_engines(engine, fidelity):
    check_rows(engine, machine("stewart"), "force", fidelity=fidelity)


@both
@pytest.mark.parametrize("name", ["compliant_stewart", "driving_simulator"])
def test_shaken_rows_are_shaken_engines(engine, name):
    check_rows(engine, machine(name), "force", shaken=True)


@pytest.mark.parametrize(
    ("engine", "name", "configuration", "rows"),
    [
        ("mujoco", "stewart", "hardware", 5),
        ("mujoco", "driving_simulator", None, 5),
        ("bullet", "stewart", None, 3),
        ("bullet", "driving_simulator", None, 3),
    ],
)
def test_rows_do_not_know_of_each_other(engine, name, configuration, rows):
    check_alone(engine, machine(name, configuration), rows)


@both
@pytest.mark.parametrize("name", ["stewart", "driving_simulator"])
def test_a_reset_forgets_everything(engine, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_again(engine, machine(name))
    assert not list(tmp_path.iterdir()), "MuJoCo logs what the batched plant knows"


@both
def test_a_ball_needs_a_fleet_that_has_one(engine):
    batch = make_batched_plant(engine, machine("stewart"), 1, PERIOD)
    with refused("ball"):
        batch.reset(np.array([0]), ball=np.zeros((1, 4)))
    batch.close()


@pytest.mark.parametrize(
    ("name", "fidelity", "tolerance"), [("mujoco", "accurate", 1e-12), ("bullet", "fast", 0.0)]
)
def test_the_ball_is_the_engines(name, fidelity, tolerance):
    platform = machine("stewart")
    batch = make_batched_plant(name, platform, 2, PERIOD, mode="force", ball=True)
    starts = np.array([[0.05, -0.02, 0.1, 0.05], [0.0, 0.0, 3.0, 0.0]])
    batch.reset(np.arange(2), ball=starts)
    held = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
    engine = twin.make_engine(name, platform, batch.timestep, fidelity, ball=True)
    engine.reset(ball=starts[0])
    assert_array_equal(batch.ball[0], engine.ball)
    for _ in range(30):
        batch.advance(np.tile(held, (2, 1)))
        for _ in range(batch.ratio):
            engine.step(held)
        assert_allclose(batch.ball[0], engine.ball, rtol=tolerance, atol=tolerance)
    assert_array_equal(batch.ball_lost, [False, True])
    batch.reset(np.array([1]))
    assert not batch.ball_lost.any()
    engine.close()
    batch.close()
