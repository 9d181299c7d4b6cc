"""Quantities on the command line: units, plain numbers, poses, and errors that name the option."""

import numpy as np
import pytest
from console import console
from refusals import refused

import twin
from twin.cli.values import in_unit, pose_of, quantities, quantity
from twin.errors import InputError
from twin.rotations import angles_from_quaternion

pytestmark = pytest.mark.quick


def test_quantities_are_si(subtests):
    for text, units, value in [
        ("0.02", ("m", "rad"), 0.02),
        (0.02, ("m",), 0.02),
        ("-1e-3", ("m",), -1e-3),
        ("20 mm", ("m", "rad"), 0.02),
        ("3deg", ("m", "rad"), np.radians(3.0)),
        ("500 ms", ("s",), 0.5),
        ("2 kN", ("N", "N m"), 2e3),
        ("12 kgf cm", ("N", "N m"), 1.176798),
        ("0.17 s/60deg", ("m/s", "rad/s"), np.pi / 0.51),
    ]:
        with subtests.test(f"{text}"):
            assert quantity(text, "amplitude", *units) == pytest.approx(value, rel=1e-12)


def test_what_is_no_quantity_is_refused(subtests):
    for text in ["3 kg", "mm", "", "nan", "inf", "1e300", "3,5 mm", "1 2"]:
        with subtests.test(f"{text}"):
            with refused(r"^amplitude: ") as caught:
                quantity(text, "amplitude", "m", "rad")
            assert len(str(caught.value).splitlines()) == 1


def test_lists_have_a_unit_each():
    assert quantities("20 N s/mm,3 ms", "start", "N s/m", "s") == pytest.approx([2e4, 3e-3])
    assert quantities("1 mm,2 mm,3", "head", "m") == pytest.approx([1e-3, 2e-3, 3.0])
    assert quantities(None, "head", "m") is None
    with refused("start"):
        quantities("20 N s/mm,3 mm", "start", "N s/m", "s")


def test_the_unit_fits_what_it_is_for():
    assert in_unit(quantity("5", "limit", "N", "N m"), "limit", "N m", "that of rss") == 5.0
    with refused("limit: has a unit of N, but that of rss is in N m"):
        in_unit(quantity("5 N", "limit", "N", "N m"), "limit", "N m", "that of rss")


def test_poses_from_home(stewart):
    pose = pose_of(stewart, "10 mm, 0, 900 mm, pitch=3 deg, yaw=-0.1")
    assert pose is not None
    assert pose[:3] == pytest.approx([0.01, 0.0, 0.9])
    assert angles_from_quaternion(pose[3:]) == pytest.approx([-0.1, np.radians(3.0), 0.0])
    raised = pose_of(stewart, "z=0.9")
    assert raised is not None
    assert raised == pytest.approx([*stewart.home[:2], 0.9, *stewart.home[3:]])
    assert pose_of(stewart, "0,0,0.9,1,0,0,0") == pytest.approx([0, 0, 0.9, 1, 0, 0, 0])
    assert pose_of(stewart, None) is None


def test_what_is_no_pose_is_refused(subtests, stewart):
    for text in ["", "1,2,3,4", "tilt=3", "z=3 deg", "yaw=1 m", "0,0,1,1,0,0,1 mm"]:
        with subtests.test(f"{text}"), refused(r"^pose: "):
            pose_of(stewart, text)


def test_wrong_options_end_in_one_line(subtests):
    for line, told in [
        (
            "track stewart --axis yaw --amplitude '10 m'",
            "amplitude: has a unit of m",
        ),
        ("track stewart --axis z --amplitude '3 deg'", "z is in m"),
        ("track stewart --motion tank --amplitude '3 mm'", "tank course is in rad"),
        ("track stewart --axis 3", "axis: must be one of"),
        ("payload rss --limit '2 kN'", "rss is in N m"),
        ("payload rss", "--limit"),
        ("sweep stewart --samples many", "--samples"),
        ("sweep stewart --set leg", "set: must look like"),
        ("shadow stewart --source replay:a.csv --ring '1 Hz'", "ring: "),
        ("emulate stewart --values gravity", "values: must look like"),
    ]:
        with subtests.test(line):
            result = console(line, code=2)
            assert len(result.stderr.strip().splitlines()) == 1
            assert result.stderr.startswith("twin: ")
            assert told in result.stderr


@pytest.mark.parametrize("name", ["balancer", "tripod", "driving_simulator"])
def test_a_pose_of_three_freedoms_refuses_what_follows(name):
    platform = twin.load(name)
    pose = pose_of(platform, "pitch=5 deg,roll=3 deg")
    assert pose == pytest.approx(platform.constrain(pose).pose, abs=1e-12)
    x, y, z = pose[:3]
    yaw, pitch, roll = angles_from_quaternion(pose[3:])
    printed = f"{x:.6f},{y:.6f},{z:.6f},yaw={yaw:.6f},pitch={pitch:.6f},roll={roll:.6f}"
    assert pose_of(platform, printed) == pytest.approx(pose, abs=2e-6)
    for text in ("x=10 mm", "0.01,0", "yaw=5 deg"):
        with pytest.raises(InputError, match=r"height, roll and pitch: .* leave it out"):
            pose_of(platform, text)
