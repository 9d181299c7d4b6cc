"""The slip of a ball on its plate."""

import numpy as np
from turns import turn_of

from twin.model.ball import on_plate


def slip(ball, pose, twist, motion):
    """Return the velocity `(3,)` [m/s] of the ball's lowest point against the plate, its axes."""
    spin = turn_of(pose).inv().apply(motion[10:] - twist[3:])
    return on_plate(pose, twist, motion)[3:] + ball.radius * np.cross(spin, [0.0, 0.0, -1.0])
