"""A machine that runs live: steered, pushed, reconfigured, compared, recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, not_negative, one_of
from twin.control import controller_names
from twin.control.controller import DEFAULT_PERIOD, Reference
from twin.engines import engine_names
from twin.errors import StateError, TwinError
from twin.machine.payload import Occupant
from twin.model.engine import Engine
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.drives import at_limits
from twin.simulation.live.live_machine import (
    Comparison,
    Disturbance,
    MachineRun,
    as_disturbance,
    make_engine_for,
    new_run,
)
from twin.simulation.live.machine_charts import (
    ENGINE_DIFFERENCE,
    LOOP_GAP,
    REAL_TIME,
    ActuatorLimits,
    History,
    MachineCharts,
    difference,
)
from twin.simulation.live.runner import HISTORY_INTERVAL, HISTORY_LENGTH, Recorder
from twin.simulation.live.settings import (
    Payload,
    Settings,
    as_settings,
    gains_of,
    known_machines,
    loaded_machine,
    occupant,
)
from twin.simulation.live.steering import Axis, Steering
from twin.simulation.simulate import Scene, Trajectory


class MachineSession:
    """A machine under control, whose reference, engine, controller and surroundings change live.

    Not for several threads at once: see `Runner`.

    Attributes:
        machine: name of the present machine among `machines`.
        platform: the machine with its configuration.
        settings: present ones.
        period: control period [s].
        ball: None: there is no ball.
        engines: names of engines.
        controllers: names of controllers; `configure` refuses those that do not fit the machine.
        history: the charts' values over the last 30 s; a new object after a reset.
        real_time_factor: seconds of the run per second of the clock, set by the runner for the
            chart.
    """

    period = DEFAULT_PERIOD
    ball = None
    engines = engine_names()
    controllers = controller_names()

    platform: MachineModel
    settings: Settings
    history: History

    def __init__(self, machine: str | Path, **settings: Any) -> None:
        """Prepare the machine at home; `advance` lets it run.

        Args:
            machine: name or path of a platform.toml.
            settings: fields of `Settings` that differ from their defaults.

        Raises:
            InputError: a setting that cannot be used.
            MachineNotFoundError: not a known name and not a file.
            ParameterError: the file cannot be used.
            MissingDependencyError: a library of the engine or of the controller is missing.
        """
        chosen_settings = as_settings(settings)
        platform = loaded_machine(machine, *_machine_settings(chosen_settings))
        self.real_time_factor = float("nan")
        self._put_home(platform, chosen_settings)
        self.machine = str(machine) if machine in known_machines() else platform.name
        self._user_machine = (self.machine, machine)

    def _put_home(self, platform: MachineModel, settings: Settings) -> None:
        """Prepare a machine at home; nothing changes where that fails.

        Raises:
            InputError: the machine does not take the settings.
            MissingDependencyError: a library is missing.
        """
        steering = Steering(platform, self.period)
        reference = steering.reference(0)
        run = new_run(platform, settings, reference)
        self._comparison = _comparison(run, settings, reference, 0)
        self.platform, self.settings = platform, settings
        self.steering, self._run = steering, run
        self._charts = MachineCharts(steering.axes)
        charts = (ENGINE_DIFFERENCE, *self._charts.charts, LOOP_GAP, REAL_TIME)
        self.history = History(charts, round(HISTORY_LENGTH / HISTORY_INTERVAL))
        self._recorder = Recorder(platform.n_actuators, 2 * platform.n_deflections)
        self._disturbance: Disturbance | None = None
        self._disturbed_periods = self._step = 0
        self._last_noted_time = -HISTORY_INTERVAL
        self._remaining_periods = 0.0

    # What it is.

    @property
    def payload(self) -> Occupant | None:
        """Occupant, whose mass is included in the platform's; None without one."""
        return occupant(self.settings.payload)

    @property
    def limits(self) -> ActuatorLimits:
        """Limits of the actuators."""
        return self._charts.limits

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes that the platform can be moved along, with their ranges about home."""
        return self.steering.axes.ranges

    @property
    def machines(self) -> dict[str, str | Path]:
        """Machines to choose from: name -> name or file. The session's own file is among them."""
        return known_machines(*self._user_machine)

    @property
    def configurations(self) -> tuple[str, ...]:
        """Configurations of the machine's file."""
        configuration = self.platform.parameters.configuration
        return () if configuration is None else configuration.known

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
        """Reason for a stop until a reset; empty without one."""
        return self._run.stopped

    @property
    def message(self) -> str:
        """Reason for a stop of the machine or the comparison, or drives at limits; else empty."""
        if self._run.message:
            return self._run.message
        if self._second_run and self._second_run.message:
            return f"second engine: {self._second_run.message}"
        return "; ".join(at_limits(self.saturated, self.platform.coordinate_unit == "rad"))

    @property
    def saturated(self) -> FloatArray:
        """`(n,)` limit that keeps a drive below its command: `AT_EFFORT`, `AT_SPEED` or 0."""
        return self._run.loop.plant.limited

    @property
    def comparison_stopped(self) -> str:
        """Reason for the stop of the second engine; empty without one."""
        return self._second_run.stopped if self._second_run else ""

    @property
    def scene(self) -> Scene:
        """Present scene; the ghost is the setpoint pose."""
        state = self._run.state
        return Scene(state.pose, state.deflection, ghost=self._run.reference_pose)

    @property
    def comparison_scene(self) -> Scene | None:
        """Present scene of the second engine; None without one."""
        if self._second_run is None:
            return None
        return Scene(self._second_run.state.pose, self._second_run.state.deflection)

    @property
    def difference(self) -> FloatArray | None:
        """Distance [m] and angle [rad] to the second engine `(2,)`; None where there is none."""
        if self._second_run is None:
            return None
        return difference(self._run.state.pose, self._second_run.state.pose)

    @property
    def _second_run(self) -> MachineRun | None:
        """The machine in the second engine; None without one."""
        return None if self._comparison is None else self._comparison.run

    @property
    def loads(self) -> FloatArray:
        """Forces on the legs `(n,)` [N, N m]."""
        return np.array(self._run.applied_forces[-1])

    @property
    def utilisation(self) -> FloatArray:
        """Forces as fractions of their limits `(n,)`, NaN where no limit is known."""
        return self.limits.utilisation(self.loads)

    @property
    def speed_share(self) -> FloatArray:
        """Rates as fractions of the speed limits `(n,)`, NaN where no limit is known."""
        limit = self.limits.speed
        return np.abs(self._run.state.rates) / np.where(np.isfinite(limit), limit, np.nan)

    @property
    def stroke(self) -> FloatArray:
        """Positions of the actuators within their strokes `(n,)`, from 0 to 1."""
        return self.limits.stroke(self._run.state.lengths)

    @property
    def stroke_margin(self) -> FloatArray:
        """Distance to the nearer end of the stroke `(n,)`: 1 in the middle, 0 at an end."""
        return self.limits.stroke_margin(self._run.state.lengths)

    @property
    def disturbance(self) -> Disturbance | None:
        """The disturbance that acts now, if any."""
        return self._disturbance if self._disturbed_periods else None

    # What one can do with it.

    @property
    def target(self) -> FloatArray:
        """Target at which the platform comes to rest `(k,)`, in the axes' units."""
        return self.steering.target

    @property
    def setpoint(self) -> FloatArray:
        """Setpoint `(k,)`, in the axes' units."""
        return self.steering.setpoint(self.time)

    @property
    def playing(self) -> bool:
        """Whether a motion is being played."""
        return self.steering.playing(self.time)

    def move_to(self, values: Any) -> None:
        """Go to `values` `(k,)` in the axes' units, or as far on the way as the legs reach.

        Raises:
            InputError: wrong shape or not finite.
        """
        self.steering.move_to(self.time, values)

    def home(self) -> None:
        """Go home."""
        self.move_to(np.zeros(len(self.axes)))

    def play(self, motion: Motion, loop: bool = False) -> None:
        """Play a motion about home, again and again with `loop`.

        Raises:
            InputError: no motion, one of another machine, or one that leaves the limits.
        """
        self.steering.play(self.time, motion, loop)

    def stop_motion(self) -> None:
        """Stop the motion that is being played and come to rest."""
        self.steering.stop(self.time)

    def disturb(
        self,
        force: Any = (0.0, 0.0, 0.0),
        moment: Any = (0.0, 0.0, 0.0),
        point: Any = (0.0, 0.0, 0.0),
        duration: float = 0.1,
    ) -> None:
        """Apply a disturbance wrench from now on, in place of the one that acts; see `Disturbance`.

        Raises:
            InputError: wrong shapes, not finite, or a duration out of range.
        """
        self._disturbance = as_disturbance(force, moment, point, duration)
        self._disturbed_periods = max(1, round(self._disturbance.duration / self.period))

    def configure(self, **changes: Any) -> None:
        """Change settings while it runs.

        Another configuration or payload restarts the run; so does a change after a stop.

        Raises:
            InputError: a setting that cannot be used; everything stays as it was.
            MissingDependencyError: a library is missing; likewise.
        """
        settings = self.settings.with_changes(**changes)
        if self._run.message or _machine_settings(settings) != _machine_settings(self.settings):
            self._begin(settings)
        elif settings != self.settings:
            self._change(settings)

    def exchange(self, machine: str, **settings: Any) -> None:
        """Restart with another machine, in the present engine unless `settings` name another.

        Raises:
            InputError: none of `machines`, or settings that it cannot use; all stays as it was.
            TwinError: as the class; likewise.
        """
        one_of(machine, "machine", self.machines)
        current_options = self.settings.model_dump(include={"engine", "fidelity", "limits"})
        self._begin(as_settings(current_options | settings), machine)

    def advance(self, duration: float) -> None:
        """Advance by `duration` [s] in whole control periods; the remainder is kept.

        Raises:
            InputError: a duration that is not zero or more.
        """
        self._remaining_periods += not_negative(duration, "duration") / self.period
        periods = int(self._remaining_periods + 1e-9)
        self._remaining_periods -= periods
        for _ in range(periods):
            if self.stopped:
                self._remaining_periods = 0.0
                break
            self._advance()

    def reset(self) -> None:
        """Restart at home, with the same settings.

        Raises:
            InputError: the controller cannot begin with these gains.
        """
        self._begin(self.settings)

    def trajectory(self) -> Trajectory:
        """Return the last minutes of the record since the last reset or change of engine.

        Raises:
            StateError: nothing yet.
        """
        if not len(self._recorder):
            raise StateError("nothing was recorded yet: let the machine run")
        return self._recorder.trajectory(self._run.engine, self._run.message)

    def close(self) -> None:
        """Free the engines; more calls do nothing."""
        _close(self._run, self._second_run)

    def _begin(self, settings: Settings, machine: str | None = None) -> None:
        """Restart at home, perhaps with another machine; nothing changes where that fails."""
        platform, machine_name = self.platform, machine or self.machine
        if machine_name != self.machine or _machine_settings(settings) != _machine_settings(
            self.settings
        ):
            platform = loaded_machine(self.machines[machine_name], *_machine_settings(settings))
        old_runs = (self._run, self._second_run)
        self._put_home(platform, settings)
        self.machine = machine_name
        _close(*old_runs)

    def _advance(self) -> None:
        """Advance by one control period."""
        if self.steering.due(self.time):
            self._redirect()
        disturbance, previous_state = self.disturbance, self._run.state
        self._run.advance(disturbance)
        if self._run.stopped and self._run.state is previous_state:
            self._append_history()
            return
        if self._comparison is not None:
            self._comparison.advance(disturbance, self._run.applied_forces)
        self._recorder.append(previous_state, self._run.applied_forces[0], self._run.last_signals())
        self._disturbed_periods = max(0, self._disturbed_periods - 1)
        self._step += 1
        if self.time >= self._last_noted_time + HISTORY_INTERVAL - 0.5 * self.period:
            self._append_history()

    def _change(self, settings: Settings) -> None:
        """Apply changed settings of the same machine while it runs.

        Raises:
            InputError: the machine does not take them; nothing has changed.
            MissingDependencyError: a library is missing; likewise.
        """
        old_settings, step_index, run = self.settings, self._step, self._run
        reference = self._redirect()
        law, engine = None, None
        if (settings.controller, settings.gains) != (old_settings.controller, old_settings.gains):
            law = run.controller(settings.controller, settings.gains, reference)
        if (settings.engine, settings.fidelity) != (old_settings.engine, old_settings.fidelity):
            engine = make_engine_for(self.platform, settings.engine, settings.fidelity, self.period)
        try:
            if settings.comparison is not None:
                # Check that it takes the machine before anything is changed.
                Comparison(run, settings, reference, step_index).run.close()
            if law is not None:
                run.loop.replace(law)
            if engine is not None:
                self._exchange(engine, settings, reference)
        except TwinError:
            if engine is not None:
                engine.close()
            raise
        _close(self._second_run)
        self._comparison, self.settings = None, settings
        self._comparison = _comparison(self._run, settings, reference, step_index)

    def _exchange(self, engine: Engine, settings: Settings, reference: Reference) -> None:
        """Continue in another engine; where its step differs, the drives restart."""
        run = self._run
        if engine.timestep == run.engine.timestep:
            run.exchange(engine)
        else:
            self._run = new_run(
                self.platform, settings, reference, self._step, run.state, engine=engine
            )
            run.close()
        self._recorder.clear()

    def _redirect(self) -> Reference:
        """Give the controllers a new reference around the present time, and return it."""
        reference = self.steering.reference(self._step)
        self._run.redirect(reference)
        if self._second_run is not None:
            self._second_run.redirect(reference)
        return reference

    def _append_history(self) -> None:
        """Add a row to the history; the loop gap [m] is how far the mechanism's loops are open."""
        self._last_noted_time = self.time
        run, second = self._run, self._second_run
        values = self._charts.values(run.state, run.reference_pose, run.applied_forces[-1])
        values["loop_gap"] = np.array([run.loop_gap, second.loop_gap if second else np.nan])
        values["real_time"] = np.array([self.real_time_factor])
        if second and not second.stopped:
            values["difference"] = difference(run.state.pose, second.state.pose)
        self.history.append(self.time, values)


def _close(*runs: MachineRun | None) -> None:
    """Free the engines of runs."""
    for run in runs:
        if run is not None:
            run.close()


def _machine_settings(settings: Settings) -> tuple[str | None, Payload, bool]:
    """Return the settings whose change requires a new machine."""
    return settings.configuration, settings.payload, settings.limits


def _comparison(
    run: MachineRun, settings: Settings, reference: Reference, step: int
) -> Comparison | None:
    return None if settings.comparison is None else Comparison(run, settings, reference, step)
