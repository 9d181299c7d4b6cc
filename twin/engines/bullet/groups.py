"""Joints and links of Bullet's multibodies, many read in one call."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.engines.bullet.bodies import Link
from twin.engines.mechanism.mechanism import Mechanism


def reader_of(machine: Mechanism) -> FloatArray:
    """Return the matrix from values and rates of all joints to the joints' part of a reading."""
    own = np.eye(len(machine.joint_names))
    deflection, carried = (
        own[machine.indices(machine.deflection)],
        own[machine.indices(machine.carried)],
    )
    parts = (own[machine.measured].sum(axis=0), deflection, carried)
    return np.concatenate([np.kron(np.eye(2), part) for part in parts])


def by_multibody(links: list[Link], places: list[int]) -> list[tuple[int, list[int], IndexArray]]:
    """Return for each multibody the numbers of its links, and their places."""
    groups = []
    for multibody in sorted({link.multibody for link in links}):
        own = [
            (link.number, k)
            for link, k in zip(links, places, strict=True)
            if link.multibody == multibody
        ]
        numbers, kept = zip(*own, strict=True)
        groups.append((multibody, list(numbers), np.array(kept, dtype=np.int64)))
    return groups
