"""Malformed calls: each ends in a TwinError or in finite arrays of the right shape.

Every public function and method gets arguments of which at least one is spoiled: wrong shapes,
types and values, ragged lists, numbers too large, quaternions that are none. No NaN may come back,
no other exception, and no call may hang.
"""

from __future__ import annotations

import datetime
import itertools
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import twin
from twin.engines.base import replay
from twin.errors import MissingDependencyError, TwinError
from twin.model.integrate import ForceTable, integrate
from twin.rotations import angles_from_quaternion, pose_from_angles, quaternion_from_angles
from twin.simulation.trajectory import Trajectory

# Numbers that are too large are an error or an answer, but nothing to mutter about.
pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning", "error::DeprecationWarning")

EXAMPLES = 20
LONGEST = datetime.timedelta(seconds=10)
"""A call that takes longer hangs; the slowest here takes a tenth of a second."""

checked = settings(
    max_examples=EXAMPLES,
    deadline=LONGEST,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

scalars = st.sampled_from(
    [
        None,
        True,
        "",
        "1",
        "pose",
        b"1",
        1j,
        object(),
        float,
        len,
        10**400,
        -1,
        0,
        np.nan,
        np.inf,
        -np.inf,
        1e300,
        5e-324,
        np.float32("nan"),
        np.datetime64("2020-01-01"),
        (),
        [],
        {},
        {"pose": 1.0},
        {1.0, 2.0},
        [None] * 6,
        [[1.0, 2.0], [3.0]],
        [[[[]]]],
        ["a"] * 7,
        [True] * 6,
        [1 + 1j] * 6,
        iter([1.0]),
        np.array([object()] * 6),
        np.zeros((7, 0)),
        np.ma.masked_all(6),
        np.full(6, np.nan),
        np.zeros(7),
        np.full(7, 1e300),
    ]
)
"""Things that are no vector of the right kind, or only look like one."""

junk = st.one_of(
    scalars,
    arrays.arrays(
        st.sampled_from(
            [np.float64, np.float32, np.int64, np.bool_, np.complex128, np.dtype("U3")]
        ),
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=8),
    ),
    st.lists(st.floats() | st.text(max_size=2) | st.none(), max_size=8),
)

unusual = st.sampled_from([np.nan, np.inf, -np.inf, 1e308, -1e200, 1e20, 1e-308, 0.0])

UNSOUND = {"time", "duration", "timestep"}
"""Numbers that are spoiled as a whole; a duration of 1e20 s would be no fault but a long wait."""


@st.composite
def spoiled(draw: st.DrawFn, value: Any) -> Any:
    """Draw something that is not quite `value`."""
    if isinstance(value, str):
        return draw(junk)
    array = np.array(value, dtype=float)
    change = draw(st.sampled_from(["junk", "entry", "shorter", "longer", "scaled", "text"]))
    if change == "junk" or not array.ndim:
        return draw(junk)
    if change == "entry":
        array[..., draw(st.integers(0, array.shape[-1] - 1))] = draw(unusual)
    elif change == "shorter":
        array = array[..., :-1]
    elif change == "longer":
        array = np.concatenate([array, array], axis=-1)
    elif change == "scaled":
        with np.errstate(all="ignore"):
            array = array * draw(unusual)
    else:
        return array.astype(str).tolist()
    return array


class Call(NamedTuple):
    """A function with good arguments, and the last axes of its results."""

    function: Callable[..., Any]
    good: dict[str, Any]
    shapes: tuple[tuple[int, ...], ...]


@st.composite
def arguments(draw: st.DrawFn, good: dict[str, Any]) -> dict[str, Any]:
    """Draw arguments of which at least one is spoiled."""
    names = list(good)
    bad = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    return {
        name: draw(scalars if name in UNSOUND else spoiled(value)) if name in bad else value
        for name, value in good.items()
    }


def check(call: Call, given_arguments: dict[str, Any]) -> None:
    """Assert that a call fails as it should, or gives finite arrays of the right shape."""
    try:
        result = call.function(**given_arguments)
    except TwinError as error:
        assert len(str(error)) > 10
        return
    results = result if isinstance(result, tuple) else (result,)
    assert len(results) == len(call.shapes)
    for array, shape in zip(results, call.shapes, strict=True):
        assert isinstance(array, np.ndarray)
        assert array.shape[array.ndim - len(shape) :] == shape
        assert np.isfinite(array).all()


