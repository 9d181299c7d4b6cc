"""A live run from one reset to the next: machine, reference, comparison and history.

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
from twin.engines.stability import suitable_timestep
from twin.errors import InputError, SimulationStoppedError, TwinError
from twin.model.engine import Engine, State
from twin.model.machine_model import MachineModel
from twin.plant.plant import Plant
from twin.rotations import displaced, displacement
from twin.simulation.live.machine_charts import (
    ENGINE_DIFFERENCE,
    LOOP_GAP,
    REAL_TIME,
    History,
    MachineCharts,
    difference,
)
from twin.simulation.live.replay import Recorder
from twin.simulation.live.runner import HISTORY_INTERVAL, HISTORY_LENGTH
from twin.simulation.live.settings import Settings, controller_with
from twin.simulation.live.steering import Steering
from twin.simulation.simulate import engine_steps

MAX_DISTURBANCE_TIME = 60.0
"""[s] Longest time for which a disturbance wrench acts."""

CANDIDATE_STEP_RATIOS = (1, 2, 4, 5, 8, 10, 20, 40, 50, 100, 200, 500)
"""Engine steps in a control period, tried from the fewest on."""

LARGEST_GAP = 0.2
"""[m] Loop gap at which it is stopped: far beyond use, so that poor settings can be looked at."""


class Disturbance(NamedTuple):
    """A force at a point of the platform and a moment, held in base axes."""

    force: FloatArray
    """`(3,)` [N], base axes"""
    moment: FloatArray
    """`(3,)` [N m], base axes"""
    point: FloatArray
    """`(3,)` [m] in the platform frame, where the force acts"""
    duration: float
    """[s]"""

    def wrench(self, pose: FloatArray) -> FloatArray:
        """Return force and moment about the reference point `(6,)` at a pose `(7,)`, base axes."""
        arm = rotated(pose[None, 3:], self.point[None])[0]
        return np.concatenate([self.force, self.moment + np.cross(arm, self.force)])


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
    """A machine in one engine, in closed loop or under given forces.

    Attributes:
        platform: the machine.
        engine: that computes it.
        loop: drives, sensors and controller around it.
        ratio: engine steps in a control period.
        state: present state; its time goes on when the engine is exchanged.
        applied: `(ratio, n)` forces of the last control period.
        stopped: reason for a stop until a reset; empty without one.
    """

    def __init__(self, platform: MachineModel, engine: Engine, controller: Controller) -> None:
        """Put the parts together; `start` begins."""
        self.platform, self.engine = platform, engine
        self.loop = ClosedLoop(platform, controller, Plant(platform), keep=1)
        self.ratio = round(controller.period / engine.timestep)
        self.applied = np.zeros((self.ratio, platform.n_actuators))
        self.stopped = ""
        self.state: State
        self._state: State
        """state of the engine, with the engine's own time"""
        self._first = self._step = 0
        self._offset = 0.0

    def start(self, first: int, pose: Any = None, twist: Any = None) -> None:
        """Begin at a pose (default home) with a twist (default rest).

        Args:
            first: control period of the session with which it begins.
            pose: `(7,)`.
            twist: `(6,)`.

        Raises:
            InputError: the engine's step does not fit the controller or the drives.
            SingularPoseError: a leg has no joint coordinates in this pose.
        """
        time = first * self.loop.controller.period
        self._place(time, pose, twist, self.loop.springs(pose))
        self.loop.start(self.engine.timestep, self.state)
        self._first, self._step, self.stopped = first, 0, ""

    def exchange(self, engine: Engine) -> None:
        """Go on in another engine with the same step; drives and controller do not notice.

        Raises:
            InputError: another step.
            SingularPoseError: a leg has no joint coordinates in this pose.
        """
        if abs(engine.timestep - self.engine.timestep) > 1e-12:
            raise InputError("engine", "must have the step of the one before")
        former, before = self.engine, self.state
        self.engine = engine
        try:
            self._place(before.time, before.pose, before.twist, before.deflection)
        except BaseException:
            self.engine = former
            raise
        former.close()

    def copy_with_engine(self, engine: Engine) -> MachineRun:
        """Return a copy of this machine in another engine with the same step.

        Drives, sensors and controller are copied as they are: what differs later is the engine's.
        An engine made alike takes over the whole state, and nothing differs.

        Raises:
            InputError: another step.
            SingularPoseError: a leg has no joint coordinates in this pose.
        """
        if abs(engine.timestep - self.engine.timestep) > 1e-12:
            raise InputError("engine", "must have the step of the engine that it is compared with")
        known = {id(self.platform): self.platform, id(self.engine): engine}
        other = deepcopy(self, known)
        try:
            engine.restore(self.engine.save())
        except InputError:  # another engine, or other options
            other._place(self.state.time, self.state.pose, self.state.twist, self.state.deflection)
        return other

    @property
    def message(self) -> str:
        """Why the machine is being stopped, or was; empty where it is not."""
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
        gap = np.nan if self.stopped else self.engine.loop_gap
        return float(gap) if gap > 0.0 else np.nan

    def redirect(self, reference: Reference) -> None:
        """Follow another reference, whose rows are counted in the session's control periods.

        Raises:
            InputError: of another machine or period.
        """
        self.loop.redirect(counted_from(reference, self._first))

    def controller(self, name: str, gains: Mapping[str, float], reference: Reference) -> Controller:
        """Return a controller that can take over; its reference is one of the session.

        Raises:
            InputError: the machine does not take the controller or its gains.
            MissingDependencyError: a library of the design is not installed.
        """
        return controller_with(name, self.platform, counted_from(reference, self._first), gains)

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
        first = self._step * self.ratio

        def force_at(index: int, state: State) -> FloatArray:
            if forces is None:
                applied = self.loop.step(index, self._timed(state))
            else:
                applied = forces[index - first]
            self.applied[index - first] = applied
            return applied

        def wrench_at(state: State) -> FloatArray | None:
            return None if disturbance is None else disturbance.wrench(state.pose)

        steps = range(first, first + self.ratio)
        try:
            *_, (_, state) = engine_steps(self.engine, self._state, steps, force_at, wrench_at)
        except SimulationStoppedError as error:
            self.stopped = self.loop.stopped or str(error.data.get("reason", error))
            return
        self._state, self.state = state, self._timed(state)
        self._step += 1
        if self.loop.finished:
            self.stopped = self.loop.stopped

    def last_signals(self) -> dict[str, FloatArray]:
        """Return setpoint, measured and commanded values of the last control period."""
        signals = self.loop.signals()
        names = ("setpoint", "measured", "command", "limited", "reference_pose")
        return {name: signals[name][-1] for name in names}

    def close(self) -> None:
        """Free the engine."""
        self.engine.close()

    def _place(self, time: float, pose: Any, twist: Any, deflection: Any) -> None:
        if pose is not None:
            # Engines with soft loops leave a machine where it cannot be; begin next to it.
            pose, twist, _ = self.platform.constrain(pose, twist)
        self._state = self.engine.reset(pose, twist, deflection)
        self.state, self._offset = self._state._replace(time=time), time

    def _timed(self, state: State) -> State:
        """Return a state of the engine with the session's time."""
        return state._replace(time=self._offset + state.time)


