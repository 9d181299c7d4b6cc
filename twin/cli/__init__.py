"""The console command `twin`: argument parsing only; the work is in `twin.commands`."""

from twin.cli import (
    cue,
    evaluate,
    frequency,
    imu,
    machines,
    payload,
    record,
    render,
    runs,
    sweep,
    track,
    train,
    tune,
    view,
    workspace,
)
from twin.cli.application import app, one_line

__all__ = [
    "app",
    "cue",
    "evaluate",
    "frequency",
    "imu",
    "machines",
    "main",
    "one_line",
    "payload",
    "record",
    "render",
    "runs",
    "sweep",
    "track",
    "train",
    "tune",
    "view",
    "workspace",
]


def main() -> None:
    """Run the console command."""
    app(prog_name="twin")
