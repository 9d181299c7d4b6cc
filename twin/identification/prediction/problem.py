"""Prediction errors of a recording over short windows, less what their starts explain."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.identification.parameters import Parameter, with_parameters
from twin.identification.prediction.commands import delayed_commands
from twin.identification.prediction.recording import Recording
from twin.identification.prediction.rollouts import Commands, ParameterSets, Starts
from twin.identification.prediction.starts import STEPS, free_starts, placed
from twin.identification.prediction.windows import windows_of
from twin.model.machine_model import MachineModel
from twin.plant.drives import drive_constants, drive_timestep
from twin.plant.prepared import encoder_resolution

WINDOW = 0.1
"""[s] Length of windows, unless the user gives one."""

LONGEST_STEP = 5e-4
"""[s] of the rollouts: that of closed loops."""

SETTLING = 0.01
"""[s] at the beginning of a window that is not compared: transmissions come to rest."""

CHANGE = 0.02
"""Differences of parameters for the slopes, in spreads."""

SHARES = (1.0, 0.2)
"""Parts of a step of the starts that are tried."""

SMALLEST_NOISE = 1e-7
"""[m, rad] Noise of encoders whose resolution the file does not give."""


class Linear(NamedTuple):
    """Prediction errors of all windows and their slopes; first axis W windows, m errors of each."""

    errors: FloatArray
    """`(W, m)` in standard deviations of the encoders' noise"""
    slopes: FloatArray
    """`(W, m, p)` by the parameters in spreads"""
    by_starts: FloatArray
    """`(W, m, s)` by the free numbers of the starts in their `STEPS`; empty where not asked for"""


