"""Filters and washout: transfer functions, smooth curves, limits, no tilt without side force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from refusals import assert_all_refused, refused
from tolerance import assert_within

import twin
from twin.kernels.tasks.motion_cueing.cues import GRAVITY
from twin.motion.cueing import (
    AdaptiveSettings,
    AdaptiveWashout,
    ClassicalWashout,
    CuedMotion,
    Manoeuvre,
    WashoutSettings,
    cue,
    make_manoeuvre,
    perceived_error,
    workspace_use,
)
from twin.motion.cueing.algorithm import Channel, Derivative, machine_ranges

SIMULATORS = ("stewart", "driving_simulator")
WASHOUTS = (ClassicalWashout, AdaptiveWashout)
REST = np.array([0.0, 0.0, GRAVITY])


def test_derivative_is_that_of_a_parabola():
    time = 0.1 * np.arange(6)
    slope = Derivative(1, 0.1)
    found = [slope.step(np.array([value]))[0] for value in time**2]
    assert_within(found[2:], 2.0 * time[2:], 1e-12)


@given(st.lists(st.floats(-10.0, 10.0), min_size=5, max_size=60), st.floats(0.01, 1.0))
@settings(max_examples=50)
def test_rate_limit_is_never_exceeded(targets, limit):
    channel, period = Channel(1, 5e-3), 5e-3
    for target in np.repeat(targets, 10):
        before = channel.rate[0], channel.acceleration[0]
        channel.step(9.0 * target, 6.0, 9.0, limit)
        rate, first, last = channel.rate[0], before[1], channel.acceleration[0]
        assert abs(rate) <= limit * (1.0 + 1e-12)
        if first * last < 0.0:
            peak = before[0] + 0.5 * period * first**2 / (first - last)
            assert abs(peak) <= limit * (1.0 + 1e-12)


@pytest.mark.parametrize("name", twin.machine_names())
def test_free_axes_are_as_many_as_freedoms(name):
    platform = twin.load(name)
    ranges = machine_ranges(platform)
    assert ranges.free.sum() == platform.dof
    assert (ranges.travel[ranges.free] > 0.0).all()
    assert (ranges.travel[~ranges.free] == 0.0).all()


@pytest.mark.slow
def test_motion_is_smooth_fits_and_can_be_followed(subtests):
    for name in SIMULATORS:
        for washout in WASHOUTS:
            with subtests.test(f"{name}, {washout}"):
                platform = twin.load(name)
                made = cue(platform, make_manoeuvre("double_lane_change"), washout.name)
                motion, step = made.motion, 1e-4
                time = np.linspace(0.5, 11.5, 400)
                before, middle, after = (
                    motion.sample(time + shift) for shift in (-step, 0.0, step)
                )
                speed = (after.pose[:, :3] - before.pose[:, :3]) / (2.0 * step)
                assert_within(speed, middle.twist[:, :3], 1e-6)
                bend = (after.twist - before.twist) / (2.0 * step)
                # Accelerations have kinks at the samples, with slopes below 100 units a second.
                assert_within(bend, middle.acceleration, 1e-2)
                use = workspace_use(platform, motion)
                assert 0.1 < use.length <= 1.0
                assert use.largest <= 1.0
                from twin.control.controller import sample_reference

                assert sample_reference(platform, motion, 1e-2).reachable.all()


@pytest.mark.slow
def test_steady_force_becomes_tilt_and_only_tilt(stewart):
    force, angle = np.array([1.0, -0.8, GRAVITY]), []
    for washout in (ClassicalWashout(stewart), AdaptiveWashout(stewart)):
        for _ in range(round(40.0 / washout.period)):
            washout.step(force, np.zeros(3))
        angle.append(washout.values[4:])
        # The adaptive heave, of second order, keeps what the tilt takes of gravity: 3 mm.
        most = 1e-5 if washout.name == "classical" else [1e-5, 1e-5, 4e-3]
        assert (np.abs(washout.values[:3]) <= most).all()
        assert_within(washout.state[1], 0.0, 1e-3)
    expected = [-np.arcsin(1.0 / GRAVITY), np.arcsin(-0.8 / GRAVITY)]
    assert_within(angle[0], expected, 1e-4)
    assert_within(angle[1], expected, 2e-2)


def test_adaptive_gains_descend_and_return(stewart):
    washout, rest = AdaptiveWashout(stewart), np.zeros(3)
    for _ in range(600):
        washout.step(np.array([3.0, 0.0, GRAVITY]), rest)
    moved = washout.channels.gains.copy()
    assert np.abs(moved[:, 0] - 1.0).max() > 0.05
    assert_within(moved[:, 1], 1.0, 1e-9)
    assert (moved >= 0.0).all()
    assert (moved <= AdaptiveSettings().largest).all()
    for _ in range(4000):
        washout.step(REST, rest)
    assert_within(washout.channels.gains, 1.0, 2e-2)


def test_adaptive_washout_needs_frequencies(stewart):
    with refused("above zero"):
        AdaptiveWashout(
            stewart, settings=WashoutSettings.of(stewart, rotation_frequency=[0.0, 2.0, 2.0])
        )


def test_adaptive_slopes_are_derivatives_of_the_motion(stewart):
    manoeuvre = make_manoeuvre("braking").scaled(0.2)
    frozen, step = AdaptiveSettings(), 1e-4

    def place(**changes):
        cost = AdaptiveSettings(descent=0.0, **changes)
        washout = AdaptiveWashout(stewart, cost=cost)
        force, rate = manoeuvre.at(washout.period * np.arange(400))
        for sample in zip(force, rate, strict=True):
            washout.step(*sample)
        return washout

    base = place()
    for row, gain in enumerate(("translation_gain", "tilt_gain")):
        size = step * getattr(frozen, gain)
        changed = place(**{gain: getattr(frozen, gain) + size})
        slope = (changed.values[0] - base.values[0]) / size
        # The slopes leave out the small lag of the angles and take small angles.
        assert base.channels.slopes[row].value[0] == pytest.approx(slope, rel=0.15, abs=1e-4)


def test_head_stays_where_the_axes_say(stewart):
    made = cue(stewart, make_manoeuvre("slalom"), "classical", head=[0.1, 0.0, 0.5], fit=False)
    pose = made.motion.sample(made.motion.time).pose
    from twin.basics.arrays import rotated

    head = pose[:, :3] + rotated(pose[:, 3:], np.broadcast_to(made.head, (len(pose), 3)))
    wanted = stewart.home[:3] + made.head + made.motion.knots.values[:, :3]
    assert_within(head, wanted, 1e-12)


def test_perceived_error_of_equal_and_of_opposite_manoeuvres():
    manoeuvre = make_manoeuvre("slalom")
    same = perceived_error(manoeuvre, manoeuvre)
    assert same.total == same.total_false_cue == 0.0
    assert same.total_correlation == pytest.approx(1.0)
    opposite = perceived_error(manoeuvre, manoeuvre.scaled(-1.0))
    assert opposite.total_correlation == pytest.approx(-1.0)
    conscious = np.abs(np.hstack(opposite.vehicle.above_threshold())).max(axis=0) > 0.0
    assert (opposite.false_cue[conscious] > 0.0).all()
    still = perceived_error(manoeuvre, manoeuvre.scaled(0.0))
    assert_allclose(opposite.relative, 2.0 * still.relative, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("washout", WASHOUTS)
def test_malformed_washouts_are_refused(washout, stewart):
    assert_all_refused(
        lambda arguments: washout(**{"platform": stewart, **arguments}),
        [
            ({"platform": "stewart"}, "platform"),
            ({"head": [0.0, 1.0]}, "head"),
            ({"period": 0.0}, "period"),
            ({"period": 0.2}, "period"),
            ({"settings": "fast"}, "settings"),
        ],
    )


def test_malformed_settings_and_motions_are_refused(stewart):
    assert_all_refused(
        lambda changes: WashoutSettings.of(stewart, **changes),
        [({"tilt_rate": 0.0}, "tilt_rate"), ({"speed": 1.0}, None), ({"force_scale": [1.0]}, None)],
    )
    manoeuvre = Manoeuvre("r", [0.0, 0.1, 0.2, 0.3], np.tile(REST, (4, 1)), np.zeros((4, 3)))
    assert_all_refused(
        lambda bad: cue(**{"platform": stewart, "manoeuvre": manoeuvre, **bad}),
        [
            ({"algorithm": "magic"}, "algorithm"),
            ({"algorithm": "classical", "scale": -1.0}, "scale"),
            ({"algorithm": "classical", "fit": 1}, "fit"),
            ({"algorithm": "classical", "manoeuvre": "slalom"}, "manoeuvre"),
        ],
    )
    with refused("not the integrals"):
        CuedMotion(stewart.home, 0.1, np.random.default_rng(1).normal(size=(3, 5, 6)))
