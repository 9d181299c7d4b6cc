"""The written models in programs that know nothing of the package."""

import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose
from package_walk import ROOT

import twin
from twin.engines.mechanism import make_mechanism
from twin.engines.urdf import robot_urdf

BALL = "{http://drake.mit.edu}ball_constraint"


@pytest.mark.quick
def test_urdf_says_where_the_loops_close(platform):
    machine = make_mechanism(platform.parameters)
    loops = ElementTree.fromstring(robot_urdf(platform)).findall(BALL)
    assert len(loops) == len(machine.loops) > 0
    for loop in loops:
        places = []
        for side, point in zip("AB", ("p_AP", "p_BQ"), strict=True):
            body = loop.find(f"{BALL}_body_{side}").get("name")
            position = np.array(loop.find(f"{BALL}_{point}").get("value").split(), dtype=float)
            origin, turn = machine.home_frames[body]
            places.append(origin + turn @ position)
        assert_allclose(*places, rtol=0.0, atol=1e-12)


@pytest.mark.skipif(shutil.which("check_urdf") is None, reason="needs urdfdom's check_urdf")
def test_ros_reads_every_link(platform, tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(robot_urdf(platform))
    said = subprocess.run(["check_urdf", file], capture_output=True, text=True, check=True).stdout
    links = len(ElementTree.parse(file).findall("link"))
    assert len(re.findall(r"^root Link|child\(\d+\):", said, re.M)) == links > 8


@pytest.mark.slow
@pytest.mark.parametrize("name", ["srspm", "rss"])
def test_programs_of_the_page_run_other_machines(name, tmp_path):
    """With the machine's gravity and height after the fall in place of those of `stewart`."""
    machine = twin.load(name)
    fallen = machine.simulate(0.1, forces=np.zeros(machine.n_actuators)).pose[-1, 2]
    page = (ROOT / "docs" / "export.md").read_text()
    plain = page.partition("## The models without the package\n")[2]
    program = "\n".join(re.findall(r"^```python\n(.*?)^```", plain, re.M | re.S))
    for old, new in {
        '"stewart"': f'"{name}"',
        "-9.81": str(-machine.parameters.gravity),
        "0.8198501": str(fallen),
    }.items():
        assert old in program
        program = program.replace(old, new)
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
