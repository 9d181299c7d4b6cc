"""Tuned gains as the [control] table of a platform.toml."""

from __future__ import annotations

from twin.analysis.tuning.tuning import Tuning
from twin.control.controller import PERIOD
from twin.control.gains import own_gains, suitable_position_loop, suitable_velocity_loop
from twin.model.machine_model import MachineModel, as_model

DIGITS = 4
"""Significant digits: a gain is not known better."""


def control_snippet(platform: MachineModel, tuning: Tuning) -> str:
    """Return a complete [control] table: gains found, and the machine's own for the other loop.

    It replaces the table of that name in the machine's file, if there is one.

    Raises:
        InputError: not a machine.
    """
    own = own_gains(as_model(platform))
    gain, time = suitable_velocity_loop(platform, PERIOD)
    position, integral = suitable_position_loop(platform, PERIOD)
    cranks = platform.coordinate_unit == "rad"
    values = {
        "crank_velocity_gain" if cranks else "velocity_gain": float(gain.mean()),
        "velocity_time": float(time.mean()),
        "position_gain": position,
        "position_integral": integral,
        "feedforward_start": 0.0 if own is None else own.feedforward_start,
        "feedforward_rise": 0.0 if own is None else own.feedforward_rise,
    }
    units = dict(
        zip(values, ("N m s/rad" if cranks else "N s/m", "s", "1/s", "1/s2", "s", "s"), strict=True)
    )
    values |= {
        one.name: float(value) for one, value in zip(tuning.gains, tuning.values, strict=True)
    }
    verdict = "meets" if tuning.search.met else "does not meet"
    lines = [
        f"# {verdict} the specification: largest violation "
        f"{100.0 * tuning.search.best.violation:.3g} percent of the step",
        "[control]",
        f'source = "twin tune {tuning.machine} on {tuning.engine}: {tuning.loop} loop"',
        *(f'{name} = "{value:.{DIGITS}g} {units[name]}"' for name, value in values.items()),
    ]
    return "\n".join(lines) + "\n"
