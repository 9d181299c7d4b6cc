"""The environments under TorchRL: alone, as native vectors, and as Gymnasium's own vectors."""

import gymnasium as gym
import pytest

import twin.envs  # noqa: F401 (registers the environments)

torch = pytest.importorskip("torch")
torchrl = pytest.importorskip("torchrl.envs")

NAME, ROWS, LIMIT = "twin/PoseTracking-v0", 3, 5
EARLY = {"largest_position_error": 0.002, "residual": False}
"""Options with which random actions end episodes before their time."""


def test_its_own_environment_is_made_by_name():
    env = torchrl.GymEnv(NAME)
    torchrl.check_env_specs(env)
    assert env.rollout(4).shape == (4,)
    env.close()


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("mode", ["SameStep", "Disabled"])
@pytest.mark.parametrize("options", [{}, EARLY])
def test_vectors(native, mode, options):
    """The observation after an episode's last step is that episode's, the next one a new one."""
    made = {"max_episode_steps": LIMIT, "info": False, **options}
    kept = gym.vector.AutoresetMode(mode)
    if native:
        vector = gym.make_vec(
            NAME, ROWS, vectorization_mode="vector_entry_point", autoreset_mode=kept, **made
        )
    else:
        ones = [lambda: gym.make(NAME, **made)] * ROWS
        vector = gym.vector.SyncVectorEnv(ones, autoreset_mode=kept)
    env = torchrl.GymWrapper(vector)
    torchrl.check_env_specs(env)
    found = env.rollout(4 * LIMIT, break_when_any_done=False)
    done = found["next", "done"][..., 0]
    assert done.sum() >= ROWS * 4
    assert torch.isfinite(found["next", "observation"]).all()
    last = found["next", "observation"][:, :-1][done[:, :-1]]
    first = found["observation"][:, 1:][done[:, :-1]]
    assert (last != first).any(dim=-1).all()
    going = ~done[:, :-1]
    assert (found["next", "observation"][:, :-1] == found["observation"][:, 1:])[going].all()
    env.close()
