"""Controllers, and the loop that closes them around a machine with its plant."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twin.control.controller import Controller
    from twin.model.machine_model import MachineModel

CONTROLLERS = {
    "cascade": ("twin.control.cascade", "Cascade"),
    "observer": ("twin.control.observer.cascade", "ObserverCascade"),
    "feedforward": ("twin.control.computed_torque", "InverseDynamicsFeedforward"),
    "computed_torque": ("twin.control.computed_torque", "ComputedTorque"),
    "lqr": ("twin.control.linear.lqr", "Lqr"),
    "loop_shaping": ("twin.control.linear.loop_shaping", "LoopShaping"),
    "iff": ("twin.control.active_damping.local", "IntegralForceFeedback"),
    "dvf": ("twin.control.active_damping.local", "DirectVelocityFeedback"),
    "ilqr": ("twin.control.predictive", "Ilqr"),
    "hac_lac": ("twin.control.active_damping.hac_lac", "HacLac"),
}
"""Names that `make_controller` accepts, and where the classes are."""


def controller_names() -> tuple[str, ...]:
    """Return the names that `make_controller` accepts."""
    return tuple(CONTROLLERS)


def make_controller(
    name: str, platform: MachineModel, motion: Any = None, **options: Any
) -> Controller:
    """Return a controller of a machine by name.

    Args:
        name: one of `controller_names()`.
        platform: the machine.
        motion: reference motion; default: stay at home.
        options: further keyword arguments of that controller's class.

    Raises:
        InputError: unknown name, or a machine, a motion or an option that the controller does not
            take.
        MissingDependencyError: a library of the design is not installed; says how to install it.
    """
    from inspect import signature

    from twin.basics.arrays import one_of
    from twin.errors import InputError

    module, cls = CONTROLLERS[one_of(name, "controller", CONTROLLERS)]
    controller_class = getattr(import_module(module), cls)
    parameters = signature(controller_class).parameters.values()
    option_names = {
        parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD
    }
    option_names -= {"platform", "motion"}
    # A class that hands options on checks them itself.
    unknown_options = (
        [] if len(option_names) < len(parameters) - 2 else sorted(set(options) - option_names)
    )
    if unknown_options:
        raise InputError(
            unknown_options[0],
            f"no option of the controller {name}; it takes: {', '.join(sorted(option_names))}",
        )
    controller: Controller = controller_class(platform, motion, **options)
    return controller
