"""Base of all engines: checked arguments, open and closed, time, guard, saved states.

The longest time step is that at which springs, dampers and friction of a machine stay stable.
A fixed step of h multiplies every mode exp(lambda t) of the machine, linearised without gravity, by
a factor that depends on the integrator. Where it exceeds one the numbers grow although the machine
does not, until the loops open; with the stiff struts of a positioning hexapod that takes a few
milliseconds.
"""

from __future__ import annotations

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from itertools import chain
from math import isfinite
from pathlib import Path
from tempfile import gettempdir, mkstemp
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, one_of, one_pose, positive, turned
from twin.basics.files import as_path, read_arrays, remove_oldest
from twin.errors import ClosedEngineError, InputError, SimulationStoppedError
from twin.model.ball import Ball, as_ball, as_start
from twin.model.engine import FIDELITIES, Fidelity, State
from twin.model.machine_base import ZERO_VECTOR, LegCoordinates, null_space
from twin.model.machine_model import MachineModel, as_model
from twin.plant.drives import drive_timestep, round_step

MAGIC = b"twin-state-3\n"

DIGEST_BYTES = hashlib.sha256().digest_size

LARGEST_GAP = 1e-2
"""Default loop gap [m] that stops an engine: ten times the gap of poor but usable settings."""

MAX_REPLAY_STEPS = 100
"""Largest number of steps that a dump can replay."""

MAX_DUMPS = 20
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


def is_finite(state: State) -> bool:
    """Return whether all numbers of a state are finite."""
    return all(map(isfinite, chain.from_iterable(map(np.ndarray.tolist, state[1:]))))


