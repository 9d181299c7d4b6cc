"""The rotation of a pose, by scipy."""

import numpy as np
from scipy.spatial.transform import Rotation


def turn_of(pose):
    """Return the rotation of poses `(..., 7)` from the platform's frame to that of the base."""
    return Rotation.from_quat(np.asarray(pose)[..., 3:7], scalar_first=True)
