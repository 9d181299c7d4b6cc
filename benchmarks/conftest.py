"""Common states for the benchmarks."""

from __future__ import annotations

import numpy as np
import pytest

import twin
from twin.analysis.platform import Platform
from twin.rotations import pose_from_angles

COUNT = 4096


@pytest.fixture(params=twin.machine_names())
def platform(request: pytest.FixtureRequest) -> Platform:
    return twin.load(request.param)


@pytest.fixture
def states(platform: Platform) -> dict[str, np.ndarray]:
    """4096 random states about home, every array contiguous."""
    generator = np.random.default_rng(7)
    size = 0.02 * float(platform.home_reaches.mean())
    position = platform.home[:3] + generator.normal(0.0, size, (COUNT, 3))
    pose = pose_from_angles(position, generator.normal(0.0, 0.03, (COUNT, 3)))
    motion = platform.constrain(
        pose, generator.normal(0.0, 0.5, (COUNT, 6)), generator.normal(0.0, 3.0, (COUNT, 6))
    )
    k = platform.n_deflections
    return {
        "pose": motion.pose,
        "twist": motion.twist,
        "deflection": generator.normal(0.0, 0.005, (COUNT, 2 * k)),
        "acceleration": motion.acceleration,
        "forces": generator.normal(0.0, 300.0, (COUNT, platform.n_actuators)),
        "wrench": generator.normal(0.0, 30.0, (COUNT, 6)),
    }
