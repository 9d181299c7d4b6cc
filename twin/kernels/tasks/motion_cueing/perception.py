"""One period of the inner ear, exact for inputs that are linear within it, as compiled scalars."""

from __future__ import annotations

from twin.kernels.jit import device

MODEL_SIZE = 11
"""Entries of a model: transition (4), state per input at begin (2) and end (2) of a period,
output per state (2) and per input."""

STATES = 2
"""Of one sense along or about one axis."""

AXES = 6
"""Otoliths along x, y, z, then canals about x, y, z."""


@device
def sense(model, state, left, right):
    """Advance `state` (2,) by one period; return what is sensed at its end.

    Args:
        model: `(MODEL_SIZE,)`.
        state: `(2,)`, overwritten.
        left: input at the begin of the period; may differ from the end of the last one.
        right: input at its end.
    """
    first = model[0] * state[0] + model[1] * state[1] + model[4] * left + model[6] * right
    second = model[2] * state[0] + model[3] * state[1] + model[5] * left + model[7] * right
    state[0], state[1] = first, second
    return model[8] * first + model[9] * second + model[10] * right


@device
def sense_all(models, states, left, right, perceived):
    """Fill `perceived` (6,) at the end of a period: otoliths [m/s2], canals [rad/s].

    Args:
        models: `(2, MODEL_SIZE)` of otoliths and canals.
        states: `(6, 2)`, overwritten.
        left: `(6,)` specific force less rest [m/s2] and angular rate [rad/s] at the begin.
        right: `(6,)` at the end.
        perceived: overwritten.
    """
    for j in range(AXES):
        perceived[j] = sense(models[j // 3], states[j], left[j], right[j])
