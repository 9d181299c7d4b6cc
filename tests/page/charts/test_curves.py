"""Curves for the wire: thinned without losing peaks."""

import numpy as np
from tolerance import max_abs

from twin.page.charts import thinned

TIME = np.arange(900) / 30.0


def test_peaks_survive_thinning():
    values = np.zeros((900, 2))
    peaks = np.random.default_rng(3).choice(900, 40, replace=False)
    for k, row in enumerate(peaks):
        values[row, k % 2] = (-1.0) ** (k // 2) * (1.0 + k)
    time, kept = thinned(TIME, values, 200)
    assert len(time) == len(kept) <= 202
    assert (np.diff(time) >= 0.0).all()
    for column in range(2):
        assert kept[:, column].max() == values[:, column].max()
        assert kept[:, column].min() == values[:, column].min()
        for row in np.flatnonzero(values[:, column]):
            near = np.abs(time - TIME[row]) <= 0.5
            assert max_abs(kept[near, column]) >= abs(values[row, column])


def test_thinned_curves_stand_still_while_they_scroll():
    """What is drawn of a time does not depend on which rows came before or after."""
    values = np.sin(7.0 * TIME)[:, None]
    first = dict(
        zip(*(part.ravel() for part in thinned(TIME[:-30], values[:-30], 200)), strict=True)
    )
    later = dict(zip(*(part.ravel() for part in thinned(TIME[30:], values[30:], 200)), strict=True))
    common = sorted(first.keys() & later.keys())
    assert len(common) > 100
    same = [first[time] == later[time] for time in common]
    assert np.mean(same) > 0.97