def counted_from(reference: Reference, first: int) -> Reference:
    """Return a reference of the session for a loop that began in control period `first`."""
    return reference._replace(begin=reference.begin - first)


def make_engine_for(
    platform: MachineModel, name: str, fidelity: str, period: float, **options: Any
) -> Engine:
    """Return an engine with the longest step that suits machine, drives and engine.

    Fidelity "fast" takes the longest one that is stable, "accurate" one that resolves all modes.

    Args:
        platform: the machine.
        name: of the engine.
        fidelity: of the engine.
        period: of the controller [s], which the step divides.
        options: of the engine.

    Raises:
        InputError: no step of at least a 500th of the period will do, or another argument is wrong.
        MissingDependencyError: the engine's library is not installed.
    """
    resolved = suitable_timestep(platform) if fidelity == "accurate" else period
    longest = resolved * (1.0 + 1e-9)
    refused: InputError | None = None
    for ratio in CANDIDATE_STEP_RATIOS:
        step = period / ratio
        if step > longest:
            continue
        try:
            Plant(platform).prepare(step)
            return make_engine(name, platform, step, fidelity, **options)
        except InputError as error:
            if error.field != "timestep":
                raise
            refused = error
    raise refused or InputError("timestep", "no step suits this machine")


def new_run(
    platform: MachineModel,
    settings: Settings,
    reference: Reference,
    first: int = 0,
    state: State | None = None,
    *,
    engine: Engine | None = None,
) -> MachineRun:
    """Return a machine that runs as the settings say.

    Args:
        platform: the machine.
        settings: engine, controller, gains.
        reference: of the session.
        first: control period of the session with which it begins.
        state: where; default at rest at home.
        engine: in place of that of the settings.

    Raises:
        InputError: the machine does not take the engine, the controller or its gains.
        MissingDependencyError: a library is not installed.
    """
    own = counted_from(reference, first)
    controller = controller_with(settings.controller, platform, own, settings.gains)
    if engine is None:
        engine = make_engine_for(platform, settings.engine, settings.fidelity, controller.period)
    run = MachineRun(platform, engine, controller)
    run.start(first, *(() if state is None else (state.pose, state.twist)))
    return run


