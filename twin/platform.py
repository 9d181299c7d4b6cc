"""Platform: the object a user holds. It adds simulation to the numeric model of a machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from twin.machine.catalogue import parameters_path
from twin.machine.file.read import read_parameters
from twin.model.machine_model import MachineModel

if TYPE_CHECKING:
    from twin.analysis.feasibility.verdict import Feasibility
    from twin.analysis.payload.body import Payload
    from twin.model.engine import Engine
    from twin.motion import Motion
    from twin.simulation.trajectory import Trajectory


class Platform(MachineModel):
    """A parallel platform with its kinematics and dynamics.

    All numeric methods take leading batch axes. Poses are `(..., 7)`: position [m] and unit
    quaternion (scalar first) of the platform in the base. Twists `(..., 6)`: velocity of the
    reference point [m/s] and angular velocity [rad/s]; accelerations are their time derivatives;
    wrenches `(..., 6)`: force [N] and moment about the reference point [N m]. All in base axes.

    Actuator coordinates `(..., n)` are leg lengths [m] or crank angles [rad], their forces [N] or
    [N m]. Legs with coordinates of their own (springs) take `deflection` `(..., 2k)`: the
    coordinates, then their rates; default at rest with springs at rest length.
    """

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
            SimulationStoppedError: the engine left the range in which its results are valid.
        """
        from twin.simulation.simulate import simulate

        return simulate(self, duration, pose, twist, forces, engine, timestep, **options)

    def feasibility(
        self,
        motion: Motion | None = None,
        *,
        payload: Payload | float | None = None,
        wrench: Any = None,
        samples: int = 1001,
    ) -> Feasibility:
        """Return whether the machine does a motion, or rests at home, with a load.

        See `twin.analysis.feasibility.feasibility.feasibility` for the margins and arguments.

        Raises:
            InputError: not a motion or payload, wrong shapes, or a convention whose angles the
                machine cannot have.
        """
        from twin.analysis.feasibility.feasibility import feasibility

        return feasibility(self, motion, payload=payload, wrench=wrench, samples=samples)


def load(machine: str | Path, configuration: str | None = None, *, limits: bool = True) -> Platform:
    """Return the machine of that name, or the one a platform.toml describes.

    Args:
        machine: name of a shipped machine, or path of a platform.toml.
        configuration: name of one of the file's configurations to apply; "ideal" or None for the
            file without configuration.
        limits: False for actuators that give any force at any speed in simulations.

    Raises:
        InputError: not a name or path, or the file has no such configuration.
        MachineNotFoundError: not a known name and not a file.
        ParameterError: the file cannot be used; names file and field.
    """
    return Platform(read_parameters(parameters_path(machine), configuration), limits=limits)
