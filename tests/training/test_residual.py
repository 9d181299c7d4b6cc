"""Residual policies: a law and its bounded correction, in numpy, in files and as trained."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused

from twin.training import Policy
from twin.training.environments import make_environments
from twin.training.policy import PolicyNetwork, PolicyOrigin, Residual
from twin.training.settings import ENVIRONMENT_LAWS, LAW_CLASSES, linear_gains, make_law

pytestmark = pytest.mark.quick

RANDOM = np.random.default_rng(8)
LINEAR = [
    (task, law) for task, laws in ENVIRONMENT_LAWS.items() for law in laws if law in LAW_CLASSES
]


def policy(bias, gains, share=0.25):
    """Return a policy whose network gives `bias`, whatever it sees."""
    size = gains.shape[1]
    return Policy(
        (np.zeros((2, size)),),
        (np.full(2, bias),),
        RANDOM.normal(size=size),
        np.full(size, 2.0),
        PolicyNetwork(correction=share),
        PolicyOrigin(environment="twin/BallBalance-v0"),
        gains,
    )


@pytest.mark.parametrize(("environment", "name"), LINEAR)
def test_a_network_of_zero_leaves_the_law(environment, name):
    env = make_environments(environment, 2, {})
    observation = env.reset(seed=3)[0]
    law, gains = make_law(name, env), linear_gains(name, env)
    for _ in range(3):
        seen = observation + RANDOM.normal(0.0, 0.2, observation.shape)
        actions = Residual(gains, 0.5).compose(seen, np.zeros((2, len(gains))))
        assert_array_equal(actions, law(seen))
        observation = env.step(actions)[0]
    assert np.abs(actions).max() > 1e-3
    env.close()


def test_corrections_are_bounded_and_so_are_actions():
    gains = 0.1 * RANDOM.normal(size=(2, 4))
    seen = RANDOM.normal(size=(5, 4))
    for bias, moved in ((0.4, 0.1), (7.0, 0.25), (-7.0, -0.25)):
        assert_allclose(
            policy(bias, gains)(seen), (seen @ gains.T + moved).clip(-1.0, 1.0), rtol=1e-14
        )
    assert (np.abs(policy(7.0, 10.0 * gains)(100.0 * seen)) == 1.0).all()


def test_files_keep_the_law(tmp_path):
    before = policy(0.3, RANDOM.normal(size=(2, 4)))
    after = Policy.load(before.save(tmp_path / "policy.npz"))
    seen = RANDOM.normal(size=4)
    assert_allclose(after(seen), before(seen), rtol=1e-6)
    assert after.law is not None and after.law.share == 0.25


def test_wrong_laws_are_refused():
    gains = RANDOM.normal(size=(2, 4))
    with refused("together"):
        replace(policy(0.0, gains), gains=None)
    with refused("fit"):
        replace(policy(0.0, gains), gains=gains[:1])
    with refused("share"):
        Residual(gains, 1.5)
    env = make_environments("twin/MotionCueing-v0", 1, {})
    with refused("none, tilt_law"):
        linear_gains("adaptive", env)
    env.close()
