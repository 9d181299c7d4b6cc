"""Static equilibrium of a machine on springs: its pose for rest coordinates, forces and loads.

Natural frequencies, damping ratios and shapes of a machine on springs, at rest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.stiffness.matrix import (
    Springs,
    Stiffness,
    characteristic_scale,
    springs_of,
    stiffness_matrix,
    stiffness_parts,
    weight_wrench,
)
from twin.basics import canonical
from twin.basics.arrays import FloatArray, as_floats, as_pose, flatten_batch
from twin.errors import ForwardKinematicsError, SingularPoseError, StateError
from twin.model.machine_model import MachineModel
from twin.model.motions import REST
from twin.rotations import displaced

NEWTON_STEPS = 50
"""From the unloaded pose ten are enough unless the load comes close to what buckles the machine."""

LARGEST_STEP = 0.3
"""Largest Newton step in parts of the platform's radius, or [rad]."""

CONVERGED = 1e-14
"""Newton step in parts of the platform's radius, or [rad], that is rounding error."""

ACCEPTED = 1e-10
"""The same, when rounding stops the descent before."""

HALVINGS = 12


class EquilibriumError(StateError):
    """No stable equilibrium was found (`data`: index, pose, net_wrench)."""


class Balance(NamedTuple):
    """A machine on springs with what acts on it; arrays broadcast against poses."""

    platform: MachineModel
    springs: Springs
    rest: FloatArray
    """`(..., n)` commanded rest coordinates"""
    forces: FloatArray
    """`(..., n)` of the actuators beyond the springs"""
    wrench: FloatArray
    """`(..., 6)` external"""

    def carried(self, pose: FloatArray) -> FloatArray:
        """Return the forces `(..., n)` along the actuators, springs included."""
        coordinates = self.platform.inverse_kinematics(pose)
        return np.asarray(self.springs.stiffness * (self.rest - coordinates) + self.forces)

    def net(self, pose: FloatArray) -> FloatArray:
        """Return the wrench `(..., 6)` left over."""
        legs = np.einsum("...ij,...i->...j", self.platform.jacobian(pose), self.carried(pose))
        return np.asarray(legs + weight_wrench(self.platform, pose) + self.wrench)


def net_wrench(
    platform: MachineModel,
    pose: Any,
    coordinates: Any = None,
    *,
    forces: Any = None,
    wrench: Any = None,
    stiffness: Any = None,
) -> FloatArray:
    """Return the wrench `(..., 6)` [N], [N m] left over on a machine at rest; zero in equilibrium.

    Springs, weights of platform and legs, actuator forces and the external wrench, about the
    reference point.

    Args:
        platform: the machine.
        pose: `(..., 7)`.
        coordinates: commanded rest coordinates `(..., n)` [m], [rad]; default the springs' own.
        forces: further actuator forces `(..., n)`, default none.
        wrench: external wrench `(..., 6)`, default none.
        stiffness: of the actuators, see `springs_of`.

    Raises:
        InputError: wrong shapes, not finite, or no stiffness known.
    """
    springs = springs_of(platform, stiffness)
    shape, poses, balance = _balance(platform, springs, pose, coordinates, forces, wrench)
    return balance.net(poses).reshape((*shape, 6))


def static_pose(
    platform: MachineModel,
    coordinates: Any = None,
    *,
    forces: Any = None,
    wrench: Any = None,
    stiffness: Any = None,
    guess: Any = None,
) -> FloatArray:
    """Return the poses `(..., 7)` at which a machine on springs stays at rest.

    Newton on the net wrench with the tangent stiffness matrix.

    Args:
        platform: the machine.
        coordinates: commanded rest coordinates `(..., n)` [m], [rad]; default the springs' own.
        forces: further actuator forces `(..., n)`, default none.
        wrench: external wrench `(..., 6)`, default none.
        stiffness: of the actuators, see `springs_of`.
        guess: pose `(..., 7)` to start from; default the pose of the rest coordinates, which is
            the equilibrium without loads.

    Raises:
        InputError: wrong shapes, not finite, or no stiffness known.
        EquilibriumError: none was found from the guess, or only an unstable one.
    """
    springs = springs_of(platform, stiffness)
    start = platform.home if guess is None else guess
    shape, poses, balance = _balance(platform, springs, start, coordinates, forces, wrench)
    found = np.empty((len(poses), 7))
    for index in range(len(poses)):
        one = Balance(platform, springs, *(array[index] for array in balance[2:]))
        begin = _unloaded(platform, one.rest) if guess is None else poses[index]
        found[index] = _solve(one, begin, index)
    return found.reshape((*shape, 7))


