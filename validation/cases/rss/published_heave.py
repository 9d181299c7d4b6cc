"""The published points of figure 16, and the motor torques that its formula gives."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

import twin.validation.published
from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.papers.formulations import Formulation

FILE = Path(twin.validation.published.__path__[0]) / "rss_heave.csv"


class PublishedHeave(NamedTuple):
    """Points of three strokes, up, down and up again, one row each."""

    time: FloatArray
    """[s]"""
    height: FloatArray
    """[m]"""
    rate: FloatArray
    """[m/s]; of strokes down too it is given as that of the stroke up"""
    crank_acceleration: FloatArray
    """[rad/s2]"""
    torque: FloatArray
    """[N m] mean of the six motors"""


def published_heave() -> PublishedHeave:
    """Return the published points."""
    return PublishedHeave(*np.loadtxt(FILE, delimiter=",", skiprows=4).T)


class Heave(NamedTuple):
    """A vertical motion; `(k, 7)`, `(k, 6)`, `(k, 6)`."""

    pose: FloatArray
    twist: FloatArray
    acceleration: FloatArray


def vertical(height: FloatArray, rate: FloatArray, acceleration: FloatArray) -> Heave:
    """Return the motion of a level platform from its height and two derivatives `(k,)`."""
    heave = Heave(*(np.zeros((len(height), size)) for size in (7, 6, 6)))
    heave.pose[:, 2], heave.pose[:, 3] = height, 1.0
    heave.twist[:, 2], heave.acceleration[:, 2] = rate, acceleration
    return heave


def crank_accelerations(platform: Platform, heave: Heave) -> FloatArray:
    """Return the cranks' accelerations `(k, 6)` [rad/s2]: J a + J' v."""
    legs = platform.leg_coordinates(*heave)
    return np.asarray(legs.accelerations[:, :, 0])


def printed_crank_accelerations(platform: Platform, heave: Heave) -> FloatArray:
    """Return what the notebook computes in place of them `(k, 6)`: J a + J' a.

    J' is that of the twist. For a translation J'(v) a is symmetric in v and a, so that it follows
    from J'(u) u at u = v + a and u = v - a.
    """
    pose, twist, acceleration = heave
    rest = np.zeros_like(twist)

    def bias(velocity: FloatArray) -> FloatArray:
        return np.asarray(platform.leg_coordinates(pose, velocity, rest).accelerations[:, :, 0])

    linear = np.einsum("kij,kj->ki", platform.jacobian(pose), acceleration)
    mixed = 0.25 * (bias(twist + acceleration) - bias(twist - acceleration))
    return np.asarray(linear + mixed)


def torques(platform: Platform, heave: Heave, cranks: FloatArray) -> FloatArray:
    """Return the mean torque of the motors `(k,)` [N m] for accelerations of the cranks `(k, 6)`.

    By the extended-to-actuator-space formulation.

    Reference: extended-configuration-space paper, section 6.1.
    """
    formulation = Formulation(platform, "extended_to_actuator")
    forces = formulation.generalised_forces(heave.pose, heave.twist, cranks)
    return np.asarray(forces.mean(axis=1))
