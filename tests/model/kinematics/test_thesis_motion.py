"""Stewart thesis, appendix A.2: joints, leg lengths at 0.74 m and an erratum as printed."""

import numpy as np
from tolerance import assert_within

RETRACTED = 0.8644
"""[m] leg length at height 0.74 m; appendix A.2 prints four decimals."""

# Appendix A.2, columns are legs.
BODY_POINTS = np.array(
    [
        [0.1445, 0.3710, 0.2785, -0.3737, -0.4230, 0.0027],
        [-0.4050, 0.2173, 0.3277, 0.2127, 0.0773, -0.4300],
        [0, 0, 0, 0, 0, 0],
    ]
)
BASE_POINTS = np.array(
    [
        [0.5701, 0.6097, -0.0519, -0.1661, -0.5181, -0.4436],
        [-0.2692, -0.1602, 0.6283, 0.6081, -0.3591, -0.4479],
        [0, 0, 0, 0, 0, 0],
    ]
)


def test_joints_are_those_of_the_thesis(stewart):
    # Printed with four decimals.
    assert_within(stewart.platform_joints, BODY_POINTS.T, 5.1e-5)
    assert_within(stewart.base_joints, BASE_POINTS.T, 5.1e-5)


def test_legs_start_retracted(stewart):
    lengths = stewart.inverse_kinematics([0.0, 0.0, 0.74, 1.0, 0.0, 0.0, 0.0])
    assert_within(lengths, RETRACTED, 5e-5)  # four decimals
