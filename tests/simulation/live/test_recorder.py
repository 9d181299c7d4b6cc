"""The recorder keeps the last minutes, in order, in bounded memory."""

import numpy as np

from twin.engines import make_engine
from twin.model.engine import State
from twin.simulation.live import runner as recorder
from twin.simulation.live.runner import Recorder


def row(k):
    pose = np.array([k, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    state = State(1e-3 * k, pose, np.full(6, k), np.full(2, k), np.full(2, -k), np.empty(0))
    told = {name: np.full(2, k + 0.5) for name in ("setpoint", "measured", "command", "limited")}
    return state, told | {"reference_pose": pose}


def test_the_oldest_row_goes_first(constants, stewart):
    constants(recorder, MAX_ROWS=100)
    kept, engine = Recorder(2, 0), make_engine("analytic", stewart)
    assert len(kept) == len(kept.trajectory(engine, "")) == 0
    for total in (60, 100, 130):
        for k in range(len(kept), total) if total <= 100 else range(100, total):
            kept.append(row(k)[0], np.full(2, 2 * k), row(k)[1])
        assert len(kept) == min(total, 100)
        first = max(0, total - 100)
        run = kept.trajectory(engine, "")
        assert np.array_equal(run.time, 1e-3 * np.arange(first, total))
        assert np.array_equal(run.forces[:, 0], 2.0 * np.arange(first, total))
    kept.clear()
    assert len(kept) == 0
    kept.append(row(7)[0], np.zeros(2), row(7)[1])
    assert len(kept) == 1
    assert kept.trajectory(engine, "").time == 7e-3
