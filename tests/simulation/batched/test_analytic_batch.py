"""The analytic batch against engine and plant stepped one by one; rows that know of nobody."""

import pickle
from copy import copy, deepcopy

import numpy as np
import pytest
from batch_rig import PERIOD, check_alone, check_rows, machine
from numpy.testing import assert_allclose
from refusals import refused
from tolerance import assert_within

import twin
from twin.errors import ClosedEngineError, StateError
from twin.machine.randomisation import with_values
from twin.model.batch import lane_count
from twin.simulation.batched import BATCHED_PLANTS, make_batched_plant

MACHINES = [
    ("stewart", None),
    ("stewart", "hardware"),
    ("srspm", None),
    ("rss", "hardware"),
    ("driving_simulator", "hardware"),
    ("compliant_stewart", "hardware"),
    ("micro_hexapod", None),
]


@pytest.mark.parametrize("mode", ["velocity", "force"])
@pytest.mark.parametrize(("name", "configuration"), MACHINES)
def test_is_engine_and_plant_step_by_step(name, configuration, mode):
    check_rows("analytic", machine(name, configuration), mode, tolerance=1e-12)


@pytest.mark.parametrize("mode", ["velocity", "force"])
def test_late_commands_are_waited_for(mode):
    """The delay is no whole number of periods."""
    parameters = twin.load("stewart", "hardware").parameters
    late = twin.Platform(with_values(parameters, {"leg.drive.delay": 0.0235}))
    check_rows("analytic", late, mode, tolerance=1e-12)


@pytest.mark.parametrize("configuration", [None, "hardware"])
def test_rows_do_not_know_of_each_other(configuration):
    check_alone("analytic", machine("stewart", configuration), 7)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "configuration"), [("stewart", "hardware"), ("driving_simulator", "hardware")]
)
def test_lanes_are_rows_one_by_one(name, configuration, monkeypatch):
    """Rows of different machines, the last group of lanes not full, one row that fails."""
    rows, platform = 19, machine(name, configuration)
    mass = platform.parameters.platform.body.mass
    heavy = platform.with_(parameters={"platform.body.mass": 1.3 * mass})
    machines = [heavy if row % 3 == 1 else platform for row in range(rows)]
    span = (platform.maximum_coordinates - platform.minimum_coordinates).min()
    wave = 0.2 * span * np.sin(np.arange(platform.n_actuators))
    command = np.linspace(0.2, 1.0, rows)[:, None] * wave
    wrench = np.zeros((rows, 6))
    wrench[4] = 1e200
    found = []
    for count in (lane_count(), 1):
        monkeypatch.setenv("TWIN_LANES", str(count))
        batch = make_batched_plant("analytic", platform, rows, PERIOD)
        batch.reset(np.arange(rows), platforms=machines)
        for _ in range(4):
            batch.advance(command, wrench=wrench)
        found.append([np.asarray(array) for array in batch.machines])
    assert found[0][-1].tolist() == [row == 4 for row in range(rows)]
    for field, one, other in zip(batch.machines._fields, *found, strict=True):
        atol = 1e-9 * max(float(np.abs(other).max(initial=0.0)), 1.0)
        assert_allclose(one, other, rtol=1e-9, atol=atol, err_msg=field)


