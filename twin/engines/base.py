"""What all engines share: checked arguments, open and closed, time, guard, saved states."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from twin.arrays import FloatArray, as_pose, as_vector, one_of, positive
from twin.engines.engine import PRESETS, Preset, State
from twin.engines.guard import Guard
from twin.engines.saved import header, pack, unpack
from twin.errors import ClosedEngineError, SimulationStoppedError
from twin.platform import REST, LegCoordinates, Platform, as_platform


class BaseEngine(ABC):
    """The protocol of `Engine`, around the few calls in which the simulators differ."""

    name: ClassVar[str]

    def __init__(
        self, platform: Platform, timestep: float, preset: Preset, largest_gap: float
    ) -> None:
        """Check and keep what every engine is made of; `_identify` completes it.

        Raises:
            InputError: an argument that cannot be used.
        """
        one_of(preset, "preset", PRESETS)
        self.platform = as_platform(platform)
        self.timestep = positive(timestep, "timestep")
        self.preset: Preset = preset
        self._largest_gap = positive(largest_gap, "largest_gap")
        self._no_wrench = np.zeros(6)
        self._no_internal = np.zeros(2 * self.platform.n_internal)
        self._steps = 0
        self._ready = self._closed = False

    def __repr__(self) -> str:
        step = f"{1e3 * self.timestep:g} ms"
        return f"<engine {self.name!r} of {self.platform.name!r}: {self.preset}, {step}>"

    def _identify(self, library: str = "", options: Mapping[str, Any] | None = None) -> None:
        """Say what else the future depends on: the simulator's version, and keyword arguments."""
        made_of = (self.name, self.platform, self.timestep, self.preset)
        self._guard = Guard(*made_of, self._largest_gap, options)
        self._header = header(*made_of, library, options)

    def reset(self, pose: Any = None, twist: Any = None, internal: Any = None) -> State:
        """Put the machine at `pose` with `twist`, loops closed; see `Engine.reset`."""
        self._check_open()
        place = as_pose(as_vector(self.platform.home if pose is None else pose, "pose", 7))
        motion = as_vector(REST if twist is None else twist, "twist", 6)
        inner = self._no_internal if internal is None else internal
        inner = as_vector(inner, "internal", len(self._no_internal))
        legs = self.platform.leg_coordinates(place, motion, internal=inner)
        self._place(place, motion, inner, legs)
        return self._begin(0)

    def step(self, forces: Any, wrench: Any = None) -> State:
        """Advance by one time step; see `Engine.step`."""
        self._check_ready()
        force = as_vector(forces, "forces", self.platform.n_actuators)
        load = self._no_wrench if wrench is None else as_vector(wrench, "wrench", 6)
        self._guard.record(self.save() if self._guard.wants_saved else None, force, load)
        gap, warning = self._advance(force, load)
        self._steps += 1
        state = self._read()
        try:
            self._guard.check(state, gap, warning)
        except SimulationStoppedError:
            self._ready = False
            self._free()
            raise
        return state

    @property
    def state(self) -> State:
        """The present state."""
        self._check_ready()
        return self._read()

    @property
    def loop_gap(self) -> float:
        """Largest distance [m] between the two points of a loop."""
        self._check_ready()
        return self._gap()

    def save(self) -> bytes:
        """Return everything that determines the future, for `restore`."""
        self._check_ready()
        return pack(self._header, self._steps, self._content())

    def restore(self, saved: bytes) -> State:
        """Return to a saved state; the continuation is bit-identical.

        Raises:
            InputError: damaged, or not of this engine, version, machine, step, preset, options.
            ClosedEngineError: the engine is closed.
        """
        self._check_open()
        steps, content = unpack(self._header, saved)
        self._load(content)
        return self._begin(steps)

    def close(self) -> None:
        """Free the engine; calling it twice is allowed."""
        self._closed = True
        self._free()

    @abstractmethod
    def _place(
        self, pose: FloatArray, twist: FloatArray, internal: FloatArray, legs: LegCoordinates
    ) -> None:
        """Put the simulator's bodies where the arguments say."""

    @abstractmethod
    def _advance(self, forces: FloatArray, wrench: FloatArray) -> tuple[float, str]:
        """Advance by one time step; return the largest loop gap [m] and what the library warns."""

    @abstractmethod
    def _read(self) -> State:
        """Return the present state in arrays of its own."""

    @abstractmethod
    def _gap(self) -> float:
        """Return the largest loop gap [m] now."""

    @abstractmethod
    def _content(self) -> bytes:
        """Return the simulator's state."""

    @abstractmethod
    def _load(self, content: bytes) -> None:
        """Take over what `_content` returned."""

    def _free(self) -> None:  # noqa: B027 (only some simulators have something to free)
        """Let go of the simulator's memory; `_place` and `_load` may be called again."""

    def _begin(self, steps: int) -> State:
        self._steps, self._ready = steps, True
        self._guard.start(self.save())
        return self._read()

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedEngineError("the engine is closed; make a new one")

    def _check_ready(self) -> None:
        self._check_open()
        if not self._ready:
            raise ClosedEngineError("the engine has no state; call reset first")
