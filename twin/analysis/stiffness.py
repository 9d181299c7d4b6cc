"""Machines on springs: stiffness, static equilibrium, sag and modes.

The springs along the actuators are those of struts, or the stiffness of position loops. Static
equilibrium is the pose for given rest coordinates, forces and loads. The sag under the machine's
weight is predicted by its stiffness, and found exactly. The modes are natural frequencies, damping
ratios and shapes at rest. Gravity can be changed for comparison.

Stiffness in task space: a machine at rest is pushed by the wrench w, with springs f along its
actuators:

    w(x) = J(x)^T f(x) + w_weight(x) + w_external
    f(x) = k (r - q(x))

Moving it by a small displacement d (translation, rotation vector, base axes) changes the push by

    dw = -K d,   K = J^T diag(k) J - d(J^T) f - d(w_weight)

with an elastic part, a geometric one and that of the weight. The columns of the geometric part are

    g = -(dJ/dt)^T f

at the six unit twists. The parts are not symmetric one by one: in the rotations each differs from
its transpose by the cross product with its own moment. In equilibrium the moments cancel and K is
symmetric.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics import canonical
from twin.basics.arrays import (
    FloatArray,
    as_floats,
    as_pose,
    flatten_batch,
    not_negative,
    one_or_each,
    one_pose,
    positive,
    read_only,
)
from twin.errors import ForwardKinematicsError, InputError, SingularPoseError, StateError
from twin.model.derivatives import forward_dynamics_derivatives
from twin.model.machine_base import ZERO_VECTOR, Model, changed
from twin.model.machine_model import MachineModel, as_model
from twin.rotations import displaced, displacement

NEWTON_STEPS = 50
"""Newton steps at most; ten are enough from the unloaded pose unless the load comes close to what
buckles the machine."""

MAX_STEP = 0.3
"""Largest Newton step, relative to the platform's radius, or [rad]."""

STEP_TOLERANCE = 1e-14
"""Newton step, relative to the platform's radius, or [rad], at which the search has converged to
rounding error.
"""

STALLED_TOLERANCE = 1e-10
"""Newton step, relative to the platform's radius, or [rad], that is accepted where rounding stops
the descent before."""

MAX_HALVINGS = 12
"""Halvings of one Newton step at most."""


class Springs(NamedTuple):
    """Springs beside the actuators: force = stiffness * (rest - coordinate) - damping * rate."""

    stiffness: FloatArray
    """`(n,)` [N/m], for cranks [N m/rad]"""
    damping: FloatArray
    """`(n,)` [N s/m], for cranks [N m s/rad]"""
    rest: FloatArray
    """`(n,)` coordinates [m] or [rad] at which the springs carry no load"""
    own: bool
    """whether they are the machine's struts, part of its dynamics"""


def strut_springs(platform: MachineModel) -> Springs | None:
    """Return the springs of the machine's own struts; None for a machine without struts."""
    return Springs(*platform.leg_springs, own=True) if platform.leg.has_axial_spring else None


def springs_of(platform: MachineModel, stiffness: Any = None) -> Springs:
    """Return the machine's struts, or springs of the given stiffness at its actuators.

    Args:
        platform: the machine.
        stiffness: one number or `(n,)` [N/m], for cranks [N m/rad]: what holds the actuators of a
            machine without struts, such as position loops. Struts have their own.

    Raises:
        InputError: machines whose legs deform inside or that have fewer than six degrees of
            freedom, no stiffness for a machine without struts, or one for a machine with struts.
    """
    if as_model(platform).dof != 6 or platform.n_deflections:
        raise InputError(
            "platform",
            f"{platform.name} must have six degrees of freedom and no springs inside its legs: "
            "its stiffness follows from that of its actuators alone",
        )
    struts = strut_springs(platform)
    if struts is not None:
        if stiffness is not None:
            raise InputError(
                "stiffness", f"the struts of {platform.name} have their own; leave it out"
            )
        return struts
    if stiffness is None:
        raise InputError(
            "stiffness", f"{platform.name} has no struts; give the stiffness of its actuators"
        )
    n = platform.n_actuators
    return Springs(
        read_only(one_or_each(stiffness, "stiffness", n)),
        read_only(np.zeros(n)),
        read_only(platform.home_coordinates),
        own=False,
    )


