"""What engines are tested on: every machine, one without symmetry, and motions for them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from unsymmetric import KINDS, machine_without_symmetry

import twin
from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.engines import engine_names, make_engine
from twin.engines.base import suitable_timestep
from twin.model.engine import FIDELITIES

LIBRARIES = {"analytic": "twin", "mujoco": "mujoco", "bullet": "pybullet"}
assert set(engine_names()) == set(LIBRARIES)


GENERAL = {f"general_{kind}": kind for kind in KINDS}
"""Machines without symmetry -> their kind of leg."""


FAST = ("stewart", "driving_simulator", "compliant_stewart")
"""Machines that are tested in the fidelity `fast` too: rigid legs, constraints, springs in series.

The fidelity changes integrator and steps alone. What else a kind of leg brings is tested with
`accurate`, and the report shows the convergence of both fidelities on every machine.
"""

SPREAD = [
    ("accurate", "driving_simulator"),
    ("accurate", "compliant_stewart"),
    ("accurate", "rss"),
    ("fast", "stewart"),
    ("fast", "micro_hexapod"),
]
"""Fidelity and machine of most tests: every kind of leg once, each engine with all of them.

They ask for one law each, or for what any engine promises: saved states, dumps, copies. That hangs
on the engine, on its fidelity and on the states a kind of leg has. A second machine with the same
legs, or one without symmetry, could fail only where a test marked `every_machine` fails.
"""

EVERY_MACHINE = [
    *(("accurate", name) for name in (*twin.machine_names(), "general_ups")),
    *(("fast", name) for name in FAST),
]
"""Fidelity and machine of tests of all bodies, axes and velocities of a motion."""


def pytest_generate_tests(metafunc):
    """Run tests that take a fidelity and a machine with pairs of them, others with each in turn."""
    own = set()
    for mark in metafunc.definition.iter_markers("parametrize"):
        own.update(mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0])
    wanted = {"fidelity", "platform"} & set(metafunc.fixturenames) - own
    if wanted == {"fidelity", "platform"}:
        everywhere = metafunc.definition.get_closest_marker("every_machine")
        pairs = SPREAD if everywhere is None else EVERY_MACHINE
        metafunc.parametrize(("fidelity", "platform"), pairs, indirect=True)
    elif wanted == {"platform"}:
        metafunc.parametrize("platform", (*twin.machine_names(), "general_ups"), indirect=True)
    elif wanted == {"fidelity"}:
        metafunc.parametrize("fidelity", FIDELITIES, indirect=True)


@cache
def machine(name):
    """Return a machine of the catalogue, or one without symmetry."""
    return Platform(machine_without_symmetry(GENERAL[name])) if name in GENERAL else twin.load(name)


@pytest.fixture
def platform(request):
    """Return the machine of a test, see `pytest_generate_tests`."""
    return machine(request.param)


@pytest.fixture(params=[*twin.machine_names(), *GENERAL, "tripod", "balancer"])
def any_platform(request):
    """Return every machine in turn, one of every kind without symmetry, two on legs in planes."""
    return machine(request.param)


@pytest.fixture
def machine_of():
    """Return the function that gives a machine by its name."""
    return machine


@pytest.fixture
def stewart():
    """Return one machine, for what does not depend on it."""
    return machine("stewart")


@pytest.fixture(scope="session", params=engine_names())
def engine_name(request):
    """Return every engine in turn, where its library is installed."""
    pytest.importorskip(LIBRARIES[request.param])
    return str(request.param)


@pytest.fixture
def fidelity(request):
    """Return the fidelity of a test, see `pytest_generate_tests`."""
    return str(request.param)


@pytest.fixture
def make():
    """Return `make_engine`; what it made is closed after the test."""
    made = []

    def make(*arguments, **options):
        made.append(make_engine(*arguments, **options))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


@pytest.fixture
def fresh(make, engine_name, platform, fidelity):
    """Return a function that makes the engine under test anew, every fidelity and machine in turn.

    Its time step is given in steps that suit the machine, one by default.
    """

    def engine(steps=1.0, **options):
        timestep = steps * suitable_timestep(platform)
        return make(engine_name, platform, timestep, fidelity=fidelity, **options)

    return engine


@pytest.fixture
def random_motion():
    """Return a function of (platform, seed) that gives pose, twist, acceleration near home."""

    def motion(platform, seed):
        random = np.random.default_rng(seed)
        size = np.r_[np.full(3, platform.home_reaches.mean()), np.ones(4)]
        pose = platform.home + 0.1 * size * random.uniform(-1.0, 1.0, 7)
        pose[3:] /= np.linalg.norm(pose[3:])
        twist, acceleration = random.normal(size=(2, 6)) * size[:6]
        return platform.constrain(pose, twist, 5.0 * acceleration)

    return motion


@pytest.fixture
def random_internal():
    """Return a function of (platform, seed) that gives deflections of springs and rates."""

    def deflection(platform, seed):
        random = np.random.default_rng(seed)
        return 0.02 * random.normal(size=2 * platform.n_deflections)

    return deflection


class Push(NamedTuple):
    """A motion: constant forces and wrench from a moving start."""

    forces: FloatArray
    wrench: FloatArray | None
    start: tuple[FloatArray, FloatArray, FloatArray]

    def run(self, engine, duration):
        """Return the engine's last state."""
        state = engine.reset(*self.start)
        for _ in range(round(duration / engine.timestep)):
            state = engine.step(self.forces, self.wrench)
        return state


@pytest.fixture
def push():
    """Return a function that gives a motion which stays inside the machine's range for a while."""

    def motion(platform):
        hold = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
        mass = platform.parameters.platform.body.mass
        start = platform.constrain(platform.home, [0.1, -0.05, 0.1, 0.2, -0.1, 0.3])
        inside = 1e-3 * np.arange(2.0 * platform.n_deflections)
        return Push(
            hold * np.array([1.08, 0.97, 1.05, 1.02, 0.99, 1.04])[: platform.n_actuators],
            0.1 * mass * np.array([5.0, -3.0, 8.0, 1.0, 2.0, -1.0]),
            (start.pose, start.twist, inside),
        )

    return motion


@pytest.fixture
def free_fall():
    """Return a function that gives the fall from rest at home."""

    def motion(platform):
        start = (platform.home, np.zeros(6), np.zeros(2 * platform.n_deflections))
        return Push(np.zeros(platform.n_actuators), None, start)

    return motion


@pytest.fixture
def pose_error():
    """Return the function that gives the larger of distance [m] and angle [rad] of two poses."""

    def error(one, other):
        turn = min(np.linalg.norm(one.pose[3:] - s * other.pose[3:]) for s in (1.0, -1.0))
        return float(max(np.linalg.norm(one.pose[:3] - other.pose[:3]), 2.0 * turn))

    return error


@pytest.fixture
def same_bits():
    """Return the function that compares two states bit for bit."""

    def same(one, other):
        pairs = zip(one, other, strict=True)
        return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in pairs)

    return same
