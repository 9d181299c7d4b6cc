"""Seeds of what is random in a plant: one per machine, another stream for every part of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.errors import InputError


def seed_sequence(seed: Any, part: str) -> np.random.SeedSequence:
    """Return the seeds of a named part, which depend on no other part and on no order.

    Raises:
        InputError: a seed that is no whole number, zero or more.
    """
    if type(seed) is not int or seed < 0:
        raise InputError("seed", f"must be a whole number, zero or more, not {seed!r}")
    return np.random.SeedSequence([seed, *part.encode()])
