"""Combinations of unknowns that no measurement shows, and names of those that data leave open.

A combination is a direction in the space of the unknowns. If moving all joints along it changes no
measured value, it cannot be estimated.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.linalg import null_space, qr

from twin.basics.arrays import FloatArray
from twin.calibration.candidates import poses_within
from twin.calibration.measurement_model import FRAME_UNKNOWNS, MeasurementModel
from twin.calibration.residuals import Residuals
from twin.calibration.simulated import simulated
from twin.model.machine_model import MachineModel

RICH = 200
"""Full poses that show everything that can be seen."""

NOTHING = 1e-9
"""Singular value per largest below which a direction leaves all measurements as they are."""

ALIKE = 0.98
"""Square of the cosine between a direction and the motion of all joints that names it."""

SHOWN, LARGE = 3, 0.3
"""Unknowns named of a direction, and least share of the largest one."""


class Gauge(NamedTuple):
    """Unknowns without what no measurement shows."""

    basis: FloatArray
    """`(u, q)` orthonormal: unknowns that are left; in them legs are nearest to the file's"""
    free: int
    """directions of the legs' errors that are fixed by that"""


def gauge_of(model: MeasurementModel) -> Gauge:
    """Return the unknowns that full poses all over the workspace can show.

    Directions without effect are those of the frames: joints of the base move with the tracker's
    frame, those of the platform with the target's. The legs keep away from them, so that their
    joints lie as near to the file's as they can.
    """
    poses = simulated(model.machine, _rich(model.machine), frames=model.frames)
    slopes = Residuals(model, poses).slopes(np.zeros(model.size)).reshape(-1, model.size)
    used = model.scales > 0.0
    _, sizes, directions = np.linalg.svd(slopes[:, used])
    none = directions[(sizes > NOTHING * sizes[0]).sum() :]
    legs = model.size - FRAME_UNKNOWNS
    kept = null_space(none[:, :legs], rcond=1e-6) if len(none) else np.eye(legs)
    frames = np.eye(model.size)[:, legs:][:, used[legs:]]
    basis = np.hstack([np.pad(kept, ((0, FRAME_UNKNOWNS), (0, 0))), frames])
    return Gauge(basis, legs - kept.shape[1])


@lru_cache(maxsize=8)
def _rich(machine: MachineModel) -> FloatArray:
    return poses_within(machine, RICH)


def in_words(directions: FloatArray, model: MeasurementModel) -> list[str]:
    """Return orthonormal directions `(s, u)` as phrases: which unknowns cannot be told apart.

    Motions of all joints of a side come first. The others are combined so that each has an unknown
    of its own.
    """
    found, names = [], model.names
    for name, motion in _rigid_motions(model):
        inside = directions @ motion
        if inside @ inside > ALIKE:
            found.append(name)
            left = null_space(inside[None])
            directions = left.T @ directions
    if not len(directions):
        return found
    own = qr(directions, pivoting=True, mode="r")[1][: len(directions)]
    reduced = np.linalg.solve(directions[:, own], directions)
    for number, row in zip(own, reduced, strict=True):
        others = [k for k in np.argsort(-np.abs(row)) if k != number and abs(row[k]) > LARGE]
        text = names[number]
        if others:
            text += " together with " + ", ".join(names[k] for k in others[:SHOWN])
        if len(others) > SHOWN:
            text += f" and {len(others) - SHOWN} more"
        found.append(text)
    return found


def _rigid_motions(model: MeasurementModel) -> Iterator[tuple[str, FloatArray]]:
    """Yield motions of all joints of a side: their names, and unit directions `(u,)`."""
    machine, (n, k) = model.machine, model.errors.shape
    for side, first, points in (
        ("base", 0, machine.base_joints),
        ("platform", 3, machine.platform_joints),
    ):
        for index, axis in enumerate(np.eye(3)):
            for word, motion in (
                ("shift along", np.tile(axis, (n, 1))),
                ("turn about", np.cross(axis, points - points.mean(axis=0))),
            ):
                errors = np.zeros((n, k))
                errors[:, first : first + 3] = motion
                direction = np.pad(errors.ravel(), (0, FRAME_UNKNOWNS))
                yield (
                    f"{word} {'xyz'[index]} of all {side} joints",
                    direction / np.linalg.norm(direction),
                )
