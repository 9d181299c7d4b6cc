"""Joints of a mechanism: their motion, and the forces of their springs, dampers and friction."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.mechanism.mechanism import Mechanism
from twin.machine.mechanism.parts import Spring
from twin.model.motions import LegCoordinates


class JointForces:
    """Forces of joints by themselves, apart from their actuators.

    Attributes:
        joints: `(k,)` places in `Mechanism.joint_names` of the joints that do something.
    """

    def __init__(self, machine: Mechanism, *, springs: bool = True, viscous: bool = True) -> None:
        """Collect the joints; leave out springs and dampers, or viscous friction, if need be."""
        sprung = [k for k, joint in enumerate(machine.joints) if springs and joint.spring]
        pairs = [
            (machine.indices(friction.joints), friction)
            for friction in machine.frictions
            if viscous or friction.coulomb
        ]
        self.joints = np.unique([*sprung, *(k for pair, _ in pairs for k in pair)]).astype(np.int64)
        own = [machine.joints[k].spring if springs else None for k in self.joints]
        none = Spring(0.0, 0.0)
        self._stiffness, self._damping, self._zero = (
            np.array([spring or none for spring in own], dtype=float).reshape(-1, 3).T
        )
        share = 1.0 if viscous else 0.0
        self._frictions = [
            (
                np.searchsorted(self.joints, pair),
                friction._replace(viscous=share * friction.viscous),
            )
            for pair, friction in pairs
        ]

    def __call__(self, values: FloatArray, rates: FloatArray) -> FloatArray:
        """Return the forces `(k,)` [N] or [N m] at `joints`, from their values and rates."""
        forces = self._stiffness * (self._zero - values) - self._damping * rates
        for (x, y), friction in self._frictions:
            speed, slow = rates[x] ** 2 + rates[y] ** 2, friction.transition_speed
            resistance = friction.viscous + friction.coulomb / sqrt(speed + slow**2)
            forces[x] -= resistance * rates[x]
            forces[y] -= resistance * rates[y]
        return np.asarray(forces)


class JointMotion(NamedTuple):
    """Coordinates of all joints, in the order of `Mechanism.joint_names`."""

    values: FloatArray
    """`(joints,)` [m] or [rad], zero at home"""
    rates: FloatArray
    """`(joints,)`"""
    accelerations: FloatArray
    """`(joints,)`"""


def joint_motion(
    machine: Mechanism, legs: LegCoordinates, carried: FloatArray | None = None
) -> JointMotion:
    """Return the motion of all joints.

    `carried` `(2c,)` are the coordinates of the joints of bodies that the platform carries, then
    their rates; by default they rest on it.
    """
    count = len(machine.carried)
    rest = np.zeros((3, count))
    if carried is not None:
        rest[:2] = carried.reshape(2, count)
    parts = zip(legs, rest, strict=True)
    return JointMotion(*(np.concatenate([part.ravel(), own]) for part, own in parts))
