"""A machine in its engine as it runs live, and a second one next to it.

A machine is one engine with its drives, sensors and controller, advanced by control periods. The
comparison is a second engine that runs with the same input. A disturbance is a wrench that acts on
the platform for some time.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, positive, rotated
from twin.control.controller import Controller, Reference
from twin.control.loop import ClosedLoop
from twin.engines import make_engine
from twin.engines.base import suitable_timestep
from twin.errors import InputError, SimulationStoppedError, TwinError
from twin.model.engine import Engine, State
from twin.model.machine_model import MachineModel
from twin.plant.plant import Plant
from twin.simulation.live.settings import Settings, make_controller_with_gains
from twin.simulation.simulate import engine_steps

MAX_DISTURBANCE_TIME = 60.0
"""[s] Longest time for which a disturbance wrench acts."""

CANDIDATE_STEP_RATIOS = (1, 2, 4, 5, 8, 10, 20, 40, 50, 100, 200, 500)
"""Numbers of engine steps per control period that are tried, the smallest first."""

LARGEST_GAP = 0.2
"""[m] Loop gap that stops a live run: far beyond valid results, so that poor solver settings can be
watched."""


RECORDED_SIGNALS = ("setpoint", "measured", "command", "limited", "reference_pose")
"""Signals of the loop that a live run records."""


class Disturbance(NamedTuple):
    """A force at a point of the platform and a moment, held in base axes."""

    force: FloatArray
    """`(3,)` [N], base axes"""
    moment: FloatArray
    """`(3,)` [N m], base axes"""
    point: FloatArray
    """`(3,)` [m] in the platform frame, where the force acts"""
    duration: float
    """[s] time for which the disturbance acts"""

    def wrench(self, pose: FloatArray) -> FloatArray:
        """Return force and moment about the reference point `(6,)` at a pose `(7,)`, base axes."""
        lever_arm = rotated(pose[None, 3:], self.point[None])[0]
        return np.concatenate([self.force, self.moment + np.cross(lever_arm, self.force)])


def as_disturbance(force: object, moment: object, point: object, duration: object) -> Disturbance:
    """Return a checked disturbance; see `Disturbance`.

    Raises:
        InputError: wrong shapes, not finite, or a duration that is not above zero or beyond 60 s.
    """
    seconds = positive(duration, "duration")
    if seconds > MAX_DISTURBANCE_TIME:
        raise InputError("duration", f"of a disturbance is at most {MAX_DISTURBANCE_TIME:g} s")
    return Disturbance(
        as_vector(force, "force", 3).copy(),
        as_vector(moment, "moment", 3).copy(),
        as_vector(point, "point", 3).copy(),
        seconds,
    )


class MachineRun:
    """One machine in one engine, in closed loop or under the user's forces.

    Attributes:
        platform: the machine.
        engine: engine that simulates it.
        loop: drives, sensors and controller around it.
        ratio: number of engine steps in a control period.
        state: present state; its time continues when the engine is exchanged.
        applied_forces: `(ratio, n)` forces of the last control period.
        stopped: reason for a stop until a reset; empty without one.
    """

    def __init__(self, platform: MachineModel, engine: Engine, controller: Controller) -> None:
        """Connect engine and controller; `start` begins the run."""
        self.platform, self.engine = platform, engine
        self.loop = ClosedLoop(platform, controller, Plant(platform), keep=1)
        self.ratio = round(controller.period / engine.timestep)
        self.applied_forces = np.zeros((self.ratio, platform.n_actuators))
        self.stopped = ""
        self.state: State
        self._state: State
        """state of the engine, with the engine's own time"""
        self._first_period = self._step = 0
        self._offset = 0.0

    def start(self, first_period: int, pose: Any = None, twist: Any = None) -> None:
        """Start the run at a pose (default home) with a twist (default rest).

        Args:
            first_period: control period of the session with which it begins.
            pose: `(7,)`.
            twist: `(6,)`.

        Raises:
            InputError: the engine's step does not fit the controller or the drives.
            SingularPoseError: a leg has no joint coordinates in this pose.
        """
        time = first_period * self.loop.controller.period
        self._place(time, pose, twist, self.loop.springs(pose))
        self.loop.start(self.engine.timestep, self.state)
        self._first_period, self._step, self.stopped = first_period, 0, ""

    def exchange(self, engine: Engine) -> None:
        """Exchange the engine for one with the same step; drives and controller run on.

        Raises:
            SingularPoseError: a leg has no joint coordinates in this pose.
        """
        old_engine, old_state = self.engine, self.state
        self.engine = engine
        try:
            self._place(old_state.time, old_state.pose, old_state.twist, old_state.deflection)
        except BaseException:
            self.engine = old_engine
            raise
        old_engine.close()

    def copy_with_engine(self, engine: Engine) -> MachineRun:
        """Return a copy of this machine in another engine with the same step.

        Drives, sensors and controller are copied as they are: what differs later is the engine's.
        An engine made alike takes over the whole state, and nothing differs.

        Raises:
            SingularPoseError: a leg has no joint coordinates in this pose.
        """
        duplicate = deepcopy(self, {id(self.platform): self.platform, id(self.engine): engine})
        try:
            engine.restore(self.engine.save())
        except InputError:  # another engine, or other options
            duplicate._place(
                self.state.time, self.state.pose, self.state.twist, self.state.deflection
            )
        return duplicate

    @property
    def message(self) -> str:
        """Reason why the machine is being stopped, or was; empty where it is not."""
        return self.stopped or self.loop.stopped

    @property
    def reference_pose(self) -> FloatArray:
        """Pose `(7,)` of the setpoint."""
        reference = self.loop.controller.reference
        pose: FloatArray = reference.pose[reference.row(self._step)]
        return pose

    @property
    def loop_gap(self) -> float:
        """Largest loop gap [m]; NaN where there is none, or no state any more."""
        largest_gap = np.nan if self.stopped else self.engine.loop_gap
        return float(largest_gap) if largest_gap > 0.0 else np.nan

    def redirect(self, reference: Reference) -> None:
        """Follow another reference, whose rows are counted in the session's control periods.

        Raises:
            InputError: of another machine or period.
        """
        self.loop.redirect(counted_from(reference, self._first_period))

    def controller(self, name: str, gains: Mapping[str, float], reference: Reference) -> Controller:
        """Return a controller that can take over; its reference is one of the session.

        Raises:
            InputError: the machine does not take the controller or its gains.
            MissingDependencyError: a library of the design is not installed.
        """
        return make_controller_with_gains(
            name, self.platform, counted_from(reference, self._first_period), gains
        )

    def advance(
        self, disturbance: Disturbance | None = None, forces: FloatArray | None = None
    ) -> None:
        """Advance by one control period; where that fails, `stopped` says why.

        Args:
            disturbance: acts on the platform.
            forces: `(ratio, n)` in place of those of the closed loop.
        """
        if self.stopped:
            return
        first_step = self._step * self.ratio

        def force_at(index: int, state: State) -> FloatArray:
            if forces is None:
                loop_forces = self.loop.step(index, self._with_session_time(state))
            else:
                loop_forces = forces[index - first_step]
            self.applied_forces[index - first_step] = loop_forces
            return loop_forces

        def wrench_at(state: State) -> FloatArray | None:
            return None if disturbance is None else disturbance.wrench(state.pose)

        steps = range(first_step, first_step + self.ratio)
        try:
            *_, (_, state) = engine_steps(self.engine, self._state, steps, force_at, wrench_at)
        except SimulationStoppedError as error:
            self.stopped = self.loop.stopped or str(error.data.get("reason", error))
            return
        self._state, self.state = state, self._with_session_time(state)
        self._step += 1
        if self.loop.finished:
            self.stopped = self.loop.stopped

    def last_signals(self) -> dict[str, FloatArray]:
        """Return setpoint, measured and commanded values of the last control period."""
        signals = self.loop.signals()
        return {name: signals[name][-1] for name in RECORDED_SIGNALS}

    def close(self) -> None:
        """Free the engine."""
        self.engine.close()

    def _place(self, time: float, pose: Any, twist: Any, deflection: Any) -> None:
        if pose is not None:
            # Engines with soft loops leave a machine where it cannot be; begin next to it.
            pose, twist, _ = self.platform.constrain(pose, twist)
        self._state = self.engine.reset(pose, twist, deflection)
        self.state, self._offset = self._state._replace(time=time), time

    def _with_session_time(self, state: State) -> State:
        """Return a state of the engine with the session's time."""
        return state._replace(time=self._offset + state.time)


