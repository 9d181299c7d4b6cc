"""Log of the inertial sensor on the thesis' platform: its clock, and its ratio by bands."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import twin
from twin.analysis.inertial.response import ChannelResponse
from twin.motion import SineMotion
from twin.validation.cases.inertial_sensor.case import RATIO_BANDS, band_ratios
from twin.validation.cases.inertial_sensor.data_sheet import PITCH_COLUMN, logged

pytestmark = pytest.mark.quick


def run_with(decibels: Any) -> Any:
    """Return a run whose log gives a ratio [dB] in each band."""
    frequency = np.arange(0.0, 101.0)
    size = np.ones(len(frequency))
    for value, (low, high) in zip(decibels, RATIO_BANDS, strict=True):
        size[(frequency >= low) & (frequency <= high)] = 10.0 ** (value / 20.0)
    flat = np.ones(len(frequency))
    response = ChannelResponse(
        frequency, flat, flat, 0.95 * flat, size.astype(complex), 0.01 * flat
    )
    return SimpleNamespace(response=response)


def test_ratios_are_those_of_the_bands() -> None:
    ratios = [0.1, 0.4, 1.0, 2.0, 4.0]
    assert band_ratios(run_with(ratios)).ratio == pytest.approx(ratios, abs=0.2)


def test_the_log_is_on_the_clock_of_the_loop() -> None:
    """At 3 Hz the filter is late by 3.0 ms; log, reference and platform start together."""
    machine = twin.load("stewart", "hardware")
    motion = SineMotion(machine.home, amplitude={"pitch": 0.02}, frequency=3.0, duration=2.01)
    run = logged(machine, motion, 27.0, 2.0)
    assert run.log.time == pytest.approx(np.arange(0.0, 2.0, 5e-3), abs=1e-9)
    wave = np.exp(2j * np.pi * 3.0 * run.log.time[200:])
    turned = [
        np.angle(np.vdot(wave, part))
        for part in (
            run.log.angular_rate[200:, 1],
            run.rate[: 5 * len(run.log.time) : 5][200:],
            motion(run.log.time[200:]).twist[:, PITCH_COLUMN],
        )
    ]
    delay = -(np.array(turned[:2]) - turned[2]) / (2.0 * np.pi * 3.0)
    assert delay[0] - delay[1] == pytest.approx(3.0e-3, abs=1e-3)
    assert 0.0 < delay[1] < 5e-3