def exaggerated(
    platform: MachineModel, first: FloatArray, second: FloatArray, factor: float
) -> FloatArray:
    """Return a pose `(7,)` that differs from the `first` by `factor` times what the `second` does.

    Where that is outside the actuators' limits, the `second` itself.

    Args:
        platform: the machine.
        first: `(7,)` pose.
        second: `(7,)` pose near it.
        factor: 1 gives the `second`.
    """
    if factor == 1.0:
        return second
    moved = displaced(first, factor * displacement(second, first))
    pose: FloatArray = platform.constrain(moved).pose
    return pose if platform.within_limits(pose) else second


class Comparison:
    """The machine once more, in another engine or with other constraint settings.

    Attributes:
        run: the second machine.
    """

    def __init__(
        self, first: MachineRun, settings: Settings, reference: Reference, step: int
    ) -> None:
        """Begin where the first machine is.

        Args:
            first: the first machine.
            settings: with a comparison.
            reference: around control period `step`.
            step: control period of the session.

        Raises:
            InputError: the engine does not take the machine.
            MissingDependencyError: its library is not installed.
        """
        assert settings.comparison is not None
        plain = settings.comparison == "mujoco" and settings.comparison_defaults
        self._follows = settings.comparison_input == "forces"
        options: dict[str, Any] = {"engine_defaults": True} if plain else {}
        if settings.comparison != "analytic":
            options["largest_gap"] = LARGEST_GAP
        engine = make_engine_for(
            first.platform,
            settings.comparison,
            settings.fidelity,
            first.loop.controller.period,
            **options,
        )
        try:
            if engine.timestep == first.engine.timestep:
                self.run = first.copy_with_engine(engine)
            else:
                own = settings.model_copy(update={"engine": settings.comparison})
                self.run = new_run(first.platform, own, reference, step, first.state, engine=engine)
        except TwinError:
            engine.close()
            raise

    def advance(self, disturbance: Disturbance | None, applied: FloatArray) -> None:
        """Advance by one control period, as a machine did on which `applied` `(m, n)` acted."""
        forces = None
        if self._follows:
            rows = np.arange(self.run.ratio) * len(applied) // self.run.ratio
            forces = applied[rows]
        self.run.advance(disturbance, forces)

    def close(self) -> None:
        """Free the engine."""
        self.run.close()


