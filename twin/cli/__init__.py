"""The console command `twin`: argument parsing only; the work is in `twin.commands`."""

from twin.cli import imu, machines, payload, runs, track
from twin.cli.application import app, one_line

__all__ = ["app", "imu", "machines", "main", "one_line", "payload", "runs", "track"]


def main() -> None:
    """Run the console command."""
    app(prog_name="twin")
