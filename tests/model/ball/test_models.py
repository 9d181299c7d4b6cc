"""What of the ball is in the compiled models."""

import dataclasses

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tolerance import assert_within

import twin
from twin.engines.mechanism import make_mechanism
from twin.engines.mjcf import BALL_NAME
from twin.engines.mujoco import FreeBody, compile_model
from twin.engines.urdf import legs_urdf, platform_urdf
from twin.model.ball import ball_for, on_plate
from twin.model.machine_base import ZERO_VECTOR


@pytest.mark.parametrize("name", twin.machine_names())
def test_mujoco_model(name):
    platform = twin.load(name)
    ball = ball_for(platform.parameters)
    plain = compile_model(make_mechanism(platform.parameters), 1e-3)
    model = compile_model(make_mechanism(platform.parameters, (), ball), 1e-3)
    own = model.body("ball")
    assert_allclose(own.mass, ball.mass, rtol=1e-14)
    assert_allclose(own.inertia, ball.inertia, rtol=1e-12)
    assert_array_equal(model.body("platform").mass, plain.body("platform").mass)
    assert (model.nq, model.nv) == (plain.nq + 7, plain.nv + 6)
    touching = [
        {model.geom(i).name, model.geom(j).name}
        for i in range(model.ngeom)
        for j in range(i)
        if model.geom_contype[i] & model.geom_conaffinity[j]
        or model.geom_contype[j] & model.geom_conaffinity[i]
    ]
    assert touching == [{"ball", "ball_plate"}]
    assert_allclose(
        model.geom("ball").friction[[0, 2]],
        [ball.friction, max(ball.rolling_resistance * ball.radius, 1e-5)],
        rtol=1e-14,
        atol=0,
    )
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    seen = on_plate(
        platform.home, ZERO_VECTOR, np.concatenate(FreeBody(model, data, BALL_NAME).read())
    )
    expected = [0.0, 0.0, ball.plate_height + ball.radius, 0.0, 0.0, 0.0]
    assert_within(seen, expected, 1e-14)


def test_without_resistance_only_friction_is_left():
    platform = twin.load("stewart")
    ball = dataclasses.replace(ball_for(platform.parameters), rolling_resistance=0.0)
    model = compile_model(make_mechanism(platform.parameters, (), ball), 1e-3)
    assert model.geom("ball").condim == 3
    assert model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC


@pytest.mark.parametrize("name", twin.machine_names())
def test_urdf_has_the_plate(name):
    parameters = twin.load(name).parameters
    text = platform_urdf(make_mechanism(parameters, (), ball_for(parameters)))
    assert text.count("<collision") == 1
    assert "<collision" not in platform_urdf(make_mechanism(parameters))


def test_bullet_model():
    pytest.importorskip("pybullet")
    from twin.engines.bullet.world import World, bullet

    platform = twin.load("driving_simulator")
    ball = ball_for(platform.parameters)
    machine = make_mechanism(platform.parameters, (), ball)
    texts = legs_urdf(machine), platform_urdf(machine)
    world = World(machine, texts, 1e-3, engine_defaults=False)
    client = world.client.number
    last = bullet.getNumBodies(physicsClientId=client) - 1
    found = bullet.getDynamicsInfo(last, -1, physicsClientId=client)
    assert_allclose(found[0], ball.mass, rtol=1e-14)
    assert_allclose(found[2], [ball.inertia] * 3, rtol=1e-14)
    world.close()
