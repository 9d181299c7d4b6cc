"""The emulated machine: drives, sensors and faults of a machine behind the interface of a link."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from twin.analysis.payload.body import Payload, with_payload
from twin.basics.arrays import LARGEST_ENTRY, FloatArray, not_negative, positive
from twin.control.cascade import (
    LoadSharing,
    PositionLoop,
    needs_load_sharing,
    takes_positions,
)
from twin.control.controller import still_reference
from twin.control.gains import encoder_noise, suitable_position_loop
from twin.engines import make_engine
from twin.errors import InputError, SimulationStoppedError, brief
from twin.link.protocol import MachineState, Sample
from twin.machine.machine import MachineParameters
from twin.machine.quantity import MAX_MAGNITUDE, Force, Mass, Number, Time, Torque, Whole, is_number
from twin.machine.randomisation.sampler import nominal_value, numeric_paths, with_values
from twin.model.engine import Engine, State
from twin.model.integrate import resting_deflection
from twin.model.machine_model import MachineModel
from twin.plant.plant import Plant
from twin.plant.signals import Command, Measurement, seed_sequence
from twin.rotations import displaced
from twin.simulation.batched.batched_plant import loop_gains
from twin.simulation.live.live_machine import make_engine_for

Axis = Literal["x", "y", "z"]
Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
Leg = Annotated[Whole | None, Field(ge=1)]

SCALED_FIELDS = {
    "friction": ("friction_torque", "friction", "viscous_torque", "viscous"),
    "backlash": ("backlash",),
}
"""Numbers of a drive that a fault multiplies, as far as it has them."""


RISE_STEPS = 41
"""Number of instants at which a fault that grows changes the drives."""


class BaseFault(BaseModel):
    """A fault that acts from `begin` [s] on, for a duration or to the end of the run."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_by_name=True
    )

    begin: Time = Field(0.0, ge=0.0, description="Time at which it begins")
    duration: Time | None = Field(None, gt=0.0, alias="for", description="Default: to the end")

    @property
    def end(self) -> float:
        """Time [s] at which the fault ends."""
        return float("inf") if self.duration is None else self.begin + self.duration

    def active(self, time: float) -> bool:
        """Return whether the fault acts at a time [s]."""
        return self.begin <= time < self.end


class DriveFault(BaseFault):
    """More friction, dry and viscous, or more backlash in a drive."""

    kind: Literal["friction", "backlash"]
    leg: Leg = Field(None, description="Default: all")
    factor: Number = Field(2.0, ge=0.0, description="Of what the drive has")
    rise: Time = Field(0.0, ge=0.0, description="Time in which it grows to this factor")

    def values(self, parameters: MachineParameters, time: float) -> dict[str, float]:
        """Return the changed parameter values of a machine at a time [s], by path.

        Raises:
            InputError: its drives have no such numbers above zero.
        """
        legs = range(1, len(parameters.legs) + 1) if self.leg is None else (self.leg,)
        known_paths = set(numeric_paths(parameters))
        paths = [f"leg.{leg}.drive.{name}" for leg in legs for name in SCALED_FIELDS[self.kind]]
        values = {path: nominal_value(parameters, path) for path in paths if path in known_paths}
        if not any(values.values()):
            message = f"the drives of {parameters.name} have none; choose another configuration"
            raise InputError(f"fault.{self.kind}", message)
        grown_fraction = min((time - self.begin) / self.rise, 1.0) if self.rise > 0.0 else 1.0
        factor = 1.0 + grown_fraction * (self.factor - 1.0)
        return {path: factor * value for path, value in values.items()}


class CountsFault(BaseFault):
    """Counts that an encoder loses at `begin`; with a duration it regains them at the end."""

    kind: Literal["counts"]
    leg: Leg = Field(None, description="Default: all")
    counts: int = Field(100, description="Lost; negative for counts too many")


class PayloadFault(BaseFault):
    """Another mass at the platform's reference point."""

    kind: Literal["payload"]
    mass: Mass = Field(gt=0.0, description="Added to the platform")


