"""The masses a search tries, one after the other."""

from __future__ import annotations

from math import floor, inf
from typing import Any, NamedTuple

from twin.basics.arrays import positive

START_KG, STEP_KG = 600.0, 50.0
"""Stewart thesis, section 4.2.1."""


class MassSteps(NamedTuple):
    """Neighbours among the masses tried: the last that holds, the first that does not."""

    passes: float | None
    """[kg]; None: not even the first mass above zero"""
    fails: float | None
    """[kg]; None: every mass holds"""


def mass_steps(exact: float, start: Any, step: Any) -> MassSteps:
    """Return where a search that begins at `start` and adds `step` [kg] ends.

    Masses below the start are tried too, so that a start that is too heavy is no error.

    Raises:
        InputError: start or step are no numbers above zero.
    """
    first, width = positive(start, "start"), positive(step, "step")
    if exact == inf:
        return MassSteps(inf, None)
    count = floor((exact - first) / width)
    passes = first + count * width
    if passes > 0.0:
        return MassSteps(passes, first + (count + 1) * width)
    return MassSteps(None, first - floor(first / width) * width or width)
