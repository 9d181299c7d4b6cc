"""Protocol of engines, and the state that they return."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.model.machine_model import MachineModel

Fidelity = Literal["accurate", "fast"]
FIDELITIES: tuple[Fidelity, ...] = ("accurate", "fast")

NO_DEFLECTION = read_only(np.empty(0))
"""Deflection of machines whose legs have no degrees of freedom of their own."""


class State(NamedTuple):
    """The state of a machine at one time. Arrays are copies that the caller may keep."""

    time: float
    """[s] since reset"""
    pose: FloatArray
    """`(7,)` platform in base: position [m], unit quaternion (scalar first)"""
    twist: FloatArray
    """`(6,)` velocity of the reference point [m/s], angular velocity [rad/s], base axes"""
    lengths: FloatArray
    """`(n,)` actuator coordinates, as the engine's own actuated joints measure them"""
    rates: FloatArray
    """`(n,)` their time derivatives, from the same joints"""
    deflection: FloatArray = NO_DEFLECTION
    """`(2k,)` coordinates of the legs' internal joints, then their rates; mostly empty"""


class Engine(Protocol):
    """A simulator of one machine, stepped with forces held constant over each step."""

    name: str
    platform: MachineModel
    timestep: float
    fidelity: Fidelity

    def reset(
        self, pose: Any = None, twist: Any = None, deflection: Any = None, *, ball: Any = None
    ) -> State:
        """Put the machine at `pose` (default home) with `twist` (default rest), loops closed.

        Time returns to zero. Leg states follow from the kinematics, so that positions and
        velocities satisfy the loop closure to rounding error. Same input, same state, bit for bit.
        The base does not accelerate until `shake` says so.
        `deflection` `(2k,)` is what does not follow: coordinates and rates of the legs' deflection
        joints (default zero). `ball` `(4,)` is the place [m] and velocity [m/s] on its plate, in
        plate axes, of the ball of an engine that has one (default at rest in the middle).

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, a ball off its plate.
            SingularPoseError: a leg has no joint coordinates in this pose.
            ClosedEngineError: the engine is closed.
        """
        ...

    def shake(self, acceleration: Any) -> None:
        """Let the base accelerate by `(3,)` [m/s2], base axes, until changed or reset.

        States stay relative to the base: every body feels gravity less this acceleration. The
        base does not turn.

        Raises:
            InputError: wrong shape or not finite.
            ClosedEngineError: the engine is closed or was never reset.
        """
        ...

    def step(self, forces: Any, wrench: Any = None) -> State:
        """Advance by one time step under constant actuator `forces` `(n,)` and `wrench` `(6,)`.

        `wrench` acts on the platform: force [N] and moment [N m] about the reference point, base
        axes, both constant in the base frame over the step.

        Raises:
            InputError: wrong shape or not finite.
            ClosedEngineError: the engine is closed or was never reset.
            SimulationStoppedError: the state is not finite or the loops have opened; a dump that
                replays the last steps is written and named. `reset` or `restore` go on from there.
        """
        ...

    @property
    def state(self) -> State:
        """The present state."""
        ...

    @property
    def ball(self) -> FloatArray:
        """Pose and twist `(13,)` of the ball's centre in the base frame, as those of the platform.

        Raises:
            InputError: the engine was made without one.
            ClosedEngineError: the engine is closed or was never reset.
        """
        ...

    @property
    def loop_gap(self) -> float:
        """Largest distance [m] between the two points of a loop."""
        ...

    def save(self) -> bytes:
        """Return everything that determines the future, for `restore`."""
        ...

    def restore(self, saved: bytes) -> State:
        """Return to a saved state; the continuation is bit-identical.

        Raises:
            InputError: damaged, or of another engine, machine, time step, fidelity, library or
                options.
            ClosedEngineError: the engine is closed.
        """
        ...

    def close(self) -> None:
        """Free the engine; calling it twice is allowed."""
        ...
