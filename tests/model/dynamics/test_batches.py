"""A batch gives what single states give, on any number of threads and lanes.

Bit for bit on threads, to rounding in lanes.
"""

from __future__ import annotations

import numpy as np
import pytest
from conftest import States
from numpy.testing import assert_array_equal
from paths import fitting
from refusals import refused
from tolerance import assert_within

import twin
from twin.errors import ForwardKinematicsError, TwinError, UnreachablePoseError
from twin.kernels import lanes as batches
from twin.kernels.kinematics import forward_kinematics_batch, inverse_kinematics_batch
from twin.model import batch
from twin.model.machine_model import MachineModel

CALLS = {
    "inverse_kinematics": lambda p, s: p.inverse_kinematics(s.pose),
    "forward_kinematics": lambda p, s: p.forward_kinematics(p.inverse_kinematics(s.pose)),
    "jacobian": lambda p, s: p.jacobian(s.pose),
    "jacobian_derivative": lambda p, s: p.jacobian_derivative(s.pose, s.twist),
    "constraints": lambda p, s: p.constraints(s.pose),
    "constrain": lambda p, s: np.concatenate(p.constrain(*s[:3]), axis=-1),
    "leg_coordinates": lambda p, s: np.concatenate(
        p.leg_coordinates(*s[:3], deflection=s.deflection), axis=-1
    ),
    "mass_matrix": lambda p, s: p.mass_matrix(s.pose, deflection=s.deflection),
    "forward_dynamics": lambda p, s: p.forward_dynamics(
        s.pose, s.twist, s.forces, s.wrench, deflection=s.deflection
    ),
    "inverse_dynamics": lambda p, s: p.inverse_dynamics(*s[:3], s.wrench, deflection=s.deflection),
    "energy": lambda p, s: np.stack(p.energy(s.pose, s.twist, deflection=s.deflection), axis=-1),
    "dissipation": lambda p, s: p.dissipation(s.pose, s.twist, deflection=s.deflection),
    "within_limits": lambda p, s: p.within_limits(s.pose),
    "condition_number": lambda p, s: p.condition_number(s.pose),
}


COUNT = 1031
"""A prime: the last group of lanes is not full."""

SAME = 1e-13
"""Relative to the largest entry: fused multiplications differ in their rounding."""

IN_LANES = [call for call in CALLS if hasattr(batches, f"{call}_lanes")]
assert len(IN_LANES) == 8, "a kernel in lanes has no call here"


@pytest.fixture(autouse=True)
def small_chunks(constants):
    """Split batches of this size, for fewer states."""
    constants(batch, MIN_STATES_PER_THREAD=256)


@pytest.mark.every_kind
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_batch_equals_single(platform, states, call):
    singles = [States(*(rows[k] for rows in states)) for k in range(len(states.pose))]
    expected = np.array([call(platform, single) for single in singles])
    assert_array_equal(call(platform, states), expected)


@pytest.fixture
def on_cores(monkeypatch):
    """Let a computer have another number of cores, which no option raises above the true one."""

    def set_count(count):
        monkeypatch.setattr(batch, "usable_cores", lambda: count)

    return set_count


def test_threads_change_nothing(subtests, platform, states, monkeypatch, on_cores):
    many = States(*(np.tile(rows, (11, 1)) for rows in states))
    assert len(many[0]) > 5 * batch.MIN_STATES_PER_THREAD, "too few states to be split"
    monkeypatch.setenv("TWIN_LANES", "1")
    for name, call in CALLS.items():
        on_cores(1)
        alone = call(platform, many)
        for cores in (2, 5):
            on_cores(cores)
            with subtests.test(f"{name}, {cores} cores"):
                assert_array_equal(call(platform, many), alone)


def repeated(states):
    """Return the states, again and again, so many that lanes are used."""
    return States(*(np.resize(rows, (COUNT, rows.shape[1])) for rows in states))


def test_first_failure_is_named_from_any_thread(srspm, on_cores):
    on_cores(3)
    lengths = np.tile(srspm.home_coordinates, (3 * batch.MIN_STATES_PER_THREAD, 1))
    for bad in (700, 600, 10):
        lengths[bad, 0] = 5.0
        with pytest.raises(ForwardKinematicsError) as caught:
            srspm.forward_kinematics(lengths)
        assert caught.value.data["index"] == bad


def test_arguments_broadcast(platform, states):
    pose, _, _, forces, wrench, deflection = states
    twist = np.zeros((1, 4, 6))
    grid = platform.forward_dynamics(
        pose[:3, None], twist, forces[0], wrench[:4], deflection=deflection[:3, None]
    )
    assert grid.shape == (3, 4, 6 + platform.n_deflections)
    assert_array_equal(
        grid[2, 1],
        platform.forward_dynamics(
            pose[2], np.zeros(6), forces[0], wrench[1], deflection=deflection[2]
        ),
    )


def test_arguments_are_left_alone(platform, states):
    copies = [rows.copy() for rows in states]
    for call in CALLS.values():
        call(platform, states)
    for rows, copy in zip(states, copies, strict=True):
        assert_array_equal(rows, copy)


