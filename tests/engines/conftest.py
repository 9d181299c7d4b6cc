"""What engines are tested on: every machine, one without symmetry, and motions for them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import twin
from twin.arrays import FloatArray
from twin.engines import engine_names, make_engine
from twin.engines.engine import PRESETS, Engine, State
from twin.parameters import MachineParameters
from twin.platform import Platform

GENERAL = "general"

LIBRARIES = {"analytic": "twin", "mujoco": "mujoco", "bullet": "pybullet"}
assert set(engine_names()) == set(LIBRARIES)


def general_platform() -> Platform:
    """Return `stewart` tilted at home, with an offset, tilted and unsymmetric platform body."""
    content: dict[str, Any] = twin.load("stewart").parameters.model_dump()
    content["name"] = GENERAL
    content["home"]["position"] = (0.01, -0.02, 0.88)
    content["home"]["orientation"] = (0.98, 0.1, -0.1, 0.14)
    content["platform"]["body"]["center_of_mass"] = (0.06, -0.04, 0.15)
    content["platform"]["body"]["inertia"] = ((3.0, 0.4, -0.2), (0.4, 2.0, 0.3), (-0.2, 0.3, 4.0))
    content["leg"]["actuator"] |= {"minimum": 0.7, "maximum": 1.3}
    return Platform(MachineParameters.model_validate(content))


@pytest.fixture(params=[*twin.machine_names(), GENERAL])
def platform(request: pytest.FixtureRequest) -> Platform:
    """Return every machine in turn."""
    return general_platform() if request.param == GENERAL else twin.load(request.param)


@pytest.fixture
def stewart() -> Platform:
    """Return one machine, for what does not depend on it."""
    return twin.load("stewart")


@pytest.fixture(scope="session", params=engine_names())
def engine_name(request: pytest.FixtureRequest) -> str:
    """Return every engine in turn, where its library is installed."""
    pytest.importorskip(LIBRARIES[request.param])
    return str(request.param)


@pytest.fixture(scope="session", params=PRESETS)
def preset(request: pytest.FixtureRequest) -> str:
    """Return every preset in turn."""
    return str(request.param)


@pytest.fixture
def make() -> Iterator[Callable[..., Engine]]:
    """Return `make_engine`; what it made is closed after the test."""
    made = []

    def make(*arguments: Any, **options: Any) -> Engine:
        made.append(make_engine(*arguments, **options))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


@pytest.fixture
def fresh(
    make: Callable[..., Engine], engine_name: str, platform: Platform, preset: str
) -> Callable[..., Engine]:
    """Return a function that makes the engine under test anew, every preset and machine in turn."""
    return partial(make, engine_name, platform, preset=preset)


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let dumps and any log file fall into a folder of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def random_motion() -> Any:
    """Return a function of (platform, seed) that gives pose, twist, acceleration near home."""

    def motion(platform: Platform, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        random = np.random.default_rng(seed)
        pose = platform.home + np.r_[random.uniform(-0.1, 0.1, 7)]
        pose[3:] /= np.linalg.norm(pose[3:])
        return pose, random.normal(size=6), 5.0 * random.normal(size=6)

    return motion


class Push(NamedTuple):
    """A motion: constant forces and wrench from a moving start."""

    forces: FloatArray
    wrench: FloatArray | None
    start: tuple[FloatArray, FloatArray]

    def run(self, engine: Engine, duration: float) -> State:
        """Return the engine's last state."""
        state = engine.reset(*self.start)
        for _ in range(round(duration / engine.timestep)):
            state = engine.step(self.forces, self.wrench)
        return state


@pytest.fixture
def push() -> Callable[[Platform], Push]:
    """Return a function that gives a motion which stays inside the machine's range for 0.3 s."""

    def motion(platform: Platform) -> Push:
        hold = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
        mass = platform.parameters.platform.body.mass
        return Push(
            hold * np.array([1.08, 0.97, 1.05, 1.02, 0.99, 1.04]),
            0.1 * mass * np.array([5.0, -3.0, 8.0, 1.0, 2.0, -1.0]),
            (platform.home, np.array([0.1, -0.05, 0.1, 0.2, -0.1, 0.3])),
        )

    return motion


@pytest.fixture
def free_fall() -> Callable[[Platform], Push]:
    """Return a function that gives the fall from rest at home."""
    return lambda platform: Push(np.zeros(platform.n_actuators), None, (platform.home, np.zeros(6)))


@pytest.fixture
def pose_error() -> Callable[[State, State], float]:
    """Return the function that gives the larger of distance [m] and angle [rad] of two poses."""

    def error(one: State, other: State) -> float:
        turn = min(np.linalg.norm(one.pose[3:] - s * other.pose[3:]) for s in (1.0, -1.0))
        return float(max(np.linalg.norm(one.pose[:3] - other.pose[:3]), 2.0 * turn))

    return error


@pytest.fixture
def same_bits() -> Callable[[State, State], bool]:
    """Return the function that compares two states bit for bit."""

    def same(one: State, other: State) -> bool:
        pairs = zip(one, other, strict=True)
        return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in pairs)

    return same
