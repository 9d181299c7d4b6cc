"""The thesis' cascade with a Kalman observer: estimated speed, disturbance as feedforward.

`AppliedForce` models the drives' force under a command: delayed, lagging, averaged over a period.
"""

from __future__ import annotations

from math import exp
from typing import Any, ClassVar

import numpy as np

from twin.basics.arrays import FloatArray, as_flag, as_instance
from twin.control.cascade import Cascade
from twin.control.computed_torque import check_same_kind
from twin.control.controller import DEFAULT_PERIOD, Reference, control_period
from twin.control.gains import (
    DriveModel,
    burden,
    drive_model,
    loop_lag,
    torque_loops,
    total_to_motor_mass_ratio,
)
from twin.control.observer.kalman_observer import (
    KalmanObserver,
    ObserverDesign,
    hardware,
    observed_mass,
)
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model
from twin.motion import Motion
from twin.plant.signals import Command, Measurement


class AppliedForce:
    """Follows commanded forces `(n,)` through the drives' delay and current loops.

    The observer uses the result as the force over the past period, because the drives measure it
    too late.
    """

    def __init__(self, drives: DriveModel, period: float) -> None:
        whole_periods = int(drives.delay / period + 1e-9)
        remainder = drives.delay - whole_periods * period
        self._durations = [
            duration for duration in (remainder, period - remainder) if duration > 1e-9 * period
        ]
        self._periods_back = whole_periods + (1 if len(self._durations) == 2 else 0)
        self._period, self._lag = period, drives.lag
        self._past_commands: list[FloatArray] = []  # oldest first
        self._effort: FloatArray = np.zeros(len(drives.inertia))

    def start(self, force: FloatArray) -> None:
        """Start with drives in steady state at `force` `(n,)` [N, N m]."""
        self._effort = np.array(force)
        self._past_commands = [self._effort] * (self._periods_back + 1)

    def over_period(self, command: FloatArray) -> FloatArray:
        """Return the mean force over the period that begins with a `command` `(n,)`."""
        self._past_commands = [*self._past_commands[1:], np.array(command)]
        mean = np.zeros_like(self._effort)
        for slot, duration in enumerate(self._durations):
            command_force = self._past_commands[slot]
            if self._lag == 0.0:
                self._effort = command_force
                mean += command_force * (duration / self._period)
                continue
            decay = exp(-duration / self._lag)
            force_error = self._effort - command_force
            mean += command_force * (duration / self._period) + force_error * (
                self._lag * (1 - decay) / self._period
            )
            self._effort = command_force + force_error * decay
        return mean


OBSERVER_BANDWIDTH = 50.0
"""[Hz] Engineering choice: bandwidth of an observer whose readings are exact. An infinite bandwidth
would differentiate twice. Beyond about 100 Hz `stewart` becomes unstable: the modes of its six legs
move 15 to 240 kg, and the observer assumes 28 kg for each leg."""

MAX_MASS_RATIO = 1.9
"""Largest ratio of an observer's mass to the lightest mass that its force moves: an ideal
disturbance observer is unstable from twice the true mass on."""

HEAVY_LEG_MASS_RATIO = 2.0
"""Total mass (motor and leg) over the motor's mass, above which the leg is heavier than its motor.
Where the motor is held, the leg oscillates on the spring of the transmission. The observer would
follow that, so its bandwidth must stay low."""

LAG_BANDWIDTH_PRODUCT = 0.2
"""Engineering choice: largest bandwidth of such a slow observer times the lag of the loop."""

DISTURBANCE_TIME = 0.1
"""[s] Engineering choice: time over which the expected disturbance changes by as much as the
holding force."""


