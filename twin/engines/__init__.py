"""Engines behind one protocol, each imported when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from twin.errors import InputError

if TYPE_CHECKING:
    from twin.model.engine import Engine
    from twin.model.machine_model import MachineModel

ENGINES = {
    "analytic": ("twin.engines.analytic", "AnalyticEngine"),
    "mujoco": ("twin.engines.mujoco", "MujocoEngine"),
    "bullet": ("twin.engines.bullet.engine", "BulletEngine"),
}


def engine_names() -> tuple[str, ...]:
    """Return the names that `make_engine` accepts."""
    return tuple(ENGINES)


def make_engine(
    name: str,
    platform: MachineModel,
    timestep: float = 1e-3,
    fidelity: str = "accurate",
    **options: Any,
) -> Engine:
    """Return an engine for a machine; call `reset` before `step`.

    Args:
        name: "analytic", "mujoco" or "bullet".
        platform: the machine.
        timestep: step [s]; forces are held constant over it.
        fidelity: "accurate" (most accurate) or "fast".
        options: further keyword arguments of that engine's class.

    Raises:
        InputError: unknown engine, fidelity or option, or a step that is not above zero.
        MissingDependencyError: the engine's library is not installed; says how to install it.
    """
    from twin.basics.arrays import one_of

    one_of(name, "engine", ENGINES)
    module, cls = ENGINES[name]
    engine_class = getattr(import_module(module), cls)
    option_names = set(engine_class.__init__.__kwdefaults__ or ())
    unknown_options = sorted(set(options) - option_names)
    if unknown_options:
        raise InputError(
            unknown_options[0],
            f"no option of the {name} engine; it takes: {', '.join(sorted(option_names))}",
        )
    engine: Engine = engine_class(platform, timestep, fidelity, **options)
    return engine
