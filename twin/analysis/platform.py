"""Platform: the object a user holds. It adds simulation and studies to the numeric model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twin.errors import InputError
from twin.machine.file.read import read_parameters
from twin.machine.machine import parameters_path
from twin.model.machine_model import MachineModel

if TYPE_CHECKING:
    from twin.analysis.feasibility.feasibility import Feasibility
    from twin.analysis.payload.body import Payload
    from twin.analysis.payload.static import StaticPayload
    from twin.analysis.workspace.analysis import Workspace
    from twin.control.controller import ControlFunction, Controller
    from twin.control.linear import LinearMachine
    from twin.machine.payload import Occupant
    from twin.model.derivatives import Derivatives, PoseDerivatives, StepDerivatives
    from twin.model.device import CardModel
    from twin.model.engine import Engine
    from twin.motion import Motion
    from twin.plant.plant import Plant
    from twin.simulation.simulate import Trajectory


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
        *,
        controller: Controller | ControlFunction | None = None,
        period: float | None = None,
        plant: Plant | None = None,
        wrench: Any = None,
        deflection: Any = None,
        fidelity: str = "accurate",
        every: int = 1,
        progress: bool | None = None,
        **engine_options: Any,
    ) -> Trajectory:
        """Return the motion over `duration` [s]; `twin.simulate` explains all arguments.

        Raises:
            InputError: wrong shapes, not finite, unknown options.
            SimulationStoppedError: the engine left the range in which its results are valid.
        """
        from twin.simulation.simulate import simulate

        return simulate(
            self,
            duration,
            pose,
            twist,
            forces,
            engine,
            timestep,
            controller=controller,
            period=period,
            plant=plant,
            wrench=wrench,
            deflection=deflection,
            fidelity=fidelity,
            every=every,
            progress=progress,
            **engine_options,
        )

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

    def with_(
        self,
        *,
        payload: Payload | Occupant | float | str | None = None,
        gravity: float | str | None = None,
        parameters: Mapping[str, float | str] | None = None,
    ) -> Platform:
        """Return the machine with changes; this one stays as it is.

        A configuration is a part of the file: `twin.load(name, configuration="hardware")`.

        Args:
            payload: fixed to the platform: a `Payload`, a seated `Occupant`, or a mass in kg or
                with its unit, as a point at the platform's reference point.
            gravity: [m/s2] along -z, or a text with a unit.
            parameters: dotted path in platform.toml -> number in SI or text with a unit, such as
                `{"leg.actuator.force": "2 kN"}`; see `twin.machine.randomisation.sampler`.

        Raises:
            InputError: a path the machine does not have (names the nearest), a wrong unit, or
                values that no machine can have.
        """
        from twin.machine.randomisation.sampler import with_values

        values = {} if parameters is None else parameters
        if gravity is not None and isinstance(values, Mapping):
            values = {**values, "gravity": gravity}
        return _loaded(Platform(with_values(self.parameters, values), limits=self.limits), payload)

    def workspace(self, center: Any = None, **options: Any) -> Workspace:
        """Return the workspace about a pose `(7,)`, default home: ranges, volumes, dexterity.

        Options and errors are those of `twin.analysis.workspace.analysis.workspace_analysis`.
        """
        from twin.analysis.workspace.analysis import workspace_analysis

        return workspace_analysis(self, center, **options)

    def payload(self, **options: Any) -> StaticPayload:
        """Return the largest mass that the machine holds at rest in all its positions.

        Options and errors are those of `twin.analysis.payload.static.static_payload`.
        """
        from twin.analysis.payload.static import static_payload

        return static_payload(self, **options)

    def forward_dynamics_derivatives(
        self, pose: Any, twist: Any, forces: Any, wrench: Any = None, **options: Any
    ) -> Derivatives:
        """Return the exact derivatives of `forward_dynamics` with respect to its arguments.

        See `twin.model.derivatives` for options, shapes, units and errors.
        """
        from twin.model.derivatives import forward_dynamics_derivatives

        return forward_dynamics_derivatives(self, pose, twist, forces, wrench, **options)

    def inverse_dynamics_derivatives(
        self, pose: Any, twist: Any, acceleration: Any, wrench: Any = None, **options: Any
    ) -> Derivatives:
        """Return the exact derivatives of `inverse_dynamics` with respect to its arguments.

        See `twin.model.derivatives` for options, shapes, units and errors.
        """
        from twin.model.derivatives import inverse_dynamics_derivatives

        return inverse_dynamics_derivatives(self, pose, twist, acceleration, wrench, **options)

    def forward_kinematics_derivatives(
        self, lengths: Any, guess: Any = None, *, parameters: Sequence[str] = ()
    ) -> PoseDerivatives:
        """Return poses with their exact derivatives by actuator coordinates and by parameters.

        See `twin.model.derivatives` for shapes, units and errors.
        """
        from twin.model.derivatives import forward_kinematics_derivatives

        return forward_kinematics_derivatives(self, lengths, guess, parameters=parameters)

    def step_derivatives(
        self, pose: Any, twist: Any, forces: Any, time_step: float, **options: Any
    ) -> StepDerivatives:
        """Return the states after a Runge-Kutta step of `time_step` [s], with exact derivatives.

        See `twin.model.derivatives` for shapes, units, options and errors.
        """
        from twin.model.derivatives import step_derivatives

        return step_derivatives(self, pose, twist, forces, time_step, **options)

    def on(self, device: str = "cuda", *, checked: bool = True) -> CardModel:
        """Return the batch calls of the machine on a graphics card, whose arrays stay there.

        With `checked=False` calls do not wait for the card; `CardModel.check` says what failed.

        Raises:
            InputError: another device than "cuda", or there is no card.
            MissingDependencyError: the extra `cuda` is not installed.
        """
        from twin.basics.arrays import one_of
        from twin.model.device import CardModel

        one_of(device, "device", ("cuda",))
        return CardModel(self, checked)

    def linearise(
        self, pose: Any = None, twist: Any = None, forces: Any = None, **options: Any
    ) -> LinearMachine:
        """Return the small motions of the machine about a state, by default at rest at home.

        `linearise().system("forces", "displacement")` has the matrices A, B, C and D; its
        `to_control()` is a state space of python-control. Options and errors are those of
        `twin.control.linear.lqr`.
        """
        from twin.control.linear import linearise

        return linearise(self, pose, twist, forces, **options)


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


def _loaded(platform: Platform, payload: Any) -> Platform:
    """Return a machine with a payload of any of the kinds that `Platform.with_` takes."""
    from twin.analysis.payload.body import Payload, with_payload
    from twin.machine.payload import Occupant, seated_on
    from twin.machine.quantity import to_si

    if isinstance(payload, Occupant):
        return Platform(seated_on(platform.parameters, payload), limits=platform.limits)
    if payload is not None and not isinstance(payload, Payload):
        try:
            payload = Payload(to_si(payload, "kg"))
        except InputError:
            raise
        except ValueError as error:
            raise InputError("payload", f"{error}; or a Payload or an Occupant") from None
    return with_payload(platform, payload)
