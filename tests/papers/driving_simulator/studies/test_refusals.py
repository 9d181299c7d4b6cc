"""Arguments that the studies of the driving simulator refuse."""

import numpy as np
from paper_plate import PLATE
from refusals import assert_all_refused

from twin.papers.driving_simulator.exact import exact_head_motion
from twin.papers.driving_simulator.studies import internal_forces, small_angle_head_motion

STATE = np.ones((3, 3))


def test_wrong_arguments_are_refused():
    assert_all_refused(
        lambda call, *arguments: call(*arguments),
        [
            (exact_head_motion, PLATE, [0.0, 1.0], *STATE, "head"),
            (small_angle_head_motion, PLATE, [0.0, 1.0], *STATE, "head"),
            (internal_forces, [1.0, 2.0, 3.0], "forces"),
        ],
    )