@pytest.fixture(scope="module", autouse=True)
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the state dumps of stopped engines out of the way."""
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path_factory.mktemp("dumps"))
    yield
    tempfile.tempdir = before


stewart = twin.load("stewart")
HOME = stewart.home.tolist()
POSE, TWIST, SIX = HOME, [0.1] * 6, [10.0] * 6
motion = stewart.simulate(0.002)
solution = integrate(stewart, 0.002)


def numeric_calls(platform: twin.Platform) -> dict[str, Call]:
    """Return the numeric methods of a machine with arguments it can be asked with."""
    n, k, home = platform.n_actuators, platform.n_deflections, platform.home
    joints = 4 if k else 3
    pose, twist, acceleration = (
        part.tolist() for part in platform.constrain(home, [0.1] * 6, [0.1] * 6)
    )
    forces = [10.0] * n
    # Only machines with springs take anything there.
    inside = {"deflection": [0.01] * 2 * k} if k else {}
    state = {"pose": pose, "twist": twist}
    coordinates = platform.home_coordinates.tolist()
    calls = {
        "inverse_kinematics": Call(platform.inverse_kinematics, {"pose": pose}, ((n,),)),
        "forward_kinematics": Call(
            platform.forward_kinematics, {"lengths": coordinates, "guess": pose}, ((7,),)
        ),
        "fit_pose": Call(
            platform.fit_pose, {"lengths": coordinates, "tolerance": 1e-3}, ((7,), (n,))
        ),
        "forward_kinematics_all": Call(
            platform.forward_kinematics_all, {"lengths": coordinates}, ((7,),)
        ),
        "jacobian": Call(platform.jacobian, {"pose": pose}, ((n, 6),)),
        "jacobian_derivative": Call(platform.jacobian_derivative, state, ((n, 6),)),
        "constraints": Call(platform.constraints, {"pose": pose}, ((6 - platform.dof, 6),)),
        "constrain": Call(
            platform.constrain, state | {"acceleration": acceleration}, ((7,), (6,), (6,))
        ),
        "leg_coordinates": Call(
            platform.leg_coordinates,
            state
            | {"acceleration": acceleration}
            | ({"deflection_acceleration": [0.1] * k} if k else {})
            | inside,
            ((n, joints),) * 3,
        ),
        "within_limits": Call(platform.within_limits, {"pose": pose}, ((),)),
        "condition_number": Call(
            # Infinite at a singular pose, so that its inverse must be finite.
            lambda pose: np.asarray(1.0 / platform.condition_number(pose)),
            {"pose": pose},
            ((),),
        ),
        "mass_matrix": Call(platform.mass_matrix, {"pose": pose} | inside, ((6, 6),)),
        "forward_dynamics": Call(
            platform.forward_dynamics,
            state | {"forces": forces, "wrench": SIX} | inside,
            ((6 + k,),),
        ),
        "inverse_dynamics": Call(
            platform.inverse_dynamics,
            state | {"acceleration": acceleration, "wrench": SIX} | inside,
            ((n,),),
        ),
        "forward_kinematics_derivatives": Call(
            platform.forward_kinematics_derivatives,
            {"lengths": platform.home_coordinates.tolist()},
            ((7,), (6, n), (6, 0)),
        ),
        "forward_dynamics_derivatives": Call(
            platform.forward_dynamics_derivatives,
            state | {"forces": forces, "wrench": SIX} | inside,
            (
                (6 + k, 6),
                (6 + k, 6),
                (6 + k, 2 * k),
                (6 + k, n),
                (6 + k, 6),
                (6 + k, 3),
                (6 + k, 0),
            ),
        ),
        "inverse_dynamics_derivatives": Call(
            platform.inverse_dynamics_derivatives,
            state | {"acceleration": acceleration, "wrench": SIX} | inside,
            ((n, 6), (n, 6), (n, 2 * k), (n, 6), (n, 6), (n, 3), (n, 0)),
        ),
        "linearise": Call(
            lambda **given: platform.linearise(**given).stiffness,
            {"pose": platform.home.tolist(), "wrench": SIX, "forces": forces},
            ((platform.dof + k, platform.dof + k),),
        ),
        "with_": Call(
            lambda payload, gravity, mass: platform.with_(
                payload=payload, gravity=gravity, parameters={"platform.body.mass": mass}
            ).mass_matrix(platform.home),
            {"payload": 1.0, "gravity": 1.6, "mass": 2.0},
            ((6, 6),),
        ),
        "energy": Call(platform.energy, state | inside, ((), ())),
        "dissipation": Call(platform.dissipation, state | inside, ((),)),
    }
    if k:
        calls["as_deflection"] = Call(platform.as_deflection, inside, ((2 * k,),))
    return {f"{name} of {platform.name}": call for name, call in calls.items()}


def simulated(**options: Any) -> tuple[Any, ...]:
    result = twin.simulate(options.pop("platform", stewart), **options)
    return result.pose, result.twist, result.lengths, result.forces, result.deflection


def integrated(time: Any = None, table: Any = None, **options: Any) -> tuple[Any, ...]:
    forces = options.pop("forces", None) if time is None else ForceTable(time, table)
    result = integrate(options.pop("platform", stewart), forces=forces, **options)
    return result.pose, result.twist, result.deflection


springs = twin.load("compliant_stewart")

STUDIES = {"checked_states", "feasibility", "on", "payload", "step_derivatives", "workspace"}
"""Methods whose results are no arrays, or that take long: their own tests spoil their input."""

CALLS = {
    **{
        name: call
        for machine in twin.machine_names()
        for name, call in numeric_calls(twin.load(machine)).items()
    },
    "quaternion_from_angles": Call(
        quaternion_from_angles, {"angles": [0.1, 0.2, 0.3], "name": "yaw_pitch_roll"}, ((4,),)
    ),
    "angles_from_quaternion": Call(
        angles_from_quaternion, {"quaternion": POSE[3:], "name": "rodrigues"}, ((3,),)
    ),
    "pose_from_angles": Call(
        pose_from_angles, {"position": [0.0, 0.0, 1.0], "angles": [0.1, 0.2, 0.3]}, ((7,),)
    ),
    "pose": Call(twin.pose, {"x": 0.1, "z": [1.0, 2.0], "roll": 0.1, "yaw": [0.1, 0.2]}, ((7,),)),
    "angles": Call(twin.angles, {"pose": POSE}, ((3,),)),
    "simulate with a function as controller": Call(
        lambda value, period: simulated(
            duration=0.002, controller=lambda time, measurement: value, period=period
        ),
        {"value": SIX, "period": 1e-3},
        ((7,), (6,), (6,), (6,), (0,)),
    ),
    "integrate": Call(
        integrated,
        {
            "duration": 0.002,
            "pose": POSE,
            "twist": TWIST,
            "forces": SIX,
            "wrench": SIX,
            "method": "rk4",
            "timestep": 1e-3,
            "relative_tolerance": 1e-9,
            "absolute_tolerance": 1e-9,
        },
        ((7,), (6,), (0,)),
    ),
    "integrate with springs": Call(
        lambda **options: integrated(platform=springs, **options),
        {"duration": 0.002, "deflection": [0.01] * 12, "forces": SIX, "twist": TWIST},
        ((7,), (6,), (12,)),
    ),
    "force table": Call(
        integrated,
        {"duration": 0.002, "time": [0.0, 1e-3], "table": [SIX, SIX]},
        ((7,), (6,), (0,)),
    ),
    "solution": Call(solution, {"time": [0.0, 1e-3]}, ((7,), (6,))),
    "simulate": Call(
        simulated,
        {
            "duration": 0.002,
            "pose": POSE,
            "twist": TWIST,
            "forces": SIX,
            "engine": "analytic",
            "timestep": 1e-3,
            "wrench": SIX,
            "fidelity": "fast",
            "every": 1,
        },
        ((7,), (6,), (6,), (6,), (0,)),
    ),
    "simulate with springs": Call(
        lambda **options: simulated(platform=springs, **options),
        {"duration": 0.002, "deflection": [0.01] * 12, "forces": SIX},
        ((7,), (6,), (6,), (6,), (12,)),
    ),
    "simulate with a function": Call(
        lambda value: simulated(duration=0.002, forces=lambda time, state: value),
        {"value": SIX},
        ((7,), (6,), (6,), (6,), (0,)),
    ),
}


def test_good_arguments_are_good() -> None:
    for call in CALLS.values():
        result = call.function(**call.good)
        assert len(result if isinstance(result, tuple) else (result,)) == len(call.shapes)


def test_there_are_enough_examples() -> None:
    assert EXAMPLES * len(CALLS) >= 1000


def test_no_public_method_is_left_out() -> None:
    methods = {
        name
        for name in dir(twin.Platform)
        if name[0] != "_" and callable(getattr(twin.Platform, name))
    }
    assert len(methods) > 10
    assert methods <= {name.partition(" of ")[0] for name in CALLS} | STUDIES


@pytest.mark.parametrize("name", CALLS)
@given(data=st.data())
@checked
def test_malformed_calls(name: str, data: st.DataObject) -> None:
    call = CALLS[name]
    check(call, data.draw(arguments(call.good)))


@given(value=junk)
@checked
def test_malformed_names_and_paths(value: Any) -> None:
    for function in (twin.load, replay, Trajectory.load, motion.save):
        with pytest.raises(TwinError):
            function(value)


@given(
    field=st.sampled_from(["time", "pose", "twist", "lengths", "rates", "forces", "deflection"]),
    value=junk,
)
@checked
def test_malformed_trajectories(field: str, value: Any) -> None:
    columns = {**vars(motion), field: value}
    try:
        made = Trajectory(**columns)
    except TwinError:
        return
    for column in (made.time, made.pose, made.twist, made.lengths, made.rates, made.forces):
        assert len(column) == len(made)
        assert np.isfinite(column).all()


@given(platform=junk, name=junk, timestep=scalars, fidelity=junk, gap=scalars)
@checked
def test_malformed_engines(
    platform: Any, name: Any, timestep: Any, fidelity: Any, gap: Any
) -> None:
    good = {"name": "analytic", "platform": stewart, "timestep": 1e-3, "fidelity": "fast"}
    bad = {"name": name, "platform": platform, "fidelity": fidelity}
    for key, value in bad.items():
        with pytest.raises(TwinError):
            twin.make_engine(**{**good, key: value})
    with pytest.raises(TwinError):
        twin.make_engine(**good, colour=1)
    for change in ({"timestep": timestep}, {"largest_gap": gap}):
        try:
            engine = twin.make_engine(**{**good, **change})
        except TwinError:
            continue
        assert engine.timestep > 0.0


@pytest.fixture(
    scope="module", params=itertools.product(["analytic", "mujoco", "bullet"], [stewart, springs])
)
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Every engine that is installed, without springs in the legs and with them."""
    name, platform = request.param
    try:
        made = twin.make_engine(name, platform)
    except MissingDependencyError:
        pytest.skip(f"{name} is not installed")
    yield made
    made.close()