def rest_length_forces(platform: MachineModel, lengths: Any) -> FloatArray:
    """Return the actuator forces `(..., n)` [N] that command rest lengths `(..., n)` [m] of struts.

    A strut whose rest length is moved from its own to `lengths` carries the additional force
    stiffness (lengths - own rest length) at every length.

    Raises:
        InputError: a machine without struts, wrong shape, not finite.
    """
    springs = strut_springs(as_model(platform))
    if springs is None:
        raise InputError("platform", f"{platform.name} has no struts to command by rest length")
    rest_lengths = as_floats(lengths, "lengths", platform.n_actuators)
    return springs.stiffness * (rest_lengths - springs.rest)


class Stiffness(NamedTuple):
    """Parts of a stiffness matrix: wrench = -total @ displacement, base axes, reference point.

    Blocks of each `(..., 6, 6)`: [N/m], [N/rad]; [N m/m], [N m/rad].
    """

    elastic: FloatArray
    """stiffness of the springs along the actuators"""
    geometric: FloatArray
    """geometric stiffness: the loaded legs change their direction"""
    weight: FloatArray
    """change of the weights of platform and legs"""

    @property
    def total(self) -> FloatArray:
        """Sum of the parts `(..., 6, 6)`."""
        return self.elastic + self.geometric + self.weight


def characteristic_scale(platform: MachineModel) -> FloatArray:
    """Return `(6,)`: the platform joints' mean radius [m] three times, then 1 rad three times."""
    return np.repeat([platform.joint_radius, 1.0], 3)


def stiffness_matrix(
    platform: MachineModel, pose: Any = None, *, stiffness: Any = None, carried: Any = None
) -> Stiffness:
    """Return the tangent stiffness of a machine on springs at poses `(..., 7)`.

    Args:
        platform: the machine.
        pose: default home.
        stiffness: of the actuators, see `springs_of`.
        carried: forces `(..., n)` [N], [N m] along the actuators, springs included; default those
            that hold the machine at rest against its weight. Zero for a machine without load.

    Raises:
        InputError: wrong shapes, not finite, or no stiffness known.
        SingularPoseError: the pose is singular and no `carried` forces are given.
    """
    springs = springs_of(platform, stiffness)
    poses = as_pose(platform.home if pose is None else pose)
    carried_forces = holding_forces(platform, poses) if carried is None else carried
    return stiffness_parts(platform, poses, springs.stiffness, carried_forces)


def compliance_matrix(
    platform: MachineModel, pose: Any = None, *, stiffness: Any = None, carried: Any = None
) -> FloatArray:
    """Return the displacement per wrench `(..., 6, 6)`: the inverse of the total stiffness.

    Blocks: [m/N], [m/(N m)]; [rad/N], [rad/(N m)]. Arguments as for `stiffness_matrix`.

    Raises:
        InputError: wrong shapes, not finite, or no stiffness known.
        SingularPoseError: nothing holds the machine in some direction.
    """
    stiffness_total = stiffness_matrix(platform, pose, stiffness=stiffness, carried=carried).total
    try:
        return np.asarray(np.linalg.inv(stiffness_total), dtype=np.float64)
    except np.linalg.LinAlgError:
        checked_pose = platform.home if pose is None else as_pose(pose)
        raise SingularPoseError(
            f"nothing holds {platform.name} in some direction at this pose; move away from it",
            {"index": 0, "pose": checked_pose},
        ) from None


