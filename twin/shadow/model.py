"""The model that runs next to a machine: its drives and mechanism, corrected by readings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.cascade import has_encoders
from twin.control.gains import drive_model, encoder_noise, total_to_motor_mass_ratio
from twin.control.observer.cascade import suitable_design
from twin.control.observer.kalman_observer import ObserverDesign, steady_gains
from twin.errors import InputError
from twin.kernels.kinematics import jacobian_batch
from twin.kernels.plant import columns as column
from twin.model.machine_model import MachineModel
from twin.plant.signals import Mode
from twin.rotations import displaced
from twin.shadow.detectors import Alarm
from twin.simulation.batched import make_batched_plant

WATCHED_CHANNELS = ("forces", "pose", "accelerometer", "gyroscope")

UNCHANGED_TIME = 0.1
"""[s] Engineering choice: time without any change, while the machine moves, after which a channel
is dead; sensors hold a reading for up to 5 ms.
"""

CHANNEL_TIMEOUT = 0.5
"""[s] Engineering choice: time without a channel that was there before, after which it is reported
as missing.
"""

MIN_MOVING_SPEED = 2e-3
"""[1/s] Engineering choice: speed, in strokes per second, from which readings of a machine must
change.
"""

MAX_MISSING_PERIODS = 100
"""Maximum number of missing periods that the model bridges; after a longer gap it restarts at the
next reading.
"""

DEAD_READING_TIME = 0.02
"""[s] Engineering choice: shortest time for which a reading must not change to be called dead."""

STICKING_FORCE_RATIO = 6.0
"""Largest change of the force on a leg that sticks, relative to the file's largest dry friction.

