"""Default commands on the machines of the gallery: a result, or one line that says why not."""

from __future__ import annotations

import gymnasium as gym
import pytest
from typer.testing import CliRunner

import twin
import twin.envs
from twin import cli
from twin.errors import TwinError
from twin.simulation.live.machine_session import MachineSession

pytestmark = pytest.mark.gallery

COMMANDS = (
    *("info", "feasible", "simulate", "track", "payload", "workspace", "tune", "frequency", "cue"),
)

NONE = 2
"""Exit code of a command that does not apply."""

JUDGED = ("tune",)
"""Commands that end with exit code 1 where their search finds nothing good enough."""


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", twin.gallery_names())
def test_a_command_has_a_result_or_says_why_not(name: str, command: str) -> None:
    result = CliRunner().invoke(cli.app, [command, name])
    assert "Traceback" not in result.output
    assert result.exit_code in ((0, 1, NONE) if command in JUDGED else (0, NONE)), result.output
    if result.exit_code == NONE:
        assert not result.stdout
        assert len(result.stderr.strip().splitlines()) == 1, result.stderr


@pytest.mark.parametrize("name", twin.gallery_names())
def test_a_live_session_runs(name: str) -> None:
    session = MachineSession(name)
    session.advance(0.2)
    assert session.time > 0.19
    assert not session.stopped
    session.close()


@pytest.mark.parametrize(
    "task", ["PoseTracking", "MotionCueing", "VibrationIsolation", "BallBalance"]
)
@pytest.mark.parametrize("name", twin.gallery_names())
def test_environments_run_or_say_why_not(name: str, task: str) -> None:
    try:
        env = gym.make(f"twin/{task}-v0", machine=name)
    except TwinError as error:
        assert len(str(error).splitlines()) == 1
        return
    env.reset(seed=1)
    for _ in range(20):
        _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        assert reward == reward
        if terminated or truncated:
            break
    env.close()
