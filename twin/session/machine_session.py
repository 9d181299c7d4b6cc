"""A machine that runs live: steered, pushed, reconfigured, compared, recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from twin.arrays import FloatArray
from twin.catalogue import load
from twin.control import controller_names
from twin.control.controller import PERIOD
from twin.control.reference import Reference
from twin.engines import engine_names
from twin.engines.engine import Engine
from twin.errors import StateError, TwinError
from twin.motion import Motion
from twin.session.axes import Axis
from twin.session.comparison import Comparison
from twin.session.gains import gains_of
from twin.session.history import History
from twin.session.machine_charts import DIFFERENCE, LOOP_GAP, REAL_TIME, MachineCharts, difference
from twin.session.machine_run import MachineRun, make_engine_for, new_run
from twin.session.push import Push, as_push
from twin.session.recorder import Recorder
from twin.session.settings import Settings, as_settings
from twin.session.source import KEPT, NOTE
from twin.session.steering import Steering
from twin.trajectory import Trajectory
from twin.viewer.scene import Scene


class MachineSession:
    """A machine under control, whose demand, engine, controller and surroundings change live.

    Not for several threads at once: see `Runner`.

    Attributes:
        machine: name or path that it was made with.
        platform: the machine with its preset.
        ball: None: there is no ball.
        history: of the charts, the last 30 s.
        period: of the controller [s].
        settings: what it is made of now.
        real_time_factor: told by who runs it, for the chart.
    """

    ball = None
    period = PERIOD

    def __init__(self, machine: str | Path, **settings: Any) -> None:
        """Prepare the machine at home; `advance` lets it run.

        Args:
            machine: name or path of a platform.toml.
            settings: fields of `Settings` that differ from their defaults.

        Raises:
            InputError: a setting that cannot be used.
            MachineNotFoundError: neither a known name nor a file.
            ParameterError: the file cannot be used.
            MissingDependencyError: a library of the engine or of the controller is missing.
        """
        self.machine = machine
        self.real_time_factor = float("nan")
        self._begin(as_settings(settings))

    # What it is.

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes that the platform can be moved along, with their ranges about home."""
        return self._steering.axes.ranges

    @property
    def engines(self) -> tuple[str, ...]:
        """Names of engines."""
        return engine_names()

    @property
    def controllers(self) -> tuple[str, ...]:
        """Names of controllers; `configure` refuses those that do not fit the machine."""
        return controller_names()

    @property
    def presets(self) -> tuple[str, ...]:
        """Presets of the machine's file."""
        known = self.platform.parameters.preset
        return () if known is None else known.known

    @property
    def gains(self) -> dict[str, float]:
        """The controller's gains at present, by name."""
        return gains_of(self._run.loop.controller)

    # How it is.

    @property
    def time(self) -> float:
        """[s] since the last reset."""
        return self._step * self.period

    @property
    def stopped(self) -> str:
        """Why it stands still until a reset; empty where it goes on."""
        return self._run.stopped

    @property
    def message(self) -> str:
        """What the machine has to say: why it is being stopped, or why the comparison was."""
        if self._run.message:
            return self._run.message
        if self._comparison is not None and self._comparison.run.message:
            return f"second engine: {self._comparison.run.message}"
        return ""

    @property
    def scene(self) -> Scene:
        """What is to be seen now; the ghost is the demanded pose."""
        state = self._run.state
        return Scene(state.pose, state.internal, ghost=self._run.demanded_pose)

    @property
    def comparison_scene(self) -> Scene | None:
        """What is to be seen of the second engine; None where there is none."""
        if self._comparison is None:
            return None
        state = self._comparison.run.state
        return Scene(state.pose, state.internal)

    @property
    def difference(self) -> FloatArray | None:
        """Distance [m] and angle [rad] to the second engine `(2,)`; None where there is none."""
        if self._comparison is None:
            return None
        return difference(self._run.state.pose, self._comparison.run.state.pose)

    @property
    def loads(self) -> FloatArray:
        """Forces on the legs `(n,)` [N, N m]."""
        return self._run.applied[-1].copy()

    @property
    def utilisation(self) -> FloatArray:
        """Forces in parts of the largest ones `(n,)`, NaN where none is known."""
        return self._charts.limits.utilisation(self.loads)

    @property
    def stroke_margin(self) -> FloatArray:
        """Share of the stroke left to the nearer end `(n,)`."""
        return self._charts.limits.stroke_margin(self._run.state.lengths)

    @property
    def push_acting(self) -> Push | None:
        """The push that acts now; None for none."""
        return self._push if self._push_left else None

    # What one can do with it.

    @property
    def target(self) -> FloatArray:
        """Where the platform comes to rest `(k,)`, in the axes' units."""
        return self._steering.target

    @property
    def demanded(self) -> FloatArray:
        """Where the platform is demanded now `(k,)`, in the axes' units."""
        return self._steering.demanded(self.time)

    @property
    def playing(self) -> bool:
        """Whether a motion is being played."""
        return self._steering.playing(self.time)

    def move_to(self, values: Any) -> None:
        """Go to `values` `(k,)` in the axes' units, or as far on the way as the legs reach.

        Raises:
            InputError: wrong shape or not finite.
        """
        self._steering.move_to(self.time, values)

    def home(self) -> None:
        """Go home."""
        self.move_to(np.zeros(len(self.axes)))

    def play(self, motion: Motion, loop: bool = False) -> None:
        """Play a motion about home, again and again with `loop`.

        Raises:
            InputError: no motion, one of another machine, or one that leaves the limits.
        """
        self._steering.play(self.time, motion, loop)

    def stop_motion(self) -> None:
        """End the motion that is played and come to rest."""
        self._steering.stop(self.time)

    def push(
        self,
        force: Any = (0.0, 0.0, 0.0),
        moment: Any = (0.0, 0.0, 0.0),
        point: Any = (0.0, 0.0, 0.0),
        duration: float = 0.1,
    ) -> None:
        """Push the platform from now on, in place of the push that acts; see `Push`.

        Raises:
            InputError: wrong shapes, not finite, or a duration out of range.
        """
        self._push = as_push(force, moment, point, duration)
        self._push_left = max(1, round(self._push.duration / self.period))

    def configure(self, **changes: Any) -> None:
        """Change settings while it runs; another machine preset, or a stopped run, begins anew.

        Raises:
            InputError: a setting that cannot be used; everything stays as it was.
            MissingDependencyError: a library is missing; likewise.
        """
        wanted = self.settings.changed(**changes)
        if self._run.message or wanted.machine_preset != self.settings.machine_preset:
            self._begin(wanted)
        elif wanted != self.settings:
            self._change(wanted)

    def advance(self, duration: float) -> None:
        """Go on by `duration` [s], rounded down to control periods; the rest is kept."""
        self._owed += duration / self.period
        periods = int(self._owed + 1e-9)
        self._owed -= periods
        for _ in range(periods):
            if self.stopped:
                self._owed = 0.0
                break
            self._advance()

    def reset(self) -> None:
        """Begin anew at home, with the same settings.

        Raises:
            InputError: the controller cannot begin with these gains.
        """
        self._begin(self.settings)

    def trajectory(self) -> Trajectory:
        """Return what was recorded since the last reset or change of engine: the last minutes.

        Raises:
            StateError: nothing yet.
        """
        if not len(self._recorder):
            raise StateError("nothing was recorded yet: let the machine run")
        return self._recorder.trajectory(self.platform, self._run.engine, self._run.message)

    def close(self) -> None:
        """Free the engines; more calls do nothing."""
        for run in (self._run, self._comparison):
            if run is not None:
                run.close()

    def _begin(self, settings: Settings) -> None:
        """Build everything for a machine at home; nothing changes where that fails."""
        former = getattr(self, "settings", None)
        if former is not None and former.machine_preset == settings.machine_preset:
            platform = self.platform
        else:
            platform = load(self.machine, settings.machine_preset)
        steering = Steering(platform, self.period)
        reference = steering.reference(0)
        run = new_run(platform, settings, reference)
        comparison = _comparison(run, settings, reference, 0)
        if former is not None:
            self.close()
        self.platform, self.settings = platform, settings
        self._steering, self._run, self._comparison = steering, run, comparison
        self._charts = MachineCharts(steering.axes)
        charts = (*self._charts.charts, LOOP_GAP, REAL_TIME, DIFFERENCE)
        self.history = History(charts, round(KEPT / NOTE))
        self._recorder = Recorder(platform.n_actuators, 2 * platform.n_internal)
        self._step, self._owed, self._noted = 0, 0.0, -NOTE
        self._push, self._push_left = as_push(*3 * [np.zeros(3)], self.period), 0

    def _change(self, wanted: Settings) -> None:
        """Exchange what differs in a run that goes on; nothing changes where that fails."""
        now, step, run = self.settings, self._step, self._run
        reference = self._renewed_reference()
        other_engine = (wanted.engine, wanted.engine_preset) != (now.engine, now.engine_preset)
        law, engine = None, None
        if (wanted.controller, wanted.gains) != (now.controller, now.gains):
            law = run.controller(wanted.controller, wanted.gains, reference)
        if other_engine:
            engine = make_engine_for(
                self.platform, wanted.engine, wanted.engine_preset, self.period
            )
        try:
            if wanted.comparison is not None:
                # Whether it takes the machine is known before anything is changed.
                Comparison(run, wanted, reference, step).close()
            if law is not None:
                run.loop.replace(law)
            if engine is not None:
                self._exchange(engine, wanted, reference)
        except TwinError:
            if engine is not None:
                engine.close()
            raise
        if self._comparison is not None:
            self._comparison.close()
        self.settings = wanted
        self._comparison = _comparison(self._run, wanted, reference, step)

    def _exchange(self, engine: Engine, wanted: Settings, reference: Reference) -> None:
        """Go on in another engine; where its step differs, with drives that begin anew."""
        run = self._run
        if engine.timestep == run.engine.timestep:
            run.exchange(engine)
        else:
            self._run = new_run(self.platform, wanted, reference, self._step, run.state)
            engine.close()
            run.close()
        self._recorder.clear()

    def _advance(self) -> None:
        """Advance by one control period."""
        if self._steering.due(self.time):
            self._renewed_reference()
        push, before = self.push_acting, self._run.state
        self._run.advance(push)
        if self._run.stopped and self._run.state is before:
            self._note()
            return
        if self._comparison is not None:
            self._comparison.advance(push, self._run.applied)
        self._recorder.append(before, self._run.applied[0], self._run.told())
        self._push_left = max(0, self._push_left - 1)
        self._step += 1
        if self.time >= self._noted + NOTE - 0.5 * self.period:
            self._note()

    def _renewed_reference(self) -> Reference:
        """Return a reference around the present, which the controllers follow from now on."""
        reference = self._steering.reference(self._step)
        self._run.redirect(reference)
        if self._comparison is not None:
            self._comparison.redirect(reference)
        return reference

    def _note(self) -> None:
        """Add a row to the history."""
        self._noted = self.time
        values = self._charts.values(self._run.state, self._run.demanded_pose, self.loads)
        other = None if self._comparison is None else self._comparison.run
        gaps = [self._run.loop_gap, np.nan if other is None else other.loop_gap]
        values["loop_gap"] = np.array(gaps)
        values["real_time"] = np.array([self.real_time_factor])
        if other is not None and not other.stopped:
            values["difference"] = difference(self._run.state.pose, other.state.pose)
        self.history.append(self.time, values)


def _comparison(
    run: MachineRun, settings: Settings, reference: Reference, step: int
) -> Comparison | None:
    return None if settings.comparison is None else Comparison(run, settings, reference, step)
