"""Reference of a controller in task space, read ahead of time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.control.drive_model import DriveModel
from twin.control.feedforward_table import ahead
from twin.control.reference import Reference


class TaskReference(NamedTuple):
    """One row per control instant, each as it will be some time later. Read-only arrays."""

    pose: FloatArray
    """`(k, 7)`"""
    twist: FloatArray
    """`(k, 6)`"""
    acceleration: FloatArray
    """`(k, 6)`"""
    friction: FloatArray
    """`(k, n)` of the drives"""


def task_reference(
    reference: Reference, drives: DriveModel, lead: float, friction: bool
) -> TaskReference:
    """Return the reference as it will be `lead` [s] later, with the drives' friction or zeros."""
    rows = lead / reference.period
    pose, twist, acceleration = (
        ahead(part, rows) for part in (reference.pose, reference.twist, reference.acceleration)
    )
    pose[:, 3:] /= np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
    rates = np.nan_to_num(ahead(reference.rates, rows))
    loss = drives.friction_force(rates) if friction else np.zeros_like(rates)
    return TaskReference(*(read_only(part) for part in (pose, twist, acceleration, loss)))
