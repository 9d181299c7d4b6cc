"""The history of a run: the last rows in order, gaps, other charts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from twin.simulation.live.machine_charts import Chart, History

CHARTS = (Chart("position", "Position", "mm", ("x", "y"), 1e3), Chart("gap", "Gap", "nm", ("gap",)))


@pytest.mark.parametrize("count", [0, 5, 6, 13])
def test_the_last_rows_are_kept_in_order(count):
    history = History(CHARTS, 5)
    for k in range(count):
        history.append(0.1 * k, {"position": [k, -k], "gap": k})
    kept = np.arange(max(0, count - 5), count)
    assert len(history) == len(kept)
    assert_allclose(history.time(), 0.1 * kept)
    assert_array_equal(history.values("position"), np.stack([kept, -kept], axis=1))
    assert_array_equal(history.values("gap"), kept[:, None])


def test_charts_without_values_have_a_gap():
    history = History(CHARTS, 5)
    history.append(0.0, {"position": [1.0, 2.0]})
    history.append(0.1, {"gap": 3.0})
    assert_array_equal(history.values("position"), [[1.0, 2.0], [np.nan, np.nan]])
    assert_array_equal(history.values("gap"), [[np.nan], [3.0]])


def test_what_is_returned_is_not_touched_by_later_rows():
    history = History(CHARTS, 3)
    for k in range(3):
        history.append(k, {"gap": k})
    time, gap = history.time(), history.values("gap")
    history.append(3, {"gap": 3})
    assert_array_equal(time, [0.0, 1.0, 2.0])
    assert_array_equal(gap[:, 0], [0.0, 1.0, 2.0])


def test_every_change_counts():
    history, counts = History(CHARTS, 2), [0]
    for k in range(4):
        history.append(k, {})
        counts.append(history.changes)
    history.clear()
    counts.append(history.changes)
    assert len(history) == 0
    assert len(set(counts)) == len(counts)
