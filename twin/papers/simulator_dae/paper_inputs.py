"""The two sets of inputs with which the paper drives its model.

The sines are printed as lengths about 0.3549 m, the home length. The sigmoids are printed without
such a constant and start near zero: no pillar is that short. They are strokes from the retracted
length: so all four pillars stay within their stroke, while about the home length three of them
would leave it. In the small-angle model the choice moves heave by a constant and nothing else.

Reference: driving simulator paper, section "System Response Analysis".
"""

from __future__ import annotations

from twin.papers.simulator_dae.inputs import DrivenLengths, SigmoidInput, SineInput
from twin.papers.simulator_dae.plate import PlateModel

SINES = ((1 / 40, 1.0), (1 / 1000, 11 / 10), (3 / 100, 1.0))
"""Amplitude [m] and angular frequency [rad/s] of f_1, f_2, f_3."""

SIGMOID_RISES = (17 / 200, 1 / 20, 1243 / 20000)
"""[m] of f_1, f_2, f_3."""

STEEPNESS = 5.0
"""[1/s]"""

MIDDLE = 1.0
"""[s]"""


def sinusoidal_inputs(plate: PlateModel) -> DrivenLengths:
    """Return the paper's sines about the home length of a plate."""
    return DrivenLengths(*(SineInput(plate.home_length, *sine) for sine in SINES))


def sigmoid_inputs(plate: PlateModel) -> DrivenLengths:
    """Return the paper's sigmoids ("impulse") from the retracted length of a plate."""
    start = plate.minimum_length
    return DrivenLengths(*(SigmoidInput(start, rise, STEEPNESS, MIDDLE) for rise in SIGMOID_RISES))