def counted_from(reference: Reference, first_period: int) -> Reference:
    """Return a reference of the session for a loop that began in control period `first_period`."""
    return reference._replace(begin=reference.begin - first_period)


def make_engine_for(
    platform: MachineModel, name: str, fidelity: str, period: float, **options: Any
) -> Engine:
    """Return an engine with the longest step that suits machine, drives and engine.

    Fidelity "fast" takes the longest one that is stable, "accurate" one that resolves all modes.

    Args:
        platform: the machine.
        name: of the engine.
        fidelity: of the engine.
        period: control period [s], which the step divides.
        options: of the engine.

    Raises:
        InputError: no step of at least a 500th of the period will do, or another argument is wrong.
        MissingDependencyError: the engine's library is not installed.
    """
    longest_step = suitable_timestep(platform) if fidelity == "accurate" else period
    refusal = None
    for ratio in CANDIDATE_STEP_RATIOS:
        timestep = period / ratio
        if timestep > longest_step * (1.0 + 1e-9):
            continue
        try:
            Plant(platform).prepare(timestep)
            return make_engine(name, platform, timestep, fidelity, **options)
        except InputError as error:
            if error.field != "timestep":
                raise
            refusal = error
    raise refusal or InputError("timestep", "no step suits this machine")


def new_run(
    platform: MachineModel,
    settings: Settings,
    reference: Reference,
    first_period: int = 0,
    state: State | None = None,
    *,
    engine: Engine | None = None,
) -> MachineRun:
    """Return a running machine with engine and controller of the settings.

    Args:
        platform: the machine.
        settings: engine, controller, gains.
        reference: of the session.
        first_period: control period of the session with which it begins.
        state: its pose and twist are the initial ones, with springs at their static deflection;
            None: at rest at home.
        engine: engine to use; None: a new one as the settings name it.

    Raises:
        InputError: the machine does not take the engine, the controller or its gains.
        MissingDependencyError: a library is not installed.
    """
    own_reference = counted_from(reference, first_period)
    controller = make_controller_with_gains(
        settings.controller, platform, own_reference, settings.gains
    )
    if engine is None:
        engine = make_engine_for(platform, settings.engine, settings.fidelity, controller.period)
    run = MachineRun(platform, engine, controller)
    run.start(first_period, *(() if state is None else (state.pose, state.twist)))
    return run


