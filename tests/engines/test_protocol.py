"""What every engine promises: closed loops at reset, repeatable runs, saved states, life cycle."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused

import twin
from twin.engines import engine_names
from twin.engines.base import suitable_timestep
from twin.errors import ClosedEngineError
from twin.model.engine import State

pytestmark = pytest.mark.quick


ROUNDING = 1e-12
"""Some hundred operations on numbers of order one."""


def through_pickle(engine):
    return pickle.loads(pickle.dumps(engine))


def idle(engine):
    return np.zeros(engine.platform.n_actuators)


def check_reset(engine, pose, twist, deflection=None):
    platform, state = engine.platform, engine.reset(pose, twist, deflection)
    close = {"rtol": 0.0, "atol": ROUNDING}
    assert_allclose(state.pose, pose, **close)
    assert_allclose(state.twist, twist, **close)
    assert_allclose(state.lengths, platform.inverse_kinematics(pose), **close)
    assert_allclose(state.rates, platform.jacobian(pose) @ twist, **close)
    inside = np.zeros(2 * platform.n_deflections) if deflection is None else deflection
    assert_allclose(state.deflection, inside, **close)
    assert state.time == 0.0
    assert engine.loop_gap < ROUNDING


def test_reset_closes_the_loops_in_position_and_velocity(fresh, random_motion, random_internal):
    engine = fresh()
    for seed in range(3):
        motion = random_motion(engine.platform, seed)
        check_reset(engine, *motion[:2], random_internal(engine.platform, seed))
        check_reset(engine, *motion[:2])
    home, other_sign = engine.platform.home, [1, 1, 1, -1, -1, -1, -1]
    check_reset(engine, home * other_sign, np.zeros(6))


def test_default_start_is_home_at_rest(fresh, same_bits):
    engine = fresh()
    wanted = engine.reset(engine.platform.home, np.zeros(6))
    assert same_bits(engine.reset(), wanted)
    assert same_bits(engine.state, wanted)


def test_engine_tells_what_it_is(fresh, engine_name, fidelity):
    engine = fresh(2)
    timestep = 2 * suitable_timestep(engine.platform)
    assert (engine.name, engine.timestep, engine.fidelity) == (engine_name, timestep, fidelity)
    words = (engine_name, engine.platform.name, fidelity, f"{1e3 * timestep:g} ms")
    assert all(word in repr(engine) for word in words)


def test_time_is_a_whole_number_of_steps(fresh, push):
    engine = fresh(0.1)
    forces, wrench, _ = push(engine.platform)
    for _ in range(2):
        engine.reset()
        times = [engine.step(forces, wrench).time for _ in range(25)]
        assert times == [k * engine.timestep for k in range(1, 26)]
        assert engine.state.time == times[-1]


def test_same_start_same_bits(fresh, push, same_bits):
    used = fresh()
    motion, duration = push(used.platform), 50 * used.timestep
    first = motion.run(used, duration)
    assert np.linalg.norm(first.pose - used.platform.home) > 1e-5
    assert same_bits(motion.run(used, duration), first)
    assert same_bits(motion.run(fresh(), duration), first)


def test_restored_state_continues_with_the_same_bits(fresh, push, same_bits):
    engine = fresh()
    motion = push(engine.platform)
    before = motion.run(engine, 30 * engine.timestep)
    saved = engine.save()
    after = [engine.step(motion.forces, motion.wrench) for _ in range(20)]
    for other in (engine, fresh()):
        assert same_bits(other.restore(saved), before)
        assert other.save() == saved
        continued = [other.step(motion.forces, motion.wrench) for _ in range(20)]
        assert all(map(same_bits, continued, after))


@pytest.mark.slow
def test_copies_continue_alone_with_the_same_bits(subtests, fresh, push, same_bits):
    for copied in [copy.copy, copy.deepcopy, through_pickle]:
        with subtests.test(f"{copied}"):
            engine = fresh(ball=True)
            motion = push(engine.platform)
            before = motion.run(engine, 10 * engine.timestep)
            other = copied(engine)
            after = [other.step(motion.forces, motion.wrench) for _ in range(5)]
            assert same_bits(engine.state, before)
            assert all(
                same_bits(engine.step(motion.forces, motion.wrench), state)
                and state.time > before.time
                for state in after
            )
            assert_array_equal(engine.ball, other.ball)
            engine.close()
            other.close()
            with pytest.raises(ClosedEngineError, match="closed"):
                copied(engine).reset()


def test_saving_and_reading_do_not_change_the_future(fresh, push, same_bits):
    engine = fresh()
    motion = push(engine.platform)
    wanted = motion.run(engine, 20 * engine.timestep)
    engine.reset(*motion.start)
    for _ in range(20):
        engine.save()
        gap, state = engine.loop_gap, engine.state
        assert engine.loop_gap == gap
        assert same_bits(engine.state, state)
        found = engine.step(motion.forces, motion.wrench)
    assert same_bits(found, wanted)


def test_states_are_copies(fresh, push, same_bits):
    engine = fresh()
    forces, wrench, start = push(engine.platform)
    first = engine.reset(*start)
    kept = State(*map(np.copy, first))
    for state in (engine.state, engine.step(forces, wrench)):
        now = State(*map(np.copy, engine.state))
        for part in state[1:]:
            part[:] = np.nan
        assert same_bits(engine.state, now)
    assert same_bits(first, kept)


def test_arguments_are_not_changed(fresh, push):
    engine = fresh()
    given = [*push(engine.platform)[:2], *map(np.copy, push(engine.platform).start)]
    kept = [array.copy() for array in given]
    engine.reset(*given[2:])
    for _ in range(3):
        engine.step(*given[:2])
    assert all(map(np.array_equal, given, kept))


def test_wrench_lasts_one_step(fresh, same_bits):
    engine = fresh()
    engine.reset()
    engine.step(idle(engine), 100.0 * np.ones(6))
    saved = engine.save()
    wanted = engine.step(idle(engine), np.zeros(6))
    engine.restore(saved)
    assert same_bits(engine.step(idle(engine)), wanted)


@pytest.mark.slow
def test_engines_side_by_side_do_not_meet(make, fidelity, push, same_bits):
    pytest.importorskip("pybullet")
    machines = [twin.load(name) for name in ("stewart", "rss", "driving_simulator", "stewart")]
    plans = [(name, p) for name in engine_names() for p in machines]
    alone = [push(p).run(make(name, p, fidelity=fidelity), 0.02) for name, p in plans]
    engines = [make(name, p, fidelity=fidelity) for name, p in plans]
    for engine in engines:
        engine.reset(*push(engine.platform).start)
    for _ in range(20):
        states = [engine.step(*push(engine.platform)[:2]) for engine in engines]
    assert all(map(same_bits, states, alone))


def test_quaternion_keeps_its_sign_through_a_turn(fresh, same_bits):
    engine = fresh()
    for sign in (1.0, -1.0):
        pose = engine.platform.home * np.r_[np.ones(3), np.full(4, sign)]
        turning = engine.platform.constrain(pose, [0, 0, 0, 0.5, -0.5, 3.0]).twist
        states = [engine.reset(pose, turning)]
        states += [engine.step(idle(engine)) for _ in range(20)]
        turns = np.array([state.pose[3:] for state in states])
        assert sign * (turns @ engine.platform.home[3:]).min() > 0.99
        assert_allclose(np.linalg.norm(turns, axis=1), 1.0, rtol=ROUNDING)
        assert same_bits(engine.restore(engine.save()), states[-1])


def test_states_of_other_engines_and_damaged_ones_are_refused(make, engine_name, fidelity, stewart):
    engine = make(engine_name, stewart, fidelity=fidelity)
    engine.reset()
    saved = engine.save()
    strangers = [
        (engine_name, stewart, 2e-3, fidelity),
        (engine_name, stewart, 1e-3, {"fast": "accurate"}.get(fidelity, "fast")),
        (engine_name, twin.load("srspm"), 1e-3, fidelity),
        *((name, stewart, 1e-3, fidelity) for name in engine_names() if name != engine_name),
    ]
    others = [make(*stranger) for stranger in strangers]
    if engine_name != "analytic":
        others.append(make(engine_name, stewart, fidelity=fidelity, engine_defaults=True))
    bad = [None, 5, "text", b"", b"x" * 100, bytearray(saved), saved[:-8], saved + b"0"]
    bad += [saved[:k] + bytes([saved[k] ^ 1]) + saved[k + 1 :] for k in (0, 20, 60, -9)]
    for other in others:
        other.reset()
        bad.append(other.save())
    for state in bad:
        with refused(field="saved"):
            engine.restore(state)
    assert engine.save() == saved


def test_use_before_reset_and_after_close(fresh):
    engine, used = fresh(), fresh()
    used.reset()
    saved = used.save()
    calls = [
        lambda: engine.step(idle(engine)),
        lambda: engine.state,
        lambda: engine.loop_gap,
        engine.save,
    ]
    for call in calls:
        with pytest.raises(ClosedEngineError, match="reset"):
            call()
    assert engine.restore(saved).time == 0.0
    engine.close()
    engine.close()
    for call in [*calls, engine.reset, lambda: engine.restore(saved)]:
        with pytest.raises(ClosedEngineError, match="closed"):
            call()
    assert used.step(idle(used)).time == used.timestep
