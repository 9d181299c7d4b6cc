"""Simulation: any engine under given forces or a controller, to a trajectory.

One loop steps an engine under forces and a wrench, for simulations and live machines alike. The
trajectory has its origin with it; it is plotted, animated, saved, loaded and given to other
programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from twin.basics.arrays import (
    FloatArray,
    as_floats,
    as_instance,
    as_vector,
    check_arguments,
    positive,
)
from twin.basics.optional import library_versions, optional
from twin.basics.progress import Progress
from twin.engines import make_engine
from twin.errors import InputError, SimulationStoppedError, brief
from twin.model.engine import Engine, State
from twin.model.machine_model import MachineModel, as_model
from twin.simulation.recorded import files
from twin.simulation.recorded.figures import (
    animation,
    comparison_figure,
    notebook_html,
    trajectory_figure,
)
from twin.simulation.recorded.files import RecordedMotion, metadata_of, table_of

if TYPE_CHECKING:
    from twin.control.controller import ControlFunction, Controller
    from twin.control.loop import ClosedLoop
    from twin.plant.plant import Plant


class Trajectory(RecordedMotion):
    """Motion of one machine in one engine, one row per time. Arrays are read-only.

    A notebook shows it with its origin and two small charts.
    """

    def plot(self, reference: Trajectory | None = None) -> Any:
        """Return a plotly figure of position, orientation, lengths and forces over time.

        With a `reference` on the same times: position and orientation of both, and how far apart
        they are.

        Raises:
            InputError: the reference is no trajectory or has other times.
            MissingDependencyError: plotly is not installed.
        """
        return trajectory_figure(self) if reference is None else comparison_figure(self, reference)

    def animate(self, machine: Any = None) -> Any:
        """Return a plotly figure that plays the motion at its own speed; a notebook shows it.

        Base, legs and platform are lines; for films and pictures see `twin.viewer`.

        Args:
            machine: that it was made with, or its name or file; default: the shipped one of its
                name, with the configuration that it had.

        Raises:
            InputError: no rows, or not of this machine.
            MissingDependencyError: plotly is not installed.
        """
        return animation(self, machine)

    def to_dataframe(self) -> Any:
        """Return a pandas data frame, one row per time, units in the names of its columns.

        Signals of a closed loop are NaN between control instants. Where an instant has no row of
        its own, all signals follow below the motion. `attrs` says where the motion comes from.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        names, values = table_of(self)
        frame = optional("pandas").DataFrame(values, columns=names)
        frame.attrs |= metadata_of(self)
        return frame

    def save(self, path: str | Path) -> Path:
        """Write a file with all numbers and where they come from; returns its path.

        Args:
            path: ends in .npz (smallest), .csv or .parquet. The latter two hold the columns of
                `to_dataframe`, all digits. Of a .csv the first line, which begins with #, says
                where the motion comes from.

        Raises:
            InputError: another ending, or a place that cannot be written to.
            MissingDependencyError: a Parquet file, and pyarrow is not installed.
        """
        return files.write(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return a trajectory from a file that `save` wrote.

        Files that end in .csv or .parquet are read as such, every other file as .npz. The numbers
        are those that were written, to the last bit.

        Raises:
            InputError: no such file, not a trajectory, or written by a later format.
            MissingDependencyError: a Parquet file, and pyarrow is not installed.
        """
        return files.read(path, cls)

    def _repr_html_(self) -> str:
        return notebook_html(self)


class Scene(NamedTuple):
    """Poses of all moving parts, as `SceneModel.place` takes them."""

    pose: FloatArray
    """`(7,)` of the platform in the base frame"""
    deflection: FloatArray | None = None
    """`(2k,)` deflections of springs, then their rates"""
    ghost: FloatArray | None = None
    """`(7,)` pose of the setpoint"""
    ball: FloatArray | None = None
    """`(7,)` pose of the ball in the base frame; further entries, such as its twist, are ignored"""
    base_displacement: FloatArray | None = None
    """`(3,)` [m] of the base in the world"""


class RecordedScenes:
    """Scenes of a trajectory, interpolated linearly between its rows.

    Attributes:
        trajectory: that is shown.
        start: [s] of its first row.
        end: [s] of its last row.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        """Prepare a trajectory; where a closed loop made it, scenes have the setpoint pose.

        Raises:
            InputError: not a trajectory, or one without rows.
        """
        if not len(as_instance(trajectory, "trajectory", Trajectory)):
            raise InputError("trajectory", "has no rows")
        self.trajectory = trajectory
        self.start, self.end = (float(trajectory.time[k]) for k in (0, -1))

    def at(self, time: float) -> Scene:
        """Return the scene at a time [s]; times outside the run give its first or last scene."""
        run = self.trajectory
        deflection = row_at(run.time, run.deflection, time) if run.deflection.size else None
        reference, ghost = run.signals.get("reference_pose"), None
        if reference is not None:
            ghost = pose_at(run.signals["time"], reference, time)
        return Scene(pose_at(run.time, run.pose, time), deflection, ghost)

    def farthest_time(self) -> float:
        """Return the time [s] at which the platform's joints are farthest from the start.

        A radian counts as a metre, about the displacement that a rotation causes at the machine's
        edge.
        """
        pose = self.trajectory.pose
        rotation_angles = 2.0 * np.arccos(np.clip(np.abs(pose[:, 3:] @ pose[0, 3:]), 0.0, 1.0))
        distances = np.linalg.norm(pose[:, :3] - pose[0, :3], axis=1) + rotation_angles
        return float(self.trajectory.time[int(np.argmax(distances))])


def rows_around(times: FloatArray, time: float) -> tuple[int, int, float]:
    """Return the rows before and after a time, and the second one's fraction."""
    row_after = min(int(np.searchsorted(times, time, side="right")), len(times) - 1)
    row_before = max(row_after - 1, 0)
    interval = times[row_after] - times[row_before]
    fraction = (
        float(np.clip((time - times[row_before]) / interval, 0.0, 1.0)) if interval > 0.0 else 0.0
    )
    return row_before, row_after, fraction


def row_at(times: FloatArray, values: FloatArray, time: float) -> FloatArray:
    """Return the row `(m,)` of `values` `(k, m)` at a time."""
    row_before, row_after, fraction = rows_around(times, time)
    return np.asarray((1.0 - fraction) * values[row_before] + fraction * values[row_after])


def pose_at(times: FloatArray, poses: FloatArray, time: float) -> FloatArray:
    """Return the pose `(7,)` at a time; a quaternion and its opposite are the same rotation."""
    row_before, row_after, fraction = rows_around(times, time)
    pose_before, pose_after = poses[row_before], poses[row_after].copy()
    if pose_before[3:] @ pose_after[3:] < 0.0:
        pose_after[3:] *= -1.0
    pose = (1.0 - fraction) * pose_before + fraction * pose_after
    pose[3:] /= np.linalg.norm(pose[3:])
    return np.asarray(pose)


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
        SimulationStoppedError: the engine left the range in which its results are valid; with a
            controller the trajectory ends there instead.
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
    engine: Engine, states: list[State], applied_forces: list[FloatArray], loop: ClosedLoop | None
) -> Trajectory:
    """Return the trajectory; its last row repeats the last forces applied."""
    last_forces = applied_forces[-1:] or [np.zeros(engine.platform.n_actuators)]
    forces = [*applied_forces[: len(states)], *last_forces]
    columns: dict[str, Any] = {
        name: np.array([getattr(state, name) for state in states]) for name in State._fields
    }
    return Trajectory(
        **columns,
        forces=np.array(forces[: len(states)]),
        signals=loop.signals() if loop else {},
        stopped=loop.stopped if loop else "",
        limits=loop.plant.limits if loop else True,
        **origin_of(engine),
    )


def origin_of(engine: Engine) -> dict[str, Any]:
    """Return the fields of a `Trajectory` that say which engine made it, of which machine."""
    platform = engine.platform
    return {
        "machine": platform.name,
        "engine": engine.name,
        "fidelity": engine.fidelity,
        "timestep": engine.timestep,
        "parameters_hash": platform.hash,
        "versions": library_versions(),
        "coordinate_unit": platform.coordinate_unit,
    }


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
    given_engine: Engine = engine
    if engine_options or given_engine.platform.hash != platform.hash:
        raise InputError("engine", "must be of this machine, and takes no further options")
    return given_engine


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
