"""References of `PoseTracking` as arrays: made, lengthened and filled."""

from __future__ import annotations

import numpy as np

from twin.control.reference import Reference as SampledReference
from twin.kernels.tasks.pose_tracking.arrays import Reference


def make_reference(size: int, length: int, actuators: int) -> Reference:
    """Return empty references of `size` environments and `length` control instants."""
    shape = (size, length, actuators)
    return Reference(np.zeros((size, length, 7)), np.zeros(shape), np.zeros(shape))


def lengthened(reference: Reference, length: int) -> Reference:
    """Return references of `length` control instants, more than before, at rest on their ends."""
    more = length - reference.pose.shape[1]
    pose, coordinates = (
        np.concatenate([part, np.repeat(part[:, -1:], more, axis=1)], axis=1)
        for part in (reference.pose, reference.coordinates)
    )
    still = np.zeros((len(pose), more, coordinates.shape[2]))
    return Reference(pose, coordinates, np.concatenate([reference.rates, still], axis=1))


def fill_reference(reference: Reference, index: int, given: SampledReference) -> None:
    """Put a reference into an environment; where it is shorter, it rests on its last pose."""
    count = min(len(given.time), reference.pose.shape[1])
    reference.pose[index, :count] = given.pose[:count]
    reference.pose[index, count:] = given.pose[count - 1]
    reference.coordinates[index, :count] = given.coordinates[:count]
    reference.coordinates[index, count:] = given.coordinates[count - 1]
    reference.rates[index, :count], reference.rates[index, count:] = given.rates[:count], 0.0
