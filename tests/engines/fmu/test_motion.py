"""Motion of units of FMI against the analytic engine, and of one unit against itself."""

from concurrent.futures import ThreadPoolExecutor

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.validation import validate_fmu
from fmu_rig import UnitRun, unit_of
from scales import scale_of

import twin
from twin.analysis.payload.body import Payload
from twin.engines import make_engine
from twin.engines.base import suitable_timestep
from twin.machine.body import six

pytestmark = pytest.mark.quick

STEPS = 40
"""Integration steps of a run: enough for every term of the equations to act."""

AGREEMENT = 1e-9
"""[m, rad; per s] between a unit and the engine, relative to numbers above one."""

BODY = Payload(
    3.0, [0.02, -0.03, 0.05], [[0.3, 0.01, 0.02], [0.01, 0.4, -0.03], [0.02, -0.03, 0.5]]
)
PAYLOAD = [BODY.mass, *BODY.center, *six(BODY.inertia)]


def reference(platform, state, step, loads):
    """Return state, coordinates and rates of the analytic engine after each load."""
    engine = make_engine("analytic", platform, step, "fast")
    engine.reset(state[:7], state[7:13], state[13:])
    found = []
    for load in loads:
        now = engine.step(*load)
        found.append(np.concatenate([*now[1:3], now.deflection, now.lengths, now.rates]))
    return np.array(found)


@pytest.mark.every_kind
def test_moves_as_the_analytic_engine(unit, random_motion, random_internal):
    """Forces, wrench and payload change on the way, from a start in motion."""
    platform, step, random = (
        unit.platform,
        suitable_timestep(unit.platform),
        np.random.default_rng(7),
    )
    pose, twist, _ = random_motion(platform, 7)
    start = np.concatenate([pose, 0.1 * twist, random_internal(platform, 7)])
    scale, half = scale_of(platform), STEPS // 2
    forces = 0.5 * scale.effort * random.normal(size=(STEPS, platform.n_actuators))
    wrenches = 0.1 * scale.wrench * random.normal(size=(STEPS, 6))
    loads = list(zip(forces, wrenches, strict=True))
    run = UnitRun(unit, state=start, payload=PAYLOAD)
    assert run.get(unit.state) == pytest.approx(start, abs=1e-15)
    found = []
    for k, (force, wrench) in enumerate(loads):
        run.set(forces=force, wrench=wrench)
        if k == half:
            run.set(payload=np.zeros(10))
        run.step(step)
        found.append(run.state)
        assert (run.get(unit.outputs[-platform.n_actuators :]) == force).all()
    loaded = reference(platform.with_(payload=BODY), start, step, loads[:half])
    empty = reference(platform, loaded[-1, : len(start)], step, loads[half:])
    expected = np.concatenate([loaded, empty])
    without = reference(platform, start, step, loads)
    sizes = np.maximum(1.0, np.abs(expected))
    assert (np.abs(np.array(found) - expected) / sizes).max() < AGREEMENT
    assert (np.abs(without - expected) / sizes).max() > 1e3 * AGREEMENT


def test_rests_at_home_by_default(unit):
    """A stranger who runs it as it is sees a machine that stands still."""
    found = fmpy.simulate_fmu(str(unit.file), stop_time=0.02, output_interval=2e-3)
    assert len(found) == 11
    pose = np.stack([found[name] for name in unit.state[:7]], axis=1)
    assert pose == pytest.approx(np.tile(unit.platform.home, (11, 1)), abs=1e-9)


@pytest.mark.parametrize("machine", ["driving_simulator", "compliant_stewart"])
def test_second_version_moves_as_the_third(machine, folder):
    runs = []
    for fmi in (2, 3):
        unit = unit_of(twin.load(machine), folder, fmi)
        assert validate_fmu(str(unit.file)) == []
        run = UnitRun(unit, payload=PAYLOAD, wrench=[3.0, -2.0, 40.0, 1.0, 2.0, 3.0], time=5.0)
        for _ in range(10):
            run.step(2e-3)
        runs.append(run.state)
    assert (runs[0] == runs[1]).all()
    assert abs(runs[0][2] - twin.load(machine).home[2]) > 1e-6


def test_communication_steps_need_no_multiple(stewart_unit):
    """Multiples change nothing; others are divided evenly into shorter steps."""
    ends = {}
    for name, spans in {"one": [0.01], "ten": [1e-3] * 10, "odd": [2.5e-3] * 4}.items():
        run = UnitRun(stewart_unit, wrench=[100.0, 50.0, -300.0, 20.0, 10.0, 5.0])
        for span in spans:
            run.step(span)
        ends[name] = run.state
    assert (ends["one"] == ends["ten"]).all()
    assert ends["odd"] == pytest.approx(ends["one"], abs=1e-12)
    assert (ends["odd"] != ends["one"]).any()


def test_instances_share_nothing(stewart_unit):
    """Many threads, each with its own payload and wrench, against one after the other."""

    def ride(k):
        run = UnitRun(stewart_unit, wrench=[10.0 * k, 0.0, -5.0 * k, 0.0, 1.0, 0.0])
        for step in range(100):
            run.set({"payload.mass": float(k + step % 3)})
            run.step(1e-3)
        return run.state

    alone = [ride(k) for k in range(8)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(ride, range(8)))
    assert (np.array(alone) == np.array(together)).all()
    assert np.ptp(alone, axis=0).max() > 1e-3


def test_kept_states_continue_alike(stewart_unit):
    run = UnitRun(stewart_unit, wrench=[0.0, 30.0, -200.0, 5.0, 0.0, 9.0], payload=PAYLOAD)
    run.step(0.02)
    kept = run.fmu.getFMUState()
    saved = run.fmu.serializeFMUState(kept)
    run.step(0.02)
    first = run.state
    other = UnitRun(stewart_unit, wrench=np.zeros(6))
    other.fmu.setFMUState(other.fmu.deserializeFMUState(saved))
    for again in (run, other):
        again.fmu.setFMUState(kept if again is run else again.fmu.getFMUState())
        again.time = 0.02
        again.step(0.02)
        assert (again.state == first).all()
    run.fmu.freeFMUState(kept)
    run.fmu.reset()
    run.begin()
    assert (run.get(run.unit.state) == [*run.unit.platform.home, *np.zeros(6)]).all()
    for damaged in (saved[:-1], b"x" + saved[1:], saved[:64] + b"\xff" * (len(saved) - 64)):
        with pytest.raises(FMICallException):
            other.fmu.deserializeFMUState(damaged)
