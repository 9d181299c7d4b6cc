"""Writing observations: physical values in parts of their scale, clipped."""

from __future__ import annotations

from twin.compiled.jit import device

LARGEST = 10.0


@device
def put_scalar(out, at, value):
    """Write a value without unit, clipped, zero for NaN; return the next place."""
    out[at] = min(max(value, -LARGEST), LARGEST) if value == value else 0.0
    return at + 1


@device
def put(out, at, value, sizes):
    """Write `value` in parts of `sizes[at]` to `out[at]`, clipped; return the next place."""
    return put_scalar(out, at, value / sizes[at])
