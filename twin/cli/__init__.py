"""The console command `twin`: argument parsing only; the work is in `twin.commands`."""

from twin.cli import cue, frequency, imu, machines, payload, runs, track, tune, workspace
from twin.cli.application import app, one_line

__all__ = [
    "app",
    "cue",
    "frequency",
    "imu",
    "machines",
    "main",
    "one_line",
    "payload",
    "runs",
    "track",
    "tune",
    "workspace",
]


def main() -> None:
    """Run the console command."""
    app(prog_name="twin")
