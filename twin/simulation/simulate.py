"""Simulation: any engine under given forces or a controller, to a trajectory.

One loop steps an engine under forces and a wrench, for simulations and live machines alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_vector, check_arguments, positive
from twin.basics.optional import library_versions
from twin.basics.progress import Progress
from twin.engines import make_engine
from twin.errors import InputError, SimulationStoppedError, brief
from twin.model.engine import Engine, State
from twin.model.machine_model import MachineModel, as_model
from twin.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from twin.control.controller import ControlFunction, Controller
    from twin.control.loop import ClosedLoop
    from twin.plant.plant import Plant

ForceFunction = Callable[[int, State], FloatArray]
"""Returns the actuator forces `(n,)` of a step, from its index and the state at its start."""

WrenchFunction = Callable[[State], FloatArray | None]
"""Returns the wrench `(6,)` on the platform, from the state at a step's start; None for none."""


def engine_steps(
    engine: Engine,
    state: State,
    steps: range,
    forces: ForceFunction,
    wrench: WrenchFunction,
) -> Iterator[tuple[int, State]]:
    """Yield the index of each step and the state at its end.

    Args:
        engine: in `state`.
        state: at the start.
        steps: indices of the steps.
        forces: of a step, such as `ClosedLoop.step`, which measures, controls and drives.
        wrench: disturbance of the platform.

    Raises:
        SimulationStoppedError: the engine or the drives cannot go on.
    """
    for index in steps:
        state = engine.step(forces(index, state), wrench(state))
        yield index, state


def force_function(forces: Any, n: int, steps: int) -> ForceFunction:
    """Return forces as a function of step and state, from a function, `(n,)` or `(steps, n)`.

    Raises:
        InputError: wrong shape, not finite, or a function of other arguments.
    """
    if callable(forces):
        check_arguments(forces, "forces", "time", "state")
        return lambda _, state: as_vector(forces(state.time, state), "forces(time, state)", n)
    forces = as_floats(np.zeros(n) if forces is None else forces, "forces", n)
    if forces.ndim == 1:
        return lambda _, __: forces
    if forces.shape != (steps, n):
        raise InputError("forces", f"must have shape ({n},) or ({steps}, {n}), got {forces.shape}")
    return lambda index, _: forces[index]


def wrench_function(wrench: Any) -> WrenchFunction:
    """Return the wrench as a function of the state, from a function, `(6,)` or None.

    Raises:
        InputError: wrong shape, not finite, or a function of other arguments.
    """
    if callable(wrench):
        check_arguments(wrench, "wrench", "time", "state")
        return lambda state: as_vector(wrench(state.time, state), "wrench(time, state)", 6)
    wrench = None if wrench is None else as_vector(wrench, "wrench", 6)
    return lambda _: wrench


MAX_STEPS = 100_000_000


