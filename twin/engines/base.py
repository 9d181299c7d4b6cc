"""Base of all engines: checked arguments, open and closed, time, guard, saved states."""

from __future__ import annotations

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict
from itertools import chain
from math import isfinite
from pathlib import Path
from tempfile import gettempdir, mkstemp
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, one_of, one_pose, positive
from twin.basics.files import as_path, read_arrays, remove_oldest
from twin.errors import ClosedEngineError, InputError, SimulationStoppedError
from twin.model.ball import Ball, as_ball
from twin.model.engine import FIDELITIES, Fidelity, State
from twin.model.machine_base import ZERO_VECTOR, LegCoordinates
from twin.model.machine_model import MachineModel, as_model

MAGIC = b"twin-state-3\n"

DIGEST_BYTES = hashlib.sha256().digest_size

LARGEST_GAP = 1e-2
"""Default loop gap [m] that stops an engine: ten times the gap of poor but usable settings."""

KEPT_STEPS = 100
"""Largest number of steps that a dump can replay."""

KEPT_DUMPS = 20
"""Engineering choice: number of newest dumps that are kept. Older ones are removed once their
process has ended."""

NO_BALL = "this engine was made without one; make it with ball=True or a Ball"


class Header(NamedTuple):
    """Properties that a saved state must agree with to be restored."""

    engine: str
    machine: str
    parameters: str
    timestep: float
    fidelity: str
    library: str
    options: str


def header(
    engine: str,
    platform: MachineModel,
    timestep: float,
    fidelity: str,
    library: str = "",
    options: Mapping[str, Any] | None = None,
) -> Header:
    """Return the header of an engine.

    Args:
        engine: its name.
        platform: the machine.
        timestep: [s].
        fidelity: the engine's fidelity.
        library: name and version of the simulator, whose content only itself can read.
        options: further settings that change the future; plain numbers, strings, lists.
    """
    settings = json.dumps(dict(options or {}), sort_keys=True)
    return Header(engine, platform.name, platform.hash, timestep, fidelity, library, settings)


def pack(head: Header, steps: int, content: bytes) -> bytes:
    """Return header, number of steps since reset and the simulator's state as bytes."""
    line = json.dumps({**head._asdict(), "steps": steps}).encode()
    data = b"\n".join([line, content])
    return MAGIC + hashlib.sha256(data).digest() + data


def unpack(head: Header, saved: bytes) -> tuple[int, bytes]:
    """Return number of steps and simulator's state from bytes that `pack` made for the same header.

    Raises:
        InputError: no saved state, a damaged one, or one of another engine, machine, time step,
            fidelity, library or options.
    """
    if not isinstance(saved, bytes) or not saved.startswith(MAGIC):
        raise InputError("saved", "is not a saved engine state; use what `save` returned")
    digest, data = saved[len(MAGIC) :][:DIGEST_BYTES], saved[len(MAGIC) + DIGEST_BYTES :]
    if hashlib.sha256(data).digest() != digest:
        raise InputError("saved", "is damaged; use what `save` returned, unchanged")
    line, _, content = data.partition(b"\n")
    stored = json.loads(line)
    for name, expected in head._asdict().items():
        if stored[name] != expected:
            raise InputError(
                "saved",
                f"belongs to another {name}: it has {stored[name]!r}, this engine {expected!r}",
            )
    return int(stored["steps"]), content


class Guard:
    """Watches one engine: remembers the last steps and stops on NaN or open loops."""

    def __init__(
        self, head: Header, platform: MachineModel, largest_gap: float = LARGEST_GAP
    ) -> None:
        """Watch an engine.

        Args:
            head: of the engine.
            platform: its machine.
            largest_gap: loop gap [m] that stops it.
        """
        self.head, self.platform, self.largest_gap = head, platform, largest_gap
        self._saved = b""
        self._steps: deque[tuple[FloatArray, FloatArray, FloatArray]] = deque()

    def start(self, saved: bytes) -> None:
        """Start a new step history at a saved state."""
        self._saved = saved
        self._steps.clear()

    @property
    def wants_saved(self) -> bool:
        """Whether the next `record` needs a saved state, because the history is full."""
        return len(self._steps) >= KEPT_STEPS

    def record(
        self, saved: bytes | None, forces: FloatArray, wrench: FloatArray, shaking: FloatArray
    ) -> None:
        """Remember one step; give the saved state before it when `wants_saved`."""
        if saved is not None:
            self.start(saved)
        self._steps.append((forces.copy(), wrench.copy(), shaking.copy()))

    def check(self, state: State, gap: float, warning: str = "") -> None:
        """Raise when the state is not finite, the loops have opened, or the engine warns.

        Raises:
            SimulationStoppedError: with the reason, the dump's path (None where it could not be
                written) and the last state.
        """
        if warning:
            reason = warning
        elif not all(map(isfinite, chain.from_iterable(map(np.ndarray.tolist, state[1:])))):
            reason = "the state is not finite"
        elif not gap <= self.largest_gap:
            reason = f"the loops have opened by {gap:.3g} m (limit {self.largest_gap:.3g} m)"
        else:
            return
        path: Path | None = None
        try:
            path = self.dump(reason)
            report = (
                f"The last {len(self._steps)} steps are in {path}; replay them with "
                "twin.engines.base.replay(path)."
            )
        except OSError as error:
            report = f"The last steps could not be written to the temporary folder ({error})."
        raise SimulationStoppedError(
            f"{self.head.engine} stopped at t = {state.time:.6g} s: {reason}. {report} A smaller "
            "time step, smaller forces or the 'accurate' fidelity usually help.",
            {"reason": reason, "dump": path, "state": state},
        )

    def dump(self, reason: str) -> Path:
        """Write the input of `replay` to a new file in the temporary folder; return its path."""
        remove_oldest(gettempdir(), "twin_*.dump.npz", KEPT_DUMPS)
        handle, name = mkstemp(prefix=f"twin_{self.head.engine}_{os.getpid()}_", suffix=".dump.npz")
        with os.fdopen(handle, "wb") as file:
            np.savez(
                file,
                engine=self.head.engine,
                timestep=self.head.timestep,
                fidelity=self.head.fidelity,
                options=json.dumps(
                    {"largest_gap": self.largest_gap, **json.loads(self.head.options)}
                ),
                parameters=self.platform.parameters.model_dump_json(exclude={"appearance"}),
                saved=np.frombuffer(self._saved, dtype=np.uint8),
                forces=np.array([step[0] for step in self._steps]),
                wrenches=np.array([step[1] for step in self._steps]),
                shaking=np.array([step[2] for step in self._steps]),
                reason=reason,
            )
        return Path(name)


