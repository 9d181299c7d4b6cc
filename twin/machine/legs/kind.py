"""A kind of leg: its parameters, the constants of its equations, and its mechanism."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from twin.basics.arrays import FloatArray
from twin.machine.legs.leg import Leg, LegPlace
from twin.machine.mechanism.appearance import Drawing, Ends
from twin.machine.mechanism.parts import Body, LegMechanism

Constants = dict[str, FloatArray | float]
"""Name -> value of the entries of one leg, as `twin.kernels.legs` calls them in capitals."""


class LegKind(NamedTuple):
    """Parts of one folder of `twin.machine.legs`, beside its `template.toml`.

    The compiled equations are in the folder of `twin.kernels.legs` that `parameters.equations`
    names.
    """

    parameters: type[Leg]
    """table of a platform.toml"""
    constants: Callable[[Any, LegPlace], Constants]
    """constants of a leg for the equations"""
    home_frame: Callable[[Any, LegPlace], FloatArray]
    """`(9,)` frame of a leg at home for the equations"""
    ends: Callable[[Any], Ends]
    """dimensions of what is drawn at the ends of a leg"""
    make_leg: Callable[[Any, LegPlace, Drawing], LegMechanism]
    """bodies and joints of a leg"""
    carry: Callable[[Any, LegPlace, Body], Body] | None = None
    """the platform's body on the joints of a leg, where legs carry it; else it is free"""