def commanded_coordinates(
    platform: MachineModel, pose: Any, *, wrench: Any = None, stiffness: Any = None
) -> FloatArray:
    """Return the rest coordinates `(..., n)` [m], [rad] that bring a machine to poses under load.

    They exceed the coordinates of the pose by what the springs give way: commanding them removes
    the sag.

    Args:
        platform: the machine.
        pose: to reach, `(..., 7)`.
        wrench: external wrench `(..., 6)`, default none.
        stiffness: of the actuators, see `springs_of`.

    Raises:
        InputError: wrong shapes, not finite, or no stiffness known.
        SingularPoseError: the pose is singular.
    """
    springs = springs_of(platform, stiffness)
    held = platform.inverse_dynamics(pose, REST, REST, wrench)
    origin = springs.rest if springs.own else platform.inverse_kinematics(pose)
    return np.asarray(origin + held / springs.stiffness)


def _balance(
    platform: MachineModel, springs: Springs, pose: Any, coordinates: Any, forces: Any, wrench: Any
) -> tuple[tuple[int, ...], FloatArray, Balance]:
    n = platform.n_actuators
    given = springs.rest if coordinates is None else coordinates
    shape, (poses, *loads) = flatten_batch(
        pose=as_pose(pose),
        coordinates=as_floats(given, "coordinates", n),
        forces=as_floats(np.zeros(n) if forces is None else forces, "forces", n),
        wrench=as_floats(REST if wrench is None else wrench, "wrench", 6),
    )
    return shape, poses, Balance(platform, springs, *loads)


def _unloaded(platform: MachineModel, rest: FloatArray) -> FloatArray:
    try:
        return platform.forward_kinematics(rest)
    except ForwardKinematicsError:
        # Springs compressed against each other still have an equilibrium: search from home.
        return platform.home


def _solve(balance: Balance, pose: FloatArray, index: int) -> FloatArray:
    """Return the equilibrium by damped Newton; a step is kept when it shortens the next one.

    Reference:
        Deuflhard, Newton Methods for Nonlinear Problems, section 3.1: natural monotonicity test.
    """
    platform, stiffness = balance.platform, balance.springs.stiffness
    scale = characteristic_scale(platform)
    net = np.full(6, np.nan)
    try:
        for _ in range(NEWTON_STEPS):
            net = balance.net(pose)
            parts = stiffness_parts(platform, pose, stiffness, balance.carried(pose))
            matrix, stable = _descent(parts)
            step = np.linalg.solve(matrix, net)
            size = float(np.linalg.norm(step / scale))
            if size <= CONVERGED:
                return _checked(pose, net, stable, index)
            factor = min(1.0, LARGEST_STEP / size)
            for _ in range(HALVINGS):
                trial = displaced(pose, factor * step)
                next_step = np.linalg.solve(matrix, balance.net(trial))
                if np.linalg.norm(next_step / scale) < size:
                    break
                factor *= 0.5
            else:
                if size <= ACCEPTED:
                    return _checked(pose, net, stable, index)
                break
            pose = trial
    except (SingularPoseError, np.linalg.LinAlgError):
        pass
    raise EquilibriumError(
        f"entry {index}: no equilibrium was found; at pose {pose.tolist()} the machine is pushed "
        f"on by {np.array2string(net, precision=4)} N, N m. The loads may exceed what the springs "
        "hold, or the rest coordinates be out of reach; reduce them or give another guess.",
        {"index": index, "pose": pose, "net_wrench": net},
    )


def _descent(parts: Stiffness) -> tuple[FloatArray, bool]:
    """Return the matrix of a Newton step, and whether the machine is stable with it.

    Far from equilibrium the legs' loads can make the tangent indefinite, and Newton would walk
    uphill; the elastic part alone never does.
    """
    symmetric = 0.5 * (parts.total + parts.total.T)
    if np.linalg.eigvalsh(symmetric)[0] > 0.0:
        return parts.total, True
    return parts.elastic, False


def _checked(pose: FloatArray, net: FloatArray, stable: bool, index: int) -> FloatArray:
    if stable:
        return pose
    raise EquilibriumError(
        f"entry {index}: the equilibrium at pose {pose.tolist()} is unstable, the loads overcome "
        "the springs. Reduce the loads, stiffen the springs or give another guess.",
        {"index": index, "pose": pose, "net_wrench": net},
    )


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
