"""Prescribed lengths of three pillars as functions of time, with two exact derivatives.

The paper drives its model with two sets. The sines are printed as lengths about 0.3549 m, the home
length. The sigmoids are printed without such a constant and start near zero, shorter than any
pillar. They are taken as strokes from the retracted length: all four pillars then stay within their
stroke, and about the home length three of them would leave it. In the small-angle model the choice
changes heave by a constant and nothing else.

Reference: driving simulator paper, section "System Response Analysis".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.papers.driving_simulator.kinematics import PlateModel

SINE_INPUTS = ((1 / 40, 1.0), (1 / 1000, 11 / 10), (3 / 100, 1.0))
"""Amplitude [m] and angular frequency [rad/s] of f_1, f_2, f_3."""

SIGMOID_RISES = (17 / 200, 1 / 20, 1243 / 20000)
"""[m] Rise of f_1, f_2, f_3."""

SIGMOID_STEEPNESS = 5.0
"""[1/s] Steepness of all three sigmoids."""

SIGMOID_MIDDLE = 1.0
"""[s] Time at which half of the rise is done."""


class InputSample(NamedTuple):
    """Lengths [m] at given times with rates [m/s] and accelerations [m/s2]."""

    value: FloatArray
    rate: FloatArray
    acceleration: FloatArray


class LengthInput(ABC):
    """One prescribed length."""

    @abstractmethod
    def scaled(self, factor: float) -> LengthInput:
        """Return the input scaled by a factor in its displacement."""

    @abstractmethod
    def sample(self, time: Any) -> InputSample:
        """Return the length and its derivatives, `(...)` each, at times `(...)` [s]."""


@dataclass(frozen=True)
class SineInput(LengthInput):
    """mean + amplitude sin(angular_frequency t)."""

    mean: float
    """[m] mean length"""
    amplitude: float
    """[m] amplitude of the sine"""
    angular_frequency: float
    """[rad/s] angular frequency of the sine"""

    def scaled(self, factor: float) -> SineInput:
        """Return the input scaled by a factor in its amplitude."""
        return replace(self, amplitude=factor * self.amplitude)

    def sample(self, time: Any) -> InputSample:
        """Return the length and its derivatives, `(...)` each, at times `(...)` [s]."""
        omega = self.angular_frequency
        angle = omega * np.asarray(time)
        sine, cosine = self.amplitude * np.sin(angle), self.amplitude * np.cos(angle)
        return InputSample(self.mean + sine, omega * cosine, -(omega**2) * sine)


@dataclass(frozen=True)
class SigmoidInput(LengthInput):
    """start + rise / (1 + exp(-steepness (t - middle))): a smooth step, never at rest exactly."""

    start: float
    """[m] long before the step"""
    rise: float
    """[m] height of the smooth step"""
    steepness: float
    """[1/s] steepness of the smooth step"""
    middle: float
    """[s] when half the step is done"""

    def scaled(self, factor: float) -> SigmoidInput:
        """Return the input scaled by a factor in its rise."""
        return replace(self, rise=factor * self.rise)

    def sample(self, time: Any) -> InputSample:
        """Return the length and its derivatives, `(...)` each, at times `(...)` [s]."""
        half_exponent = 0.5 * self.steepness * (np.asarray(time) - self.middle)
        tangent = np.tanh(half_exponent)
        slope = 0.25 * self.steepness * (1.0 - tangent**2)
        return InputSample(
            self.start + 0.5 * self.rise * (1.0 + tangent),
            self.rise * slope,
            -self.rise * self.steepness * tangent * slope,
        )


class DrivenLengths(NamedTuple):
    """The three lengths that are functions of time: f_1, f_2, f_3 of the paper."""

    front_right: LengthInput
    rear_left: LengthInput
    front_left: LengthInput

    def scaled(self, factor: float) -> DrivenLengths:
        """Return the inputs scaled by a factor in their displacements."""
        return DrivenLengths(*(pillar.scaled(factor) for pillar in self))

    def sample(self, time: Any) -> InputSample:
        """Return the lengths and their derivatives, `(..., 3)` each, at times `(...)` [s]."""
        pillar_samples = [pillar.sample(time) for pillar in self]
        return InputSample(
            np.stack([sample.value for sample in pillar_samples], axis=-1),
            np.stack([sample.rate for sample in pillar_samples], axis=-1),
            np.stack([sample.acceleration for sample in pillar_samples], axis=-1),
        )


def sinusoidal_inputs(plate: PlateModel) -> DrivenLengths:
    """Return the paper's sines about the home length of a plate."""
    return DrivenLengths(*(SineInput(plate.home_length, *sine) for sine in SINE_INPUTS))


def sigmoid_inputs(plate: PlateModel) -> DrivenLengths:
    """Return the paper's sigmoids ("impulse") from the retracted length of a plate."""
    start_length = plate.minimum_length
    return DrivenLengths(
        *(
            SigmoidInput(start_length, rise, SIGMOID_STEEPNESS, SIGMOID_MIDDLE)
            for rise in SIGMOID_RISES
        )
    )