It is 2 for both directions, times 1.5 for the spread of data sheets, times 2 for a rise. The force
at which both sides of the backlash touch is added.
"""

MAX_JUMPS = 4
"""Engineering choice: number of consecutive jumps of one encoder from which it counts as dead
rather than as losing counts.
"""

QUANTISED_RATIO = 0.6
"""Mean of the sudden innovations of an encoder whose only error are its counts, in standard
deviations; noise beside them makes it larger.
"""

QUIET_TIME = 0.02
"""[s] Engineering choice: time without a further jump after which lost counts are reported."""

MAX_PAUSE = 0.2
"""[s] Engineering choice: longest time for which one leg alone rests during ordinary motion."""

SHOCK_TIME = 0.1
"""[s] Engineering choice: time after a shock to the machine in which innovations are no jumps of
encoders.
"""

LOAD_MASS_RATIO = 1.5
"""Engineering choice: mass that a motor moves, over its own, from which the load is corrected with
the motor: at 1.9 the correction of the motor alone diverges.
"""

OUTLIER_FRACTION = 0.1
"""Fraction of the stroke, beyond its ends or as a jump, above which a reading is an outlier."""


class ChannelWatch:
    """Watches all channels but the encoders; channels with a value per leg are watched per leg.

    Attributes:
        dead: channels that are declared dead and ignored.
    """

    def __init__(self, stroke: FloatArray) -> None:
        """Watch a machine whose actuators have a `stroke` `(n,)`."""
        self.dead: set[str] = set()
        self._moving_speed = MIN_MOVING_SPEED * float(stroke.min())
        self._received: dict[str, tuple[float, FloatArray]] = {}
        self._compared: dict[str, FloatArray] = {}
        self._change_times: dict[str, FloatArray] = {}

    def store(self, time: float, values: Mapping[str, FloatArray]) -> None:
        """Store the channels of a sample; slow channels are in few samples."""
        for name in WATCHED_CHANNELS:
            if name in values:
                self._received[name] = time, values[name]

    def check(self, time: float, rates: FloatArray) -> list[Alarm]:
        """Return new alarms of the channels at a `time` [s], for rates `(n,)` of the model."""
        alarms = []
        is_moving = float(np.abs(rates).max()) > self._moving_speed
        for name, (receive_time, value) in self._received.items():
            if name in self.dead:
                continue
            if time - receive_time > CHANNEL_TIMEOUT:
                alarms.append(
                    self._dead_channel_alarm(time, name, None, time - receive_time, "is missing")
                )
                continue
            previous = self._compared.get(name)
            if previous is value:  # nothing has come since
                continue
            self._compared[name] = value
            if previous is None or not is_moving:
                self._change_times[name] = np.full(len(value), receive_time)
                continue
            change_times = self._change_times[name] = np.where(
                value == previous, self._change_times[name], receive_time
            )
            is_unchanged = receive_time - change_times > UNCHANGED_TIME
            first = int(np.argmax(is_unchanged))
            leg = first + 1 if name == "forces" else None
            if is_unchanged.any() if leg else is_unchanged.all():
                size = receive_time - change_times[first]
                alarms.append(self._dead_channel_alarm(time, name, leg, size, "stands still"))
        return alarms

    def _dead_channel_alarm(
        self, time: float, name: str, leg: int | None, size: float, reason: str
    ) -> Alarm:
        self.dead.add(name)
        return Alarm(time, "sensor", leg, float(size), "s", f"{name} {reason}")


class ShadowModel:
    """One machine with its drives in the analytic engine, and a Kalman correction per leg.

    An innovation corrects position and speed of a motor, and the estimate `disturbance` of a force
    that the model does not include.

    Attributes:
        machine: the machine with the parameters of its file.
        period: time between two samples [s].
        spread: `(k, n)` standard deviations of innovations 1..k periods after a reading [m, rad].
        disturbance: `(n,)` force against each actuator that the model does not explain [N, N m].
        coordinates: `(n,)` that exact encoders would read [m, rad]; all these are views.
        rates: `(n,)` rates of these coordinates.
        pose: `(7,)`.
        twist: `(6,)`.
        acceleration: `(6,)` mean over the last step of the engine.
        forces: `(n,)` on the legs [N, N m].
        efforts: `(n,)` of the motors [N, N m].
    """

    pose: FloatArray
    twist: FloatArray
    acceleration: FloatArray
    coordinates: FloatArray
    rates: FloatArray
    forces: FloatArray
    efforts: FloatArray

    def __init__(self, machine: MachineModel, period: float, mode: Mode) -> None:
        """Prepare the model; `start` gives it the state of the machine.

        Raises:
            InputError: drives without inertia or without encoders, commands of a mode that the
                drives do not take, or a machine that the analytic engine cannot step in this
                period.
            StateError: the observer of this machine has no steady gains.
        """
        self._inertia = drive_model(machine).inertia
        if not (self._inertia > 0.0).all():
            raise InputError(
                "machine",
                f"{machine.name} has drives without inertia, which an observer of motors cannot "
                "correct; give the drives their inertia, or choose a configuration with drives",
            )
        if not has_encoders(machine):
            raise InputError(
                "leg.encoder",
                f"{machine.name} has legs without encoders, whose steps decide which jumps of a "
                "reading are faults; give [leg.encoder] its counts a turn (and [leg.drive] the "
                "scale_period of a direct drive), or choose another configuration",
            )
        self.machine, self.period = machine, period
        self._stroke = float(machine.stroke.max())
        self._plant = make_batched_plant("analytic", machine, 1, period, mode=mode)
        design = suitable_design(machine, period)
        reading_variance = design.measurement + encoder_noise(machine) ** 2
        design = design._replace(measurement=reading_variance)
        steady = steady_gains(design)
        self._gain = steady.gain[0]
        self.spread = innovation_std(design, steady.covariance[0], MAX_MISSING_PERIODS)
        self.disturbance = np.zeros(machine.n_actuators)
        self._jacobian = np.zeros((1, machine.n_actuators, 6))
        self._has_velocity_loop = mode == "velocity"
        self._corrects_load = total_to_motor_mass_ratio(machine) > LOAD_MASS_RATIO
        self._link()
        # These are shown until those of the machine are known.
        self.pose[:], self.coordinates[:] = machine.home, machine.home_coordinates

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled copy: its arrays become views of the plant's again."""
        self.__dict__.update(state)
        self._link()

    def _link(self) -> None:
        """Bind views of the plant's arrays to the row of this machine."""
        plant, states = self._plant, self._plant.drives.states[0]
        self._states = states
        self.pose = plant.pose[0]
        self.twist = plant.twist[0]
        self.acceleration = plant.acceleration[0]
        self._legs, self._leg_rates = plant.coordinates[0], plant.rates[0]
        self.forces, self.efforts = plant.forces[0], plant.effort[0]
        self.coordinates = states[:, column.POSITION]
        self.rates = states[:, column.SPEED]

    def start(self, coordinates: FloatArray, rates: FloatArray) -> None:
        """Set the model to measured coordinates and rates `(n,)`, its motors in equilibrium.

        Raises:
            ForwardKinematicsError: no pose has these coordinates.
        """
        windup = np.zeros_like(coordinates)
        for _ in range(3):  # from the second time on with the windup of transmissions and springs
            # Readings of redundant actuators contradict each other: the pose is the nearest one.
            pose = self.machine.forward_kinematics(coordinates - windup, tolerance=self._stroke)
            twist = allowed_motion(self.machine, pose, self.machine.jacobian(pose)) @ rates
            motion = self.machine.constrain(pose, twist)
            self._plant.reset([0], pose=motion.pose[None], twist=motion.twist[None])
            windup = self.coordinates - self.machine.inverse_kinematics(motion.pose)
        self._states[:, column.POSITION] = coordinates
        self.disturbance[:] = 0.0

    def advance(self, command: FloatArray, feedforward: FloatArray | None) -> bool:
        """Advance by one period under a command `(n,)`; return False where the model cannot."""
        plant, feedforward_rows = self._plant, None if feedforward is None else feedforward[None]
        if self._has_velocity_loop:
            plant.advance(command[None], feedforward=feedforward_rows)
        else:
            speed = self._states[:, column.SPEED]
            half_step = 0.5 * self.period * self.disturbance / self._inertia
            speed -= half_step
            plant.advance(command[None], feedforward=feedforward_rows)
            speed -= half_step
        return not plant.failed[0]

    def correct(self, innovation: FloatArray) -> None:
        """Correct the state by innovations `(n,)`: measured coordinates less `coordinates`.

        Where drives close velocity loops, the disturbance acts through their integrals: the loops
        would respond to a change of speed and integrate it. The loop of the real drive has
        integrated the real speed, whose integral is the position. The gains assume that motor and
        load are one mass: a load that is heavier than its motor is corrected with it.
        """
        position_correction, speed_correction, force_correction = (
            self._gain * innovation[:, None]
        ).T
        self.disturbance += force_correction
        states = self._states
        states[:, column.POSITION] += position_correction
        states[:, column.SPEED] += speed_correction
        if self._has_velocity_loop:
            states[:, column.INTEGRAL] -= (
                self._plant.drives.gains[0, :, 1] * position_correction + force_correction
            )
            states[:, column.EFFORT] -= force_correction
        if self._corrects_load:  # a light motor alone could not take its load along
            corrections = np.stack([position_correction, speed_correction], axis=1)
            platform_corrections = self.allowed_motion() @ corrections
            self.pose[:] = displaced(self.pose, platform_corrections[:, 0])
            self.twist += platform_corrections[:, 1]
            self._legs += position_correction
            self._leg_rates += speed_correction
            states[:, [column.LEG_RATE, column.EARLIER_LEG_RATE]] += speed_correction[:, None]

    def needed_efforts(self) -> FloatArray:
        """Return the efforts `(n,)` of motors that the model needs for the measured motion.

        With velocity loops they are the model's efforts. In the other modes these follow the
        command, and exceed the needed efforts by `disturbance`.
        """
        return self.efforts if self._has_velocity_loop else self.efforts - self.disturbance

    def jacobian(self) -> FloatArray:
        """Return the Jacobian `(n, 6)` at the present pose; the next call overwrites it."""
        jacobian_batch(self.machine.constants.legs, self._plant.pose, self._jacobian)
        matrix: FloatArray = self._jacobian[0]
        return matrix

    def allowed_motion(self) -> FloatArray:
        """Return the platform's twists `(6, n)` at unit rates of the legs, at the present pose."""
        return allowed_motion(self.machine, self.pose, self.jacobian())


