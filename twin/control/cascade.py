"""Position loops of all actuators within their limits of speed and acceleration, and the cascade.

The cascade of the thesis is a PI position loop with velocity feedforward around a velocity loop.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from twin.basics.arrays import FloatArray, not_negative
from twin.control.controller import DEFAULT_PERIOD, Controller, Reference
from twin.control.gains import spring_forces, suitable_position_loop
from twin.kernels.control import controllers as row
from twin.machine.hardware.drive import Positioning
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.drives import actuator_limit
from twin.plant.signals import Command, Measurement

CORRECTION_LAG_FACTOR = 10.0
"""Engineering choice: time constant of the encoder correction relative to the lag of the drives."""

INTERNAL_FORCE_DROOP = 0.01
"""Engineering choice: yielding speed of a leg per internal force, times the gain of its velocity
loop. Internal forces then decay within about 100 integral times of that loop, slower than the legs
oscillate."""


class PositionCommands:
    """Setpoints, ahead by the lag of the drives; corrected slowly where there are encoders.

    The offset at the start, measured coordinate minus setpoint, is kept: it holds the machine
    there, as the integral of a velocity loop would. Without encoders nothing else is fed back.

    Attributes:
        lag: `(n,)` [s] from a position to the motion that follows it.
    """

    def __init__(self, platform: MachineModel, period: float) -> None:
        """Take a machine, all of whose drives take positions; `period` of the controller [s]."""
        legs: Any = platform.parameters.legs
        self.lag = np.array([leg.drive.delay + _lag(leg.drive.positioning()) for leg in legs])
        self._correction_fraction = np.zeros(len(legs))
        if has_encoders(platform):
            self._correction_fraction = period / (CORRECTION_LAG_FACTOR * self.lag)
        self._offset = np.zeros(len(legs))

    def start(self, error: FloatArray) -> None:
        """Start with an `error` `(n,)` [m, rad]: setpoint minus measured coordinate."""
        self._offset = -error

    def update(self, setpoint: FloatArray, rates: FloatArray, error: FloatArray) -> FloatArray:
        """Return the positions `(n,)` of a control period."""
        self._offset = self._offset + self._correction_fraction * error
        return setpoint + self.lag * rates + self._offset


def _lag(positioning: Positioning) -> float:
    """Return the time [s] from a position to the motion that follows it, without the delay."""
    if positioning.stepper:
        return 1.0 / positioning.update_rate
    return positioning.span / positioning.top_speed + 0.5 / positioning.update_rate


def takes_positions(platform: MachineModel) -> bool:
    """Return whether the drives of a machine take positions."""
    drives = platform.parameters.drives
    return all(drive is not None and drive.positioning() is not None for drive in drives)


def has_encoders(platform: MachineModel) -> bool:
    """Return whether all actuators of a machine have encoders."""
    return all(leg.encoder is not None for leg in platform.parameters.legs)


class PositionLoop:
    """Decentralised PI: speed = fraction of the reference rate + gain e + integral of e.

    Where the speed is limited the integral stops.

    Attributes:
        gain: [1/s].
        integral: [1/s2].
        limited: whether the last speeds were limited.
    """

    def __init__(
        self, platform: MachineModel, period: float, gain: float = 0.0, integral: float = 0.0
    ) -> None:
        """Take the limits of a machine's actuators; infinite where they are unknown."""
        self.gain, self.integral, self._period = gain, integral, period
        self._loops = np.zeros((4, platform.n_actuators))
        self._loops[row.SPEED_ROW] = actuator_limit(platform, "speed")
        self._loops[row.CHANGE_ROW] = actuator_limit(platform, "acceleration") * period
        self.limited = False

    def start(self, error: FloatArray, rates: FloatArray, feedforward: FloatArray) -> None:
        """Start at an error, speeds and a feedforward `(n,)`, without a step in the command."""
        speed = self._loops[row.SPEED_ROW]
        self._loops[row.INTEGRAL_ROW] = rates - feedforward - self.gain * error
        self._loops[row.COMMAND_ROW] = np.clip(rates, -speed, speed)

    def update(
        self, setpoint: FloatArray, measured: FloatArray, rates: FloatArray, fraction: float = 1.0
    ) -> FloatArray:
        """Return the speeds `(n,)` of a control period, with that fraction of `rates` added."""
        command = np.empty(len(measured))
        self.limited = row.limited_speeds(
            self._loops,
            self.gain,
            self.integral * self._period,
            setpoint,
            measured,
            rates,
            fraction,
            command,
        )
        return command