class SensorFault(BaseFault):
    """A sensor that stops measuring."""

    kind: Literal["sensor"]
    leg: Leg = Field(None, description="Default: all, and of signals that are not of legs")
    signal: Literal["coordinates", "rates", "forces", "pose", "accelerometer", "gyroscope"] = Field(
        "coordinates", description="Field that it measures"
    )
    reading: Literal["frozen", "zero"] = Field("frozen", description="Last value, or zero")


class OverloadFault(BaseFault):
    """A force and a moment on the platform from outside."""

    kind: Literal["overload"]
    force: Force = Field(0.0, description="Along the axis")
    moment: Torque = Field(0.0, description="About the axis")
    axis: Axis = Field("z", description="Of the base")


class LinkFault(BaseFault):
    """Measurements that are lost on the way, or delayed."""

    kind: Literal["drop", "delay"]
    fraction: Fraction = Field(0.1, description="Of the datagrams")
    time: Time = Field(0.02, ge=0.0, description="By which they are delayed")


Fault = DriveFault | CountsFault | PayloadFault | SensorFault | OverloadFault | LinkFault
FAULT_ADAPTER: TypeAdapter[Fault] = TypeAdapter(Annotated[Fault, Field(discriminator="kind")])


def parse_fault(text: str) -> Fault:
    """Return the fault of a text such as `friction@10s:leg=2,factor=3,for=5s`.

    The time after `@` is when it begins, default 0 s. A number without unit is SI.

    Raises:
        InputError: an unknown kind or option, or a value that it does not take.
    """
    kind_and_begin, _, options_text = text.partition(":")
    kind, _, begin_text = kind_and_begin.partition("@")
    options = [option.partition("=") for option in options_text.split(",") if option.strip()]
    fields = {"begin": begin_text or "0", **{name: value for name, _, value in options}}
    content: dict[str, Any] = {
        name.strip(): _number(value.strip()) for name, value in fields.items()
    }
    try:
        return FAULT_ADAPTER.validate_python({**content, "kind": kind.strip()})
    except ValidationError as error:
        first_error = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first_error["loc"][1:])
        message = first_error["msg"].removeprefix("Value error, ")
        raise InputError(
            ".".join(filter(None, ("fault", name))), f"{brief(text)}: {message}"
        ) from None


def _number(text: str) -> int | float | str:
    """Return a text without a unit as a number; a text with a unit unchanged."""
    if text.lstrip("+-").isdecimal():
        return int(text)
    return float(text) if is_number(text) else text


NOISY_SIGNALS = ("coordinates", "rates", "forces", "accelerometer", "gyroscope", "pose", "attitude")


