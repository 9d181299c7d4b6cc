"""Causes of known residuals: the right alarm, its size, two-sided thresholds, false alarms."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from tolerance import assert_within

from twin.analysis.platform import load
from twin.basics.arrays import FloatArray
from twin.shadow.detectors import (
    FALSE_ALARMS,
    FORGETTING_TIME,
    WHITE_INFLATION,
    CauseDetector,
    Hypothesis,
    LikelihoodWindow,
)
from twin.shadow.model import ShadowModel
from twin.shadow.residuals import (
    BLOCK_TIME,
    CONTACT_SIDE,
    EFFORT,
    FRICTION,
    REGRESSOR_COUNT,
    Block,
    HealthyLaw,
    Residual,
)
from twin.shadow.thresholds import Thresholds
from twin.shadow.watch import (
    LevelWatch,
    ResidualWatch,
    described_force,
    force_columns,
    force_hypotheses,
    friction_sizes,
)

pytestmark = pytest.mark.quick

LIMITS = Thresholds(friction=30.0, backlash=2e-5, payload=4.0, force=30.0, motor=0.1, jump=6.0)
STEWART = load("stewart", "hardware")
JACOBIAN = STEWART.jacobian(STEWART.home)
WRENCHES = np.linalg.pinv(JACOBIAN.T)
NOISE = 10.0
"""[N] of the mean of a block."""

HEALTHY = round(10.0 / BLOCK_TIME)
"""Blocks that are learned."""

Fault = Callable[[Block, FloatArray], FloatArray]


def block_at(step):
    """Return a block of a machine at work, without residuals."""
    time, phases = step * BLOCK_TIME, np.arange(6)
    regressors = np.zeros((6, REGRESSOR_COUNT))
    regressors[:, 0] = 1.0
    regressors[:, FRICTION] = np.clip(5.0 * np.sin(2 * np.pi * 0.9 * time + phases), -1.0, 1.0)
    shake = 3.0 * np.sin(2 * np.pi * np.array([0.7, 0.5, 1.1]) * time)
    load_acceleration = np.array([0.0, 0.0, 9.81]) + shake
    weights = WRENCHES[:, :3] @ load_acceleration
    regressors[:, EFFORT] = 100.0 * weights + 200.0 * regressors[:, FRICTION]
    regressors[:, CONTACT_SIDE] = 1.0
    arms = np.column_stack([np.zeros(3), np.eye(3)])
    masses = WRENCHES[:, 3:] @ np.cross(arms, load_acceleration, axisa=0).T
    masses[:, 0] += weights
    residual = Residual(np.zeros(6), regressors)
    return Block(residual, residual, np.full(6, 1e4), WRENCHES, masses, JACOBIAN, True)


def columns_of(block):
    """Return F of a block, as the watch over forces makes it."""
    return force_columns(block, block.force.regressors, 0.5)


def numbers(**causes):
    """Return the numbers of F: friction2=60 for the second leg, motor4, steady1, all, mass, fz."""
    first = {"friction": 0, "motor": 6, "steady": 12}
    named = {"all": 18, "mass": 19, "fx": 23, "fy": 24, "fz": 25}
    values = np.zeros(29)
    for name, value in causes.items():
        values[named[name] if name in named else first[name[:-1]] + int(name[-1]) - 1] = value
    return values


def raised(seconds, *faults, seed=1):
    """Return the alarms after a healthy time, with numbers of faults from their times on [s]."""
    random = np.random.default_rng(seed)
    model = ShadowModel(STEWART, 1e-3, "velocity")
    detector = CauseDetector(
        force_hypotheses(model, LIMITS),
        29,
        BLOCK_TIME,
        describe=partial(described_force, machine=STEWART),
    )
    watch = ResidualWatch("force", detector, force_columns, 0.5)
    blocks, alarms = [], []
    for step in range(HEALTHY + round(seconds / BLOCK_TIME)):
        time = (step - HEALTHY) * BLOCK_TIME
        block = block_at(step)
        values = NOISE * random.standard_normal(6)
        for begin, added in faults:
            if time >= begin:
                values = values + columns_of(block) @ added
        block = block._replace(force=block.force._replace(values=values))
        if step < HEALTHY:
            blocks.append(block)
            continue
        if step == HEALTHY:
            watch.learn(blocks)
        watch.add(block)
        alarms += detector.update(time)
    return alarms, watch


@pytest.mark.slow
def test_nothing_is_found_in_noise():
    """Noise that is as white as the likelihoods take it for raises nothing in a minute."""
    alarms, watch = raised(60.0)
    assert alarms == []
    assert watch.detector.inflation == pytest.approx(WHITE_INFLATION, rel=0.7)


CAUSES = {
    ("friction", 2): numbers(friction2=LIMITS.friction),
    ("friction", None): numbers(all=LIMITS.friction),
    ("motor", 4): numbers(motor4=LIMITS.motor),
    ("payload", None): numbers(mass=LIMITS.payload),
    ("overload", None): numbers(fx=LIMITS.force * np.sqrt(6.0), fy=LIMITS.force),
    ("unexplained", 3): numbers(steady3=2.0 * LIMITS.force),
}


@pytest.mark.parametrize("cause", CAUSES, ids=str)
def test_each_cause_is_named(cause):
    """Less than what is worth a report raises nothing; three times that its own alarm in 2 s."""
    added = CAUSES[cause]
    assert raised(4.0, (0.0, 0.4 * added))[0] == []
    first = raised(2.0, (0.0, 3.0 * added))[0][0]
    assert (first.kind, first.leg) == cause


def test_sizes_are_those_of_the_fault():
    """At the alarm the window holds a half of the fault or more, and never more than all of it."""
    for name, size in (("friction2", 150.0), ("mass", -20.0), ("motor4", 0.25)):
        alarm = raised(2.0, (0.0, numbers(**{name: size})))[0][0]
        found = alarm.size / (0.2 if name == "motor4" else size)  # a fifth of its force is missing
        assert 0.4 < found < 1.15


def test_falling_friction_is_no_fault():
    """Of one leg or of all, as warming makes it; nor is it taken for a payload."""
    for added in (numbers(friction2=-100.0), numbers(all=-100.0)):
        assert raised(5.0, (0.0, added))[0] == []


def test_a_load_beyond_the_platforms_mass_is_a_force():
    """Nobody puts a second platform on a platform that moves."""
    [alarm] = raised(3.0, (0.0, numbers(mass=150.0)))[0]
    assert alarm.kind == "overload"


def test_a_second_fault_is_found_beside_the_first():
    """What the first one explains is taken away from what the second one has to explain."""
    alarms, watch = raised(9.0, (0.0, numbers(mass=20.0)), (5.0, numbers(friction5=150.0)))
    assert [(alarm.kind, alarm.leg) for alarm in alarms] == [("payload", None), ("friction", 5)]
    assert set(watch.detector.active) == {("payload", None), ("friction", 5)}


@pytest.mark.slow
def test_statistics_are_chi_squared():
    """In white noise: as many on average as numbers, and as rarely large as the quantile says."""
    from scipy.stats import chi2

    random = np.random.default_rng(2)
    causes = [Hypothesis(("payload", None), (0,), 0.0, "kg")]
    causes.append(Hypothesis(("overload", None), (1, 2, 3), 0.0, "N", is_vector=True))
    detector, window = CauseDetector(causes, 4, BLOCK_TIME), LikelihoodWindow(4, BLOCK_TIME)
    found = []
    for _ in range(30_000):
        window.add(random.standard_normal(6), random.standard_normal((6, 4)))
        found.append([window.estimate(each.columns)[0] for each in causes])
    statistics = np.array(found[100:]) / WHITE_INFLATION
    assert statistics.mean(axis=0) == pytest.approx([1.0, 3.0], rel=0.15)
    assert_within((statistics > chi2.isf(0.01, [1, 3])).mean(axis=0), 0.01, 0.005)
    healthy = [(random.standard_normal(6), random.standard_normal((6, 4))) for _ in range(200)]
    detector.learn(healthy)
    decisions = 3600.0 / (2.0 * FORGETTING_TIME) * len(causes)
    assert (detector.thresholds >= chi2.isf(FALSE_ALARMS / decisions, [1, 3])).all()


def law_of(residual, steps):
    """Return the law of blocks whose residuals follow from their regressors."""
    rows = [block_at(step).force for step in steps]
    return HealthyLaw(
        [row._replace(values=residual(row.regressors)) for row in rows if row is not None]
    )


def test_the_law_takes_up_what_the_file_gets_wrong():
    """A constant, friction and a motor's constant, each with its coefficient."""
    law = law_of(lambda x: 5.0 * x[:, 0] + 40.0 * x[:, FRICTION] + 0.1 * x[:, EFFORT], range(1000))
    assert law.coefficients[:, FRICTION] == pytest.approx(40.0, rel=0.05)
    assert law.coefficients[:, EFFORT] == pytest.approx(0.1, rel=0.05)
    assert (law.deviation < 0.5).all()


@pytest.mark.parametrize(("legs", "named"), [((2,), [3]), (range(6), [None])])
def test_slow_friction_is_followed_and_reported_at_its_size(legs, named):
    """A rise by 300 N in three minutes is reported at the size that is worth it, not before."""
    law = law_of(lambda x: 0.0 * x[:, 0], range(1000))
    wear = LevelWatch("friction", [*range(1, 7), None], np.full(7, 75.0), "N")
    rise, alarms, reported = np.zeros(6), [], 0.0
    for step in range(round(90.0 / BLOCK_TIME)):
        rise[list(legs)] = 300.0 * step * BLOCK_TIME / 180.0
        block = block_at(step).force
        friction = block.regressors[:, FRICTION]
        residual = block._replace(values=rise * friction)
        law.follow_friction(law.unexplained(residual), friction)
        found = wear.update(step * BLOCK_TIME, friction_sizes(law.friction_rise))
        reported = float(rise.max()) if found and not alarms else reported
        alarms += found
    assert [alarm.leg for alarm in alarms] == named
    assert 75.0 <= reported < 110.0
