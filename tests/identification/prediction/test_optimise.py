"""Delay, lag and play of a hidden machine whose legs are unloaded again and again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from recorded_motion import FREQUENCIES, HIDDEN, nominal

from twin.control import make_controller
from twin.identification.prediction.optimise import _first_guess, _Pass
from twin.identification.result.identify import identify
from twin.logs import Log, log_of
from twin.motion.profiles import MultiSineMotion

TRUTH = {**HIDDEN, "leg.drive.current_lag": 7e-4, "leg.drive.backlash": 6e-5}


@pytest.fixture(scope="module")
def log() -> Log:
    """Return two seconds of the hidden machine."""
    machine = nominal()
    speeds = {"x": 0.05, "y": 0.05, "z": 0.01, "roll": 0.08, "pitch": 0.08, "yaw": 0.08}
    sizes = np.array([1.0, 1.0, 1.6, 1.6]) / (2.0 * np.pi * FREQUENCIES)
    motion = MultiSineMotion(
        machine.home,
        frequencies=FREQUENCIES,
        amplitude={axis: speed * sizes for axis, speed in speeds.items()},
        duration=2.0,
        phases="random",
        seed=0,
        fade_in=0.3,
    )
    hidden = machine.with_(parameters=TRUTH)
    law = make_controller("computed_torque", hidden, motion, model=machine)
    run = hidden.simulate(2.0, controller=law, timestep=5e-4, fidelity="fast")
    assert ((run.forces <= 0.0).mean(axis=0) > 0.1).sum() >= 3, "legs shall be unloaded"
    return log_of(run)


def test_impacts_in_the_play_spoil_neither_delay_nor_lag(log: Log) -> None:
    """A prediction that begins on the wrong side of a play takes its impacts for a delay.

    The intervals hold and are narrow: delay and lag are found apart, not only their sum.
    """
    found = identify(nominal(), [log], list(TRUTH))
    error = dict(zip(TRUTH, np.abs(found.values - list(TRUTH.values())), strict=True))
    assert (np.array(list(error.values())) < found.margins * found.standard_errors).all()
    assert error["leg.drive.delay"] < 3e-5
    assert error["leg.drive.current_lag"] < 3e-5
    assert error["leg.drive.backlash"] < 1e-6
    assert not found.notes
    assert found.standard_errors[-1] < 1e-6


def test_play_that_shows_in_few_impacts_is_named(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("twin.identification.result.identification.MIN_REVERSALS", 100)
    found = identify(nominal(), [log], ["leg.drive.backlash"])
    assert any("few impacts" in note for note in found.notes)
    assert found.standard_errors[0] == pytest.approx(found.parameters[0].spread)


@pytest.mark.quick
@pytest.mark.parametrize(("start", "expected"), [(4.0, 1.0), (-4.0, 0.0), (9.0, 2.0), (None, 0.0)])
def test_a_search_begins_with_the_better_values(start: float | None, expected: float) -> None:
    """Those from forces, inside the bounds, unless the file predicts better."""
    parameter = SimpleNamespace(nominal=3.0, spread=1.0)
    problem: Any = SimpleNamespace(parameters=[parameter], errors=lambda values: values - 4.5)
    bounds = np.array([[-2.0], [2.0]])
    given = None if start is None else np.array([start])
    assert _first_guess([problem], given, bounds) == pytest.approx(expected)


@pytest.mark.quick
@pytest.mark.parametrize("best", [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)])
def test_each_play_is_tried_alone_too(best: tuple[float, float]) -> None:
    """Two plays that are found one by one are not taken together where one of them is wrong."""
    parameter = SimpleNamespace(path="leg.1.drive.backlash", nominal=0.0, spread=1.0)

    def errors(values: Any) -> Any:
        return np.pad(3.0 * (values - best), (0, 98))[None]

    problem: Any = SimpleNamespace(parameters=[parameter, parameter], errors=errors, blocks=())
    search = _Pass([problem], np.zeros(2), None, False, lambda: None)
    found = search.best_combination(np.zeros(2), np.ones(2), [0, 1])
    assert tuple(found) == best
