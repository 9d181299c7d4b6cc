"""Platform: the one object a user holds; checks arguments and calls kinematics and dynamics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twin.arrays import FloatArray, as_floats
from twin.errors import InputError
from twin.kinematic_platform import REST, KinematicPlatform, LegCoordinates, PlatformMotion

if TYPE_CHECKING:
    from twin.engines.engine import Engine
    from twin.trajectory import Trajectory

__all__ = ["REST", "LegCoordinates", "Platform", "PlatformMotion", "as_platform"]


class Platform(KinematicPlatform):
    """A parallel platform with its kinematics and dynamics.

    All numeric methods take leading batch axes. Poses are `(..., 7)`: position [m] and unit
    quaternion (scalar first) of the platform in the base. Twists `(..., 6)`: velocity of the
    reference point [m/s] and angular velocity [rad/s]; accelerations are their time derivatives;
    wrenches `(..., 6)`: force [N] and moment about the reference point [N m]. All in base axes.

    Actuator coordinates `(..., n)` are leg lengths [m] or crank angles [rad], their forces [N] or
    [N m]. Legs with coordinates of their own (springs) take `internal` `(..., 2k)`: the
    coordinates, then their rates; default at rest with springs at rest length.
    """

    def __repr__(self) -> str:
        return f"<Platform {self.name!r}: {self.n_actuators} actuators, {self.dof} freedoms>"

    def mass_matrix(self, pose: Any, *, internal: Any = None) -> FloatArray:
        """Return task-space mass matrices `(..., 6, 6)`, legs included.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a pose the machine cannot have.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: a leg lies along its universal joint's first axis.
        """
        from twin.dynamics.forward import mass_matrix_batch

        shape, arrays = self._states(pose, REST, internal)
        matrices = np.empty((len(arrays[0]), 6, 6))
        self._run(mass_matrix_batch, self.constants[:2], (*arrays, matrices))
        return matrices.reshape((*shape, 6, 6))

    def forward_dynamics(
        self, pose: Any, twist: Any, forces: Any, wrench: Any = None, *, internal: Any = None
    ) -> FloatArray:
        """Return accelerations `(..., 6 + k)` under actuator forces `(..., n)` and a wrench.

        The last k are those of the coordinates inside the legs.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a motion the machine cannot
                have.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: a leg lies along its universal joint's first axis.
        """
        from twin.dynamics.forward import forward_dynamics_batch

        shape, arrays = self._states(
            pose,
            twist,
            internal,
            forces=as_floats(forces, "forces", self.n_actuators),
            wrench=as_floats(REST if wrench is None else wrench, "wrench", 6),
        )
        out = np.empty((len(arrays[0]), 6 + self.n_internal))
        self._run(forward_dynamics_batch, self.constants[:2], (*arrays, out))
        return out.reshape((*shape, 6 + self.n_internal))

    def inverse_dynamics(
        self, pose: Any, twist: Any, acceleration: Any, wrench: Any = None, *, internal: Any = None
    ) -> FloatArray:
        """Return actuator forces `(..., n)` that give the acceleration `(..., 6)` against a wrench.

        Where there are more actuators than freedoms, the forces of smallest norm.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a motion the machine cannot
                have.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: the Jacobian is singular, or a leg lies along its first axis.
        """
        from twin.dynamics.inverse import inverse_dynamics_batch

        shape, arrays = self._states(
            pose,
            twist,
            internal,
            acceleration=acceleration,
            wrench=as_floats(REST if wrench is None else wrench, "wrench", 6),
        )
        out = np.empty((len(arrays[0]), self.n_actuators))
        self._run(inverse_dynamics_batch, self.constants[:2], (*arrays, out))
        return out.reshape((*shape, self.n_actuators))

    def energy(
        self, pose: Any, twist: Any, *, internal: Any = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return kinetic and potential energy `(...)` [J].

        Potential energy is zero at z = 0 of the base and for springs at rest length.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a motion the machine cannot
                have.
            UnreachablePoseError: a leg cannot reach a pose.
        """
        energies = self._energies(pose, twist, internal)
        return energies[..., 0], energies[..., 1]

    def dissipation(self, pose: Any, twist: Any, *, internal: Any = None) -> FloatArray:
        """Return the power `(...)` [W] that dampers and friction of the legs turn into heat.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a motion the machine cannot
                have.
            UnreachablePoseError: a leg cannot reach a pose.
        """
        return self._energies(pose, twist, internal)[..., 2]

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

    def _energies(self, pose: Any, twist: Any, internal: Any) -> FloatArray:
        from twin.dynamics.forward import energy_batch

        shape, arrays = self._states(pose, twist, internal)
        out = np.empty((len(arrays[0]), 3))
        self._run(energy_batch, self.constants[:2], (*arrays, out))
        return out.reshape((*shape, 3))


def as_platform(value: Any) -> Platform:
    """Return `value` if it is a Platform; raises InputError otherwise."""
    if not isinstance(value, Platform):
        raise InputError("platform", "must be a Platform; use twin.load(name or path)")
    return value
