"""Colours of legs: values on their scale, unknown ones on none."""

import numpy as np

from twin.page.scene.machine_scene import (
    COLOUR_LEVELS,
    levels,
)


def test_values_fall_on_their_level():
    found = levels(np.array([0.0, 0.5 / (COLOUR_LEVELS - 1) * 0.99, 1.0, 7.0, -3.0, np.nan]))
    assert found.tolist() == [0, 0, COLOUR_LEVELS - 1, COLOUR_LEVELS - 1, 0, -1]


def test_levels_grow_with_the_value():
    found = levels(np.linspace(0.0, 1.0, 500))
    assert set(np.diff(found).tolist()) == {0, 1}