@pytest.mark.quick
def test_a_limit_of_threads_is_kept(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert batch.usable_cores.__wrapped__() == 1


@pytest.mark.slow
@pytest.mark.parametrize("call", IN_LANES)
def test_lanes_agree_with_single_states(platform, states, call, monkeypatch):
    many = repeated(states)
    many.pose[:, 3:] *= 1.0 + 5e-7 * np.cos(np.arange(COUNT))[:, None]
    with monkeypatch.context() as alone:
        alone.setattr(MachineModel, "checked_states", None)  # not called where lanes check
        found = CALLS[call](platform, many)
    monkeypatch.setenv("TWIN_LANES", "1")
    expected = CALLS[call](platform, many)
    atol = SAME * float(np.abs(expected).max())
    assert_within(found, expected, atol)


SPOILED = {
    "no number": ("stewart", "forward_dynamics", "twist", (3, np.nan, 0.0)),
    "infinite": ("stewart", "forward_dynamics", "forces", (0, 0.0, -np.inf)),
    "too large": ("stewart", "forward_dynamics", "wrench", (5, 1.0, 2e150)),
    "long quaternion": ("stewart", "forward_dynamics", "pose", (3, 1.0 + 2e-6, 0.0)),
    "no result": ("rss", "jacobian", "pose", (2, 1.0, 5.0)),
    "foot moved": ("driving_simulator", "forward_dynamics", "pose", (0, 1.0, 2e-9)),
    "foot slides": ("driving_simulator", "forward_dynamics", "twist", (1, 1.0, 1e-8)),
    "foot accelerates": ("driving_simulator", "inverse_dynamics", "acceleration", (0, 1.0, -1e-7)),
    "out of reach": ("rss", "inverse_dynamics", "pose", (2, 1.0, 5.0)),
}
"""Machine, call, argument; its entry, factor and shift that spoil a state."""


@pytest.mark.parametrize(
    ("platform", "call", "field", "change"), SPOILED.values(), ids=SPOILED, indirect=["platform"]
)
def test_a_spoiled_state_in_any_lane_has_its_own_error(
    platform, states, call, field, change, monkeypatch
):
    entry, factor, shift = change
    for index in (*range(512, 520), COUNT - 1):
        many = repeated(states)
        rows = getattr(many, field)
        rows[index, entry] = factor * rows[index, entry] + shift
        errors = []
        for lanes in (batch.lane_count(), 1):
            with monkeypatch.context() as now, pytest.raises(TwinError) as caught:
                now.setenv("TWIN_LANES", str(lanes))
                CALLS[call](platform, many)
            errors.append((type(caught.value), str(caught.value)))
        assert errors[0] == errors[1]
        assert str(index) in errors[0][1] or field == "pose"


def found_in_lanes(platform, coordinates):
    """Return poses `(k, 7)` of single states and of lanes, NaN where there are none.

    Third is whether lanes have found one. All lanes of a group have the same coordinates.
    """
    given = np.repeat(coordinates, batch.lane_count(), axis=0)
    legs, guesses = (platform.constants.legs,), np.tile(platform.home, (len(given), 1))
    single, found = np.empty((2, len(given), 9))
    forward_kinematics_batch(*legs, given, guesses, single)
    single[single[:, 7] > 1e-12] = np.nan
    kernel = batches.forward_kinematics_lanes
    failed = batch.fill_in_lanes(kernel, legs, (given, guesses), found, from_user=False)
    every = slice(None, None, batch.lane_count())
    return single[every, :7], found[every, :7], ~failed


@pytest.mark.slow
def test_lanes_find_the_poses_of_single_states_beyond_the_range(platform):
    """Where single states need shorter steps or pieces, or find nothing, lanes find nothing."""
    random = np.random.default_rng(4)
    low, high = platform.minimum_coordinates, platform.maximum_coordinates
    beyond = 0.5 * (high - low)
    given = fitting(platform, random.uniform(low - beyond, high + beyond, (4000, len(low))))
    single, found, fine = found_in_lanes(platform, given)
    assert 0.5 < fine.mean() < 1.0 or platform.kind == "pillar"
    assert_within(found[fine], single[fine], SAME)
    solved = np.isfinite(single[:, 0])
    poses = platform.forward_kinematics(given[solved])
    assert_within(poses, single[solved], SAME)


@pytest.mark.quick
def test_number_of_lanes_is_a_choice(monkeypatch):
    assert batch.lane_count() in (2, 4, 8)
    monkeypatch.setenv("TWIN_LANES", "1")
    assert batch.lane_count() == 1
    monkeypatch.setenv("TWIN_LANES", "3")
    with refused("TWIN_LANES"):
        batch.lane_count()


def test_a_failing_state_fails_alone():
    rss = twin.load("rss")
    poses = np.tile(rss.home, (COUNT, 1))
    good = rss.inverse_kinematics(poses)
    bad = [700, COUNT - 1]
    poses[bad, 2] = 5.0
    with pytest.raises(UnreachablePoseError) as caught:
        rss.inverse_kinematics(poses)
    assert caught.value.data["index"] == bad[0]
    found = np.empty_like(good)
    failed = batch.run_batch(inverse_kinematics_batch, (rss.constants.legs,), (poses, found))
    assert failed == bad[0]
    assert np.isnan(found[bad]).all()
    rest = np.delete(np.arange(COUNT), bad)
    assert_within(found[rest], good[rest], SAME)
