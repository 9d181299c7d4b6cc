"""Velocity step of the Stewart machine against the closed form of one equivalent mass."""

from __future__ import annotations

import numpy as np

from twin.analysis.platform import Platform
from twin.analysis.tuning.specification import VELOCITY_STEP
from twin.analysis.tuning.steps import VelocityStudy
from twin.basics.arrays import FloatArray
from twin.papers.stewart_thesis.velocity_step import heave_leg, velocity_step_response
from twin.validation.measures.metrics import largest
from twin.validation.results import Measure

STEPS = (1e-4, 5e-5)
"""[s] Steps of the drives whose errors give the order."""


def closed_form(platform: Platform, gains: tuple[float, float]) -> Measure:
    """Return the machine with fine steps against the closed form of one equivalent mass.

    Gain [N s/m] and integral time [s] are given together.
    """
    leg = heave_leg(platform)
    differences = []
    rate = max(gains[0] / leg.mass, 1.0 / gains[1])
    for step in STEPS:
        instants, ours = VelocityStudy(timestep=step).response(platform, *gains)
        exact = velocity_step_response(instants, leg.mass, *gains, weight=leg.weight)
        differences.append(largest(ours - exact))
    return Measure(
        "velocity step against the closed form of one mass: order in the drives' step, off 1 by",
        abs(float(np.log2(differences[0] / differences[1])) - 1.0),
        rate * STEPS[0] / np.log(2.0),
        f"{leg.mass:.2f} kg and {leg.weight:.1f} N per actuator; differences "
        f"{differences[0]:.2g} and {differences[1]:.2g} per step at 0.1 and 0.05 ms: drives that "
        f"work in steps are half a step late. The next term of the error, the loop's {rate:.0f} "
        "1/s times the step as a share of the first, moves the order by this much",
    )


def carried_weight(platform: Platform, time: FloatArray) -> Measure:
    """Return the least violation of all gains within the thesis' bounds, weight carried.

    `time` `(k,)` [s] are the instants at which the bounds are checked.
    """
    leg = heave_leg(platform)
    grid = [
        (
            VELOCITY_STEP.violation(
                time, velocity_step_response(time, leg.mass, 1e3 * gain, 1e-3 * seconds)
            ),
            gain,
            seconds,
        )
        for gain in np.linspace(5.0, 30.0, 26).tolist()
        for seconds in np.linspace(1.0, 8.0, 29).tolist()
    ]
    least, gain, seconds = min(grid)
    return Measure(
        "closed form, weight carried: least violation of all gains within the thesis' bounds",
        least,
        0.0,
        f"at {gain:g} N per mm/s and {seconds:g} ms; above zero: no gains meet the specification, "
        "so that the thesis' answer is one for a loop that does not carry the weight yet",
        at_least=True,
    )
