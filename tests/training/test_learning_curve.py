"""Learning curves: rows are percentiles of episodes, files come back, pictures are pictures."""

import numpy as np
from numpy.testing import assert_allclose
from refusals import refused

from twin.training.environments import Episode, Metric
from twin.training.learning_curve import LearningCurve

METRICS = (Metric("error", "mm", "error", 1e3),)


def filled():
    """Return a curve of three rows."""
    curve = LearningCurve(METRICS)
    generator = np.random.default_rng(0)
    for k in range(1, 4):
        values = generator.uniform(1.0, 2.0, 11)
        episodes = [Episode(-v, 20 + k, bool(v > 1.5), (v / k,)) for v in values.tolist()]
        curve.add(1000 * k, 0.5 * k, episodes)
    return curve


def test_rows_are_percentiles():
    curve = LearningCurve(METRICS)
    curve.add(10, 0.1, [])
    assert not curve.rows
    curve.add(20, 0.2, [Episode(float(k), 5, k < 2, (0.1 * k,)) for k in range(11)])
    row = dict(zip(curve.columns, curve.rows[0], strict=True))
    assert (row["steps"], row["seconds"], row["episodes"]) == (20, 0.2, 11)
    assert_allclose(row["terminated"], 2 / 11, rtol=1e-12)
    found = [row[f"return {part} %"] for part in (10, 50, 90)]
    assert_allclose(found, [1.0, 5.0, 9.0], rtol=1e-12)
    assert_allclose(row["error [mm] 50 %"], 0.5, rtol=1e-12)


def test_files_come_back_up_to_a_step(tmp_path):
    curve = filled()
    path = curve.save(tmp_path / "learning.csv")
    again = LearningCurve(METRICS)
    again.load(path, 2000)
    assert_allclose(again.rows, curve.rows[:2], rtol=1e-7)
    with refused("columns"):
        LearningCurve(()).load(path, 2000)
