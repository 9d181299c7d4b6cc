"""Checkpoints of a training: whole or not there at all, the last two kept."""

from __future__ import annotations

import os
import pickle
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.optional import optional
from twin.errors import InputError

CHECKPOINT_FOLDER = "checkpoints"
CHECKPOINTS_KEPT = 2
"""Number of latest checkpoints that stay in the folder; older ones are deleted."""

MODEL_FILE, NORMALISER_FILE, BUFFER_FILE = "model.zip", "normaliser.pkl", "replay.pkl"
GENERATORS_FILE = "generators.pkl"


def checkpoint_folders(folder: Path) -> list[Path]:
    """Return the complete checkpoints of a training's folder, oldest first."""
    folders = [path for path in (folder / CHECKPOINT_FOLDER).glob("[0-9]*") if path.name.isdigit()]
    return sorted(folders, key=lambda path: int(path.name))


def save_checkpoint(folder: Path, model: Any, normaliser: Any) -> Path:
    """Write a checkpoint named by the model's steps; return its folder.

    It is written under another name and then renamed: a process killed at any time leaves whole
    checkpoints only.

    Raises:
        InputError: the folder cannot be written to.
    """
    path = folder / CHECKPOINT_FOLDER / f"{model.num_timesteps:012d}"
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        model.save(temporary / MODEL_FILE)
        if normaliser is not None:
            normaliser.save(str(temporary / NORMALISER_FILE))
        if hasattr(model, "save_replay_buffer"):
            model.save_replay_buffer(temporary / BUFFER_FILE)
        (temporary / GENERATORS_FILE).write_bytes(pickle.dumps(_generator_states()))
        if path.exists():
            shutil.rmtree(path)
        temporary.rename(path)
        for old_checkpoint in checkpoint_folders(folder)[:-CHECKPOINTS_KEPT]:
            shutil.rmtree(old_checkpoint)
    except OSError as error:
        raise InputError("out", f"cannot write a checkpoint to {path} ({error.strerror})") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return path


def remove_leftovers(folder: Path) -> None:
    """Remove the unfinished checkpoints of a killed process."""
    for path in (folder / CHECKPOINT_FOLDER).glob(".*"):
        shutil.rmtree(path, ignore_errors=True)


def restore_random_generators(path: Path) -> None:
    """Set the random generators of Python, numpy and PyTorch as they were at a checkpoint."""
    states = pickle.loads((path / GENERATORS_FILE).read_bytes())
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])  # noqa: NPY002 (Stable-Baselines3 draws from it)
    optional("torch").set_rng_state(states["torch"])


def _generator_states() -> dict[str, Any]:
    return {
        "python": random.getstate(),
        "numpy": np.random.get_state(),  # noqa: NPY002
        "torch": optional("torch").get_rng_state(),
    }
