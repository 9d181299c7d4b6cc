"""Distributions: inside their bounds, of the right shape, the same for the same generator."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import assert_all_refused
from scipy.stats import kstest, truncnorm
from tolerance import assert_within

from twin.machine.randomisation import Choice, LogUniform, Normal, Uniform, as_randomisation
from twin.machine.randomisation.distributions import DISTRIBUTION_TYPES

pytestmark = pytest.mark.quick

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
SCALES = st.floats(1e-6, 1e6)
BOUNDS = st.tuples(NUMBERS, NUMBERS).map(sorted)
SEEDS = st.integers(0, 2**32 - 1)
FLAGS = st.sampled_from([{}, {"relative": True}, {"offset": True}, {"each_leg": True}])


@st.composite
def normals(draw):
    mean, deviation = draw(NUMBERS), draw(SCALES)
    low = draw(st.none() | st.floats(-4.0, 1.0))
    high = draw(st.none() | st.floats(1.5, 4.0))
    return Normal(
        mean=mean,
        deviation=deviation,
        low=None if low is None else mean + low * deviation,
        high=None if high is None else mean + high * deviation,
        **draw(FLAGS),
    )


DISTRIBUTIONS = st.one_of(
    st.builds(lambda b, f: Uniform(low=b[0], high=b[1], **f), BOUNDS, FLAGS),
    st.builds(
        lambda low, factor, f: LogUniform(low=low, high=low * factor, **f),
        SCALES,
        st.floats(1.0, 1e6),
        FLAGS,
    ),
    normals(),
    st.builds(
        lambda values, f: Choice(values=tuple(values), **f),
        st.lists(NUMBERS, min_size=1, max_size=8),
        FLAGS,
    ),
)


@given(DISTRIBUTIONS, SEEDS)
@settings(max_examples=100, deadline=None)
def test_a_draw_follows_from_one_uniform_number(distribution, seed):
    first, second = np.random.default_rng(seed), np.random.default_rng(seed)
    assert distribution.draw(first) == distribution.draw(second)
    second = np.random.default_rng(seed)
    second.random()
    assert first.bit_generator.state == second.bit_generator.state


@given(DISTRIBUTIONS)
@settings(max_examples=100, deadline=None)
def test_distributions_survive_plain_data(distribution):
    given_back = as_randomisation({"gravity": distribution}).as_dict()
    assert as_randomisation(given_back).distributions == (("gravity", distribution),)
    assert DISTRIBUTION_TYPES[distribution.kind] is type(distribution)


class Ends:
    """A generator of the least and the greatest uniform number."""

    def __init__(self, share):
        self.share = share

    def random(self):
        """Return the share."""
        return self.share


@pytest.mark.parametrize("share", [0.0, 1.0 - 2.0**-53])
@given(DISTRIBUTIONS)
@settings(max_examples=50, deadline=None)
def test_ends_of_the_generator_stay_inside(share, distribution):
    draw = distribution.draw(Ends(share))
    assert min(distribution.extremes) <= draw <= max(distribution.extremes)


DRAWN = 20_000
SHAPES = {
    "uniform": (Uniform(low=-2.0, high=3.0), ("uniform", (-2.0, 5.0))),
    "log_uniform": (LogUniform(low=0.5, high=20.0), ("loguniform", (0.5, 20.0))),
    "normal": (Normal(mean=2.0, deviation=0.5), None),
    "cut": (Normal(mean=2.0, deviation=0.5, low=2.2, high=2.9), None),
    "far": (Normal(mean=2.0, deviation=0.5, low=3.2), None),
}


def test_draws_have_the_named_distribution(subtests):
    """Kolmogorov-Smirnov against scipy's; one in a million chances to fail, and a fixed seed."""
    for name in SHAPES:
        with subtests.test(f"{name}"):
            distribution, reference = SHAPES[name]
            generator = np.random.default_rng(7)
            draws = [distribution.draw(generator) for _ in range(DRAWN)]
            if reference is None:
                low, high = distribution.extremes
                bounds = ((low - 2.0) / 0.5, (high - 2.0) / 0.5)
                found = kstest(draws, truncnorm(*bounds, loc=2.0, scale=0.5).cdf)
            else:
                found = kstest(draws, reference[0], args=reference[1])
            assert found.pvalue > 1e-6


def test_choices_are_equally_likely():
    distribution, generator = Choice(values=(1.0, 2.0, 4.0)), np.random.default_rng(1)
    draws = [distribution.draw(generator) for _ in range(DRAWN)]
    counts = np.array([draws.count(value) for value in distribution.values])
    spread = np.sqrt(DRAWN * (1 / 3) * (2 / 3))
    assert counts.sum() == DRAWN
    assert_within(counts, DRAWN / 3, 5 * spread)


def test_draws_replace_multiply_or_add():
    assert Uniform(low=0, high=1).applied(0.5, 4.0) == 0.5
    assert Uniform(low=0, high=1, relative=True).applied(0.5, 4.0) == 2.0
    assert Uniform(low=0, high=1, offset=True).applied(0.5, 4.0) == 4.5


def test_what_is_no_distribution_is_refused():
    assert_all_refused(
        lambda kind, fields: DISTRIBUTION_TYPES[kind](**fields),
        [
            ("uniform", {"low": 2.0, "high": 1.0}, "low must not exceed high"),
            ("uniform", {"low": 0.0}, "high: Field required"),
            ("uniform", {"low": 0.0, "high": float("inf")}, "finite"),
            (
                "uniform",
                {"low": 0, "high": 1, "relative": True, "offset": True},
                "exclude each other",
            ),
            ("log_uniform", {"low": 0.0, "high": 1.0}, "low must be above zero"),
            ("normal", {"mean": 0.0, "deviation": 0.0}, "deviation"),
            ("normal", {"mean": 0.0, "deviation": 1.0, "low": 6.0}, "widen"),
            ("choice", {"values": ()}, "values"),
        ],
    )
