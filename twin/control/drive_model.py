"""A controller's model of its drives: inertia, friction, play, delay, limits."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.model.machine_model import MachineModel, as_model

SMOOTHING = 5e-4
"""Parts of an actuator's stroke per second over which a model's friction changes its sign."""

TOUCHING = 0.1
"""Parts of the largest holding force at home over which a model's play changes its side."""


class DriveModel(NamedTuple):
    """Drives as the actuators' coordinates see them, `(n,)` each: SI units, cranks in rad, N m."""

    inertia: FloatArray
    friction: FloatArray
    """while sliding"""
    breakaway: FloatArray
    """at rest"""
    stribeck_speed: FloatArray
    viscous: FloatArray
    half_play: FloatArray
    compliance: FloatArray
    """of the transmission; zero where there is none"""
    largest: FloatArray
    """effort for a short time, infinite where unknown"""
    smoothing: FloatArray
    """speed over which friction changes its sign"""
    touching: FloatArray
    """force over which play changes its side"""
    resolution: FloatArray
    """of the encoder, zero where readings are exact"""
    delay: float
    """[s]"""
    lag: float
    """[s]"""

    def friction_force(self, rates: FloatArray) -> FloatArray:
        """Return the friction `(..., n)` that a motor overcomes at `rates` `(..., n)`.

        Coulomb with Stribeck's rise towards rest, its sign smoothed, and viscous.
        """
        rise = (self.breakaway - self.friction) * np.exp(-((rates / self.stribeck_speed) ** 2))
        sign = np.tanh(rates / self.smoothing)
        return np.asarray((self.friction + rise) * sign + self.viscous * rates)

    def wound_up(self, forces: FloatArray) -> FloatArray:
        """Return the lead of motors over their legs `(..., n)` that they push with `forces`."""
        return np.asarray(
            self.half_play * np.tanh(forces / self.touching) + self.compliance * forces
        )

    @property
    def lead(self) -> float:
        """Delay and lag [s] until half of a command acts."""
        return self.delay + self.lag


def drive_model(platform: MachineModel) -> DriveModel:
    """Return the drives of a machine's parameters; without drives the ideal ones.

    Raises:
        InputError: not a machine.
    """
    legs, limits = as_model(platform).parameters.legs, platform.limits
    stroke = platform.maximum_coordinates - platform.minimum_coordinates
    rows = []
    for leg in legs:
        most = inf if leg.actuator.effort is None or not limits else leg.actuator.effort
        if leg.drive is None:
            rows.append((0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, most, 0.0))
            continue
        seen = leg.drive.reflected()
        turn = leg.drive.turn
        rows.append(
            (
                seen.inertia,
                seen.friction,
                seen.friction * leg.drive.breakaway,
                seen.stribeck_speed,
                seen.viscous,
                0.5 * seen.backlash,
                1.0 / seen.stiffness if seen.stiffness > 0.0 else 0.0,
                seen.peak if limits and seen.peak is not None else most,
                0.0 if leg.encoder is None or turn is None else leg.encoder.resolution(turn),
            )
        )
    inertia, friction, breakaway, speed, viscous, play, yielding, largest, counts = (
        np.array(column) for column in zip(*rows, strict=True)
    )
    drives = [leg.drive for leg in legs if leg.drive is not None]
    return DriveModel(
        inertia,
        friction,
        breakaway,
        speed,
        viscous,
        play,
        yielding,
        largest,
        SMOOTHING * stroke,
        np.full(len(legs), TOUCHING * _holding(platform)),
        counts,
        max((drive.delay for drive in drives), default=0.0),
        max((drive.current_lag for drive in drives), default=0.0),
    )


def _holding(platform: MachineModel) -> float:
    """Return the largest force that holds the machine at home; without gravity, one unit."""
    rest = np.zeros(6)
    forces = platform.inverse_dynamics(platform.home, rest, rest)
    return float(np.abs(forces).max()) or 1.0
