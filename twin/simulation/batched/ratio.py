"""Steps of an engine within a control period: a whole number of them."""

from __future__ import annotations

from collections.abc import Callable

from twin.basics.arrays import positive
from twin.errors import InputError
from twin.model.machine_model import MachineModel
from twin.plant.drives import drive_constants
from twin.simulation.batched.drive_arrays import loop_gains

LONGEST = 1e-3
"""[s] largest default step of an engine."""

ROUNDING = 1e-9

MOST = 100_000
"""Steps in a period."""


def whole_ratio(period: float, timestep: float) -> int:
    """Return how often `timestep` [s] goes into `period` [s].

    Raises:
        InputError: not a whole number of times.
    """
    step = positive(timestep, "timestep")
    ratio = round(period / step) if period / step < MOST else MOST + 1
    if not 1 <= ratio <= MOST or abs(ratio * step - period) > ROUNDING * period:
        raise InputError(
            "timestep",
            f"{step:.9g} s must divide the control period {period:.9g} s into whole steps, "
            f"at most {MOST}; {period / max(1, min(ratio, MOST)):.9g} s does",
        )
    return ratio


def suitable_timestep(
    platform: MachineModel, period: float, check: Callable[[MachineModel, float], None]
) -> float:
    """Return the longest step [s] of at most 1 ms, halved, a third.. of it, that is allowed.

    Args:
        platform: the machine.
        period: of control [s].
        check: raises InputError where the engine cannot take a step.

    Raises:
        InputError: no step is short enough.
    """
    least = max(1, -int(-(period / LONGEST) * (1.0 - ROUNDING) // 1))
    last: InputError | None = None
    for part in range(1, MOST // least + 1):
        step = period / (least * part)
        try:
            check(platform, step)
            drive_constants(platform, step)
            loop_gains(platform, step)
        except InputError as error:
            last = error
            if part > 100:
                break
            continue
        return step
    raise last or InputError("period", f"{period:g} s is too long")
