"""Confidence intervals: known quantiles, coverage, pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused

from twin.training.evaluation import (
    Mean,
    mean_of,
    mean_over_trainings,
    paired_difference,
)


def test_interval_is_students():
    # 2.776 is Student's t at 97.5 % with four degrees of freedom, in every table.
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    mean = mean_of(values)
    assert mean.value == 3.0
    assert_allclose(mean.half_width, 2.776445 * np.sqrt(2.5 / 5), rtol=1e-6)


def test_pairs_take_out_what_episodes_have_together():
    generator = np.random.default_rng(1)
    episodes = generator.normal(0.0, 10.0, 30)
    better = episodes - 1.0 + generator.normal(0.0, 0.1, 30)
    difference = paired_difference(better, episodes)
    assert abs(difference.value + 1.0) < 0.1
    assert difference.half_width < 0.05
    assert mean_of(better).half_width > 1.0


@pytest.mark.parametrize(("values", "count"), [([], 0), ([4.0], 1)])
def test_few_values_have_no_interval(values, count):
    mean = mean_of(values)
    assert mean.episodes == count
    assert np.isnan(mean.half_width)


@pytest.mark.parametrize(
    ("mean", "text"),
    [
        (Mean(0.12345, 0.0061, 20), "0.123 +- 0.006"),
        (Mean(123.4, 5.6, 20), "123 +- 6"),
        (Mean(0.0, 0.0, 20), "0.00 +- 0.00"),
        (Mean(-4.03e-6, 2.5e-7, 20), "-4.03e-06 +- 2.5e-07"),
        (Mean(4.0, np.nan, 1), "4"),
        (Mean(np.nan, np.nan, 0), "-"),
    ],
)
def test_text_has_as_many_places_as_the_mean(mean, text):
    assert mean.text() == text


def test_bad_values_are_refused():
    with refused("values"):
        mean_of([[1.0, 2.0]])
    with refused("values"):
        mean_of([1.0, np.nan])
    with refused("baseline"):
        paired_difference([1.0, 2.0], [1.0])


def test_interval_over_trainings_holds_for_other_trainings_and_other_episodes():
    """An interval of the 40 values as if they were independent would cover half of the means."""
    generator = np.random.default_rng(2)
    trainings, episodes = (
        generator.normal(0.0, 1.0, shape) for shape in ((500, 5, 1), (500, 1, 8))
    )
    values = 2.0 + trainings + episodes + generator.normal(0.0, 0.3, (500, 5, 8))
    means = [mean_over_trainings(each) for each in values]
    covered = np.mean([abs(mean.value - 2.0) <= mean.half_width for mean in means])
    # Four deviations of a share of 0.95 in 500.
    assert covered > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 500)


def test_one_training_has_the_interval_of_its_episodes():
    values = np.array([1.0, 2.0, 4.0])
    assert mean_over_trainings(values[None]) == mean_of(values)
    with refused("trainings"):
        mean_over_trainings(values)