class Guard:
    """Watches one engine: remembers the last steps, and stops it with a dump."""

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
        return len(self._steps) >= MAX_REPLAY_STEPS

    def record(
        self, saved: bytes | None, forces: FloatArray, wrench: FloatArray, shaking: FloatArray
    ) -> None:
        """Remember one step; give the saved state before it when `wants_saved`.

        Nobody may change `shaking` afterwards.
        """
        if saved is not None:
            self.start(saved)
        self._steps.append((forces.copy(), wrench.copy(), shaking))

    def check(self, state: State, gap: float, warning: str = "") -> None:
        """Raise when the loops have opened or the engine warns.

        Raises:
            SimulationStoppedError: with the reason, the dump's path (None where it could not be
                written) and the last state.
        """
        if warning:
            reason = warning
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
        remove_oldest(gettempdir(), "twin_*.dump.npz", MAX_DUMPS)
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
        return _rebuilt, (type(self), *self._arguments, saved, self._closed)

    def __init__(
        self,
        platform: MachineModel,
        timestep: float,
        fidelity: Fidelity,
        largest_gap: float,
        ball: Any = None,
    ) -> None:
        """Check and keep the arguments of all engines; `_identify` makes header and guard.

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
        self._zero_deflection = np.zeros(2 * self.platform.n_deflections)
        self._steps = 0
        self._ready = self._closed = False

    def __repr__(self) -> str:
        step = f"{1e3 * self.timestep:g} ms"
        return f"<engine {self.name!r} of {self.platform.name!r}: {self.fidelity}, {step}>"

    def _identify(self, library: str = "", options: Mapping[str, Any] | None = None) -> None:
        """Make the header, with the simulator's version and the engine's options, and the guard."""
        if self._ball is not None:
            options = {**(options or {}), "ball": asdict(self._ball)}
        self._header = header(
            self.name, self.platform, self.timestep, self.fidelity, library, options
        )
        self._guard = Guard(self._header, self.platform, self._largest_gap)

    def reset(
        self, pose: Any = None, twist: Any = None, deflection: Any = None, *, ball: Any = None
    ) -> State:
        """Put the machine at `pose` with `twist`, kinematic loops closed; see `Engine.reset`."""
        self._check_open()
        start_pose = one_pose(self.platform.home if pose is None else pose)
        start_twist = as_vector(ZERO_VECTOR if twist is None else twist, "twist", 6)
        spring_state = self._zero_deflection if deflection is None else deflection
        spring_state = as_vector(spring_state, "deflection", len(self._zero_deflection))
        legs = self.platform.leg_coordinates(start_pose, start_twist, deflection=spring_state)
        ball_start = self._ball_start(ball)
        self._shaking = np.zeros(3)
        self._apply_field()
        self._place(start_pose, start_twist, spring_state, legs)
        if self._ball is not None:
            self._place_ball(self._ball, start_pose, start_twist, ball_start)
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
        if not (warning or self._is_finite(state)):
            warning = "the state is not finite"
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

    def _is_finite(self, state: State) -> bool:
        """Return whether all numbers of the state after a step are finite."""
        return is_finite(state)

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


def _rebuilt(
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


Scheme = Literal["rk4", "explicit"]
"""How an engine steps: Runge-Kutta of order four, or velocities and then positions, with the forces
at the start of the step."""

STEP_MARGIN = 0.8
"""Fraction of the longest stable step that is allowed: other poses than home have faster modes."""

STEPS_PER_PERIOD = 20
"""Steps in a period of the fastest mode that `suitable_timestep` takes."""

DIFFERENCE_STEP = 1e-6
"""[m, rad, m/s, rad/s] Step of the finite differences that linearise the machine."""

STEP_TO_PERIOD_RATIO = 0.5
"""Largest engine step as a fraction of the control period; stiff machines need a shorter one."""

GROWTH_TOLERANCE = 1e-6
"""Growth of a mode per step that counts as rounding: free modes have eigenvalues near zero."""


class Linearisation(NamedTuple):
    """Accelerations of the free coordinates about home."""

    stiffness: FloatArray
    """`(m, m)` per displacement"""
    damping: FloatArray
    """`(m, m)` per velocity"""

    @property
    def modes(self) -> FloatArray:
        """Exponents lambda `(2m,)` [1/s], complex."""
        m = len(self.stiffness)
        rates = np.block([[np.zeros((m, m)), np.eye(m)], [self.stiffness, self.damping]])
        return np.asarray(np.linalg.eigvals(rates))

    def growth(self, step: float, scheme: Scheme) -> float:
        """Return the factor by which a step [s] multiplies the fastest growing mode."""
        if scheme == "rk4":
            z = step * self.modes
            factors = 1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0)))
            return float(np.abs(factors).max())
        identity = np.eye(len(self.stiffness))
        faster = np.hstack([step * self.stiffness, identity + step * self.damping])
        step_map = np.hstack([identity, np.zeros_like(identity)]) + step * faster
        return float(np.abs(np.linalg.eigvals(np.vstack([step_map, faster]))).max())


def check_timestep(platform: MachineModel, timestep: float, engine: str, scheme: Scheme) -> None:
    """Refuse a time step [s] at which motions on a machine's springs and dampers would grow.

    Raises:
        InputError: the step is too long; the message has the limit.
    """
    if not _is_stiff(platform):
        return
    # Most steps are short enough, and need no search for the longest one.
    if linearise(platform).growth(timestep / STEP_MARGIN, scheme) <= 1.0 + GROWTH_TOLERANCE:
        return
    largest_step = STEP_MARGIN * longest_step(platform, scheme)
    if timestep > largest_step:
        # The message rounds the limit down, so that the step that it names is accepted.
        fastest_frequency = float(np.abs(linearise(platform).modes).max()) / (2.0 * np.pi)
        raise InputError(
            "timestep",
            f"{timestep:.3g} s is too long for {platform.name} in {engine}: its fastest mode has "
            f"{fastest_frequency:.4g} Hz, and steps may be up to {0.995 * largest_step:.3g} s; "
            f"{suitable_timestep(platform):g} s is a good one",
        )


@lru_cache(maxsize=32)
def longest_step(platform: MachineModel, scheme: Scheme) -> float:
    """Return the longest stable step [s] about home; infinite where every step is stable."""
    machine = linearise(platform)
    fastest_mode = float(np.abs(machine.modes).max())
    if not fastest_mode > 0.0:
        return np.inf
    stable_step, unstable_step = 0.0, 100.0 / fastest_mode
    if machine.growth(unstable_step, scheme) <= 1.0 + GROWTH_TOLERANCE:
        return np.inf
    for _ in range(50):
        trial_step = 0.5 * (stable_step + unstable_step)
        stable = machine.growth(trial_step, scheme) <= 1.0 + GROWTH_TOLERANCE
        stable_step, unstable_step = (
            (trial_step, unstable_step) if stable else (stable_step, trial_step)
        )
    return stable_step


def suitable_timestep(platform: MachineModel) -> float:
    """Return a time step [s] that resolves a machine's fastest mode.

    It is 1 ms, or the longest of 0.5, 0.2, 0.1, 0.05, ... ms that is short enough.

    Raises:
        SingularPoseError: home is singular.
    """
    if not _is_stiff(platform):
        return 1e-3
    fastest_mode = float(np.abs(linearise(platform).modes).max())
    step_limit = 2.0 * np.pi / fastest_mode / STEPS_PER_PERIOD if fastest_mode > 0.0 else np.inf
    return round_step(step_limit)


@lru_cache(maxsize=8)
def linearise(platform: MachineModel) -> Linearisation:
    """Return a machine's accelerations about home per displacement and velocity, no gravity."""
    floating = MachineModel(platform.parameters.model_copy(update={"gravity": 0.0}), like=platform)
    no_forces = np.zeros(platform.n_actuators)
    free_motions = null_space(platform.constraints(platform.home))
    size = free_motions.shape[1] + platform.n_deflections

    def accelerations(displacements: FloatArray, velocities: FloatArray) -> FloatArray:
        """Return the accelerations `(m, size)` of the free coordinates."""
        platform_displacements, platform_twists = (
            coordinate_steps[:, : free_motions.shape[1]] @ free_motions.T
            for coordinate_steps in (displacements, velocities)
        )
        poses = turned(
            np.broadcast_to(platform.home, (len(platform_displacements), 7)), platform_displacements
        )
        poses, twists, _ = platform.constrain(poses, platform_twists)
        spring_states = np.hstack(
            [displacements[:, free_motions.shape[1] :], velocities[:, free_motions.shape[1] :]]
        )
        full_accelerations = floating.forward_dynamics(
            poses, twists, no_forces, deflection=spring_states
        )
        return np.hstack([full_accelerations[:, :6] @ free_motions, full_accelerations[:, 6:]])

    steps = DIFFERENCE_STEP * np.vstack([np.eye(size), -np.eye(size)])
    zeros = np.zeros_like(steps)
    forward, backward = np.split(accelerations(steps, zeros), 2)
    faster, slower = np.split(accelerations(zeros, steps), 2)
    scale = 0.5 / DIFFERENCE_STEP
    return Linearisation(scale * (forward - backward).T, scale * (faster - slower).T)


def _is_stiff(platform: MachineModel) -> bool:
    """Return whether forces inside the machine depend on its motion."""
    return any(leg.resists_motion for _, leg in platform.parameters.leg_tables())


def dividing_step(platform: MachineModel, period: float) -> float:
    """Return the longest step [s] that divides a control period and suits engine and drives."""
    step_limit = min(
        suitable_timestep(platform), STEP_TO_PERIOD_RATIO * period, drive_timestep(platform)
    )
    return period / int(np.ceil(period / step_limit - 1e-9))
