"""Rollouts of many parameter sets from many starts at once, in the analytic reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.gains import suitable_velocity_loop
from twin.identification.prediction.platform_errors import Motion
from twin.kernels.batched.analytic import advance_rows
from twin.kernels.batched.arrays import Constants
from twin.kernels.batched.drives import PARTS
from twin.kernels.bundle import Bundle
from twin.kernels.lanes.advance import advance_groups
from twin.kernels.machine_code import SameTypes
from twin.kernels.plant import columns as column
from twin.model.batch import lane_count, on_threads, shares, usable_cores
from twin.model.evaluation import for_many_machines
from twin.model.machine_model import MachineModel
from twin.plant.drives import drive_constants, motor_parts
from twin.plant.signals import MODES, Mode
from twin.simulation.batched.drive_arrays import (
    CONTROLLER_PERIOD,
    empty_inputs,
    empty_machines,
    make_drive_arrays,
)

QUEUE = 2
"""Commands that a queue holds: none waits, delays are in the commands already."""


class Starts(NamedTuple):
    """States at the beginning of rollouts, first axis rows."""

    position: FloatArray
    """`(N, n)` coordinates of the motors"""
    speed: FloatArray
    """`(N, n)` theirs"""
    effort: FloatArray
    """`(N, n)` of the motors, which the velocity loops hold"""
    pose: FloatArray
    """`(N, 7)`"""
    twist: FloatArray
    """`(N, 6)`"""
    coordinates: FloatArray
    """`(N, n)` of the legs"""
    rates: FloatArray
    """`(N, n)`"""


class Commands(NamedTuple):
    """Commands of parameter sets at all steps; sets with the same delays and lags share them."""

    kinds: Any
    """`(sets,)` index of each set's commands"""
    given: FloatArray
    """`(kinds, steps, n)` forces or speeds"""
    feedforward: FloatArray | None
    """`(kinds, steps, n)` forces beside speeds; None for none"""


class Observed(NamedTuple):
    """Measured coordinates of the motors, and how they correct predictions."""

    position: FloatArray
    """`(T, n)`"""
    inverse: FloatArray
    """`(T, 6, n)` of the Jacobian: how the platform moves with its motors"""
    gains: tuple[float, float]
    """of coordinates, and of speeds [1/s], per error"""
    samples: int
    """of a rollout"""
    ratio: int
    """steps of the engine between two samples"""
    scale: FloatArray
    """`(sets, 1)` of the coordinates"""
    bias: FloatArray
    """`(sets, n)` of the coordinates [m, rad]"""
    moving: bool
    """whether the motion of the platform is returned as well"""


