"""Natural frequencies, damping ratios and shapes of a machine on springs, at rest."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.stiffness.equilibrium import EquilibriumError
from twin.analysis.stiffness.matrix import stiffness_matrix
from twin.analysis.stiffness.springs import springs_of
from twin.basics import canonical
from twin.basics.arrays import FloatArray, as_pose
from twin.model.machine_model import MachineModel


class Modes(NamedTuple):
    """Small oscillations about a pose, slowest first."""

    frequencies: FloatArray
    """`(..., 6)` [Hz] without damping"""
    damping_ratios: FloatArray
    """`(..., 6)` 1 is critical"""
    shapes: FloatArray
    """`(..., 6, 6)` columns: displacements [m], [rad] with kinetic energy 1/2 at unit speed"""


def natural_modes(platform: MachineModel, pose: Any = None, *, stiffness: Any = None) -> Modes:
    """Return the modes of a machine on springs that rests at poses `(..., 7)`.

    Solves K v = omega^2 M v with the total tangent stiffness under the machine's weight. Damping
    is projected on these shapes, which is exact where damping is proportional to stiffness.

    Args:
        platform: the machine.
        pose: of rest, default home; the springs are commanded such that it is the equilibrium.
        stiffness: of the actuators, see `springs_of`.

    Raises:
        InputError: wrong shapes, not finite, or no stiffness known.
        SingularPoseError: the pose is singular.
        EquilibriumError: the equilibrium is unstable.
    """
    springs = springs_of(platform, stiffness)
    place = as_pose(platform.home if pose is None else pose)
    total = stiffness_matrix(platform, place, stiffness=stiffness).total
    root = np.linalg.inv(np.linalg.cholesky(platform.mass_matrix(place)))
    across = np.swapaxes(root, -1, -2)
    squares, vectors = np.linalg.eigh(root @ (0.5 * (total + np.swapaxes(total, -1, -2))) @ across)
    if not (squares > 0.0).all():
        raise EquilibriumError(
            f"{platform.name} is unstable here: its weight overcomes the springs. Stiffen them or "
            "choose another pose.",
            {"index": 0, "pose": place},
        )
    chosen = np.empty_like(vectors)
    for index in np.ndindex(squares.shape[:-1]):
        chosen[index] = canonical.modes(squares[index], vectors[index])
    shapes = across @ chosen
    rates = platform.jacobian(place) @ shapes
    omega = np.sqrt(squares)
    damping = np.einsum("...ik,i->...k", rates**2, springs.damping) / (2.0 * omega)
    return Modes(omega / (2.0 * np.pi), damping, shapes)
