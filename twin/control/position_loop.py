"""Position loops of all actuators, within their limits of speed and acceleration."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.controller import Reference
from twin.kernels.control import controllers as row
from twin.machine.hardware.drive import Positioning
from twin.model.machine_model import MachineModel
from twin.plant.drives import actuator_limit
from twin.plant.signals import Measurement

CORRECTION_LAG_FACTOR = 10.0
"""Engineering choice: time constant of the encoder correction over the lag of the drives."""

INTERNAL_FORCE_DROOP = 0.01
"""Engineering choice: yielding speed of a leg per internal force, times the gain of its velocity
loop. Internal forces then decay within about 100 integral times of that loop, slower than the legs
oscillate."""


class PositionCommands:
    """Setpoints, ahead by the lag of the drives; corrected slowly where there are encoders.

    Without encoders nothing is fed back. The initial lead of the setpoint, which holds the machine
    at the start as the integral of a velocity loop would, is kept.

    Attributes:
        lag: `(n,)` [s] from a position to the motion that follows it.
        measured: whether all drives have encoders.
    """

    def __init__(self, platform: MachineModel, period: float) -> None:
        """Take the drives of a machine of position drives; `period` of the controller [s]."""
        legs = platform.parameters.legs
        drive_positioning = [
            (leg.drive, leg.drive.positioning()) for leg in legs if leg.drive is not None
        ]
        self.lag = np.array(
            [
                drive.delay + _lag(positioning)
                for drive, positioning in drive_positioning
                if positioning is not None
            ]
        )
        self.measured = has_encoders(platform)
        self._correction_fraction = (
            period / (CORRECTION_LAG_FACTOR * self.lag) if self.measured else np.zeros(len(legs))
        )
        self._offset = np.zeros(len(legs))

    def start(self, error: FloatArray) -> None:
        """Start with an `error` `(n,)` [m, rad]: setpoint minus measured coordinate."""
        self._offset = -error

    def update(self, setpoint: FloatArray, rates: FloatArray, error: FloatArray) -> FloatArray:
        """Return the positions `(n,)` of a control period."""
        self._offset = self._offset + self._correction_fraction * error
        return np.asarray(setpoint + self.lag * rates + self._offset)


def _lag(how: Positioning) -> float:
    """Return the time [s] from a position to the motion that follows it, without the delay."""
    if how.stepper:
        return 1.0 / how.update_rate
    return how.span / how.top_speed + 0.5 / how.update_rate


def takes_positions(platform: MachineModel) -> bool:
    """Return whether the drives of a machine take positions."""
    drives = [leg.drive for leg in platform.parameters.legs]
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

    Derivation: docs/control.md.
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
    return np.asarray(np.linalg.qr(np.swapaxes(null_forces, 1, 2))[0])
