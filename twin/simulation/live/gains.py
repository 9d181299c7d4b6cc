"""Gains of controllers that can be changed while they run."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np

from twin.control import CONTROLLERS, make_controller
from twin.control.controller import Controller
from twin.errors import InputError
from twin.simulation.platform import Platform

NOT_GAINS = ("period", "feedforward_start", "feedforward_rise")
"""Numbers among the options that act at the start only, or are no gains."""


def gains_of(controller: Controller) -> dict[str, float]:
    """Return the gains of a controller by the names of its options, one number each.

    Of gains that differ between actuators the mean.
    """
    found = {}
    for name in signature(type(controller)).parameters:
        value = getattr(controller, name, None)
        if name in NOT_GAINS or isinstance(value, bool | str) or value is None:
            continue
        if isinstance(value, int | float) or (
            isinstance(value, np.ndarray) and value.ndim == 1 and value.size
        ):
            found[name] = float(np.mean(value))
    return found


def known_gains(name: str) -> tuple[str, ...]:
    """Return the options that a controller of `CONTROLLERS` may take as gains."""
    module, cls = CONTROLLERS[name]
    options = signature(getattr(import_module(module), cls)).parameters
    return tuple(set(options) - {"platform", "motion", *NOT_GAINS})


def controller_with(name: str, platform: Any, reference: Any, gains: Any) -> Controller:
    """Return a controller of a machine with some gains of the user's choice.

    Raises:
        InputError: a gain that the controller does not have, or a value that it does not take.
        MissingDependencyError: a library of the design is not installed.
    """
    unknown = sorted(set(gains) - set(known_gains(name)))
    if unknown:
        raise InputError(f"gains.{unknown[0]}", f"is no gain of the controller {name}")
    try:
        return make_controller(name, platform, reference, **dict(gains))
    except InputError as error:
        if error.field != "motion":
            raise
        raise InputError(
            "controller", f"{name} works at a period of its own on {platform.name}"
        ) from None


def gain_unit(controller: str, gain: str, platform: Platform) -> str:
    """Return the unit of a gain of a machine's controller; empty for a plain number."""
    rotary = platform.coordinate_unit == "rad"
    units = {
        "position_gain": "1/s",
        "position_integral": "1/s2",
        "velocity_gain": "N m s/rad" if rotary else "N s/m",
        "velocity_time": "s",
        "bandwidth": "Hz" if controller == "hac_lac" else "rad/s",
        "gain": "1/s" if controller == "iff" else "N s/m",
        "leak": "1/s",
        "stiffness": "N/m",
    }
    return units.get(gain, "")
