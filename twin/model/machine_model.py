"""Numeric model of one machine: checks arguments, and calls kinematics and dynamics."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from twin.basics.arrays import (
    BoolArray,
    FloatArray,
    as_floats,
    as_pose,
    as_vector,
    flatten_batch,
    not_negative,
)
from twin.errors import InputError
from twin.kernels.dynamics.forward import (
    energy_batch,
    forward_dynamics_batch,
    inverse_dynamics_batch,
    mass_matrix_batch,
)
from twin.kernels.jit import SameTypes
from twin.kernels.kinematics import (
    forward_kinematics_batch,
    inverse_kinematics_batch,
    jacobian_batch,
    jacobian_derivative_batch,
)
from twin.model.batch import run_large_batch
from twin.model.forward_kinematics import FittedPoses, assembly_modes, poses_of
from twin.model.machine_base import (
    RUN_INTERPRETED,
    ZERO_VECTOR,
    LegCoordinates,
    MachineBase,
    PlatformMotion,
    check_constraints,
    check_nearest,
    condition_number,
    constrained,
    coordinates_given,
    evaluate_constraints,
    has_nearest,
    inside,
    joint_motion,
    run,
    run_checked,
)

FLOAT64 = np.dtype(np.float64)

DYNAMICS_KERNELS = {energy_batch, forward_dynamics_batch, inverse_dynamics_batch, mass_matrix_batch}
"""Kernels that need the platform's body as well as the legs."""


@lru_cache(maxsize=64)
def single_kernel(kernel: Any, legs: type) -> SameTypes | None:
    """Return the kernel that checks and computes one state on a kind of legs; None for others."""
    from twin.kernels import single

    singles = {
        inverse_kinematics_batch: single.inverse_kinematics_single,
        forward_kinematics_batch: single.forward_kinematics_single,
        jacobian_batch: single.jacobian_single,
        forward_dynamics_batch: single.forward_dynamics_single,
        inverse_dynamics_batch: single.inverse_dynamics_single,
    }
    return SameTypes(singles[kernel]) if kernel in singles else None


