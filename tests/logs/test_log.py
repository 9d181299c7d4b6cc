"""Logs in memory: what they hold, refuse, join and interpolate."""

import numpy as np
import pytest
from closed_loops import heave
from numpy.testing import assert_array_equal
from refusals import refused
from tolerance import assert_within

import twin
from twin.control.cascade import Cascade
from twin.logs import Channel, Log, join, log_of, signal_units
from twin.logs.log import POSE_UNITS

pytestmark = pytest.mark.quick


def test_wrong_channels_name_the_field():
    right = {"name": "a", "time": [0.0, 1.0], "values": [1.0, 2.0], "units": "m"}
    assert Channel(**right).values.shape == (2, 1)
    for part, value, field in (
        ("name", "", "name"),
        ("name", "a [m]", "name"),
        ("time", [0.0, np.nan], "a.time"),
        ("values", [1.0, np.inf], "a.values"),
        ("values", [1.0], "a.values"),
        ("units", ("m", "m"), "a.units"),
        ("units", "[m", "a.units"),
    ):
        with refused(field=field):
            Channel(**right | {part: value})


def test_wrong_logs_name_the_field():
    one = Channel("leg", [0.0], [1.0], "m")
    for channels, metadata, field in (
        ((one, one), {}, "channels"),
        (("leg",), {}, "channels"),
        (3, {}, "channels"),
        ((one,), {"a": 3}, "metadata['a']"),
        ((one,), [], "metadata"),
    ):
        with refused(field=field):
            Log(channels, metadata)
    with refused("did you mean 'leg'"):
        Log((one,))["legs"]
    with refused("changes its units"):
        join([Log((one,)), Log((Channel("leg", [1.0], [1.0], "mm"),))])


def test_channels_cannot_be_changed():
    given = np.zeros(3)
    channel = Channel("a", given, given, "m")
    given[0] = 1.0
    assert channel.values[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        channel.time[0] = 1.0


def test_parts_join_to_the_whole():
    time = np.linspace(0.0, 1.0, 11)
    log = Log((Channel("a", time, time, "m"), Channel("b", time[::2], time[::2], "N")), {"of": "x"})
    parts = [log.between(0.0, 0.45), log.between(0.45, 2.0)]
    again = join(parts)
    assert again.span == log.span and again.metadata == log.metadata
    for channel in log.channels:
        assert_array_equal(again[channel.name].time, channel.time)
        assert_array_equal(again[channel.name].values, channel.values)


def test_poses_between_samples_are_poses():
    """Also where the recorded quaternion changes its sign, which is the same attitude."""
    angles = np.linspace(0.0, 1.0, 6)
    poses = twin.pose(z=angles, yaw=angles)
    poses[3:, 3:] *= -1.0
    channel = Channel("pose", angles, poses, POSE_UNITS)
    between = channel.at([0.5, 0.95])
    assert_within(between[:, 2], [0.5, 0.95], 1e-15)
    assert_within(twin.angles(between)[:, 2], [0.5, 0.95], 1e-4)
    for times in ([1.1], [-0.1], [[0.5]]):
        with refused("times"):
            channel.at(times)
    with refused(r"pose\.time\[1\]: 0 s is not later"):
        channel.kept([0, 0, 1]).at([0.1])


def test_closed_loops_give_all_their_signals(stewart):
    """Names and units are those of the machine's signals, or empty where nobody knows them."""
    machine = twin.load("stewart", "hardware")
    run = machine.simulate(0.01, controller=Cascade(machine, heave(machine)), timestep=5e-4)
    log = log_of(run)
    known = signal_units(stewart)
    motion = ("coordinates", "rates", "forces", "pose", "twist")
    loop = ("setpoint", "measured", "command_rates", "reference_pose", "gyroscope")
    for name in (*motion, *loop):
        assert log[name].units == known[name], name
    assert_array_equal(log["measured"].values, run.signals["measured"])
    assert_array_equal(log["gyroscope"].values, run.signals["inertial"][:, 3:])
    assert log.metadata["machine"] == "stewart"
    with refused("trajectory"):
        log_of(3)
