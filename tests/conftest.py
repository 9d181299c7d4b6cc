"""Machines and random states that the tests share; every draw is seeded."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import twin
from twin.catalogue import parameters_path
from twin.platform import Platform

# The same examples in every run; compiling on first use must not count against an example.
settings.register_profile("twin", deadline=None, derandomize=True)
settings.load_profile("twin")

MACHINES = twin.machine_names()
assert {"srspm", "stewart"} <= set(MACHINES), "the catalogue is empty or incomplete"

STATES = 200


class States(NamedTuple):
    """Random states of one machine, one per row."""

    pose: NDArray[np.float64]
    twist: NDArray[np.float64]
    acceleration: NDArray[np.float64]
    forces: NDArray[np.float64]
    wrench: NDArray[np.float64]


def poses_within_limits(platform: Platform, count: int, seed: int) -> NDArray[np.float64]:
    """Return `count` random poses whose legs are inside their limits."""
    random = np.random.default_rng(seed)
    stroke = float((platform.maximum_lengths - platform.minimum_lengths).max())
    size = float(np.linalg.norm(platform.platform_joints, axis=1).mean())
    home = Rotation.from_quat(platform.home[[4, 5, 6, 3]])
    found = np.empty((0, 7))
    for _ in range(200):
        position = platform.home[:3] + random.uniform(-0.6, 0.6, (1000, 3)) * stroke
        turn = Rotation.from_rotvec(random.uniform(-0.6, 0.6, (1000, 3)) * stroke / size)
        pose = np.hstack([position, (turn * home).as_quat()[:, [3, 0, 1, 2]]])
        found = np.vstack([found, pose[platform.within_limits(pose)]])
        if len(found) >= count:
            return found[:count]
    raise AssertionError(f"{platform.name}: too few poses inside the limits")


@pytest.fixture(scope="session", params=MACHINES)
def platform(request: pytest.FixtureRequest) -> Platform:
    """Every machine of the catalogue."""
    return twin.load(request.param)


@pytest.fixture(scope="session")
def states(platform: Platform) -> States:
    """Random states inside the leg limits, fast enough for all velocity terms to matter."""
    random = np.random.default_rng(20240)
    return States(
        poses_within_limits(platform, STATES, 20241),
        random.normal(size=(STATES, 6)),
        random.normal(size=(STATES, 6)) * 5.0,
        random.normal(size=(STATES, platform.n_actuators)) * 200.0,
        random.normal(size=(STATES, 6)) * 100.0,
    )


@pytest.fixture(scope="session")
def machine_file(platform: Platform) -> Path:
    """The platform.toml of the machine."""
    return parameters_path(platform.name)
