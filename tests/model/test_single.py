"""One state of arrays is checked and computed by a kernel of its own: as a batch of one is."""

from itertools import product

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


def outcome(call, platform, state):
    """Return the result of a call, or None where the state is refused."""
    try:
        return call(platform, state)
    except TwinError:
        return None


SPOILED = {
    "no number": np.nan,
    "infinite": np.inf,
    "too large": 2e150,
    "far away": 30.0,
    "below zero": -1.0,
}


@pytest.mark.every_kind
@pytest.mark.parametrize("name", CALLS)
def test_a_state_keeps_the_rules_of_batches(platform, states, name):
    """A wrong entry anywhere has the result that it has in a batch, or is refused as there."""
    good = {field: rows[0] for field, rows in states._asdict().items()}
    good["lengths"] = platform.inverse_kinematics(good["pose"])
    for (field, values), (what, value) in product(good.items(), SPOILED.items()):
        for entry in {0, len(values) - 1} if len(values) else ():
            state = {**good, field: values.copy()}
            state[field][entry] = value
            batch = {key: array[None] for key, array in state.items()}
            found, expected = (outcome(CALLS[name], platform, each) for each in (state, batch))
            message = f"{field}[{entry}] {what}"
            if expected is None:
                assert found is None, message
            else:
                assert_array_equal(found, expected[0], err_msg=message)


@pytest.mark.quick
def test_other_arrays_are_computed_too(stewart):
    """Lists, single precision and slices with steps are no arrays for the kernel."""
    pose = twin.rotations.displaced(stewart.home, 0.02 * np.arange(6.0))
    expected = stewart.inverse_kinematics(pose)
    for same in (pose.tolist(), np.repeat(pose, 2)[::2]):
        assert_array_equal(stewart.inverse_kinematics(same), expected)
    assert_within(stewart.inverse_kinematics(pose.astype(np.float32)), expected, 1e-6)
