"""One state of arrays is checked and computed by a kernel of its own: as a batch of one is."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tolerance import assert_within

import twin
import twin.rotations
from twin.errors import TwinError

CALLS = {
    "inverse_kinematics": lambda p, s: p.inverse_kinematics(s["pose"]),
    "jacobian": lambda p, s: p.jacobian(s["pose"]),
    "forward_dynamics": lambda p, s: p.forward_dynamics(
        s["pose"], s["twist"], s["forces"], s["wrench"], deflection=s["deflection"]
    ),
    "inverse_dynamics": lambda p, s: p.inverse_dynamics(
        s["pose"], s["twist"], s["acceleration"], s["wrench"], deflection=s["deflection"]
    ),
    "forward_kinematics": lambda p, s: p.forward_kinematics(s["lengths"], s["pose"]),
}


def state_of(platform):
    """Return the arguments of all calls at a moving state near home."""
    rng = np.random.default_rng(1)
    size = platform.home_reaches.mean()
    pose, twist, acceleration = platform.constrain(
        twin.rotations.displaced(platform.home, 0.02 * size * rng.normal(size=6)),
        0.1 * rng.normal(size=6),
        rng.normal(size=6),
    )
    return {
        "pose": pose,
        "twist": twist,
        "acceleration": acceleration,
        "forces": 10.0 * rng.normal(size=platform.n_actuators),
        "wrench": rng.normal(size=6),
        "deflection": 1e-3 * rng.normal(size=2 * platform.n_deflections),
        "lengths": platform.inverse_kinematics(pose),
    }


def outcome(call, platform, state):
    """Return the result of a call, or the text of its error without the number of the entry."""
    try:
        return call(platform, state)
    except TwinError as error:
        return str(error).replace("(0, ", "(").replace("entry 0 ", "entry ")


@pytest.mark.slow
@pytest.mark.quick
def test_a_state_is_a_batch_of_one(subtests, platform):
    state = state_of(platform)
    batch = {name: value[None] for name, value in state.items()}
    for name, call in CALLS.items():
        with subtests.test(name):
            assert_array_equal(call(platform, state), call(platform, batch)[0])


SPOILED = {
    "no number": np.nan,
    "infinite": np.inf,
    "too large": 2e150,
    "far away": 30.0,
    "below zero": -1.0,
}


@pytest.mark.every_kind
def test_a_state_keeps_the_rules_of_batches(subtests, platform):
    """A wrong entry anywhere has the result, or the error, that it has in a batch."""
    good = state_of(platform)
    for (name, call), field, (what, value) in (
        (call, field, spoiled)
        for call in CALLS.items()
        for field in good
        for spoiled in SPOILED.items()
    ):
        for entry in {0, len(good[field]) - 1} if len(good[field]) else ():
            with subtests.test(f"{name}: {field}[{entry}] {what}"):
                state = {**good, field: good[field].copy()}
                state[field][entry] = value
                batch = {key: array[None] for key, array in state.items()}
                found, expected = (
                    outcome(call, platform, arguments) for arguments in (state, batch)
                )
                if isinstance(expected, str):
                    assert isinstance(found, str)
                else:
                    assert_array_equal(found, expected[0])


@pytest.mark.quick
def test_other_arrays_are_computed_too(stewart):
    """Lists, single precision and slices with steps are no arrays for the kernel."""
    state = state_of(stewart)
    expected = stewart.inverse_kinematics(state["pose"])
    spread = np.repeat(state["pose"], 2)[::2]
    for pose in (state["pose"].tolist(), spread):
        assert_array_equal(stewart.inverse_kinematics(pose), expected)
    single = state["pose"].astype(np.float32)
    assert_within(stewart.inverse_kinematics(single), expected, 1e-6)
