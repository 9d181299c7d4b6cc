"""Train a policy."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from twin.commands.console import line
from twin.commands.settings import environment_options, settings_from


def train(
    environment: str,
    out: Path,
    *,
    given: Mapping[str, Any],
    options: Sequence[str],
    hyperparameters: Sequence[str],
    **settings: Any,
) -> None:
    """Train, and say what was reached and written.

    Args:
        environment: id.
        out: folder.
        given: options of the environment that have options of their own; None for not given.
        options: further ones, as name=value.
        hyperparameters: as name=value.
        settings: of `twin.training.train`.

    Raises:
        InputError: an argument that cannot be used.
        MissingDependencyError: a library of the extra `rl` is missing.
    """
    from twin.training.run import PICTURE, POLICY
    from twin.training.run import train as run

    began, used = clock.perf_counter(), clock.process_time()
    training = run(
        environment,
        out,
        options=environment_options(given, options),
        hyperparameters=settings_from(hyperparameters, "set"),
        **settings,
    )
    seconds, processor = clock.perf_counter() - began, clock.process_time() - used
    state = "finished" if training.finished else "interrupted; go on with --resume"
    line(
        f"{training.steps} steps in {seconds:.0f} s ({processor:.0f} s of processor time): {state}"
    )
    for name in (POLICY, PICTURE):
        line(f"wrote {training.folder / name}")
