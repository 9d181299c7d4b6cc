"""A live run from one reset to the next: machine, reference, comparison, and what is kept of it.

The comparison is a second engine that runs with the same input.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.reference import Reference
from twin.errors import TwinError
from twin.model.engine import Engine
from twin.model.machine_model import MachineModel
from twin.rotations import displaced, displacement
from twin.simulation.live.machine_charts import (
    DIFFERENCE,
    LOOP_GAP,
    REAL_TIME,
    History,
    MachineCharts,
    difference,
)
from twin.simulation.live.machine_run import Disturbance, MachineRun, make_engine_for, new_run
from twin.simulation.live.recorder import Recorder
from twin.simulation.live.runner import KEPT, NOTE
from twin.simulation.live.settings import Settings
from twin.simulation.live.steering import Steering


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


LARGEST_GAP = 0.2
"""[m] Loop gap at which it is stopped: far beyond use, so that poor settings can be looked at."""


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
                self.run = first.beside(engine)
            else:
                own = settings.model_copy(update={"engine": settings.comparison})
                self.run = new_run(first.platform, own, reference, step, first.state, engine=engine)
        except TwinError:
            engine.close()
            raise

    def advance(self, disturbance: Disturbance | None, applied: FloatArray) -> None:
        """Advance by one control period, beside a machine on which `applied` `(m, n)` acted."""
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
        comparison: the same beside it, None for none.
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
        charts = (DIFFERENCE, *self.charts.charts, LOOP_GAP, REAL_TIME)
        self.history = History(charts, round(KEPT / NOTE))
        self.recorder = Recorder(platform.n_actuators, 2 * platform.n_deflections)
        self.real_time_factor = float("nan")
        self._disturbance: Disturbance | None = None
        self._disturbed_periods = self._step = 0
        self._noted = -NOTE

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
        if self.time >= self._noted + NOTE - 0.5 * self.period:
            self._note()

    def change(self, settings: Settings) -> None:
        """Exchange what differs from other settings of the same machine, while it goes on.

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
        """Go on in another engine; where its step differs, with drives that begin anew."""
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