class LiveMachine:
    """A machine from home on, advanced by control periods.

    Attributes:
        platform: the machine.
        settings: present ones.
        period: of the controller [s].
        steering: where it shall go.
        run: the machine in its engine.
        comparison: engine that runs for comparison, None for none.
        charts: of the history.
        history: the last 30 s.
        recorder: the last minutes at every control period.
        real_time_factor: for the history.
    """

    def __init__(self, platform: MachineModel, settings: Settings, period: float) -> None:
        """Prepare the machine at home.

        Raises:
            InputError: the machine does not take the settings.
            MissingDependencyError: a library is missing.
        """
        self.platform, self.settings, self.period = platform, settings, period
        self.steering = Steering(platform, period)
        reference = self.steering.reference(0)
        self.run = new_run(platform, settings, reference)
        self.comparison = _comparison(self.run, settings, reference, 0)
        self.charts = MachineCharts(self.steering.axes)
        charts = (ENGINE_DIFFERENCE, *self.charts.charts, LOOP_GAP, REAL_TIME)
        self.history = History(charts, round(HISTORY_LENGTH / HISTORY_INTERVAL))
        self.recorder = Recorder(platform.n_actuators, 2 * platform.n_deflections)
        self.real_time_factor = float("nan")
        self._disturbance: Disturbance | None = None
        self._disturbed_periods = self._step = 0
        self._noted = -HISTORY_INTERVAL

    @property
    def time(self) -> float:
        """[s] since the beginning."""
        return self._step * self.period

    @property
    def disturbance(self) -> Disturbance | None:
        """The disturbance that acts now, if any."""
        return self._disturbance if self._disturbed_periods else None

    @disturbance.setter
    def disturbance(self, disturbance: Disturbance) -> None:
        """Begin another disturbance in place of the one that acts."""
        self._disturbance = disturbance
        self._disturbed_periods = max(1, round(disturbance.duration / self.period))

    @property
    def difference(self) -> FloatArray | None:
        """Distance [m] and angle [rad] to the second engine `(2,)`; None where there is none."""
        if self.comparison is None:
            return None
        return difference(self.run.state.pose, self.comparison.run.state.pose)

    def advance(self) -> None:
        """Advance by one control period."""
        if self.steering.due(self.time):
            self._redirect()
        disturbance, before = self.disturbance, self.run.state
        self.run.advance(disturbance)
        if self.run.stopped and self.run.state is before:
            self._note()
            return
        if self.comparison is not None:
            self.comparison.advance(disturbance, self.run.applied)
        self.recorder.append(before, self.run.applied[0], self.run.last_signals())
        self._disturbed_periods = max(0, self._disturbed_periods - 1)
        self._step += 1
        if self.time >= self._noted + HISTORY_INTERVAL - 0.5 * self.period:
            self._note()

    def change(self, settings: Settings) -> None:
        """Apply changed settings of the same machine while it runs.

        Raises:
            InputError: the machine does not take them; nothing has changed.
            MissingDependencyError: a library is missing; likewise.
        """
        now, step, run = self.settings, self._step, self.run
        reference = self._redirect()
        law, engine = None, None
        if (settings.controller, settings.gains) != (now.controller, now.gains):
            law = run.controller(settings.controller, settings.gains, reference)
        if (settings.engine, settings.fidelity) != (now.engine, now.fidelity):
            engine = make_engine_for(self.platform, settings.engine, settings.fidelity, self.period)
        try:
            if settings.comparison is not None:
                # Check that it takes the machine before anything is changed.
                Comparison(run, settings, reference, step).close()
            if law is not None:
                run.loop.replace(law)
            if engine is not None:
                self._exchange(engine, settings, reference)
        except TwinError:
            if engine is not None:
                engine.close()
            raise
        former, self.comparison = self.comparison, None
        if former is not None:
            former.close()
        self.settings = settings
        self.comparison = _comparison(self.run, settings, reference, step)

    def close(self) -> None:
        """Free the engines; more calls do nothing."""
        self.run.close()
        if self.comparison is not None:
            self.comparison.close()

    def _exchange(self, engine: Engine, settings: Settings, reference: Reference) -> None:
        """Continue in another engine; where its step differs, the drives restart."""
        run = self.run
        if engine.timestep == run.engine.timestep:
            run.exchange(engine)
        else:
            self.run = new_run(
                self.platform, settings, reference, self._step, run.state, engine=engine
            )
            run.close()
        self.recorder.clear()

    def _redirect(self) -> Reference:
        """Return a reference around the present, which the controllers follow from now on."""
        reference = self.steering.reference(self._step)
        self.run.redirect(reference)
        if self.comparison is not None:
            self.comparison.run.redirect(reference)
        return reference

    def _note(self) -> None:
        """Add a row to the history."""
        self._noted = self.time
        run, other = self.run, None if self.comparison is None else self.comparison.run
        values = self.charts.values(run.state, run.reference_pose, run.applied[-1])
        values["loop_gap"] = np.array([run.loop_gap, np.nan if other is None else other.loop_gap])
        values["real_time"] = np.array([self.real_time_factor])
        if other is not None and not other.stopped:
            values["difference"] = difference(run.state.pose, other.state.pose)
        self.history.append(self.time, values)


def _comparison(
    run: MachineRun, settings: Settings, reference: Reference, step: int
) -> Comparison | None:
    return None if settings.comparison is None else Comparison(run, settings, reference, step)
