"""Common states for the benchmarks."""

from __future__ import annotations

import numpy as np
import pytest

import twin
from twin.rotations import pose_from_angles


@pytest.fixture(params=twin.machine_names())
def platform(request: pytest.FixtureRequest) -> twin.Platform:
    return twin.load(request.param)


@pytest.fixture
def states(platform: twin.Platform) -> dict[str, np.ndarray]:
    """4096 random states about home, every array contiguous."""
    generator = np.random.default_rng(7)
    count = 4096
    position = platform.home[:3] + generator.normal(0.0, 0.02, (count, 3))
    pose = pose_from_angles(position, generator.normal(0.0, 0.03, (count, 3)))
    return {
        "pose": pose,
        "twist": generator.normal(0.0, 0.5, (count, 6)),
        "acceleration": generator.normal(0.0, 3.0, (count, 6)),
        "forces": generator.normal(0.0, 300.0, (count, platform.n_actuators)),
        "wrench": generator.normal(0.0, 30.0, (count, 6)),
    }
