"""Engines behind one protocol, each imported when it is first used."""

from __future__ import annotations

from collections.abc import Mapping
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
    engine: Engine = engine_class(ENGINES, name, options)(platform, timestep, fidelity, **options)
    return engine


def engine_class(
    classes: Mapping[str, tuple[str, str]], engine: str, options: Mapping[str, Any]
) -> Any:
    """Return the class of an engine, which takes these keyword arguments.

    Args:
        classes: engine -> module and class.
        engine: a name among them.
        options: keyword arguments that the class shall be made with.

    Raises:
        InputError: an unknown engine or option; lists the known ones.
    """
    from twin.basics.arrays import one_of

    module, name = classes[one_of(engine, "engine", classes)]
    engine_type = getattr(import_module(module), name)
    known_options = set(engine_type.__init__.__kwdefaults__ or ())
    for option in sorted(set(options) - known_options):
        raise InputError(
            option,
            f"no option of the {engine} engine; it takes: {', '.join(sorted(known_options))}",
        )
    return engine_type
