"""External force and moment on the platform, given in base or in platform axes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.basics.quaternions import cross_matrix, rotation_matrix

FRAMES = ("base", "platform")


class Load(NamedTuple):
    """A constant load; in the frame `platform` it turns with the platform."""

    wrench: FloatArray
    """Force [N], moment about the reference point [N m] `(6,)`, in axes of the frame"""
    frame: str
    """`base` or `platform`"""


def load(force: Any = (0, 0, 0), moment: Any = (0, 0, 0), frame: str = "base") -> Load:
    """Return a load of a force `(3,)` [N] at the reference point and a moment `(3,)` [N m].

    Reference: compliant-leg paper, equations (25) to (27): loads in base axes.
    """
    return Load(read_only([*force, *moment]), frame)


def wrench_in_base(given: Load, pose: FloatArray) -> FloatArray:
    """Return the wrenches `(..., 6)` of a load in base axes at poses `(..., 7)`."""
    wrench = np.broadcast_to(given.wrench, (*pose.shape[:-1], 6))
    if given.frame == "platform":
        turned = rotation_matrix(pose[..., 3:])[..., None, :, :] @ wrench.reshape(
            (*wrench.shape[:-1], 2, 3, 1)
        )
        wrench = turned.reshape(wrench.shape)
    return np.array(wrench)


def load_derivative(given: Load, pose: FloatArray) -> FloatArray:
    """Return `(6, 6)`: the change of the wrench at a pose `(7,)` per displacement, base axes.

    Displacements are (translation, rotation vector); a load in base axes does not change.
    """
    derivative = np.zeros((6, 6))
    if given.frame == "platform":
        wrench = wrench_in_base(given, pose)
        derivative[:3, 3:] = -cross_matrix(wrench[:3])
        derivative[3:, 3:] = -cross_matrix(wrench[3:])
    return derivative


NO_LOAD = Load(read_only(np.zeros(6)), "base")
