"""Copies of public objects at work: each goes on with the original's numbers, in any process.

Original and copy also go on at the same time, in two threads.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import lru_cache
from os import environ
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from numpy.testing import assert_allclose

import twin
from twin.analysis.feasibility.feasibility import feasibility
from twin.analysis.payload.body import Payload
from twin.calibration import calibrate, poses_within, simulated
from twin.control import make_controller
from twin.control.loop import ClosedLoop
from twin.engines import make_engine
from twin.envs import environment_ids
from twin.link.emulated import EmulatedMachine
from twin.logs import log_of
from twin.model.ball import Ball
from twin.motion import SineMotion
from twin.plant.plant import Plant
from twin.shadow import Shadow
from twin.shadow.thresholds import INFINITE_THRESHOLDS
from twin.simulation.batched import make_batched_plant

PROCESSES = 3
"""To which copies are sent."""

TOLERANCE = 1e-9
"""Relative: copied arrays lie elsewhere in memory, where sums may round in another order."""

ENGINES = ("analytic", "mujoco", "bullet")
MACHINES = ("stewart", "rss", "driving_simulator", "compliant_stewart")
STEP = 5e-4
"""[s] of engines."""


class Kind(NamedTuple):
    """A public object, and a use that changes it."""

    make: Callable[[Random], Any]
    use: Callable[[Any], Any]
    """returns numbers that depend on its whole state"""


def hardware():
    """Return a machine with drives and sensors."""
    return twin.load("stewart", "hardware")


def sine():
    """Return a motion of that machine."""
    return SineMotion(hardware().home, amplitude={"z": 0.02}, frequency=1.0, duration=9.0)


def engine(random):
    """Return an engine at home, on some machines with a ball."""
    name = random.choice(MACHINES)
    ball = Ball(0.02, 0.05, 0.1, 0.1) if name == "stewart" and random.random() < 0.5 else None
    made = make_engine(random.choice(ENGINES), twin.load(name), STEP, ball=ball)
    made.reset()
    return made


def steps_of_engine(used):
    """Let the machine fall for a few steps."""
    states = [used.step(np.zeros(used.platform.n_actuators)) for _ in range(4)]
    return [np.concatenate([each.pose, each.twist, each.deflection]) for each in states]


def run(random):
    """Return an engine, a closed loop on it and the number of its steps."""
    machine = hardware()
    beside = make_engine(random.choice(ENGINES), machine, STEP)
    law = make_controller(random.choice(("cascade", "computed_torque")), machine, sine())
    loop = ClosedLoop(machine, law, Plant(machine, seed=random.randrange(9)))
    loop.start(STEP, beside.reset())
    return [beside, loop, 0]


def steps_of_run(used):
    """Go on for two control periods."""
    beside, loop, done = used
    used[2] += 20
    return [beside.step(loop.step(k, beside.state)).pose for k in range(done, done + 20)]


def live(random):
    """Return an emulated machine and the shadow that watches it."""
    return [
        EmulatedMachine(hardware(), seed=random.randrange(9)),
        Shadow(hardware(), thresholds=INFINITE_THRESHOLDS),
    ]


def steps_of_live(used):
    """Go on for a few samples."""
    machine, shadow = used
    states = [shadow.update(machine.step()) for _ in range(5)]
    return [np.concatenate([each.pose, each.forces]) for each in states]


def batch(random):
    """Return a batch of machines at home."""
    plant = make_batched_plant(random.choice(ENGINES), twin.load("stewart"), 2)
    plant.reset([0, 1])
    return plant


def steps_of_batch(used):
    """Go on for a control period."""
    used.advance(np.full((2, 6), 1e-3))
    return used.pose.copy()


def short_run():
    """Return a trajectory of a few steps."""
    return hardware().simulate(0.01, timestep=STEP, progress=False)


@lru_cache(maxsize=1)
def measured_poses():
    """Return what a tracker measures of the machine at twenty poses."""
    return simulated(hardware(), poses_within(hardware(), 20), seed=1)


def environment(random):
    """Return an environment; copies begin with a reset of their own."""
    return gymnasium.make(random.choice(environment_ids())).unwrapped


def first_steps(used):
    """Begin an episode and go on for a few steps."""
    used.reset(seed=3)
    middle = 0.5 * (used.action_space.low + used.action_space.high)
    return [np.asarray(used.step(middle)[1]) for _ in range(3)]


KINDS = {
    "environment": Kind(environment, first_steps),
    "engine": Kind(engine, steps_of_engine),
    "run": Kind(run, steps_of_run),
    "live": Kind(live, steps_of_live),
    "batch": Kind(batch, steps_of_batch),
    "machine": Kind(lambda random: twin.load(random.choice(MACHINES)), lambda used: used.home),
    "trajectory": Kind(lambda _: short_run(), lambda used: [used.pose, used.forces]),
    "poses": Kind(lambda _: measured_poses(), lambda used: [used.coordinates, used.poses]),
    "calibration": Kind(
        lambda _: calibrate(hardware(), measured_poses()),
        lambda used: [used.errors, used.expected.position],
    ),
    "payload": Kind(
        lambda random: Payload(random.uniform(1.0, 9.0), [0.0, 0.0, 0.1]),
        lambda used: [np.asarray(used.mass), np.asarray(used.center)],
    ),
    "verdict": Kind(
        lambda _: feasibility(hardware(), sine()),
        lambda used: [np.asarray([each.share for each in used.margins])],
    ),
    "motion": Kind(lambda _: sine(), lambda used: used(np.linspace(0.0, 1.0, 9)).pose),
    "log": Kind(
        lambda _: log_of(short_run()),
        lambda used: [channel.values for channel in used.channels],
    ),
}


def copy_input(random):
    """Return a name and a call that copies an object at work and uses the copy."""
    name = random.choice(sorted(KINDS))
    way = random.choice((deepcopy, through_pickle, None, in_threads))
    seed, uses, number = random.random(), random.randrange(3), random.randrange(PROCESSES)

    def compare():
        kind = KINDS[name]
        original, alike = (kind.make(Random(seed)) for _ in range(2))
        for each in (original, alike):
            for _ in range(uses):
                kind.use(each)
        wanted = kind.use(alike)
        if way is in_threads:
            for found in in_threads(kind.use, original, deepcopy(original)):
                _same(found, wanted)
            return
        if way is None:
            _same(_in_process(number, name, pickle.dumps(original)), wanted)
        else:
            copied = way(original)
            _same(kind.use(copied), wanted)
        _same(kind.use(original), wanted)

    return f"{'process' if way is None else way.__name__} of {name}", compare


def in_threads(use, *objects):
    """Return what objects give that are used at the same time."""
    with ThreadPoolExecutor(len(objects)) as pool:
        return list(pool.map(use, objects))


def through_pickle(original):
    """Return what a pickle holds."""
    return pickle.loads(pickle.dumps(original))


def _same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert_allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE)


@lru_cache(maxsize=PROCESSES)
def _process(_):
    tests = Path(__file__).parents[1]
    inherited = filter(None, [environ.get("PYTHONPATH")])
    path = ":".join([str(tests), str(tests / "support"), *inherited])
    return subprocess.Popen(
        [sys.executable, "-m", "hostile.copies"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**environ, "PYTHONPATH": path},
    )


def warm_up(number):
    """Start a process, and compile in it what all objects use."""
    for name, kind in KINDS.items():
        if name != "batch":  # one engine refuses to be copied
            _in_process(number, name, pickle.dumps(kind.make(Random(number))))


def _in_process(number, name, pickled):
    """Return what the copy gives in another process."""
    process = _process(number)
    assert process.stdin is not None
    assert process.stdout is not None
    pickle.dump((name, pickled), process.stdin)
    process.stdin.flush()
    return pickle.load(process.stdout)


def serve():
    """Use the copies that come, until the input ends."""
    while True:
        try:
            name, pickled = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(KINDS[name].use(pickle.loads(pickled)), sys.stdout.buffer)
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
