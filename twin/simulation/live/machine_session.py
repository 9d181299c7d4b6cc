"""A machine that runs live: steered, pushed, reconfigured, compared, recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, one_of
from twin.control import controller_names
from twin.control.controller import DEFAULT_PERIOD
from twin.engines import engine_names
from twin.errors import StateError
from twin.machine.payload import Occupant
from twin.model.ball import Ball
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.drives import at_limits
from twin.simulation.live.live_machine import Disturbance, LiveMachine, as_disturbance
from twin.simulation.live.machine_charts import ActuatorLimits, History
from twin.simulation.live.settings import (
    Payload,
    Settings,
    as_settings,
    gains_of,
    known_machines,
    loaded_machine,
    occupant,
)
from twin.simulation.live.steering import Axis
from twin.simulation.scene import Scene
from twin.simulation.trajectory import Trajectory


class MachineSession:
    """A machine under control, whose reference, engine, controller and surroundings change live.

    Not for several threads at once: see `Runner`.

    Attributes:
        machine: name of the present machine among `machines`.
        period: control period [s].
    """

    period = DEFAULT_PERIOD

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
        platform = loaded_machine(machine, *_machine(chosen_settings))
        self._live = LiveMachine(platform, chosen_settings, self.period)
        self.machine = str(machine) if machine in known_machines() else platform.name
        self._own = (self.machine, machine)
        self._owed = 0.0

    # What it is.

    @property
    def platform(self) -> MachineModel:
        """The machine with its configuration."""
        return self._live.platform

    @property
    def ball(self) -> Ball | None:
        """None: there is no ball."""
        return None

    @property
    def payload(self) -> Occupant | None:
        """Occupant, whose mass is included in the platform's; None without one."""
        return occupant(self.settings.payload)

    @property
    def settings(self) -> Settings:
        """Present settings."""
        return self._live.settings

    @property
    def limits(self) -> ActuatorLimits:
        """Limits of the actuators."""
        return self._live.charts.limits

    @property
    def history(self) -> History:
        """The charts' values over the last 30 s; a new object after a reset."""
        return self._live.history

    @property
    def real_time_factor(self) -> float:
        """Seconds of the run per second of the clock, set by the runner for the chart."""
        return self._live.real_time_factor

    @real_time_factor.setter
    def real_time_factor(self, factor: float) -> None:
        self._live.real_time_factor = factor

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes that the platform can be moved along, with their ranges about home."""
        return self._live.steering.axes.ranges

    @property
    def engines(self) -> tuple[str, ...]:
        """Names of engines."""
        return engine_names()

    @property
    def controllers(self) -> tuple[str, ...]:
        """Names of controllers; `configure` refuses those that do not fit the machine."""
        return controller_names()

    @property
    def machines(self) -> dict[str, str | Path]:
        """Machines to choose from: name -> name or file; the file it was made with among them."""
        return known_machines(*self._own)

    @property
    def configurations(self) -> tuple[str, ...]:
        """Configurations of the machine's file."""
        configuration = self.platform.parameters.configuration
        return () if configuration is None else configuration.known

    @property
    def gains(self) -> dict[str, float]:
        """The controller's gains at present, by name."""
        return gains_of(self._live.run.loop.controller)

    # How it is.

    @property
    def time(self) -> float:
        """[s] since the last reset."""
        return self._live.time

    @property
    def stopped(self) -> str:
        """Reason for a stop until a reset; empty without one."""
        return self._live.run.stopped

    @property
    def message(self) -> str:
        """Reason for a stop of the machine or the comparison, or drives at limits; else empty."""
        if self._live.run.message:
            return self._live.run.message
        comparison = self._live.comparison
        if comparison and comparison.run.message:
            return f"second engine: {comparison.run.message}"
        return "; ".join(at_limits(self.saturated, self.platform.coordinate_unit == "rad"))

    @property
    def saturated(self) -> FloatArray:
        """`(n,)` limit that keeps a drive below its command: `AT_EFFORT`, `AT_SPEED` or 0."""
        return self._live.run.loop.plant.limited

    @property
    def comparison_stopped(self) -> str:
        """Reason for the stop of the second engine; empty without one."""
        return "" if self._live.comparison is None else self._live.comparison.run.stopped

    @property
    def scene(self) -> Scene:
        """Present scene; the ghost is the setpoint pose."""
        state = self._live.run.state
        return Scene(state.pose, state.deflection, ghost=self._live.run.reference_pose)

    @property
    def comparison_scene(self) -> Scene | None:
        """Present scene of the second engine; None without one."""
        if self._live.comparison is None:
            return None
        state = self._live.comparison.run.state
        return Scene(state.pose, state.deflection)

    @property
    def difference(self) -> FloatArray | None:
        """Distance [m] and angle [rad] to the second engine `(2,)`; None where there is none."""
        return self._live.difference

    @property
    def loads(self) -> FloatArray:
        """Forces on the legs `(n,)` [N, N m]."""
        return np.array(self._live.run.applied[-1])

    @property
    def utilisation(self) -> FloatArray:
        """Forces as fractions of their limits `(n,)`, NaN where no limit is known."""
        return self._live.charts.limits.utilisation(self.loads)

    @property
    def speed_share(self) -> FloatArray:
        """Rates as fractions of the speed limits `(n,)`, NaN where no limit is known."""
        speed_limit = self._live.charts.limits.speed
        known_limit = np.where(np.isfinite(speed_limit), speed_limit, np.nan)
        return np.asarray(np.abs(self._live.run.state.rates) / known_limit)

    @property
    def stroke(self) -> FloatArray:
        """Positions of the actuators within their strokes `(n,)`, from 0 to 1."""
        return self._live.charts.limits.stroke(self._live.run.state.lengths)

    @property
    def stroke_margin(self) -> FloatArray:
        """Distance to the nearer end of the stroke `(n,)`: 1 in the middle, 0 at an end."""
        return self._live.charts.limits.stroke_margin(self._live.run.state.lengths)

    @property
    def disturbance(self) -> Disturbance | None:
        """The disturbance that acts now, if any."""
        return self._live.disturbance

    # What one can do with it.

    @property
    def target(self) -> FloatArray:
        """Target at which the platform comes to rest `(k,)`, in the axes' units."""
        return self._live.steering.target

    @property
    def setpoint(self) -> FloatArray:
        """Setpoint `(k,)`, in the axes' units."""
        return self._live.steering.setpoint(self.time)

    @property
    def playing(self) -> bool:
        """Whether a motion is being played."""
        return self._live.steering.playing(self.time)

    def move_to(self, values: Any) -> None:
        """Go to `values` `(k,)` in the axes' units, or as far on the way as the legs reach.

        Raises:
            InputError: wrong shape or not finite.
        """
        self._live.steering.move_to(self.time, values)

    def home(self) -> None:
        """Go home."""
        self.move_to(np.zeros(len(self.axes)))

    def play(self, motion: Motion, loop: bool = False) -> None:
        """Play a motion about home, again and again with `loop`.

        Raises:
            InputError: no motion, one of another machine, or one that leaves the limits.
        """
        self._live.steering.play(self.time, motion, loop)

    def stop_motion(self) -> None:
        """Stop the motion that is being played and come to rest."""
        self._live.steering.stop(self.time)

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
        self._live.disturbance = as_disturbance(force, moment, point, duration)

    def configure(self, **changes: Any) -> None:
        """Change settings while it runs.

        Another configuration or payload restarts the run; so does a change after a stop.

        Raises:
            InputError: a setting that cannot be used; everything stays as it was.
            MissingDependencyError: a library is missing; likewise.
        """
        settings = self.settings.changed(**changes)
        if self._live.run.message or _machine(settings) != _machine(self.settings):
            self._begin(settings)
        elif settings != self.settings:
            self._live.change(settings)

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
        """Advance by `duration` [s] in whole control periods; the remainder is kept."""
        self._owed += duration / self.period
        periods = int(self._owed + 1e-9)
        self._owed -= periods
        for _ in range(periods):
            if self.stopped:
                self._owed = 0.0
                break
            self._live.advance()

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
        if not len(self._live.recorder):
            raise StateError("nothing was recorded yet: let the machine run")
        return self._live.recorder.trajectory(
            self.platform, self._live.run.engine, self._live.run.message
        )

    def close(self) -> None:
        """Free the engines; more calls do nothing."""
        self._live.close()

    def _begin(self, settings: Settings, machine: str | None = None) -> None:
        """Restart at home, perhaps with another machine; nothing changes where that fails."""
        platform, machine_name = self.platform, machine or self.machine
        if machine_name != self.machine or _machine(settings) != _machine(self.settings):
            platform = loaded_machine(self.machines[machine_name], *_machine(settings))
        old_machine, self._live = self._live, LiveMachine(platform, settings, self.period)
        self.machine = machine_name
        old_machine.close()
        self._live.real_time_factor = old_machine.real_time_factor
        self._owed = 0.0


def _machine(settings: Settings) -> tuple[str | None, Payload, bool]:
    """Return the settings whose change requires a new machine."""
    return settings.configuration, settings.payload, settings.limits
