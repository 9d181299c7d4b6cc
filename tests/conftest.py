"""Machines and random states that the tests share; every draw is seeded."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import twin
from twin.catalogue import parameters_path
from twin.parameters import MachineParameters
from twin.platform import Platform

# The same examples in every run; compiling on first use must not count against an example.
settings.register_profile("twin", deadline=None, derandomize=True)
settings.load_profile("twin")

MACHINES = twin.machine_names()
assert len(MACHINES) == 6, "the catalogue is incomplete"

GENERAL = "general"

STATES = 200


def read_description(name: str) -> dict[str, Any]:
    """Return the content of a machine's platform.toml as it is written there."""
    content = tomllib.loads(parameters_path("stewart" if name == GENERAL else name).read_text())
    return without_symmetry(content) if name == GENERAL else content


def without_symmetry(content: dict[str, Any]) -> dict[str, Any]:
    """Return a machine with six legs that has no symmetry, plane or axis to hide a fault behind."""
    content = copy.deepcopy(content)
    random = np.random.default_rng(7)
    angles = np.radians([-25.0, -15.0, 95.0, 105.0, 215.0, 225.0])
    top = np.radians([-70.0, 30.0, 50.0, 150.0, 170.0, 290.0])
    content["name"] = GENERAL
    for table, angle, radius in (("base", angles, 0.63), ("platform", top, 0.43)):
        points = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0 * angle], 1)
        points += random.uniform(-0.03, 0.03, points.shape)
        content[table]["joints"] = {"source": "Test", "coordinates": points.tolist()}
    content["home"]["position"] = [0.01, -0.02, 0.88]
    content["home"]["orientation"] = [0.9950376877284599, 0.05, -0.05, 0.07]
    content["platform"]["body"]["center_of_mass"] = [0.06, -0.04, 0.15]
    content["platform"]["body"]["inertia"] = [[3.0, 0.4, -0.2], [0.4, 2.0, 0.3], [-0.2, 0.3, 4.0]]
    content["leg"]["first_axis"] = [0.3, 1.0, 0.4]
    content["leg"]["frame_angle"] = "20 deg"
    content["leg"]["mirrored"] = [1, 4]
    content["leg"]["actuator"] |= {"minimum": 0.85, "maximum": 1.1}
    return content


class States(NamedTuple):
    """Random states of one machine, one per row, that it can be in."""

    pose: NDArray[np.float64]
    twist: NDArray[np.float64]
    acceleration: NDArray[np.float64]
    forces: NDArray[np.float64]
    wrench: NDArray[np.float64]
    internal: NDArray[np.float64]


def poses_within_limits(platform: Platform, count: int, seed: int) -> NDArray[np.float64]:
    """Return `count` random poses whose actuators are inside their limits."""
    random = np.random.default_rng(seed)
    stroke = float((platform.maximum_coordinates - platform.minimum_coordinates).max())
    if platform.coordinate_unit == "rad":
        stroke *= 0.1 * float(platform.home_reaches.mean())
    size = float(np.linalg.norm(platform.platform_joints, axis=1).mean())
    home = Rotation.from_quat(platform.home[[4, 5, 6, 3]])
    found = np.empty((0, 7))
    for _ in range(200):
        position = platform.home[:3] + random.uniform(-0.6, 0.6, (1000, 3)) * stroke
        turn = Rotation.from_rotvec(random.uniform(-0.6, 0.6, (1000, 3)) * stroke / size)
        pose = np.hstack([position, (turn * home).as_quat()[:, [3, 0, 1, 2]]])
        pose = platform.constrain(pose).pose
        found = np.vstack([found, pose[platform.within_limits(pose)]])
        if len(found) >= count:
            return found[:count]
    raise AssertionError(f"{platform.name}: too few poses inside the limits")


@pytest.fixture(scope="session", params=[*MACHINES, GENERAL])
def platform(request: pytest.FixtureRequest) -> Platform:
    """Every machine of the catalogue, and one without any symmetry."""
    if request.param == GENERAL:
        return Platform(MachineParameters.model_validate(read_description(GENERAL)))
    return twin.load(request.param)


@pytest.fixture(scope="session")
def description(platform: Platform) -> dict[str, Any]:
    """The machine's platform.toml as it is written, for tests that build their own model."""
    return read_description(platform.name)


@pytest.fixture(scope="session")
def states(platform: Platform) -> States:
    """Random states inside the limits, fast enough for all velocity terms to matter."""
    random = np.random.default_rng(20240)
    motion = platform.constrain(
        poses_within_limits(platform, STATES, 20241),
        random.normal(size=(STATES, 6)),
        random.normal(size=(STATES, 6)) * 5.0,
    )
    springs = random.normal(size=(STATES, 2, platform.n_internal)) * [[0.005], [0.2]]
    return States(
        *motion,
        random.normal(size=(STATES, platform.n_actuators)) * 200.0,
        random.normal(size=(STATES, 6)) * 100.0,
        springs.reshape(STATES, 2 * platform.n_internal),
    )


@pytest.fixture(scope="session")
def derivative() -> Callable[..., NDArray[np.float64]]:
    """Numeric d/dt at t = 0 of a function `(t) -> array`, with an error of order step^6."""

    def differentiate(function: Callable[[float], Any], step: float) -> NDArray[np.float64]:
        steps = (step, step / 2, step / 4)
        first = [(function(h) - function(-h)) / (2 * h) for h in steps]
        second = [(4 * fine - coarse) / 3 for coarse, fine in pairwise(first)]
        return np.asarray((16 * second[1] - second[0]) / 15)

    return differentiate


@pytest.fixture(scope="session")
def srspm() -> Platform:
    """The benchmark machine, for what a paper says about it."""
    return twin.load("srspm")


@pytest.fixture(scope="session")
def stewart() -> Platform:
    """The thesis' machine, for what the thesis says about it."""
    return twin.load("stewart")