class Comparison:
    """A second copy of the machine, in another engine or with other constraint settings.

    Attributes:
        run: the second machine.
    """

    def __init__(
        self, main_run: MachineRun, settings: Settings, reference: Reference, step: int
    ) -> None:
        """Start the second engine in the state of the first machine.

        Args:
            main_run: the first machine.
            settings: with a comparison.
            reference: around control period `step`.
            step: control period of the session.

        Raises:
            InputError: the engine does not take the machine.
            MissingDependencyError: its library is not installed.
        """
        assert settings.comparison is not None
        uses_defaults = settings.comparison == "mujoco" and settings.comparison_defaults
        self._takes_forces = settings.comparison_input == "forces"
        options: dict[str, Any] = {"engine_defaults": True} if uses_defaults else {}
        if settings.comparison != "analytic":
            options["largest_gap"] = LARGEST_GAP
        engine = make_engine_for(
            main_run.platform,
            settings.comparison,
            settings.fidelity,
            main_run.loop.controller.period,
            **options,
        )
        try:
            if engine.timestep == main_run.engine.timestep:
                self.run = main_run.copy_with_engine(engine)
            else:
                own_settings = settings.model_copy(update={"engine": settings.comparison})
                self.run = new_run(
                    main_run.platform, own_settings, reference, step, main_run.state, engine=engine
                )
        except TwinError:
            engine.close()
            raise

    def advance(self, disturbance: Disturbance | None, applied_forces: FloatArray) -> None:
        """Advance by one control period under the forces `(m, n)` of the first machine."""
        forces = None
        if self._takes_forces:
            ratio = self.run.ratio
            forces = applied_forces[np.arange(ratio) * len(applied_forces) // ratio]
        self.run.advance(disturbance, forces)
