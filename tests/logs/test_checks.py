"""Checks of logs: a sound log has no finding; each fault that is put in is found."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused
from tolerance import assert_within

import twin
from twin.logs import Channel, Log, check_log
from twin.logs.log import POSE_UNITS

pytestmark = pytest.mark.quick

TIME = 1e-3 * np.arange(2001)


@pytest.fixture(scope="module")
def sound():
    """Legs at 1 kHz, a tracker at 100 Hz, gravity: of a machine that moves in all directions."""
    machine = twin.load("stewart")
    size = np.array([0.01, 0.02, 0.015, 0.03, 0.02, 0.025])
    moved = size * np.sin(np.outer(TIME, [3.0, 4.1, 5.3, 6.7, 7.9, 9.1]))
    home = machine.home
    poses = twin.pose(*(home[:3] + moved[:, :3]).T, *moved[:, 3:].T)
    legs = machine.inverse_kinematics(poses) + 1e-5 * np.random.default_rng(2).normal(
        size=(2001, 6)
    )
    return Log(
        (
            Channel("coordinates", TIME, legs, "m"),
            Channel("pose", TIME[::10], poses[::10], POSE_UNITS),
            Channel("accelerometer", TIME, np.tile([0.1, 0.2, 9.8], (2001, 1)), "m/s2"),
            Channel("forces", TIME, 100.0 + 50.0 * np.sin(np.outer(TIME, np.arange(1, 7))), "N"),
        )
    )


def findings(log, channel, machine, **changes):
    """Return what is found where a channel is changed."""
    return check_log(log.with_channels(replace(log[channel], **changes)), machine)


def test_sound_log_has_no_finding(sound, stewart):
    assert check_log(sound, stewart) == []
    pose = sound["pose"]
    legs = stewart.inverse_kinematics(pose.values)
    assert_within(legs, sound["coordinates"].at(pose.time), 1e-4)


def test_faults_of_the_clock_are_found(sound):
    legs = sound["coordinates"]
    kept = np.ones(len(TIME), dtype=bool)
    kept[500:600] = False
    [gap] = check_log(Log((legs.kept(kept),)))
    assert (gap.check, gap.channel, gap.time) == ("gap", "coordinates", TIME[499])
    assert "0.101 s without samples" in gap.message
    assert check_log(Log((legs.kept(kept),)), largest_gap=200.0) == []
    [clock] = check_log(Log((replace(legs, time=np.where(TIME < 1.0, TIME, TIME - 0.004)),)))
    assert clock.check == "clock" and clock.time == pytest.approx(0.996)
    assert "steps back by 0.003 s" in clock.message
    [clock] = check_log(Log((replace(legs, time=np.repeat(TIME[:1001], 2)[:2001]),)))
    assert "repeats" in clock.message
    [empty] = check_log(Log((legs.kept(slice(0)),)))
    assert str(empty) == "empty: coordinates: has no samples"
    with refused("largest_gap"):
        check_log(sound, largest_gap=0.0)


@pytest.mark.parametrize(
    ("channel", "factor", "words"),
    [
        ("coordinates", 1e3, "mm taken for m"),
        ("coordinates", 1e-3, "m taken for mm"),
        ("pose", 1e3, "mm taken for m"),
        ("accelerometer", 1.0 / 9.80665, "g taken for m/s2"),
        ("forces", 1e3, "mN taken for N"),
    ],
)
def test_wrong_units_are_named(sound, stewart, channel, factor, words):
    values = sound[channel].values.copy()
    values[:, : 3 if channel == "pose" else 6] *= factor
    found = [
        each for each in findings(sound, channel, stewart, values=values) if each.check == "unit"
    ]
    assert [each.channel for each in found] == [channel]
    assert words in found[0].message


def test_channels_of_other_units_are_refused(sound, stewart):
    [found] = findings(sound, "forces", stewart, units=("kN",) * 6)
    assert "6 columns in kN, not 6 in N" in found.message


def test_swapped_legs_are_named(sound, stewart):
    """With the list that puts the mapping right."""
    legs = sound["coordinates"]
    [found] = findings(sound, "coordinates", stewart, values=legs.values[:, [0, 4, 2, 3, 1, 5]])
    assert found.check == "legs" and found.message.endswith("legs = [1, 5, 3, 4, 2, 6]")
    values = legs.values.copy()
    values[:, 3] = 2.0 * values[:, 3].mean() - values[:, 3]
    [found] = findings(sound, "coordinates", stewart, values=values)
    assert found.message == "the sign of column 4 is wrong"
    values = legs.values.copy()
    values[:, 3] = values[:, 1]
    found_copies = check_log(Log((replace(legs, values=values),)))
    assert found_copies[0].message.startswith("columns 2 and 4 are equal in every sample")
    shifted = legs.values + 0.01 * np.arange(6)
    assert findings(sound, "coordinates", stewart, values=shifted) == []  # zeros that are off


def test_saturation_is_found(sound, stewart):
    limit = stewart.parameters.leg.actuator.effort
    assert limit is not None
    values = np.clip(3.0 * limit * np.sin(np.outer(TIME, np.arange(1, 7))), -limit, limit)
    values[:, 1:] *= 0.5
    [found] = findings(sound, "forces", stewart, values=values)
    assert found.check == "saturation" and "1 (" in found.message and "2 (" not in found.message


def test_poses_out_of_reach_are_a_finding(sound, stewart):
    poses = sound["pose"].values.copy()
    poses[:, 3:] = [1.0, 0.0, 0.0, 0.0]
    late = sound["pose"].time[::-1]
    assert any(
        "cannot be compared" in f.message for f in findings(sound, "pose", stewart, time=late)
    )
