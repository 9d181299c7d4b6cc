"""Homing: every actuator finds its switch and its index pulse, then all go to the start together.

The thesis gives the sequence only as pictures of flowcharts (figures 4.23 to 4.26). The sequence
here is an engineering choice; docs/plant.md describes it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, positive, read_only
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model
from twin.plant.drives import actuator_limit
from twin.plant.encoder import EncoderDecoder

CREEP_SPEED = 0.08
"""Engineering choice: speed towards the switch, in strokes per second; also the largest fraction of
the speed limit."""

INDEX_SPEED_FRACTION = 0.5
"""Engineering choice: speed to the index pulse, as a fraction of the speed to the switch."""

APPROACH_SPEED_FRACTION = 0.4
"""Engineering choice: peak speed of the approach to the start, in strokes per second and as a
fraction of the speed limit."""

SEARCH_TIME_MARGIN = 2.0
"""Engineering choice: time allowed for a search, relative to the time that the whole stroke
takes."""

START_TOLERANCE = 40.0
"""Engineering choice: distance from the start [counts] at which an actuator has arrived; 0.05 mm
for the thesis' actuators."""

PHASE_NAMES = ("brakes", "inward", "outward", "waiting", "approach", "ready", "fault")
"""Names of the phases of an actuator, in their order: the brake opens; move to the
lower switch; move off it to the first index pulse; wait for the others; move to the start."""


class HomingSettings(NamedTuple):
    """Numbers of one machine's homing; coordinates and speeds in m or rad."""

    resolution: FloatArray
    """`(n,)` one count"""
    counts_per_turn: FloatArray
    """`(n,)` counts over one turn"""
    index_coordinates: FloatArray
    """`(n,)` coordinate of one index pulse, from calibration; the others are whole turns away"""
    switch: FloatArray
    """`(n,)` coordinate of the lower switch, good to less than half a turn"""
    start: FloatArray
    """`(n,)` coordinates to go to"""
    switch_speed: FloatArray
    """`(n,)` [m/s, rad/s] speed to the switch"""
    index_speed: FloatArray
    """`(n,)` [m/s, rad/s] speed to the index pulse"""
    approach_speed: FloatArray
    """`(n,)` [m/s, rad/s] largest speed of the approach to the start position"""
    longest_search: FloatArray
    """`(n,)` [s] for a switch or a pulse"""
    tolerance: FloatArray
    """`(n,)` [m, rad] distance from the start within which an actuator has arrived"""
    release_time: float = 0.2
    """[s] until brakes are taken to be open"""
    stall_time: float = 0.5
    """[s] in which a moving actuator must have moved"""
    shortest_approach: float = 0.5
    """[s] shortest duration of the approach to the start position"""
    settling: float = 0.1
    """[s] time near the start position before it counts as reached"""
    longest_settling: float = 2.0
    """[s] longest time after the approach until all rest at the start position"""
    gain: float = 10.0
    """[1/s] gain of the position loop during the approach to the start position"""


def homing_settings(
    platform: MachineModel,
    resolution: Any,
    counts_per_turn: Any,
    index_coordinates: Any,
    *,
    start: Any = None,
    period: float = 1e-3,
    **options: float,
) -> HomingSettings:
    """Return settings that suit a machine.

    The speed to the switch also stays below the limit of the decoder in homing mode: 32 counts a
    period.

    Args:
        platform: the machine; its lower switches are at its shortest coordinates.
        resolution: `(n,)` one count [m, rad].
        counts_per_turn: `(n,)` counts over one turn.
        index_coordinates: `(n,)` of one index pulse per actuator [m, rad].
        start: coordinates `(n,)` to go to; default those of home.
        period: control period [s].
        options: further entries of `HomingSettings`.

    Raises:
        InputError: wrong shapes, a start outside the limits, unknown options, or a machine whose
            actuators cannot move one by one.
    """
    n = as_model(platform).n_actuators
    if platform.dof != n:
        raise InputError(
            "platform",
            f"has {n} actuators for {platform.dof} dof: they cannot move one by one, as "
            "homing does",
        )
    minimum, maximum = platform.minimum_coordinates, platform.maximum_coordinates
    start_coordinates = platform.inverse_kinematics(platform.home) if start is None else start
    start_vector = as_vector(start_coordinates, "start", n)
    if not ((start_vector >= minimum) & (start_vector <= maximum)).all():
        raise InputError("start", "must lie within the limits of the actuators")
    option_names = set(HomingSettings._field_defaults)
    if unknown := set(options) - option_names:
        raise InputError("options", f"unknown: {sorted(unknown)}; known: {sorted(option_names)}")
    count_lengths = as_vector(resolution, "resolution", n)
    counts = as_vector(counts_per_turn, "counts_per_turn", n)
    stroke = maximum - minimum
    speed_limit = np.minimum(stroke, actuator_limit(platform, "speed", stroke))
    switch_speed = np.minimum(
        CREEP_SPEED * speed_limit, 32.0 * count_lengths / positive(period, "period")
    )
    approach = APPROACH_SPEED_FRACTION * speed_limit
    return HomingSettings(
        read_only(count_lengths),
        read_only(counts),
        read_only(as_vector(index_coordinates, "index_coordinates", n)),
        minimum,
        read_only(start_vector),
        read_only(switch_speed),
        read_only(INDEX_SPEED_FRACTION * switch_speed),
        read_only(approach),
        read_only(
            SEARCH_TIME_MARGIN
            * np.maximum(
                stroke / switch_speed,
                counts * count_lengths / (INDEX_SPEED_FRACTION * switch_speed),
            )
        ),
        read_only(START_TOLERANCE * count_lengths),
        **{name: positive(value, name) for name, value in options.items()},
    )