def stiffness_parts(
    platform: MachineModel, pose: Any, stiffness: FloatArray, carried: Any
) -> Stiffness:
    """Return the stiffness of actuators of stiffness `(n,)` that carry forces `(..., n)`.

    Raises:
        InputError: wrong shapes, not finite.
    """
    shape, (poses, forces) = flatten_batch(
        pose=as_pose(pose), carried=as_floats(carried, "carried", platform.n_actuators)
    )
    jacobian = platform.jacobian(poses)
    elastic = np.einsum("kia,i,kib->kab", jacobian, stiffness, jacobian)
    jacobian_derivatives = platform.jacobian_derivative(poses[:, None], np.eye(6))
    geometric = -np.einsum("kbia,ki->kab", jacobian_derivatives, forces)
    weight_part = _weight_stiffness(platform, poses)
    return Stiffness(
        *(matrix.reshape((*shape, 6, 6)) for matrix in (elastic, geometric, weight_part))
    )


def weight_wrench(platform: MachineModel, pose: Any) -> FloatArray:
    """Return the wrench `(..., 6)` [N], [N m] of all weights, legs included, at rest.

    Raises:
        InputError: wrong shape, not finite, no unit quaternion.
    """
    poses = as_pose(pose)
    if platform.parameters.gravity == 0.0:
        return np.zeros((*poses.shape[:-1], 6))
    acceleration = platform.forward_dynamics(poses, ZERO_VECTOR, _released(platform, poses))
    masses = platform.mass_matrix(poses)
    return np.asarray(np.einsum("...ij,...j->...i", masses, acceleration))


def holding_forces(platform: MachineModel, pose: Any, wrench: Any = None) -> FloatArray:
    """Return the forces `(..., n)` along the actuators, springs included, that hold a machine.

    Raises:
        InputError: wrong shape, not finite, no unit quaternion.
        SingularPoseError: the pose is singular.
    """
    forces = platform.inverse_dynamics(pose, ZERO_VECTOR, ZERO_VECTOR, wrench)
    return forces - _released(platform, pose)


def _released(platform: MachineModel, pose: Any) -> FloatArray:
    """Return the actuator forces `(..., n)` that take the loads off the struts."""
    struts = strut_springs(platform)
    if struts is None:
        return np.zeros(platform.n_actuators)
    return -struts.stiffness * (struts.rest - platform.inverse_kinematics(pose))


