"""The emulated machine: commands in, measurements out, once a period."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from twin.analysis.payload.body import Payload, with_payload
from twin.basics.arrays import LARGEST_ENTRY, FloatArray, positive
from twin.control.controller import still_reference
from twin.control.gains import suitable_position_loop
from twin.control.position_loop import (
    LoadSharing,
    PositionLoop,
    needs_load_sharing,
    takes_positions,
)
from twin.engines import make_engine
from twin.errors import InputError, SimulationStoppedError
from twin.link.emulated.fault import (
    CountsFault,
    DriveFault,
    Fault,
    OverloadFault,
    PayloadFault,
    SensorFault,
)
from twin.link.emulated.readings import Readings
from twin.link.protocol import Sample, State
from twin.machine.quantity import MAX_MAGNITUDE
from twin.machine.randomisation.sampler import with_values
from twin.model.engine import Engine
from twin.model.machine_model import MachineModel
from twin.model.static_deflection import resting_deflection
from twin.plant.plant import Plant
from twin.plant.signals import Command, Measurement
from twin.simulation.batched.batched_plant import loop_gains
from twin.simulation.live.live_machine import make_engine_for

_NONE = np.zeros(6)

DEFAULT_PERIOD = 1e-3
"""[s] Engineering choice: 1,000 measurements a second, as machines of this kind send them."""

WATCHDOG_TIME = 0.1
"""[s] Engineering choice: time without a command after which the machine holds its position."""


class Phase(NamedTuple):
    """The machine during a time in which its faults do not change."""

    begin: float
    """[s] time at which the phase begins"""
    platform: MachineModel
    """machine with its payload and its drives"""
    engine: Engine
    """engine of the same mechanism; shared by phases with the same payload"""
    wrench: FloatArray | None
    """`(6,)` wrench on the platform from outside, base axes"""
    sensors: tuple[CountsFault | SensorFault, ...]
    """faults of sensors that act"""


def phases(
    platform: MachineModel, faults: Sequence[Fault], engine: str, fidelity: str, period: float
) -> tuple[Phase, ...]:
    """Return the phases of a machine in turn; the first one begins at zero.

    Args:
        platform: the machine without faults.
        faults: those of the link are left out.
        engine: name of the engine.
        fidelity: of the engine.
        period: [s] that the engine's step divides.

    Raises:
        InputError: a fault that this machine cannot have, or an engine that refuses it.
        MissingDependencyError: the engine's library is not installed.
    """
    first_engine = make_engine_for(platform, engine, fidelity, period)
    mechanisms: dict[float, tuple[MachineModel, Engine]] = {0.0: (platform, first_engine)}
    _check(platform, faults)
    times = {0.0, *(each.begin for each in faults), *(each.end for each in faults)}
    phase_list = []
    for time in sorted(filter(isfinite, times)):
        active = [fault for fault in faults if fault.active(time)]
        mass = sum(fault.mass for fault in active if isinstance(fault, PayloadFault))
        if mass not in mechanisms:
            loaded = with_payload(platform, Payload(mass))
            mechanisms[mass] = loaded, make_engine(engine, loaded, first_engine.timestep, fidelity)
        loaded, mechanism = mechanisms[mass]
        wrench = sum((_wrench(each) for each in active if isinstance(each, OverloadFault)), _NONE)
        sensors = tuple(each for each in active if isinstance(each, CountsFault | SensorFault))
        machine = _with_drives(loaded, active)
        phase_list.append(
            Phase(time, machine, mechanism, wrench if wrench.any() else None, sensors)
        )
    return tuple(phase_list)


def _wrench(fault: OverloadFault) -> FloatArray:
    wrench = np.zeros(6)
    axis = "xyz".index(fault.axis)
    wrench[axis], wrench[3 + axis] = fault.force, fault.moment
    return wrench


def _with_drives(platform: MachineModel, faults: Sequence[Fault]) -> MachineModel:
    """Return a machine with its drives changed by faults; factors of several faults multiply."""
    parameters = platform.parameters
    for fault in faults:
        if isinstance(fault, DriveFault):
            parameters = with_values(parameters, fault.values(parameters))
    if parameters is platform.parameters:
        return platform
    return type(platform)(parameters, limits=platform.limits)


def _check(platform: MachineModel, faults: Sequence[Fault]) -> None:
    """Check that a machine has the legs and sensors of its faults.

    Raises:
        InputError: names what it does not have.
    """
    legs = platform.parameters.legs
    for fault in faults:
        leg = getattr(fault, "leg", None)
        if leg is not None and leg > len(legs):
            raise InputError("fault.leg", f"must be from 1 to {len(legs)}, not {leg}")
        if isinstance(fault, CountsFault) and not all(each.encoder for each in legs):
            raise InputError(
                "fault.counts", f"{platform.name} has no encoders; choose another configuration"
            )


class DriveCascade:
    """Position loops around the drives, as the machine's own control unit closes them.

    A command is in force until the next one. Without one for longer than the watchdog's time the
    machine holds its last setpoint, or where it is. Servos and steppers take no forces.

    Attributes:
        given: command fields of a measurement: what the drives were last given.
    """

    def __init__(
        self, platform: MachineModel, period: float, watchdog: float, gain: FloatArray
    ) -> None:
        """Prepare the loops.

        Args:
            platform: the machine as its control unit knows it.
            period: [s] of the loops.
            watchdog: [s] after which a command is no longer in force.
            gain: `(n,)` of the velocity loops.
        """
        self._nothing = np.zeros(platform.n_actuators)
        self._loop = PositionLoop(platform, period, *suitable_position_loop(platform, period))
        self._positions = takes_positions(platform)
        self._sharing: LoadSharing | None = None
        if needs_load_sharing(platform) and not self._positions:
            home = still_reference(platform, platform.home, period)
            self._sharing = LoadSharing(platform, home, gain)
        self._patience = round(watchdog / period)
        self.start(platform.home_coordinates)

    def start(self, coordinates: FloatArray) -> None:
        """Reset the loops to hold coordinates `(n,)`."""
        self._command: Sample | None = None
        self._setpoint: FloatArray | None = coordinates.copy()
        self._age = 0
        self._looping = False
        self.given: dict[str, FloatArray] = {"setpoint": coordinates.copy()}
        if not self._positions:
            self.given["command_rates"] = self._nothing

    @property
    def holding(self) -> bool:
        """Whether no command is in force."""
        return self._command is None

    def update(self, command: Sample | None, measurement: Measurement) -> Command:
        """Return the drives' command of a period.

        Args:
            command: one that has just come; None for none.
            measurement: the last one.
        """
        self._age += 1
        if command is not None:
            self._command, self._age = command if command.values else None, 0
        elif self._age > self._patience:
            self._command = None
        rates, setpoint = self._field("command_rates"), self._field("setpoint")
        forces = None if self._positions else self._field("command_forces")
        if setpoint is None and rates is None and forces is None:
            setpoint, forces = self._held(measurement), None
        else:
            self._setpoint = setpoint
        if setpoint is not None and self._positions:
            return self._give(Command(setpoint, "position"), "setpoint")
        if setpoint is not None:
            rates = self._speeds(setpoint, self._nothing if rates is None else rates, measurement)
            self.given = {"setpoint": setpoint}
        else:
            self._looping, self.given = False, {}
        if rates is None:
            assert forces is not None
            return self._give(Command(forces, "force"), "command_forces")
        if forces is not None:
            self.given["command_forces"] = forces
        return self._give(Command(rates, "velocity", forces), "command_rates")

    def _field(self, name: str) -> FloatArray | None:
        """Return a field `(n,)` of the command in force, clipped to a plausible magnitude."""
        value = None if self._command is None else self._command.values.get(name)
        return None if value is None else np.clip(value, -MAX_MAGNITUDE, MAX_MAGNITUDE)

    def _give(self, command: Command, field: str) -> Command:
        self.given[field] = command.values
        return command

    def _held(self, measurement: Measurement) -> FloatArray:
        """Return the setpoint `(n,)` to hold: the last one, or where the machine is."""
        if self._setpoint is None:
            self._setpoint = measurement.coordinates.copy()
        return self._setpoint

    def _speeds(
        self, setpoint: FloatArray, rates: FloatArray, measurement: Measurement
    ) -> FloatArray:
        """Return the speeds `(n,)` of the position loops, whose integrals begin at zero."""
        if not self._looping:
            self._looping = True
            self._loop.start(self._nothing, measurement.rates, measurement.rates)
        if self._sharing is None:
            return self._loop.update(setpoint, measurement.coordinates, rates)
        return self._sharing.speeds(0, self._loop, setpoint, rates, measurement)


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
        period: float = DEFAULT_PERIOD,
        seed: int = 0,
        faults: Iterable[Fault] = (),
        noise: Mapping[str, float] | None = None,
        engine: str = "analytic",
        fidelity: str = "fast",
        watchdog: float = WATCHDOG_TIME,
    ) -> None:
        """Put the machine at home, with its drives holding it.

        Args:
            platform: the machine as it really is; `hardware` has drives and encoders.
            design: the machine as its control unit models it, default the same.
            period: [s] of commands and measurements.
            seed: of everything random.
            faults: what goes wrong, and when.
            noise: field -> standard deviation of white noise on it, in SI. For `pose`, that of the
                position [m]; `attitude` is that of its rotation [rad]. The pose is measured where
                one of the two is given.
            engine: "analytic", "mujoco" or "bullet".
            fidelity: of the engine.
            watchdog: [s] without a command after which the machine holds its position.

        Raises:
            InputError: an argument that cannot be used, or a machine that does not take a fault.
            MissingDependencyError: the engine's library is not installed.
        """
        self.platform, self.period = platform, positive(period, "period")
        self.faults, self.seed = tuple(faults), seed
        design_machine = platform if design is None else design
        self._plant = Plant(platform, seed=seed)
        self._phases = phases(platform, self.faults, engine, fidelity, self.period)
        timestep = self._phases[0].engine.timestep
        self._ratio = round(self.period / timestep)
        self._plant.prepare(timestep)
        for phase in self._phases:  # refused before it begins, and known when it does
            self._plant.exchange(phase.platform)
        self._gains = loop_gains(design_machine, timestep)
        self._cascade = DriveCascade(
            design_machine, self.period, positive(watchdog, "watchdog"), self._gains[:, 0]
        )
        self._readings = Readings(self._plant, self.period, seed, noise or {})
        self.reset()

    def reset(self) -> Sample:
        """Return to home and to time zero; returns the first measurement."""
        self._count, self._sequence, self._acknowledged = 0, 0, 0
        self.stopped = ""
        self._phase = self._phases[0]
        deflection = (
            resting_deflection(self.platform, None) if self.platform.n_deflections else None
        )
        self.state = self._phase.engine.reset(deflection=deflection)
        self._plant.exchange(self._phase.platform)
        self._plant.start(self.state, self._gains)
        self._readings.start()
        self._observe()
        self._cascade.start(self._measured.coordinates)
        self.measurement = self._sample()
        return self.measurement

    @property
    def time(self) -> float:
        """Time [s] since the reset."""
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
        """Process every kind of command once, so that all code is compiled, and return to home."""
        coordinates, zero_rates = self._measured.coordinates, np.zeros(self.platform.n_actuators)
        commands = [
            {"setpoint": coordinates},
            {"command_rates": zero_rates},
            {"command_forces": zero_rates},
            {},
        ]
        for values in commands:
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
        """Switch to the phase of the present time."""
        new_phase = max(
            (phase for phase in self._phases if phase.begin <= self.time + 0.5 * self.period),
            key=lambda each: each.begin,
        )
        if new_phase is not self._phase:
            previous, self._phase = self._phase, new_phase
            if new_phase.engine is not previous.engine:
                motion = self.state
                state = new_phase.engine.reset(motion.pose, motion.twist, motion.deflection)
                self.state = state._replace(time=motion.time)
            self._plant.exchange(new_phase.platform)

    def _observe(self) -> None:
        """Read the sensors; the cascade sees the faulty readings too. Stop where they overflow."""
        previous = self._readings.values
        measured = self._readings.read(self.state, self._phase.sensors)
        # `all(... <= limit)`, because a reading that is not a number fails the comparison.
        if all(np.abs(values).max() <= LARGEST_ENTRY for values in self._readings.values.values()):
            self._measured = measured
        else:
            self._readings.values = previous
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
