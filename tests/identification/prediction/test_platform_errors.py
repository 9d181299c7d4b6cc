"""Errors of encoders, tracker and inertial sensor of a hidden machine in another engine."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from recorded_motion import HIDDEN, TIMESTEP, nominal, part, recorded
from refusals import refused

from twin.identification.parameters import select
from twin.identification.prediction.optimise import first_jacobian
from twin.identification.prediction.problem import PredictionProblem
from twin.identification.prediction.recording import (
    recording_of,
)
from twin.identification.result.identify import identify
from twin.identification.visibility import visibility
from twin.logs import Channel, Log, log_of
from twin.machine.hardware.drive import Accelerometers, Gyroscopes
from twin.plant.inertial_sensor import InertialUnit
from twin.rotations import displaced

SCALE = 1.0007
"""Of the encoders."""

SENSOR = {
    **{f"imu.position.{k}": value for k, value in enumerate((0.006, -0.004, 0.003))},
    **{f"imu.attitude.{k}": value for k, value in enumerate((0.012, -0.008, 0.005))},
    **{f"signal.accelerometer.bias.{k}": value for k, value in enumerate((0.08, -0.05, 0.11))},
    **{f"signal.gyroscope.bias.{k}": value for k, value in enumerate((4e-4, -6e-4, 3e-4))},
    "signal.accelerometer.delay": 2.5e-3,
    "signal.gyroscope.delay": 1.5e-3,
}
TRACKER = {
    "signal.pose.delay": 4e-3,
    **{f"signal.pose.bias.{k}": value for k, value in enumerate((4e-4, -3e-4, 6e-4))},
    **{f"signal.pose.bias.{k + 3}": value for k, value in enumerate((1e-3, -2e-3, 7e-4))},
}


@lru_cache(maxsize=1)
def measured():
    """Return a log of the hidden machine in MuJoCo, with errors of all signals and their noise."""
    run, rng = recorded(engine="mujoco"), np.random.default_rng(2)
    log = log_of(run)
    encoders = log["measured"]
    late, every = round(TRACKER["signal.pose.delay"] / TIMESTEP), round(0.01 / TIMESTEP)
    bias = [TRACKER[f"signal.pose.bias.{k}"] for k in range(6)]
    noise = rng.normal(scale=[20e-6] * 3 + [50e-6] * 3, size=(len(run.pose), 6))
    poses = displaced(run.pose, bias + noise)[:-late:every]
    channels = [replace(encoders, values=SCALE * encoders.values), log["command_forces"]]
    channels.append(Channel("pose", run.time[late::every], poses, log["pose"].units))
    imu = nominal().parameters.imu
    found = {
        name: [SENSOR[f"imu.{name}.{k}"] for k in range(3)] for name in ("position", "attitude")
    }
    place = np.array(imu.position) + found["position"]
    turn = np.array(imu.attitude) + found["attitude"]
    sensor = imu.model_copy(
        update={
            "position": tuple(place),
            "attitude": tuple(turn),
            "accelerometers": Accelerometers(noise=imu.accelerometers.noise, source="white"),
            "gyroscopes": Gyroscopes(noise=imu.gyroscopes.noise, source="white"),
        }
    )
    read = InertialUnit(sensor, seed=1).measure(run.time, run.pose, run.twist)
    pairs = {"accelerometer": read.specific_force, "gyroscope": read.angular_rate}
    for name, values in pairs.items():
        wrong = [SENSOR[f"signal.{name}.bias.{k}"] for k in range(3)]
        time = read.time + SENSOR[f"signal.{name}.delay"]
        channels.append(Channel(name, time, values + wrong, log[name].units))
    return Log(tuple(channels))


def truth(paths):
    """Return what is hidden."""
    imu = nominal().parameters.imu
    known = {**HIDDEN, **SENSOR, **TRACKER, "signal.coordinates.scale": SCALE}
    for name in ("position", "attitude"):
        for k in range(3):
            known[f"imu.{name}.{k}"] += getattr(imu, name)[k]
    return [known[path] for path in paths]


@pytest.mark.slow
def test_errors_of_all_signals_are_found_beside_the_machine():
    """Within their intervals, which are narrow where a signal shows an error well."""
    names = [*HIDDEN, *SENSOR, *TRACKER, "signal.coordinates.scale"]
    found = identify(nominal(), [measured()], names, if_unobservable="prior")
    paths = [each.path for each in found.parameters]
    assert paths == names
    error = np.abs(found.values - truth(paths))
    assert (error < 1.3 * found.margins * found.standard_errors).all()
    largest = dict(zip(paths, found.margins * found.standard_errors, strict=True))
    assert largest["signal.pose.delay"] < 1e-4
    assert largest["signal.pose.bias.0"] < 1e-5
    assert largest["signal.coordinates.scale"] < 3e-5
    assert largest["signal.accelerometer.delay"] < 5e-4
    assert largest["signal.accelerometer.bias.2"] < 0.02
    assert largest["platform.body.mass"] < 0.02
    # The prior decides about half of it.
    assert any("bias of the measured gyroscope" in note for note in found.notes)


def with_feedforward(time, width):
    """Return a log at rest with commanded speeds, and forces of alternating sign beside them."""
    instants, zeros = 1e-3 * np.arange(300), np.zeros((300, 6))
    signs = np.where(np.arange(len(time)) % 2, -100.0, 100.0)
    forces = np.repeat(signs[:, None], width, axis=1)
    return Log(
        (
            Channel("measured", instants, zeros + 1.0, "m"),
            Channel("command_rates", instants, zeros, "m/s"),
            Channel("command_forces", time, forces, "N"),
        )
    )


@pytest.mark.quick
def test_feedforward_is_held_until_the_next_one():
    time = 4e-4 + 1e-2 * np.arange(30)
    feedforward = recording_of(with_feedforward(time, 6), nominal()).feedforward
    assert (feedforward[1:11] == 100.0).all()
    assert (feedforward[11:21] == -100.0).all()


@pytest.mark.quick
@pytest.mark.parametrize(
    ("time", "width"),
    [(np.arange(300) * 1e-3, 3), (np.r_[np.arange(200), np.arange(100)] * 1e-3, 6)],
)
def test_unusable_feedforward_is_refused(time, width):
    with refused("command_forces"):
        recording_of(with_feedforward(time, width), nominal())


DELAYS = ("leg.drive.delay", "signal.coordinates.delay", "signal.pose.delay")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signals", "paths", "sentences"),
    [
        ((), DELAYS[:2], 1),
        (("pose",), DELAYS[1:], 0),
        (("pose",), DELAYS, 1),
        (("pose", "accelerometer"), (*DELAYS, "signal.accelerometer.bias.0"), 0),
    ],
)
def test_delays_show_against_another_clock_alone(signals, paths, sentences):
    """Each signal adds one difference; one delay of all signals and commands stays unknown."""
    log = measured()
    recording = recording_of(part(log, "measured", "command_forces", *signals), nominal())
    parameters = select(nominal(), paths)
    slopes = first_jacobian([PredictionProblem(nominal(), recording, parameters)])
    seen = visibility(slopes, parameters)
    assert len(seen.unobservable_directions) == sentences
    assert all(
        {each.path for each in own.parameters} == {*paths} for own in seen.unobservable_directions
    )


@pytest.mark.slow
def test_a_damaged_signal_is_refused_where_it_is_used():
    pose = measured()["pose"]
    twice = replace(pose, time=np.append(pose.time[:-1], pose.time[-2]))
    log = measured().with_channels(twice)
    machine, recording = nominal(), recording_of(log, nominal())
    with refused("pose: has times that repeat"):
        PredictionProblem(machine, recording, select(machine, "signal.pose.delay"))
    PredictionProblem(machine, recording, select(machine, "platform.body.mass"))