class Readings:
    """Fields of a measurement that the sensors of a plant give.

    `forces` are those of the motors, as drives know them from their currents. Dead encoders and
    lost counts mislead the position loops; drives measure the speeds of their motors themselves.

    Attributes:
        values: fields of the last measurement.
    """

    def __init__(self, plant: Plant, period: float, seed: int, noise: Mapping[str, float]) -> None:
        """Store the plant, whose sensors are read, and the noise.

        Args:
            plant: started for every run.
            period: [s] between measurements.
            seed: of the noise.
            noise: as of `EmulatedMachine`.

        Raises:
            InputError: an unknown field, or a deviation that is not zero or more.
        """
        unknown_signals = sorted(set(noise) - set(NOISY_SIGNALS))
        if unknown_signals:
            raise InputError(
                f"noise.{unknown_signals[0]}", f"must be one of {', '.join(NOISY_SIGNALS)}"
            )
        self._noise: dict[str, Any] = {
            name: not_negative(value, f"noise.{name}") for name, value in noise.items()
        }
        own_noise = encoder_noise(plant.platform)
        if own_noise.any():
            self._noise.setdefault("coordinates", own_noise)
        self._pose_noise = self._noise.pop("pose", None), self._noise.pop("attitude", None)
        self._plant, self._period = plant, period
        self._seed = seed_sequence(seed, "readings")
        self.start()

    def start(self) -> None:
        """Restart with the same noise."""
        self._random = np.random.default_rng(self._seed)
        self._lost_distance = np.zeros(self._plant.platform.n_actuators)
        self.values: dict[str, FloatArray] = {}

    def read(self, state: State, faults: Sequence[CountsFault | SensorFault]) -> Measurement:
        """Return the coordinates that the position loops use; `values` holds what is sent.

        Args:
            state: true one.
            faults: of the sensors, that act now.
        """
        measured = self._plant.measure(state)
        lost_distance = self._lost_counts(faults)
        jump_rate = (lost_distance - self._lost_distance) / self._period
        self._lost_distance = lost_distance
        values = {
            "coordinates": measured.coordinates - lost_distance,
            "rates": measured.rates - jump_rate,
            "forces": self._plant.efforts,
        }
        if measured.inertial.size:
            values["accelerometer"] = measured.inertial[:3]
            values["gyroscope"] = measured.inertial[3:]
        for name in self._noise.keys() & values.keys():
            deviation = self._noise[name]
            values[name] = values[name] + deviation * self._random.standard_normal(
                len(values[name])
            )
        if self._pose_noise != (None, None):
            deviations = np.repeat([self._pose_noise[0] or 0.0, self._pose_noise[1] or 0.0], 3)
            values["pose"] = displaced(state.pose, deviations * self._random.standard_normal(6))
        for fault in faults:
            if isinstance(fault, SensorFault):
                self._replace_dead_reading(fault, values)
        self.values = values
        return measured._replace(coordinates=values["coordinates"], rates=values["rates"])

    def _lost_counts(self, faults: Sequence[CountsFault | SensorFault]) -> FloatArray:
        lost_distance = np.zeros(len(self._lost_distance))
        resolution = self._plant.drives.resolution
        for fault in faults:
            if isinstance(fault, CountsFault):
                legs = slice(None) if fault.leg is None else fault.leg - 1
                lost_distance[legs] += fault.counts * resolution[legs]
        return lost_distance

    def _replace_dead_reading(self, fault: SensorFault, values: dict[str, FloatArray]) -> None:
        """Replace the reading of a dead sensor; an encoder that is stuck reads zero speed."""
        if fault.signal not in values:
            return
        per_leg = fault.signal in ("coordinates", "rates", "forces")
        legs = slice(None) if fault.leg is None or not per_leg else fault.leg - 1
        reading = values[fault.signal].copy()
        frozen = fault.reading == "frozen" and fault.signal in self.values
        reading[legs] = self.values[fault.signal][legs] if frozen else 0.0
        values[fault.signal] = reading
        if fault.signal == "coordinates":
            values["rates"] = values["rates"].copy()
            values["rates"][legs] = 0.0


NO_WRENCH = np.zeros(6)

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
    times = {0.0, *(fault.begin for fault in faults), *(fault.end for fault in faults)}
    for fault in faults:
        if isinstance(fault, DriveFault) and fault.rise > 0.0:
            times |= set(np.linspace(fault.begin, fault.begin + fault.rise, RISE_STEPS).tolist())
    phase_list = []
    for time in sorted(filter(isfinite, times)):
        active = [fault for fault in faults if fault.active(time)]
        mass = sum(fault.mass for fault in active if isinstance(fault, PayloadFault))
        if mass not in mechanisms:
            loaded_platform = with_payload(platform, Payload(mass))
            mechanisms[mass] = (
                loaded_platform,
                make_engine(engine, loaded_platform, first_engine.timestep, fidelity),
            )
        loaded_platform, active_engine = mechanisms[mass]
        wrench = sum(
            (_wrench(fault) for fault in active if isinstance(fault, OverloadFault)), NO_WRENCH
        )
        sensors = tuple(fault for fault in active if isinstance(fault, CountsFault | SensorFault))
        machine = _with_drives(loaded_platform, active, time)
        phase_list.append(
            Phase(time, machine, active_engine, wrench if wrench.any() else None, sensors)
        )
    return tuple(phase_list)


def _wrench(fault: OverloadFault) -> FloatArray:
    wrench = np.zeros(6)
    axis = "xyz".index(fault.axis)
    wrench[axis], wrench[3 + axis] = fault.force, fault.moment
    return wrench


def _with_drives(platform: MachineModel, faults: Sequence[Fault], time: float) -> MachineModel:
    """Return a machine with its drives changed by faults at a time [s]; their factors multiply."""
    parameters = platform.parameters
    for fault in faults:
        if isinstance(fault, DriveFault):
            parameters = with_values(parameters, fault.values(parameters, time))
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
        if isinstance(fault, CountsFault) and not all(leg.encoder for leg in legs):
            raise InputError(
                "fault.counts", f"{platform.name} has no encoders; choose another configuration"
            )


