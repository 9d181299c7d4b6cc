"""What a platform is and where it can be: geometry, kinematics, limits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.arrays import FloatArray, as_floats, as_pose, flatten_batch, read_only
from twin.errors import InputError
from twin.parameters.machine import MachineParameters
from twin.parameters.read import parameters_hash

REST = np.zeros(6)
REST.flags.writeable = False


class LegCoordinates(NamedTuple):
    """Joint coordinates of all legs with two time derivatives; zero at home.

    The joints of each kind of leg, in order: UPS and strut: first and second universal angle,
    extension; RSS: crank, first and second angle of the elbow; viscoelastic: first, second, spring,
    actuator; pillar: place of the foot along x and y, extension (fixed foot: roll, pitch,
    extension).
    """

    values: FloatArray
    """`(..., n, joints)` [rad, m]"""
    rates: FloatArray
    """`(..., n, joints)`"""
    accelerations: FloatArray
    """`(..., n, joints)`"""


class PlatformMotion(NamedTuple):
    """A motion that meets the conditions of the platform."""

    pose: FloatArray
    """`(..., 7)`"""
    twist: FloatArray
    """`(..., 6)`"""
    acceleration: FloatArray
    """`(..., 6)`"""


class KinematicPlatform:
    """A platform as far as its geometry goes; `Platform` adds its dynamics.

    All numeric methods take leading batch axes. Poses are `(..., 7)`: position [m] and unit
    quaternion (scalar first) of the platform in the base. Twists `(..., 6)`: velocity of the
    reference point [m/s] and angular velocity [rad/s]; accelerations are their time derivatives;
    wrenches `(..., 6)`: force [N] and moment about the reference point [N m]. All in base axes.

    Actuator coordinates `(..., n)` are leg lengths [m] or crank angles [rad], their forces [N] or
    [N m]. Legs with coordinates of their own (springs) take `internal` `(..., 2k)`: the
    coordinates, then their rates; default at rest with springs at rest length.
    """

    def __init__(self, parameters: MachineParameters) -> None:
        """Prepare the machine that `parameters` describe.

        Raises:
            InputError: not checked parameters.
        """
        from twin.dynamics.constants import pack

        if not isinstance(parameters, MachineParameters):
            raise InputError("parameters", "must be MachineParameters; use twin.load(name or path)")
        self.parameters = parameters
        self.name = parameters.name
        self.kind: str = parameters.leg.kind
        self.hash = parameters_hash(parameters)
        self.constants = pack(parameters)
        self.base_joints = read_only(parameters.base.joints.points)
        self.platform_joints = read_only(parameters.platform.joints.points)
        self.first_axes = parameters.first_axes
        self.home = read_only([*parameters.home.position, *parameters.home.orientation])
        self.home_coordinates = parameters.home_coordinates
        self.home_reaches = read_only(np.linalg.norm(parameters.home_leg_vectors, axis=1))
        self.n_actuators = len(self.base_joints)
        self.dof = parameters.leg.freedoms
        self.n_internal = self.n_actuators if self.kind == "viscoelastic" else 0
        actuators = [leg.actuator for leg in parameters.legs]
        self.coordinate_unit = parameters.leg.actuator.coordinate_unit
        self.force_unit = "N" if self.coordinate_unit == "m" else "N m"
        self.minimum_coordinates = read_only([actuator.minimum for actuator in actuators])
        self.maximum_coordinates = read_only([actuator.maximum for actuator in actuators])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parameters,)

    def inverse_kinematics(self, pose: Any) -> FloatArray:
        """Return actuator coordinates `(..., n)` of poses `(..., 7)`; limits are not checked.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a pose the machine cannot have.
            UnreachablePoseError: a leg cannot reach a pose.
        """
        from twin.kinematics.inverse import inverse_kinematics_batch

        shape, poses, coordinates = self._poses(pose, (self.n_actuators,))
        self._run(inverse_kinematics_batch, (self.constants.legs,), (poses, coordinates))
        return coordinates.reshape((*shape, self.n_actuators))

    def forward_kinematics(self, lengths: Any, guess: Any = None) -> FloatArray:
        """Return poses `(..., 7)` of actuator coordinates on the assembly branch of `guess`.

        Args:
            lengths: actuator coordinates `(..., n)`; limits are not checked. With more actuators
                than freedoms they must fit together.
            guess: pose `(..., 7)` to start from, default home.

        Raises:
            InputError: wrong shape, not finite, lengths that are not positive.
            ForwardKinematicsError: no pose has these coordinates on this branch; `data` holds
                index, residual, iterations, the last pose and the coordinates.
        """
        from twin.evaluation import run
        from twin.kinematics.forward import forward_kinematics_batch, unreachable

        wanted = as_floats(lengths, "lengths", self.n_actuators)
        if self.coordinate_unit == "m" and not (wanted > 0.0).all():
            raise InputError("lengths", "must be above zero")
        start = as_pose(self.home if guess is None else guess, "guess")
        shape, (wanted, start) = flatten_batch(lengths=wanted, guess=start)
        poses, reports = np.empty((len(wanted), 7)), np.empty((len(wanted), 2))
        arrays = (wanted, start, poses, reports)
        failed = run(forward_kinematics_batch, (self.constants.legs,), arrays)
        if failed >= 0:
            report = reports[failed]
            raise unreachable(failed, wanted[failed], poses[failed], report, self.coordinate_unit)
        return poses.reshape((*shape, 7))

    def jacobian(self, pose: Any) -> FloatArray:
        """Return Jacobians `(..., n, 6)`: actuator rates = J @ twist.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a pose the machine cannot have.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: a crank and its rod are stretched or folded.
        """
        from twin.kinematics.jacobian import jacobian_batch

        shape, poses, out = self._poses(pose, (self.n_actuators, 6))
        self._run(jacobian_batch, (self.constants.legs,), (poses, out))
        return out.reshape((*shape, self.n_actuators, 6))

    def jacobian_derivative(self, pose: Any, twist: Any) -> FloatArray:
        """Return dJ/dt `(..., n, 6)`: actuator accelerations = J @ acceleration + dJ/dt @ twist.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a motion the machine cannot
                have.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: a crank and its rod are stretched or folded.
        """
        from twin.kinematics.jacobian import jacobian_derivative_batch

        shape, (poses, twists, _) = self._states(pose, twist, None)
        out = np.empty((len(poses), self.n_actuators, 6))
        self._run(jacobian_derivative_batch, (self.constants.legs,), (poses, twists, out))
        return out.reshape((*shape, self.n_actuators, 6))

    def conditions(self, pose: Any) -> FloatArray:
        """Return rows C `(..., 6 - dof, 6)` of what the legs forbid: C @ twist = 0.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
        """
        from twin.kinematics.conditions import condition_rows

        shape, (poses,) = flatten_batch(pose=as_pose(pose))
        if self.dof == 6:
            return np.empty((*shape, 0, 6))
        rows = condition_rows(self.constants.legs, poses, np.zeros((len(poses), 6)))
        return rows[:, :, :6].reshape((*shape, 6 - self.dof, 6))

    def constrain(self, pose: Any, twist: Any = None, acceleration: Any = None) -> PlatformMotion:
        """Return the nearest motion that the machine can have; the same where all are possible.

        On pillars, the height and the direction of the platform's normal stay, with their rates and
        accelerations (so roll and pitch do), and the rest follows from the fixed foot. Default at
        rest.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
        """
        from twin.kinematics.conditions import constrained

        shape, arrays = flatten_batch(
            pose=as_pose(pose),
            twist=as_floats(REST if twist is None else twist, "twist", 6),
            acceleration=as_floats(
                REST if acceleration is None else acceleration, "acceleration", 6
            ),
        )
        if self.dof < 6 and len(arrays[0]):
            arrays = list(constrained(self.constants.legs, *arrays))
        return PlatformMotion(*(array.reshape((*shape, array.shape[-1])) for array in arrays))

    def leg_coordinates(
        self,
        pose: Any,
        twist: Any = None,
        acceleration: Any = None,
        *,
        internal: Any = None,
        internal_acceleration: Any = None,
    ) -> LegCoordinates:
        """Return the joint coordinates of the legs and their rates; default at rest.

        Without an acceleration, none but what the conditions of the machine demand.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a motion the machine cannot
                have.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: a leg lies along its universal joint's first axis.
        """
        from twin.kinematics.inverse import leg_coordinates_batch
        from twin.kinematics.legs.drive import JOINTS

        k = self.n_internal
        motion = REST if twist is None else twist
        if acceleration is None:
            acceleration = self.constrain(pose, motion).acceleration
        added = np.zeros(k) if internal_acceleration is None else internal_acceleration
        shape, arrays = self._states(
            pose,
            motion,
            internal,
            acceleration=acceleration,
            internal_acceleration=as_floats(added, "internal_acceleration", k),
        )
        poses, twists, inside, accelerations, inside_accelerations = arrays
        joints = JOINTS[type(self.constants.legs)]
        out = np.empty((len(poses), self.n_actuators, joints, 3))
        constants = (self.constants.legs, self.constants.home)
        self._run(leg_coordinates_batch, constants, (poses, twists, accelerations, out))
        if k:
            springs = np.stack([inside[:, :k], inside[:, k:], inside_accelerations], axis=2)
            out[:, :, 2] += springs
            out[:, :, 3] -= springs
        out = out.reshape((*shape, self.n_actuators, joints, 3))
        return LegCoordinates(out[..., 0], out[..., 1], out[..., 2])

    def within_limits(self, pose: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return `(...)` whether all actuators are inside their limits, rounding allowed.

        False where a leg cannot reach.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a pose the machine cannot have.
        """
        from twin.evaluation import run
        from twin.kinematics.inverse import inverse_kinematics_batch

        shape, poses, coordinates = self._poses(pose, (self.n_actuators,))
        run(inverse_kinematics_batch, (self.constants.legs,), (poses, coordinates))
        low, high = self.minimum_coordinates, self.maximum_coordinates
        slack = 1e-12 * np.maximum(np.abs(low), np.abs(high))
        inside = (coordinates >= low - slack) & (coordinates <= high + slack)
        return np.asarray(inside.all(axis=-1)).reshape(shape)

    def condition_number(self, pose: Any) -> FloatArray:
        """Return condition numbers `(...)` of J with moments scaled by the joints' mean radius.

        Of machines with fewer freedoms, over the twists that they can have.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a pose the machine cannot have.
            UnreachablePoseError: a leg cannot reach a pose.
        """
        from twin.kinematics.singularity import characteristic_length, condition_number

        length = characteristic_length(self.platform_joints)
        return condition_number(self.jacobian(pose), self.conditions(pose), length)

    def as_internal(self, internal: Any) -> FloatArray:
        """Return checked coordinates inside the legs and rates `(..., 2k)`; None: zero.

        Raises:
            InputError: wrong shape or not finite.
        """
        if internal is None:
            return np.zeros(2 * self.n_internal)
        return as_floats(internal, "internal", 2 * self.n_internal)

    def _poses(
        self, pose: Any, row: tuple[int, ...]
    ) -> tuple[tuple[int, ...], FloatArray, FloatArray]:
        """Return batch shape, checked poses `(batch, 7)` and an empty `(batch, *row)`."""
        from twin.kinematics.conditions import check_conditions

        shape, (poses,) = flatten_batch(pose=as_pose(pose))
        if self.dof < 6 and len(poses):
            check_conditions(self.constants.legs, poses)
        return shape, poses, np.empty((len(poses), *row))

    def _states(
        self, pose: Any, twist: Any, internal: Any, **others: Any
    ) -> tuple[tuple[int, ...], list[FloatArray]]:
        """Return batch shape and checked arrays: poses, twists, internal, and the others."""
        from twin.kinematics.conditions import check_conditions

        accelerating = "acceleration" in others
        if accelerating:
            others["acceleration"] = as_floats(others["acceleration"], "acceleration", 6)
        shape, arrays = flatten_batch(
            pose=as_pose(pose),
            twist=as_floats(twist, "twist", 6),
            internal=self.as_internal(internal),
            **others,
        )
        if self.dof < 6 and len(arrays[0]):
            acceleration = arrays[3 + list(others).index("acceleration")] if accelerating else None
            check_conditions(self.constants.legs, arrays[0], arrays[1], acceleration)
        return shape, arrays

    def _run(self, kernel: Any, constants: tuple[Any, ...], arrays: tuple[FloatArray, ...]) -> None:
        from twin.evaluation import run_checked

        run_checked(kernel, constants, arrays, self.constants.legs)