class LoadSharing:
    """Correction of position loops of redundant legs, each with integrals of its own.

    Internal forces N, with which legs only push against each other, move nothing, and to first
    order no motion of the platform changes the coordinates along them: N' dq = 0. So an integral
    along N never comes to
    rest: small errors of the readings let some legs lift the others, without limit. The law removes
    that part from the position errors, and lets legs yield to the measured internal force:

        e <- e - N N' e,        v <- v - D N N' f,        D = INTERNAL_FORCE_DROOP / velocity gain

    See docs/theory.md.
    """

    def __init__(self, platform: MachineModel, reference: Reference, gain: FloatArray) -> None:
        """Compute internal forces along a reference.

        Args:
            platform: with more legs than degrees of freedom, without springs in the legs.
            reference: at the control instants.
            gain: `(n,)` of the velocity loops [N s/m] or [N m s/rad].
        """
        # The supervisor stops the machine before it follows a pose that its legs cannot reach.
        is_reachable = reference.reachable[:, None] > 0.0
        poses = np.where(is_reachable, reference.pose, platform.home)
        self._internal = internal_forces(platform, poses)
        self._droop = INTERNAL_FORCE_DROOP / gain

    def consistent(self, row: int, error: FloatArray) -> FloatArray:
        """Return position errors `(n,)` at a row of the reference without their internal part."""
        internal = self._internal[row]
        return np.asarray(error - internal @ (internal.T @ error))

    def yielding_speeds(self, row: int, forces: FloatArray) -> FloatArray:
        """Return speeds `(n,)` by which legs give way to the internal part of `forces` `(n,)`."""
        internal = self._internal[row]
        return np.asarray(-self._droop * (internal @ (internal.T @ forces)))

    def speeds(
        self,
        row: int,
        loop: PositionLoop,
        setpoint: FloatArray,
        rates: FloatArray,
        measurement: Measurement,
        fraction: float = 1.0,
    ) -> FloatArray:
        """Return the speeds `(n,)` [m/s, rad/s] of position loops whose legs share the load.

        Args:
            row: of the reference.
            loop: position loops, advanced by one period.
            setpoint: `(n,)` [m, rad].
            rates: `(n,)` of the reference [m/s, rad/s], fed forward.
            measurement: coordinates and forces of the legs.
            fraction: of the rates that is fed forward.
        """
        measured = setpoint - self.consistent(row, setpoint - measurement.coordinates)
        speeds = loop.update(setpoint, measured, rates, fraction)
        return speeds + self.yielding_speeds(row, measurement.forces)


def needs_load_sharing(platform: MachineModel) -> bool:
    """Return whether legs are redundant and rigid, so that their integrals need a sharing law.

    With springs in series or in parallel with the legs, a force balances every error of a length.
    """
    springs = platform.n_deflections or platform.leg.has_axial_spring
    return platform.n_actuators > platform.dof and not springs


