"""The multibodies of a machine in Bullet, and groups of their joints that are read in one call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.engines.bullet.library import bullet, load
from twin.engines.mechanism.mechanism import Mechanism
from twin.machine.mechanism.parts import PLATFORM

BASE_LINK = -1
"""Bullet's number for the base link of a multibody."""


class Link(NamedTuple):
    """One link of a multibody; as a joint, the one that moves this link."""

    multibody: int
    number: int


class Bodies:
    """Places of bodies and joints in a physics client.

    Attributes:
        links: links by the names of their bodies.
        joints: links by the names of the joints that move them.
    """

    def __init__(self, machine: Mechanism, texts: tuple[str, str], client: int) -> None:
        """Load the machine's multibodies from the URDF of its legs and of its platform.

        Raises:
            InputError: Bullet refuses the machine.
        """
        self.links: dict[str, Link] = {}
        self.joints: dict[str, Link] = {}
        self._client = client
        self._collect(load(texts[0], client, fixed=True))
        moving = load(texts[1], client, fixed=not machine.floats)
        self._collect(moving)
        if machine.floats:
            self.links[PLATFORM] = Link(moving, BASE_LINK)

    def all(self) -> list[Link]:
        """Return all links, bases included."""
        multibodies = {link.multibody for link in self.links.values()}
        return [Link(body, BASE_LINK) for body in sorted(multibodies)] + [
            link for link in self.links.values() if link.number != BASE_LINK
        ]

    def _collect(self, multibody: int) -> None:
        client = {"physicsClientId": self._client}
        for k in range(bullet.getNumJoints(multibody, **client)):
            info = bullet.getJointInfo(multibody, k, **client)
            self.links[info[12].decode()] = Link(multibody, k)
            if info[2] != bullet.JOINT_FIXED:
                self.joints[info[1].decode()] = Link(multibody, k)


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
