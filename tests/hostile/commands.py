"""Command lines with faults, run in this process in a folder of their own."""

from __future__ import annotations

import os
import tempfile
from contextlib import chdir, contextmanager
from functools import lru_cache
from unittest.mock import patch

from typer.main import get_command
from typer.testing import CliRunner

from hostile.outcome import Hang
from hostile.values import TEXTS
from twin.cli import app
from twin.errors import StateError

COURSE = "--motion sine --axis z --amplitude 0.01 --frequency 2"
SHORT = f"{COURSE} --duration 0.05"
TRACKING = "twin/PoseTracking-v0"

BASES = {
    "cue": "stewart --manoeuvre braking --scale 0.5",
    "evaluate": f"{TRACKING} --policy zero --episodes 1 --jobs 1 --option preview=2",
    "export": "stewart --out models --format mjcf",
    "feasible": f"stewart {SHORT} --payload 5",
    "frequency": "stewart --axis z --method chirp --low 5 --high 50",
    "imu": "stewart log.csv --resolution 1",
    "info": "stewart --configuration hardware",
    "list": "",
    "new": "mine.toml --legs ups",
    "payload": "stewart --grid 2 --limit 1000",
    "record": f"{TRACKING} --dataset a-v0 --policy zero --episodes 1",
    "render": f"stewart --out a.gif {SHORT} --pixels 64x48 --frame-rate 10",
    "simulate": "stewart --duration 0.01 --force hold --every 1 --timestep 0.001",
    "sweep": (
        "srspm --set gravity=9,10 --field motion.duration=0.02 --field fidelity=fast --seeds 1 "
        "--backend serial"
    ),
    "track": f"stewart {SHORT} --controller cascade --seed 1",
    "train": f"{TRACKING} --out trained --steps 10 --hyperparameter discount=0.9",
    "tune": "stewart --loop velocity --overshoot 0.1",
    "view": f"stewart {COURSE} --no-browser --upload-limit 5",
    "warm": "stewart",
    "workspace": "stewart --stiffness 1e6",
}
"""Command -> arguments that work. Left out: `validate`, which has no number to be spoiled."""

LONG = {
    "cue",
    "evaluate",
    "frequency",
    "payload",
    "record",
    "render",
    "sweep",
    "tune",
    "warm",
    "workspace",
}
"""Commands whose work may take its time where the fault does no harm."""


@lru_cache(maxsize=1)
def option_names():
    """Return the options of each command."""
    commands = get_command(app)
    return {
        name: tuple(each.opts[-1] for each in command.params if each.param_type_name == "option")
        for name, command in commands.commands.items()
    }


def spoiled_line(random):
    """Return a command line with one or two faults."""
    name = random.choice(sorted(BASES))
    words = BASES[name].split()
    for _ in range(random.choice((1, 1, 2))):
        change = random.random()
        text = random.choice(TEXTS)
        if change < 0.5 and words:
            words[random.randrange(len(words))] = text
        elif change < 0.85 and option_names()[name]:
            words += [random.choice(option_names()[name]), text]
        elif change < 0.92 and words:
            del words[random.randrange(len(words))]
        else:
            words.insert(random.randint(0, len(words)), text)
    return [name, *words]


class CommandError(Exception):
    """A command ended in another way than it should."""


@contextmanager
def alone():
    """Be in a folder of one's own, with neither a page nor a window that wait for people."""
    with (
        tempfile.TemporaryDirectory() as folder,
        chdir(folder),
        patch.dict(os.environ, {"MINARI_DATASETS_PATH": folder}),
        patch("twin.cli.view.serve", return_value=None),
        patch("twin.cli.desktop.watch", return_value=None),
    ):
        yield


def command_input(random):
    """Return the name of a command and the call that runs it."""
    line = spoiled_line(random)

    def call():
        with alone():
            result = CliRunner().invoke(app, line)
        error = result.exception
        if error is not None and not isinstance(error, SystemExit):
            raise error
        if result.exit_code == 2:
            raise StateError(f"refused: {result.output[-300:]}")
        # The judge's own end of a long command may fall into a place where exceptions are printed.
        has_failed = "Traceback" in result.output and Hang.__name__ not in result.output
        if result.exit_code not in (0, 1) or has_failed:
            raise CommandError(f"{line} ends with {result.exit_code}: {result.output[-300:]}")

    return line[0], call
