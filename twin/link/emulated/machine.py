"""The emulated machine: commands in, measurements out, once a period."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from twin.basics.arrays import HUGE, positive
from twin.errors import SimulationStoppedError
from twin.link.emulated.cascade import DriveCascade
from twin.link.emulated.fault import Fault
from twin.link.emulated.phase import phases
from twin.link.emulated.readings import Readings
from twin.link.protocol import Sample, State
from twin.model.machine_model import MachineModel
from twin.model.static_deflection import resting_deflection
from twin.plant.plant import Plant
from twin.simulation.batched.drive_arrays import loop_gains

PERIOD = 1e-3
"""[s] Adopted: 1,000 measurements a second, as machines of this kind send them."""

WATCHDOG = 0.1
"""[s] Adopted: without a command for so long, the machine holds its position."""


class EmulatedMachine:
    """A machine with its drives, sensors, cascade and faults, in any engine.

    What it does depends on commands and seed alone, not on the clock.

    Attributes:
        platform: the machine as it really is, without faults.
        period: [s] of commands and measurements.
        faults: what goes wrong.
        seed: of everything random.
        state: true state of the engine, with the machine's time.
        measurement: the last one, as it was sent.
        stopped: why the engine could not go on; empty while it can.
    """

    def __init__(
        self,
        platform: MachineModel,
        *,
        design: MachineModel | None = None,
        period: float = PERIOD,
        seed: int = 0,
        faults: Iterable[Fault] = (),
        noise: Mapping[str, float] | None = None,
        engine: str = "analytic",
        fidelity: str = "fast",
        watchdog: float = WATCHDOG,
    ) -> None:
        """Put the machine at home, held by its drives.

        Args:
            platform: the machine as it really is; `hardware` has drives and encoders.
            design: the machine as its control unit knows it, default the same.
            period: [s] of commands and measurements.
            seed: of everything random.
            faults: what goes wrong, and when.
            noise: field -> standard deviation of white noise on it, in SI. For `pose`, that of
                the position [m]; `attitude` is that of its rotation [rad]. The pose is measured
                where one of the two is given.
            engine: "analytic", "mujoco" or "bullet".
            fidelity: of the engine.
            watchdog: [s] without a command after which the machine holds its position.

        Raises:
            InputError: an argument that cannot be used, or a machine that does not take a fault.
            MissingDependencyError: the engine's library is not installed.
        """
        self.platform, self.period = platform, positive(period, "period")
        self.faults, self.seed = tuple(faults), seed
        known = platform if design is None else design
        self._plant = Plant(platform, seed=seed)
        self._phases = phases(platform, self.faults, engine, fidelity, self.period)
        timestep = self._phases[0].engine.timestep
        self._ratio = round(self.period / timestep)
        self._plant.prepare(timestep)
        for phase in self._phases:  # refused before it begins, and known when it does
            self._plant.exchange(phase.platform)
        self._gains = loop_gains(known, timestep)
        self._cascade = DriveCascade(
            known, self.period, positive(watchdog, "watchdog"), self._gains[:, 0]
        )
        self._readings = Readings(self._plant, self.period, seed, noise or {})
        self.reset()

    def reset(self) -> Sample:
        """Return to home and to time zero; returns the first measurement."""
        self._count, self._sequence, self._acknowledged = 0, 0, 0
        self.stopped = ""
        self._phase = self._phases[0]
        inside = resting_deflection(self.platform, None) if self.platform.n_deflections else None
        self.state = self._phase.engine.reset(deflection=inside)
        self._plant.exchange(self._phase.platform)
        self._plant.start(self.state, self._gains)
        self._readings.start()
        self._observe()
        self._cascade.start(self._measured.coordinates)
        self.measurement = self._sample()
        return self.measurement

    @property
    def time(self) -> float:
        """[s] since the reset."""
        return self._count * self.period

    def step(self, command: Sample | None = None) -> Sample:
        """Advance by one period and return the measurement at its end.

        Args:
            command: one that has just come; None where none has.
        """
        if command is not None:
            self._acknowledged = command.sequence
        if not self.stopped:
            self._change()
            self._plant.command(self._cascade.update(command, self._measured))
            try:
                self._advance()
            except SimulationStoppedError as error:
                self.stopped = str(error.data.get("reason", error))
        self._count += 1
        if not self.stopped:
            self._observe()
        self.measurement = self._sample()
        return self.measurement

    def warm(self) -> None:
        """Take every kind of command once, so that all code is loaded, and return to home."""
        coordinates, rest = self._measured.coordinates, np.zeros(self.platform.n_actuators)
        kinds = [{"setpoint": coordinates}, {"command_rates": rest}, {"command_forces": rest}, {}]
        for values in kinds:
            self.step(Sample("command", 0.0, values))
        self.reset()

    def close(self) -> None:
        """Free the engines; calling it twice is allowed."""
        for phase in self._phases:
            phase.engine.close()

    def _advance(self) -> None:
        engine, plant, wrench = self._phase.engine, self._plant, self._phase.wrench
        state = self.state
        for _ in range(self._ratio):
            forces = plant.forces(state)
            if not np.isfinite(forces).all():
                raise SimulationStoppedError("the drives' forces are not finite")
            state = engine.step(forces, wrench)
            plant.observe(state)
        self.state = state._replace(time=self.time + self.period)

    def _change(self) -> None:
        """Go on under the faults of the present time."""
        found = max(
            (each for each in self._phases if each.begin <= self.time + 0.5 * self.period),
            key=lambda each: each.begin,
        )
        if found is not self._phase:
            before, self._phase = self._phase, found
            if found.engine is not before.engine:
                motion = self.state
                state = found.engine.reset(motion.pose, motion.twist, motion.deflection)
                self.state = state._replace(time=motion.time)
            self._plant.exchange(found.platform)

    def _observe(self) -> None:
        """Measure; faults of sensors act on the cascade as well."""
        before = self._readings.values
        measured = self._readings.read(self.state, self._phase.sensors)
        # Written so that what is not a number is too large.
        if all(np.abs(each).max() <= HUGE for each in self._readings.values.values()):
            self._measured = measured
        else:
            self._readings.values = before
            self.stopped = "the machine's motion or its forces are beyond all bounds"

    def _sample(self) -> Sample:
        state: State = "holding" if self._cascade.holding else "running"
        self._sequence += 1
        return Sample(
            "measurement",
            self.time,
            {**self._readings.values, **self._cascade.given},
            self._sequence,
            self._acknowledged,
            "stopped" if self.stopped else state,
        )