(
    BRAKE_PHASE,
    INWARD_PHASE,
    OUTWARD_PHASE,
    WAITING_PHASE,
    APPROACH_PHASE,
    READY_PHASE,
    FAULT_PHASE,
) = range(7)
"""Phases of an actuator, as `PHASE_NAMES` lists them."""


class HomingInputs(NamedTuple):
    """Inputs of homing, once a control period."""

    time: float
    """[s] present time"""
    counts: FloatArray
    """`(n,)` raw values of the encoders' counters"""
    at_minimum: FloatArray
    """`(n,)` above zero where the switch at the lower limit is pressed"""


class HomingOutputs(NamedTuple):
    """Outputs of homing: commands of drives and brakes."""

    speeds: FloatArray
    """`(n,)` commands of the drives' velocity loops [m/s, rad/s]"""
    brakes: FloatArray
    """`(n,)` 1 where the brake shall hold"""
    phases: tuple[str, ...]
    """phase of every actuator, one of `PHASE_NAMES`"""
    coordinates: FloatArray
    """`(n,)` [m, rad]; NaN for actuators without reference"""
    ready: bool
    """whether all rest at the start"""
    fault: str
    """why homing was given up; empty where it was not"""


class Homing:
    """The homing sequence as a state machine, advanced by one `update` per control period.

    Attributes:
        settings: speeds, times, tolerances, calibration.
        decoder: of the encoders; after homing it returns absolute coordinates.
        corrections: `(n,)` errors of the switches' coordinates, NaN before [m, rad].
    """

    def __init__(self, settings: HomingSettings) -> None:
        """Start in the first phase, before the first update."""
        self.settings = settings
        n = len(settings.start)
        self.decoder = EncoderDecoder(settings.resolution, settings.counts_per_turn)
        self.corrections = np.full(n, np.nan)
        self._phases = np.full(n, BRAKE_PHASE)
        self._release_travel = np.full(n, np.nan)
        self._pulse_travel = np.full(n, np.inf)
        self._indexed_at_release = np.zeros(n)
        self._phase_start = np.zeros(n)
        self._last_check = np.zeros((n, 2))
        self._approach_start = np.zeros(n)
        self._duration, self._unsettled_until = 0.0, 0.0
        self._has_started, self._last_time = False, 0.0
        self._fault = ""

    @property
    def phases(self) -> tuple[str, ...]:
        """Names of the actuators' phases."""
        return tuple(PHASE_NAMES[phase] for phase in self._phases)

    def update(self, inputs: HomingInputs) -> HomingOutputs:
        """Return the commands until the next control period.

        Raises:
            InputError: wrong shapes, not finite, or a time that is not later than the last.
        """
        n = len(self._phases)
        counts = as_vector(inputs.counts, "counts", n)
        switch_pressed = as_vector(inputs.at_minimum, "at_minimum", n) > 0.0
        if not self._has_started:
            self.decoder.start(counts)
            self._phase_start[:] = inputs.time
            self._has_started = True
        elif not inputs.time > self._last_time:
            raise InputError("time", f"must be later than that before, {self._last_time:g} s")
        else:
            self.decoder.update(counts)
        self._last_time = inputs.time
        speeds = np.zeros(n)
        if not self._fault:
            self._fault = f"homing: {self.decoder.fault}" if self.decoder.fault else ""
            travel = self.decoder.travel
            for i in range(n):
                if not self._fault and self._phases[i] < WAITING_PHASE:
                    speeds[i] = self._search(i, inputs.time, travel[i], bool(switch_pressed[i]))
        if not self._fault and (self._phases >= WAITING_PHASE).all():
            speeds = self._approach(inputs.time)
        if self._fault:
            self._phases[:], speeds[:] = FAULT_PHASE, 0.0
        is_held = (self._phases == FAULT_PHASE).astype(float)
        all_ready = bool((self._phases == READY_PHASE).all())
        return HomingOutputs(
            speeds, is_held, self.phases, self.decoder.coordinates, all_ready, self._fault
        )

    def _enter(self, i: int, phase: int, time: float, travel: float) -> None:
        self._phases[i], self._phase_start[i] = phase, time
        self._last_check[i] = time, travel

    def _search(self, i: int, time: float, travel: float, pressed: bool) -> float:
        """Return the speed of an actuator that searches for its switch or index pulse."""
        settings, elapsed = self.settings, time - self._phase_start[i]
        if self._phases[i] == BRAKE_PHASE:
            if elapsed >= settings.release_time:
                self._enter(i, INWARD_PHASE, time, travel)
            return 0.0
        if self._phases[i] == INWARD_PHASE:
            if pressed:
                self._enter(i, OUTWARD_PHASE, time, travel)
            elif elapsed > settings.longest_search[i]:
                self._give_up(i, f"did not reach its lower switch in {elapsed:.3g} s")
            else:
                self._check_motion(i, time, travel, settings.switch_speed[i])
                return float(-settings.switch_speed[i])
        return self._find_index(i, time, travel, pressed)

    def _find_index(self, i: int, time: float, travel: float, pressed: bool) -> float:
        """Return the speed of an actuator on its way from the switch to the first index pulse."""
        settings, decoder = self.settings, self.decoder
        if not pressed and np.isnan(self._release_travel[i]):
            self._release_travel[i] = travel
            self._pulse_travel[i] = decoder.next_pulse[i]
            self._indexed_at_release[i] = decoder.indexed[i]
        if np.isfinite(self._release_travel[i]):
            travel_since_switch = travel - self._release_travel[i]
            pulse_seen = not self._indexed_at_release[i] and decoder.indexed[i] > 0.0
            if pulse_seen or travel >= self._pulse_travel[i]:
                estimate = settings.switch[i] + travel_since_switch * settings.resolution[i]
                self.corrections[i] = decoder.refer(i, settings.index_coordinates[i], estimate)
                self._enter(i, WAITING_PHASE, time, travel)
                return 0.0
            # One turn always holds an index pulse; half a turn more allows for the switch.
            if travel_since_switch > 1.5 * settings.counts_per_turn[i]:
                self._give_up(i, "passed no index pulse over one and a half turns")
                return 0.0
        if time - self._phase_start[i] > settings.longest_search[i]:
            self._give_up(i, "did not leave its lower switch, or found no index pulse")
        self._check_motion(i, time, travel, settings.index_speed[i])
        return float(settings.index_speed[i])

    def _check_motion(self, i: int, time: float, travel: float, speed: float) -> None:
        """Report a fault of an actuator that does not follow its speed command."""
        check_time, check_travel = self._last_check[i]
        if time - check_time < self.settings.stall_time:
            return
        # A quarter of the commanded travel tolerates acceleration and a lagging drive.
        min_travel = 0.25 * speed * (time - check_time) / self.settings.resolution[i]
        if abs(travel - check_travel) < min(min_travel, 0.5 * self.settings.counts_per_turn[i]):
            self._give_up(i, "does not move: check brake, drive and encoder")
        self._last_check[i] = time, travel

    def _approach(self, time: float) -> FloatArray:
        """Return the speeds `(n,)` towards the start position; all actuators arrive together."""
        settings, coordinates = self.settings, self.decoder.coordinates
        if self._phases[0] == WAITING_PHASE:
            self._approach_start = coordinates
            # The peak rate of the minimum-jerk transition is 15/8 of its mean rate.
            remaining_time = np.abs(settings.start - coordinates) / settings.approach_speed
            self._duration = float(
                max(15.0 / 8.0 * remaining_time.max(), settings.shortest_approach)
            )
            self._phases[:], self._phase_start[:] = APPROACH_PHASE, time
        elapsed = time - self._phase_start[0]
        phase = min(elapsed / self._duration, 1.0)
        # The transition of least jerk: at rest and without acceleration at both ends.
        fraction = phase**3 * (10.0 + phase * (6.0 * phase - 15.0))
        slope = 30.0 * (phase * (1.0 - phase)) ** 2 / self._duration
        travel = settings.start - self._approach_start
        error = self._approach_start + fraction * travel - coordinates
        if phase == 1.0 and self._phases[0] == APPROACH_PHASE:
            at_start = (np.abs(error) <= settings.tolerance).all()
            self._unsettled_until = self._unsettled_until if at_start else elapsed
            if elapsed - max(self._unsettled_until, self._duration) >= settings.settling:
                self._phases[:] = READY_PHASE
            elif elapsed - self._duration > settings.longest_settling:
                leg = int(np.argmax(np.abs(error) / settings.tolerance))
                self._give_up(leg, f"stays {abs(error[leg]):.3g} from the start")
        return np.asarray(slope * travel + settings.gain * error)

    def _give_up(self, i: int, reason: str) -> None:
        self._fault = self._fault or f"homing: leg {i + 1} {reason}"
