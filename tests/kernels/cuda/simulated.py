"""Kernels of a graphics card in numba's simulator against the processor; see test_simulated.py.

Needs NUMBA_ENABLE_CUDASIM=1 in the environment before numba is imported.
"""

import gymnasium as gym
import numpy as np
import pytest
from conftest import States
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from tolerance import assert_within, max_abs

import twin
import twin.envs
from twin.errors import (
    ForwardKinematicsError,
    IntegrationError,
    SingularPoseError,
    StateError,
)
from twin.kernels.cuda import batches
from twin.kernels.integrators import runge_kutta
from twin.model.device import CardModel, CardMotion

COUNT = 4


def host(value):
    """Return an array of the card as one of numpy."""
    return value.copy_to_host()


def difference(found, expected):
    """Return the largest difference from `expected`, in parts of its largest entry."""
    return float(max_abs(found - expected) / max_abs(expected))


@pytest.fixture
def some(states):
    """A few of the states."""
    return States(*(array[:COUNT] for array in states))


CALLS = {
    "inverse_kinematics": ("pose",),
    "jacobian": ("pose",),
    "jacobian_derivative": ("pose", "twist"),
    "mass_matrix": ("pose",),
    "forward_dynamics": ("pose", "twist", "forces", "wrench"),
    "inverse_dynamics": ("pose", "twist", "acceleration", "wrench"),
    "energy": ("pose", "twist"),
}
"""Batch calls with what they are given of a state."""

OF_SPRINGS = ("mass_matrix", "forward_dynamics", "inverse_dynamics", "energy")
"""Calls that take the deflection of springs, too."""


def called(model, name, states, **options):
    """Return the results of a batch call: one, or two energies."""
    if name in OF_SPRINGS:
        options["deflection"] = states.deflection
    result = getattr(model, name)(*(getattr(states, field) for field in CALLS[name]), **options)
    return result if isinstance(result, tuple) else (result,)


def test_batches_equal_the_processor(platform, some):
    for name in CALLS:
        pairs = [called(model, name, some) for model in (platform.on("cuda"), platform)]
        for found, expected in zip(*pairs, strict=True):
            assert host(found).shape == expected.shape
            assert difference(host(found), expected) < 1e-12, name


def test_poses_equal_the_processor(platform, some):
    card, coordinates = platform.on("cuda"), platform.inverse_kinematics(some.pose)
    for guess in (platform.home, some.pose[::-1].copy()):
        expected = platform.forward_kinematics(coordinates, np.broadcast_to(guess, (COUNT, 7)))
        found = card.forward_kinematics(coordinates, guess)
        assert difference(host(found), expected) < 1e-12
        assert difference(host(card.inverse_kinematics(found)), coordinates) < 1e-12
    out = card.copied(np.zeros((COUNT, 7)))
    card.forward_kinematics(card.copied(coordinates), out=out)
    assert_array_equal(host(out), host(card.forward_kinematics(coordinates)))


def test_coordinates_without_a_pose_are_named(stewart):
    coordinates = np.tile(stewart.home_coordinates, (3, 1))
    coordinates[1, 0] *= 3.0
    with pytest.raises(ForwardKinematicsError, match="entry 1: no pose") as caught:
        stewart.on("cuda").forward_kinematics(coordinates)
    assert_array_equal(caught.value.data["lengths"], coordinates[1])
    assert_array_equal(caught.value.data["pose"], stewart.home)


def test_steps_equal_the_processor(platform, some):
    k, step, count = platform.n_deflections, 1e-4, 3
    moved = platform.on("cuda").advance(
        some.pose, some.twist, some.forces, some.wrench, deflection=some.deflection,
        timestep=step, steps=count,
    )  # fmt: skip
    for i in range(COUNT):
        y = np.concatenate([some.pose[i], some.twist[i], some.deflection[i]])
        load = (some.forces[i], np.zeros(platform.n_actuators), some.wrench[i])
        work = np.empty(count), np.empty((count, y.size)), np.empty((count + 1, y.size))
        assert runge_kutta(*platform.constants[:2], y, load, step, *work) == count
        found = np.concatenate([host(part)[i] for part in moved])
        assert found.shape == (13 + 2 * k,)
        assert difference(found, y) < 1e-12


def test_results_go_to_arrays_that_are_given(platform, some):
    card = platform.on("cuda")
    for name in CALLS.keys() - {"energy"}:
        expected = host(*called(card, name, some))
        out = card.copied(np.zeros(expected.shape))
        (result,) = called(card, name, some, out=out)
        np.testing.assert_array_equal(host(out), expected)
        np.testing.assert_array_equal(host(result), expected)
        single = card.copied(np.zeros(expected.shape, dtype=np.float32))
        for wrong in (np.zeros(expected.shape), card.copied(np.zeros(3)), single):
            with refused("out: must be a contiguous float64"):
                called(card, name, some, out=wrong)


def test_batches_may_be_empty(platform):
    card, n = platform.on("cuda"), platform.n_actuators
    poses, twists, forces = np.zeros((0, 7)), np.zeros((0, 6)), np.zeros((0, n))
    assert card.inverse_kinematics(poses).shape == (0, n)
    assert card.mass_matrix(poses).shape == (0, 6, 6)
    moved = card.advance(poses, twists, forces)
    assert (moved.pose.shape, moved.twist.shape) == ((0, 7), (0, 6))