def simulate(
    platform: MachineModel,
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
    """Return the motion of a machine under actuator forces, held constant over each step.

    The forces are given, or come from a controller through the machine's drives and sensors. A
    controlled machine that cannot go on is stopped safely: the trajectory ends there and its
    `stopped` says why.

    Args:
        platform: the machine.
        duration: [s], a multiple of the time step.
        pose: start `(7,)`, default home.
        twist: start `(6,)`, default rest.
        forces: `(n,)` [N] or [N m], constant; `(steps, n)` one row per step; a function
            `(time, state) -> (n,)` called at the start of each step; None for zero.
        engine: "analytic", "mujoco", "bullet", or an engine of this machine (it stays open and
            keeps its own time step and fidelity).
        timestep: [s].
        controller: one of `twin.control`, or a function `(time, measurement) -> command` of
            forces `(n,)` or a `Command`, see `FunctionController`; in place of forces. The time
            step must divide its period.
        period: of a controller that is a function [s], default 1 ms.
        plant: drives and sensors between controller and machine, default those of its parameters.
        wrench: `(6,)` on the platform in base axes, constant, or a function `(time, state) -> (6,)`
            called at the start of each step; default none.
        deflection: start `(2k,)` of deflections of springs, then their rates; default zero,
            with a controller the deflection at rest.
        fidelity: "accurate" or "fast".
        every: keep every so many steps.
        progress: show a progress bar; default: on a terminal when it takes longer than 2 s.
        engine_options: passed to the engine.

    Raises:
        InputError: wrong shapes, not finite, a duration that is no multiple of the step, or a
            force function that returns something else than finite forces `(n,)`.
        SimulationStoppedError: the engine left the range in which its results are valid.
        MissingDependencyError: the engine's library is not installed.
    """
    as_model(platform)
    opened_here = isinstance(engine, str)
    engine = _engine(platform, engine, timestep, fidelity, engine_options)
    with ExitStack() as stack:
        if opened_here:
            stack.callback(engine.close)
        steps = _steps(duration, engine.timestep)
        if type(every) is not int or every < 1 or steps % every:
            raise InputError("every", f"must be a whole number that divides the {steps} steps")
        wrench = wrench_function(wrench)
        loop = _closed_loop(platform, controller, period, plant, forces)
        forces = loop.step if loop else force_function(forces, platform.n_actuators, steps)
        if loop and deflection is None:
            deflection = loop.springs(pose)
        initial_state = engine.reset(pose, twist, deflection)
        if loop:
            loop.start(engine.timestep, initial_state)
        title = f"{platform.name} in {engine.name}"
        tick = stack.enter_context(Progress(title, steps, progress)).tick
        states, applied_forces = [initial_state], []

        def recorded_forces(index: int, state: State) -> FloatArray:
            values: FloatArray = forces(index, state)
            if index % every == 0:
                applied_forces.append(values.copy())  # a force function may reuse its array
            return values

        try:
            for index, state in engine_steps(
                engine, initial_state, range(steps), recorded_forces, wrench
            ):
                if (index + 1) % every == 0:
                    states.append(state)
                tick(index)
                if loop and loop.finished:
                    break
        except SimulationStoppedError as error:
            if not loop:
                raise
            loop.abandon(str(error))
    return _trajectory(engine, states, applied_forces, loop)


def _trajectory(
    engine: Engine, states: list[State], applied: list[FloatArray], loop: ClosedLoop | None
) -> Trajectory:
    """Return the trajectory; its last row repeats the last forces applied."""
    platform = engine.platform
    last_forces = applied[-1:] or [np.zeros(platform.n_actuators)]
    forces = [*applied[: len(states)], *last_forces]
    return Trajectory(
        time=np.array([state.time for state in states]),
        pose=np.array([state.pose for state in states]),
        twist=np.array([state.twist for state in states]),
        lengths=np.array([state.lengths for state in states]),
        rates=np.array([state.rates for state in states]),
        forces=np.array(forces[: len(states)]),
        deflection=np.array([state.deflection for state in states]),
        machine=platform.name,
        engine=engine.name,
        fidelity=engine.fidelity,
        timestep=engine.timestep,
        parameters_hash=platform.hash,
        versions=library_versions(),
        coordinate_unit=platform.coordinate_unit,
        signals=loop.signals() if loop else {},
        stopped=loop.stopped if loop else "",
        limits=loop.plant.limits if loop else True,
    )


def _closed_loop(
    platform: MachineModel, controller: Any, period: Any, plant: Any, forces: Any
) -> ClosedLoop | None:
    if controller is None:
        for field, value in (("plant", plant), ("period", period)):
            if value is not None:
                raise InputError(field, "is for a controller; give one, or forces without it")
        return None
    if forces is not None:
        raise InputError("forces", "come from the controller; give one of the two")
    from twin.control.controller import as_controller
    from twin.control.loop import ClosedLoop

    return ClosedLoop(platform, as_controller(platform, controller, period), plant)


def _engine(
    platform: MachineModel,
    engine: Any,
    timestep: float,
    fidelity: str,
    engine_options: dict[str, Any],
) -> Engine:
    """Return a new engine of that name, or the given one if it is of this machine."""
    if isinstance(engine, str):
        return make_engine(engine, platform, timestep, fidelity, **engine_options)
    if not (callable(getattr(engine, "step", None)) and hasattr(engine, "platform")):
        raise InputError("engine", f"must be a name or an engine, not {brief(engine)}")
    engine_object: Engine = engine
    if engine_options or engine_object.platform.hash != platform.hash:
        raise InputError("engine", "must be of this machine, and takes no further options")
    return engine_object


def _steps(duration: Any, timestep: float) -> int:
    duration_s = positive(duration, "duration")
    if duration_s / timestep > MAX_STEPS:
        raise InputError("duration", f"takes more than {MAX_STEPS} steps")
    steps = round(duration_s / timestep)
    if steps < 1 or abs(steps * timestep - duration_s) > 1e-9 * duration_s:
        raise InputError(
            "duration", f"{duration_s:.9g} s must be a multiple of the time step {timestep:.9g} s"
        )
    return steps
