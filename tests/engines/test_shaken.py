"""A base that accelerates: one motion in all engines, gravity in its place, saved and replayed."""

import numpy as np
import pytest
from refusals import refused

from twin.analysis.stiffness import with_gravity
from twin.errors import ClosedEngineError

STEPS = 60

TOLERANCES = {"analytic": 1e-8, "mujoco": 1e-6, "bullet": 1e-6}
"""Largest error of the pose [m, rad] in the accurate fidelity, and of runs that only differ in the
way in which gravity is written."""


def swept(engine):
    """Return accelerations `(STEPS, 3)` that sweep along all three axes."""
    time = np.linspace(0.0, 1.0, STEPS)[:, None]
    frequencies = np.array([2.0, 3.0, 4.0])
    size = engine.platform.parameters.gravity * np.array([0.5, 0.4, 0.3])
    if engine.platform.kind == "strut":
        size *= 100.0  # stiff
    return size * np.sin(2.0 * np.pi * frequencies * (time + time**2) + [0.3, 1.4, 2.5])


def run(engine, motion, accelerations):
    """Return the last state of a machine pushed by a motion on a base that accelerates."""
    engine.reset(*motion.start)
    for acceleration in accelerations:
        engine.shake(acceleration)
        state = engine.step(motion.forces, motion.wrench)
    return state


@pytest.mark.every_machine
def test_engines_agree_on_a_swept_base(fresh, make, push, pose_error):
    engine = fresh()
    motion, accelerations = push(engine.platform), swept(engine)
    exact = make("analytic", engine.platform, engine.timestep)
    (still, shaken), (found_still, found) = (
        [run(each, motion, factor * accelerations) for factor in (0.0, 1.0)]
        for each in (exact, engine)
    )
    effect = pose_error(shaken, still)
    if engine.fidelity == "accurate":
        assert effect > 20.0 * TOLERANCES[engine.name]
        assert pose_error(found, shaken) < TOLERANCES[engine.name]
    # Errors of the first order are those of the push, and one step of the shaking.
    change = (found.pose - found_still.pose) - (shaken.pose - still.pose)
    assert np.abs(change).max() < 0.05 * effect


def test_a_steady_acceleration_is_another_gravity(fresh, make, push, pose_error):
    """Up and down it adds to gravity."""
    engine = fresh()
    platform, motion = engine.platform, push(engine.platform)
    gravity = platform.parameters.gravity
    heavier = with_gravity(platform, 1.3 * gravity)
    other = make(engine.name, heavier, engine.timestep, fidelity=engine.fidelity)
    wanted = run(other, motion, np.zeros((STEPS, 3)))
    found = run(engine, motion, np.tile([0.0, 0.0, 0.3 * gravity], (STEPS, 1)))
    assert pose_error(found, wanted) < TOLERANCES[engine.name] * 1e-3


def test_reset_ends_the_shaking(fresh, push, same_bits):
    engine = fresh()
    motion = push(engine.platform)
    wanted = motion.run(engine, 20 * engine.timestep)
    shaken = run(engine, motion, swept(engine)[:20])
    assert not same_bits(shaken, wanted)
    assert same_bits(motion.run(engine, 20 * engine.timestep), wanted)


def test_a_saved_engine_goes_on_shaking(fresh, push, same_bits):
    engine = fresh()
    motion = push(engine.platform)
    run(engine, motion, swept(engine)[:10])
    saved = engine.save()
    after = [engine.step(motion.forces, motion.wrench) for _ in range(10)]
    for other in (engine, fresh()):
        other.restore(saved)
        assert other.save() == saved
        assert all(same_bits(other.step(motion.forces, motion.wrench), state) for state in after)
    engine.restore(saved)
    engine.shake(np.zeros(3))
    assert not same_bits(engine.step(motion.forces, motion.wrench), after[0])


def test_what_is_no_acceleration_is_refused(make, stewart, engine_name):
    engine = make(engine_name, stewart)
    with pytest.raises(ClosedEngineError, match="reset"):
        engine.shake(np.zeros(3))
    engine.reset()
    for wrong in (None, [1.0, 2.0], [0.0, np.nan, 0.0]):
        with refused("acceleration"):
            engine.shake(wrong)