class DriveCascade:
    """Position loops around the drives, as the machine's own control unit closes them.

    A command is in force until the next one. Without one for longer than the watchdog's time the
    machine holds its last setpoint, or where it is. Servos and steppers take no forces.

    Attributes:
        command_fields: of a measurement: what the drives last got.
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
        self._zero_rates = np.zeros(platform.n_actuators)
        self._loop = PositionLoop(platform, period, *suitable_position_loop(platform, period))
        self._takes_positions = takes_positions(platform)
        self._load_sharing: LoadSharing | None = None
        if needs_load_sharing(platform) and not self._takes_positions:
            home = still_reference(platform, platform.home, period)
            self._load_sharing = LoadSharing(platform, home, gain)
        self._max_age = round(watchdog / period)
        self.start(platform.home_coordinates)

    def start(self, coordinates: FloatArray) -> None:
        """Reset the loops to hold coordinates `(n,)`."""
        self._command: Sample | None = None
        self._setpoint: FloatArray | None = coordinates.copy()
        self._age = 0
        self._is_loop_closed = False
        self.command_fields: dict[str, FloatArray] = {"setpoint": coordinates.copy()}
        if not self._takes_positions:
            self.command_fields["command_rates"] = self._zero_rates

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
        elif self._age > self._max_age:
            self._command = None
        rates, setpoint = self._field("command_rates"), self._field("setpoint")
        forces = None if self._takes_positions else self._field("command_forces")
        if setpoint is None and rates is None and forces is None:
            setpoint = measurement.coordinates.copy() if self._setpoint is None else self._setpoint
        self._setpoint = setpoint
        if setpoint is None:
            self._is_loop_closed = False
        elif self._takes_positions:
            rates = None
        else:
            rates = self._speeds(
                setpoint, self._zero_rates if rates is None else rates, measurement
            )
        fields = {"setpoint": setpoint, "command_forces": forces, "command_rates": rates}
        self.command_fields = {
            name: values for name, values in fields.items() if values is not None
        }
        if rates is not None:
            return Command(rates, "velocity", forces)
        if forces is not None:
            return Command(forces, "force")
        assert setpoint is not None
        return Command(setpoint, "position")

    def _field(self, name: str) -> FloatArray | None:
        """Return a field `(n,)` of the command in force, clipped to a plausible magnitude."""
        value = None if self._command is None else self._command.values.get(name)
        return None if value is None else np.clip(value, -MAX_MAGNITUDE, MAX_MAGNITUDE)

    def _speeds(
        self, setpoint: FloatArray, rates: FloatArray, measurement: Measurement
    ) -> FloatArray:
        """Return the speeds `(n,)` of the position loops, whose integrals begin at zero."""
        if not self._is_loop_closed:
            self._is_loop_closed = True
            self._loop.start(self._zero_rates, measurement.rates, measurement.rates)
        if self._load_sharing is None:
            return self._loop.update(setpoint, measurement.coordinates, rates)
        return self._load_sharing.speeds(0, self._loop, setpoint, rates, measurement)


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
            self._switch_phase()
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
        """Advance plant and engine by one control period."""
        engine, plant, wrench = self._phase.engine, self._plant, self._phase.wrench
        state = self.state
        for _ in range(self._ratio):
            forces = plant.forces(state)
            if not np.isfinite(forces).all():
                raise SimulationStoppedError("the drives' forces are not finite")
            state = engine.step(forces, wrench)
            plant.observe(state)
        self.state = state._replace(time=self.time + self.period)

    def _switch_phase(self) -> None:
        """Switch to the phase of the present time."""
        latest = self.time + 0.5 * self.period
        new_phase = [phase for phase in self._phases if phase.begin <= latest][-1]
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
        """Return the sample of the present period."""
        state: MachineState = "holding" if self._cascade.holding else "running"
        self._sequence += 1
        return Sample(
            "measurement",
            self.time,
            {**self._readings.values, **self._cascade.command_fields},
            self._sequence,
            self._acknowledged,
            "stopped" if self.stopped else state,
        )
