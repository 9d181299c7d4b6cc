"""Machines whose bodies feel something else than gravity along -z."""

import numpy as np
from scipy.spatial.transform import Rotation

from twin.analysis.platform import Platform
from twin.kernels.dynamics.assembly import BODY_GRAVITY
from twin.kernels.legs import rss
from twin.kernels.legs.interface import AXIS, BASE_JOINT

LEANING = (2.3, -1.7, -6.1)
"""[m/s2]; no entry zero or like another."""


def in_field(platform, field):
    """Return the machine where every body feels `field` (3,) [m/s2]; None: as it is."""
    if field is None:
        return platform
    body = platform.constants.body.copy()
    body[BODY_GRAVITY : BODY_GRAVITY + 3] = field
    return _with(platform, body=body)


def turned(platform, turn):
    """Return the machine turned about the base's origin, joints and axes of the base with it."""
    legs = platform.constants.legs
    rows = legs.rows.copy()
    for start in (BASE_JOINT, AXIS, *((rss.ZERO_DIRECTION,) if platform.kind == "rss" else ())):
        rows[:, start : start + 3] = turn.apply(rows[:, start : start + 3])
    return _with(platform, legs=type(legs)(rows))


def _with(platform, **constants):
    other = Platform(platform.parameters)
    other.constants = platform.constants._replace(**constants)
    return other


def turned_pose(pose, turn):
    """Return poses `(k, 7)` of a platform that is turned with its machine."""
    attitude = turn * Rotation.from_quat(pose[:, 3:], scalar_first=True)
    return np.hstack([turn.apply(pose[:, :3]), attitude.as_quat(scalar_first=True)])


def turned_vectors(pairs, turn):
    """Return pairs of vectors `(k, 6)`, turned."""
    return np.hstack([turn.apply(pairs[:, :3]), turn.apply(pairs[:, 3:])])
