"""A drive on a test bench: one motor and transmission, and a leg that is moved or left free."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats
from twin.kernels.plant import columns as column
from twin.kernels.plant.actuation import actuate
from twin.plant.drives import motor_parts


class BenchRecord(NamedTuple):
    """The record of a bench at the start of every step and at the end."""

    time: FloatArray
    """`(k + 1,)` [s]"""
    leg: FloatArray
    """`(k + 1,)` coordinate [m] or [rad]"""
    rate: FloatArray
    """`(k + 1,)` [m/s] or [rad/s]"""
    force: FloatArray
    """`(k,)` on the leg [N] or [N m]"""
    states: FloatArray
    """`(k + 1, STATES)` of the drive, columns as in `actuation`"""

    def state(self, place: int) -> FloatArray:
        """Return one column of the drive's states `(k + 1,)`."""
        return self.states[:, place]


class DriveBench:
    """One drive with `step` [s] of an engine and the gains of its velocity loop.

    The leg is a free mass, moved exactly under forces that are constant over a step, or is held
    still.

    Attributes:
        drive: constants `(1, CONSTANTS)`.
        states: `(1, STATES)`.
    """

    def __init__(
        self, drive: FloatArray, step: float, *, gain: float = 0.0, rate: float = 0.0
    ) -> None:
        self.drive, self.step, self._parts = drive, step, motor_parts(drive, step)
        self.states = np.zeros((1, column.STATES))
        self._gains = np.array([[gain, rate]])
        self._out = np.zeros(1)

    def put(self, place: int, value: float) -> None:
        """Set one column of the state."""
        self.states[0, place] = value

    def force(
        self,
        command: float,
        leg: float,
        rate: float,
        *,
        mode: int = 0,
        feedforward: float = 0.0,
        brake: float = 0.0,
    ) -> float:
        """Return the force of one step on a leg at a coordinate and rate."""
        commands, feedforwards, brakes, legs, rates = (
            np.array([value]) for value in (command, feedforward, brake, leg, rate)
        )
        actuate(
            self.drive,
            self.states,
            self._gains,
            commands,
            feedforwards,
            brakes,
            legs,
            rates,
            mode,
            self.step,
            self._parts,
            self._out,
        )
        return float(self._out[0])

    def run(
        self,
        duration: float,
        command: float | Callable[[float], float] = 0.0,
        *,
        mass: float | None = None,
        load: float | Callable[[float], float] = 0.0,
        brake: float = 0.0,
        mode: int = 0,
        leg: float = 0.0,
        rate: float = 0.0,
    ) -> BenchRecord:
        """Return the record of a run.

        Args:
            duration: [s].
            command: force or speed, or one of the time.
            mass: of a free leg; default: the leg is held still.
            load: a further force on the free leg, or one of its rate.
            brake: 1 to hold.
            mode: of the command, `VELOCITY` or 0.
            leg: coordinate of the leg at the start.
            rate: of the leg at the start.
        """
        steps = round(duration / self.step)
        legs, forces = np.empty((steps + 1, 2)), np.empty(steps)
        states = np.empty((steps + 1, column.STATES))
        legs[0], states[0] = (leg, rate), self.states[0]
        for k in range(steps):
            at, speed = legs[k]
            value = command(k * self.step) if callable(command) else command
            forces[k] = self.force(value, at, speed, mode=mode, brake=brake)
            pull = 0.0
            if mass is not None:
                pull = (forces[k] + (load(speed) if callable(load) else load)) / mass
            legs[k + 1, 0] = at + self.step * (speed + 0.5 * self.step * pull) * (mass is not None)
            legs[k + 1, 1] = speed + self.step * pull
            states[k + 1] = self.states[0]
        time = as_floats(np.arange(steps + 1) * self.step, "time")
        return BenchRecord(time, legs[:, 0], legs[:, 1], forces, states)
