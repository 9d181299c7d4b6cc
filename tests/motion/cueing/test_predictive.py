"""Predictive cueing: never beyond the limits, the right optimum, the models it predicts with."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from refusals import assert_all_refused, refused
from tolerance import assert_within, max_abs

import twin
from twin.kernels.tasks.motion_cueing.cues import GRAVITY
from twin.motion import read_recording
from twin.motion.cueing import (
    Manoeuvre,
    PredictiveCueing,
    PredictiveSettings,
    cue,
    make_manoeuvre,
    outcome,
    perceived,
    sensed_manoeuvre,
    standstill_error,
    workspace_use,
    write_motion,
)
from twin.motion.cueing.predictive import (
    Expectation,
    LimitCheck,
    Plan,
    plan_from,
    prediction,
    sensed_gradients,
)

pytest.importorskip("osqp")

SIMULATORS = ("stewart", "driving_simulator")
REST = np.array([0.0, 0.0, GRAVITY])


def begin(name, seconds):
    manoeuvre = make_manoeuvre(name)
    kept = manoeuvre.time <= seconds
    return Manoeuvre(
        name, manoeuvre.time[kept], manoeuvre.specific_force[kept], manoeuvre.angular_rate[kept]
    )


def violent(seed, seconds=2.0):
    """Steps and noise far beyond what the machine can give."""
    random = np.random.default_rng(seed)
    time = np.arange(0.0, seconds, 0.02)
    force = (
        REST + 8.0 * np.sign(random.normal(size=(8, 3))).repeat(len(time) // 8 + 1, 0)[: len(time)]
    )
    force[:, 2] = GRAVITY + 5.0 * random.normal(size=len(time))
    return Manoeuvre("violent", time, force, random.normal(size=(len(time), 3)))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SIMULATORS, "rss", "micro_hexapod"])
def test_no_manoeuvre_takes_an_actuator_beyond_its_limits(name):
    platform = twin.load(name)
    made = cue(platform, violent(1), "predictive")
    use = workspace_use(platform, made.motion, 1e-3)
    assert use.largest <= 1.0
    # The limits are worked with, not stayed away from.
    assert use.length > 0.5
    assert made.shrink == 1.0


def test_the_last_plan_goes_on_when_no_solution_is_found(stewart):
    cueing = PredictiveCueing(stewart)
    force, rate = begin("braking", 3.0).at(cueing.period * np.arange(70))
    for sample in zip(force[:45], rate[:45], strict=True):
        cueing.step(*sample)
    assert max_abs(cueing.state[1]) > 0.01
    cueing.program.solve = lambda problem: type(
        "Solution", (), {"solution": np.full(len(problem.gradient), np.nan), "iterations": 0}
    )()
    rows = []
    for sample in zip(force[45:], rate[45:], strict=True):
        cueing.step(*sample)
        rows.append(cueing.state.copy())
    for _ in range(40):
        cueing.step(force[-1], rate[-1])
    assert_within(cueing.state[1], 0.0, 1e-12)
    assert cueing.followed_fractions[-1] == 0.0
    assert cueing.check.keeps(cueing.plan)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIMULATORS)
def test_braking_is_perceived_better_than_by_a_platform_at_rest(name):
    platform, manoeuvre = twin.load(name), begin("braking", 3.0)
    made = outcome(platform, manoeuvre)
    still = standstill_error(manoeuvre)
    assert made.error.total < 0.95 * still.total
    assert made.error.total_correlation > 0.5
    assert made.use.largest <= 1.0
    classical = outcome(platform, manoeuvre, "classical")
    assert made.error.total < classical.error.total


@pytest.mark.slow
def test_known_future_helps():
    platform, manoeuvre = twin.load("driving_simulator"), begin("slalom", 4.0)
    blind = outcome(platform, manoeuvre)
    seeing = outcome(platform, manoeuvre, preview=manoeuvre)
    assert seeing.error.total < blind.error.total


def test_same_manoeuvre_same_motion():
    platform, manoeuvre = twin.load("stewart"), begin("step_steer", 1.6)
    one, other = (cue(platform, manoeuvre, "predictive").motion.knots.values for _ in range(2))
    assert_array_equal(one, other)


def test_prediction_is_what_happens():
    blocks, period = (1, 2, 3, 4), 0.04
    model = prediction(period, blocks)
    random = np.random.default_rng(3)
    jerks = random.normal(size=4)
    outputs = model.forced @ jerks
    fine = 200
    jerk = np.repeat(jerks, np.array(blocks) * fine)
    plan = plan_from(np.zeros((1, 3)), jerk[:, None], period / fine)
    value, rate, acceleration = plan.states[:, 0].T
    zero = np.zeros_like(value)
    columns = np.stack([acceleration, value, zero], axis=1)
    sensed = perceived(columns + REST, np.stack([rate, zero, zero], axis=1), period / fine)
    expected = np.stack(
        [value, rate, acceleration, sensed.force[:, 0], sensed.force[:, 1], sensed.rate[:, 0]]
    )[:, fine::fine]
    assert_within(outputs.T, expected, 1e-6)
    state = random.normal(size=9)
    later = model.transition @ state
    assert_within(model.free[1] @ state, model.free[0] @ later, 1e-12)


def test_expectation_is_perception_of_the_past_and_of_a_fading_future():
    period, steps, memory = 0.04, 10, 0.5
    expectation = Expectation(period, steps, memory)
    random = np.random.default_rng(4)
    inputs = np.cumsum(random.normal(size=(30, 6)), axis=0) * 0.05
    inputs[0] = 0.0
    for row in inputs:
        expectation.step(row[:3], row[3:])
    slope = (inputs[-1] - inputs[-2]) / period
    fine = 100
    past = np.arange(29 * fine + 1) / fine
    known = np.stack([np.interp(past, np.arange(30), column) for column in inputs.T], axis=1)
    t = np.arange(1, steps * fine + 1)[:, None] * (period / fine)
    future = np.exp(-t / memory) * (inputs[-1] + (slope + inputs[-1] / memory) * t)
    whole = np.concatenate([known, future])
    sensed = perceived(whole[:, :3] + REST, whole[:, 3:], period / fine)
    expected = np.stack([part[29 * fine + fine :: fine].T for part in sensed])
    assert_within(expectation.perceived_ahead(), expected, 2e-5)


@given(st.lists(st.floats(-0.02, 0.02), min_size=18, max_size=18))
@settings(max_examples=20)
def test_felt_slopes_are_those_of_small_motions(numbers):
    from twin.motion.cueing import CuedMotion

    platform, head = twin.load("stewart"), np.array([0.1, -0.2, 0.5])
    values, rates, accelerations = np.reshape(numbers, (3, 6))
    end = (
        values + 0.01 * (rates + 0.01 * accelerations / 2.0),
        rates + 0.01 * accelerations,
        accelerations,
    )
    knots = np.stack([np.stack([values, rates, accelerations]), np.stack(end)], axis=1)
    manoeuvre = sensed_manoeuvre(platform, CuedMotion(platform.home, 0.01, knots), head, 2e-3)
    straight, level, turning = sensed_gradients(head)
    force = straight @ accelerations + level @ values + REST
    # What is left out is of second order in numbers up to 0.02, with gravity and arms.
    assert_within(manoeuvre.specific_force[0], force, 1.5e-2)
    assert_within(manoeuvre.angular_rate[0], turning @ rates, 2e-3)


def test_the_check_sees_what_lies_between_its_instants(stewart):
    columns = np.arange(6)
    check = LimitCheck(stewart, columns, 0.04, 4)
    jerks = np.zeros((8, 6))
    jerks[:, 2] = [60, -60, -60, 60, -60, 60, 60, -60]
    plan = plan_from(np.zeros((6, 3)), jerks, 0.04)
    assert check.keeps(plan)
    far = Plan(plan.states.copy(), plan.jerks)
    far.states[:, 2, 0] += 0.13
    assert not check.keeps(far)
    fast = plan_from(np.zeros((6, 3)), 8.0 * jerks, 0.04)
    assert not check.keeps(fast)
    away = Plan(plan.states + 10.0, plan.jerks)
    assert not check.keeps(away)


def test_motion_is_written_and_read_back(tmp_path, stewart):
    made = cue(stewart, begin("slalom", 2.0), "predictive")
    file = write_motion(made.motion, tmp_path / "motion.csv")
    back = read_recording(file, stewart.home)
    time = np.linspace(0.0, 2.0, 301)
    ours, theirs = made.motion.sample(time), back.sample(time)
    assert_within(theirs.pose, ours.pose, 1e-6)
    assert_within(theirs.twist, ours.twist, 1e-3)
    with refused():
        write_motion(made.motion, tmp_path / "none" / "motion.csv")
    with refused("motion"):
        write_motion("motion", tmp_path / "motion.csv")
    with refused("period: gives"):
        workspace_use(stewart, made.motion, 1e-12)
    with refused("period: must not be longer"):
        workspace_use(stewart, made.motion, 1e3)


def test_malformed_arguments_are_refused(stewart):
    assert_all_refused(
        lambda options: PredictiveCueing(stewart, **options),
        [({"head": [0.0]}, "head"), ({"settings": 1}, "settings"), ({"preview": "x"}, "preview")],
    )
    assert_all_refused(
        lambda changes: PredictiveSettings(**changes),
        [
            ({"blocks": (2, 2, 2, 2)}, "blocks"),
            ({"blocks": (1, 1)}, "blocks"),
            ({"blocks": "many"}, "blocks"),
            ({"memory": 0.0}, "memory"),
            ({"force_weight": (1.0, -1.0, 1.0)}, "force_weight"),
            ({"margin": np.nan}, "margin"),
        ],
    )
