"""Sentences on estimates to doubt: misfit, searches that have not ended, plays that hardly show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twin.basics.arrays import FloatArray
from twin.identification.parameters import Parameter
from twin.identification.prediction.optimise import BACKLASH
from twin.identification.visibility import LARGEST_LEFT

FEWEST_REVERSALS = 5
"""Adopted: windows in which the force of a leg changes its sign, for its play to be told."""

DOUBTFUL = 3.0
"""Adopted: prediction errors in the noise of the encoders from which on intervals are doubted."""

UNSETTLED = 1.0
"""Adopted: last step of the search in standard errors, from which on intervals are doubted."""

FAR = 4.0
"""Spreads from the value of the file from which on an estimate is doubted."""


def doubt_of_play(parameter: Parameter, reversals: FloatArray, last: float) -> str:
    """Return why a play is unsure, with advice; nothing for other parameters and sure plays.

    Impacts have several minima, of which the slopes see one. Few do not tell which is the best,
    and a search whose `last` step was long has not found it.
    """
    if BACKLASH not in parameter.path:
        return ""
    most = reversals.max() if parameter.leg is None else reversals[parameter.leg]
    if most < FEWEST_REVERSALS:
        return "shows in few impacts: record a motion that unloads the leg, or hold it"
    if last >= UNSETTLED:
        return "stays unsure, as the search ended beside the best values"
    return ""


def misfit(error: float, noise: FloatArray) -> list[str]:
    """Return a sentence if prediction errors [m, rad] are far above the noise `(n,)`, else none."""
    times = error / float(np.sqrt((noise**2).mean()))
    if times < DOUBTFUL:
        return []
    return [
        f"prediction errors are {times:.1f} times the noise of the encoders: the model misses "
        "something, or the search ended beside the best values; intervals are too narrow"
    ]


def unsettled(last: float) -> list[str]:
    """Return a sentence if the `last` step of a search was not short, else none."""
    if last < UNSETTLED:
        return []
    return [
        f"the last step of the search was {last:.1f} standard errors long: it ended beside the "
        "best values, and intervals are too narrow; identify again from the file of this result"
    ]


def doubts(
    parameters: Sequence[Parameter], values: FloatArray, found: FloatArray, unsure: Sequence[str]
) -> list[str]:
    """Return sentences on estimates that are as unsure as before, or far from the file."""
    doubts = []
    errors = np.sqrt(np.diag(found))
    for parameter, value, error, doubt in zip(parameters, values, errors, unsure, strict=True):
        moved = abs(float(value) - parameter.nominal) / parameter.spread
        if doubt:
            doubts.append(f"{parameter.words} {doubt}; its standard error is its spread")
        elif error > LARGEST_LEFT * parameter.spread:
            share = 100.0 * error / parameter.spread
            doubts.append(f"{parameter.words} stays unsure: {share:.0f} % of its spread are left")
        elif moved > FAR:
            doubts.append(f"{parameter.words} is {moved:.1f} spreads from the file: check it")
    return doubts
