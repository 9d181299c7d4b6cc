"""Measured poses from files: names, units, parts, noise, and faults that are named."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import assert_all_refused
from tolerance import assert_within

import twin
from twin.calibration import poses_within, read_poses, simulated
from twin.logs import Channel, Log, LogMapping, write_log

pytestmark = pytest.mark.quick

LEGS = ",".join(f"coordinates {leg} [mm]" for leg in range(1, 7))
ROW = "950,951,952,953,954,955"
HEAD = f"time,{LEGS},x [mm],y [mm],z [mm],yaw [deg],pitch [deg],roll [deg]"


def read(tmp_path, *lines, **options):
    path = tmp_path / "poses.csv"
    path.write_text("\n".join(lines) + "\n")
    return read_poses(path, twin.load("stewart"), **options)


def test_columns_with_units(tmp_path):
    found = read(tmp_path, HEAD, f"1,{ROW},1,2,850,3,4,5", f"2,{ROW},1,,850,,4,NaN")
    assert_allclose(found.coordinates[0], 0.95 + 1e-3 * np.arange(6))
    expected = [1e-3, 2e-3, 0.85, *np.radians([3, 4, 5])]
    assert_allclose(found.values[0], expected)
    assert_allclose(found.values[1], np.where([1, 0, 1, 0, 1, 0], expected, np.nan))
    assert found.full.tolist() == [True, False]
    assert_allclose(found.noise[0], [20e-6, 50e-6, 1e-6])


def test_noise_of_file_and_options(tmp_path):
    head = f"time,{LEGS},x [mm],position_noise [um]"
    found = read(tmp_path, head, f"1,{ROW},1,30", f"2,{ROW},1,", position_noise=5e-6)
    assert_allclose(found.noise[:, 0], [30e-6, 5e-6])


def test_logs_as_written(tmp_path):
    machine = twin.load("micro_hexapod")
    poses = simulated(machine, poses_within(machine, 5))
    legs = Channel("coordinates", poses.numbers, poses.coordinates, ("m",) * 6)
    units = ("m", "m", "m", "1", "1", "1", "1")
    log = Log((legs, Channel("pose", poses.numbers, poses.poses, units)))
    path = write_log(log, tmp_path / "log.csv")
    assert_within(read_poses(path, machine).values, poses.values, 1e-14)


def test_mapping(tmp_path):
    rules = {
        "time": "n",
        "signals": {
            "coordinates": {"channels": list("abcdef"), "unit": "mm"},
            "z": {"channels": "height", "unit": "mm"},
        },
    }
    lines = ("n,a,b,c,d,e,f,height", f"1,{ROW},850")
    found = read(tmp_path, *lines, mapping=LogMapping.of(rules))
    assert found.values[0, 2] == pytest.approx(0.85)


def test_faults(tmp_path):
    assert_all_refused(
        lambda lines: read(tmp_path, *lines),
        [
            ((HEAD.replace(" [mm]", ""), f"1,{ROW},1,2,850,3,4,5"), "no unit"),
            ((f"time,{LEGS}", f"1,{ROW}"), "columns"),
            ((HEAD.replace("coordinates 6 [mm]", "s6 [mm]"), f"1,{ROW},1,2,850,3,4,5"), "give 5"),
            ((HEAD, f"1,{ROW},1,2,850,3,4,5", f"1,{ROW},1,2,850,3,4,5"), "of its own"),
            ((HEAD, f"1,{ROW},,,,,,"), "no row has a pose"),
            (
                (HEAD, f"1,{ROW},1,2,850,3,4,5", "2,950,,952,953,954,955,1,2,850,3,4,5"),
                "no coordinates",
            ),
            ((HEAD, f"1,{ROW},1,2,850,3,4,5", "2,,,,,,,1,2,850,3,4,5"), "no coordinates"),
            ((HEAD.replace("deg", "rad"), f"1,{ROW},1,2,850,30,4,5"), "maybe degrees"),
            ((HEAD, f"1,{ROW},1,2,,3,89,5"), "near 90 deg"),
            ((HEAD + ",position_noise [um]", f"1,{ROW},1,2,850,3,4,5,0"), "1e-12 or more"),
        ],
    )
