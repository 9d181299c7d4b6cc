"""What only MuJoCo has: its own settings, sensors, applied forces and warnings."""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import assert_all_refused
from tolerance import assert_within

from twin.engines.base import suitable_timestep
from twin.engines.mujoco import MujocoEngine
from twin.errors import SimulationStoppedError

ROUNDING = 1e-12
"""Some hundred operations on numbers of order one."""


def test_sensors_tell_the_state(platform, random_motion, random_internal):
    engine = MujocoEngine(platform, suitable_timestep(platform))
    pose, twist, _ = random_motion(platform, 4)
    inside = random_internal(platform, 4)
    state = engine.reset(pose, twist, inside)
    sensed = {name: engine.data.sensor(name).data for name in _sensor_names(engine.model)}
    assert_within(sensed["platform_position"], pose[:3], ROUNDING)
    turn = sensed["platform_quaternion"] * np.sign(sensed["platform_quaternion"] @ pose[3:])
    assert_within(turn, pose[3:], ROUNDING)
    assert_within(sensed["platform_velocity"], twist[:3], ROUNDING)
    assert_within(sensed["platform_angular_velocity"], twist[3:], ROUNDING)
    extensions, rates = state.lengths - platform.home_coordinates, state.rates
    if platform.n_deflections:
        springs, spring_rates = np.split(inside, 2)
        extensions, rates = extensions - springs, rates - spring_rates
        for leg, (spring, rate) in enumerate(zip(springs, spring_rates, strict=True), start=1):
            assert sensed[f"leg_{leg}_spring_position"] == pytest.approx(spring, abs=ROUNDING)
            assert sensed[f"leg_{leg}_spring_rate"] == pytest.approx(rate, abs=ROUNDING)
    for leg, (extension, rate) in enumerate(zip(extensions, rates, strict=True), start=1):
        assert sensed[f"leg_{leg}_position"] == pytest.approx(extension, abs=ROUNDING)
        assert sensed[f"leg_{leg}_rate"] == pytest.approx(rate, abs=ROUNDING)
    to_platform = engine.data.site("imu").xmat.reshape(3, 3).T
    assert_within(sensed["imu_angular_velocity"], to_platform @ twist[3:], ROUNDING)
    acceleration = platform.forward_dynamics(
        pose, twist, np.zeros(platform.n_actuators), deflection=inside
    )[:3]
    acceleration[2] += platform.parameters.gravity
    felt = to_platform @ acceleration
    # The constraints' impedance of 0.9999 leaves 1e-4 of the accelerations.
    assert_within(sensed["imu_acceleration"], felt, 5e-4 * np.abs(felt).max())


def _sensor_names(model):
    return [model.sensor(i).name for i in range(model.nsensor)]


def test_options_reach_the_model(stewart):
    engine = MujocoEngine(
        stewart, 2e-3, solref=(0.01, 0.8), solimp=(0.8, 0.9, 0.002), integrator="implicitfast"
    )
    assert engine.model.opt.timestep == 2e-3
    assert engine.model.opt.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    assert engine.model.opt.jacobian == mujoco.mjtJacobian.mjJAC_DENSE
    assert_array_equal(engine.model.eq_solref, [(0.01, 0.8)] * 6)
    assert_array_equal(engine.model.eq_solimp, [(0.8, 0.9, 0.002, 0.5, 2.0)] * 6)


def test_engine_defaults_are_those_of_an_empty_model(stewart):
    text = '<mujoco><worldbody><body name="a"><freejoint/><geom size="1"/></body></worldbody>'
    text += '<equality><connect body1="a" anchor="0 0 0"/></equality></mujoco>'
    empty = mujoco.MjModel.from_xml_string(text)
    model = MujocoEngine(stewart, engine_defaults=True).model
    assert_array_equal(model.eq_solref[0], empty.eq_solref[0])
    assert_array_equal(model.eq_solimp[0], empty.eq_solimp[0])
    assert model.opt.tolerance == empty.opt.tolerance
    assert model.opt.iterations == empty.opt.iterations
    assert model.opt.solver == empty.opt.solver


def test_bad_settings_are_named(stewart):
    assert_all_refused(
        lambda options: MujocoEngine(stewart, **options),
        [
            ({"integrator": "RK5"}, "^integrator"),
            ({"solref": (0.01,)}, "^solref"),
            ({"solref": (0.0, 1.0)}, "^solref"),
            ({"solimp": (0.9, 0.95)}, "^solimp"),
            ({"solimp": (0.9, 1.0, 0.001)}, "^solimp"),
            ({"solimp": (0.9, 0.95, 0.001, 0.5, 0.5)}, "^solimp"),
        ],
    )


def test_warning_handler_of_the_user_stays(stewart, own_folder):
    heard = []
    mujoco.set_mju_user_warning(heard.append)
    try:
        engine = MujocoEngine(stewart)
        engine.reset()
        with pytest.raises(SimulationStoppedError):
            engine.step(np.full(6, 1e300))
        assert mujoco.get_mju_user_warning() == heard.append
        assert not heard
    finally:
        mujoco.set_mju_user_warning(None)
