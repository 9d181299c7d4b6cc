"""Occupants in the engines: as bodies on springs, and frozen as the rigid mass of the reference."""

import numpy as np
import pytest
from refusals import assert_all_refused, refused
from tolerance import assert_within

import twin
from twin.analysis.platform import Platform
from twin.engines.base import replay, suitable_timestep
from twin.errors import SimulationStoppedError
from twin.machine.payload import Occupant, Wheelchair, rigid_sum, seated_on

ENGINES = ("mujoco", "bullet")

TOLERANCES = {"mujoco": 1e-6, "bullet": 1e-7}
"""Of the accurate fidelitys, as without payload; 3e-9 and 2e-11 measured."""

CARRIERS = ("stewart", "driving_simulator", "micro_hexapod")
"""Platforms that float, that joints carry, and that struts hold: a payload knows no more."""

OCCUPANT = Occupant(1.75, 75.0, wheelchair=Wheelchair())


def frozen(platform):
    segments = OCCUPANT.segments(platform.parameters.gravity)
    return [part._replace(joint="fixed", axis=np.zeros(3)) for part in segments]


def motion(engine, loaded, steps=200):
    """Return the last state of a machine that is thrown and nearly held."""
    rest = np.zeros(6)
    forces = 1.02 * loaded.inverse_dynamics(loaded.home, rest, rest)
    start = loaded.constrain(loaded.home, [0.1, -0.05, 0.1, 0.2, -0.1, 0.3])
    engine.reset(start.pose, start.twist)
    for _ in range(steps):
        state = engine.step(forces)
    return state


@pytest.mark.slow
@pytest.mark.parametrize("platform", [*CARRIERS, "general_ups"], indirect=True)
@pytest.mark.parametrize("engine_name", ENGINES, indirect=True)
def test_frozen_occupant_is_added_rigid_mass(make, engine_name, platform, pose_error):
    step, loaded = suitable_timestep(platform), Platform(seated_on(platform.parameters, OCCUPANT))
    wanted = motion(make("analytic", loaded, step), loaded)
    found = motion(make(engine_name, platform, step, payload=frozen(platform)), loaded)
    assert pose_error(found, wanted) < TOLERANCES[engine_name]
    without = motion(make(engine_name, platform, step), loaded)
    assert pose_error(without, wanted) > 10 * TOLERANCES[engine_name]


@pytest.mark.parametrize("platform", CARRIERS, indirect=True)
def test_engines_agree_on_an_occupant_on_springs(make, platform, pose_error):
    pytest.importorskip("pybullet")
    step, loaded = suitable_timestep(platform), Platform(seated_on(platform.parameters, OCCUPANT))
    one, other, rigid = (
        motion(make(name, platform, step, payload=payload), loaded)
        for name, payload in (
            ("mujoco", OCCUPANT),
            ("bullet", OCCUPANT),
            ("mujoco", frozen(platform)),
        )
    )
    assert pose_error(one, other) < TOLERANCES["mujoco"]
    # The body gives way; struts carry it almost like a rock.
    assert pose_error(one, rigid) > 10 * pose_error(one, other)


def test_weight_of_a_sitting_occupant(make, stewart):
    """Forces that hold the occupant as a rigid body hold it: its springs carry its weight."""
    rest, loaded = np.zeros(6), Platform(seated_on(stewart.parameters, OCCUPANT))
    forces = loaded.inverse_dynamics(loaded.home, rest, rest)
    engine = make("mujoco", stewart, payload=OCCUPANT)
    engine.reset()
    for _ in range(200):
        state = engine.step(forces)
    assert_within(state.pose, stewart.home, 1e-6)
    total = sum(float(mass) for mass in engine.model.body_mass)
    empty = sum(float(mass) for mass in make("mujoco", stewart).model.body_mass)
    assert total - empty == pytest.approx(rigid_sum(OCCUPANT.segments()).mass, rel=1e-12)


@pytest.mark.parametrize("engine_name", ENGINES, indirect=True)
def test_saved_state_holds_the_occupant(make, engine_name, fidelity, same_bits, stewart):
    """Over a whole join time of PyBullet's copies."""
    engine, other = (make(engine_name, stewart, 4e-3, fidelity, payload=OCCUPANT) for _ in range(2))
    loaded = Platform(seated_on(stewart.parameters, OCCUPANT))
    motion(engine, loaded, 20)
    rest = np.zeros(6)
    forces = loaded.inverse_dynamics(loaded.home, rest, rest)
    other.restore(engine.save())
    for _ in range(150):
        assert same_bits(engine.step(forces), other.step(forces))


@pytest.mark.parametrize("engine_name", ENGINES, indirect=True)
def test_stop_with_an_occupant_replays(make, engine_name, same_bits, own_folder):
    engine = make(engine_name, twin.load("stewart"), payload=OCCUPANT)
    engine.reset()
    with pytest.raises(SimulationStoppedError) as caught:
        for _ in range(100):
            engine.step(np.full(6, 1e12) * [1, -1, 1, 1, -1, 1])
    states = replay(caught.value.data["dump"])
    assert same_bits(states[-1], caught.value.data["state"])


def changed(**fields):
    first, *others = OCCUPANT.segments()
    return [first._replace(**fields), *others]


def test_other_payloads_are_refused(make):
    assert_all_refused(
        lambda payload: make("mujoco", twin.load("stewart"), payload=payload),
        [
            (5, None),
            ([("pelvis", "platform")], None),
            (changed(parent="nobody"), None),
            (changed(joint="ball"), None),
            (changed(mass=0.0), None),
            (changed(axis="up"), None),
        ],
    )


def test_reference_has_no_payload(make):
    with refused("analytic"):
        make("analytic", twin.load("stewart"), payload=OCCUPANT)
