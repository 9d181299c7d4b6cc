"""Machines every engine is tested on: the catalogue, and one without symmetry to hide behind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twin
from twin.arrays import FloatArray
from twin.parameters import MachineParameters
from twin.platform import Platform

GENERAL = "general"


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


@pytest.fixture
def random_motion() -> Any:
    """Return a function of (platform, seed) that gives pose, twist, acceleration near home."""

    def motion(platform: Platform, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        random = np.random.default_rng(seed)
        pose = platform.home + np.r_[random.uniform(-0.1, 0.1, 7)]
        pose[3:] /= np.linalg.norm(pose[3:])
        return pose, random.normal(size=6), 5.0 * random.normal(size=6)

    return motion
