"""Curriculum: how far a randomisation reaches, by the progress of the training."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, Field

Part = Annotated[float, Field(ge=0.0, le=1.0)]


def _rising(points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    if any(after[0] <= before[0] for before, after in pairwise(points)):
        raise ValueError("must be at progresses that rise")
    return points


Points = Annotated[tuple[tuple[Part, Part], ...], AfterValidator(_rising)]
"""Progress of the training, 0 to 1, and the share of the way from nominal to drawn numbers then."""


def share_at(points: Points, progress: float) -> float:
    """Return the share at a progress: straight between points, constant outside them."""
    if not points:
        return 1.0
    progresses, shares = np.array(points).T
    return float(np.interp(progress, progresses, shares))


def widen(env: Any, points: Points, progress: float) -> None:
    """Set the reach of an environment's randomisation; without points it stays whole."""
    if points:
        env.unwrapped.episodes.share = share_at(points, progress)