class ParameterSets:
    """Constants of machines that differ in numbers alone, stacked.

    Encoders count nothing and converters have no steps here: predictions are smooth.
    """

    def __init__(self, machines: Sequence[MachineModel], timestep: float, mode: Mode) -> None:
        """Stack the constants of `machines` for steps of `timestep` [s] under commands of `mode`.

        Raises:
            InputError: drives that cannot take steps of this length.
        """
        self.timestep, self.mode = timestep, mode
        first = machines[0]
        self.kind: Any = type(first.constants.legs)
        self.bodies = np.array([each.constants.body for each in machines])
        self.legs = np.array([each.constants.legs.rows for each in machines])
        with for_many_machines():
            self.constants = np.array([drive_constants(each, timestep) for each in machines])
        self.drives = self.constants.copy()
        self.drives[:, :, [column.SPEED_DIGIT, column.EFFORT_DIGIT]] = 0.0
        if mode == "force":
            # Their lag is in the commands already.
            self.drives[:, :, [column.LAG, column.LAG_MEAN]] = 0.0
        self.parts = max(motor_parts(each, timestep) for each in self.constants)
        gain, time = suitable_velocity_loop(first, CONTROLLER_PERIOD)
        self.gains = np.stack([gain, gain / time], axis=1)

    def run(
        self, sets: Any, starts: Starts, commands: Commands, rows: Any, observed: Observed
    ) -> tuple[FloatArray, Motion | None]:
        """Return what predictions miss of the motors `(N, samples, n)`, and the platform's motion.

        Each sample is predicted from those before it: what a prediction misses moves motors and
        platform on by the gains of `observed`. Rollouts that fail are NaN.

        Args:
            sets: `(N,)` parameter set of each row.
            starts: of the rows.
            commands: of all parameter sets.
            rows: `(N,)` first sample of each row.
            observed: measurements and gains.
        """
        count = len(rows)
        chunks = max(1, min(usable_cores(), count // lane_count()))
        calls = []
        for part in (slice(*edge) for edge in shares(count, chunks)):
            own = Starts(*(each[part] for each in starts))
            calls.append((sets[part], own, commands, rows[part], observed))
        missed, moved = map(np.concatenate, zip(*on_threads(self._run_part, calls), strict=True))
        return missed, Motion(*np.split(moved, [7, 13], axis=2)) if observed.moving else None

    def _run_part(
        self, sets: Any, starts: Starts, commands: Commands, rows: Any, observed: Observed
    ) -> tuple[FloatArray, FloatArray]:
        """Return what `run` does, of the rows of one core."""
        count, n = starts.position.shape
        arrays = make_drive_arrays(count, n, QUEUE)
        arrays.constants[:], arrays.gains[:] = self.drives[sets], self.gains
        arrays.counters[:, PARTS] = self.parts
        machines, inputs = empty_machines(count, n, 0), empty_inputs(count, n, 1)
        machines.pose[:], machines.twist[:] = starts.pose, starts.twist
        machines.coordinates[:], machines.rates[:] = starts.coordinates, starts.rates
        states = arrays.states
        position, speed = states[:, :, column.POSITION], states[:, :, column.SPEED]
        position[:], speed[:] = starts.position, starts.speed
        states[:, :, column.EFFORT] = states[:, :, column.INTEGRAL] = starts.effort
        constants = Constants(self.bodies[sets], self.kind(self.legs[sets]))
        width = (0,) * lane_count() if count >= lane_count() > 1 else ()
        last = (MODES.index(self.mode), self.timestep, *([width] if width else []))
        advance: Any = SameTypes(advance_groups if width else advance_rows)
        bundle = Bundle(constants, arrays, machines, inputs, *last)
        out = np.empty((count, observed.samples, n))
        motion = np.zeros((count, observed.samples if observed.moving else 0, 19))
        scale, bias = observed.scale[sets], observed.bias[sets]
        period = self.timestep * observed.ratio
        kinds, ratio = commands.kinds[sets], observed.ratio
        for sample in range(observed.samples):
            at = rows + sample
            read = (observed.position[at] - bias) / scale
            missed = np.subtract(position, read, out=out[:, sample])
            if observed.moving and sample:
                change = machines.twist - motion[:, sample - 1, 7:13]
                motion[:, sample - 1, 13:] = change / period
            step, turn = (gain * missed for gain in observed.gains)
            position -= step
            speed -= turn
            machines.coordinates[:] -= step
            machines.rates[:] -= turn
            moved = observed.inverse[at] @ np.stack([step, turn], axis=2)
            machines.pose[:] = displaced(machines.pose, -moved[:, :, 0])
            machines.twist[:] -= moved[:, :, 1]
            if observed.moving:
                motion[:, sample, :7], motion[:, sample, 7:13] = machines.pose, machines.twist
            for part in range(ratio if sample + 1 < observed.samples else 0):
                inputs.command[:] = commands.given[kinds, ratio * at + part]
                if commands.feedforward is not None:
                    inputs.feedforward[:] = commands.feedforward[kinds, ratio * at + part]
                advance(bundle)
        if observed.moving:
            motion[:, -1, 13:] = motion[:, -2, 13:]
        out[machines.failed] = motion[machines.failed] = np.nan
        return out, motion


def displaced(pose: FloatArray, change: FloatArray) -> FloatArray:
    """Return poses `(N, 7)` moved by small translations and rotation vectors `(N, 6)`."""
    found = pose.copy()
    found[:, :3] += change[:, :3]
    w, x, y, z = pose[:, 3:].T
    a, b, c = 0.5 * change[:, 3:].T
    turned = (
        -a * x - b * y - c * z,
        a * w + b * z - c * y,
        b * w + c * x - a * z,
        c * w + a * y - b * x,
    )
    found[:, 3:] += np.stack(turned, axis=1)
    found[:, 3:] /= np.sqrt((found[:, 3:] ** 2).sum(axis=1, keepdims=True))
    return found
