"""Detectors on residuals of known faults: the right alarm, its size, two-sided thresholds."""

from __future__ import annotations

import numpy as np
import pytest

from twin.analysis.platform import load
from twin.shadow.detectors import (
    Alarm,
    Collection,
    FaultSizes,
    FaultStatistics,
    SlowDetectors,
    Thresholds,
    quantiles,
)

pytestmark = pytest.mark.quick

PERIOD = 1e-3
LIMITS = Thresholds(friction=10.0, backlash=2e-5, payload=4.0, force=20.0, jump=6.0)
STEWART = load("stewart", "hardware")
PULL = np.linalg.solve(STEWART.jacobian(STEWART.home).T, [0.0, 0.0, 9.81, 0.0, 0.0, 0.0])


def found(
    force: float = 0.0,
    *,
    legs: slice = slice(1, 2),
    play: float = 0.0,
    mass: float = 0.0,
    steady: tuple[float, ...] = (0.0,) * 6,
    effort: float = 500.0,
    seconds: float = 2.0,
) -> list[Alarm]:
    """Return the alarms of residuals with friction, play, payload or a steady force, and noise."""
    random = np.random.default_rng(1)
    evidence, detectors = FaultStatistics(6, PERIOD), SlowDetectors(STEWART, LIMITS)
    jacobian, alarms = STEWART.jacobian(STEWART.home), []
    phases = np.arange(6)
    for step in range(round(seconds / PERIOD)):
        direction = np.clip(5.0 * np.sin(2 * np.pi * 1.3 * step * PERIOD + phases), -1.0, 1.0)
        unexplained = np.zeros((6, 2))
        unexplained[:, 0] = 40.0 * random.standard_normal(6) + mass * PULL + steady
        unexplained[legs, 0] += force * direction[legs]
        unexplained[legs, 1] = 0.5 * play
        evidence.add(unexplained, direction, PULL, np.ones(6), np.full(6, effort))
        if step % 10 == 9 and step > 900:
            alarms += detectors.update(step * PERIOD, evidence.sizes(), jacobian)
    return alarms


def test_nothing_is_found_in_noise() -> None:
    """Forty newtons of noise on every leg are no fault."""
    assert found() == []


@pytest.mark.parametrize(("ratio", "heard"), [(0.5, False), (2.0, True)])
def test_thresholds_have_two_sides(ratio: float, heard: bool) -> None:
    """Half the size of every fault raises nothing in two seconds, twice the size its own alarm."""
    cases = {
        "friction": found(ratio * LIMITS.friction),
        "backlash": found(play=ratio * LIMITS.backlash),
        "payload": found(mass=ratio * LIMITS.payload),
        "overload": found(steady=(ratio * LIMITS.force, -ratio * LIMITS.force) * 3),
    }
    for kind, alarms in cases.items():
        assert [alarm.kind for alarm in alarms] == ([kind] if heard else []), kind


def test_sizes_are_those_of_the_fault() -> None:
    """Estimates come within a tenth, and name the leg."""
    rubbing = found(100.0)[0]
    assert rubbing.leg == 2
    # Evidence that is forgotten exponentially shows 0.9 of a fault when an alarm can begin.
    assert rubbing.size == pytest.approx(100.0, rel=0.1)
    assert found(play=1e-4)[0].size == pytest.approx(1e-4, rel=0.1)
    assert found(mass=-30.0)[0].size == pytest.approx(-30.0, rel=0.1)


def test_a_load_beyond_reason_is_an_overload() -> None:
    """More than the platform's own mass, and efforts beyond the rating, are no payload."""
    assert [alarm.kind for alarm in found(mass=150.0)] == ["overload"]
    alarms = found(mass=20.0, effort=4000.0)
    assert {alarm.kind for alarm in alarms} == {"overload"}
    assert [alarm.leg for alarm in alarms] == [1, 2, 3, 4, 5, 6]


def test_friction_in_all_legs_is_no_payload() -> None:
    """Every leg gets its own alarm."""
    alarms = found(60.0, legs=slice(None))
    assert [(alarm.kind, alarm.leg) for alarm in alarms] == [("friction", k) for k in range(1, 7)]