class ObserverCascade(Cascade):
    """Decentralised torque mode: PI position and velocity loops on Kalman estimates.

        v_set = v_ref + Kp e + Ki int(e),             e = q_ref - q
        force    = Kv (1 + 1/(Tv s)) (v_set - v_estimated) + F_d estimated

    Both integrals stop where what they lead to is limited. The observer starts with the force
    that holds the machine as its disturbance, the velocity loop's integral at zero: the first
    force is the present one.

    Attributes:
        observer: of all actuators.
        compensation: whether the estimated disturbance is fed forward.
        estimated_speed: whether the velocity loop closes on the estimated speed.

    Reference:
        Stewart thesis, section 4.4, figure 4.35.
    """

    name: ClassVar[str] = "observer"

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        period: float = DEFAULT_PERIOD,
        model: MachineModel | None = None,
        design: ObserverDesign | None = None,
        compensation: bool = True,
        estimated_speed: bool = True,
        position_gain: Any = None,
        position_integral: Any = None,
        velocity_gain: Any = None,
        velocity_time: Any = None,
        feedforward_start: Any = None,
        feedforward_rise: Any = None,
    ) -> None:
        """Design the observer.

        Args:
            platform: the machine.
            motion: reference motion; default: stay at home.
            period: control period [s].
            model: the controller's model of the machine; default the machine itself.
            design: of the observer; default `suitable_design`.
            compensation: feed the estimated disturbance forward.
            estimated_speed: close the velocity loop on the estimated speed; else on the one that
                drives measure, which without compensation is feedback alone.
            position_gain: [1/s]; default that of `torque_loops`.
            position_integral: [1/s2]; default likewise.
            velocity_gain: one number or `(n,)` [N s/m]; default likewise.
            velocity_time: one number or `(n,)` [s]; default likewise.
            feedforward_start: [s] after the position loop, when velocity feedforward begins.
            feedforward_rise: [s] over which it rises.

        Raises:
            InputError: an argument that cannot be used, springs in the legs or beside their
                actuators, or a design of another period or number of actuators.
            StateError: the design has no steady gains (`CovarianceError`).
        """
        controller_model = as_model(platform if model is None else model)
        check_same_kind(controller_model, as_model(platform))
        if controller_model.n_deflections:
            raise InputError("platform", "springs inside its legs: no leg is a mass by itself")
        if controller_model.leg.has_axial_spring:
            raise InputError(
                "platform",
                "springs beside its actuators, which m v' = F - F_d leaves out: the observer would "
                "take their force for a disturbance that follows the motion; take the cascade, or "
                "active damping with hac_lac",
            )
        drives = drive_model(controller_model)
        loops = torque_loops(controller_model, control_period(period))
        default_gain, default_integral = loops.position_gain, loops.position_integral
        super().__init__(
            platform,
            motion,
            period=period,
            position_gain=default_gain if position_gain is None else position_gain,
            position_integral=default_integral if position_integral is None else position_integral,
            velocity_gain=loops.velocity_gain if velocity_gain is None else velocity_gain,
            velocity_time=loops.velocity_time if velocity_time is None else velocity_time,
            feedforward_start=feedforward_start,
            feedforward_rise=feedforward_rise,
        )
        self.compensation = as_flag(compensation, "compensation")
        self.estimated_speed = as_flag(estimated_speed, "estimated_speed")
        if design is None:
            design = suitable_design(controller_model, self.period)
        observer_design = as_instance(design, "design", ObserverDesign)
        n = platform.n_actuators
        if observer_design.model.period != self.period or len(observer_design.measurement) != n:
            raise InputError("design", f"must be of {n} actuators and a period of {self.period} s")
        self.observer = KalmanObserver(observer_design)
        self._applied_force = AppliedForce(drives, self.period)
        self._force_limits = drives.peak_effort
        self._force_integral = np.zeros(n)
        self._known_force = np.zeros(n)
        self._is_first_update = True

    def start(self, measurement: Measurement) -> None:
        """Begin at `measurement`, without a step in the force."""
        super().start(measurement)
        self.observer.start(measurement.coordinates, measurement.rates, measurement.forces)
        self._applied_force.start(measurement.forces)
        self._known_force = measurement.forces
        self._force_integral = np.zeros_like(self._force_integral)
        if not self.compensation:
            self._force_integral = np.array(measurement.forces)
        self._is_first_update = True

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return forces for control period `step`."""
        if self._is_first_update:
            self._is_first_update = False
        elif not measurement.valid:
            # A silent sensor is bridged by the model: the last reading would pull it back.
            self.observer.predict(self._known_force)
            measurement = measurement._replace(
                coordinates=self.observer.position.copy(), rates=self.observer.rate.copy()
            )
        else:
            self.observer.update(measurement.coordinates, self._known_force)
        rate = self.observer.rate if self.estimated_speed else measurement.rates
        command = super().update(step, measurement).values
        error = command - rate
        unlimited = self.velocity_gain * error + self._force_integral
        if self.compensation:
            unlimited = unlimited + self.observer.disturbance
        force = np.minimum(np.maximum(unlimited, -self._force_limits), self._force_limits)
        is_integrating = (unlimited - force) * error <= 0.0
        integral_gain = self.period * self.velocity_gain / self.velocity_time
        self._force_integral = self._force_integral + integral_gain * error * is_integrating
        self._known_force = self._applied_force.over_period(force)
        return Command(force, "force")

    def signals(self) -> dict[str, FloatArray]:
        """Return estimated rates and disturbances, and the innovation of the last reading."""
        return {
            "estimated_rate": self.observer.rate.copy(),
            "estimated_disturbance": self.observer.disturbance.copy(),
            "innovation": self.observer.innovation.copy(),
        }


def suitable_design(platform: MachineModel, period: float = DEFAULT_PERIOD) -> ObserverDesign:
    """Return the observer that fits a machine's masses, encoders and weight.

    The disturbance is expected to change over `DISTURBANCE_TIME` by as much as the larger of
    twice the drives' friction and what holds the machine at home, as a random walk. Readings are as
    good as the encoders' steps; exact ones are given the variance that puts the observer's poles
    at `OBSERVER_BANDWIDTH`.

    Raises:
        InputError: not a machine.
    """
    machine = as_model(platform)
    drives = drive_model(machine)
    zero_twist = np.zeros(6)
    holding_force = np.abs(machine.inverse_dynamics(machine.home, zero_twist, zero_twist)).max()
    # Friction that reverses changes by twice its size; the floor is for a machine without any load.
    disturbance_size = np.maximum(2.0 * drives.friction, max(float(holding_force), 1e-3))
    disturbance_step = disturbance_size * np.sqrt(period / DISTURBANCE_TIME)
    mass = np.minimum(observed_mass(machine), MAX_MASS_RATIO * burden(machine).lightest)
    # The poles' cube is the disturbance's step over mass and reading's deviation, per period.
    angle = 2.0 * np.pi * OBSERVER_BANDWIDTH * period
    exact_reading_step = np.sqrt(12.0) * disturbance_step * period**2 / (mass * angle**3)
    resolution = np.where(drives.resolution > 0.0, drives.resolution, exact_reading_step)
    if total_to_motor_mass_ratio(machine) > HEAVY_LEG_MASS_RATIO:
        slow_angle = LAG_BANDWIDTH_PRODUCT * period / loop_lag(machine, period)
        disturbance_step = np.minimum(
            disturbance_step, mass * resolution / np.sqrt(12.0) * slow_angle**3 / period**2
        )
    return hardware(mass, resolution, disturbance_step, period)