@pytest.mark.parametrize(
    ("engine", "rows"), [("analytic", 2), ("analytic", 40), ("mujoco", 2), ("bullet", 2)]
)
@pytest.mark.parametrize("copied", [copy, deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_copies_go_on_alone_or_are_refused(engine, copied, rows):
    """With several chunks and lanes too, whose arrays are views of the whole ones."""
    machine = twin.load("stewart", "hardware")
    one, other = (make_batched_plant(engine, machine, rows, PERIOD) for _ in range(2))
    for batch in (one, other):
        batch.reset(np.arange(rows))
        batch.advance(np.full((rows, 6), 0.01))
    if engine == "mujoco":
        with pytest.raises(StateError, match="cannot be copied"):
            copied(one)
        return
    again = copied(one)
    other.advance(np.full((rows, 6), 0.02))
    for batch in (again, one):
        batch.advance(np.full((rows, 6), 0.02))
        assert_within(batch.pose, other.pose, 1e-12)
        assert_allclose(batch.forces, other.forces, rtol=1e-9, atol=1e-9)


def test_shaking_is_gravity_of_the_other_sign():
    """A base that falls freely leaves the machine without weight."""
    platform = twin.load("srspm")
    batch = make_batched_plant("analytic", platform, 1, PERIOD, mode="force")
    batch.reset(np.array([0]))
    fall = np.zeros((1, batch.ratio, 3))
    fall[..., 2] = -platform.parameters.gravity
    for _ in range(5):
        batch.advance(np.zeros((1, 6)), shaking=fall)
    assert_within(batch.pose[0], platform.home, 1e-14)


@pytest.mark.parametrize("engine", BATCHED_PLANTS)
def test_what_acted_in_one_period_is_gone_in_the_next(engine):
    batch = make_batched_plant(engine, twin.load("stewart"), 1, PERIOD)
    still = np.zeros((1, 6))
    batch.reset(np.array([0]))
    batch.advance(still)
    wanted = [array.copy() for array in batch.machines]
    batch.advance(
        still,
        feedforward=np.full((1, 6), 30.0),
        wrench=np.full((1, 6), 50.0),
        shaking=np.full((1, batch.ratio, 3), 2.0),
    )
    batch.reset(np.array([0]))
    batch.advance(still)
    for found, before in zip(batch.machines, wanted, strict=True):
        assert np.array_equal(found, before)
    batch.close()


@pytest.mark.parametrize("ball", [None, True])
@pytest.mark.parametrize("configuration", [None, "hardware"])
@pytest.mark.parametrize("engine", BATCHED_PLANTS)
def test_commands_that_are_no_numbers_fail_their_row_alone(engine, configuration, ball):
    platform = machine("stewart", configuration)
    batch = make_batched_plant(engine, platform, 2, PERIOD, ball=ball)
    batch.reset(np.arange(2))
    command = np.zeros((2, 6))
    command[0, 3] = np.nan
    batch.advance(command)
    assert batch.failed.tolist() == [True, False]
    assert all(np.isfinite(array).all() for array in batch.machines)
    batch.reset(np.arange(2))
    batch.advance(np.zeros((2, 6)))
    assert all(np.array_equal(array[0], array[1]) for array in batch.machines)
    batch.close()


def test_rows_whose_reset_was_refused_do_not_go_on():
    platform = twin.load("stewart")
    heavy = twin.Platform(with_values(platform.parameters, {"platform.body.mass": 130.0}))
    batch = make_batched_plant("analytic", platform, 2, PERIOD)
    batch.reset(np.arange(2))
    far = np.tile(platform.home, (2, 1))
    far[1, 0] = np.nan
    with refused("pose"):
        batch.reset(np.arange(2), pose=far, platforms=[heavy, heavy])
    with pytest.raises(ClosedEngineError, match="reset"):
        batch.advance(np.zeros((2, 6)))
    batch.reset(np.array([1]))
    batch.advance(np.zeros((2, 6)))
    assert all(np.array_equal(array[0], array[1]) for array in batch.machines)


def test_bad_arguments_are_refused():
    platform, row = twin.load("stewart"), np.array([0])
    for engine, size, timestep, options, field in (
        ("ode", 1, None, {}, "engine"),
        ("analytic", 1, 3e-3, {}, "timestep"),
        ("analytic", 0, None, {}, "size"),
        ("analytic", 1, None, {"mode": "lengths"}, "mode"),
        ("analytic", 1, None, {"colour": "red"}, "colour"),
    ):
        with refused(field):
            make_batched_plant(engine, platform, size, PERIOD, timestep, **options)
    batch = make_batched_plant("analytic", platform, 1, PERIOD)
    with pytest.raises(ClosedEngineError):
        batch.advance(np.zeros((1, 6)))
    with refused("indices"):
        batch.reset(np.array([1]))
    with refused("pose"):
        batch.reset(row, pose=np.zeros((1, 7)))
    with refused("platforms"):
        batch.reset(row, platforms=[twin.load("rss")])
    for start in (3.0, np.zeros((2, 4))):
        with refused("ball"):
            batch.reset(row, ball=start)
    batch.reset(row)
    with refused("command"):
        batch.advance(np.zeros((1, 5)))
    for field, width in (("feedforward", 6), ("wrench", 5), ("shaking", 3)):
        with refused(field):
            batch.advance(np.zeros((1, 6)), **{field: np.zeros(width)})
    batch.close()
    batch.close()
    with pytest.raises(ClosedEngineError):
        batch.reset(row)


@pytest.mark.parametrize("name", twin.machine_names())
def test_chosen_step_divides_the_period(name):
    for configuration in (None, "hardware"):
        batch = make_batched_plant("analytic", machine(name, configuration), 1, PERIOD)
        assert batch.timestep <= 1e-3 * (1.0 + 1e-9)
        assert_allclose(batch.ratio * batch.timestep, PERIOD, rtol=1e-12)
