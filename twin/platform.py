"""Platform: the one object a user holds; checks arguments and calls kinematics and dynamics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twin.arrays import FloatArray, as_floats, as_pose, flatten_batch, read_only
from twin.errors import InputError, SingularPoseError
from twin.parameters.machine import MachineParameters
from twin.parameters.read import parameters_hash

if TYPE_CHECKING:
    from collections.abc import Callable

    from twin.engines.engine import Engine
    from twin.trajectory import Trajectory

REST = np.zeros(6)
REST.flags.writeable = False


class LegCoordinates(NamedTuple):
    """Joint coordinates of all legs with two time derivatives.

    `angles[..., 0]` turns about the first axis (fixed in the base), `angles[..., 1]` about the
    second, which the first carries; both are zero at home.
    """

    angles: FloatArray
    """`(..., n, 2)` [rad]"""
    angle_rates: FloatArray
    """`(..., n, 2)` [rad/s]"""
    angle_accelerations: FloatArray
    """`(..., n, 2)` [rad/s2]"""
    lengths: FloatArray
    """`(..., n)` [m]"""
    length_rates: FloatArray
    """`(..., n)` [m/s]"""
    length_accelerations: FloatArray
    """`(..., n)` [m/s2]"""


class Platform:
    """A parallel platform with its kinematics and dynamics.

    All numeric methods take leading batch axes. Poses are `(..., 7)`: position [m] and unit
    quaternion (scalar first) of the platform in the base. Twists `(..., 6)`: velocity of the
    reference point [m/s] and angular velocity [rad/s]; accelerations are their time derivatives;
    wrenches `(..., 6)`: force [N] and moment about the reference point [N m]. All in base axes.
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
        self.hash = parameters_hash(parameters)
        self.constants = pack(parameters)
        self.base_joints = read_only(parameters.base.joints.points)
        self.platform_joints = read_only(parameters.platform.joints.points)
        self.first_axes = parameters.first_axes
        self.home = read_only([*parameters.home.position, *parameters.home.orientation])
        self.home_lengths = read_only(np.linalg.norm(parameters.home_leg_vectors, axis=1))
        self.n_actuators = len(self.base_joints)
        self.dof = 6
        actuator = parameters.leg.actuator
        self.minimum_lengths = read_only(np.full(self.n_actuators, actuator.minimum))
        self.maximum_lengths = read_only(np.full(self.n_actuators, actuator.maximum))

    def __repr__(self) -> str:
        return f"<Platform {self.name!r}: {self.n_actuators} actuators, {self.dof} freedoms>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parameters,)

    def inverse_kinematics(self, pose: Any) -> FloatArray:
        """Return leg lengths `(..., n)` [m] of poses `(..., 7)`; limits are not checked.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
        """
        from twin.kinematics.inverse import inverse_kinematics_batch

        shape, (poses,) = flatten_batch(pose=as_pose(pose))
        lengths = np.empty((len(poses), self.n_actuators))
        self._run(inverse_kinematics_batch, (self.constants.legs,), (poses, lengths))
        return lengths.reshape((*shape, self.n_actuators))

    def forward_kinematics(self, lengths: Any, guess: Any = None) -> FloatArray:
        """Return poses `(..., 7)` of leg lengths `(..., n)` [m] on the assembly branch of `guess`.

        Args:
            lengths: leg lengths; actuator limits are not checked.
            guess: pose `(..., 7)` to start from, default home.

        Raises:
            InputError: wrong shape, not finite, lengths that are not positive.
            ForwardKinematicsError: no pose has these lengths on this branch; `data` holds index,
                residual [m], iterations, the last pose and the lengths.
        """
        from twin.kinematics.forward import forward_kinematics_batch, unreachable

        wanted = as_floats(lengths, "lengths", self.n_actuators)
        if not (wanted > 0.0).all():
            raise InputError("lengths", "must be above zero")
        start = as_pose(self.home if guess is None else guess, "guess")
        shape, (wanted, start) = flatten_batch(lengths=wanted, guess=start)
        poses, reports = np.empty((len(wanted), 7)), np.empty((len(wanted), 2))
        failed = self._run(
            forward_kinematics_batch, (self.constants.legs,), (wanted, start, poses, reports), -1
        )
        if failed >= 0:
            raise unreachable(failed, wanted[failed], poses[failed], reports[failed])
        return poses.reshape((*shape, 7))

    def jacobian(self, pose: Any) -> FloatArray:
        """Return Jacobians `(..., n, 6)`: leg rates [m/s] = J @ twist.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
        """
        from twin.kinematics.jacobian import jacobian_batch

        shape, (poses,) = flatten_batch(pose=as_pose(pose))
        out = np.empty((len(poses), self.n_actuators, 6))
        self._run(jacobian_batch, (self.constants.legs,), (poses, out))
        return out.reshape((*shape, self.n_actuators, 6))

    def jacobian_derivative(self, pose: Any, twist: Any) -> FloatArray:
        """Return dJ/dt `(..., n, 6)`: leg accelerations = J @ acceleration + dJ/dt @ twist.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
        """
        from twin.kinematics.jacobian import jacobian_derivative_batch

        shape, (poses, twists) = flatten_batch(
            pose=as_pose(pose), twist=as_floats(twist, "twist", 6)
        )
        out = np.empty((len(poses), self.n_actuators, 6))
        self._run(jacobian_derivative_batch, (self.constants.legs,), (poses, twists, out))
        return out.reshape((*shape, self.n_actuators, 6))

    def leg_coordinates(
        self, pose: Any, twist: Any = None, acceleration: Any = None
    ) -> LegCoordinates:
        """Return the joint coordinates of the legs and their rates; default at rest.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
            SingularPoseError: a leg lies along its universal joint's first axis.
        """
        from twin.kinematics.inverse import leg_coordinates_batch

        shape, (poses, twists, accelerations) = flatten_batch(
            pose=as_pose(pose),
            twist=as_floats(REST if twist is None else twist, "twist", 6),
            acceleration=as_floats(
                REST if acceleration is None else acceleration, "acceleration", 6
            ),
        )
        out = np.empty((len(poses), self.n_actuators, 9))
        constants = (self.constants.legs, self.constants.frames)
        self._run(leg_coordinates_batch, constants, (poses, twists, accelerations, out))
        out = out.reshape((*shape, self.n_actuators, 9))
        return LegCoordinates(
            out[..., 0:2], out[..., 3:5], out[..., 6:8], out[..., 2], out[..., 5], out[..., 8]
        )

    def within_limits(self, pose: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return `(...)` whether all legs are inside their length limits, rounding allowed.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
        """
        lengths = self.inverse_kinematics(pose)
        slack = 1e-12 * self.maximum_lengths
        low, high = self.minimum_lengths - slack, self.maximum_lengths + slack
        return np.asarray(((lengths >= low) & (lengths <= high)).all(axis=-1))

    def condition_number(self, pose: Any) -> FloatArray:
        """Return condition numbers `(...)` of J with moments scaled by the joints' mean radius.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
        """
        from twin.kinematics.singularity import characteristic_length, condition_number

        return condition_number(self.jacobian(pose), characteristic_length(self.platform_joints))

    def mass_matrix(self, pose: Any) -> FloatArray:
        """Return task-space mass matrices `(..., 6, 6)`, legs included.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
            SingularPoseError: a leg lies along its universal joint's first axis.
        """
        from twin.dynamics.forward import mass_matrix_batch

        shape, (poses,) = flatten_batch(pose=as_pose(pose))
        matrices = np.empty((len(poses), 6, 6))
        self._run(mass_matrix_batch, self.constants[:2], (poses, matrices))
        return matrices.reshape((*shape, 6, 6))

    def forward_dynamics(
        self, pose: Any, twist: Any, forces: Any, wrench: Any = None
    ) -> FloatArray:
        """Return accelerations `(..., 6)` under actuator forces `(..., n)` [N] and a wrench.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
            SingularPoseError: a leg lies along its universal joint's first axis.
        """
        from twin.dynamics.forward import forward_dynamics_batch

        shape, arrays = flatten_batch(
            pose=as_pose(pose),
            twist=as_floats(twist, "twist", 6),
            forces=as_floats(forces, "forces", self.n_actuators),
            wrench=as_floats(REST if wrench is None else wrench, "wrench", 6),
        )
        out = np.empty((len(arrays[0]), 6))
        self._run(forward_dynamics_batch, self.constants[:2], (*arrays, out))
        return out.reshape((*shape, 6))

    def inverse_dynamics(
        self, pose: Any, twist: Any, acceleration: Any, wrench: Any = None
    ) -> FloatArray:
        """Return actuator forces `(..., n)` [N] that give the acceleration against a wrench.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
            SingularPoseError: the Jacobian is singular, or a leg lies along its first axis.
        """
        from twin.dynamics.inverse import inverse_dynamics_batch

        shape, arrays = flatten_batch(
            pose=as_pose(pose),
            twist=as_floats(twist, "twist", 6),
            acceleration=as_floats(acceleration, "acceleration", 6),
            wrench=as_floats(REST if wrench is None else wrench, "wrench", 6),
        )
        out = np.empty((len(arrays[0]), self.n_actuators))
        self._run(inverse_dynamics_batch, self.constants[:2], (*arrays, out))
        return out.reshape((*shape, self.n_actuators))

    def energy(self, pose: Any, twist: Any) -> tuple[FloatArray, FloatArray]:
        """Return kinetic and potential energy `(...)` [J]; potential zero at z = 0 of the base.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
        """
        from twin.dynamics.forward import energy_batch

        shape, arrays = flatten_batch(pose=as_pose(pose), twist=as_floats(twist, "twist", 6))
        out = np.empty((len(arrays[0]), 2))
        self._run(energy_batch, self.constants[:2], (*arrays, out))
        return out[:, 0].reshape(shape), out[:, 1].reshape(shape)

    def simulate(
        self,
        duration: float,
        pose: Any = None,
        twist: Any = None,
        forces: Any = None,
        engine: str | Engine = "analytic",
        timestep: float = 1e-3,
        **options: Any,
    ) -> Trajectory:
        """Return the motion over `duration` [s]; see `twin.simulate` for all options.

        Raises:
            InputError: wrong shapes, not finite, unknown options.
            SimulationStoppedError: the engine left the range where its answer means anything.
        """
        from twin.simulation import simulate

        return simulate(self, duration, pose, twist, forces, engine, timestep, **options)

    def _run(
        self,
        kernel: Callable[..., int],
        constants: tuple[FloatArray, ...],
        arrays: tuple[FloatArray, ...],
        failed_allowed: int | None = None,
    ) -> int:
        """Run a batch kernel and turn singular or overflowing states into errors."""
        from twin.compiled.batch import run_batch

        if len(arrays[0]) == 0:
            return -1
        failed = run_batch(kernel, constants, arrays)
        if failed_allowed is not None:
            return failed
        finite = np.isfinite(arrays[-1]).all()
        if failed >= 0 or not finite:
            bad = ~np.isfinite(arrays[-1]).reshape(len(arrays[-1]), -1).all(axis=1)
            index = failed if failed >= 0 else int(np.argmax(bad))
            raise SingularPoseError(
                f"entry {index} has no finite answer at pose {arrays[0][index].tolist()}: the pose "
                "is singular (a leg without length or along its joint's first axis, or legs that "
                "do not span the six freedoms), or the numbers overflow. Move away from it.",
                {"index": index, "pose": arrays[0][index].copy()},
            )
        return failed


def as_platform(value: Any) -> Platform:
    """Return `value` if it is a Platform; raises InputError otherwise."""
    if not isinstance(value, Platform):
        raise InputError("platform", "must be a Platform; use twin.load(name or path)")
    return value
