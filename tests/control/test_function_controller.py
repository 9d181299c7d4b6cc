"""Functions of a user as controllers: the same as classes, other periods, and mistakes."""

from functools import partial

import numpy as np
import pytest
from closed_loops import heave
from numpy.testing import assert_allclose, assert_array_equal
from refusals import assert_all_refused, refused
from tolerance import assert_within

import twin
from twin.control.cascade import Cascade
from twin.control.controller import FunctionController, sample_reference
from twin.control.loop import ClosedLoop
from twin.errors import SingularPoseError

pytestmark = pytest.mark.quick

REST = np.zeros(6)
FAST = {"fidelity": "fast", "progress": False}


def weight(platform):
    return platform.inverse_dynamics(platform.home, REST, REST)


def spring(platform, time, measurement):
    """Hold the legs at home."""
    error = platform.home_coordinates - measurement.coordinates
    return weight(platform) + 1e5 * error - 2e3 * measurement.rates


def test_a_function_does_what_the_same_class_does(stewart):
    controller = Cascade(stewart, heave(stewart))
    begun = []

    def same(time, measurement):
        if not begun:
            controller.start(measurement)
            begun.append(time)
        return controller.update(round(time / controller.period), measurement)

    wrapped = stewart.simulate(0.3, controller=same, **FAST)
    plain = stewart.simulate(0.3, controller=Cascade(stewart, heave(stewart)), **FAST)
    assert_array_equal(wrapped.pose, plain.pose)
    assert_array_equal(wrapped.signals["command"], plain.signals["command"])
    assert begun == [0.0]


def test_it_is_called_once_a_period_with_the_time(stewart):
    times = []

    def held(time, measurement):
        assert abs(time - measurement.time) < 1e-12
        times.append(time)
        return weight(stewart)

    run = stewart.simulate(0.1, controller=held, period=0.01, **FAST)
    assert_within(times, np.arange(10) * 0.01, 1e-12)
    assert_array_equal(run.signals["command"], np.tile(weight(stewart), (10, 1)))
    assert_within(run.pose[-1], stewart.home, 1e-9)


def test_plain_arrays_are_forces_or_speeds(stewart):
    speeds = np.full(6, 0.01)
    law = FunctionController(stewart, lambda *_: speeds, mode="velocity")
    runs = [
        stewart.simulate(0.2, controller=given, **FAST)
        for given in (law, lambda *_: twin.Command(speeds))
    ]
    assert_array_equal(runs[0].lengths, runs[1].lengths)
    assert_allclose(runs[0].rates[-1], speeds, rtol=0.2)


def test_a_motion_is_recorded_and_watched(stewart):
    motion = heave(stewart)
    law = FunctionController(stewart, partial(spring, stewart), motion)
    run = stewart.simulate(0.2, controller=law, **FAST)
    wanted = sample_reference(stewart, motion).coordinates[:200]
    assert_array_equal(run.signals["setpoint"], wanted)
    stroke = stewart.maximum_coordinates - stewart.minimum_coordinates
    assert_allclose(law.supervisor().following, 0.25 * stroke, rtol=1e-12)
    aimless = FunctionController(stewart, partial(spring, stewart))
    assert_allclose(aimless.supervisor().following, stroke, rtol=1e-12)
    aimless.redirect(sample_reference(stewart, motion))
    assert_allclose(aimless.supervisor().following, 0.25 * stroke, rtol=1e-12)


def test_loops_take_functions_and_exchange_them(stewart):
    loop = ClosedLoop(stewart, partial(spring, stewart))
    engine = twin.make_engine("analytic", stewart, timestep=1e-3, fidelity="fast")
    state = engine.reset()
    loop.start(engine.timestep, state)
    for step in range(20):
        if step == 10:
            loop.replace(lambda *_: weight(stewart))
        state = engine.step(loop.step(step, state))
    engine.close()
    assert loop.stopped == ""
    assert_within(state.pose, stewart.home, 1e-6)


def too_few(time, measurement):
    return [1.0, 2.0]


def nothing(time, measurement):
    """Forget to return."""


def test_mistakes_name_the_function(stewart):
    assert_all_refused(
        lambda function: stewart.simulate(0.1, controller=function, **FAST),
        [
            (too_few, r"controller too_few\(time, measurement\).* size 6, got shape \(2,\)"),
            (nothing, "controller nothing.*must be numbers"),
            (lambda *_: np.full(6, np.nan), "controller <lambda>.*must be finite"),
            (lambda *_: twin.Command(np.zeros(5)), r"size 6, got shape \(5,\)"),
            (lambda *_: twin.Command(np.zeros(6), "speed"), "unknown mode 'speed'"),
            (lambda time: np.zeros(6), "is called with time and measurement"),
            (Cascade, "must be one of twin.control or a function"),
            ("cascade", "must be one of twin.control or a function"),
        ],
    )


def test_errors_of_the_function_are_its_own(stewart):
    def broken(time, measurement):
        raise KeyError("gain")

    def lost(time, measurement):
        raise SingularPoseError("lost", {})

    with pytest.raises(KeyError, match="gain"):
        stewart.simulate(0.1, controller=broken, **FAST)
    assert stewart.simulate(0.1, controller=lost, **FAST).stopped.startswith("lost")


def test_periods_are_checked(subtests, stewart):
    for period in [0.0, -1.0, np.inf, "1 ms"]:
        with subtests.test(f"{period}"):
            with refused("period"):
                stewart.simulate(0.1, controller=partial(spring, stewart), period=period, **FAST)
            with refused("made with its own"):
                stewart.simulate(0.1, controller=Cascade(stewart), period=1e-3, **FAST)
            with refused("is for a controller"):
                stewart.simulate(0.1, period=1e-3, **FAST)
