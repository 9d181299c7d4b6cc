"""Samples that no machine can send: left out and counted, and the shadow goes on."""

from math import inf, nan

import numpy as np
import pytest

from twin.analysis.platform import load
from twin.link.protocol import Sample
from twin.shadow.shadow import Shadow
from twin.shadow.thresholds import INFINITE_THRESHOLDS

pytestmark = pytest.mark.quick

MACHINES = ("stewart", "srspm", "compliant_stewart", "rss", "driving_simulator")


@pytest.fixture(scope="module", params=MACHINES)
def shadow(request):
    """A shadow of each kind of machine."""
    return Shadow(load(request.param, "hardware"), thresholds=INFINITE_THRESHOLDS)


@pytest.fixture(scope="module")
def stewart():
    """A shadow of one machine."""
    return Shadow(load("stewart", "hardware"), thresholds=INFINITE_THRESHOLDS)


def at_rest(machine, time, **values):
    """Return a sample of the machine at home, with other values."""
    home = machine.home_coordinates
    return Sample("measurement", time, {"coordinates": home, "setpoint": home} | values)


def fed(shadow, samples):
    """Give samples to a shadow, whose state stays finite."""
    for sample in samples:
        state = shadow.update(sample)
        assert all(np.isfinite(each).all() for each in (state.pose, state.twist, state.forces))


FAR = {
    "zero": lambda home, stroke: 0.0 * home,
    "below zero": lambda home, stroke: -home - 2.0 * stroke,
    "100 m too long": lambda home, stroke: home + 100.0,
    "one 100 m too long": lambda home, stroke: home + 100.0 * np.eye(len(home))[0],
    "1e149": lambda home, stroke: home + 1e149,
    "nan": lambda home, stroke: home + np.nan,
}


@pytest.mark.slow
def test_readings_of_no_pose_end_nothing(subtests, shadow):
    """Such as those of an incremental encoder after power-up; the next good one starts it."""
    for when in ["first", "while it settles", "later", "after a gap"]:
        for kind in FAR:
            with subtests.test(f"{when}, {kind}"):
                machine = shadow.machine
                home = machine.home_coordinates
                far = FAR[kind](home, machine.maximum_coordinates - machine.minimum_coordinates)
                shadow.reset()
                before = {"first": 0, "while it settles": 50, "later": 1100, "after a gap": 50}[
                    when
                ]
                start = 1e-3 * before + (5.0 if when == "after a gap" else 0.0)
                fed(shadow, [at_rest(machine, 1e-3 * k) for k in range(before)])
                fed(shadow, [at_rest(machine, start + 1e-3 * k, coordinates=far) for k in range(3)])
                if not (kind == "zero" and machine.name == "rss"):  # a crank reaches zero
                    assert shadow.check.refused or shadow.alarms
                fed(shadow, [at_rest(machine, start + 0.003 + 1e-3 * k) for k in range(3)])
                assert shadow.phase != "waiting"


def test_times_of_no_clock_are_left_out(subtests, stewart):
    for time in [-0.5, 2.5e11, nan, inf]:
        with subtests.test(f"{time}"):
            stewart.reset()
            fed(stewart, [at_rest(stewart.machine, 1.0), at_rest(stewart.machine, time)])
            assert stewart.used_sample is None
            fed(stewart, [at_rest(stewart.machine, 1.001)])
            assert (stewart.missed, stewart.restarts) == (0, 1)
            assert sum(stewart.check.refused.values()) == 1


def test_fields_that_no_sensor_gives_are_left_out(subtests, stewart):
    """The rest of the sample is used, and no wrong field is kept for a log."""
    for field, value in [
        ("forces", np.full(6, 1e200)),
        ("forces", np.zeros(5)),
        ("command_rates", np.full(6, np.inf)),
        ("pose", np.zeros(7)),
        ("gyroscope", np.full(3, np.nan)),
    ]:
        with subtests.test(f"{field}"):
            stewart.reset()
            samples = [at_rest(stewart.machine, 1e-3 * k, **{field: value}) for k in range(1200)]
            fed(stewart, samples)
            assert stewart.used_sample is not None and field not in stewart.used_sample.values
            [(reason, count)] = stewart.check.refused.items()
            assert reason.startswith(field) and count == len(samples)
            assert stewart.phase == "learning" and stewart.restarts == 1
