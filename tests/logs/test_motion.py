"""Motions from files of all kinds, and the setpoints that lead back to a controller."""

import numpy as np
import pytest
from console import console
from refusals import refused
from tolerance import assert_within

import twin
from twin.logs import log_of, write_log
from twin.logs.motion import motion_of_poses, read_motion
from twin.motion import SineMotion
from twin.motion.recording import constrained_motion
from twin.motion.specification import convention_of

pytestmark = pytest.mark.quick

TIME = np.linspace(0.0, 2.0, 201)


def swaying(platform):
    """Return a motion along two axes that all machines have."""
    amplitude = {"z": 0.002, "pitch": 0.004}
    convention = convention_of(platform)
    return SineMotion(
        platform.home, amplitude=amplitude, frequency=1.0, duration=2.0, convention=convention
    )


def test_columns_of_any_title_are_axes_about_home_or_in_the_base_frame(tmp_path):
    stewart, path = twin.load("stewart"), tmp_path / "plc.csv"
    lift = 5.0 * np.sin(TIME) ** 2
    rows = [f"{t:.2f};{z:.9f};7".replace(".", ",") for t, z in zip(TIME, lift, strict=True)]
    path.write_bytes("\n".join(["PLC 7", "Zeit;Höhe;Zustand", *rows]).encode("cp1252"))
    titles = {"time": "Zeit [s]", "z": "Höhe [mm]"}
    motion = read_motion(path, stewart, columns=titles)
    assert_within(motion(TIME).pose[:, 2], stewart.home[2] + 1e-3 * lift, 1e-9)
    absolute = read_motion(path, stewart, columns=titles, absolute=True)
    assert_within(absolute(TIME).pose[:, 2], 1e-3 * lift, 1e-9)
    with refused(r"--column 'z=Heave \[mm\]'"):
        read_motion(path, stewart)
    with refused("same column"):
        read_motion(path, stewart, columns=titles | {"x": titles["z"]})
    with refused("columns"):
        read_motion(path, stewart, columns={"z": 3})


@pytest.mark.slow
@pytest.mark.parametrize("name", twin.machine_names())
def test_poses_and_leg_coordinates_give_the_motion_back(name, tmp_path):
    """The way to a controller and back: coordinates of the legs, then forward kinematics."""
    platform, legs = twin.load(name), tmp_path / "legs.csv"
    wanted = constrained_motion(platform, swaying(platform), TIME).pose
    again = motion_of_poses(platform, TIME, wanted)
    assert_within(again(TIME).pose, wanted, 1e-12)
    coordinates = platform.inverse_kinematics(wanted)
    unit = platform.coordinate_unit
    titles = ",".join(["time [s]", *(f"leg {k + 1} [{unit}]" for k in range(platform.n_actuators))])
    np.savetxt(legs, np.column_stack([TIME, coordinates]), "%.15g", ",", header=titles, comments="")
    found = read_motion(legs, platform)(TIME).pose
    assert_within(found, wanted, 1e-9)


@pytest.mark.parametrize("ending", [".npz", ".csv", ".parquet", ".mcap"])
def test_saved_runs_and_logs_are_motions(srspm, tmp_path, ending):
    fall, path = srspm.simulate(0.05), tmp_path / f"run{ending}"
    _ = write_log(log_of(fall), path) if ending == ".mcap" else fall.save(path)
    assert_within(read_motion(path, srspm)(fall.time).pose, fall.pose, 1e-9)
    with refused("absolute: is for tables of axes"):
        read_motion(path, srspm, absolute=True)


def test_setpoints_of_a_motion_are_a_motion_again(tmp_path):
    out = tmp_path / "legs.csv"
    options = ("--amplitude", "5 mm", "--cycle", "2 ms", "--units", "mm", "--duration", "1 s")
    console("setpoints", "stewart", "sine", *options, "--out", out)
    table = np.genfromtxt(out, delimiter=",", skip_header=1)
    assert table.shape == (501, 7) and table[1, 0] == 0.002
    stewart = twin.load("stewart")
    assert_within(table[0, 1:], 1e3 * stewart.home_coordinates, 1e-6)
    heave = read_motion(out, stewart)(TIME[:101] / 2.0).pose[:, 2] - stewart.home[2]
    assert heave.max() == pytest.approx(5e-3, rel=1e-3)
    console("track", "stewart", "--motion", out, "--fidelity", "fast")
    assert "--replace" in console("setpoints", "stewart", "sine", "--out", out, code=2).output


def test_setpoints_that_no_controller_can_use_are_refused(tmp_path):
    out = tmp_path / "legs.csv"
    for arguments, words in (
        (("still",), "no setpoints"),
        (("sine", "--units", "kg"), "units"),
        (("sine", "--amplitude", "2 m"), "leaves the actuators' ranges"),
        (("sine", "--column", "z=a"), "are for a motion from a file"),
    ):
        assert words in console("setpoints", "stewart", *arguments, "--out", out, code=2).output
        assert not out.exists()
