"""The multibodies of a machine in Bullet: the legs on the base, and what moves the platform."""

from __future__ import annotations

from typing import NamedTuple

from twin.engines.bullet.library import bullet, load
from twin.engines.mechanism.mechanism import Mechanism
from twin.engines.urdf.robot import legs_urdf, platform_urdf
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

    def __init__(self, machine: Mechanism, client: int) -> None:
        """Load the machine's multibodies.

        Raises:
            InputError: Bullet refuses the machine.
        """
        self.links: dict[str, Link] = {}
        self.joints: dict[str, Link] = {}
        self._client = client
        self._collect(load(legs_urdf(machine), client, fixed=True))
        moving = load(platform_urdf(machine), client, fixed=not machine.floats)
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
