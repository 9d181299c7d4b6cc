"""What engines refuse, when they are made and when they run, and what they say about it."""

import importlib
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from refusals import refused

import twin
from twin.engines import ENGINES, make_engine
from twin.errors import SingularPoseError

BAD_ARGUMENTS = [
    ("timestep", 0.0),
    ("timestep", np.inf),
    ("timestep", "fast"),
    ("fidelity", "best"),
    ("platform", "stewart"),
    ("largest_gap", 0.0),
    ("largest_gap", np.inf),
]


def engine_class(name):
    module, class_name = ENGINES[name]
    return getattr(importlib.import_module(module), class_name)


def test_bad_arguments_are_named(subtests, engine_name, stewart):
    for field, bad in BAD_ARGUMENTS:
        with subtests.test(f"{field}"):
            arguments = {"platform": stewart, field: bad}
            for factory in (
                engine_class(engine_name),
                lambda **given: make_engine(engine_name, **given),
            ):
                with refused(field=field):
                    factory(**arguments)


def test_unknown_engine_names_the_known_ones(subtests, stewart):
    for name in ["ode", "", None, 3, ["mujoco"]]:
        with subtests.test(f"{name}"):
            with refused("analytic, mujoco, bullet") as caught:
                make_engine(name, stewart)
            assert caught.value.field == "engine"


def test_unknown_options_name_the_known_ones(engine_name, stewart):
    for option in ("integratr", "platforms", "gap"):
        with refused("largest_gap") as caught:
            make_engine(engine_name, stewart, **{option: 1})
        assert caught.value.field == option


@pytest.mark.parametrize("engine_name", ["mujoco", "bullet"], indirect=True)
@pytest.mark.parametrize("bad", [1, "yes", None])
def test_engine_defaults_is_yes_or_no(engine_name, stewart, bad):
    with refused("True or False") as caught:
        make_engine(engine_name, stewart, engine_defaults=bad)
    assert caught.value.field == "engine_defaults"


BAD_VECTORS = st.one_of(
    st.sampled_from(["six", b"123456", [1, 2, [3], 4, 5, 6], {"leg_1": 1.0}, {1, 2}, object()]),
    st.sampled_from([np.zeros(6, complex), np.zeros(6, bool), np.zeros(6, "U1"), [None] * 6]),
    st.integers(0, 12).filter(lambda n: n not in (6, 7)).map(np.zeros),
    arrays.arrays(float, st.sampled_from([6, 7])).filter(lambda a: not np.isfinite(a).all()),
    st.integers(0, 3).map(lambda n: np.zeros((n, 6))),
    st.just([10**400] * 6),
)


@pytest.mark.slow
@given(bad=BAD_VECTORS)
def test_bad_vectors_are_refused_and_leave_the_state(engine_name, bad):
    engine, before = shared_engine(engine_name)
    calls = [
        ("forces", lambda: engine.step(bad)),
        ("wrench", lambda: engine.step(np.zeros(6), bad)),
        ("twist", lambda: engine.reset(None, bad)),
        ("pose", lambda: engine.reset(bad)),
    ]
    for field, call in calls:
        with refused(field=field):
            call()
    assert engine.save() == before


@cache
def shared_engine(name):
    engine = make_engine(name, twin.load("stewart"), fidelity="fast")
    engine.reset()
    return engine, engine.save()


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
