"""Fleets: many machines of one kind with their drives, advanced together by control periods."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from twin.errors import InputError

if TYPE_CHECKING:
    from twin.model.machine_model import MachineModel
    from twin.simulation.batched.fleet import Fleet

FLEETS = {
    "analytic": ("twin.simulation.batched.analytic", "AnalyticFleet"),
    "mujoco": ("twin.simulation.batched.mujoco", "MujocoFleet"),
    "bullet": ("twin.simulation.batched.bullet", "BulletFleet"),
}


def make_fleet(
    engine: str,
    platform: MachineModel,
    size: int,
    period: float = 0.01,
    timestep: float | None = None,
    **options: Any,
) -> Fleet:
    """Return `size` machines in one engine; call `reset` before `advance`.

    Args:
        engine: "analytic", "mujoco" or "bullet".
        platform: the machine, with its drives and sensors.
        size: how many.
        period: of control [s].
        timestep: of the engine [s], which divides the period; default the longest of at most 1 ms
            that machine, engine and drives allow.
        options: further keyword arguments of `Fleet`: `mode`, `preset`, `ball`.

    Raises:
        InputError: an argument that cannot be used.
        MissingDependencyError: the engine's library is not installed; says how to install it.
    """
    from twin.basics.arrays import one_of

    one_of(engine, "engine", FLEETS)
    module, name = FLEETS[engine]
    fleet_class = getattr(import_module(module), name)
    known = set(fleet_class.__init__.__kwdefaults__ or ())
    unknown = sorted(set(options) - known)
    if unknown:
        raise InputError(unknown[0], f"no option of fleets; they take: {', '.join(sorted(known))}")
    fleet: Fleet = fleet_class(platform, size, period, timestep, **options)
    return fleet