class PredictionProblem:
    """Prediction errors of one recording as a function of a machine's parameters.

    Attributes:
        parameters: those that are free.
        windows: of the recording.
        noise: `(n,)` standard deviation of the encoders [m, rad].
        starts: `(W, 3, n)` free numbers of the windows' beginnings; see `free_starts`.
    """

    def __init__(
        self,
        machine: MachineModel,
        recording: Recording,
        parameters: Sequence[Parameter],
        window: float = WINDOW,
    ) -> None:
        """Cut the recording into windows of `window` [s].

        Raises:
            InputError: see `windows_of`.
        """
        self.machine, self._recording, self.parameters = machine, recording, tuple(parameters)
        period = recording.period
        self._samples = max(2, round(window / period))
        self._skip = min(self._samples // 2, round(SETTLING / period)) + 1
        self._ratio = int(np.ceil(period / min(drive_timestep(machine), LONGEST_STEP) - 1e-9))
        self._step = period / self._ratio
        steps = self._ratio * (len(recording.time) - 1)
        self._times = recording.time[0] + self._step * np.arange(steps + 1)
        self.windows = windows_of(recording, machine, self._samples)
        drives = drive_constants(machine, self._step)
        self.starts = free_starts(machine, self.windows, drives)
        # Forces come from the commands; only the velocity loops hold an effort of their own.
        self._free = 3 if recording.mode == "velocity" else 2
        counts = np.array([encoder_resolution(leg) for leg in machine.parameters.legs])
        self.noise = np.maximum(counts / np.sqrt(12.0), SMALLEST_NOISE)

    @property
    def period(self) -> float:
        """Sampling period of the errors [s]."""
        return self._recording.period

    @property
    def times(self) -> FloatArray:
        """Times [s] of the errors of one leg `(W, m / n)`."""
        samples = np.arange(self._skip, self._samples + 1)
        return np.asarray(self._recording.time[self.windows.first[:, None] + samples])

    def part(self, indices: Any) -> Self:
        """Return the problem with some of its windows."""
        found = copy(self)
        found.windows, found.starts = self.windows.part(indices), self.starts[indices]
        return found

    def errors(self, values: FloatArray) -> FloatArray:
        """Return the prediction errors `(W, m)` of parameters `(p,)` in SI.

        NaN where a rollout fails.

        Raises:
            InputError: values that no machine can have.
        """
        return np.asarray(self._predicted(values[None], self.starts[None])[0])

    def linearised(
        self, values: FloatArray, *, by_parameters: bool = True, by_starts: bool = True
    ) -> Linear:
        """Return errors and slopes at parameters `(p,)` in SI.

        Args:
            values: of the parameters.
            by_parameters: whether to compute the slopes by them; else there are none.
            by_starts: likewise.

        Raises:
            InputError: values that no machine can have.
        """
        p = len(values) if by_parameters else 0
        changes = np.array([self._change(k, values) for k in range(p)])
        sets = [values, *(values + row for row in np.diag(changes))] if p else [values]
        starts = [self.starts] * len(sets)
        if by_starts:
            for k in range(self._free):
                for leg in range(self.starts.shape[2]):
                    moved = self.starts.copy()
                    moved[:, k, leg] += STEPS[k]
                    sets.append(values)
                    starts.append(moved)
        found = self._predicted(np.array(sets), np.array(starts))
        scales = np.array([each.spread for each in self.parameters[:p]]) / changes
        slopes = (found[1 : p + 1] - found[0]) * scales[:, None, None]
        moved_errors = found[p + 1 :] - found[0]
        return Linear(found[0], np.moveaxis(slopes, 0, -1), np.moveaxis(moved_errors, 0, -1))

    def improve_starts(self, values: FloatArray) -> None:
        """Move the starts towards where they explain the most of the errors, if errors fall.

        Raises:
            InputError: values that no machine can have.
        """
        linear = self.linearised(values, by_parameters=False)
        count, _, n = self.starts.shape
        pseudo = np.linalg.pinv(linear.by_starts)
        steps = np.einsum("wsm,wm->ws", pseudo, linear.errors).reshape(count, self._free, n)
        steps *= np.array(STEPS[: self._free])[:, None]
        sizes = np.linalg.norm(linear.errors, axis=1)
        best = self.starts
        for share in SHARES:
            self.starts = best.copy()
            self.starts[:, : self._free] -= share * steps
            moved = np.linalg.norm(self.errors(values), axis=1)
            better = moved < sizes
            best = np.where(better[:, None, None], self.starts, best)
            sizes, steps = (
                np.where(better, moved, sizes),
                np.where(better[:, None, None], 0.0, steps),
            )
        self.starts = best

    def _change(self, k: int, values: FloatArray) -> float:
        """Return a difference of parameter k that leads to a machine that can be."""
        parameter = self.parameters[k]
        change = CHANGE * parameter.spread
        moved = values.copy()
        moved[k] += change
        if moved[k] > parameter.upper:
            return -change
        try:
            with_parameters(self.machine, self.parameters, moved)
        except InputError:
            return -change
        return change

    def _predicted(self, values: FloatArray, starts: FloatArray) -> FloatArray:
        """Return errors `(sets, W, m)` of parameters `(sets, p)` from starts `(sets, W, 3, n)`."""
        distinct, which = np.unique(values, axis=0, return_inverse=True)
        which = which.ravel()
        machines = [with_parameters(self.machine, self.parameters, each) for each in distinct]
        sets = ParameterSets(machines, self._step, self._recording.mode)
        commands = self._commands(machines, sets)
        places = [
            placed(machines[k], self.windows, sets.constants[k], start)
            for k, start in zip(which, starts, strict=True)
        ]
        count = len(self.windows.first)
        found = sets.run(
            np.repeat(which, count),
            Starts(*map(np.concatenate, zip(*places, strict=True))),
            commands,
            np.tile(self._ratio * self.windows.first, len(values)),
            self._samples + 1,
            self._ratio,
        ).reshape(len(values), count, self._samples + 1, -1)
        rows = self.windows.first[:, None] + np.arange(self._samples + 1)
        errors = (found - self._recording.position[rows])[:, :, self._skip :] / self.noise
        return np.asarray(errors.reshape(len(values), count, -1))

    def _commands(self, machines: Sequence[MachineModel], sets: ParameterSets) -> Commands:
        found = [
            delayed_commands(self._recording, machine, constants, self._times)
            for machine, constants in zip(machines, sets.constants, strict=True)
        ]
        added = [feedforward for _, feedforward in found if feedforward is not None]
        return Commands(np.array([given for given, _ in found]), np.array(added) if added else None)


def without(by_starts: FloatArray, values: FloatArray) -> FloatArray:
    """Return `values` (W, m, ...) less what columns `by_starts` (W, m, s) explain per window."""
    basis = np.linalg.qr(by_starts)[0]
    flat = values.reshape(*values.shape[:2], -1)
    left = flat - basis @ (np.swapaxes(basis, 1, 2) @ flat)
    return np.asarray(left.reshape(values.shape))