def allowed_motion(machine: MachineModel, pose: FloatArray, jacobian: FloatArray) -> FloatArray:
    """Return the twists `(6, n)` at unit rates of the legs that constraints allow.

    Args:
        machine: with legs that may constrain the platform.
        pose: `(7,)` of the platform.
        jacobian: `(n, 6)` there.
    """
    rows = jacobian
    if machine.dof < 6:
        rows = np.vstack([jacobian, machine.constraints(pose)])
    return np.asarray(np.linalg.pinv(rows)[:, : len(jacobian)])


def innovation_std(design: ObserverDesign, covariance: FloatArray, count: int) -> FloatArray:
    """Return standard deviations `(count, n)` of innovations 1.. periods after a reading.

    Args:
        design: design of the observer.
        covariance: `(n, 3, 3)` covariance of the observer's state after a reading.
        count: number of periods.
    """
    transition, rows = design.model.transition, []
    for _ in range(count):
        covariance = transition @ covariance @ np.swapaxes(transition, 1, 2) + design.process
        rows.append(np.sqrt(covariance[:, 0, 0] + design.measurement))
    return np.array(rows)


class EncoderWatch:
    """Watches the readings of all encoders, and corrects lost counts.

    A motor cannot jump: an innovation far beyond its deviation, and as far from the previous one,
    means lost counts, by which later readings are corrected. An encoder is dead whose reading does
    not change by a single count while holding the motor would take more force than friction gives.

    Attributes:
        offset: `(n,)` sum of the lost counts [m, rad].
        dead: `(n,)` whether an encoder is dead, so that its readings are ignored.
        jump: largest jump of an innovation at the last sample, in standard deviations.
    """

    def __init__(self, model: ShadowModel, limit: float) -> None:
        """Watch the encoders of a model; `limit` of innovations is in standard deviations."""
        machine = model.machine
        n = machine.n_actuators
        self._model, self.limit, drives = model, limit, drive_model(machine)
        self._sticking_force = (
            STICKING_FORCE_RATIO * drives.breakaway + drives.backlash_smoothing_force
        )
        self._resolution, self._unit = drives.resolution, machine.coordinate_unit
        self._outlier_distance = OUTLIER_FRACTION * machine.stroke
        self._low = machine.minimum_coordinates - self._outlier_distance
        self._high = machine.maximum_coordinates + self._outlier_distance
        self.offset, self.dead = np.zeros(n), np.zeros(n, dtype=bool)
        self._noise, self._mean_ratio, self._learned_samples = np.ones(n), np.zeros(n), 0
        self.jump, self._shock_end = 0.0, 0.0
        self._last_reading, self._still_time = np.full(n, np.nan), np.zeros(n)
        self._force, self._latest_innovation = np.zeros(n), np.zeros(n)
        self._jumps: dict[int, tuple[float, int, float]] = {}

    def innovation(self, reading: FloatArray, missed_samples: int) -> FloatArray:
        """Return innovations `(n,)` of readings after a gap of samples; zero for dead encoders."""
        model = self._model
        self._deviation = model.spread[min(missed_samples, len(model.spread) - 1)]
        innovation = np.where(self.dead, 0.0, reading - self.offset - model.coordinates)
        # An error of the model is in the previous innovation as well, and cancels.
        self._previous_innovation, self._latest_innovation = self._latest_innovation, innovation
        sudden_change = np.minimum(
            np.abs(innovation), np.abs(innovation - self._previous_innovation)
        )
        self._sudden = sudden_change
        self._ratio = sudden_change / (self._deviation * self._noise)
        self.jump = float(self._ratio.max())
        return innovation

    def check(
        self, time: float, reading: FloatArray, innovation: FloatArray, *, is_learning: bool
    ) -> list[Alarm]:
        """Return new alarms, and remove jumps from `innovation`.

        While the shadow learns, the noise of the readings is not known: a change counts as a jump
        from a fraction of the stroke on.
        """
        if is_learning:
            self._learn_noise()
            is_jump = self._sudden > self._outlier_distance
        else:
            is_jump = self._ratio > self.limit
        if is_jump.any() and time >= self._shock_end and not self.dead.any():
            for leg in np.flatnonzero(is_jump).tolist():
                _, count, offset_before = self._jumps.get(leg, (time, 0, float(self.offset[leg])))
                self._jumps[leg] = time, count + 1, offset_before
                lost_distance = innovation[leg] - self._previous_innovation[leg]
                step = self._resolution[leg]
                if step > 0.0:
                    lost_distance = step * np.rint(lost_distance / step)
                self.offset[leg] += lost_distance
                innovation[leg] -= lost_distance
        is_unchanged = reading == self._last_reading
        disturbance = self._model.disturbance
        np.copyto(self._force, disturbance, where=~is_unchanged)
        self._still_time[:] = np.where(is_unchanged, self._still_time + self._model.period, 0.0)
        self._last_reading[:] = reading
        alarms = [*self._after_jumps(time, reading)] if self._jumps else []
        frozen = (self._still_time >= DEAD_READING_TIME) & ~self.dead
        if frozen.any():
            frozen &= np.abs(disturbance - self._force) > self._sticking_force
            legs = np.flatnonzero(frozen).tolist()
            alarms += [self._dead_encoder_alarm(time, leg) for leg in legs]
        return alarms

    def _learn_noise(self) -> None:
        """Learn the noise from the mean of the innovations, on which single jumps hardly count."""
        self._learned_samples += 1
        self._mean_ratio += (self._ratio * self._noise - self._mean_ratio) / self._learned_samples
        self._noise = np.maximum(self._mean_ratio / QUANTISED_RATIO, 1.0)

    def frozen_encoder_alarm(self, time: float) -> list[Alarm]:
        """Return the alarm of a frozen encoder, which explains a steady force; empty without one.

        The loop moves the leg whose reading is frozen, which looks to the model like a force.
        """
        legs = np.flatnonzero((self._still_time >= MAX_PAUSE) & ~self.dead).tolist()
        return [self._dead_encoder_alarm(time, legs[0])] if len(legs) == 1 else []

    def _after_jumps(self, time: float, reading: FloatArray) -> Iterator[Alarm]:
        """Yield the alarms that follow jumps: a dead encoder, or lost counts after `QUIET_TIME`.

        Repeated jumps of most encoders, whose readings change, are a shock to the machine.
        """
        jumping_legs = [leg for leg, (_, count, _) in self._jumps.items() if count > 1]
        if len(jumping_legs) > len(reading) // 2 and not self._still_time[jumping_legs].any():
            for leg, (_, _, offset_before) in self._jumps.items():
                self.offset[leg] = offset_before
            self._jumps.clear()
            self._shock_end = time + SHOCK_TIME
            return
        for leg, (last_jump, count, offset_before) in list(self._jumps.items()):
            is_outside = not self._low[leg] <= reading[leg] <= self._high[leg]
            is_outside |= abs(self.offset[leg] - offset_before) > self._outlier_distance[leg]
            if is_outside or count >= MAX_JUMPS:
                self.offset[leg] = offset_before
                yield self._dead_encoder_alarm(time, leg, "out of reach" if is_outside else "")
            elif (
                time - last_jump >= QUIET_TIME > self._still_time[leg]
            ):  # not dead: its reading changes
                del self._jumps[leg]
                size, unit = offset_before - float(self.offset[leg]), self._unit
                if (step := self._resolution[leg]) > 0.0:
                    size, unit = round(size / step), "counts"
                yield Alarm(time, "counts", leg + 1, size, unit)

    def _dead_encoder_alarm(self, time: float, leg: int, reason: str = "") -> Alarm:
        self.dead[leg] = True
        self._jumps.pop(leg, None)
        still_time = float(self._still_time[leg])
        reason = reason or ("stands still, or the leg does" if still_time > 0.0 else "jumps")
        return Alarm(time, "sensor", leg + 1, still_time, "s", f"encoder {reason}")
