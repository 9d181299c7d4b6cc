"""Colours of legs: values on their scale, unknown ones on none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from twin.page.scene.machine_scene import (
    COLOUR_LEVELS,
    COLOUR_SCALES,
    as_bytes,
    legend,
    levels,
    palette,
)


def test_values_fall_on_their_level() -> None:
    found = levels(np.array([0.0, 0.5 / (COLOUR_LEVELS - 1) * 0.99, 1.0, 7.0, -3.0, np.nan]))
    assert found.tolist() == [0, 0, COLOUR_LEVELS - 1, COLOUR_LEVELS - 1, 0, -1]


def test_levels_grow_with_the_value() -> None:
    found = levels(np.linspace(0.0, 1.0, 500))
    assert set(np.diff(found).tolist()) == {0, 1}


def test_scales_go_from_calm_to_red() -> None:
    force, stroke = palette("force"), palette("stroke")
    for scale in (force, stroke):
        assert scale.shape == (COLOUR_LEVELS, 3)
        assert scale.min() >= 0.0
        assert scale.max() <= 1.0
    for red in (force[-1], stroke[0]):
        assert red.argmax() == 0
        assert red[0] > 2.0 * red[1:].max()
    assert force[0].argmax() == 2
    assert stroke[-1].argmax() == 1


@pytest.mark.parametrize("colouring", COLOUR_SCALES)
def test_the_legend_has_the_colours_of_the_scale(colouring: Any) -> None:
    text = legend(colouring)
    for stop in COLOUR_SCALES[colouring]:
        assert f"rgb{as_bytes(stop)}" in text