def test_states_are_advanced_in_place():
    machine = twin.load("compliant_stewart")
    card = machine.on("cuda")
    k, forces = machine.n_deflections, np.full(machine.n_actuators, 100.0)
    start = np.tile(machine.home, (2, 1)), np.full((2, 6), 0.01), np.full((2, 2 * k), 1e-4)
    expected = card.advance(*start[:2], forces, deflection=start[2], timestep=1e-4, steps=4)
    state = CardMotion(*(card.copied(part) for part in start))
    for _ in range(2):
        card.advance(
            state.pose, state.twist, forces, deflection=state.deflection,
            timestep=1e-4, steps=2, out=state,
        )  # fmt: skip
    for found, right in zip(state, expected, strict=True):
        assert_within(host(found), host(right), 1e-14)


def test_failures_are_raised_on_demand(stewart):
    card = stewart.on("cuda", checked=False)
    poses = np.tile(stewart.home, (3, 1))
    card.check()
    bad = poses.copy()
    bad[1:, 2] = np.nan
    card.inverse_kinematics(card.copied(bad))
    card.inverse_kinematics(poses)
    with pytest.raises(StateError, match="entry 1 of a call since the last check") as caught:
        card.check()
    assert caught.value.data["index"] == 1
    card.inverse_kinematics(poses)
    card.check()


def test_what_is_wrong_is_refused(stewart):
    card = stewart.on("cuda")
    poses = np.tile(stewart.home, (3, 1))
    poses[2, 3:] *= 1.1
    with refused("norm 1"):
        card.inverse_kinematics(card.copied(poses.reshape(-1)).reshape(3, 7))
    with refused("leading axes"):
        card.jacobian_derivative(np.tile(stewart.home, (3, 1)), np.zeros((2, 6)))
    with refused("float64"):
        card.jacobian(card.copied(np.ones(7, dtype=np.float32)))
    with refused("steps"):
        card.advance(stewart.home, np.zeros(6), np.zeros(6), steps=0)
    twists = card.copied(np.repeat([0.0, np.nan, 0.0], 6)).reshape(3, 6)
    with pytest.raises(IntegrationError, match="entry 1") as caught:
        card.advance(stewart.home, twists, np.zeros(6))
    assert caught.value.data["index"] == 1
    with pytest.raises(SingularPoseError, match="entry 1"):
        card.forward_dynamics(stewart.home, twists, np.zeros(6))


def test_a_wrong_layout_is_found(stewart, monkeypatch):
    """Rows that are read by columns must not pass the comparison."""

    def by_columns(given, k, size, out):
        count = given.shape[0] // max(size, 1)
        for j in range(size):
            out[j] = given[j * count + (k if count > 1 else 0)]

    twists = np.random.default_rng(1).normal(size=(COUNT, 6))
    expected = stewart.jacobian_derivative(stewart.home, twists)
    card = stewart.on("cuda")
    assert difference(host(card.jacobian_derivative(stewart.home, twists)), expected) < 1e-12
    monkeypatch.setattr(batches, "read_row", by_columns)
    assert difference(host(card.jacobian_derivative(stewart.home, twists)), expected) > 1e-3


def environments(machine, size, **options):
    """Return vector environments on the card and on the processor, begun with the same seed."""
    made = [
        gym.make_vec(
            "twin/PoseTracking-v0", num_envs=size, vectorization_mode="vector_entry_point",
            machine=machine, max_episode_steps=3, **options, **device,
        )
        for device in ({"device": "cuda"}, {})
    ]  # fmt: skip
    first = [env.reset(seed=5)[0] for env in made]
    assert_array_equal(host(first[0]), first[1])
    return made[0], made[1]


CASES = (
    ("stewart", {}),
    ("stewart", {"configuration": "hardware"}),
    ("driving_simulator", {"action": "forces"}),
    ("compliant_stewart", {}),
)


@pytest.mark.parametrize(("machine", "options"), CASES)
def test_environments_equal_the_processor(machine, options):
    card, processor = environments(machine, 2, **options)
    starts = host(card.reset()[0])
    random = np.random.default_rng(3)
    for period in range(3):
        actions = random.uniform(-1.5, 1.5, processor.action_space.shape)
        on_card = [host(value) for value in card.step(actions)[:4]]
        observation, reward, terminated, truncated, _ = processor.step(actions)
        assert_allclose(on_card[0], observation, rtol=1e-6, atol=1e-6)
        assert_allclose(on_card[1], reward, rtol=1e-12, atol=1e-12)
        assert (on_card[2] == terminated).all()
        assert (on_card[3] == truncated).all()
        assert on_card[3].all() == (period == 2)
    there = card.platform.on("cuda").copied(actions.reshape(-1)).reshape(actions.shape)
    observation, reward, *ends, _ = card.step(there)
    assert_array_equal(host(observation), starts[::-1])  # the next motion of the two
    assert not host(reward).any()
    assert not any(host(end).any() for end in ends)


def test_an_action_that_is_no_number_ends_its_episode_alone():
    card, processor = environments("stewart", 2)
    actions = np.zeros(processor.action_space.shape)
    actions[1, 2] = np.nan
    _, _, terminated, _, _ = card.step(actions)
    assert host(terminated).tolist() == [False, True]
    with refused("shape"):
        card.step(np.zeros((3, 6)))


def test_what_the_card_cannot_do_is_refused():
    wrong = (
        {"engine": "mujoco"},
        {"randomisation": {"gravity": [9.0, 10.0]}},
        {"autoreset_mode": "SameStep"},
        {"action": "pose"},
        {"render_mode": "rgb_array"},
    )
    for options in wrong:
        with refused(next(iter(options))):
            environments("stewart", 1, **options)
    assert isinstance(twin.load("stewart").on("cuda"), CardModel)
