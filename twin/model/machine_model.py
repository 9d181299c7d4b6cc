"""Numeric model of one machine: checks arguments, and calls kinematics and dynamics."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import BoolArray, FloatArray, as_floats, as_pose, flatten_batch
from twin.errors import InputError
from twin.kernels.dynamics.forward import energy_batch, forward_dynamics_batch, mass_matrix_batch
from twin.kernels.dynamics.inverse import inverse_dynamics_batch
from twin.kernels.kinematics.forward import forward_kinematics_batch
from twin.kernels.kinematics.inverse import inverse_kinematics_batch
from twin.kernels.kinematics.jacobian import jacobian_batch, jacobian_derivative_batch
from twin.model.batch import run_given
from twin.model.constraints import (
    characteristic_length,
    check_constraints,
    condition_number,
    constrained,
    constraint_rows,
)
from twin.model.evaluation import (
    INTERPRETED,
    coordinates_given,
    inside,
    joint_motion,
    run,
    run_checked,
    unreachable,
)
from twin.model.machine_base import MachineBase
from twin.model.motions import REST, LegCoordinates, PlatformMotion

DYNAMICS = {energy_batch, forward_dynamics_batch, inverse_dynamics_batch, mass_matrix_batch}
"""Kernels that need the platform's body beside the legs."""


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

    def forward_kinematics(self, lengths: Any, guess: Any = None) -> FloatArray:
        """Return poses `(..., 7)` of actuator coordinates on the assembly branch of `guess`.

        Args:
            lengths: actuator coordinates `(..., n)`; limits are not checked. With more actuators
                than degrees of freedom they must fit together.
            guess: pose `(..., 7)` to start from, default home.

        Raises:
            InputError: wrong shape, not finite, lengths that are not positive.
            ForwardKinematicsError: no pose has these coordinates on this branch; `data` holds
                index, residual, iterations, the last pose and the coordinates.
        """
        given = as_floats(lengths, "lengths", self.n_actuators)
        if self.coordinate_unit == "m" and not (given > 0.0).all():
            raise InputError("lengths", "must be above zero")
        start = as_pose(self.home if guess is None else guess, "guess")
        shape, (given, start) = flatten_batch(lengths=given, guess=start)
        found = np.empty((len(given), 9))
        failed = run(forward_kinematics_batch, (self.constants.legs,), (given, start, found))
        if failed >= 0:
            raise unreachable(failed, given[failed], found[failed], self.coordinate_unit)
        return np.ascontiguousarray(found[:, :7]).reshape((*shape, 7))

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
        row = self.n_actuators, 6
        return self._evaluate(jacobian_derivative_batch, row, pose=pose, twist=twist)

    def constraints(self, pose: Any) -> FloatArray:
        """Return rows C `(..., 6 - dof, 6)` of what the legs forbid: C @ twist = 0.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
        """
        shape, (poses,) = flatten_batch(pose=as_pose(pose))
        count = 6 - self.dof
        rows = constraint_rows(self.constants.legs, poses, np.zeros((len(poses), 6)))
        return rows[:, :count, :6].reshape((*shape, count, 6))

    def constrain(self, pose: Any, twist: Any = None, acceleration: Any = None) -> PlatformMotion:
        """Return the nearest motion that the machine can have; the same where all are possible.

        On pillars, the height and the direction of the platform's normal stay, with their rates and
        accelerations (so roll and pitch do), and the rest follows from the fixed foot. Default at
        rest.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
        """
        shape, arrays = flatten_batch(
            pose=as_pose(pose),
            twist=six_or_zero(twist, "twist"),
            acceleration=six_or_zero(acceleration, "acceleration"),
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
        deflection: Any = None,
        deflection_acceleration: Any = None,
    ) -> LegCoordinates:
        """Return the joint coordinates of the legs and their rates; default at rest.

        Without an acceleration, none but what the constraints of the machine require.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a motion the machine cannot
                have.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: a leg lies along its universal joint's first axis.
        """
        k = self.n_deflections
        motion = REST if twist is None else twist
        if acceleration is None:
            acceleration = self.constrain(pose, motion).acceleration
        added = np.zeros(k) if deflection_acceleration is None else deflection_acceleration
        shape, arrays = self.checked_states(
            pose,
            motion,
            deflection,
            acceleration=acceleration,
            deflection_acceleration=added,
        )
        out = joint_motion(self.constants.legs, self.constants.home, arrays, k)
        return LegCoordinates(*np.moveaxis(out.reshape((*shape, *out.shape[1:])), -1, 0))

    def within_limits(self, pose: Any = None, *, lengths: Any = None) -> BoolArray:
        """Return `(...)` whether all actuators are inside their limits, rounding allowed.

        False where a leg cannot reach.

        Args:
            pose: poses `(..., 7)`. Actuator coordinates `(..., n)` are taken as such, except of a
                machine with seven actuators.
            lengths: actuator coordinates `(..., n)`, in place of poses.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a pose the machine cannot have.
        """
        shape, given = coordinates_given(pose, lengths, self.n_actuators)
        if given is None:
            shape, poses = self._poses(pose)
            given = np.empty((len(poses), self.n_actuators))
            run(inverse_kinematics_batch, (self.constants.legs,), (poses, given))
        return inside(given, self.minimum_coordinates, self.maximum_coordinates).reshape(shape)

    def condition_number(self, pose: Any) -> FloatArray:
        """Return condition numbers `(...)` of J with moments scaled by the joints' mean radius.

        Of machines with fewer degrees of freedom, over the twists that they can have.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a pose the machine cannot have.
            UnreachablePoseError: a leg cannot reach a pose.
        """
        length = characteristic_length(self.platform_joints)
        return condition_number(self.jacobian(pose), self.constraints(pose), length)

    def as_deflection(self, deflection: Any) -> FloatArray:
        """Return checked deflections of springs and rates `(..., 2k)`; None: zero.

        Raises:
            InputError: wrong shape or not finite.
        """
        none = np.zeros(2 * self.n_deflections)
        return as_floats(none if deflection is None else deflection, "deflection", len(none))

    def mass_matrix(self, pose: Any, *, deflection: Any = None) -> FloatArray:
        """Return task-space mass matrices `(..., 6, 6)`, legs included.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a pose the machine cannot have.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: a leg lies along its universal joint's first axis.
        """
        states = {"pose": pose, "twist": REST, "deflection": deflection}
        return self._evaluate(mass_matrix_batch, (6, 6), **states)

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
        states = {"pose": pose, "twist": twist, "deflection": deflection}
        states |= {"forces": forces, "wrench": wrench}
        return self._evaluate(forward_dynamics_batch, (6 + self.n_deflections,), **states)

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
            SingularPoseError: the Jacobian is singular, or a leg lies along its first axis.
        """
        states = {"pose": pose, "twist": twist, "deflection": deflection}
        states |= {"acceleration": acceleration, "wrench": wrench}
        return self._evaluate(inverse_dynamics_batch, (self.n_actuators,), **states)

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
        return self._energies(pose, twist, deflection)[..., 2]

    def _poses(self, pose: Any) -> tuple[tuple[int, ...], FloatArray]:
        """Return batch shape and checked poses `(batch, 7)`."""
        shape, (poses,) = flatten_batch(pose=as_pose(pose))
        if self.dof < 6 and len(poses):
            check_constraints(self.constants.legs, poses)
        return shape, poses

    def checked_states(
        self, pose: Any, twist: Any, deflection: Any, **others: Any
    ) -> tuple[tuple[int, ...], list[FloatArray]]:
        """Return batch shape and checked arrays: poses, twists, deflection, and the others."""
        for name, value in others.items():
            others[name] = as_floats(value, name, self._size(name))
        shape, arrays = flatten_batch(
            pose=as_pose(pose),
            twist=as_floats(twist, "twist", 6),
            deflection=self.as_deflection(deflection),
            **others,
        )
        if self.dof < 6 and len(arrays[0]):
            accelerating = "acceleration" in others
            acceleration = arrays[3 + list(others).index("acceleration")] if accelerating else None
            check_constraints(self.constants.legs, arrays[0], arrays[1], acceleration)
        return shape, arrays

    def _size(self, name: str) -> int:
        """Return the size of the last axis of an argument."""
        k = self.n_deflections
        sizes = {"pose": 7, "forces": self.n_actuators, "deflection": 2 * k}
        return (sizes | {"deflection_acceleration": k}).get(name, 6)

    def _evaluate(self, kernel: Any, row: tuple[int, ...], **states: Any) -> FloatArray:
        """Return what a kernel fills in for states, `(*shape, *row)`.

        Large batches are checked in lanes; the checks of arrays are for all others, and for the
        errors of those.
        """
        for name in ("deflection", "wrench"):
            if name in states and states[name] is None:
                states[name] = np.zeros(self._size(name))
        constants = self.constants[:2] if kernel in DYNAMICS else (self.constants.legs,)
        if not INTERPRETED.get():
            sizes = [self._size(name) for name in states]
            found = run_given(kernel, constants, list(states.values()), sizes, row)
            if found is not None:
                return found
        if len(states) == 1:
            shape, poses = self._poses(**states)
            arrays = [poses]
        else:
            shape, arrays = self.checked_states(**{"deflection": None, **states})
        arrays = arrays[: len(states)]
        out = np.empty((len(arrays[0]), *row))
        run_checked(kernel, constants, (*arrays, out), self.constants.legs)
        return out.reshape((*shape, *row))

    def _energies(self, pose: Any, twist: Any, deflection: Any) -> FloatArray:
        return self._evaluate(energy_batch, (3,), pose=pose, twist=twist, deflection=deflection)


def six_or_zero(value: Any, field: str) -> FloatArray:
    """Return a checked twist, acceleration or wrench `(..., 6)`; None: zero."""
    return as_floats(REST if value is None else value, field, 6)


def as_model(value: Any) -> MachineModel:
    """Return `value` if it is a platform; raises InputError otherwise."""
    if not isinstance(value, MachineModel):
        raise InputError("platform", "must be a Platform; use twin.load(name or path)")
    return value
