"""Two legs on one joint, in every engine and in what is written for other programs."""

from contextlib import closing
from xml.etree import ElementTree

import numpy as np
import pytest
from shared_joints import LAYOUTS, machine_with_shared_joints
from tolerance import assert_within

from twin.engines import make_engine
from twin.engines.export import export
from twin.engines.mechanism import make_mechanism

pytestmark = pytest.mark.quick

LIBRARIES = {"mujoco": "mujoco", "bullet": "pybullet"}

FALL = 0.02
"""[s] of a fall from home: 2 mm."""

TOLERANCES = {"mujoco": 1e-7, "bullet": 1e-8}
"""[m, rad] of the pose after the fall; a joint that is held at the wrong place shows in 1e-4."""


def test_engines_agree(subtests):
    for engine in LIBRARIES:
        for layout in LAYOUTS:
            with subtests.test(f"{engine}, {layout}"):
                pytest.importorskip(LIBRARIES[engine])
                platform = machine_with_shared_joints(layout)
                forces = np.linspace(-50.0, 200.0, 6)
                ends = []
                for name in (engine, "analytic"):
                    with closing(make_engine(name, platform)) as machine:
                        machine.reset()
                        for _ in range(round(FALL / machine.timestep)):
                            machine.step(forces)
                        ends.append(machine.state.pose)
                assert abs(ends[0][2] - platform.home[2]) > 1e-4
                assert_within(ends[0], ends[1], TOLERANCES[engine])


def test_each_leg_has_its_own_joint(subtests, tmp_path):
    for layout in LAYOUTS:
        with subtests.test(f"{layout}"):
            platform = machine_with_shared_joints(layout)
            machine = make_mechanism(platform.parameters)
            for form in ("mjcf", "urdf"):
                for path in export(platform, form, tmp_path):
                    tags = "body", "joint", "site", "connect", "link"
                    elements = [e for tag in tags for e in ElementTree.parse(path).iter(tag)]
                    named = [(e.tag, e.get("name")) for e in elements if e.get("name")]
                    assert len(set(named)) == len(named)
            assert len({loop.name for loop in machine.loops}) == platform.n_actuators