class MachineModel(MachineBase):
    """A parallel platform with its kinematics and dynamics.

    All numeric methods take leading batch axes. Poses are `(..., 7)`: position [m] and unit
    quaternion (scalar first) of the platform in the base. Twists `(..., 6)`: velocity of the
    reference point [m/s] and angular velocity [rad/s]; accelerations are their time derivatives;
    wrenches `(..., 6)`: force [N] and moment about the reference point [N m]. All in base axes.

    Actuator coordinates `(..., n)` are leg lengths [m] or crank angles [rad], their forces [N] or
    [N m]. Legs with coordinates of their own (springs) take `deflection` `(..., 2k)`: the
    coordinates, then their rates; default at rest with springs at rest length.
    """

    def inverse_kinematics(self, pose: Any) -> FloatArray:
        """Return actuator coordinates `(..., n)` of poses `(..., 7)`; limits are not checked.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a pose the machine cannot have.
            UnreachablePoseError: a leg cannot reach a pose.
        """
        return self._evaluate(inverse_kinematics_batch, (self.n_actuators,), pose=pose)

    def forward_kinematics(
        self, lengths: Any, guess: Any = None, *, tolerance: Any = None
    ) -> FloatArray:
        """Return poses `(..., 7)` of actuator coordinates.

        Newton's method with continuation follows the straight way of the coordinates from those of
        the guess. Without a guess it begins at home and, where that way ends at a singular pose, at
        poses around home. No way passes a singular pose, so that a pose lies on the assembly branch
        where it began. Last come random poses, and the nearest solution to home whose Jacobian has
        a determinant of the same sign. Other poses may have the same coordinates, see
        `forward_kinematics_all`.

        Args:
            lengths: actuator coordinates `(..., n)`; limits are not checked.
            guess: pose `(..., 7)` to start from, alone; default home and poses around it.
            tolerance: [m] or [rad] by which the coordinates of more actuators than degrees of
                freedom may contradict each other; poses are those of least squares then. Default
                three counts of their encoders, without encoders 1 mm. See `fit_pose`.

        Raises:
            InputError: wrong shape, not finite, lengths that are not positive.
            ForwardKinematicsError: no pose was found; `data` holds index, residual, iterations,
                the last pose and the coordinates.
        """
        if guess is not None and tolerance is None and not RUN_INTERPRETED.get():
            lower_bound = 0.0 if self.coordinate_unit == "m" else -np.inf
            constants = self.constants.legs, lower_bound
            states = {"pose": guess, "lengths": lengths}
            pose = self._single(forward_kinematics_batch, constants, (7,), states)
            if pose is not None:
                return pose
        return self._found_poses(lengths, guess, tolerance)[1]

    def fit_pose(self, lengths: Any, guess: Any = None, *, tolerance: Any = None) -> FittedPoses:
        """Return least-squares poses `(..., 7)` of actuator coordinates, and their residuals.

        Residuals are the given coordinates minus those of the poses, `(..., n)` [m] or [rad]:
        rounding errors, or the contradictions between the coordinates of redundant actuators.
        Arguments and errors are those of `forward_kinematics`.
        """
        length_rows, poses = self._found_poses(lengths, guess, tolerance)
        pose_coordinates = np.empty((poses.size // 7, self.n_actuators))
        arrays = poses.reshape(-1, 7), pose_coordinates
        run(inverse_kinematics_batch, (self.constants.legs,), arrays)
        return FittedPoses(poses, length_rows - pose_coordinates.reshape(length_rows.shape))

    def forward_kinematics_all(self, lengths: Any, *, tolerance: Any = None) -> FloatArray:
        """Return the poses `(k, 7)` that a search finds for one set of actuator coordinates.

        These are the assembly modes of the platform, the nearest to home first, on all sides of
        singular poses and also where legs or bodies would cross; none: `(0, 7)`. A platform with
        six straight legs has up to 40. Cranks keep the elbow branch of their file. The search
        begins at random poses, always the same, and ends after rounds that found nothing new: it
        does not prove that there are no others.

        Args:
            lengths: actuator coordinates `(n,)` [m] or [rad]; limits are not checked.
            tolerance: see `forward_kinematics`.

        Raises:
            InputError: wrong shape, not finite, lengths that are not positive.

        Reference:
            Dietmaier, The Stewart-Gough platform of general geometry can have 40 real postures,
            Advances in Robot Kinematics, 1998.
        """
        length_vector = self._lengths(as_vector(lengths, "lengths", self.n_actuators))
        tolerance_limit = None if tolerance is None else not_negative(tolerance, "tolerance")
        return assembly_modes(self, length_vector, tolerance_limit)

    def jacobian(self, pose: Any) -> FloatArray:
        """Return Jacobians `(..., n, 6)`: actuator rates = J @ twist.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a pose the machine cannot have.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: a crank and its rod are stretched or folded.
        """
        return self._evaluate(jacobian_batch, (self.n_actuators, 6), pose=pose)

    def jacobian_derivative(self, pose: Any, twist: Any) -> FloatArray:
        """Return dJ/dt `(..., n, 6)`: actuator accelerations = J @ acceleration + dJ/dt @ twist.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a motion the machine cannot
                have.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: a crank and its rod are stretched or folded.
        """
        row_shape = self.n_actuators, 6
        return self._evaluate(jacobian_derivative_batch, row_shape, pose=pose, twist=twist)

    def constraints(self, pose: Any) -> FloatArray:
        """Return rows C `(..., 6 - dof, 6)` of the constraints by the legs: C @ twist = 0.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
        """
        shape, (poses,) = flatten_batch(pose=as_pose(pose))
        n_constraints = 6 - self.dof
        constraint_values = evaluate_constraints(self.constants.legs, poses)
        return constraint_values[:, :n_constraints, :6].reshape((*shape, n_constraints, 6))

    def constrain(self, pose: Any, twist: Any = None, acceleration: Any = None) -> PlatformMotion:
        """Return the nearest motion that the machine can have; the same where all are possible.

        On pillars and on legs in planes, the height and the direction of the platform's normal
        stay, with their rates and accelerations (so roll and pitch do), and the rest follows from
        the fixed foot or the planes. Default at rest.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
            UnreachablePoseError: the legs allow no pose of this height and tilt; the message says
                by how far.
        """
        shape, arrays = flatten_batch(
            pose=as_pose(pose),
            twist=six_or_zero(twist, "twist"),
            acceleration=six_or_zero(acceleration, "acceleration"),
        )
        if self.dof < 6 and len(arrays[0]):
            arrays = list(constrained(self.constants.legs, *arrays))
            check_nearest(self.constants.legs, arrays[0])
        return PlatformMotion(*(array.reshape((*shape, array.shape[-1])) for array in arrays))

    def leg_coordinates(
        self,
        pose: Any,
        twist: Any = None,
        acceleration: Any = None,
        *,
        deflection: Any = None,
        deflection_acceleration: Any = None,
    ) -> LegCoordinates:
        """Return joint coordinates of the legs, their rates and accelerations; default at rest.

        The default acceleration is zero, except for what the machine's constraints require.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a motion the machine cannot
                have.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: a leg lies along its universal joint's first axis.
        """
        k = self.n_deflections
        motion = ZERO_VECTOR if twist is None else twist
        if acceleration is None:
            acceleration = self.constrain(pose, motion).acceleration
        if deflection_acceleration is None:
            deflection_acceleration = np.zeros(k)
        shape, arrays = self.checked_states(
            pose,
            motion,
            deflection,
            acceleration=acceleration,
            deflection_acceleration=deflection_acceleration,
        )
        joint_values = joint_motion(self.constants.legs, self.constants.home, arrays, k)
        return LegCoordinates(
            *np.moveaxis(joint_values.reshape((*shape, *joint_values.shape[1:])), -1, 0)
        )

    def within_limits(self, pose: Any = None, *, lengths: Any = None) -> BoolArray:
        """Return `(...)` whether all actuators are inside their limits, rounding allowed.

        False where a leg cannot reach, or where the legs allow no pose of the same height and tilt.

        Args:
            pose: poses `(..., 7)`. Actuator coordinates `(..., n)` are taken as such, except of a
                machine with seven actuators.
            lengths: actuator coordinates `(..., n)`, in place of poses.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a pose the machine cannot have.
        """
        shape, coordinates = coordinates_given(pose, lengths, self.n_actuators)
        if coordinates is None:
            shape, (poses,) = flatten_batch(pose=as_pose(pose))
            coordinates = np.empty((len(poses), self.n_actuators))
            run(inverse_kinematics_batch, (self.constants.legs,), (poses, coordinates))
            if self.dof < 6:
                coordinates[~has_nearest(self.constants.legs, poses)] = np.nan
        return inside(coordinates, self.minimum_coordinates, self.maximum_coordinates).reshape(
            shape
        )

    def condition_number(self, pose: Any) -> FloatArray:
        """Return condition numbers `(...)` of J with moments scaled by the joints' mean radius.

        Of machines with fewer degrees of freedom, over the twists that they can have.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a pose the machine cannot have.
            UnreachablePoseError: a leg cannot reach a pose.
        """
        return condition_number(self.jacobian(pose), self.constraints(pose), self.joint_radius)

    def as_deflection(self, deflection: Any) -> FloatArray:
        """Return checked deflections of springs and rates `(..., 2k)`; None: zero.

        Raises:
            InputError: wrong shape or not finite.
        """
        no_deflection = np.zeros(2 * self.n_deflections)
        return as_floats(
            no_deflection if deflection is None else deflection, "deflection", len(no_deflection)
        )

    def mass_matrix(self, pose: Any, *, deflection: Any = None) -> FloatArray:
        """Return task-space mass matrices `(..., 6, 6)` of platform and legs.

        The inertia of drives is left out, and constraints of the legs are not applied.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a pose the machine cannot have.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: a leg lies along its universal joint's first axis.
        """
        return self._evaluate(
            mass_matrix_batch, (6, 6), pose=pose, twist=ZERO_VECTOR, deflection=deflection
        )

    def forward_dynamics(
        self, pose: Any, twist: Any, forces: Any, wrench: Any = None, *, deflection: Any = None
    ) -> FloatArray:
        """Return accelerations `(..., 6 + k)` under actuator forces `(..., n)` and a wrench.

        The last k are those of the deflections of springs.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a motion the machine cannot
                have.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: a leg lies along its universal joint's first axis.
        """
        row_shape = (6 + self.n_deflections,)
        return self._evaluate(
            forward_dynamics_batch, row_shape,
            pose=pose, twist=twist, deflection=deflection, forces=forces, wrench=wrench,
        )  # fmt: skip

    def inverse_dynamics(
        self,
        pose: Any,
        twist: Any,
        acceleration: Any,
        wrench: Any = None,
        *,
        deflection: Any = None,
    ) -> FloatArray:
        """Return actuator forces `(..., n)` that give the acceleration `(..., 6)` against a wrench.

        Where there are more actuators than degrees of freedom, the forces of smallest norm.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a motion the machine cannot
                have.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: the Jacobian is singular, or a leg lies along its universal joint's
                first axis.
        """
        return self._evaluate(
            inverse_dynamics_batch, (self.n_actuators,),
            pose=pose, twist=twist, deflection=deflection, acceleration=acceleration, wrench=wrench,
        )  # fmt: skip

    def energy(
        self, pose: Any, twist: Any, *, deflection: Any = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return kinetic and potential energy `(...)` [J].

        Potential energy is zero at z = 0 of the base and for springs at rest length.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a motion the machine cannot
                have.
            UnreachablePoseError: a leg cannot reach a pose.
        """
        energies = self._energies(pose, twist, deflection)
        return energies[..., 0], energies[..., 1]

    def dissipation(self, pose: Any, twist: Any, *, deflection: Any = None) -> FloatArray:
        """Return the power `(...)` [W] that dampers and friction of the legs turn into heat.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a motion the machine cannot
                have.
            UnreachablePoseError: a leg cannot reach a pose.
        """
        # The kernel fills kinetic energy, potential energy and dissipated power.
        return self._energies(pose, twist, deflection)[..., 2]

    def _poses(self, pose: Any) -> tuple[tuple[int, ...], FloatArray]:
        """Return batch shape and checked poses `(batch, 7)`."""
        shape, (poses,) = flatten_batch(pose=as_pose(pose))
        if self.dof < 6 and len(poses):
            check_constraints(self.constants.legs, poses)
        return shape, poses

    def checked_states(
        self, pose: Any, twist: Any, deflection: Any, **inputs: Any
    ) -> tuple[tuple[int, ...], list[FloatArray]]:
        """Return batch shape and checked arrays: poses, twists, deflection, and the others."""
        for name, value in inputs.items():
            inputs[name] = as_floats(value, name, self._sizes[name])
        shape, arrays = flatten_batch(
            pose=as_pose(pose),
            twist=as_floats(twist, "twist", 6),
            deflection=self.as_deflection(deflection),
            **inputs,
        )
        if self.dof < 6 and len(arrays[0]):
            acceleration = dict(zip(inputs, arrays[3:], strict=True)).get("acceleration")
            check_constraints(self.constants.legs, arrays[0], arrays[1], acceleration)
        return shape, arrays

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """Size of the last axis of every argument."""
        k = self.n_deflections
        sizes = dict.fromkeys(("twist", "acceleration", "wrench"), 6)
        sizes |= {"pose": 7, "forces": self.n_actuators, "lengths": self.n_actuators}
        return sizes | {"deflection": 2 * k, "deflection_acceleration": k}

    @cached_property
    def _zeros(self) -> dict[str, FloatArray]:
        """Default of arguments that are left out."""
        return {name: np.zeros(self._sizes[name]) for name in ("deflection", "wrench")}

    def _lengths(self, lengths: Any) -> FloatArray:
        """Return checked actuator coordinates `(..., n)`."""
        length_rows = as_floats(lengths, "lengths", self.n_actuators)
        if self.coordinate_unit == "m" and not (length_rows > 0.0).all():
            raise InputError("lengths", "must be above zero")
        return length_rows

    def _found_poses(
        self, lengths: Any, guess: Any, tolerance: Any
    ) -> tuple[FloatArray, FloatArray]:
        """Return coordinates `(..., n)` and poses `(..., 7)`, as `forward_kinematics` says."""
        length_rows, start_poses = self._lengths(lengths), None
        tolerance_limit = None if tolerance is None else not_negative(tolerance, "tolerance")
        if guess is None:
            shape, (length_rows,) = flatten_batch(lengths=length_rows)
        else:
            shape, (length_rows, start_poses) = flatten_batch(
                lengths=length_rows, guess=as_pose(guess, "guess")
            )
        poses = poses_of(self, length_rows, start_poses, tolerance_limit)
        return length_rows.reshape((*shape, self.n_actuators)), poses.reshape((*shape, 7))

    def _evaluate(self, kernel: Any, row: tuple[int, ...], **states: Any) -> FloatArray:
        """Return the results of a kernel for states, `(*shape, *row)`.

        Fast ways first: one state by a kernel that checks it itself, then a large batch by a kernel
        that takes several states at a time, in lanes. Both give None where they do not apply or a
        check fails. Then the arrays are checked here, and the error names the argument.
        """
        for name, zeros in self._zeros.items():
            if name in states and states[name] is None:
                states[name] = zeros
        constants = self.constants[:2] if kernel in DYNAMICS_KERNELS else (self.constants.legs,)
        if not RUN_INTERPRETED.get():
            results = self._single(kernel, constants, row, states)
            if results is None:
                sizes = [self._sizes[name] for name in states]
                results = run_large_batch(kernel, constants, list(states.values()), sizes, row)
            if results is not None:
                return results
        if len(states) == 1:
            shape, poses = self._poses(**states)
            arrays = [poses]
        else:
            shape, arrays = self.checked_states(**{"deflection": None, **states})
        arrays = arrays[: len(states)]
        results = np.empty((len(arrays[0]), *row))
        run_checked(kernel, constants, (*arrays, results), self.constants.legs)
        return results.reshape((*shape, *row))

    def _single(
        self, kernel: Any, constants: tuple[Any, ...], row: tuple[int, ...], states: dict[str, Any]
    ) -> FloatArray | None:
        """Return the result for one state; None where it fails a check or has none."""
        for name, value in states.items():
            is_array = type(value) is np.ndarray and value.dtype is FLOAT64
            if not is_array or value.shape != (self._sizes[name],):
                return None
        single = single_kernel(kernel, type(self.constants.legs))
        if single is None:
            return None
        state, result = np.concatenate(list(states.values())), np.empty(row)
        return result if single(*constants, state, result) else None

    def _energies(self, pose: Any, twist: Any, deflection: Any) -> FloatArray:
        return self._evaluate(energy_batch, (3,), pose=pose, twist=twist, deflection=deflection)


def forward_kinematics_all(
    platform: MachineModel, lengths: Any, *, tolerance: Any = None
) -> FloatArray:
    """Return the poses `(k, 7)` that a search finds for coordinates `(n,)` [m] or [rad].

    See `MachineModel.forward_kinematics_all`.

    Raises:
        InputError: not a machine, wrong shape, not finite, lengths that are not positive.
    """
    return as_model(platform).forward_kinematics_all(lengths, tolerance=tolerance)


def six_or_zero(value: Any, field: str) -> FloatArray:
    """Return a checked twist, acceleration or wrench `(..., 6)`; None: zero."""
    return as_floats(ZERO_VECTOR if value is None else value, field, 6)


def actuator_derivatives(
    platform: MachineModel, pose: FloatArray, twist: FloatArray, acceleration: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return rates and accelerations `(k, n)` of the actuators' coordinates along a motion."""
    jacobian = platform.jacobian(pose)
    jacobian_rate = platform.jacobian_derivative(pose, twist)
    rates = np.einsum("kij,kj->ki", jacobian, twist)
    velocity_product = np.einsum("kij,kj->ki", jacobian_rate, twist)
    return rates, np.einsum("kij,kj->ki", jacobian, acceleration) + velocity_product


def as_model(value: Any) -> MachineModel:
    """Return `value` if it is a platform; raises InputError otherwise."""
    if not isinstance(value, MachineModel):
        raise InputError("platform", "must be a Platform; use twin.load(name or path)")
    return value
