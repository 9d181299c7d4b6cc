"""Reading actions and writing observations: scaled and clipped."""

from __future__ import annotations

from math import inf

from twin.kernels.jit import compiled, device

INFINITY = inf

LARGEST = 10.0
"""Bound of every observation: so many of a channel's scale; what is beyond is clipped."""


@device
def put_scalar(out, at, value):
    """Write a value without unit, clipped, zero for NaN; return the next place."""
    out[at] = min(max(value, -LARGEST), LARGEST) if value == value else 0.0
    return at + 1


@device
def put(out, at, value, sizes):
    """Write `value` in parts of `sizes[at]` to `out[at]`, clipped; return the next place."""
    return put_scalar(out, at, value / sizes[at])


@compiled
def accept(actions, out):
    """Fill `out` (N, a) with `actions` clipped to 1; return False where one is not finite."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            value = float(actions[i, j])
            if not abs(value) < INFINITY:
                return False
            out[i, j] = min(max(value, -1.0), 1.0)
    return True


@compiled
def count(actions, last, steps):
    """Keep `actions` (N, a) as the `last` and count a control period in all `steps` (N,)."""
    for i in range(actions.shape[0]):
        steps[i] += 1
        for j in range(actions.shape[1]):
            last[i, j] = actions[i, j]
