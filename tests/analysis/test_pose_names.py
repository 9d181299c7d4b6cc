"""Poses in words: signs, units, and no more than what matters."""

import numpy as np
import pytest

from twin.analysis.machine_summary import pose_name
from twin.rotations import displaced

pytestmark = pytest.mark.quick


def test_moves_and_turns_from_home(subtests, stewart):
    for moved, name in [
        ((0, 0, 0, 0, 0, 0), "home"),
        ((0, 0, 1e-4, 0, 0, 0), "home"),
        ((0.05, 0, 0, 0, 0, 0), "50 mm forward"),
        ((0, 0.05, -0.02, 0, 0, 0), "50 mm left, 20 mm down"),
        ((0, 0, 0, 0, np.radians(8), 0), "pitched forward 8 deg"),
        ((0, 0, 0.012, np.radians(-3), 0, 0), "12 mm up, rolled left 3 deg"),
        ((0, 0, 0, 0, 0, np.radians(5)), "turned left 5 deg"),
        ((0.1, 0.001, 0, 0, 0, 0), "100 mm forward"),
    ]:
        with subtests.test(f"{moved}"):
            assert pose_name(stewart, displaced(stewart.home, moved)) == name


def test_the_ends_of_all_actuators_have_names(stewart):
    low, high = stewart.minimum_coordinates, stewart.maximum_coordinates
    assert pose_name(stewart, stewart.forward_kinematics(low)) == "lowest"
    assert pose_name(stewart, stewart.forward_kinematics(high)) == "highest"