def replay(path: str | Path) -> list[State]:
    """Return the states of the steps in a dump, up to the one that stopped the engine.

    Raises:
        InputError: not a dump.
    """
    from twin.engines import make_engine
    from twin.errors import InputError
    from twin.machine.machine import MachineParameters

    file = as_path(path)
    try:
        content = read_arrays(file)
        parameters = MachineParameters.model_validate_json(str(content["parameters"]))
        settings = (float(content["timestep"]), str(content["fidelity"]))
        options = dict(json.loads(str(content["options"])))
        name, saved = str(content["engine"]), content["saved"].tobytes()
        names = ("forces", "wrenches", "shaking")
        steps = list(zip(*(content[name] for name in names), strict=True))
    except Exception as error:
        raise InputError("path", f"{path} is not a state dump ({error})") from None
    engine = make_engine(name, MachineModel(parameters), *settings, **options)
    try:
        states = [engine.restore(saved)]
        for forces, wrench, base_acceleration in steps:
            engine.shake(base_acceleration)
            states.append(engine.step(forces, wrench))
    except SimulationStoppedError as stopped:
        states.append(stopped.data["state"])
        if stopped.data["dump"] is not None:
            stopped.data["dump"].unlink(missing_ok=True)
    finally:
        engine.close()
    return states


