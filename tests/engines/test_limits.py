"""The written models in plain MuJoCo: legs end at their strokes, joints at their largest angles."""

import mujoco
import numpy as np
import pytest
from tolerance import assert_within

import twin
from twin.analysis.feasibility.joint_angles import angle_between
from twin.analysis.platform import Platform
from twin.engines.export import export
from twin.engines.mjcf import robot_xml
from twin.engines.mujoco import MujocoEngine
from twin.machine import MachineParameters
from twin.machine.machine import gallery_names

pytestmark = pytest.mark.quick

FALL_TIME = 1.5
"""Seconds of fall after which every machine lies on its limits."""

IMPACT_OVERRUN = 0.03
"""Share of the stroke beyond a limit at the impact: travel of two time steps at that speed."""

RESTING_OVERRUN = 2e-4
"""Share of the stroke beyond a limit at rest; 7e-5 measured for `lsst_m2`, 26 mm of stroke."""

ANGLE_OVERRUN = 0.08
"""Share of the largest angle beyond it at the impact."""


def fall(model, watch):
    """Return what a function of the data gives after each step of a fall from home."""
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    found = []
    for _ in range(round(FALL_TIME / model.opt.timestep)):
        mujoco.mj_step(model, data)
        assert not data.warning.number.any()
        found.append(watch(data))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", (*twin.machine_names(), *gallery_names()))
def test_machines_fall_onto_the_ends_of_their_strokes(name, tmp_path):
    """Gravity acts and no drive; without limits they fall through their strokes."""
    platform = twin.load(name)
    export(platform, "mjcf", tmp_path)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "scene.xml"))
    joints = [model.joint(f"leg_{i + 1}_actuator") for i in range(platform.n_actuators)]
    adr = [joint.qposadr[0] for joint in joints]
    low, high = platform.minimum_coordinates, platform.maximum_coordinates

    def overrun(data):
        coordinates = data.qpos[adr] + platform.home_coordinates
        return np.maximum(low - coordinates, coordinates - high) / (high - low)

    overruns = np.max(fall(model, overrun), axis=1)
    assert overruns.max() < IMPACT_OVERRUN
    assert overruns[-1] < RESTING_OVERRUN
    holds_itself = platform.leg.has_axial_spring
    assert holds_itself or overruns.max() > -1e-3, "it never came to a limit"


def limited(platform, **joint):
    """Return a machine whose first leg has a limit of a joint."""
    content = platform.parameters.model_dump()
    limits = {name: {"source": "Test", **limit} for name, limit in joint.items()}
    content["variant"] = [{"source": "Test", "legs": [1], **limits}]
    return Platform(MachineParameters.model_validate(content))


def body_angle(data, body, carrier, direction, neutral):
    """Return the angle [rad] between directions that are fixed to two bodies."""
    ends = [data.body(name).xmat.reshape(3, 3) for name in (body, carrier)]
    return float(angle_between(ends[0] @ direction, ends[1] @ neutral))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "field", "body", "sign"),
    [
        ("stewart", "base_joint", "leg_1_housing", 1.0),
        ("stewart", "platform_joint", "leg_1_rod", -1.0),
        ("compliant_stewart", "base_joint", "leg_1_guide", 1.0),
        ("rss", "elbow_joint", "leg_1_rod", 1.0),
        ("rss", "platform_joint", "leg_1_rod", -1.0),
    ],
)
@pytest.mark.parametrize("tilted", [0.0, 0.05])
def test_joints_end_at_their_largest_angle(name, field, body, sign, tilted):
    """The cone lies about the direction at home, or about one that is given, here a little off."""
    platform = twin.load(name)
    carrier = {"base": "world", "elbow": "leg_1_crank", "platform": "platform"}[
        field.removesuffix("_joint")
    ]
    plain = mujoco.MjModel.from_xml_string(robot_xml(platform))
    data = mujoco.MjData(plain)
    mujoco.mj_forward(plain, data)
    turns = [data.body(each).xmat.reshape(3, 3).copy() for each in (body, carrier)]
    direction = sign * np.eye(3)[2]
    neutral = turns[1].T @ turns[0] @ direction
    neutral += tilted * np.cross(neutral, [0.6, 0.0, 0.8])
    free = max(fall(plain, lambda d: body_angle(d, body, carrier, direction, neutral)))
    start = float(angle_between(turns[0] @ direction, turns[1] @ neutral))
    if free < start + 1e-3:
        pytest.skip("this neutral direction lies where the rod turns to")
    most = 0.5 * (start + free)
    limit = {"maximum_angle": most}
    if tilted:
        limit["neutral"] = neutral.tolist()
    machine = limited(platform, **{field: limit})
    model = mujoco.MjModel.from_xml_string(robot_xml(machine))
    assert model.ntendon == 1
    held = max(fall(model, lambda d: body_angle(d, body, carrier, direction, neutral)))
    assert 0.99 * most < held < (1.0 + ANGLE_OVERRUN) * most < free


def test_the_engine_has_no_limits_as_the_equations_have_none(srspm):
    """`srspm` falls through its base in the benchmark: in the engine as in the reference."""
    wanted = srspm.simulate(0.3, forces=np.zeros(6)).pose[-1]
    engine = MujocoEngine(srspm)
    engine.reset()
    for _ in range(300):
        engine.step(np.zeros(6))
    coordinates = srspm.inverse_kinematics(engine.state.pose)
    assert (coordinates < srspm.minimum_coordinates - 0.02).all()
    assert_within(engine.state.pose, wanted, 1e-6)
    engine.close()
