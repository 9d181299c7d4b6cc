"""Log of the inertial sensor on the thesis' platform: its clock."""

import numpy as np
import pytest
from tolerance import assert_within

import twin
from twin.motion import SineMotion
from twin.validation.cases.inertial_sensor.data_sheet import PITCH_COLUMN, logged

pytestmark = pytest.mark.quick


def test_the_log_is_on_the_clock_of_the_loop():
    """At 3 Hz the filter is late by 3.0 ms; log, reference and platform start together."""
    machine = twin.load("stewart", "hardware")
    motion = SineMotion(machine.home, amplitude={"pitch": 0.02}, frequency=3.0, duration=2.01)
    run = logged(machine, motion, 27.0, 2.0)
    assert_within(run.log.time, np.arange(0.0, 2.0, 5e-3), 1e-9)
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
    assert_within(delay[0] - delay[1], 3.0e-3, 1e-3)
    assert 0.0 < delay[1] < 5e-3