def internal_forces(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return an orthonormal basis `(k, n, n - dof)` of internal forces at poses `(k, 7)`.

    They are the actuators' part of the null space of [J; C]^T.
    """
    n, n_internal = platform.n_actuators, platform.n_actuators - platform.dof
    motion_rows = np.concatenate([platform.jacobian(poses), platform.constraints(poses)], axis=1)
    null_forces = np.linalg.svd(np.swapaxes(motion_rows, 1, 2))[2][:, -n_internal:, :n]
    return np.linalg.qr(np.swapaxes(null_forces, 1, 2))[0]


class Cascade(Controller):
    """Decentralised PI position loops: speed command = feedforward + gain e + integral of e.

    The drives close the velocity loops. Where the command is limited the integral stops. Its
    initial value makes the first command equal to the present speed. Velocity feedforward begins
    `feedforward_start` after the loop is closed and rises over `feedforward_rise`; a cascade that
    takes over after that time has all of it at once. Struts also get the force that stretches their
    own springs. Servos and steppers get positions instead: see `PositionCommands`.

    Attributes:
        position_gain: [1/s].
        position_integral: [1/s2].

    Reference:
        Albayrak, thesis, METU 2005, figures 4.19 and 4.20, appendix C (figures C.11, C.12).
    """

    name: ClassVar[str] = "cascade"

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        period: float = DEFAULT_PERIOD,
        position_gain: Any = None,
        position_integral: Any = None,
        velocity_gain: Any = None,
        velocity_time: Any = None,
        feedforward_start: Any = None,
        feedforward_rise: Any = None,
    ) -> None:
        """Take the machine's gains, or the given ones.

        Args:
            platform: the machine.
            motion: reference motion; default: stay at home.
            period: control period [s].
            position_gain: [1/s].
            position_integral: [1/s2].
            velocity_gain: of the velocity loop [N s/m] or [N m s/rad], one number or `(n,)`.
            velocity_time: integral time of the velocity loop [s], one number or `(n,)`.
            feedforward_start: [s] after the loop is closed, when velocity feedforward begins.
            feedforward_rise: [s] over which it rises.

        Raises:
            InputError: an argument that cannot be used.
        """
        super().__init__(
            platform,
            motion,
            period=period,
            velocity_gain=velocity_gain,
            velocity_time=velocity_time,
        )
        machine_gains = platform.parameters.control
        gain, integral = suitable_position_loop(platform, self.period)
        default_start, default_rise = (
            (0.0, 0.0)
            if machine_gains is None
            else (machine_gains.feedforward_start, machine_gains.feedforward_rise)
        )
        self.position_gain = _value_or_default(position_gain, gain, "position_gain")
        self.position_integral = _value_or_default(position_integral, integral, "position_integral")
        self._feedforward_start = _value_or_default(
            feedforward_start, default_start, "feedforward_start"
        )
        self._feedforward_rise = _value_or_default(
            feedforward_rise, default_rise, "feedforward_rise"
        )
        self._loop = PositionLoop(platform, self.period, self.position_gain, self.position_integral)
        self._positions = (
            PositionCommands(platform, self.period) if takes_positions(platform) else None
        )
        self._balances_loads = needs_load_sharing(platform) and self._positions is None
        self._prepare(self.reference)
        self._initial_spring_force = self._spring_forces[0]

    def _prepare(self, reference: Reference) -> None:
        self._spring_forces = spring_forces(self.platform, reference.coordinates)
        self._load_sharing = (
            LoadSharing(self.platform, reference, self.velocity_gain)
            if self._balances_loads
            else None
        )
        super()._prepare(reference)

    def start(self, measurement: Measurement) -> None:
        """Start at `measurement`, without a step in the command."""
        row_index = self.reference.row(self.first)
        error = self.reference.coordinates[row_index] - measurement.coordinates
        if self._positions is not None:
            self._positions.start(error)
        feedforward = (
            self._feedforward_fraction(self.first * self.period) * self.reference.rates[row_index]
        )
        # What stretches the springs at the start is in the integrals of the velocity loops.
        self._initial_spring_force = self._spring_forces[row_index]
        self._start_loop(row_index, error, measurement.rates, feedforward)

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return speeds for control period `step`."""
        row_index = self.reference.row(step)
        setpoint, rates = self.reference.coordinates[row_index], self.reference.rates[row_index]
        if self._positions is not None:
            error = setpoint - measurement.coordinates
            return Command(self._positions.update(setpoint, rates, error), "position")
        fraction = self._feedforward_fraction(step * self.period)
        command = self._loop_speeds(row_index, setpoint, rates, measurement, fraction)
        self.limited = self._loop.limited
        return Command(
            command, feedforward=self._spring_forces[row_index] - self._initial_spring_force
        )

    def _start_loop(
        self, row: int, error: FloatArray, rates: FloatArray, feedforward: FloatArray
    ) -> None:
        """Start the position loop without a step in the speed command."""
        if self._load_sharing is not None:
            error = self._load_sharing.consistent(row, error)
        self._loop.start(error, rates, feedforward)

    def _loop_speeds(
        self,
        row: int,
        setpoint: FloatArray,
        rates: FloatArray,
        measurement: Measurement,
        fraction: float = 1.0,
    ) -> FloatArray:
        """Return the speeds of the position loop; redundant legs share the load."""
        if self._load_sharing is None:
            return self._loop.update(setpoint, measurement.coordinates, rates, fraction)
        return self._load_sharing.speeds(row, self._loop, setpoint, rates, measurement, fraction)

    def _feedforward_fraction(self, time: float) -> float:
        """Return the fraction of velocity feedforward: 0, smoothly up to 1."""
        if time < self._feedforward_start:
            return 0.0
        if time >= self._feedforward_start + self._feedforward_rise:
            return 1.0
        progress = (time - self._feedforward_start) / self._feedforward_rise
        return progress * progress * (3.0 - 2.0 * progress)


def _value_or_default(value: Any, default: float, field: str) -> float:
    return default if value is None else not_negative(value, field)