@given(data=st.data())
@checked
def test_malformed_resets_and_steps(engine: Any, data: st.DataObject) -> None:
    def reset(**values: Any) -> Any:
        return tuple(engine.reset(**values)[1:])

    def step(**values: Any) -> Any:
        engine.reset()
        return tuple(engine.step(**values)[1:])

    inside = engine.platform.as_deflection(None) + 0.001
    shapes = ((7,), (6,), (6,), (6,), inside.shape)
    given = {"pose": POSE, "twist": TWIST} | ({"deflection": inside} if inside.size else {})
    resets = Call(reset, given, shapes)
    steps = Call(step, {"forces": SIX, "wrench": SIX}, shapes)
    for call in (resets, steps):
        check(call, data.draw(arguments(call.good)))


@given(data=st.data())
@checked
def test_malformed_saved_states(engine: Any, data: st.DataObject) -> None:
    engine.reset()
    saved = engine.save()
    place = data.draw(st.integers(0, len(saved) - 1))
    cut = data.draw(st.integers(0, len(saved) - 1))
    flipped = bytes([saved[place] ^ data.draw(st.integers(1, 255))])
    others = [
        data.draw(junk | st.binary(max_size=20)),
        saved[:cut],
        saved[:place] + flipped + saved[place + 1 :],
    ]
    for other in others:
        try:
            state = engine.restore(other)
        except TwinError:
            continue
        assert all(np.isfinite(column).all() for column in state)
