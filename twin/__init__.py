"""Digital twins of parallel motion platforms: analytic reference, two engines, validation.

Names are imported on first use, so that `import twin` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from twin.errors import TwinError

if TYPE_CHECKING:
    from twin import rotations
    from twin.analysis.platform import Platform, load
    from twin.engines import make_engine
    from twin.machine.machine import gallery_names, machine_names
    from twin.model.integrate import ForceTable, integrate
    from twin.model.machine_model import forward_kinematics_all
    from twin.plant.signals import Command
    from twin.rotations import angles, pose
    from twin.simulation.simulate import Trajectory, simulate

__version__ = "0.1.0"

_MODULE_OF_NAME = {
    "Command": "twin.plant.signals",
    "ForceTable": "twin.model.integrate",
    "Platform": "twin.analysis.platform",
    "Trajectory": "twin.simulation.simulate",
    "angles": "twin.rotations",
    "forward_kinematics_all": "twin.model.machine_model",
    "gallery_names": "twin.machine.machine",
    "integrate": "twin.model.integrate",
    "load": "twin.analysis.platform",
    "machine_names": "twin.machine.machine",
    "make_engine": "twin.engines",
    "pose": "twin.rotations",
    "simulate": "twin.simulation.simulate",
}

__all__ = [
    "Command",
    "ForceTable",
    "Platform",
    "Trajectory",
    "TwinError",
    "__version__",
    "angles",
    "forward_kinematics_all",
    "gallery_names",
    "integrate",
    "load",
    "machine_names",
    "make_engine",
    "pose",
    "rotations",
    "simulate",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name == "rotations":
        return import_module("twin.rotations")
    if name not in _MODULE_OF_NAME:
        raise AttributeError(f"module 'twin' has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF_NAME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted(__all__)
