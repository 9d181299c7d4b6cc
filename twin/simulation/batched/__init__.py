"""Batched plants: many machines of one kind with their drives, advanced together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twin.engines import engine_class

if TYPE_CHECKING:
    from twin.model.machine_model import MachineModel
    from twin.simulation.batched.batched_plant import BatchedPlant

BATCHED_PLANTS = {
    "analytic": ("twin.simulation.batched.analytic", "AnalyticBatchedPlant"),
    "mujoco": ("twin.simulation.batched.mujoco", "MujocoBatchedPlant"),
    "bullet": ("twin.simulation.batched.bullet", "BulletBatchedPlant"),
}


def make_batched_plant(
    engine: str,
    platform: MachineModel,
    size: int,
    period: float = 0.01,
    timestep: float | None = None,
    **options: Any,
) -> BatchedPlant:
    """Return `size` machines in one engine; call `reset` before `advance`.

    Args:
        engine: "analytic", "mujoco" or "bullet".
        platform: the machine, with its drives and sensors.
        size: number of machines.
        period: of control [s].
        timestep: of the engine [s], which divides the period; default the longest of at most 1 ms
            that machine, engine and drives allow.
        options: further keyword arguments of `BatchedPlant`: `mode`, `fidelity`, `ball`, `limits`.

    Raises:
        InputError: an argument that cannot be used.
        MissingDependencyError: the engine's library is not installed; says how to install it.
    """
    batch_class = engine_class(BATCHED_PLANTS, engine, options)
    batch: BatchedPlant = batch_class(platform, size, period, timestep, **options)
    return batch