def _weight_stiffness(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return `(m, 6, 6)` from the accelerations of a platform that is held by constant loads.

    Where a wrench against the weights holds it, a = 0 and d(weights)/dq = M da/dq. Struts are
    released by actuator forces, whose springs still answer a displacement with J^T k J.
    """
    if platform.parameters.gravity == 0.0:
        return np.zeros((len(poses), 6, 6))
    forces, matrix = _released(platform, poses), np.zeros((6, 6))
    struts = strut_springs(platform)
    if struts is not None:
        jacobian = platform.jacobian(poses)
        matrix = np.einsum("kia,i,kib->kab", jacobian, struts.stiffness, jacobian)
    holding_wrench = -weight_wrench(platform, poses)
    slopes = forward_dynamics_derivatives(platform, poses, ZERO_VECTOR, forces, holding_wrench).pose
    return -(platform.mass_matrix(poses) @ slopes + matrix)


class EquilibriumError(StateError):
    """No stable equilibrium was found (`data`: index, pose, net_wrench)."""


class Balance(NamedTuple):
    """A machine on springs with its loads."""

    platform: MachineModel
    springs: Springs
    rest: FloatArray
    """`(n,)` commanded rest coordinates"""
    forces: FloatArray
    """`(n,)` forces of the actuators beyond the springs"""
    wrench: FloatArray
    """`(6,)` external wrench"""

    def carried(self, pose: FloatArray) -> FloatArray:
        """Return the forces `(n,)` along the actuators, springs included."""
        coordinates = self.platform.inverse_kinematics(pose)
        return self.springs.stiffness * (self.rest - coordinates) + self.forces

    def net(self, pose: FloatArray) -> FloatArray:
        """Return the net wrench `(6,)` [N], [N m]."""
        leg_wrench = np.einsum("...ij,...i->...j", self.platform.jacobian(pose), self.carried(pose))
        return np.asarray(leg_wrench + weight_wrench(self.platform, pose) + self.wrench)


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
    springs, n = springs_of(platform, stiffness), platform.n_actuators
    rest_coordinates = springs.rest if coordinates is None else coordinates
    shape, (poses, *loads) = flatten_batch(
        pose=as_pose(platform.home if guess is None else guess),
        coordinates=as_floats(rest_coordinates, "coordinates", n),
        forces=as_floats(np.zeros(n) if forces is None else forces, "forces", n),
        wrench=as_floats(ZERO_VECTOR if wrench is None else wrench, "wrench", 6),
    )
    poses_found = np.empty((len(poses), 7))
    for index, (pose, *one_load) in enumerate(zip(poses, *loads, strict=True)):
        balance = Balance(platform, springs, *one_load)
        initial = _unloaded(platform, balance.rest) if guess is None else pose
        poses_found[index] = _solve(balance, initial, index)
    return poses_found.reshape((*shape, 7))


def commanded_coordinates(
    platform: MachineModel, pose: Any, *, wrench: Any = None, stiffness: Any = None
) -> FloatArray:
    """Return the rest coordinates `(..., n)` [m], [rad] that bring a machine to poses under load.

    They are the coordinates of the pose plus the spring deflections under load: commanding them
    compensates the sag.

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
    holding = platform.inverse_dynamics(pose, ZERO_VECTOR, ZERO_VECTOR, wrench)
    origin = springs.rest if springs.own else platform.inverse_kinematics(pose)
    return origin + holding / springs.stiffness


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
            stiffness_sum = stiffness_parts(platform, pose, stiffness, balance.carried(pose))
            matrix, stable = _descent(stiffness_sum)
            step = np.linalg.solve(matrix, net)
            size = float(np.linalg.norm(step / scale))
            if size <= STEP_TOLERANCE:
                return _checked(pose, net, stable, index)
            step_fraction = min(1.0, MAX_STEP / size)
            for _ in range(MAX_HALVINGS):
                trial = displaced(pose, step_fraction * step)
                next_step = np.linalg.solve(matrix, balance.net(trial))
                if np.linalg.norm(next_step / scale) < size:
                    break
                step_fraction *= 0.5
            else:
                if size <= STALLED_TOLERANCE:
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
    """`(..., 6)` undamped natural frequencies [Hz]"""
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
    checked_pose = as_pose(platform.home if pose is None else pose)
    stiffness_total = stiffness_matrix(platform, checked_pose, stiffness=stiffness).total
    inverse_factor = np.linalg.inv(np.linalg.cholesky(platform.mass_matrix(checked_pose)))
    inverse_factor_transpose = np.swapaxes(inverse_factor, -1, -2)
    eigenvalues, vectors = np.linalg.eigh(
        inverse_factor
        @ (0.5 * (stiffness_total + np.swapaxes(stiffness_total, -1, -2)))
        @ inverse_factor_transpose
    )
    is_stable = (eigenvalues > 0.0).all(axis=-1)
    if not is_stable.all():
        index = int(np.argmin(is_stable))
        raise EquilibriumError(
            f"{platform.name} is unstable here: its weight overcomes the springs. Stiffen them or "
            "choose another pose.",
            {"index": index, "pose": checked_pose.reshape(-1, 7)[index]},
        )
    # Eigenvectors are unique up to sign, and up to rotations where frequencies coincide: fix both.
    canonical_vectors = np.empty_like(vectors)
    for place in np.ndindex(eigenvalues.shape[:-1]):
        canonical_vectors[place] = canonical.modes(eigenvalues[place], vectors[place])
    shapes = inverse_factor_transpose @ canonical_vectors
    rates = platform.jacobian(checked_pose) @ shapes
    omega = np.sqrt(eigenvalues)
    damping = np.einsum("...ik,i->...k", rates**2, springs.damping) / (2.0 * omega)
    return Modes(omega / (2.0 * np.pi), damping, shapes)


def with_gravity(platform: Model, gravity: Any) -> Model:
    """Return the machine under another gravity [m/s2] along -z; 0 turns it off.

    Raises:
        InputError: not a machine, not one number from zero on.
    """
    value = not_negative(gravity, "gravity")
    content = as_model(platform).parameters.model_dump()
    content["gravity"] = value
    return changed(platform, content)


class Sag(NamedTuple):
    """Displacement from the commanded pose to where the machine comes to rest."""

    commanded: FloatArray
    """`(7,)` pose that the rest coordinates mean without load"""
    pose: FloatArray
    """`(7,)` static equilibrium"""
    load: FloatArray
    """`(6,)` weights and external wrench at the commanded pose [N], [N m]"""
    predicted: FloatArray
    """`(6,)` [m], [rad]: compliance of the unloaded machine times the load"""
    exact: FloatArray
    """`(6,)` [m], [rad]: from the commanded pose to the equilibrium, rotation vector"""

    @property
    def remainder(self) -> FloatArray:
        """Error of the prediction `(6,)` [m], [rad]; of second order in the load."""
        return self.exact - self.predicted


def sag(
    platform: MachineModel, pose: Any = None, *, wrench: Any = None, stiffness: Any = None
) -> Sag:
    """Return the sag of a machine commanded to a pose by its rest coordinates.

    The unloaded machine is at the pose and its legs carry nothing, so its stiffness is the
    elastic part J^T diag(k) J alone.

    Args:
        platform: the machine.
        pose: commanded `(7,)`, default home.
        wrench: external wrench `(6,)` besides the weight, default none.
        stiffness: of the actuators, see `springs_of`.

    Raises:
        InputError: wrong shapes, not finite, or no stiffness known.
        SingularPoseError: the pose is singular.
        StateError: an `EquilibriumError`, where the springs do not hold the load.
    """
    springs = springs_of(platform, stiffness)
    commanded_pose = one_pose(platform.home if pose is None else pose)
    load = weight_wrench(platform, commanded_pose) + as_floats(
        ZERO_VECTOR if wrench is None else wrench, "wrench", 6
    )
    elastic = stiffness_parts(
        platform, commanded_pose, springs.stiffness, np.zeros(platform.n_actuators)
    ).elastic
    try:
        predicted = np.asarray(np.linalg.solve(elastic, load), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise SingularPoseError(
            f"{platform.name} cannot hold any load at this pose; move away from it",
            {"index": 0, "pose": commanded_pose},
        ) from None
    commanded_lengths = platform.inverse_kinematics(commanded_pose)
    loaded_pose = static_pose(
        platform, commanded_lengths, wrench=wrench, stiffness=stiffness, guess=commanded_pose
    )
    return Sag(
        commanded_pose, loaded_pose, load, predicted, displacement(loaded_pose, commanded_pose)
    )


def sag_over_gravity(
    platform: MachineModel, factors: Sequence[float], pose: Any = None, *, stiffness: Any = None
) -> tuple[Sag, ...]:
    """Return the sag under gravity times each of the factors `(k,)` above zero.

    Raises:
        InputError: factors not above zero, wrong shapes, or no stiffness known.
        StateError: an `EquilibriumError`, where the springs do not hold the load.
    """
    gravity = platform.parameters.gravity
    return tuple(
        sag(
            with_gravity(platform, positive(factor, "factors") * gravity), pose, stiffness=stiffness
        )
        for factor in factors
    )
