"""Tables and signals of `PoseTracking`: made, lengthened and filled."""

from __future__ import annotations

import numpy as np

from twin.control.reference import Reference
from twin.envs.scales import Scales
from twin.kernels.tasks.pose_tracking.arrays import Signals, Tables


def make_tables(size: int, length: int, scales: Scales) -> Tables:
    """Return empty tables of `size` rows and `length` control instants."""
    n = len(scales.half)
    return Tables(
        np.zeros((size, length, 7)),
        np.zeros((size, length, n)),
        np.zeros((size, length, n)),
        np.zeros((size, n)),
        scales.middle.copy(),
        np.zeros(7),
        np.zeros(13),
    )


def make_signals(size: int, actuators: int) -> Signals:
    """Return signals of `size` rows."""
    return Signals(
        np.zeros((size, 3)), np.zeros((size, 3)), np.zeros((size, actuators)), np.zeros((size, 7))
    )


def lengthened(tables: Tables, length: int) -> Tables:
    """Return tables of `length` control instants, more than before; rows rest on their ends."""
    more = length - tables.pose.shape[1]
    pose, coordinates = (
        np.concatenate([part, np.repeat(part[:, -1:], more, axis=1)], axis=1)
        for part in (tables.pose, tables.coordinates)
    )
    still = np.zeros((len(pose), more, coordinates.shape[2]))
    rates = np.concatenate([tables.rates, still], axis=1)
    return tables._replace(pose=pose, coordinates=coordinates, rates=rates)


def fill_row(tables: Tables, row: int, reference: Reference) -> None:
    """Put a reference into a row; at rest on its last pose where it is shorter than the tables."""
    length = tables.pose.shape[1]
    count = min(len(reference.time), length)
    tables.pose[row, :count], tables.pose[row, count:] = (
        reference.pose[:count],
        reference.pose[count - 1],
    )
    tables.coordinates[row, :count] = reference.coordinates[:count]
    tables.coordinates[row, count:] = reference.coordinates[count - 1]
    tables.rates[row, :count], tables.rates[row, count:] = reference.rates[:count], 0.0
