"""Engines that stop: with a reason, and a dump that replays the end."""

import numpy as np
import pytest
from refusals import refused

from twin.engines.base import Guard, header, is_finite, replay
from twin.errors import ClosedEngineError, SimulationStoppedError
from twin.model.engine import State

ALTERNATING = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])


def alternating(engine):
    return ALTERNATING[: engine.platform.n_actuators]


def stop(engine, forces):
    """Return the data of the error that stops the engine under constant forces."""
    with pytest.raises(SimulationStoppedError) as caught:
        for _ in range(1000):
            engine.step(forces)
    assert str(caught.value.data["dump"]) in str(caught.value)
    return caught.value.data


@pytest.mark.slow
@pytest.mark.parametrize("size", [1e15, 1e300])
def test_absurd_forces_stop_with_a_dump_that_replays(fresh, size, free_fall, same_bits, own_folder):
    engine = fresh()
    wanted = free_fall(engine.platform).run(engine, 20 * engine.timestep)
    engine.reset()
    data = stop(engine, size * alternating(engine))
    assert [file.name for file in own_folder.iterdir()] == [data["dump"].name], "no log file"
    states = replay(data["dump"])
    assert len(states) == 1 + round((states[-1].time - states[0].time) / engine.timestep)
    assert same_bits(states[-1], data["state"])
    assert [file.name for file in own_folder.iterdir()] == [data["dump"].name], "one dump only"
    idle = np.zeros(engine.platform.n_actuators)
    for call in (lambda: engine.step(idle), engine.save, lambda: engine.state):
        with pytest.raises(ClosedEngineError, match="reset"):
            call()
    assert same_bits(free_fall(engine.platform).run(engine, 20 * engine.timestep), wanted)


def test_stopped_engine_goes_on_from_a_saved_state(fresh, push, same_bits, own_folder):
    engine = fresh()
    motion = push(engine.platform)
    motion.run(engine, 10 * engine.timestep)
    saved = engine.save()
    wanted = engine.step(motion.forces, motion.wrench)
    stop(engine, 1e300 * alternating(engine))
    engine.restore(saved)
    assert same_bits(engine.step(motion.forces, motion.wrench), wanted)


@pytest.mark.parametrize("engine_name", ["mujoco", "bullet"], indirect=True)
def test_forces_that_open_the_loops_stop(fresh, own_folder):
    """The analytic engine has no loops to open: there the machine flies off, as it would."""
    engine = fresh()
    engine.reset()
    data = stop(engine, 1e8 * alternating(engine))
    assert "opened" in data["reason"]
    assert data["state"].time < 20.5 * engine.timestep


@pytest.mark.slow
@pytest.mark.parametrize("engine_name", ["mujoco", "bullet"], indirect=True)
def test_settings_are_part_of_the_replay(fresh, push, same_bits, own_folder):
    """The engines' own defaults open the loops wider than the fidelities do."""
    tuned, untuned = fresh(), fresh(engine_defaults=True, largest_gap=1.0)
    motion = push(tuned.platform)
    widest = []
    for engine in (tuned, untuned):
        engine.reset(*motion.start)
        gaps = [(engine.step(motion.forces, motion.wrench), engine.loop_gap)[1] for _ in range(100)]
        widest.append(max(gaps))
    limit = 0.5 * widest[1]
    assert widest[0] < limit
    engine = fresh(engine_defaults=True, largest_gap=limit)
    engine.reset(*motion.start)
    with pytest.raises(SimulationStoppedError, match="limit") as caught:
        for _ in range(100):
            engine.step(motion.forces, motion.wrench)
    data = caught.value.data
    assert same_bits(replay(data["dump"])[-1], data["state"])


@pytest.mark.slow
def test_long_runs_replay_their_last_steps_on_a_shaken_base(fresh, same_bits, own_folder):
    """The steps are kept by what engines share; how a replay begins is each engine's own."""
    engine = fresh()
    for steps in (5, 100, 250) if engine.name == "analytic" else (250,):
        check_long_run(engine, steps, same_bits)


def check_long_run(engine, steps, same_bits):
    """Stop a run after a number of steps, and compare its replay with it."""
    platform = engine.platform
    hold = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
    engine.reset()
    for k in range(steps):
        engine.shake([0.01 * k, -0.005 * k, 1.0])
        last = engine.step(hold, 0.01 * ALTERNATING)
    data = stop(engine, 1e300 * alternating(engine))
    states = replay(data["dump"])
    assert states[0].time == pytest.approx(steps // 100 * 100 * engine.timestep)
    before = round((last.time - states[0].time) / engine.timestep)
    assert same_bits(states[before], last)
    assert same_bits(states[-1], data["state"])


@pytest.fixture
def guard(stewart, own_folder):
    """Return a guard of an engine that was just reset."""
    guard = Guard(header("analytic", stewart, 1e-3, "fast"), stewart, 1e-3)
    guard.start(b"saved")
    guard.record(None, np.zeros(6), np.zeros(6), np.zeros(3))
    return guard


SOUND = State(1.0, np.ones(7), np.ones(6), np.ones(6), np.ones(6), np.ones(12))


def test_every_number_of_the_state_is_watched(subtests):
    assert is_finite(SOUND)
    for value in [np.nan, np.inf, -np.inf]:
        for field in State._fields[1:]:
            with subtests.test(f"{value}, {field}"):
                for entry in range(len(getattr(SOUND, field))):
                    array = getattr(SOUND, field).copy()
                    array[entry] = value
                    assert not is_finite(SOUND._replace(**{field: array}))


def test_large_but_finite_numbers_do_not_stop():
    assert is_finite(SOUND._replace(pose=np.full(7, 1e308), rates=np.full(6, -1e308)))


def test_what_is_recorded_is_a_copy(guard, stewart):
    forces, wrench = np.ones(6), np.ones(6)
    guard.record(None, forces, wrench, np.zeros(3))
    forces[:] = wrench[:] = np.nan
    with np.load(guard.dump("test")) as dump:
        assert (dump["forces"][-1] == 1.0).all()
        assert (dump["wrenches"][-1] == 1.0).all()


def test_other_files_are_no_dumps(subtests, tmp_path):
    for content in [b"", b"text", b"PK\x03\x04"]:
        with subtests.test(f"{content}"):
            path = tmp_path / "file.npz"
            with refused("not a state dump"):
                replay(path)
            path.write_bytes(content)
            with refused("not a state dump"):
                replay(path)


def test_stop_without_a_place_for_the_dump(platform, monkeypatch):
    def refuse(**_):
        raise OSError("no space left on device")

    # No disk here is full.
    monkeypatch.setattr("twin.engines.base.mkstemp", refuse)
    guard = Guard(header("analytic", platform, 1e-3, "fast"), platform, 1e-2)
    guard.record(b"", np.zeros(6), np.zeros(6), np.zeros(3))
    with pytest.raises(SimulationStoppedError, match="no space left") as caught:
        guard.check(SOUND, 1.0)
    assert caught.value.data["dump"] is None
