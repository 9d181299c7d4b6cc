"""Default commands on shipped, own and gallery machines: a result, or one line why not."""

import gymnasium as gym
import numpy as np
import pytest
from console import console
from own_machines import OWN, own_machine

import twin
import twin.envs
from twin.errors import TwinError
from twin.motion.recording import free_axes
from twin.simulation.live.machine_session import MachineSession

pytestmark = pytest.mark.gallery

MACHINES = (*twin.machine_names(), *OWN)
GALLERY = twin.gallery_names()

STUDIES = ("info", "feasible", "simulate", "payload", "workspace", "frequency")

TRACKS = tuple(
    f"track --fidelity fast {words}"
    for words in (
        *("--motion still", "--motion sine", "--motion step", "--motion lift", "--motion chirp"),
        *("--motion tank", "--axis x", "--axis pitch", "--axis yaw"),
    )
)
COMMANDS = (
    *TRACKS,
    *STUDIES,
    *("payload --dynamic", "tune", "tune --loop position"),
    "cue --manoeuvre braking --algorithm classical",
)

DEFAULTS = (*STUDIES, "track", "tune", "cue")

PAIRS = [
    *((name, command) for name in MACHINES for command in COMMANDS),
    *((name, command) for name in GALLERY for command in DEFAULTS),
]

VERDICTS = {"tune": 1, "feasible": 1}
"""Commands whose exit code 1 is a verdict: no gains found, not feasible."""

DOES_NOT_APPLY = 2


def given(name, folder):
    """Return the name of a shipped machine, or the file of one's own."""
    return str(own_machine(name, folder)) if name in OWN else name


@pytest.mark.parametrize(("name", "command"), PAIRS)
def test_a_command_has_a_result_or_says_why_not(name, command, tmp_path):
    word, *options = command.split()
    result = console(word, given(name, tmp_path), *options, code=None)
    assert result.exit_code in (0, VERDICTS.get(word, 0), DOES_NOT_APPLY), result.output
    if result.exit_code == DOES_NOT_APPLY:
        assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    if word == "track" and "yaw" not in options:
        axis = options[options.index("--axis") + 1] if "--axis" in options else "z"
        moves = axis in free_axes(twin.load(given(name, tmp_path)))
        assert result.exit_code == (0 if moves else DOES_NOT_APPLY), result.output


@pytest.mark.parametrize("name", MACHINES)
def test_files_of_default_commands_are_written(name, tmp_path):
    machine = given(name, tmp_path)
    picture, folder = tmp_path / "picture.png", tmp_path / "sweep"
    console("render --duration '500 ms'", machine, "--out", picture)
    console("sweep --field motion.duration=0.5 --backend serial", machine, "--out", folder)
    assert picture.stat().st_size > 1000
    assert (folder / "results.parquet").exists()


@pytest.mark.parametrize("name", (*MACHINES, *GALLERY))
def test_a_live_session_runs(name, tmp_path):
    session = MachineSession(given(name, tmp_path))
    session.advance(0.2)
    assert not session.stopped
    session.close()


@pytest.mark.parametrize(
    "task", ["PoseTracking", "MotionCueing", "VibrationIsolation", "BallBalance"]
)
@pytest.mark.parametrize("name", (*MACHINES, *GALLERY))
def test_environments_run_or_say_why_not(name, task, tmp_path):
    try:
        env = gym.make(f"twin/{task}-v0", machine=given(name, tmp_path))
    except TwinError as error:
        assert len(str(error).splitlines()) == 1
        return
    env.reset(seed=1)
    still = np.zeros_like(env.action_space.sample())
    for _ in range(100):
        observation, _, terminated, _, _ = env.step(still)
        assert np.isfinite(observation).all()
        assert not terminated
    env.close()