class BaseEngine(ABC):
    """The protocol of `Engine`, around the few calls in which the simulators differ."""

    name: ClassVar[str]

    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Store the constructor's arguments, from which copies are made."""
        engine = super().__new__(cls)
        engine._arguments = args, kwargs
        return engine

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a recipe for a copy: a new engine of the same arguments, in the same state.

        Simulators keep their state in memory of their own, which no copy of attributes reaches.
        """
        saved = self.save() if self._ready and not self._closed else None
        return _made_again, (type(self), *self._arguments, saved, self._closed)

    def __init__(
        self,
        platform: MachineModel,
        timestep: float,
        fidelity: Fidelity,
        largest_gap: float,
        ball: Any = None,
    ) -> None:
        """Check and keep the arguments of all engines; `_identify` completes them.

        Raises:
            InputError: an argument that cannot be used.
        """
        one_of(fidelity, "fidelity", FIDELITIES)
        self.platform = as_model(platform)
        self.timestep = positive(timestep, "timestep")
        self.fidelity: Fidelity = fidelity
        self._largest_gap = positive(largest_gap, "largest_gap")
        self._ball = as_ball(ball, self.platform.parameters)
        self._no_wrench = np.zeros(6)
        self._shaking = np.zeros(3)
        self._no_internal = np.zeros(2 * self.platform.n_deflections)
        self._steps = 0
        self._ready = self._closed = False

    def __repr__(self) -> str:
        step = f"{1e3 * self.timestep:g} ms"
        return f"<engine {self.name!r} of {self.platform.name!r}: {self.fidelity}, {step}>"

    def _identify(self, library: str = "", options: Mapping[str, Any] | None = None) -> None:
        """Complete the header with the simulator's version and the engine's keyword arguments."""
        if self._ball is not None:
            options = {**(options or {}), "ball": asdict(self._ball)}
        self._header = header(
            self.name, self.platform, self.timestep, self.fidelity, library, options
        )
        self._guard = Guard(self._header, self.platform, self._largest_gap)

    def reset(
        self, pose: Any = None, twist: Any = None, deflection: Any = None, *, ball: Any = None
    ) -> State:
        """Put the machine at `pose` with `twist`, loops closed; see `Engine.reset`."""
        self._check_open()
        start_pose = one_pose(self.platform.home if pose is None else pose)
        motion = as_vector(ZERO_VECTOR if twist is None else twist, "twist", 6)
        spring_state = self._no_internal if deflection is None else deflection
        spring_state = as_vector(spring_state, "deflection", len(self._no_internal))
        legs = self.platform.leg_coordinates(start_pose, motion, deflection=spring_state)
        ball_start = self._ball_start(ball)
        self._shaking = np.zeros(3)
        self._apply_field()
        self._place(start_pose, motion, spring_state, legs)
        if self._ball is not None:
            self._place_ball(self._ball, start_pose, motion, ball_start)
        return self._begin(0)

    def shake(self, acceleration: Any) -> None:
        """Accelerate the base until the next call or reset; see `Engine.shake`."""
        self._check_ready()
        self._shaking = as_vector(acceleration, "acceleration", 3).copy()
        self._apply_field()

    def step(self, forces: Any, wrench: Any = None) -> State:
        """Advance by one time step; see `Engine.step`."""
        self._check_ready()
        force = as_vector(forces, "forces", self.platform.n_actuators)
        platform_wrench = self._no_wrench if wrench is None else as_vector(wrench, "wrench", 6)
        saved = self.save() if self._guard.wants_saved else None
        self._guard.record(saved, force, platform_wrench, self._shaking)
        loop_gap, warning = self._advance(force, platform_wrench)
        self._steps += 1
        state = self._read()
        try:
            self._guard.check(state, loop_gap, warning)
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
    def ball(self) -> FloatArray:
        """Pose and twist `(13,)` of the ball's centre in the base frame.

        Raises:
            InputError: the engine was made without one.
            ClosedEngineError: the engine is closed or was never reset.
        """
        self._check_ready()
        if self._ball is None:
            raise InputError("ball", NO_BALL)
        return self._read_ball(self._ball)

    @property
    def loop_gap(self) -> float:
        """Largest distance [m] between the two points of a loop."""
        self._check_ready()
        return self._gap()

    def save(self) -> bytes:
        """Return everything that determines the future, for `restore`."""
        self._check_ready()
        return pack(self._header, self._steps, self._shaking.tobytes() + self._content())

    def restore(self, saved: bytes) -> State:
        """Return to a saved state; the continuation is bit-identical.

        Raises:
            InputError: damaged, or not of this engine, version, machine, step, fidelity, options.
            ClosedEngineError: the engine is closed.
        """
        self._check_open()
        steps, content = unpack(self._header, saved)
        size = self._shaking.nbytes
        self._shaking = np.frombuffer(content[:size]).copy()
        self._apply_field()
        self._load(content[size:])
        return self._begin(steps)

    def close(self) -> None:
        """Free the engine; calling it twice is allowed."""
        self._closed = True
        self._free()

    @abstractmethod
    def _place(
        self, pose: FloatArray, twist: FloatArray, deflection: FloatArray, legs: LegCoordinates
    ) -> None:
        """Put the simulator's bodies where the arguments say."""

    @property
    def _field(self) -> FloatArray:
        """Acceleration field [m/s2] of all bodies: gravity less that of the base; base axes."""
        return np.array([0.0, 0.0, -self.platform.parameters.gravity]) - self._shaking

    @abstractmethod
    def _apply_field(self) -> None:
        """Apply `_field` to every body."""

    @abstractmethod
    def _advance(self, forces: FloatArray, wrench: FloatArray) -> tuple[float, str]:
        """Advance by one time step; return the largest loop gap [m] and what the library warns."""

    @abstractmethod
    def _read(self) -> State:
        """Return the present state in new arrays."""

    @abstractmethod
    def _gap(self) -> float:
        """Return the largest loop gap [m] now."""

    @abstractmethod
    def _content(self) -> bytes:
        """Return the simulator's state."""

    @abstractmethod
    def _load(self, content: bytes) -> None:
        """Restore the simulator's state from what `_content` returned."""

    @abstractmethod
    def _place_ball(self, ball: Ball, pose: FloatArray, twist: FloatArray, start: Any) -> None:
        """Put the ball on the plate at a start `(4,)` or None; the platform has been placed."""

    @abstractmethod
    def _read_ball(self, ball: Ball) -> FloatArray:
        """Return pose and twist `(13,)` of the ball in an array of its own."""

    def _ball_start(self, start: Any) -> Any:
        """Return a checked start `(4,)` of the ball, or None where there is none."""
        if start is None:
            return None
        if self._ball is None:
            raise InputError("ball", NO_BALL)
        from twin.model.ball import as_start

        return as_vector(as_start(start, self._ball), "ball", 4)

    def _free(self) -> None:  # noqa: B027 (only some simulators have something to free)
        """Free the simulator's memory; `_place` and `_load` allocate it again."""

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


def _made_again(
    engine_type: type[BaseEngine],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    saved: bytes | None,
    closed: bool,
) -> BaseEngine:
    """Return a new engine from stored arguments, restored to its saved state if it had one."""
    engine = engine_type(*args, **kwargs)
    if saved is not None:
        engine.restore(saved)
    if closed:
        engine.close()
    return engine
