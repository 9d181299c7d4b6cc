"""The shadow of a machine: a model that every sample corrects, and its alarms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import sqrt
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import (
    BoolArray,
    FloatArray,
    as_instance,
    bounded,
    not_negative,
    one_of,
    without,
)
from twin.control.cascade import PositionLoop, takes_positions
from twin.control.gains import suitable_position_loop
from twin.errors import TwinError
from twin.link.protocol import (
    COMMAND_FIELDS,
    FIELD_WIDTHS,
    MAX_TIME,
    NORM_TOLERANCE,
    POSE_FIELDS,
    Sample,
    width_of,
)
from twin.model.machine_model import MachineModel, as_model
from twin.plant.signals import COMMAND_MODES, Mode
from twin.shadow.detectors import Alarm
from twin.shadow.model import MAX_MISSING_PERIODS, ChannelWatch, EncoderWatch, ShadowModel
from twin.shadow.residuals import HISTORY_TIME
from twin.shadow.thresholds import Thresholds, default_thresholds
from twin.shadow.watch import MachineWatch

MAX_READING = 1e9
"""[SI] Engineering choice: magnitude above which a number is not accepted as a reading."""

EMPTY_ARRAY = np.zeros(0)

MAX_OVERTRAVEL_FRACTION = 0.5
"""Engineering choice: distance beyond the ends of the stroke, as a fraction of it, above which
coordinates are rejected.
"""

DETECTION_INTERVAL = 10
"""Number of samples between two checks for dead channels."""

MIN_SAMPLE_RATE = 200.0
"""[Hz] Engineering choice: lowest sample rate; at 100 Hz lost counts look like a dead encoder, at
50 Hz the observer of `stewart` does not follow it.
"""

SETTLING_TIME = 1.0
"""[s] Engineering choice: time after a start until the observer has settled."""

LEARNING_TIME = 20.0
"""[s] Engineering choice: duration of ordinary motion over which the shadow learns, assuming a
healthy machine.
"""

RESTART_THRESHOLD = 1.0
"""[s] Time by which a clock must go back to count as restarted."""


class SampleCheck:
    """Removes fields from samples that no machine can have sent.

    Attributes:
        refused: reason -> number of samples or fields that were left out for it.
        latest: reason -> detail of the last sample or field that was left out.
    """

    def __init__(self, machine: MachineModel) -> None:
        """Store the limits against which samples of a machine are checked."""
        self.refused: Counter[str] = Counter()
        self.latest: dict[str, str] = {}
        self._unit = machine.coordinate_unit
        overtravel = MAX_OVERTRAVEL_FRACTION * machine.stroke
        self._low = machine.minimum_coordinates - overtravel
        self._high = machine.maximum_coordinates + overtravel
        self._shapes = {name: (width_of(name, machine.n_actuators),) for name in FIELD_WIDTHS}

    def usable(self, sample: Sample) -> Sample | None:
        """Return a sample without its unusable fields; None where its time is unusable."""
        if not 0.0 <= sample.time <= MAX_TIME:
            self.refuse(f"times that are not from 0 to {MAX_TIME:g} s", f"{sample.time:.6g} s")
            return None
        values = sample.values
        if self._are_all_valid(values):
            return sample
        wrong_signals = {
            name: reason for name in values if (reason := self._fault_text(name, values[name]))
        }
        for name, reason in wrong_signals.items():
            self.refuse(f"{name} {reason}", f"at {sample.time:.6g} s")
        return sample._replace(values=without(values, *wrong_signals))

    def unreachable(self, coordinates: FloatArray) -> BoolArray:
        """Return which of coordinates `(n,)` [m, rad] lie far outside of the stroke; counted."""
        is_out_of_range = (coordinates < self._low) | (coordinates > self._high)
        if is_out_of_range.any():
            leg = int(is_out_of_range.argmax())
            low, high = self._low[leg], self._high[leg]
            unit = self._unit
            self.refuse(
                "coordinates out of reach; home the machine, or give signs and offsets in a "
                "mapping",
                f"{coordinates[leg]:.6g} {unit} of leg {leg + 1}, which is from {low:.4g} to "
                f"{high:.4g} {unit} with half a stroke to either side",
            )
        return is_out_of_range

    def refuse(self, reason: str, detail: str) -> None:
        """Count one sample or field that was left out, and store `detail` of it."""
        self.refused[reason] += 1
        self.latest[reason] = detail

    def _are_all_valid(self, values: Mapping[str, FloatArray]) -> bool:
        """Return whether all fields are valid; much faster than checking field by field."""
        known_names = [name for name in values if name in self._shapes]
        if any(getattr(values[name], "shape", None) != self._shapes[name] for name in known_names):
            return False
        all_values = np.concatenate([EMPTY_ARRAY, *(values[name] for name in known_names)])
        if not np.abs(all_values).max(initial=0.0) <= MAX_READING:
            return False
        return all(_has_unit_quaternion(values[name]) for name in POSE_FIELDS if name in values)

    def _fault_text(self, name: str, value: FloatArray) -> str:
        """Return why a field is invalid; empty if it is valid."""
        shape = self._shapes.get(name)
        if shape is None:
            return ""
        if np.shape(value) != shape:
            return f"that are not {shape[0]} numbers"
        if not np.abs(value).max() <= MAX_READING:
            return f"that are not finite, or beyond {MAX_READING:g}"
        return (
            "without a unit quaternion"
            if name in POSE_FIELDS and not _has_unit_quaternion(value)
            else ""
        )


def _has_unit_quaternion(pose: FloatArray) -> bool:
    """Return whether the quaternion of a pose `(7,)` has norm one."""
    quaternion = pose[3:]
    return abs(sqrt(quaternion @ quaternion) - 1.0) <= NORM_TOLERANCE


MAX_GAP = 3
"""Engineering choice: largest number of missing samples after which the observer need not settle.
"""

GAP_SETTLING_TIME = 0.2
"""[s] Engineering choice: time that the observer needs to settle after a longer gap."""


CLOCK_GAIN = 0.05
"""Engineering choice: fraction of the difference between a time stamp and the model's clock by
which the clock is corrected; stamps jitter, and the samples of a control unit do not.
"""

LASTING_KINDS = ("sensor", "counts", "slip")
"""Kinds of alarms that last until `reset`."""

WAITING_STATE = "waiting"
"""State of a shadow without a running model: before its first samples, after a stop or gap."""

LEARNING_STATE = "learning"
"""State of a shadow that still learns."""

WATCHING_STATE = "watching"
"""State of a shadow that compares with what it has learned and raises all alarms."""


class ShadowState(NamedTuple):
    """State of the shadow at a sample; arrays of its own."""

    time: float
    """[s] time of the machine"""
    phase: str
    """"waiting" for a start, "learning" what is normal, or "watching" for faults"""
    pose: FloatArray
    """estimated pose of the platform `(7,)`"""
    twist: FloatArray
    """estimated twist of the platform `(6,)`"""
    coordinates: FloatArray
    """`(n,)` coordinates of the actuators, corrected for lost counts [m, rad]"""
    forces: FloatArray
    """`(n,)` forces of the motors [N, N m]"""
    innovation: FloatArray
    """`(n,)` innovation: measured less predicted coordinates [m, rad]"""
    disturbance: FloatArray
    """`(n,)` force against each actuator that the model does not explain [N, N m]"""
    wrench: FloatArray
    """`(6,)` disturbance wrench on the platform, mean over the window"""
    residuals: FloatArray
    """`(n,)` largest residual of each leg relative to its threshold; an alarm begins at 1"""


class Shadow:
    """A model that runs next to a machine: `update` with every sample.

    A sample holds measurements and the command of the period before it. The model bridges lost
    samples. In the first seconds of motion the shadow learns what is normal for this machine;
    later changes are faults. docs/shadow.md describes residuals and thresholds. No sample stops the
    shadow: unusable fields are left out and counted in `check`.

    Attributes:
        machine: the machine with the parameters of its file.
        period: time between samples [s].
        learning: time of motion after which changes are faults [s].
        model: model that runs beside the machine.
        alarms: all alarms that were raised, in order.
        missed: number of samples that did not come.
        late: number of samples that came twice or after later ones, and were left out.
        restarts: number of starts of the model from a measured state, the first one included.
        check: check of samples, which counts what was left out of them.
        used_sample: the last sample without its unusable fields; None where it was unusable.
    """

    def __init__(
        self,
        machine: MachineModel,
        rate: float = 1000.0,
        *,
        thresholds: Thresholds | None = None,
        mode: Mode | None = None,
        delays: Mapping[str, float] | None = None,
        learning: float = LEARNING_TIME,
    ) -> None:
        """Prepare model, observer and detectors.

        Args:
            machine: the machine with the drives and sensors of its file.
            rate: samples per second [Hz], at least 200.
            thresholds: sizes that are worth an alarm; None for `default_thresholds`.
            mode: mode of the commands; None derives it from the commands of the learning time:
                speeds take precedence over forces, and forces over setpoints.
            delays: field -> [s] age of its values at the time of their sample.
            learning: [s] time of motion after which changes are faults.

        Raises:
            InputError: an argument that cannot be used.
            StateError: the observer of this machine has no steady gains.
        """
        self.machine = as_model(machine)
        self.period = 1.0 / bounded(rate, "rate", MIN_SAMPLE_RATE, 1e5)
        limits = default_thresholds(self.machine) if thresholds is None else thresholds
        self.thresholds = as_instance(limits, "thresholds", Thresholds)
        self._delays = {
            name: bounded(delay, f"delays.{name}", 0.0, HISTORY_TIME)
            for name, delay in (delays or {}).items()
        }
        self._declared_mode = mode
        default_mode: Mode = "position" if takes_positions(self.machine) else "velocity"
        self.mode: Mode = default_mode if mode is None else mode
        one_of(self.mode, "mode", COMMAND_MODES)
        self.model = ShadowModel(self.machine, self.period, self.mode)
        self._loop = PositionLoop(
            self.machine, self.period, *suitable_position_loop(self.machine, self.period)
        )
        self.reset(learning)

    def reset(self, learning: float | None = None) -> None:
        """Forget everything: restart and learn again from the next sample.

        Args:
            learning: [s] time of motion after which changes are faults; None keeps it.

        Raises:
            InputError: a time that is negative or not finite.
        """
        if learning is not None:
            self.learning = not_negative(learning, "learning")
        self.alarms: list[Alarm] = []
        self.missed = self.late = self.restarts = 0
        self._stamp, self._commands = 0.0, set[str]()
        self.check = SampleCheck(self.machine)
        self.used_sample: Sample | None = None
        self._begin()

    def _begin(self) -> None:
        """Begin anew with a model that has no state of the machine yet."""
        n, machine = self.machine.n_actuators, self.machine
        self._command: FloatArray = np.zeros(n)
        self._feedforward: FloatArray | None = None
        self._encoders = EncoderWatch(self.model, self.thresholds.jump)
        self._channels = ChannelWatch(machine.stroke)
        self._watch = MachineWatch(self.model, self.thresholds, self.learning)
        self._clock, self._running, self._calm_time = 0.0, False, 0.0
        self._innovation, self._periods_without_reading, self._check_count = np.zeros(n), 0, 0

    @property
    def active(self) -> list[Alarm]:
        """Alarms whose causes persist; those of sensors and lost counts last until `reset`."""
        lasting_alarms = [alarm for alarm in self.alarms if alarm.kind in LASTING_KINDS]
        return [*lasting_alarms, *self._watch.active]

    @property
    def phase(self) -> str:
        """Phase: "waiting", "learning" or "watching"."""
        if not self._running:
            return WAITING_STATE
        return LEARNING_STATE if self.is_learning else WATCHING_STATE

    @property
    def is_learning(self) -> bool:
        """Whether less than the learning time of motion has been seen."""
        return self._watch.is_learning

    @property
    def learned(self) -> float:
        """Time [s] of motion that has been learned so far."""
        return self._watch.learned

    def update(self, sample: Sample) -> ShadowState:
        """Update the shadow by one sample and return the state at its time."""
        self.used_sample = self.check.usable(sample)
        if self.used_sample is None:
            return self._state()
        values, time = self.used_sample.values, sample.time
        if not self._has_mode(values, time):
            return self._state()
        coordinates = values.get("coordinates")
        delay = time - self._clock
        periods = round(delay / self.period) if self._running else 1
        if -RESTART_THRESHOLD < periods * self.period < 0.5 * self.period:
            self.late += 1
            return self._state()
        missed_periods = max(periods - 1, 0)
        self.missed += missed_periods
        self._stamp = time
        previous_command = self._command
        self._take_command(values)
        if sample.state == "stopped" or missed_periods > MAX_MISSING_PERIODS or periods < 1:
            self._running = False
        if not self._running:
            self._clock = time
            if coordinates is not None and sample.state != "stopped":
                self._start(coordinates)
            return self._state()
        step_time = periods * self.period
        self._clock += step_time + CLOCK_GAIN * (delay - step_time)
        for step in range(1, periods + 1):
            command = previous_command + (self._command - previous_command) * (step / periods)
            if not self.model.advance(command, self._feedforward):
                self._running = False
                return self._state()
        if missed_periods > MAX_GAP:
            self._wait_until_settled(GAP_SETTLING_TIME)
        self._periods_without_reading += periods
        if coordinates is None:
            self.missed += 1
        else:
            self._correct(time, coordinates)
        self._run_detectors(time, values, sample.ages or {})
        return self._state()

    def _has_mode(self, values: Mapping[str, FloatArray], time: float) -> bool:
        """Update the mode by the commands of a sample, and return whether it is known.

        While the shadow learns, commands of another kind change the mode, and it begins anew.
        """
        if self._declared_mode is not None or not self.is_learning:
            return True
        self._commands.update(name for name in COMMAND_FIELDS if name in values)
        if not self._commands:
            self.check.refuse("samples before the first command", f"at {time:.6g} s")
            return False
        is_force = "command_forces" in self._commands and "command_rates" not in self._commands
        mode: Mode = "velocity"
        if takes_positions(self.machine):
            mode = "position"
        elif is_force:
            mode = "force"
        if mode != self.mode:
            self.mode = mode
            self.model = ShadowModel(self.machine, self.period, mode)
            self._begin()
        return True

    def _start(self, coordinates: FloatArray) -> None:
        """Start the model at the coordinates of the encoders."""
        initial_coordinates = coordinates - self._encoders.offset
        if self.check.unreachable(initial_coordinates).any():
            return
        try:
            rates = self._command if self.mode == "velocity" else np.zeros(len(coordinates))
            self.model.start(initial_coordinates, rates)
        except (TwinError, np.linalg.LinAlgError) as error:
            self.check.refuse("coordinates that no pose has", str(error))
            return
        self._running = True
        self.restarts += 1
        self._wait_until_settled(SETTLING_TIME)

    def _wait_until_settled(self, seconds: float) -> None:
        """Suspend detectors while the observer settles, and forget the drives' initial force."""
        self._calm_time = self._stamp + seconds
        self._watch.restart_after_gap()

    def _take_command(self, values: Mapping[str, FloatArray]) -> None:
        """Store the command of the period before the sample."""
        rates, forces = values.get("command_rates"), values.get("command_forces")
        setpoint = values.get("setpoint")
        if self.mode == "position":
            self._command = self._command if setpoint is None else setpoint
        elif self.mode == "force":
            self._command = self._command if forces is None else forces
        elif rates is not None:
            self._command, self._feedforward = rates, forces
        elif setpoint is not None:
            measured = self.model.coordinates
            self._command = self._loop.update(setpoint, measured, np.zeros(len(setpoint)))

    def _correct(self, time: float, coordinates: FloatArray) -> None:
        """Compare a reading with the model, and correct the model by it."""
        innovation = self._encoders.innovation(coordinates, self._periods_without_reading - 1)
        self._periods_without_reading = 0
        if time >= self._calm_time:
            self.alarms += self._encoders.check(
                time, coordinates, innovation, is_learning=self.is_learning
            )
        measured = np.where(self._encoders.dead, np.nan, coordinates - self._encoders.offset)
        innovation[self.check.unreachable(measured)] = 0.0
        self.model.correct(innovation)
        self._innovation = innovation

    def _run_detectors(
        self, time: float, values: Mapping[str, FloatArray], ages: Mapping[str, float]
    ) -> None:
        """Run the detectors of dead sensors, then those of changes of the machine."""
        dead_channels = self._channels.dead
        self._channels.store(time, values)
        if time < self._calm_time:
            return
        self._check_count += 1
        if self._check_count % DETECTION_INTERVAL == 0:
            alarms = self._channels.check(time, self.model.rates)
            if alarms:
                self._watch.clear()  # dead readings are in its windows
                self.alarms += alarms
        if self._encoders.dead.any() or "forces" in dead_channels:
            return  # residuals from a dead reading are no evidence
        if dead_channels:
            values = without(values, *dead_channels)
        if self._delays:
            ages = {name: ages.get(name, 0.0) + self._delays.get(name, 0.0) for name in values}
        alarms = self._watch.update(time, values, ages)
        if any(alarm.kind in ("overload", "unexplained") for alarm in alarms):
            alarms = self._encoders.frozen_encoder_alarm(time) or alarms
        self.alarms += alarms

    def _state(self) -> ShadowState:
        """Return a copy of the present state."""
        model = self.model
        return ShadowState(
            self._stamp,
            self.phase,
            model.pose.copy(),
            model.twist.copy(),
            model.coordinates.copy(),
            model.efforts.copy(),
            self._innovation,
            model.disturbance.copy(),
            self._watch.wrench,
            self._watch.ratios,
        )
