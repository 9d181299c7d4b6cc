"""A recorded run that is played: between its rows, to its end, back and forth."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import assert_all_refused, refused
from tolerance import assert_within

import twin
from twin.errors import MachineNotFoundError
from twin.machine.machine import parameters_path
from twin.rotations import angle_between, pose_from_angles
from twin.simulation.live.runner import HISTORY_INTERVAL, HISTORY_LENGTH, Replay
from twin.simulation.live.settings import loaded_machine
from twin.simulation.recorded.files import ARRAY_FIELDS
from twin.simulation.simulate import Trajectory

STEWART = twin.load("stewart")


def recorded(platform=STEWART, rows=41, **changes):
    """Return a turn and a lift at uneven times from 2 s to 4 s, with a setpoint that is ahead."""
    time = 2.0 + 2.0 * np.linspace(0.0, 1.0, rows) ** 1.5 if rows > 1 else np.array([2.0])
    home = platform.home
    pose = pose_from_angles(
        home[:3] + np.outer(time - 2.0, [0.0, 0.0, 0.005]),
        np.outer(time - 2.0, [0.0, 0.02, 0.01]) if platform.dof == 6 else np.zeros((rows, 3)),
    )
    n = platform.n_actuators
    content = {
        "time": time,
        "pose": pose,
        "twist": np.tile([0.0, 0.0, 0.005, 0.0, 0.0, 0.0], (rows, 1)),
        "lengths": platform.inverse_kinematics(pose),
        "rates": np.zeros((rows, n)),
        "forces": np.repeat(np.arange(float(rows))[:, None], n, axis=1),
        "signals": {"time": time, "reference_pose": pose + np.array([0.001, 0, 0, 0, 0, 0, 0])},
        "machine": platform.name,
        "engine": "analytic",
        "fidelity": "accurate",
        "timestep": 1e-3,
        "parameters_hash": platform.hash,
        "versions": {},
    }
    return Trajectory(**{**content, **changes})


def test_it_starts_at_the_first_row_and_stays_at_the_last():
    run = recorded()
    replay = Replay(run)
    assert replay.platform.hash == STEWART.hash
    assert (replay.time, replay.start, replay.end) == (2.0, 2.0, 4.0)
    assert_within(replay.scene.pose, run.pose[0], 1e-12)
    replay.advance(0.5)
    assert replay.time == pytest.approx(2.5)
    assert not replay.ended
    replay.advance(60.0)
    assert replay.time == 4.0
    assert "end" in replay.message
    assert_within(replay.scene.pose, run.pose[-1], 1e-12)


def test_between_rows_the_machine_is_between_them():
    run = recorded()
    replay = Replay(run)
    middle = 0.5 * (run.time[20] + run.time[21])
    replay.seek(middle)
    scene = replay.scene
    assert scene.ghost is not None
    assert_within(scene.pose[:3], 0.5 * (run.pose[20] + run.pose[21])[:3], 1e-12)
    assert np.linalg.norm(scene.pose[3:]) == pytest.approx(1.0)
    halves = [angle_between(scene.pose[3:], run.pose[k, 3:]) for k in (20, 21)]
    assert halves[0] == pytest.approx(halves[1], rel=1e-6)
    assert_within(scene.ghost[:3] - scene.pose[:3], [0.001, 0.0, 0.0], 1e-9)


def test_charts_show_what_was_recorded():
    run = recorded()
    replay = Replay(run)
    replay.advance(1.0)
    history = replay.history
    assert {"position", "rotation", "lengths", "speeds", "forces"} <= {
        c.name for c in history.charts
    }
    time = history.time()
    assert_allclose(time, 2.0 + HISTORY_INTERVAL * np.arange(31))
    legs = np.stack([np.interp(time, run.time, column) for column in run.lengths.T], axis=1)
    assert_allclose(history.values("lengths"), legs, rtol=1e-12)
    row = np.searchsorted(run.time, time + 1e-12, side="right") - 1
    assert_array_equal(history.values("forces")[:, 0], row)
    chart = next(chart for chart in history.charts if chart.name == "position")
    position = dict(zip(chart.series, history.values("position").T, strict=True))
    assert_within(position["z"], 0.005 * (time - 2.0), 1e-12)
    assert_within(position["x setpoint"] - position["x"], 0.001, 1e-9)
    kinetic = history.values("energy")[:, 0]
    assert (kinetic > 0.0).all()


def test_seeking_shows_the_same_charts_as_playing():
    played, sought = Replay(recorded()), Replay(recorded())
    for _ in range(100):
        played.advance(0.0151)
    sought.seek(4.0)
    sought.seek(played.time)
    assert_array_equal(sought.history.time(), played.history.time())
    for chart in played.history.charts:
        expected = played.history.values(chart.name)
        assert_array_equal(sought.history.values(chart.name), expected)


def test_charts_of_a_long_recording_show_its_last_seconds():
    time = np.linspace(0.0, 2.0 * HISTORY_LENGTH, 41)
    still = np.tile(STEWART.home, (41, 1))
    replay = Replay(recorded(time=time, pose=still, signals={}))
    replay.seek(1.5 * HISTORY_LENGTH)
    shown = replay.history.time()
    assert shown[-1] == pytest.approx(1.5 * HISTORY_LENGTH, abs=HISTORY_INTERVAL)
    assert shown[0] == pytest.approx(0.5 * HISTORY_LENGTH, abs=2.0 * HISTORY_INTERVAL)
    assert replay.scene.ghost is None
    assert np.isnan(replay.history.values("position")).any()


def test_a_loop_begins_anew():
    replay = Replay(recorded())
    replay.loop = True
    replay.advance(3.0)
    assert replay.time == 4.0
    replay.advance(0.1)
    assert replay.time < 4.0
    assert len(replay.history) == 1


def test_a_single_row_is_a_picture():
    replay = Replay(recorded(rows=1))
    replay.advance(1.0)
    assert replay.time == 2.0
    assert replay.ended
    assert replay.period > 0.0
    assert_within(replay.scene.pose, STEWART.home, 1e-12)


def test_why_the_run_stopped_is_told_at_its_end_only():
    replay = Replay(recorded(stopped="leg 3 at its limit"))
    assert replay.stopped == ""
    replay.advance(5.0)
    assert replay.stopped == "leg 3 at its limit"
    replay.seek(3.0)
    assert replay.stopped == ""


@pytest.mark.parametrize("name", twin.machine_names())
def test_every_machine_with_any_fidelity_is_found_by_its_digest(name):
    configurations = twin.load(name).parameters.configuration
    for configuration in (None, *(configurations.known if configurations else ())):
        platform = twin.load(name, configuration)
        replay = Replay(recorded(platform, rows=3))
        assert replay.platform.hash == platform.hash
        replay.advance(1.0)
        assert np.isfinite(replay.history.values("lengths")).all()


def test_a_payload_and_a_file_of_ones_own_are_found(tmp_path):
    loaded = loaded_machine("driving_simulator", None, "wheelchair")
    replay = Replay(recorded(loaded, rows=3))
    assert replay.platform.hash == loaded.hash
    assert replay.payload is not None
    assert replay.payload.wheelchair is not None
    own = tmp_path / "platform.toml"
    own.write_text(parameters_path("stewart").read_text().replace("stewart", "mine", 1))
    machine = twin.load(own, "hardware")
    run = recorded(machine, rows=3)
    assert Replay(run, own).platform.hash == machine.hash
    with refused(r"platform\.toml that it was made with"):
        Replay(run)


def test_another_machine_is_refused_with_the_way_on():
    run, hardware = recorded(), recorded(twin.load("stewart", "hardware"))
    unknown = replace(run, parameters_hash="0")
    assert_all_refused(
        Replay,
        [
            (hardware, STEWART, "which is stewart with the configuration hardware"),
            (run, twin.load("srspm"), "which is stewart$"),
            (run, "srspm", r"'srspm' does not have.*platform\.toml"),
            (unknown, None, r"platform\.toml that it was made with"),
            (unknown, STEWART, r"platform\.toml that it was made with"),
        ],
    )
    with pytest.raises(MachineNotFoundError):
        Replay(run, "nowhere")


def test_rows_that_are_no_run_are_refused():
    run, four = recorded(), np.zeros((41, 4))
    assert_all_refused(
        Replay,
        [
            (replace(run, **{name: getattr(run, name)[:0] for name in ARRAY_FIELDS}), "rows"),
            (recorded(time=np.linspace(4.0, 2.0, 41)), "must not fall"),
            (recorded(lengths=four, rates=four, forces=four), "actuators"),
        ],
    )
