"""What engines refuse, when they are made and when they run, and what they say about it."""

import numpy as np
import pytest
from refusals import assert_all_refused, refused

from twin.engines import make_engine
from twin.errors import SingularPoseError

BAD_ARGUMENTS = [
    ({"timestep": 0.0}, "^timestep"),
    ({"timestep": np.inf}, "^timestep"),
    ({"timestep": "fast"}, "^timestep"),
    ({"fidelity": "best"}, "^fidelity"),
    ({"platform": "stewart"}, "^platform"),
    ({"largest_gap": 0.0}, "^largest_gap"),
    ({"largest_gap": np.inf}, "^largest_gap"),
    ({"integratr": 1}, "^integratr.*largest_gap"),
]


def test_bad_arguments_are_named(engine_name, stewart):
    assert_all_refused(
        lambda arguments: make_engine(engine_name, **{"platform": stewart, **arguments}),
        BAD_ARGUMENTS,
    )


def test_unknown_engine_names_the_known_ones(stewart):
    assert_all_refused(
        lambda name: make_engine(name, stewart),
        [(name, "^engine.*analytic, mujoco, bullet") for name in ("ode", "", None, ["mujoco"])],
    )


@pytest.mark.parametrize("engine_name", ["mujoco", "bullet"], indirect=True)
def test_engine_defaults_is_yes_or_no(engine_name, stewart):
    with refused("engine_defaults.*True or False"):
        make_engine(engine_name, stewart, engine_defaults="yes")


BAD_VECTORS = (
    "six",
    [1, 2, [3], 4, 5, 6],
    {"leg_1": 1.0},
    np.zeros(6, complex),
    np.zeros(6, "U1"),
    [None] * 6,
    np.zeros(5),
    np.full(6, np.nan),
    np.full(7, np.inf),
    np.zeros((2, 6)),
    [10**400] * 6,
)


def test_bad_vectors_are_refused_and_leave_the_state(make, engine_name, stewart):
    engine = make(engine_name, stewart, fidelity="fast")
    engine.reset()
    before = engine.save()
    for bad in BAD_VECTORS:
        calls = [
            ("forces", lambda bad=bad: engine.step(bad)),
            ("wrench", lambda bad=bad: engine.step(np.zeros(6), bad)),
            ("twist", lambda bad=bad: engine.reset(None, bad)),
            ("pose", lambda bad=bad: engine.reset(bad)),
        ]
        for field, call in calls:
            with refused(field=field):
                call()
    assert engine.save() == before


def test_forces_of_any_kind_that_numpy_reads(make, engine_name, stewart, same_bits):
    engine = make(engine_name, stewart, fidelity="fast")
    kinds = [np.arange(6.0), np.arange(6), list(range(6)), (0, 1, 2, 3, 4, 5)]
    kinds += [
        np.arange(6, dtype=np.float32),
        np.arange(12.0)[::2] / 2.0,
        np.arange(6.0, dtype=">f8"),
    ]
    fixed = np.arange(6.0)
    fixed.flags.writeable = False
    states = []
    for forces in [*kinds, fixed]:
        engine.reset()
        states.append(engine.step(forces, forces))
    assert all(same_bits(state, states[0]) for state in states[1:])


def test_singular_start_is_refused(make, engine_name, stewart, same_bits):
    engine = make(engine_name, stewart)
    before = engine.reset()
    along_first_axis = stewart.home.copy()
    along_first_axis[:3] = (
        stewart.base_joints[0] + stewart.first_axes[0] - stewart.platform_joints[0]
    )
    with pytest.raises(SingularPoseError):
        engine.reset(along_first_axis)
    assert same_bits(engine.state, before)