def test_springs_yield_under_a_payload() -> None:
    """What springs in the legs yield under an unexplained force is no play; more than that is."""
    machine, zero = load("compliant_stewart", "hardware"), np.zeros(6)
    force = np.full(6, 10.0)
    yields = 2.0 * force / machine.leg_springs.stiffness
    for play, kinds in ((yields, {"payload"}), (3.0 * yields, {"payload", "backlash"})):
        detectors = SlowDetectors(machine, LIMITS)
        sizes = FaultSizes(zero, play, 8.0, force, zero, 0.0, 9e4, 9e4)
        jacobian = machine.jacobian(machine.home)
        found = [detectors.update(time, sizes, jacobian) for time in (0.0, 0.5)]
        assert {alarm.kind for alarms in found for alarm in alarms} == kinds


@pytest.mark.parametrize(
    ("share", "kinds"), [(0.6, {"overload"}), (0.01, {"overload", "backlash"})]
)
def test_a_push_moves_all_legs_and_play_one(share: float, kinds: set[str]) -> None:
    """Legs lag behind a force from outside beyond what it winds up; one leg alone has play."""
    detectors, zero = SlowDetectors(STEWART, LIMITS), np.zeros(6)
    force = 3.0 * LIMITS.force * np.array([-1.0, 1.0, -1.0, -1.0, 1.0, -1.0])
    sizes = FaultSizes(
        zero, 1e-3 * np.array([share, 1.0, *[share] * 4]), 0.0, force, zero, 0.0, 0.0, 1.0
    )
    jacobian = STEWART.jacobian(STEWART.home)
    alarms = [alarm for time in (0.0, 0.5) for alarm in detectors.update(time, sizes, jacobian)]
    assert {alarm.kind for alarm in alarms} == kinds
    assert {alarm.leg for alarm in alarms if alarm.kind == "backlash"} <= {2}


def test_legs_that_a_known_force_moves_do_not_rub() -> None:
    """Each leg gives way to one side: friction explains nearly as much, and is no second alarm."""
    detectors, zero = SlowDetectors(STEWART, LIMITS), np.zeros(6)
    force = np.full(6, 3.0 * LIMITS.force)
    jacobian = STEWART.jacobian(STEWART.home)
    kinds = []
    for time, energy in ((0.0, 0.1), (0.5, 0.1), (0.6, 0.9), (1.3, 0.9), (1.4, 1.1), (2.1, 1.1)):
        sizes = FaultSizes(force, zero, 0.0, force, zero, energy, 0.0, 1.0)
        kinds.append({alarm.kind for alarm in detectors.update(time, sizes, jacobian)})
    assert kinds == [set(), {"overload"}, set(), set(), set(), {"friction"}]


def test_thresholds_allow_for_what_was_seen() -> None:
    """A quantile of the deviation, or twice the largest; no play without a pose."""
    slow, fast = quantiles(6, 1000.0)
    collection, zero = Collection(), np.zeros(6)
    size = np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    collection.add(FaultSizes(size, zero, -2.0, size, zero, 0.0, 0.0, 0.0))
    collection.add_jump(fast)
    limits = collection.thresholds(6, 1000.0)
    assert limits.friction == pytest.approx(max(slow * 3.0 / np.sqrt(6.0), 2.0 * 3.0))
    assert limits.payload == pytest.approx(max(2.0 * slow, 4.0))
    assert limits.backlash == np.inf
    assert limits.jump == pytest.approx(2.0 * fast)


def test_quantiles_keep_one_false_alarm_an_hour() -> None:
    """All looks of an hour, at these quantiles, are wrong once in the sum of four kinds."""
    from math import erfc

    slow, fast = quantiles(6, 1000.0)
    looks = 3 * 6 * 3600 / 0.6 * erfc(slow / np.sqrt(2)), 6 * 3.6e6 * erfc(fast / np.sqrt(2))
    assert sum(looks) == pytest.approx(1.0, rel=1e-6)
