"""Cranks on radial axes in mirrored pairs, in the engines' trees."""

import numpy as np
import pytest
from laid_out import CRANK, servos
from tolerance import assert_within

from twin.analysis.platform import Platform
from twin.engines.projection import TREE_MODULES, projection
from twin.rotations import displaced


@pytest.mark.parametrize("engine", TREE_MODULES)
def test_projection(engine):
    pytest.importorskip({"bullet": "pybullet"}.get(engine, engine))
    platform = Platform(servos(crank=CRANK))
    random = np.random.default_rng(0)
    pose = displaced(platform.home, random.uniform(-1.0, 1.0, 6) * np.repeat([4e-3, 0.05], 3))
    motion = pose, random.normal(size=6), random.normal(size=6)
    wanted = platform.inverse_dynamics(*motion)
    found = projection(engine, platform, *motion).forces
    assert_within(found, wanted, 1e-9 * np.abs(wanted).max())
