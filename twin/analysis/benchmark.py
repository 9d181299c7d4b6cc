"""Times of the main functions and of the engines' steps, measured within seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from timeit import Timer
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines import engine_names, make_engine
from twin.engines.base import suitable_timestep
from twin.errors import MissingDependencyError
from twin.model.engine import FIDELITIES
from twin.model.machine_base import ZERO_VECTOR, PlatformMotion
from twin.model.machine_model import MachineModel
from twin.rotations import quaternion_from_angles

BATCH_SIZE = 4096
"""Number of states in one batched call."""

TIMING_ROUNDS = 5
"""Number of timing rounds; the fastest counts, as other work on the computer slows the rest."""

MIN_ROUND_TIME = 0.03
"""[s] Shortest time of one round."""

ENGINE_STEPS = 200
"""Engine steps in one round, from home."""


class FunctionTime(NamedTuple):
    """Time that one function of a machine takes."""

    name: str
    one: float
    """time [s] for one state, the call from Python included"""
    batch: float
    """time [s] per state in a batch of `BATCH_SIZE`"""


class StepTime(NamedTuple):
    """Time that one step of an engine takes."""

    engine: str
    fidelity: str
    step: float | None
    """[s]; None: the engine is not installed"""


def function_times(platform: MachineModel) -> Iterator[FunctionTime]:
    """Yield the times of kinematics and dynamics at poses around home."""
    generator = np.random.default_rng(0)
    pose, twist, acceleration = _motion(platform, generator)
    forces = generator.normal(0.0, 10.0, (BATCH_SIZE, platform.n_actuators))
    lengths = platform.inverse_kinematics(pose)
    calls: dict[str, tuple[Callable[..., object], tuple[FloatArray, ...]]] = {
        "inverse kinematics": (platform.inverse_kinematics, (pose,)),
        "forward kinematics": (platform.forward_kinematics, (lengths,)),
        "Jacobian": (platform.jacobian, (pose,)),
        "mass matrix": (platform.mass_matrix, (pose,)),
        "forward dynamics": (platform.forward_dynamics, (pose, twist, forces)),
        "inverse dynamics": (platform.inverse_dynamics, (pose, twist, acceleration)),
        "energy": (platform.energy, (pose, twist)),
    }
    for name, (function, arrays) in calls.items():
        first_row = [array[0] for array in arrays]
        scalar_time = _seconds(lambda f=function, a=first_row: f(*a))  # type: ignore[misc]
        batch = _seconds(lambda f=function, a=arrays: f(*a))  # type: ignore[misc]
        yield FunctionTime(name, scalar_time, batch / BATCH_SIZE)


def step_times(platform: MachineModel) -> Iterator[StepTime]:
    """Yield the time of a step of every engine and fidelity, under the forces that hold home."""
    forces = platform.inverse_dynamics(platform.home, ZERO_VECTOR, ZERO_VECTOR)
    for name in engine_names():
        for fidelity in FIDELITIES:
            yield StepTime(name, fidelity, _step_seconds(platform, name, fidelity, forces))


def _step_seconds(
    platform: MachineModel, name: str, fidelity: str, forces: FloatArray
) -> float | None:
    try:
        engine = make_engine(name, platform, suitable_timestep(platform), fidelity)
    except MissingDependencyError:
        return None
    timer = Timer(lambda: engine.step(forces), engine.reset)
    fastest = min(timer.repeat(TIMING_ROUNDS, ENGINE_STEPS)) / ENGINE_STEPS
    engine.close()
    return fastest


def _motion(platform: MachineModel, generator: np.random.Generator) -> PlatformMotion:
    amplitude = 0.02 * float(platform.home_reaches.mean())
    poses = np.tile(platform.home, (BATCH_SIZE, 1))
    poses[:, :3] += generator.uniform(-amplitude, amplitude, (BATCH_SIZE, 3))
    poses[:, 3:] = quaternion_from_angles(generator.uniform(-0.03, 0.03, (BATCH_SIZE, 3)))
    return platform.constrain(poses, *generator.normal(0.0, 0.1, (2, BATCH_SIZE, 6)))


def _seconds(call: Callable[[], object]) -> float:
    """Return the time of one call [s]: compiled first, then the fastest round."""
    call()
    timer = Timer(call)
    count = max(1, int(MIN_ROUND_TIME / max(timer.timeit(1), 1e-9)))
    return min(timer.repeat(TIMING_ROUNDS, count)) / count
