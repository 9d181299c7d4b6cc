"""PyBullet behind the engine protocol; loops closed by six point-to-point constraints.

Presets: `fast` takes one Bullet step per time step (first order in the time step), `validation`
runs three copies with steps of 1, 1/2 and 1/4 of the time step, each from its own state under the
same held forces, and extrapolates their trajectories to third order.
"""

from __future__ import annotations

import hashlib
import json
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from twin.arrays import FloatArray, as_pose, as_vector, positive
from twin.engines.bullet_world import World
from twin.engines.engine import PRESETS, Preset, State
from twin.engines.guard import LARGEST_GAP, Guard
from twin.errors import ClosedEngineError, InputError, SimulationStoppedError
from twin.platform import REST, Platform

WEIGHTS: dict[Preset, tuple[float, ...]] = {
    "fast": (1.0,),
    "validation": (1.0 / 3.0, -2.0, 8.0 / 3.0),
}
"""Of the copies with 1, 2 and 4 steps: (4 X2 - X1) / 3 with X = 2 x(half step) - x(step), which
removes the errors of first and second order in the time step (Richardson extrapolation)."""

DIGEST_BYTES = hashlib.sha256().digest_size
QUATERNION_BYTES = 32


class BulletEngine:
    """One machine in PyBullet."""

    name = "bullet"

    def __init__(
        self,
        platform: Platform,
        timestep: float = 1e-3,
        preset: Preset = "validation",
        *,
        engine_defaults: bool = False,
        largest_gap: float = LARGEST_GAP,
    ) -> None:
        """Load the machine; call `reset` before `step`.

        Args:
            platform: the machine.
            timestep: step [s].
            preset: "validation" or "fast".
            engine_defaults: keep Bullet's own solver, iterations, damping and limits, to see what
                they cost.
            largest_gap: loop gap [m] that stops the engine.

        Raises:
            InputError: an argument that cannot be used, or a machine Bullet refuses.
        """
        if preset not in PRESETS:
            raise InputError("preset", f"unknown preset {preset!r}; known: {', '.join(PRESETS)}")
        if not isinstance(engine_defaults, bool):
            raise InputError("engine_defaults", f"must be True or False, not {engine_defaults!r}")
        self.platform = platform
        self.timestep = positive(timestep, "timestep")
        self.preset: Preset = preset
        self._guard = Guard(
            self.name,
            platform,
            self.timestep,
            preset,
            positive(largest_gap, "largest_gap"),
            {"engine_defaults": engine_defaults},
        )
        self._weights = np.array(WEIGHTS[preset])
        self._ends = (7, 13, 13 + platform.n_actuators)
        self._header = {
            "engine": self.name,
            "version": version("pybullet"),
            "machine": platform.hash,
            "preset": preset,
            "timestep": self.timestep,
            "engine_defaults": engine_defaults,
        }
        self._make = partial(World, platform, engine_defaults=engine_defaults)
        self._worlds: list[World] = []
        self._state: State | None = None
        self._steps = 0
        self._closed = False
        self._open_worlds()

    def reset(self, pose: Any = None, twist: Any = None) -> State:
        """Put the machine at `pose` with `twist`, loops closed; see `Engine.reset`."""
        self._check_open()
        place = as_pose(as_vector(self.platform.home if pose is None else pose, "pose", 7))
        motion = as_vector(REST if twist is None else twist, "twist", 6)
        self.platform.leg_coordinates(place, motion)
        self._open_worlds()
        for world in self._worlds:
            world.place(place, motion)
        return self._begin(0, place[3:])

    def step(self, forces: Any, wrench: Any = None) -> State:
        """Advance by one time step; see `Engine.step`.

        Bullet applies the wrench at the reference point's place before each of its own steps.
        """
        previous = self._require()
        force = as_vector(forces, "forces", self.platform.n_actuators)
        load = REST if wrench is None else as_vector(wrench, "wrench", 6)
        self._guard.record(self.save() if self._guard.wants_saved else None, force, load)
        held, pushed = force.tolist(), None if wrench is None else load.tolist()
        for halvings, world in enumerate(self._worlds):
            for _ in range(2**halvings):
                world.advance(held, pushed)
        self._steps += 1
        self._state = self._read(previous.pose[3:])
        try:
            self._guard.check(self._state, max(world.gap() for world in self._worlds))
        except SimulationStoppedError:
            # What has gone wrong stays in Bullet's memory; the next reset needs new worlds.
            self._close_worlds()
            raise
        return self.state

    @property
    def state(self) -> State:
        """The present state; lengths and rates are those of the prismatic joints."""
        state = self._require()
        return State(state.time, *(array.copy() for array in state[1:]))

    @property
    def loop_gap(self) -> float:
        """Largest distance [m] between a rod's tip and its joint, in the copy of smallest step."""
        self._require()
        return self._worlds[-1].gap()

    def save(self) -> bytes:
        """Return everything that determines the future, for `restore`."""
        state = self._require()
        worlds = [world.save() for world in self._worlds]
        extent = {"steps": self._steps, "sizes": [len(world) for world in worlds]}
        header = json.dumps({**self._header, **extent}).encode()
        content = b"\n".join([header, state.pose[3:].tobytes() + b"".join(worlds)])
        return hashlib.sha256(content).digest() + content

    def restore(self, saved: bytes) -> State:
        """Return to a saved state; the continuation is bit-identical.

        Raises:
            InputError: not a state of this engine, version, machine, step, preset and options.
        """
        self._check_open()
        header, content = self._checked(saved)
        self._open_worlds()
        start = QUATERNION_BYTES
        for world, size in zip(self._worlds, header["sizes"], strict=True):
            world.restore(content[start : start + size])
            start += size
        return self._begin(header["steps"], np.frombuffer(content[:QUATERNION_BYTES]))

    def close(self) -> None:
        """Free the engine; calling it twice is allowed."""
        self._closed = True
        self._close_worlds()

    def _checked(self, saved: Any) -> tuple[dict[str, Any], bytes]:
        """Return header and content of a saved state; Bullet itself would read anything."""
        if not isinstance(saved, bytes):
            raise InputError("saved", f"must be bytes from save(), not {type(saved).__name__}")
        if hashlib.sha256(saved[DIGEST_BYTES:]).digest() != saved[:DIGEST_BYTES]:
            raise InputError("saved", "is damaged or no state of this engine; use save()")
        line, _, content = saved[DIGEST_BYTES:].partition(b"\n")
        header = json.loads(line)
        own = {key: header[key] for key in self._header}
        if own != self._header:
            raise InputError("saved", f"was made by another engine, {own}; this is {self._header}")
        return header, content

    def _begin(self, steps: int, quaternion: FloatArray) -> State:
        self._steps = steps
        self._state = self._read(quaternion)
        self._guard.start(self.save())
        return self.state

    def _read(self, quaternion: FloatArray) -> State:
        """Return the extrapolated state, its quaternion with the sign of the one given."""
        readings = np.stack([world.read() for world in self._worlds])
        readings[readings[:, 3:7] @ quaternion < 0.0, 3:7] *= -1.0
        combined = self._weights @ readings
        combined[3:7] /= np.linalg.norm(combined[3:7])
        poses, twists, lengths = self._ends
        return State(
            self._steps * self.timestep,
            combined[:poses],
            combined[poses:twists],
            combined[twists:lengths],
            combined[lengths:],
        )

    def _open_worlds(self) -> None:
        if not self._worlds:
            halvings = range(len(self._weights))
            self._worlds = [self._make(timestep=self.timestep / 2**k) for k in halvings]

    def _close_worlds(self) -> None:
        for world in self._worlds:
            world.close()
        self._worlds = []
        self._state = None

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedEngineError("the engine is closed; make a new one")

    def _require(self) -> State:
        self._check_open()
        if self._state is None:
            raise ClosedEngineError("the engine has no state; call reset first")
        return self._state
