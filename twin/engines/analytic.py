"""The analytic reference as an engine: task-space equations, integrated over each step."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.arrays import FloatArray, as_pose, as_vector, positive
from twin.dynamics.dormand_prince import DONE, dormand_prince
from twin.dynamics.runge_kutta import runge_kutta
from twin.dynamics.state import STATE_SIZE
from twin.engines.engine import Preset, State
from twin.engines.guard import LARGEST_GAP, Guard
from twin.engines.saved import header, pack, unpack
from twin.errors import ClosedEngineError
from twin.kinematics.inverse import lengths_and_rates
from twin.platform import Platform

TOLERANCE = 1e-13
"""Relative and absolute tolerance of the validation preset: the last digits float64 can hold."""

LARGEST_SUBSTEPS = 4096


class AnalyticEngine:
    """Forward dynamics in task space; loops are closed by construction.

    Presets: "validation" integrates each step with Dormand-Prince to 1e-13, "fast" with one
    Runge-Kutta step of order four.
    """

    name = "analytic"

    def __init__(
        self,
        platform: Platform,
        timestep: float = 1e-3,
        preset: Preset = "validation",
        *,
        largest_gap: float = LARGEST_GAP,
    ) -> None:
        """Prepare the engine; `largest_gap` is accepted for symmetry, its loops cannot open."""
        self.platform = platform
        self.timestep = positive(timestep, "timestep")
        self.preset: Preset = preset
        self._guard = Guard(self.name, platform, timestep, preset, largest_gap)
        self._header = header(self.name, platform, preset, timestep)
        self._y = np.empty(STATE_SIZE)
        self._steps = 0
        self._ready = False
        self._none = np.zeros(platform.n_actuators)
        capacity = 1 if preset == "fast" else LARGEST_SUBSTEPS
        self._times = np.empty(capacity)
        self._states = np.empty((capacity, STATE_SIZE))
        self._dense = np.empty((capacity, 5, STATE_SIZE))

    def reset(self, pose: Any = None, twist: Any = None) -> State:
        """Put the machine at `pose` (default home) with `twist` (default rest)."""
        self._ready = True
        start = self.platform.home if pose is None else pose
        self._y[:7] = as_pose(as_vector(start, "pose", 7))
        self._y[7:] = as_vector(np.zeros(6) if twist is None else twist, "twist", 6)
        self.platform.leg_coordinates(self._y[:7])
        self._steps = 0
        self._guard.start(self.save())
        return self.state

    def step(self, forces: Any, wrench: Any = None) -> State:
        """Advance by one time step under constant `forces` `(n,)` [N] and `wrench` `(6,)`."""
        self._require()
        force = as_vector(forces, "forces", self.platform.n_actuators)
        load = as_vector(np.zeros(6) if wrench is None else wrench, "wrench", 6)
        self._guard.record(self.save() if self._guard.wants_saved else None, force, load)
        warning = "" if self._advance(force, load) else "the state is singular or overflows"
        self._steps += 1
        state = self.state
        self._guard.check(state, 0.0, warning)
        return state

    def _advance(self, force: FloatArray, load: FloatArray) -> bool:
        arguments = (*self.platform.constants[:2], self._y, force, self._none, load)
        if self.preset == "fast":
            done = runge_kutta(*arguments, self.timestep, self._times, self._states, self._dense[0])
            return bool(done == 1)
        clock = np.array([0.0, self.timestep])
        buffers = (self._times, self._states, self._dense)
        reason, _ = dormand_prince(*arguments, clock, self.timestep, TOLERANCE, TOLERANCE, *buffers)
        return bool(reason == DONE)

    @property
    def state(self) -> State:
        """The present state."""
        self._require()
        n = self.platform.n_actuators
        pose, twist = self._y[:7].copy(), self._y[7:].copy()
        lengths, rates = np.empty(n), np.empty(n)
        lengths_and_rates(self.platform.constants.legs, pose, twist, lengths, rates)
        return State(self._steps * self.timestep, pose, twist, lengths, rates)

    @property
    def loop_gap(self) -> float:
        """Zero: leg states follow from the pose, so the loops cannot open."""
        return 0.0

    def save(self) -> bytes:
        """Return everything that determines the future, for `restore`."""
        self._require()
        return pack(self._header, np.array([float(self._steps)]), self._y)

    def restore(self, saved: bytes) -> State:
        """Return to a saved state; the continuation is bit-identical."""
        steps, y = unpack(self._header, saved, 1, STATE_SIZE)
        self._steps, self._y[:] = int(steps[0]), y
        self._ready = True
        self._guard.start(saved)
        return self.state

    def close(self) -> None:
        """Free the engine; calling it twice is allowed."""
        self._ready = False

    def _require(self) -> None:
        if not self._ready:
            raise ClosedEngineError("the engine is closed or was never reset; call reset() first")
